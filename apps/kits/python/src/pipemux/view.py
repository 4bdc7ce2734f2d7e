"""What an app shows: a window's content, links, and the outcome of an action."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeAlias

from .codec import pack
from .errors import Mistake
from .schema import Thing, dump

P = ParamSpec("P")


@dataclass
class Link:
    """An action with its arguments, carried out by a click."""

    slot: dict[str, Any]

    def titled(self) -> "Link":
        """Shows the call, too, for arguments that a reader may want to change."""
        return Link({**self.slot, "titled": True})


def link(
    label: str, action: Callable[P, Any], *args: P.args, **kwargs: P.kwargs
) -> Link:
    """Makes a link to an action: `link("attack", self.attack, enemy)`."""
    # The text of a bound method holds the whole app's: it is written only where there is no name.
    name = getattr(action, "__name__", None) or str(action)
    if not hasattr(action, "__pipemux__"):
        raise Mistake(f"link {label!r}: {name} is no @action()")
    try:
        bound = inspect.signature(action).bind(*args, **kwargs).arguments
    except TypeError as error:
        raise Mistake(f"link {label!r} to {name}: {error}") from None
    encoded = {param: _encode(value) for param, value in bound.items()}
    return Link({"label": label, "action": name, "args": encoded})


def _encode(value: Any) -> dict[str, Any]:
    if isinstance(value, (list, tuple)):
        return {"list": [_encode(item) for item in value]}
    return {"ref": value.ref()} if isinstance(value, Thing) else {"value": _blob(value)}


def _blob(value: Any) -> bytes:
    return pack(value if isinstance(value, bytes) else dump(value))


@dataclass
class Code:
    """Exact text, shown in a fence."""

    text: str
    lang: str = ""


Piece: TypeAlias = str | int | float | Thing | Link | Code


def _slot(piece: Piece) -> dict[str, Any]:
    if isinstance(piece, Thing):
        media = image.slot() if (image := piece.media()) else None
        return {"object": {**piece.ref(), "label": piece.label, "media": media}}
    if isinstance(piece, Code):
        return {"code": {"lang": piece.lang, "text": piece.text}}
    return {"link": piece.slot} if isinstance(piece, Link) else {"text": str(piece)}


@dataclass
class View:
    """The content of a window. Pieces are shown in the order in which they are added."""

    #: The level of detail that is asked for: "gist", "summary" or "full".
    lod: str = "full"
    #: About how many tokens, of 4 characters, the content may take.
    budget: int = 4000
    #: Who reads, if the daemon says so.
    reader: str = ""
    #: The heading behind the session's address: `3 to do`.
    title: str = ""
    #: Which part of the whole is shown: `lines 1-40`.
    position: str | None = None
    #: Links in the row under the heading.
    nav: list[Link] = field(default_factory=list)
    #: Values of the app's own, for `pipemux view --json`.
    custom: dict[str, Any] = field(default_factory=dict)
    _content: list[dict[str, Any]] = field(default_factory=list)
    _more: dict[str, Any] = field(default_factory=dict)

    def write(self, *pieces: Piece) -> "View":
        """Adds Markdown, things, links and code."""
        for slot in map(_slot, pieces):
            if "text" in slot and self._content and "text" in self._content[-1]:
                self._content[-1]["text"] += slot["text"]
            else:
                self._content.append(slot)
        return self

    def line(self, *pieces: Piece) -> "View":
        """Adds pieces and a line end."""
        return self.write(*pieces, "\n")

    def table(self, head: Sequence[str], rows: Iterable[Sequence[Piece]]) -> "View":
        """Adds a table."""
        self.line("| ", " | ".join(head), " |")
        self.line("|", *("-" * (max(len(each), 3) + 2) + "|" for each in head))
        for row in rows:
            self.line(*(piece for cell in row for piece in ("| ", cell, " ")), "|")
        return self

    def menu(self, *links: Link) -> "View":
        """Adds links in a line each, with their calls."""
        for each in links:
            self.line("- ", each.titled())
        return self

    def only(self, *actions: Callable[..., Any]) -> "View":
        """Limits the actions that the window offers; without this it offers all."""
        self._more["actions"] = [each.__name__ for each in actions]
        return self

    def focus(self, thing: Thing, name: str = "selection") -> "View":
        """Sets the thing that has the focus, and a name that calls may use for it."""
        self._more |= {"focus": thing.key, "names": {name: _slot(thing)["object"]}}
        return self

    def body(self) -> dict[str, Any]:
        """The view as a message."""
        nav, content = [each.slot for each in self.nav], self._content
        body = {"title": self.title, "position": self.position, "nav": nav}
        return {**body, "content": content, "custom": dump(self.custom), **self._more}


@dataclass
class Done:
    """An action took effect: `Done("2 of 3 matches")`."""

    #: What happened, in one line.
    brief: str = ""
    #: What a script or another app gets: see `@action(returns=...)`.
    value: Any = None
    #: More lines, shown on request.
    detail: str | None = None
    content: View = field(default_factory=View)
    links: list[Link] = field(default_factory=list)
    #: True if the action took changes back, such as undo and redo.
    reverts: bool = False

    def show(self, *pieces: Piece) -> "Done":
        """Shows content below the brief: a query's result."""
        self.content.write(*pieces)
        return self

    def link(
        self, label: str, action: Callable[P, Any], *args: P.args, **kwargs: P.kwargs
    ) -> "Done":
        """Adds a link to a likely next action."""
        self.links.append(link(label, action, *args, **kwargs))
        return self

    def undone_by(
        self, action: Callable[P, Any], *args: P.args, **kwargs: P.kwargs
    ) -> "Done":
        """Adds the link that takes this change back: the arguments name the change."""
        made = link("redo" if self.reverts else "undo", action, *args, **kwargs)
        self.links.append(Link({**made.slot, "lasting": True}))
        return self

    def body(self) -> dict[str, Any]:
        """The outcome as a message, which lacks the version."""
        value = None if self.value is None else _blob(self.value)
        links, content = (
            [each.slot for each in self.links],
            self.content.body()["content"],
        )
        shown = {"brief": self.brief, "detail": self.detail, "content": content}
        shown |= {"value": value, "links": links, "reverts": self.reverts}
        return shown
