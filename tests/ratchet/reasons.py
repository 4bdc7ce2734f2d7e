"""Finds figures of the record that a commit raised without saying why.

A commit that raises a figure names it in its body: `Raises calls.daemon_click: the daemon asks whether the disk is full`.
Several are separated by commas. A raise counts as long as it stands: one that was taken back needs no reason.
"""

import json
import re
import subprocess
from math import inf
from pathlib import Path

REASON = re.compile(r"\bRaises\s+((?:[\w.-]+,\s+)*[\w.-]+):\s+\S+\s+\S+")


def flat(record: dict) -> dict[str, float]:
    """The figures of a record by their full names, without the times, which only warn."""
    groups = {name: group for name, group in record.items() if isinstance(group, dict) and name not in ("made_with", "seconds")}
    return {f"{group}.{name}": value for group, figures in groups.items() for name, value in figures.items()}


def line(names: list[str]) -> str:
    """What the body of a commit has to say."""
    return f"Raises {', '.join(names)}: <why>"


def unexplained(root: Path, record: Path) -> list[str] | None:
    """What is wrong, a line for each commit; nothing known where the history isn't all there."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else ""

    if git("rev-parse", "--is-shallow-repository").strip() != "false":
        return None
    path = record.relative_to(root)

    def figures(commit: str) -> dict[str, float]:
        return flat(json.loads(git("show", f"{commit}:{path}") or "{}"))

    known: dict[str, dict[str, float]] = {}
    # What each figure came down to on every way from a commit to the present one.
    later: dict[str, dict[str, float]] = {}
    wrong = []
    for row in git("rev-list", "--topo-order", "--parents", "HEAD", "--", str(path)).splitlines():
        commit, *parents = row.split()
        now = known.setdefault(commit, figures(commit))
        # Git names the nearest ancestor that changed the record, if there is one.
        before = [known.setdefault(parent, figures(parent)) for parent in parents]
        since = later.get(commit, {})
        lowest = {name: min(value, since.get(name, inf)) for name, value in now.items()}
        for parent in parents:
            ways = later.setdefault(parent, lowest)
            later[parent] = {name: max(value, ways.get(name, value)) for name, value in lowest.items()}
        named = {name for found in REASON.finditer(git("log", "-1", "--format=%b", commit)) for name in re.split(r",\s+", found[1])}
        raised = [
            name for name, value in lowest.items()
            if before and all(name in one and value > one[name] for one in before) and name not in named
        ]
        if raised:
            wrong.append(f"{commit[:12]} raises the record without a line such as\n    {line(sorted(raised))}")
    return wrong
