"""Tells the relative links of a page of Markdown.

With one argument, the page, it prints the files that they lead to, one a line: of a folder its README.md. With a second one it
prints the page with that before each of these links.
"""

import re
import sys
from pathlib import Path

# Links with a scheme, such as https: and the anchors of PipeMux's own documents, are no files. Code isn't read.
CODE = re.compile(r"^( *)(`{3,}).*?^\1\2`* *$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)")

page = Path(sys.argv[1])
text = page.read_text()
code = [match.span() for match in CODE.finditer(text)]
links = [match for match in LINK.finditer(text) if not any(start <= match.start() < end for start, end in code)]
if len(sys.argv) > 2:
    for match in reversed(links):
        text = text[: match.start()] + sys.argv[2] + text[match.start() :]
    sys.stdout.write(text)
else:
    targets = (page.parent / match[1] for match in links)
    for target in sorted({target / "README.md" if target.is_dir() else target for target in targets}):
        print(target)
