#!/usr/bin/env python3
"""Counts the instructions of the crates' benches under valgrind and compares them with a stored baseline.

    instructions.py              compare with results/instructions.json; exit 1 when something costs more
    instructions.py --write      store what is counted now as the baseline
    instructions.py NAME...      only these pieces of work

Instructions are the same each time on one machine with one compiler; other processors and C libraries choose
other routines for copying, so the tolerance is wide (5 %), and small pieces of work may differ by some dozen
instructions more. After an update of the compiler: look, then --write. Without valgrind nothing is counted,
which is said and is no failure.
"""
import json, pathlib, shutil, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent
BASELINE = HERE / "results" / "instructions.json"
BENCHES = {"pipemux-proto": "proto", "pipemux-core": "core"}
TOLERANCE, SPARE = 0.05, 60  # of the baseline, and instructions besides
FEW, MANY = 20, 60  # counted twice: what differs is the work alone


def build(package, bench):
    command = ["cargo", "bench", "--no-run", "--message-format=json", "-p", package, "--bench", bench]
    out = subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, check=True, text=True).stdout
    messages = (json.loads(line) for line in out.splitlines() if line.startswith("{"))
    return next(m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == bench)


def count(program, name, times):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, name, str(times)]
    err = subprocess.run(command, stderr=subprocess.PIPE, check=True, text=True).stderr
    return int(next(line.split(":")[1] for line in err.splitlines() if "Collected" in line))


def main():
    words = sys.argv[1:]
    write, wanted = "--write" in words, [word for word in words if not word.startswith("-")]
    if not shutil.which("valgrind"):
        print("valgrind isn't there: nothing is counted")
        return 0
    stored = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    counted, worse = {}, []
    print("| work | instructions | baseline | |\n|---|---:|---:|---|")
    for package, bench in BENCHES.items():
        program = build(package, bench)
        names = subprocess.run([program, "--list"], stdout=subprocess.PIPE, check=True, text=True).stdout.split()
        for name in (name for name in names if not wanted or name in wanted):
            now = round((count(program, name, MANY) - count(program, name, FEW)) / (MANY - FEW))
            before = stored.get(name)
            counted[name] = now
            verdict = "new" if before is None else f"{100 * (now / before - 1):+.1f} %"
            if before is not None and now > before * (1 + TOLERANCE) + SPARE:
                worse.append(name)
                verdict += " worse"
            print(f"| {name} | {now} | {before if before is not None else '–'} | {verdict} |", flush=True)
    if write:
        BASELINE.write_text(json.dumps({**stored, **counted}, indent=1, sort_keys=True) + "\n")
    elif worse:
        print(f"\nmore than {TOLERANCE:.0%} above the baseline: {', '.join(worse)}\nmeant so? instructions.py --write {' '.join(worse)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
