#!/usr/bin/env python3
"""Compares the search of `pipemux-search` with ripgrep: the same files and lines, and the time.

    cargo build --release -p pipemux-search --example find
    tests/bench/search.py [--rg RG] FOLDER...

Each folder is searched for several expressions. Times are the best of several runs in turn; that of the library is
measured inside its process, since the editor runs already, and that of ripgrep around its process, less the time that
`rg --version` takes.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

FIND = Path(__file__).resolve().parents[2] / "target/release/examples/find"
PATTERNS = [
    ("fn", ["-w"]),
    (r"\bfn\s+\w+", []),
    ("return", []),
    ("error", ["-i"]),
    (r"^\s*//", []),
    (r"[A-Z][a-z]+Error", []),
    ("there_is_no_such_thing", []),
    (r"\}$", []),
    ("self|this", ["-w"]),
    (r"\d{4,}", []),
]


def lines(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace").stdout


def ripgrep(rg, pattern, flags, folder):
    found = set()
    for line in lines([rg, "--no-heading", "-n", "--color=never", "--null", *flags, "-e", pattern, "./"], folder).split("\n"):
        path, _, rest = line.partition("\0")
        if rest:
            found.add(f"{Path(folder, path).resolve()}:{rest.partition(':')[0]}")
    return found


def seconds(command, folder):
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--rg", default="rg")
    args.add_argument("--rounds", type=int, default=7)
    args.add_argument("folders", nargs="+")
    args = args.parse_args()
    start = min(seconds([args.rg, "--version"], ".") for _ in range(9))
    worst, failed = 0, False
    for folder in args.folders:
        ours_total = theirs_total = 0
        for pattern, flags in PATTERNS:
            ours = set(lines([FIND, *flags, pattern, "."], folder).split("\n")) - {""}
            theirs = ripgrep(args.rg, pattern, flags, folder)
            if ours != theirs:
                failed = True
                print(f"{folder} {flags} {pattern}: {len(ours)} lines, ripgrep {len(theirs)}")
                for one in sorted(ours ^ theirs)[:5]:
                    print("  ", "only here" if one in ours else "only ripgrep", one)
            times = []
            for _ in range(args.rounds):
                here = int(lines([FIND, "--time", *flags, pattern, "."], folder)) / 1e6
                times.append((here, seconds([args.rg, "-c", *flags, "-e", pattern, "./"], folder) - start))
            here, there = min(one for one, _ in times), min(one for _, one in times)
            ours_total, theirs_total = ours_total + here, theirs_total + there
            print(f"{Path(folder).name:32} {' '.join(flags):3} {pattern:24} {len(ours):7} lines {here * 1e3:7.1f} ms, ripgrep {there * 1e3:7.1f} ms: {here / there:.2f}")
        ratio = ours_total / theirs_total
        worst = max(worst, ratio)
        print(f"{Path(folder).name}: {ratio:.2f} of ripgrep's time\n")
    print(f"at most {worst:.2f} of ripgrep's time")
    sys.exit(failed)


main()
