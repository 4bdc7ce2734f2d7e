"""Parts of a state that many apps need: pages of a list, and changes to take back."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from .errors import Fault
from .schema import dump, load_fields

T = TypeVar("T")
READERS_MAX = 64
CHANGES_MAX = 50


@dataclass
class Pages:
    """The page of a list that each reader turned to, of an app with `per_reader = True`."""

    size: int = 20
    #: By reader, the index of the first item that is shown; who turned last is at the end.
    first: dict[str, int] = field(default_factory=dict)

    def page(self, items: Sequence[T], reader: str) -> Sequence[T]:
        """The items that a reader is shown. A page exists however the list changes."""
        start = self._start(len(items), reader)
        return items[start : start + self.size]

    def position(self, items: Sequence[Any], reader: str) -> str:
        """Which part of the list it is, for `view.position`: `21-40 of 45`."""
        start, shown = self._start(len(items), reader), len(self.page(items, reader))
        return f"{start + bool(shown)}-{start + shown} of {len(items)}"

    def turn(self, items: Sequence[Any], reader: str, pages: int = 1) -> str:
        """Shows a reader the next page, or with -1 the previous one. Returns the position."""
        start = self._start(len(items), reader) + pages * self.size
        if not 0 <= start < len(items):
            raise Fault("there is no such page", code="refused")
        self.first.pop(reader, None)
        self.first[reader] = start
        if len(self.first) > READERS_MAX:
            del self.first[next(iter(self.first))]
        return self.position(items, reader)

    def _start(self, length: int, reader: str) -> int:
        last_page = max(length - 1, 0) // self.size * self.size
        return min(self.first.get(reader, 0), last_page)


@dataclass
class Change:
    """A change, and the state on its other side."""

    number: int
    what: str
    state: str


@dataclass
class Undo:
    """The states before the last changes: a field of an app, so that it is saved, too."""

    past: list[Change] = field(default_factory=list)
    future: list[Change] = field(default_factory=list)
    last: int = 0

    def record(self, app: Any, what: str) -> int:
        """Keeps the state before a change that is about to be made. Returns its number.

        Name the number in `Done(…).undone_by(self.undo, number)`: so `pipemux undo` works.
        """
        self.last += 1
        self.future.clear()
        self.past.append(Change(self.last, what, _state(app)))
        del self.past[:-CHANGES_MAX]
        return self.last

    def undo(self, app: Any, number: int | None = None) -> Change:
        """Takes back the newest change, which must be the given one if one is given."""
        return self._swap(app, "undo", self.past, self.future, number)

    def redo(self, app: Any, number: int | None = None) -> Change:
        """Makes the change again that was taken back last."""
        return self._swap(app, "redo", self.future, self.past, number)

    def _swap(
        self,
        app: Any,
        verb: str,
        source: list[Change],
        target: list[Change],
        number: Any,
    ) -> Change:
        if not source:
            raise Fault(f"there is nothing to {verb}", code="refused")
        change = source[-1]
        if number not in (None, change.number):
            instead = f"the next one to {verb} is {change.number}, {change.what}"
            raise Fault(f"change {number} can't be taken: {instead}", code="stale")
        target.append(replace(source.pop(), state=_state(app)))
        vars(app).update(load_fields(type(app), json.loads(change.state)))
        return change


def _state(app: Any) -> str:
    fields = {
        name: dump(each) for name, each in vars(app).items() if _is_state(app, name)
    }
    return json.dumps(fields)


def _is_state(app: Any, name: str) -> bool:
    is_field = name in type(app).__dataclass_fields__
    return is_field and not isinstance(getattr(app, name), Undo)
