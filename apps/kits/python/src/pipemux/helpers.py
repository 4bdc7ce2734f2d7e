"""Parts of a state that many apps need: pages of a list, and changes to take back."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .difference import apply, difference
from .errors import Fault, Mistake
from .merge import Conflict, merge, things_in
from .schema import dump, load_fields

T = TypeVar("T")
READERS_MAX = 64
CHANGES_MAX = 50
CHANGES_BYTES_MAX = 1 << 20
SPENT_MAX = 1000


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
    #: What others changed between the change before and this one.
    gap: list[Any] = field(default_factory=list)


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
    #: What others changed since the newest change that wasn't taken back.
    since: list[Any] = field(default_factory=list)
    #: Keys of things whose making was taken back: they belong to nothing else.
    spent: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        #: The state that the newest change left, or the one before the change that was begun.
        self._base: str | None = None
        self._is_begun = False
        # Earlier releases kept whole states.
        self.past = [each for each in self.past if each.edits is not None]
        self.future = [each for each in self.future if each.edits is not None]

    def track(self, app: Any) -> None:
        """Finds out what the newest change left. The kit does it before an action begins."""
        if self._base is None:
            state = _state(app)
            try:
                apply(state, self.since, backwards=True)
            except LookupError:
                self.past, self.future = [], []
            self._base = json.dumps(state)

    def record(self, app: Any, what: str) -> int:
        """Begins a change that is about to be made; it ends with the action. Returns its number.

        Name the number in `Done(…).undone_by(self.undo, number)`: so `pipemux undo` works.
        """
        self.seal(app)
        self.last += 1
        self.future.clear()
        self.past.append(Change(self.last, what, gap=self.since if self.past else []))
        self._base, self.since, self._is_begun = json.dumps(_state(app)), [], True
        return self.last

    def seal(self, app: Any) -> None:
        """Ends the change that was begun. The kit does it when an action has ended."""
        self.track(app)
        state, before = _state(app), self._base or ""
        text = json.dumps(state)
        edits = [] if text == before else difference(json.loads(before), state)
        if not self._is_begun:
            self.since = edits
            return
        known = {each["key"] for each in things_in(json.loads(before))}
        for thing in things_in(state) if self.spent else []:
            if thing["key"] in self.spent and thing["key"] not in known:
                told = (
                    f"the key {thing['key']} was another thing's: give each new_key()"
                )
                raise Mistake(told)
        self.past[-1].edits, self._base, self._is_begun = edits, text, False
        size, kept = 0, 0
        for change in reversed(self.past[-CHANGES_MAX:]):
            size += len(json.dumps([change.edits, change.gap]))
            if size > CHANGES_BYTES_MAX and kept:
                break
            kept += 1
        del self.past[:-kept]
        self.past[0].gap = []

    def undo(self, app: Any, number: int | None = None) -> Change:
        """Takes back the newest change, which must be the given one if one is given."""
        change = self._next("undo", self.past, app, number)
        before = self._stepped(change.edits, backwards=True)
        self._set(app, "undo", change, json.loads(self._base or ""), before)
        self._base = json.dumps(before)
        self._base = json.dumps(self._stepped(change.gap, backwards=True))
        self.future.append(self.past.pop())
        return change

    def redo(self, app: Any, number: int | None = None) -> Change:
        """Makes the change again that was taken back last."""
        change = self._next("redo", self.future, app, number)
        before = self._stepped(change.gap)
        after = self._stepped([*change.gap, *(change.edits or [])])
        self._set(app, "redo", change, before, after)
        self._base = json.dumps(after)
        self.past.append(self.future.pop())
        return change

    def _next(
        self, verb: str, among: list[Change], app: Any, number: int | None
    ) -> Change:
        self.seal(app)
        if not among:
            raise Fault(f"there is nothing to {verb}", code="refused")
        change = among[-1]
        if number not in (None, change.number):
            instead = f"the next one to {verb} is {change.number}, {change.what}"
            raise Fault(f"change {number} can't be taken: {instead}", code="stale")
        return change

    def _stepped(self, edits: list[Any] | None, *, backwards: bool = False) -> Any:
        """What edits make of the state that the newest change left."""
        state = json.loads(self._base or "")
        try:
            apply(state, edits or [], backwards=backwards)
        except LookupError:
            raise Fault(
                "what was saved of the changes doesn't fit", code="refused"
            ) from None
        return state

    def _set(self, app: Any, verb: str, change: Change, base: Any, wanted: Any) -> None:
        """Gives the state what leads from `base` to `wanted`, beside what others changed."""
        state = _state(app)
        try:
            merged = merge(base, state, wanted)
        except Conflict as conflict:
            key = str(conflict)
            labels = {each["key"]: repr(each["label"]) for each in things_in(base)}
            what = (
                f"can't {verb} {change.what}: {labels.get(key, key)} was changed since"
            )
            raise Fault(
                what, about=key if key in labels else None, code="refused"
            ) from None
        vars(app).update(load_fields(type(app), merged))
        were, are = (
            {each["key"]: 0 for each in things_in(value)} for value in (state, merged)
        )
        spent = [key for key in self.spent if key not in are]
        self.spent = [*spent, *(key for key in were if key not in are)][-SPENT_MAX:]


def new_key() -> str:
    """A key that no thing ever had, whatever is taken back or lost."""
    return secrets.token_hex(8)


def _state(app: Any) -> dict[str, Any]:
    return {
        name: dump(each) for name, each in vars(app).items() if _is_state(app, name)
    }


def _is_state(app: Any, name: str) -> bool:
    is_field = name in type(app).__dataclass_fields__
    return is_field and not isinstance(getattr(app, name), Undo)
