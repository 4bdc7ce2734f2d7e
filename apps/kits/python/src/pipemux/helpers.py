"""Parts of a state that many apps need: pages of a list, and changes to take back."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .difference import apply, difference
from .errors import Fault
from .schema import dump, load_fields

T = TypeVar("T")
READERS_MAX = 64
CHANGES_MAX = 50
CHANGES_BYTES_MAX = 1 << 20


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
    """A change that can be taken back and made again."""

    number: int
    what: str
    #: What it changed in the state; None until its action ends.
    edits: None | list[Any] = None


@dataclass
class Undo:
    """The last changes: a field of an app, so that it is saved, too.

    There are at most 50 of them, and 1 MiB, but always the newest. What an action changes without
    `record`, such as a page that is turned, stays when a change before it is taken back; so does
    what another program or a timer changed. Where they changed the same, taking back is refused.
    """

    past: list[Change] = field(default_factory=list)
    future: list[Change] = field(default_factory=list)
    last: int = 0

    def __post_init__(self) -> None:
        # The state before the newest change, until its action ends.
        self._before: Any = None
        # Earlier releases kept whole states.
        self.past = [each for each in self.past if each.edits is not None]
        self.future = [each for each in self.future if each.edits is not None]

    def record(self, app: Any, what: str) -> int:
        """Begins a change that is about to be made; it ends with the action. Returns its number.

        Name the number in `Done(…).undone_by(self.undo, number)`: so `pipemux undo` works.
        """
        self.seal(app)
        self.last += 1
        self.future.clear()
        self.past.append(Change(self.last, what))
        self._before = _state(app)
        return self.last

    def seal(self, app: Any) -> None:
        """Ends the change that was begun. The kit does it when an action has ended."""
        if self._before is None:
            return
        self.past[-1].edits = difference(self._before, _state(app))
        self._before = None
        size, kept = 0, 0
        for change in reversed(self.past[-CHANGES_MAX:]):
            size += len(json.dumps(change.edits))
            if size > CHANGES_BYTES_MAX and kept:
                break
            kept += 1
        del self.past[:-kept]

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
        self.seal(app)
        if not source:
            raise Fault(f"there is nothing to {verb}", code="refused")
        change = source[-1]
        if number not in (None, change.number):
            instead = f"the next one to {verb} is {change.number}, {change.what}"
            raise Fault(f"change {number} can't be taken: {instead}", code="stale")
        state = _state(app)
        try:
            apply(state, change.edits or [], backwards=verb == "undo")
        except LookupError:
            why = "what it changed was changed again since, by no action"
            raise Fault(f"can't {verb} {change.what}: {why}", code="refused") from None
        vars(app).update(load_fields(type(app), state))
        target.append(source.pop())
        return change


def _state(app: Any) -> dict[str, Any]:
    return {
        name: dump(each) for name, each in vars(app).items() if _is_state(app, name)
    }


def _is_state(app: Any, name: str) -> bool:
    is_field = name in type(app).__dataclass_fields__
    return is_field and not isinstance(getattr(app, name), Undo)
