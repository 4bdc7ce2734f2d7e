#!/usr/bin/env python3
"""Counts the instructions of the crates' benches and stores them as their baseline, results/instructions.json.

To compare with it, nothing of this is needed: `cargo bench -p pipemux-proto -p pipemux-core --bench instructions
--no-fail-fast` fails when a piece of work takes more than 5 % and 60 instructions above it. Both need valgrind and
gungraun-runner (README.md). Another compiler, processor or C library counts differently: look, then store.
"""
import json, pathlib, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent
BASELINE = HERE / "results" / "instructions.json"
COUNT = "cargo bench -p pipemux-proto -p pipemux-core --bench instructions --no-fail-fast -- --output-format=json"


def main():
    if sys.argv[1:]:
        print("takes no arguments; one piece of work: cargo bench -p pipemux-core --bench instructions -- '*click*'", file=sys.stderr)
        return 2
    stored = json.loads(BASELINE.read_text())
    # What takes more than stored fails there, and is what is to be stored.
    out = subprocess.run(COUNT.split(), cwd=HERE, stdout=subprocess.PIPE, text=True).stdout
    found = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    counted = {one["id"]: one["profiles"][0]["data"]["total"]["metrics"]["Ir"]["values"]["new"] for one in found}
    if len({one["group"] for one in found}) < 2:
        print("not everything was counted: nothing is stored", file=sys.stderr)
        return 1
    print("| work | instructions | before | |\n|---|---:|---:|---:|")
    for name, now in sorted(counted.items()):
        before = stored.get(name)
        print(f"| {name} | {now} | {before or '–'} | {f'{100 * (now / before - 1):+.1f} %' if before else 'new'} |")
    BASELINE.write_text(json.dumps(counted, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
