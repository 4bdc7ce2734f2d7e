"""Makes the service's unit for a package of what `pipemux service install --dry-run` would write.

Argument 1 is the path of the daemon. The package's unit has no socket unit beside it, since the socket's name depends on the
user's directories: the daemon binds its own. `pipemux service install` sets socket activation up.
"""

import re
import sys

MARK = "Written by `pipemux service install`; `pipemux service uninstall` removes it."

texts: dict[str, list[str]] = {}
name = ""
for line in sys.stdin.read().splitlines():
    if line.startswith("+++ "):
        name = line.removeprefix("+++ ")
        texts[name] = []
    elif line.startswith("+"):
        texts[name].append(line[1:])
[text] = ["\n".join(lines) for name, lines in texts.items() if name.endswith((".service", ".plist"))]
text = text.replace(MARK, "Of PipeMux's package; `pipemux service install` writes one with a socket.")
# A unit tells no directories: the daemon derives them from the user's environment.
text = re.sub(r'Environment="PIPEMUX_.*\n|(Requires|After)=pipemux\.socket\n', "", text)
text = re.sub(r"\t\t<key>PIPEMUX_.*\n\t\t<string>.*\n|\t<key>StandardErrorPath.*\n\t<string>.*\n", "", text)
text, count = re.subn(r'(?<=ExecStart=)".*?"|(?<=<string>)[^<]*/pipemuxd(?=<)', sys.argv[1], text)
assert count == 1, text
if "[Service]" in text:
    text += "\n\n[Install]\nWantedBy=default.target"
print(text)
