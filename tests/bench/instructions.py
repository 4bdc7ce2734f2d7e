#!/usr/bin/env python3
"""Counts the instructions of the benchmarks and stores them as the new baseline, results/instructions.json.

A comparison with the baseline doesn't need this script: `cargo bench -p pipemux-proto -p pipemux-core --bench
instructions --no-fail-fast` fails when an operation takes 5 % and 60 instructions more. Both need valgrind and
gungraun-runner (README.md). Another compiler, processor or C library gives other counts, so review the table
before you commit a new baseline.
"""
import json, pathlib, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent
BASELINE = HERE / "results" / "instructions.json"
COUNT = "cargo bench -p pipemux-proto -p pipemux-core --bench instructions --no-fail-fast -- --output-format=json"


def main():
    if sys.argv[1:]:
        print("takes no arguments; to run one benchmark: cargo bench -p pipemux-core --bench instructions -- '*click*'", file=sys.stderr)
        return 2
    stored = json.loads(BASELINE.read_text())
    # The command fails for operations that take more than stored; their counts are stored all the same.
    out = subprocess.run(COUNT.split(), cwd=HERE, stdout=subprocess.PIPE, text=True).stdout
    found = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    counted = {one["id"]: one["profiles"][0]["data"]["total"]["metrics"]["Ir"]["values"]["new"] for one in found}
    if len({one["group"] for one in found}) < 2:
        print("some benchmarks were not counted, so nothing is stored", file=sys.stderr)
        return 1
    print("| operation | instructions | before | |\n|---|---:|---:|---:|")
    for name, now in sorted(counted.items()):
        before = stored.get(name)
        print(f"| {name} | {now} | {before or '–'} | {f'{100 * (now / before - 1):+.1f} %' if before else 'new'} |")
    BASELINE.write_text(json.dumps(counted, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
