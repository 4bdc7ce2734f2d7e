"""The App class: a dataclass whose fields are the state, and whose methods are actions."""

import dataclasses
import inspect
import re
import typing
import uuid
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from .codec import pack, unpack
from .errors import Fault, Mistake
from .schema import (
    Thing,
    alternatives,
    dump,
    field,
    fields_of,
    load,
    load_fields,
    name_of,
    wire_type,
)
from .view import Done, View

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
Risk = Literal["query", "safe", "changes", "destructive"]
Prominence = Literal["featured", "listed", "help", "alias"]
OPTIONS_MAX = 20
SECRETS_MAX = 64


def action(
    risk: Risk = "changes",
    prominence: Prominence = "listed",
    *,
    idempotent: bool = False,
    previews: bool = False,
    input: bool = False,
    returns: Any = None,
) -> Callable[[F], F]:
    """Makes a method an action. Readers see its signature and its docstring.

    A "query" changes nothing, and what it returns is the whole answer. A "destructive"
    action is confirmed before it runs; with `previews` it calls `self.confirm` itself,
    before it does anything. The `input` takes what a person types below the window
    (`pipemux attach`) as its first argument: one action at most. `returns` is the type of
    its `Done.value`.
    """
    if callable(risk):
        raise Mistake(
            f"{getattr(risk, '__name__', risk)}: write @action() with parentheses"
        )
    how: dict[str, Any] = {
        "risk": risk,
        "prominence": prominence,
        "idempotent": idempotent,
    }
    how |= {"previews": previews, "returns": returns and wire_type(returns)}
    if input:
        how["input"] = True

    def mark(function: F) -> F:
        function.__pipemux__ = how  # type: ignore[attr-defined]
        return function

    return mark


@dataclass
class Opening:
    """One `open` of a session."""

    session: str
    args: list[str]
    cwd: Path = Path()
    state_dir: Path = Path()
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    #: True for a further open of a running session.
    attach: bool = False
    #: True when the daemon repeats an earlier open, since the process was lost or slept.
    again: bool = False


@dataclass
class Request:
    """The circumstances of an action."""

    reader: str = ""
    run_id: str = ""
    cwd: Path = Path()
    #: About how many tokens the answer may take.
    budget: int = 4000
    confirmed: bool = False
    #: What was answered so far: a question's digest, and the choice.
    answers: Sequence[Any] = ()
    asked: int = 0


class Question(BaseException):
    """Ends an action that asks. An author's `except Exception` doesn't catch it."""


@dataclass
class Job(Generic[T]):
    """Work that outlasts its action: `return Job("compile", work, finish)`.

    `work` runs on a thread of its own and must not touch the app. `finish` gets its
    result on the app's thread, may change the state, and returns the result in one line.
    """

    brief: str
    work: "Callable[[Job[T]], T]"
    finish: Callable[[T], str | None] | None = None
    total: int = 0
    #: True once a reader cancelled the job: return soon.
    cancelled: bool = False
    report: Callable[[dict[str, Any]], None] = lambda report: None

    def progress(self, done: int, text: str | None = None) -> None:
        """Tells how many units are done, and what the job does at the moment."""
        self.report({"done": done, "text": text})

    def output(self, text: str) -> None:
        """Adds to the job's output."""
        for start in range(0, len(text), 65_536):
            self.report({"output": text[start : start + 65_536].encode()})


class App:
    """The base of an app: a dataclass whose fields are its state and have defaults.

    The kit saves the fields after each change, and puts them back when an action fails
    or asks. An app has a `view` and its actions; the other methods have defaults.
    """

    request = Request()
    #: The folder of the project that the session was opened in: the nearest with `.git` around
    #: the caller's directory, else that directory.
    project = Path()
    #: True if `view` and `hidden` depend on who reads: `view.reader`, `self.request.reader`.
    per_reader: typing.ClassVar[bool] = False
    _post: Callable[[Callable[[], Any]], None]
    _send: Callable[[int, dict[str, Any]], None]
    _observe: Callable[[Path, Callable[[], Any] | None], None]
    _features: Sequence[str] = ()
    _secrets: dict[str, Any]

    def view(self, view: View) -> None:
        """Shows the state. The same state must give the same view."""

    def opened(self, opening: Opening) -> Iterable[str] | None:
        """Handles an open. Returns what readers should know about it."""

    def find(self, key: str) -> Thing | None:
        """Returns the thing that a key names; by default it is looked for in the state."""
        return _find(vars(self), key)

    def hidden(self, thing: Thing) -> str | None:
        """Says how to bring a thing into view that is folded or filtered away."""

    def gone(self, key: str) -> str | None:
        """Says how a thing disappeared, if the app knows."""

    def read(self, thing: Thing) -> str | bytes:
        """Returns the value of a thing, for `pipemux read` and for other apps."""
        if image := thing.media():
            return image.read()
        raise Fault("it has no value to read", about=thing, code="refused")

    def path(self, thing: Thing) -> Path | None:
        """Returns the absolute path of a thing that is a file."""

    def next_wake(self) -> float | None:
        """When `on_wake` is to be called, in seconds since 1970. A sleeping app is woken."""

    def on_wake(self) -> None:
        """Changes the state at the time that `next_wake` names, and moves that time on."""

    def post(self, change: Callable[[], Any] = lambda: None) -> None:
        """From any thread: has a function change the state, and readers told of it.

        If it fails, it changes nothing, and the window says so until it succeeds.
        """
        self._post(change)

    def watch(self, path: Path, on_change: Callable[[], Any] | None = None) -> None:
        """Has `on_change` take in what is there, now and when another program changes it.

        It is called once `opened` or the action has returned; later when the file rests, within
        two seconds, and before an action that comes sooner: that fails if it does. Readers are
        told if it changed the state; without a function, always. Of a folder, the names in it
        are watched. The same path once more replaces its function.
        """
        self._observe(path, on_change)

    def notify(self, text: str) -> None:
        """From any thread: tells every reader one line with the next answer."""
        self._send(18, {"text": text})

    def busy(self, what: str, seconds: float) -> None:
        """From any thread: keeps the app awake; 0 seconds when the work is finished."""
        self._send(19, {"what": what, "for_ms": int(seconds * 1000)})

    def confirm(self, text: str, options: Sequence[Any] = ()) -> None:
        """Asks for a yes, and goes on only with it. The options are what is affected.

        As with each question, the action ends here with the state as it was before, and
        runs again with the answer.
        """
        self._ask("confirm", text, options)

    def ask(self, text: str, secret: bool = False) -> str:
        """Asks for a text. A secret one is never printed, logged or kept."""
        return str(self._ask("text", text, (), secret=secret)["text"])

    def pick(self, text: str, options: Sequence[T]) -> T:
        """Asks which of the options, things or texts, is meant."""
        number: int = self._ask("pick_one", text, options)["picked"][0]
        return options[number - 1]

    def pick_many(self, text: str, options: Sequence[T]) -> list[T]:
        """Asks which of the options are meant."""
        ((how, numbers),) = self._ask("pick_many", text, options).items()
        wanted = how == "picked"
        return [each for n, each in enumerate(options, 1) if (n in numbers) == wanted]

    def form(self, text: str, cls: type[T]) -> T:
        """Asks for the fields of a dataclass."""
        need("forms", self._features)
        fields = self._ask("form", text, (), fields=fields_of(cls))["fields"]
        values = {name: unpack(value["value"])[0] for name, value in fields.items()}
        return cls(**load_fields(cls, values))

    def _ask(self, kind: str, text: str, options: Sequence[Any], **more: Any) -> Any:
        labels = [
            each.label if isinstance(each, Thing) else str(each) for each in options
        ]
        if kind.startswith("pick") and not labels:
            raise Fault(f"{text}: there is nothing to choose from")
        digest, request = zlib.crc32(pack([kind, text, labels, more])), self.request
        index, request.asked = request.asked, request.asked + 1
        fields = [more, *more.get("fields", [])]
        is_secret = any(each.get("secret") for each in fields)
        if index < len(request.answers) and request.answers[index][0] == digest:
            answer = request.answers[index]
            choice = self._known_secret(answer) if is_secret else answer[1]
            if choice is not None:
                return choice
        if kind == "confirm" and request.confirmed and not request.answers:
            return "yes"
        listed = [{"label": label} for label in labels[:OPTIONS_MAX]]
        more |= {"options": listed, "unlisted": len(labels) - len(listed)}
        token = pack([request.answers[:index], digest])
        more |= {"text": text, "kind": kind}
        raise Question({"question": more, "token": token})

    def _known_secret(self, answer: list[Any]) -> Any:
        # The daemon keeps the token of a later question, so that names a secret answer,
        # which itself stays in this process: should it end, the question is asked again.
        if isinstance(answer[1], str):
            return self._secrets.get(answer[1])
        if len(self._secrets) >= SECRETS_MAX:
            self._secrets.clear()
        key, choice = uuid.uuid4().hex, answer[1]
        self._secrets[key], answer[1] = choice, key
        return choice


def need(feature: str, features: Sequence[str]) -> None:
    """Refuses what an older daemon doesn't know."""
    if feature not in features:
        hints = "update PipeMux, then: pipemux down"
        raise Fault(f"this daemon has no {feature}", hints, code="version")


def project_of(directory: Path) -> Path:
    """The project that a directory is in."""
    around = (directory, *directory.parents)
    return next((each for each in around if (each / ".git").exists()), directory)


def _find(value: Any, key: str) -> Thing | None:
    if isinstance(value, Thing) and value.key == key:
        return value
    value = vars(value) if dataclasses.is_dataclass(value) else value
    items = value.values() if isinstance(value, dict) else value
    items = items if isinstance(value, (dict, list, tuple)) else ()
    return next((found for each in items if (found := _find(each, key))), None)


_RESULTS = (Done, Job, str, type(None), Any, typing.NoReturn)


def actions_of(cls: type[App]) -> dict[str, Callable[..., Any]]:
    """The actions of an app by name, in the order of their definition."""
    found = {
        name: each for base in cls.__mro__[::-1] for name, each in vars(base).items()
    }
    return {name: each for name, each in found.items() if hasattr(each, "__pipemux__")}


def prototypes(cls: type[App]) -> list[dict[str, Any]]:
    """The signatures of an app's actions. Raises Mistake, which names all that is wrong."""
    mistakes, made = list[str](), list[dict[str, Any]]()
    about: Any
    for about in (cls, *actions_of(cls).values()):
        try:
            made.append(_check_state(about) if about is cls else _prototype(about))
        except (TypeError, NameError, Fault) as error:
            file, line = (
                Path(inspect.getfile(about)).name,
                inspect.getsourcelines(about)[1],
            )
            mistakes.append(f"{file}:{line}: {about.__qualname__}: {error}")
    inputs = [each["name"] for each in made if each.get("input")]
    if len(inputs) > 1:
        mistakes.append(
            f"{cls.__qualname__}: one input at most, not {', '.join(inputs)}"
        )
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
    load(cls, dump(cls()))
    return {}


def _prototype(function: Any) -> dict[str, Any]:
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise TypeError("write a plain function, which may return a Job for long work")
    hints, params = typing.get_type_hints(function), []
    doc, *rest = re.split(r"@param\s+(\w+)\s*", inspect.getdoc(function) or "")
    docs = {name: " ".join(text.split()) for name, text in zip(rest[::2], rest[1::2])}
    for param in list(inspect.signature(function).parameters.values())[1:]:
        name, default = param.name, param.default
        if param.kind in (param.VAR_POSITIONAL, param.VAR_KEYWORD):
            raise TypeError(
                f"parameter {name}: * and ** can't be called; name each one"
            )
        if name not in hints:
            raise TypeError(
                f"parameter {name} has no type; write for example {name}: str"
            )
        default = ... if default is param.empty else default
        params.append(field(name, hints[name], default, docs.pop(name, "")))
    for each in alternatives(hints.get("return", Any)):
        if (typing.get_origin(each) or each) not in _RESULTS:
            raise TypeError(
                f"returns {name_of(each)}; return a Done, a Job, a str or None"
            )
    if docs:
        raise TypeError(f"@param {', '.join(docs)}: there is no such parameter")
    how = function.__pipemux__
    for name, known in ("risk", Risk), ("prominence", Prominence):
        if how[name] not in typing.get_args(known):
            words = ", ".join(typing.get_args(known))
            raise TypeError(f"{name} {how[name]!r} is none of {words}")
    if how.get("input") and not _takes_a_line(params):
        raise TypeError(
            "input=True: its first parameter takes a str, and each other one has a default"
        )
    made = {"name": function.__name__, "doc": " ".join(doc.split()), "params": params}
    return {**made, **how}


def _takes_a_line(params: list[dict[str, Any]]) -> bool:
    if not params:
        return False
    first, *rest = params
    return (
        (_optional(first) or first["type"]) in ("string", "any")
        and not first["secret"]
        and all("default" in each or _optional(each) for each in rest)
    )


def _optional(param: dict[str, Any]) -> Any:
    """The type that a parameter may have besides null."""
    made = param["type"]
    return made.get("optional") if isinstance(made, dict) else None
