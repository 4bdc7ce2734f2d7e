"""Watches paths for what other programs write."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATHS_MAX = 256
#: Seconds between two looks, and after a minute in which nothing changed.
LOOK, LOOK_QUIET, QUIET = 0.2, 1.0, 60.0
#: Looks after which a file that is written again and again counts as changed all the same.
LOOKS_MAX = 10


class Watched:
    """A path, as it was when its change was told last."""

    def __init__(self, path: Path, tell: Callable[[], None]):
        self.path, self.tell = path, tell
        self.told = self.seen = _look(path)
        self.looks = 0

    def look(self) -> bool:
        """Tells a change once the path rests, or goes on for long. True while it changes."""
        now = _look(self.path)
        self.looks = 0 if now == self.told else self.looks + 1
        rests, self.seen = now == self.seen, now
        if self.looks and (rests or self.looks >= LOOKS_MAX):
            # What goes on is told once more when it rests.
            self.told, self.looks = now if rests else (), 0
            self.tell()
            return True
        return self.looks > 0


class Watch:
    """The watched paths of a session, on a thread of their own.

    It looks at the files again and again: that works with each file system, needs no grant in the
    manifest, and a path may be replaced, removed and made again.
    """

    def __init__(self) -> None:
        self.paths: dict[Path, Watched] = {}
        self.thread: threading.Thread | None = None
        self.ended = threading.Event()

    def add(self, path: Path, tell: Callable[[], None]) -> None:
        if len(self.paths) >= PATHS_MAX and path not in self.paths:
            raise ValueError(
                f"at most {PATHS_MAX} paths are watched: watch their folder"
            )
        self.paths = {**self.paths, path: Watched(path, tell)}
        if self.thread is None:
            self.thread = threading.Thread(target=self._run, daemon=True)
            self.thread.start()

    def _run(self) -> None:
        changed = time.monotonic()
        while not self.ended.wait(
            LOOK if time.monotonic() - changed < QUIET else LOOK_QUIET
        ):
            changes = [each.look() for each in self.paths.values()]
            if any(changes):
                changed = time.monotonic()


def _look(path: Path) -> tuple[Any, ...] | None:
    """What differs when a path changed; None when nothing is there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )
