"""Counts the lines of code of each crate: those that are neither empty nor only a comment, outside of `tests` and
`benches`, without items and modules under `#[cfg(test)]`."""

import re
import subprocess
import tomllib
from pathlib import Path

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |\bb?r(?P<hashes>\#*)".*?"(?P=hashes)|\bb?"(?:\\.|[^"\\])*"|"(?:\\.|[^"\\])*"
    |'(?:\\[^\n]+?|[^\\'\n])'|(?P<mark>\#\[cfg\((?:all\()?test\b[^\]]*\])|(?P<mod>\bmod\s+(?P<name>\w+)\s*;)
    |(?P<path>\#\[path\s*=\s*"(?P<file>[^"]+)"\])|(?P<open>[{(\[])|(?P<close>[})\]])|(?P<end>;)""",
    re.S | re.X,
)
LEFT_OUT = {"tests", "benches", "target"}


def count(root: Path) -> dict[str, int]:
    """The number of lines of each crate of the workspace, by its name."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.rs", "Cargo.toml", "*/Cargo.toml"],
        cwd=root, capture_output=True, text=True, check=True)
    files = [Path(name) for name in listed.stdout.split("\0") if name and (root / name).is_file()]
    packages = {}
    for manifest in files:
        if manifest.name == "Cargo.toml" and not LEFT_OUT & set(manifest.parts):
            package = tomllib.loads((root / manifest).read_text()).get("package")
            if package:
                packages[manifest.parent] = package["name"]
    sources = [file for file in files if file.suffix == ".rs" and not LEFT_OUT & set(file.parts)]
    texts = {file: (root / file).read_text() for file in sources}
    marked, tested = {}, []
    for file, text in texts.items():
        marked[file], modules = without_tests(text)
        tested += [place for module in modules for place in places(file, module)]
    counts = dict.fromkeys(packages.values(), 0)
    for file, lines in marked.items():
        crate = next((packages[parent] for parent in file.parents if parent in packages), None)
        if crate and not any(file == place or place in file.parents for place in tested):
            counts[crate] += lines
    return counts


def without_tests(text: str) -> tuple[int, list[str]]:
    """How many lines of a file have code that isn't only for tests, and its modules that are: a name, or a path."""
    code, modules = list(text), []
    depth, item, path = 0, None, None

    def blank(begin: int, end: int) -> None:
        code[begin:end] = re.sub(r"[^\n]", " ", text[begin:end])

    for token in TOKEN.finditer(text):
        if token["comment"]:
            blank(*token.span())
        elif token["mark"]:
            if item is None:
                item, path = (token.start(), depth), None
        elif token["path"]:
            path = token["file"]
        elif token["mod"]:
            if item and depth == item[1]:
                modules.append(path or token["name"])
                blank(item[0], token.end())
                item = None
        elif token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1
            # Of an attribute, a signature or a field the item goes on.
            if item and depth <= item[1] and (token["close"] == "}" or depth < item[1]):
                end = token.end() if depth == item[1] else token.start()
                blank(item[0], end + text.startswith(";", end))
                item = None
        elif token["end"] and item and depth == item[1]:
            blank(item[0], token.end())
            item = None
    lines = "".join(code).split("\n")
    return sum(bool(line.strip()) for line in lines), modules


def places(file: Path, module: str) -> list[Path]:
    """The file and the folder that hold a module declared in this file."""
    if module.endswith(".rs"):
        return [file.parent / module]
    folder = file.parent if file.stem in ("lib", "main", "mod") or file.parent.name == "bin" else file.with_suffix("")
    return [folder / f"{module}.rs", folder / module]
