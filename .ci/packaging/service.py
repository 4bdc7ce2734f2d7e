"""Makes the service's units for a package of what `pipemux service install --dry-run` would write.

Argument 1 is the daemon's path, argument 2 the directory in which the units are written. The name of the socket on which
clients look for the daemon depends on a user's directories, which a package doesn't know: so the packaged socket unit
listens beside it, and has a link lead there while it listens.
"""

import re
import sys
from pathlib import Path

MARK = "Written by `pipemux service install`; `pipemux service uninstall` removes it."
daemon, directory = sys.argv[1], Path(sys.argv[2])
client = re.sub("pipemuxd$", "pipemux", daemon)

texts: dict[str, list[str]] = {}
name = ""
for line in sys.stdin.read().splitlines():
    if line.startswith("+++ "):
        name = Path(line.removeprefix("+++ ")).name
        texts[name] = []
    elif line.startswith("+"):
        texts[name].append(line[1:])


def replaced(text: str, pattern: str, replacement: str) -> str:
    text, count = re.subn(pattern, replacement, text)
    assert count == 1, (pattern, text)
    return text


for name, lines in texts.items():
    text = "\n".join(lines) + "\n"
    if name.endswith(".socket"):
        text = replaced(text, MARK, "Of PipeMux's package: systemctl --user enable --now pipemux.socket")
        link = f'"{client}" service link %t/pipemux/unit.sock'
        listen = f"ListenStream=%t/pipemux/unit.sock\nExecStartPost={link}\nExecStopPost={link} --remove"
        text = replaced(text, "ListenStream=.*", listen)
    else:
        text = replaced(text, MARK, "Of PipeMux's package; `pipemux service install` writes one of your own.")
        # A unit tells no directories: the daemon derives them from the user's environment.
        text = re.sub(r'Environment="PIPEMUX_.*\n', "", text)
        text = re.sub(r"\t\t<key>PIPEMUX_.*\n\t\t<string>.*\n|\t<key>StandardErrorPath.*\n\t<string>.*\n", "", text)
        text = replaced(text, r'(?<=ExecStart=)".*?"|(?<=<string>)[^<]*/pipemuxd(?=<)', daemon)
    (directory / name).write_text(text)
