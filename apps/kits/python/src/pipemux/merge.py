"""Merges what two sides made of the same value of JSON."""

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .difference import same

#: Two lists that differ in more entries than this are one change as a whole.
DIFFERENCES_MAX = 500


class Conflict(Exception):
    """Both sides changed the same: the key of a thing, or the name of a field."""


@dataclass(frozen=True)
class Stub:
    """Stands for a thing in a list, so that its place and its content are merged apart."""

    key: str


#: Stands for what isn't there.
ABSENT = Stub("")
#: The start and the end of what a side replaced, and what it has there.
Hunk = tuple[int, int, list[Any]]


@dataclass
class Side:
    """A value with stubs for things, and what they stand for."""

    #: Keys that don't stand for one content on each side.
    unclear: set[str]
    things: dict[str, Any] = field(default_factory=dict)
    places: dict[str, list[Any]] = field(default_factory=dict)

    def stubbed(self, value: Any, place: tuple[str, ...] = ("",)) -> Any:
        if isinstance(value, dict):
            return {
                name: self.stubbed(each, (*place, name)) for name, each in value.items()
            }
        if not isinstance(value, list):
            return value
        return [self._entry(each, place) for each in value]

    def _entry(self, value: Any, place: tuple[str, ...]) -> Any:
        key = key_of(value)
        if key is None or key in self.unclear:
            return self.stubbed(value, place)
        self.places.setdefault(key, []).append(place)
        if key not in self.things:
            self.things[key] = self.stubbed(value, (key,))
        return Stub(key)


def merge(base: Any, ours: Any, theirs: Any) -> Any:
    """Returns what both sides made of `base`. Raises Conflict where they changed the same.

    A thing in a list (a record with a key and a label) is the same one wherever it stands: one
    side may change what the other moves. Entries of other lists are merged as lines are.
    """
    values = base, ours, theirs
    unclear: set[str] = set().union(*map(_unclear, values))
    sides = [Side(unclear) for _ in values]
    merged = _merge("", *(side.stubbed(value) for side, value in zip(sides, values)))
    things = _merge_things(*sides)
    seen: dict[str, int] = {}
    result = _whole(merged, things, seen)
    for key in things:
        most = max(len(side.places.get(key, ())) for side in sides)
        if not 0 < seen.get(key, 0) <= most:
            raise Conflict(key)
    return result


def key_of(value: Any) -> str | None:
    """The key of a thing; None for other values."""
    is_thing = isinstance(value, dict) and isinstance(value.get("label"), str)
    return value["key"] if is_thing and isinstance(value.get("key"), str) else None


def things_in(value: Any) -> list[dict[str, Any]]:
    """The things in the lists of a value."""
    inner = (
        value.values()
        if isinstance(value, dict)
        else value
        if isinstance(value, list)
        else ()
    )
    own = [each for each in inner if key_of(each)] if isinstance(value, list) else []
    return own + [found for each in inner for found in things_in(each)]


def _unclear(value: Any) -> set[str]:
    """The keys of things that have several contents, such as those of an earlier time."""
    first: dict[str, Any] = {}
    return {
        each["key"]
        for each in things_in(value)
        if not same(first.setdefault(each["key"], each), each)
    }


def _merge_things(base: Side, ours: Side, theirs: Side) -> dict[str, Any]:
    """The things that are left, with their contents."""
    left: dict[str, Any] = {}
    for key in {**base.things, **ours.things, **theirs.things}:
        was, own, other = (
            side.things.get(key, ABSENT) for side in (base, ours, theirs)
        )
        if was is ABSENT or (own is not ABSENT and other is not ABSENT):
            left[key] = _merge(key, was, own, other)
            continue
        # One side removed it: the other one must have left it alone, and they its place, too.
        remaining, is_moved = (own, False) if other is ABSENT else (other, True)
        is_moved = is_moved and base.places[key] != theirs.places.get(key)
        if remaining is not ABSENT and (is_moved or not same(was, remaining)):
            raise Conflict(key)
    return left


def _whole(value: Any, things: dict[str, Any], seen: dict[str, int]) -> Any:
    """A value with things for the stubs. Things that a side removed are left out."""
    if isinstance(value, dict):
        return {name: _whole(each, things, seen) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    whole = []
    for each in value:
        if isinstance(each, Stub):
            if each.key not in things:
                continue
            seen[each.key] = seen.get(each.key, 0) + 1
            each = things[each.key]
        whole.append(_whole(each, things, seen))
    return whole


def _merge(where: str, base: Any, ours: Any, theirs: Any) -> Any:
    if same(base, theirs) or same(ours, theirs):
        return ours
    if same(base, ours):
        return theirs
    kinds = {type(base), type(ours), type(theirs)}
    if kinds == {dict}:
        return _merge_records(where, base, ours, theirs)
    if kinds == {list}:
        values = base, ours, theirs
        if all(_are_stubs(each) for each in values):
            return _merge_order(where, *values)
        return _merge_entries(where, *values)
    raise Conflict(where)


def _merge_records(where: str, *values: dict[str, Any]) -> dict[str, Any]:
    merged = {}
    for name in {name: None for value in values for name in value}:
        was, own, other = (value.get(name, ABSENT) for value in values)
        merged[name] = _merge(name if where == "" else where, was, own, other)
    order = _merge_order(None, *map(list, values))
    return {name: merged[name] for name in order}


def _are_stubs(values: list[Any]) -> bool:
    return all(isinstance(each, Stub) for each in values) and len(set(values)) == len(
        values
    )


def _merge_order(
    where: str | None, base: list[Any], ours: list[Any], theirs: list[Any]
) -> list[Any]:
    """Merges lists in which nothing comes twice. Without `where`, ours is the order in doubt."""
    old, own, other = set(base), set(ours), set(theirs)
    moved, moved_by_us = _moved(base, theirs), _moved(base, ours)
    if where is not None and (both := moved & moved_by_us):
        raise Conflict(min(each.key for each in both))
    # What they moved and made follows what it follows there.
    placed = (moved & own) - moved_by_us | (other - old - own)
    kept = [
        each
        for each in ours
        if (each in other or each not in old) and each not in placed
    ]
    there, anchor, followers = set(kept), None, dict[Any, list[Any]]()
    for each in theirs:
        if each in placed:
            followers.setdefault(anchor, []).append(each)
        elif each in there:
            anchor = each
    return [
        item for each in [None, *kept] for item in [each, *followers.get(each, ())]
    ][1:]


def _moved(base: list[Any], side: list[Any]) -> set[Any]:
    """What a side moved: all but a longest part that is in order still."""
    index = {each: n for n, each in enumerate(base)}
    kept = [each for each in side if each in index]
    ends: list[int] = []
    tails: list[int] = []
    before: list[int] = []
    for n, each in enumerate(kept):
        at = bisect_left(ends, index[each])
        before.append(tails[at - 1] if at else -1)
        ends[at : at + 1], tails[at : at + 1] = [index[each]], [n]
    moved, n = set(kept), tails[-1] if tails else -1
    while n >= 0:
        moved.discard(kept[n])
        n = before[n]
    return moved


def _merge_entries(
    where: str, base: list[Any], ours: list[Any], theirs: list[Any]
) -> list[Any]:
    """Merges lists as `diff3` merges lines; but changes may touch each other."""
    hunks = [(hunk, 0) for hunk in _hunks(base, ours)] + [
        (hunk, 1) for hunk in _hunks(base, theirs)
    ]
    hunks.sort(key=lambda each: each[0][:2])
    merged, done = list[Any](), 0
    while hunks:
        start, end, _ = hunks[0][0]
        sides: list[list[Hunk]] = [[], []]
        while hunks:
            (first, last, _), side = hunks[0]
            is_first = not any(sides)
            if not (is_first or first < end or first == last == start == end):
                break
            sides[side].append(hunks.pop(0)[0])
            end = max(end, last)
        own, other = (_changed(base, start, end, each) for each in sides)
        part = base[start:end]
        merged += base[done:start]
        if same(own, other) or not sides[1]:
            merged += own
        elif not sides[0]:
            merged += other
        elif len(own) == len(other) == len(part):
            merged += [_merge(where, *each) for each in zip(part, own, other)]
        else:
            raise Conflict(where)
        done = end
    return merged + base[done:]


def _changed(base: list[Any], start: int, end: int, hunks: list[Hunk]) -> list[Any]:
    """A part of the base as a side has it."""
    part: list[Any] = []
    for first, last, items in hunks:
        part += [*base[start:first], *items]
        start = last
    return part + base[start:end]


def _hunks(old: list[Any], new: list[Any]) -> list[Hunk]:
    """What was replaced in a list."""
    as_text = lambda stub: {"$": stub.key}
    a, b = (
        [json.dumps(each, default=as_text) for each in items] for items in (old, new)
    )
    hunks: list[Hunk] = []
    at, to = 0, 0
    for i, j in [*_common(a, b), (len(a), len(b))]:
        if (at, to) != (i, j):
            hunks.append((at, i, new[to:j]))
        at, to = i + 1, j + 1
    return hunks


def _common(old: Sequence[Any], new: Sequence[Any]) -> list[tuple[int, int]]:
    """The indexes of a longest common part of two lists, by Myers' algorithm."""
    # By diagonal: how far a way leads into the old list, and its equal parts from the last one on.
    reached: dict[int, tuple[int, Any]] = {1: (0, None)}
    for steps in range(DIFFERENCES_MAX + 1):
        for diagonal in range(-steps, steps + 1, 2):
            left, above = (
                reached.get(diagonal - 1, (-1, None)),
                reached.get(diagonal + 1, (-1, None)),
            )
            at, way = above if left[0] < above[0] else (left[0] + 1, left[1])
            start = at
            while (
                at < len(old)
                and at - diagonal < len(new)
                and old[at] == new[at - diagonal]
            ):
                at += 1
            way = (start, at, diagonal, way) if at > start else way
            reached[diagonal] = at, way
            if at >= len(old) and at - diagonal >= len(new):
                return _pairs(way)
    return []


def _pairs(way: Any) -> list[tuple[int, int]]:
    pairs = []
    while way:
        start, end, diagonal, way = way
        pairs += [(n, n - diagonal) for n in reversed(range(start, end))]
    return pairs[::-1]
