"""Type hints: as types of the protocol, and as the way back from JSON."""

import dataclasses
import json
import types
import typing
import zlib
from pathlib import Path
from typing import Any, Literal, Union

from .errors import Fault

_PLAIN = {str: "string", int: "int", float: "float", bool: "bool", Path: "string"}


@dataclasses.dataclass
class Thing:
    """Something in a window that can be acted on. Subclass it as a dataclass.

    A key is the app's own name for the thing; never give it to another thing. The type
    in its refs is the class's name in snake case, or `kind`: `class Corpse(Thing, kind=None)`.
    """

    key: str
    label: str
    kind: typing.ClassVar[str | None] = None

    def __init_subclass__(cls, kind: str | None = "") -> None:
        name = "".join("_" + c.lower() if c.isupper() else c for c in cls.__name__)
        cls.kind = name.strip("_") if kind == "" else kind

    def meaning(self) -> Any:
        """What readers must have seen before they act: when it changes, refs are stale."""
        return self.label

    @property
    def rev(self) -> int:
        """The revision, which differs when the meaning does."""
        return zlib.crc32(json.dumps(dump(self.meaning())).encode())

    def ref(self) -> dict[str, Any]:
        """What names the thing in messages."""
        return {"key": self.key, "rev": self.rev, "type": self.kind}


def alternatives(hint: Any) -> tuple[Any, ...]:
    """The members of a union; of any other hint, the hint alone."""
    is_union = typing.get_origin(hint) in (Union, types.UnionType)
    return typing.get_args(hint) if is_union else (hint,)


def wire_type(hint: Any) -> Any:
    """The protocol's type for a type hint. Raises TypeError for one that has none."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    members = [each for each in alternatives(hint) if each is not types.NoneType]
    if len(members) < len(alternatives(hint)):
        return {"optional": wire_type(Union[tuple(members)])}
    if all(isinstance(each, type) and issubclass(each, Thing) for each in members):
        return {"anchor": hint.kind if len(members) == 1 else None}
    if hint in _PLAIN or hint in (Any, bytes):
        return _PLAIN.get(hint, "any")
    if origin is list:
        return {"list": wire_type(args[0])}
    if origin is Literal and all(isinstance(each, str) for each in args):
        return {"union": list(args)}
    known = "str, int, float, bool, Path, bytes, Any, Literal['a', 'b'], list[...], ... | None"
    raise TypeError(
        f"{name_of(hint)} can't be its type; write {known} or a class of things"
    )


def name_of(hint: Any) -> str:
    """A type hint as an author writes it."""
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")


def dump(value: Any) -> Any:
    """A value as JSON. Raises TypeError for one that can't be saved."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            each.name: getattr(value, each.name) for each in dataclasses.fields(value)
        }
        return {"$": type(value).__name__, **dump(fields)}
    if isinstance(value, (list, tuple)):
        return [dump(item) for item in value]
    if isinstance(value, dict):
        return {str(key): dump(item) for key, item in value.items()}
    if isinstance(value, (Path, bytes)):
        return str(value) if isinstance(value, Path) else {"$bytes": value.hex()}
    raise TypeError(f"a {type(value).__name__} can't be saved")


def load(hint: Any, value: Any) -> Any:
    """A value of JSON, or with things in it, as a type hint says. Raises Fault if it isn't."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or (isinstance(hint, type) and type(value) is hint and not origin):
        return value
    if len(alternatives(hint)) > 1:
        for each in args:
            try:
                return load(each, value)
            except Fault:
                continue
    elif origin is list:
        # One item also stands for a list of one.
        return [
            load(args[0], item)
            for item in (value if isinstance(value, list) else [value])
        ]
    elif origin is dict and isinstance(value, dict):
        return {args[0](key): load(args[1], item) for key, item in value.items()}
    elif (
        origin is Literal
        and value in args
        or origin is None
        and isinstance(value, hint if isinstance(hint, type) else ())
    ):
        return value
    elif (
        hint is float and type(value) is int or hint is Path and isinstance(value, str)
    ):
        return hint(value)
    elif isinstance(value, dict) and hint is bytes and "$bytes" in value:
        return bytes.fromhex(value["$bytes"])
    elif isinstance(value, dict) and value.get("$") == getattr(hint, "__name__", ""):
        return hint(**load_fields(hint, value))
    given = f"the thing {value.label!r}" if isinstance(value, Thing) else repr(value)
    raise Fault(f"expected {name_of(hint)}, not {given:.60}", code="usage")


def load_fields(cls: Any, value: dict[str, Any]) -> dict[str, Any]:
    """The fields of a dataclass; those that the JSON lacks keep their defaults."""
    hints = typing.get_type_hints(cls)
    return {
        each.name: load(hints[each.name], value[each.name])
        for each in dataclasses.fields(cls)
        if each.init and each.name in value
    }
