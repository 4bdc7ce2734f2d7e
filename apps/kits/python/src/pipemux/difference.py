"""Differences of two JSON values, which can be made and taken back."""

import copy
import math
from typing import Any

#: A splice of a list, or of the entries `[key, value]` of a record: whether it is a record, the
#: path to it, the first index, what was there, and what is there now.
Edit = list[Any]


def difference(before: Any, after: Any) -> list[Edit]:
    """The edits that make one value of another, both lists or records."""
    edits: list[Edit] = []
    _compare(before, after, [], edits)
    return edits


def _compare(before: Any, after: Any, at: list[Any], edits: list[Edit]) -> None:
    old, new = _items(before), _items(after)
    ends = len(old), len(new)
    start = 0
    while start < min(ends) and same(old[start], new[start]):
        start += 1
    while min(ends) > start and same(old[ends[0] - 1], new[ends[1] - 1]):
        ends = ends[0] - 1, ends[1] - 1
    changed = old[start : ends[0]], new[start : ends[1]]
    if len(changed[0]) != len(changed[1]) or not _aligned(before, *changed):
        edits.append([isinstance(before, dict), at, start, *changed])
        return
    for index, (one, other) in enumerate(zip(*changed, strict=True), start):
        if same(one, other):
            continue
        key, inner = index, (one, other)
        if isinstance(before, dict):
            key, inner = one[0], (one[1], other[1])
        is_inside = isinstance(inner[0], (list, dict)) and type(inner[0]) is type(
            inner[1]
        )
        if is_inside:
            _compare(*inner, [*at, key], edits)
        else:
            edits.append([isinstance(before, dict), at, index, [one], [other]])


def _aligned(container: Any, old: list[Any], new: list[Any]) -> bool:
    """Whether two parts of records have the same keys in the same order."""
    pairs = zip(old, new, strict=True)
    return isinstance(container, list) or all(a[0] == b[0] for a, b in pairs)


def apply(value: Any, edits: list[Edit], *, backwards: bool) -> None:
    """Makes edits in a value, or takes them back.

    Raises LookupError where what an edit is about isn't there as it left it; the value is then
    half done.
    """
    for is_record, at, first, old, new in reversed(edits) if backwards else edits:
        container = value
        for key in at:
            if type(container) is not (list if isinstance(key, int) else dict):
                raise LookupError(key)
            container = container[key]
        if type(container) is not (dict if is_record else list):
            raise LookupError(at)
        there, becomes = (new, old) if backwards else (old, new)
        items = _items(container)
        if not same(items[first : first + len(there)], there):
            raise LookupError(at)
        items[first : first + len(there)] = copy.deepcopy(becomes)
        if isinstance(container, list):
            container[:] = items
            continue
        if len({key for key, _ in items}) < len(items):
            raise LookupError(at)
        container.clear()
        container.update(items)


def _items(container: Any) -> list[Any]:
    if isinstance(container, dict):
        return [list(entry) for entry in container.items()]
    return list(container)


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: to Python `1 == True`, and the order of keys is
    nothing."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, dict)):
        pairs = zip(_items(one), _items(other), strict=False)
        return len(one) == len(other) and all(same(*pair) for pair in pairs)
    both_nan = isinstance(one, float) and math.isnan(one) and math.isnan(other)
    return both_nan or bool(one == other)
