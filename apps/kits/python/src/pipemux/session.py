"""One session: calls the app for each request, and keeps its state and its version."""

import copy
import dataclasses
import inspect
import json
import os
import threading
import time
import typing
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .app import App, Job, Opening, Question, Request, actions_of, need, project_of
from .codec import pack, unpack
from .errors import Fault, Mistake, describe
from .helpers import Undo
from .schema import Thing, absolute, dump, load, load_fields
from .view import Done, View
from .watch import Watch

CHANGED, JOB_REPORT = 17, 20
HANDLERS = {1: "open", 2: "project", 3: "invoke", 4: "read", 5: "locate", 7: "save"}
HANDLERS[9] = "cancel_job"
NOTIFY = 18
WINDOWS_MAX = 64
TROUBLES_MAX = 8
#: Seconds until `on_wake` is tried again when it failed.
WAKE_RETRY = 5.0
Body = dict[str, Any]


class Session:
    """An app with the version of its state, and the file that keeps both."""

    def __init__(self, app: App, post: Any, send: Callable[[int, Body], None]):
        self.app, self.actions = app, actions_of(type(app))
        self.post, self.send = post, send
        self.version, self.file, self.is_open = 1, Path(), False
        self.shown: dict[Any, int] = {}
        #: `on_wake` isn't called before this time.
        self.next_wake = 0.0
        self.jobs: dict[str, Job[Any]] = {}
        #: The newest run, and by key the revs of things that it replaced itself.
        self.run: list[Any] = ["", {}]
        #: Why a change failed that no request asked for, by its function, until it succeeds.
        self.troubles: dict[str, str] = {}
        app._post = lambda change: post(lambda: self.attempt(change))
        app._send, app._secrets, self.watch = send, {}, Watch(post)
        app._observe = self.observe

    def handle(self, method: int, body: Body) -> Body:
        """Answers a request. Raises Fault to refuse it."""
        if method not in HANDLERS or (method != 1 and not self.is_open):
            raise Fault("the app doesn't handle this request now", code="refused")
        given = {name: value for name, value in body.items() if value is not None}
        return getattr(self, HANDLERS[method])(given)  # type: ignore[no-any-return]

    def open(self, body: Body) -> Body:
        notes, resumed = list[str](), 0
        if not self.is_open:
            self.file = Path(body["state_dir"], "state.json")
            resumed = self.restore(body.get("woken", 0), notes)
            # An author may have a field of this name.
            if "project" not in dump(self.app):
                self.app.project = project_of(Path(body["cwd"]))
        before = dump(self.app), self.troubles
        with self.atomic():
            notes += self.app.opened(load(Opening, body)) or []
        for each in self.watch.changed():
            with suppress(Exception):
                each.take()
        # What it reads may have changed while it slept.
        is_new = not resumed or (dump(self.app), self.troubles) != before
        if resumed and is_new:
            self.post(lambda: self.send(CHANGED, {"version": self.version}))
        self.is_open = True
        self.store(int(is_new))
        return {"notes": notes, "resumed": resumed}

    def restore(self, woken: int, notes: list[str]) -> int:
        """Loads the saved state. Returns the version that it continues, or 0."""
        if not self.file.exists():
            return 0
        try:
            saved = json.loads(self.file.read_text("utf-8"))
            self.set_state(saved["state"])
            self.version, run = int(saved["version"]), list(saved["run"])
        except (ValueError, TypeError, KeyError, AttributeError, Fault) as error:
            aside = self.file.with_suffix(f".{int(time.time())}.unreadable")
            self.file.rename(aside)
            notes.append(f"unreadable state was moved to {aside}: {error}")
            return 0
        if woken != self.version:
            return 0
        self.run, self.troubles = run, dict(saved.get("troubles", {}))
        return woken

    def set_state(self, state: Body) -> None:
        vars(self.app).update(load_fields(type(self.app), state))

    def store(self, rise: int) -> None:
        """Counts the version up and saves the state: a crash leaves the old or the new."""
        self.version += rise
        saved = {"version": self.version, "run": self.run, "state": dump(self.app)}
        saved["troubles"] = self.troubles
        new, flags = (
            self.file.with_suffix(".new"),
            os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
        )
        with open(os.open(new, flags, 0o600), "w", encoding="utf-8") as file:
            json.dump(saved, file)
        new.replace(self.file)

    def each_undo(self, do: Callable[[Undo, App], None]) -> None:
        for each in list(vars(self.app).values()):
            if isinstance(each, Undo):
                do(each, self.app)

    @contextmanager
    def atomic(self, is_query: bool = False) -> Iterator[None]:
        """Puts the state back if what is done with it fails or asks."""
        before = dump(self.app)
        self.each_undo(Undo.track)
        fields = [each.name for each in dataclasses.fields(self.app)]  # type: ignore[arg-type]
        backup = copy.deepcopy({name: getattr(self.app, name) for name in fields})
        try:
            yield
            after = dump(self.app)
            if is_query and after != before:
                raise Mistake("a query changed the state")
            load_fields(type(self.app), after)
            self.each_undo(Undo.seal)
        except BaseException:
            vars(self.app).update(backup)
            raise

    def change(self, change: Callable[[], Any], *, quiet: bool = False) -> Any:
        """Carries out a change that no request asked for, and tells readers of it.

        When it is quiet and changed nothing, there is nothing to tell.
        """
        before = dump(self.app)
        with self.atomic():
            result = change()
        after = dump(self.app)
        if after != before:
            self.run = ["", {}]
        if not self.is_open or (quiet and after == before):
            return result
        self.store(1)
        self.send(CHANGED, {"version": self.version})
        return result

    def observe(self, path: Path, on_change: Callable[[], Any] | None) -> None:
        """Watches a path. What is there is taken in when what goes on has returned."""
        change, quiet = on_change or (lambda: None), on_change is not None
        watched = self.watch.add(path, lambda: self.attempt(change, quiet=quiet))
        watched.failed = quiet
        if quiet and self.is_open:
            self.post(watched.take)

    def attempt(self, change: Callable[[], Any], *, quiet: bool = False) -> None:
        """Carries out a change that nobody waits for: if it fails, the window says so."""
        name = getattr(change, "__qualname__", repr(type(change)))
        before = dict(self.troubles)
        healed = name in before
        self.troubles = {each: text for each, text in before.items() if each != name}
        try:
            self.change(change, quiet=quiet and not healed)
        except Exception as error:
            told = f"⚠ {' '.join(describe(error)['message'].split())}"[:500]
            self.troubles = dict([*{**before, name: told}.items()][:TROUBLES_MAX])
            if told != before.get(name):
                self.post(lambda: self.send(NOTIFY, {"text": told}))
                if self.is_open:
                    self.store(1)
                    self.send(CHANGED, {"version": self.version})
            raise

    def wake(self) -> float:
        """Calls `on_wake` if it is time. Returns in how many seconds it may be."""
        due = self.app.next_wake() if self.is_open else None
        if due is None:
            return 3600
        wait = max(due, self.next_wake) - time.time()
        if wait > 0:
            return min(wait, 3600)
        self.next_wake = time.time() + WAKE_RETRY

        def wake() -> None:
            self.attempt(self.app.on_wake)
            self.next_wake = time.time() + 0.1

        self.post(wake)
        return 0.1

    def project(self, body: Body) -> Body:
        view = View(body["lod"], body["budget"], body.get("reader", ""))
        for trouble in self.troubles.values():
            view.line(trouble)
        self.app.view(view)
        shown, window = (
            view.body(),
            (body["window"], view.lod, view.budget, view.reader),
        )
        digest = hash(pack(shown))
        # It may have changed without being told, as a clock does.
        self.version += self.shown.get(window, digest) != digest
        self.shown = (
            {**self.shown, window: digest} if len(self.shown) < WINDOWS_MAX else {}
        )
        is_known = body.get("known_version") == self.version
        return {"version": self.version, **({"unchanged": True} if is_known else shown)}

    def invoke(self, body: Body) -> Body:
        name, function = body["action"], self.actions.get(body["action"])
        if function is None:
            raise Fault(f"unknown action {name}", code="usage")
        how: Body = function.__pipemux__  # type: ignore[attr-defined]
        is_query = how["risk"] == "query"
        if not is_query:
            for each in self.watch.changed():
                each.take()
        self.app.request = request = load(Request, body)
        request.budget = request.budget or Request.budget
        if resume := body.get("resume"):
            answers, digest = unpack(resume["token"])[0]
            request.answers = [*answers, [digest, resume["choice"]]]
        hints, args, used = typing.get_type_hints(function), Body(), dict[str, int]()
        for param, arg in body.get("args", {}).items():
            if param not in hints:
                raise Fault(f"{name} has no parameter {param}", code="usage")
            try:
                args[param] = load(
                    hints[param], self.value_of(arg, request.run_id, used)
                )
            except Fault as fault:
                fault.body["message"] = f"{param}: {fault.body['message']}"
                raise
        given = inspect.signature(function).bind_partial(self.app, **args)
        given.apply_defaults()
        args = {
            name: absolute(each, request.cwd) for name, each in given.arguments.items()
        }
        try:
            with self.atomic(is_query):
                result = function(**args)
                if how["previews"] and not request.asked:
                    raise Mistake(f"{name} has previews=True and never confirms")
                if result is None or isinstance(result, str):
                    result = (
                        Done().show(result or "") if is_query else Done(result or "")
                    )
                if isinstance(result, Job):
                    need("jobs", self.app._features)
                elif not isinstance(result, Done):
                    raise Mistake(
                        f"{name} returned {result!r:.40}, no Done, Job, str or None"
                    )
                outcome = {"done": result.body()} if isinstance(result, Done) else {}
        except Question as question:
            return {"needs": question.args[0]}
        if not is_query:
            self.record(request.run_id, used)
            self.shown.clear()
            self.store(1)
        if isinstance(result, Job):
            outcome = {"started": self.start(result)}
        next(iter(outcome.values()))["version"] = self.version
        return outcome

    def value_of(self, arg: Body, run_id: str, used: dict[str, int]) -> Any:
        """The value of an argument, in which things stand for refs."""
        ((kind, value),) = arg.items()
        if kind == "list":
            return [self.value_of(item, run_id, used) for item in value]
        if kind == "record":
            return {
                name: self.value_of(item, run_id, used) for name, item in value.items()
            }
        if kind == "copied" and (file := value.get("file")):
            return self.value_of_file(Path(file))
        if kind != "ref":
            return unpack(value if kind == "value" else value["value"])[0]
        thing = self.look_up(value, run_id)
        used[thing.key] = thing.rev
        return thing

    def value_of_file(self, file: Path) -> str | bytes:
        """A value that was too long for a message: the daemon wrote it for this session."""
        own = file.parent == self.file.parent / "values" and file.name != ".."
        if not own or file.is_symlink() or not file.is_file():
            raise Fault("its value is no longer there", "pass it again")
        data = file.read_bytes()
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data

    def look_up(self, ref: Body, run_id: str = "") -> Thing:
        """The thing that a ref names, if it means what the reader saw."""
        key, thing = ref["key"], self.app.find(ref["key"])
        if thing is None:
            raise Fault("gone", self.app.gone(key), about=key, code="not_found")
        own = self.run[1].get(key, []) if self.run[0] == run_id else []
        if ref["rev"] not in (thing.rev, *own):
            raise Fault("changed since it was seen", about=key, code="stale")
        return thing

    def record(self, run_id: str, used: dict[str, int]) -> None:
        """Remembers the revs that a run replaced, so that its later steps aren't stale."""
        self.run = self.run if self.run[0] == run_id else [run_id, {}]
        for key, rev in used.items():
            if (thing := self.app.find(key)) and thing.rev != rev:
                self.run[1].setdefault(key, []).append(rev)

    def start(self, job: Job[Any]) -> Body:
        """Starts the thread of a job, once the answer that tells of the job was sent.

        The daemon drops the reports of a job that it doesn't know yet.
        """
        key = uuid.uuid4().hex
        self.jobs[key] = job
        job.report = lambda report: self.send(JOB_REPORT, {"job": key, **report})
        thread = threading.Thread(target=self.work, args=(key, job), daemon=True)
        self.post(thread.start)
        return {"job": key, "brief": job.brief, "total": job.total}

    def work(self, key: str, job: Job[Any]) -> None:
        """Does a job's work, on its own thread; the app's thread tells the end."""
        try:
            result = job.work(job)
            self.post(lambda: self.end(key, job, lambda: result))
        except Exception as error:
            failed = error
            self.post(lambda: self.end(key, job, lambda: _raise(failed)))

    def end(self, key: str, job: Job[Any], result: Callable[[], Any]) -> None:
        """Tells how a job ended, after what its result changes."""
        del self.jobs[key]
        if job.cancelled:
            return job.report({"state": "cancelled"})
        try:
            value, finish = result(), job.finish
            brief = self.change(lambda: finish(value)) if finish else value
            job.report({"state": "done", "brief": str(brief or "")})
        except Exception as error:
            job.report({"state": "failed", "brief": describe(error)["message"]})
            raise

    def cancel_job(self, body: Body) -> Body:
        with suppress(KeyError):
            self.jobs[body["job"]].cancelled = True
        return {}

    def read(self, body: Body) -> Body:
        thing = self.look_up(body)
        if body.get("path"):
            path = self.app.path(thing)
            return {"data": b"", "total": 0, "text": True, "path": path and str(path)}
        value, start = self.app.read(thing), body["offset"]
        data = value.encode() if isinstance(value, str) else value
        is_text = data.decode("utf-8", "ignore").encode() == data
        chunk = data[start : start + body["max"]]
        return {"data": chunk, "total": len(data), "text": is_text}

    def locate(self, body: Body) -> Body:
        def place(key: str) -> Any:
            if thing := self.app.find(key):
                how = self.app.hidden(thing)
                return {"hidden": how} if how else "shown"
            return {"gone": self.app.gone(key)}

        self.app.request = Request(reader=body.get("reader", ""))
        return {"places": [place(key) for key in body["keys"]]}

    def save(self, body: Body) -> Body:
        if self.jobs:
            raise Fault("a job is running", code="refused")
        self.store(0)
        due = self.app.next_wake()
        return {"version": self.version, "wake_at": due and int(due * 1000)}


def _raise(error: Exception) -> None:
    raise error
