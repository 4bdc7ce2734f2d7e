"""Errors that readers and authors are shown."""

import os
import traceback
from pathlib import Path
from typing import Any


class Fault(Exception):
    """Refuses a request: what happened, in one sentence, and what to do next."""

    def __init__(
        self, message: str, *hints: str | None, about: Any = None, code: str = "failed"
    ):
        super().__init__(message)
        key = about if isinstance(about, str) else getattr(about, "key", None)
        self.body = {"code": code, "message": message, "key": key}
        self.body["hints"] = [hint for hint in hints if hint]


class Mistake(Exception):
    """A mistake of the app's author; the message says where it is and what to write."""


def describe(error: BaseException) -> dict[str, Any]:
    """The body of the fault for an exception: with its place, unless it is a Fault."""
    if isinstance(error, Fault):
        return error.body
    # The author's line is wanted, not that of a library which it called.
    kit, library = str(Path(__file__).parent), str(Path(os.__file__).parent)
    frames = [
        each
        for each in traceback.extract_tb(error.__traceback__)
        if not each.filename.startswith(kit)
    ]
    own = [
        each for each in frames if not each.filename.startswith((library, "<"))
    ] or frames
    place = f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
    return {"code": "failed", "message": f"{type(error).__name__}: {error}{place}"}
