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
    """A path, as it was when its change was taken in last, and when it was looked at last."""

    def __init__(self, path: Path, change: Callable[[], Any]):
        self.path, self.change = path, change
        self.taken = self.seen = _look(path)
        self.looks, self.is_posted, self.failed = 0, False, False

    def take(self) -> None:
        """Takes in what the path has now, on the app's thread."""
        self.taken, self.is_posted, self.failed = _look(self.path), False, True
        self.change()
        self.failed = False

    def rests(self) -> bool | None:
        """True once a changed path rests, or has changed for long; None for an unchanged one."""
        now = _look(self.path)
        self.looks = 0 if now == self.taken else self.looks + 1
        is_same, self.seen = now == self.seen, now
        return (is_same or self.looks % LOOKS_MAX == 0) if self.looks else None


class Watch:
    """The watched paths of a session, on a thread of their own.

    It looks at the files again and again: that works with each file system, needs no grant in the
    manifest, and a path may be replaced, removed and made again.
    """

    def __init__(self, post: Callable[[Callable[[], Any]], None]) -> None:
        self.post = post
        self.paths: dict[Path, Watched] = {}
        self.thread: threading.Thread | None = None
        self.ended = threading.Event()

    def add(self, path: Path, change: Callable[[], Any]) -> Watched:
        if len(self.paths) >= PATHS_MAX and path not in self.paths:
            raise ValueError(
                f"at most {PATHS_MAX} paths are watched: watch their folder"
            )
        self.paths = {**self.paths, path: Watched(path, change)}
        if self.thread is None:
            self.thread = threading.Thread(target=self._run, daemon=True)
            self.thread.start()
        return self.paths[path]

    def changed(self) -> list[Watched]:
        """The paths that changed, or whose change couldn't be taken in."""
        paths = self.paths.values()
        return [each for each in paths if each.failed or _look(each.path) != each.taken]

    def _run(self) -> None:
        changed = time.monotonic()
        while not self.ended.wait(
            LOOK if time.monotonic() - changed < QUIET else LOOK_QUIET
        ):
            for each in self.paths.values():
                if (rests := each.rests()) is None:
                    continue
                changed = time.monotonic()
                if rests and not each.is_posted:
                    each.is_posted = True
                    self.post(each.take)


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
