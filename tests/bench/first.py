#!/usr/bin/env python3
"""Finds what `pipemux` executes when it does what agents ask for most, and stores it in ../../pipemux-client/first.txt.

    cargo build --release && tests/bench/first.py target/release

The release build then puts these functions side by side in the program's file (apps/build): a short process pays for each
64 KiB of it that it touches, and scattered over the program they are in thirty such pieces. A function that is missing, or
no longer there, costs nothing but that. To be run again when `click` has come to take more page faults:
`perf stat -e page-faults pipemux click 1`. Needs valgrind, nm, and a C compiler to ask for its library.
"""
import fnmatch, os, pathlib, re, subprocess, sys, tempfile

LIST = pathlib.Path(__file__).resolve().parents[2] / "pipemux-client" / "first.txt"
HEAD = """\
# What `pipemux click`, `run`, `view`, `read` and `answer` execute, to lie side by side in the program's file.
# Written by tests/bench/first.py; read by build.rs. A line is a pattern of mangled names, or a member of a library.
"""
# Of some there are dozens, of which a few are needed: more bytes of the others than they are worth.
SHARE, SMALL = 0.2, 8 * 1024
LIBRARIES = ("libc.a", "libgcc_eh.a")
# One name, an implementation for each kind of processor.
KINDS = re.compile(r"-(sse|avx|evex|erms|ssse)[\w-]*(?=\.o$)")


def executed(program, home):
    """The names of the functions that these command lines execute."""
    env = {**os.environ, "HOME": str(home), "PIPEMUX_RUNTIME_DIR": str(home / "run")}
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "PIPEMUX_READER", "PIPEMUX_WORKSPACE"):
        env.pop(name, None)
    (home / "run").mkdir(mode=0o700)
    (home / ".git").mkdir()
    (home / "a.txt").write_text("one\ntwo two\n")

    def run(words, *before):
        return subprocess.run([*before, program, *words], cwd=home, env=env, text=True, capture_output=True).stdout

    names = set()

    def count(*words):
        counts = home / "counts"
        said = run(words, "valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={counts}")
        for name in re.findall(r"^c?fn=\(\d+\) (\S+)$", counts.read_text(), re.M):
            names.add(re.sub(r"'\d+$", "", name))
        return said

    try:
        run(["open", "editor", "a.txt"])
        insert = 'editor.insert(1, "three")'
        run(["run", insert])
        said = count("run", insert)
        link = re.search(r"\(link:(\d+)", said)
        if not link:
            sys.exit(f"expected a link to undo that: {said!r}")
        count("click", link[1])
        count("view")
        run(["run", 'editor.replace("two", "2")'])
        count("answer", "1")
        count("read", "obj:1")
    finally:
        run(["down"])
    return names


def pattern(symbol):
    """Without what is another one in each build."""
    symbol = re.sub(r"17h[0-9a-f]{16}E.*$|\.\d+$", lambda found: "17h*" if found[0][0] == "1" else "*", symbol)
    symbol = re.sub(r"Cs[0-9A-Za-z]+_", "Cs*_", symbol)
    return symbol if symbol.endswith("*") else symbol + "*"


def of_rust(names, program):
    """Patterns, those of which most is needed first."""
    sizes = {}
    for line in subprocess.run(["nm", "-S", program], text=True, capture_output=True, check=True).stdout.splitlines():
        parts = line.split()
        if len(parts) == 4:
            sizes[parts[3]] = int(parts[1], 16)
    needed = {}
    for name in names:
        if name in sizes and re.match(r"_ZN|_R", name):
            needed[pattern(name)] = needed.get(pattern(name), 0) + sizes[name]
    kept = []
    for one, size in needed.items():
        all_of_it = sum(size for name, size in sizes.items() if fnmatch.fnmatchcase(name, one))
        if size >= SHARE * all_of_it or all_of_it <= SMALL:
            kept.append(one)
    return sorted(kept)


def of_archives(names):
    """Members of the C compiler's libraries; of those that there are for several kinds of processors, all."""
    kept = []
    for library in LIBRARIES:
        path = subprocess.run(["cc", f"-print-file-name={library}"], text=True, capture_output=True, check=True).stdout.strip()
        members = {}
        for line in subprocess.run(["nm", "-A", path], text=True, capture_output=True).stdout.splitlines():
            found = re.match(r".*:([^:]+\.o):[0-9a-f]+ [TtWi] (\S+)$", line)
            if found:
                members.setdefault(found[2], found[1])
        used = {KINDS.sub("", members[name]) for name in names if name in members}
        for member in sorted(used):
            kept.append(f"{library}:{member}")
            if any(KINDS.search(other) and KINDS.sub("", other) == member for other in members.values()):
                kept.append(f"{library}:{member[:-2]}-*.o")
    return kept


def main():
    if len(sys.argv) != 2 or not (pathlib.Path(sys.argv[1]) / "pipemux").exists():
        sys.exit("expected the directory of a release build: tests/bench/first.py target/release")
    program = str((pathlib.Path(sys.argv[1]) / "pipemux").resolve())
    with tempfile.TemporaryDirectory() as home:
        names = executed(program, pathlib.Path(home))
    rust, archives = of_rust(names, program), of_archives(names)
    lines = ["main", *rust, *archives]
    LIST.write_text(HEAD + "\n".join(lines) + "\n")
    print(f"{len(rust)} patterns of {len(names)} functions, {len(archives)} members of libraries: {LIST}")


if __name__ == "__main__":
    main()
