"""Carries out planned renamings, and asks the compiler whether the program is still right.

    compile.py <project> <plans> <check command...>

`plans` are the lines that the example `rename_plans` prints. What was proven without a question is renamed alone, and all of
what was possible with it where there was one. The check must then pass as it did before; a failure is wrong if the plan asked
nothing. Of a plan that asked, an error is counted as missed if it names the old name, which was left somewhere.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys


def check(root, command):
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def errors(output, name, new):
    """The errors of a compiler, without positions and with the old name."""
    lines = [line for line in output.splitlines() if "error" in line.lower()]
    if new:
        lines = [line.replace(new, name) for line in lines]
    return [re.sub(r"\d+", "", line) for line in lines]


def main():
    root, plans, command = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    # A project may have errors to begin with, such as packages that aren't installed: those are no one's fault.
    known = collections.Counter(errors(check(root, command)[1], "", ""))
    if known.total() > 400:
        sys.exit(f"the check has {known.total()} errors before anything was renamed")
    counts = dict.fromkeys(["symbols", "refused", "proven", "asked", "wrong", "missed"], 0)
    for line in open(plans):
        plan = json.loads(line)
        counts["symbols"] += 1
        if "refused" in plan:
            counts["refused"] += 1
            continue
        asked = bool(plan["possible"]) or bool(plan["doubt"])
        counts["asked" if asked else "proven"] += 1
        name, new = plan["name"], plan["name"] + "Renamed9"
        if name.isupper():
            new = name + "_RENAMED9"
        elif name.islower():
            new = name + "_renamed9"
        edits = {}
        forms = plan["forms"]
        for (path, at), form in zip(plan["proven"], forms):
            edits.setdefault(path, []).append((at, form.replace("\0", new)))
        for (path, at), form in zip(plan["possible"], plan["possible_forms"]):
            edits.setdefault(path, []).append((at, form.replace("\0", new)))
        before = {path: (root / path).read_bytes() for path in edits}
        for path, places in edits.items():
            text = before[path]
            for at, written in sorted(places, reverse=True):
                assert text[at : at + len(name.encode())] == name.encode(), (path, at)
                text = text[:at] + written.encode() + text[at + len(name.encode()) :]
            (root / path).write_bytes(text)
        status, output = check(root, command)
        for path, text in before.items():
            (root / path).write_bytes(text)
        fresh = collections.Counter(errors(output, name, new)) - known
        if status != 0 and fresh:
            kind = "missed" if asked else "wrong"
            # Of what was asked about, a name may be something else: an error that looks for the new one there is no fault.
            lost = rf"(cannot find|no \w+|unresolved import|not found|Cannot find name|does not exist on type).*[`']([\w:]*::)?{name}[`']"
            if asked and not re.search(lost, output):
                continue
            counts[kind] += 1
            lines = list(fresh)
            print(f"{kind}: {plan['kind']} {plan['qualified']} of {plan['path']}: {' | '.join(lines[:4])}", flush=True)
    print(json.dumps(counts))


main()
