"""Type hints: as types of the protocol, and as the way back from JSON."""

import dataclasses
import functools
import json
import types
import typing
import zlib
from pathlib import Path
from typing import Any, ClassVar, Literal, Union

from .errors import Fault
from .media import Image


class Secret(str):
    """A parameter or field of this type is never printed, logged or kept."""


_PLAIN: dict[Any, str] = {str: "string", int: "int", float: "float", bool: "bool"}
_PLAIN |= {Path: "string", Secret: "string", bytes: "any", Any: "any"}
_MADE_OF: dict[Any, type] = {float: int, Path: str, Secret: str}
_KNOWN = "str, int, float, bool, Path, bytes, Secret, Any, Literal['a', 'b'], list[...]"


@dataclasses.dataclass
class Thing:
    """Something in a window that can be acted on. Subclass it as a dataclass.

    A key is the app's own name for the thing; never give it to another thing. The type
    in refs is the class's name in snake case, or `class Corpse(Thing, kind=None)`.
    """

    key: str
    label: str
    kind: ClassVar[str | None] = None

    def __init_subclass__(cls, kind: str | None = "") -> None:
        name = "".join("_" + c.lower() if c.isupper() else c for c in cls.__name__)
        cls.kind = name.strip("_") if kind == "" else kind

    def meaning(self) -> Any:
        """What readers must have seen before they act: when it changes, refs are stale."""
        return self.label

    def media(self) -> Image | None:
        """The image, sound or file that is its value, which windows name and `read` gives."""

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
    members = tuple(each for each in alternatives(hint) if each is not types.NoneType)
    if len(members) < len(alternatives(hint)):
        return {"optional": wire_type(Union[members])}  # noqa: UP007
    if all(isinstance(each, type) and issubclass(each, Thing) for each in members):
        return {"anchor": hint.kind if len(members) == 1 else None}
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is list or origin is dict and args[0] is str:
        return {"list" if origin is list else "map": wire_type(args[-1])}
    if origin is Literal and all(isinstance(each, str) for each in args):
        return {"union": list(args)}
    if dataclasses.is_dataclass(hint):
        return {"record": fields_of(hint)}
    more = f"dict[str, ...], ... | None, a dataclass or a class of things: {_KNOWN}"
    raise TypeError(f"{name_of(hint)} can't be its type; write {_KNOWN}, {more}")


def field(name: str, hint: Any, default: Any, doc: str) -> dict[str, Any]:
    """A parameter, or a field of a record, as the protocol describes it."""
    try:
        made = {"name": name, "type": wire_type(hint), "doc": doc}
    except TypeError as error:
        raise TypeError(f"parameter {name}: {error}") from None
    made |= {"path": Path in alternatives(hint), "secret": Secret in alternatives(hint)}
    return made if default is ... else {**made, "default": dump(default)}


def fields_of(cls: Any) -> list[dict[str, Any]]:
    """The fields of a dataclass, for a record or a form; `metadata["doc"]` tells of one."""
    hints, made = typing.get_type_hints(cls), []
    for each in dataclasses.fields(cls):
        default = ... if each.default is dataclasses.MISSING else each.default
        doc = each.metadata.get("doc", "")
        made.append(field(each.name, hints[each.name], default, doc))
    return made


def name_of(hint: Any) -> str:
    """A type hint as an author writes it."""
    return hint.__name__ if type(hint) is type else str(hint).replace("typing.", "")


def dump(value: Any) -> Any:
    """A value as JSON. Raises TypeError for one that can't be saved."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in dataclasses.fields(value)]
        return {
            "$": type(value).__name__,
            **{n: dump(getattr(value, n)) for n in names},
        }
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
    if hint is Any or type(value) is hint:
        return value
    if len(alternatives(hint)) > 1:
        for each in args:
            try:
                return load(each, value)
            except Fault:
                continue
    elif origin is list:
        # One item also stands for a list of one.
        items = value if isinstance(value, list) else [value]
        return [load(args[0], item) for item in items]
    elif origin is dict and isinstance(value, dict):
        return {args[0](key): load(args[1], item) for key, item in value.items()}
    elif value in args if origin is Literal else not origin and _is(value, hint):
        return value
    elif type(value) is _MADE_OF.get(hint):
        return hint(value)
    elif isinstance(value, dict) and hint is bytes and "$bytes" in value:
        return bytes.fromhex(value["$bytes"])
    elif isinstance(value, dict) and (cls := _named(hint, value.get("$"))):
        return cls(**load_fields(cls, value))
    given = f"the thing {value.label!r}" if isinstance(value, Thing) else repr(value)
    raise Fault(f"expected {name_of(hint)}, not {given:.60}", code="usage")


#: Looking them up anew for each thing took most of the time that a long list costs.
_hints = functools.cache(typing.get_type_hints)


def _named(cls: Any, name: str | None) -> Any:
    """The dataclass that a saved value has: this one, or the subclass of that name."""
    if not dataclasses.is_dataclass(cls):
        return None
    if name in (None, getattr(cls, "__name__", None)):
        return cls
    found = (_named(each, name) for each in type.__subclasses__(cls))  # type: ignore[arg-type]
    return next(filter(None, found), None)


def _is(value: Any, cls: Any) -> bool:
    return isinstance(value, cls) and not isinstance(value, bool)


def load_fields(cls: Any, value: dict[str, Any]) -> dict[str, Any]:
    """The fields of a dataclass; those that the JSON lacks keep their defaults."""
    hints = _hints(cls)
    loaded = {}
    for name in [each.name for each in dataclasses.fields(cls) if each.name in value]:
        try:
            loaded[name] = load(hints[name], value[name])
        except Fault as fault:
            raise Fault(f"{name}: {fault}", code="usage") from None
    return loaded


def absolute(value: Any, cwd: Path) -> Any:
    """A value in which paths that are relative begin at a directory."""
    if isinstance(value, list):
        return [absolute(each, cwd) for each in value]
    return cwd / value if isinstance(value, Path) else value
