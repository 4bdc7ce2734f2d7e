"""Signatures of actions, from methods, and the check of an app before it starts."""

import dataclasses
import inspect
import re
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .app import App
from .errors import Fault, Mistake
from .schema import alternatives, dump, load_fields, wire_type


def actions_of(cls: type[App]) -> dict[str, Callable[..., Any]]:
    """The actions of an app by name, in the order of their definition."""
    found = {
        name: each for base in cls.__mro__[::-1] for name, each in vars(base).items()
    }
    return {name: each for name, each in found.items() if hasattr(each, "__pipemux__")}


def prototypes(cls: type[App]) -> list[dict[str, Any]]:
    """The signatures of an app's actions. Raises Mistake, which names all that is wrong."""
    mistakes, made = [], []
    for name, check in [
        ("", _check_state),
        *((n, _prototype) for n in actions_of(cls)),
    ]:
        about: Any = actions_of(cls).get(name, cls)
        try:
            made.append({"name": name, **check(about)})
        except (TypeError, NameError, Fault) as error:
            line = inspect.getsourcelines(about)[1]
            file = Path(inspect.getfile(about)).name
            mistakes.append(f"{file}:{line}: {about.__qualname__}: {error}")
    if mistakes:
        raise Mistake("\n".join(mistakes))
    return made[1:]


def _check_state(cls: Any) -> dict[str, Any]:
    if "__dataclass_fields__" not in vars(cls):
        raise TypeError("write @dataclass above the class")
    if cls.view is App.view:
        raise TypeError("write its method: def view(self, view: View) -> None")
    for each in dataclasses.fields(cls):
        if each.default is each.default_factory is dataclasses.MISSING:
            raise TypeError(f"{each.name} needs a default, which a new session has")
    load_fields(cls, dump(cls()))
    return {}


def _prototype(function: Any) -> dict[str, Any]:
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise TypeError("write a plain function, which may return a Job for long work")
    hints = typing.get_type_hints(function)
    doc, *rest = re.split(r"@param\s+(\w+)\s*", inspect.getdoc(function) or "")
    docs = {name: " ".join(text.split()) for name, text in zip(rest[::2], rest[1::2])}
    params = []
    for param in list(inspect.signature(function).parameters.values())[1:]:
        name, hint = param.name, hints.get(param.name)
        if param.kind in (param.VAR_POSITIONAL, param.VAR_KEYWORD):
            raise TypeError(
                f"parameter {name}: * and ** can't be called; name each one"
            )
        if hint is None:
            raise TypeError(
                f"parameter {name} has no type; write for example {name}: str"
            )
        try:
            made = {"name": name, "type": wire_type(hint), "doc": docs.pop(name, "")}
        except TypeError as error:
            raise TypeError(f"parameter {name}: {error}") from None
        made["path"] = Path in alternatives(hint)
        if param.default is not param.empty:
            made["default"] = dump(param.default)
        params.append(made)
    if docs:
        raise TypeError(f"@param {', '.join(docs)}: there is no such parameter")
    how = dict(function.__pipemux__)
    how["returns"] = how["returns"] and wire_type(how["returns"])
    return {"doc": " ".join(doc.split()), "params": params, **how}
