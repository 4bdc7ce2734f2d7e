"""One session: calls the app for each request, and keeps its state and its version."""

import json
import os
import threading
import time
import traceback
import typing
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .app import App, Job, Opening, Question, Request, actions_of
from .codec import pack, unpack
from .errors import Fault, Mistake, describe
from .schema import Thing, dump, load, load_fields
from .view import Done, View

CHANGED, JOB_REPORT = 17, 20
OPEN, PROJECT, INVOKE, READ, LOCATE, SAVE, CANCEL_JOB = 1, 2, 3, 4, 5, 7, 9
Body = dict[str, Any]


class Session:
    """An app with the version of its state, and the file that keeps both."""

    def __init__(
        self,
        cls: type[App],
        post: Callable[[Callable[[], Any]], None],
        send: Callable[[int, Body], None],
    ):
        self.app, self.actions, self.post, self.send = (
            cls(),
            actions_of(cls),
            post,
            send,
        )
        self.version, self.file, self.is_open = 1, Path(), False
        self.shown: dict[Any, int] = {}
        self.jobs: dict[str, Job[Any]] = {}
        #: The newest run, and by key the revs of things that it replaced itself.
        self.run: tuple[str, dict[str, list[int]]] = ("", {})
        self.app._post = lambda change: post(lambda: self.change(change))
        self.app._send = send
        self.routes = {OPEN: self.open, PROJECT: self.project, INVOKE: self.invoke}
        self.routes |= {READ: self.read, LOCATE: self.locate, SAVE: self.save}
        self.routes[CANCEL_JOB] = self.cancel_job

    def handle(self, method: int, body: Body) -> Body:
        """Answers a request. Raises Fault to refuse it."""
        if method not in self.routes or (method != OPEN and not self.is_open):
            raise Fault("the app doesn't handle this request now", code="refused")
        return self.routes[method](body)

    def open(self, body: Body) -> Body:
        notes, resumed = list[str](), 0
        if not self.is_open:
            self.file = Path(body["state_dir"], "state.json")
            notes, resumed = self.restore(body.get("woken") or 0)
        opening = Opening(body["session"], body["args"])
        opening.cwd, opening.state_dir = Path(body["cwd"]), Path(body["state_dir"])
        opening.env = body.get("env") or {}
        opening.attach, opening.again = (
            bool(body.get("attach")),
            bool(body.get("again")),
        )
        with self.atomic():
            notes += self.app.opened(opening) or []
        self.is_open = True
        self.store(0 if resumed else 1)
        return {"notes": notes, "resumed": resumed}

    def restore(self, woken: int) -> tuple[list[str], int]:
        """Loads the saved state. Returns notes, and the version that it continues."""
        if not self.file.exists():
            return [], 0
        try:
            saved = json.loads(self.file.read_text("utf-8"))
            self.set_state(saved["state"])
            self.version, run = int(saved["version"]), saved["run"]
        except (ValueError, TypeError, KeyError, AttributeError, Fault) as error:
            aside = self.file.with_suffix(f".{int(time.time())}.unreadable")
            self.file.rename(aside)
            return [f"the saved state can't be read and is kept as {aside}: {error}"], 0
        self.run = (run[0], run[1]) if woken == self.version else self.run
        return [], woken if woken == self.version else 0

    def set_state(self, state: Body) -> None:
        vars(self.app).update(load_fields(type(self.app), state))

    def store(self, rise: int) -> None:
        """Counts the version up and saves the state: a crash leaves the old or the new one."""
        self.version += rise
        saved = {"version": self.version, "run": self.run, "state": dump(self.app)}
        new = self.file.with_suffix(".new")
        with open(
            os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w"
        ) as file:
            json.dump(saved, file)
        new.replace(self.file)

    @contextmanager
    def atomic(self, is_query: bool = False) -> Iterator[None]:
        """Puts the state back if what is done with it fails or asks."""
        before = json.dumps(dump(self.app))
        try:
            yield
            if is_query and json.dumps(dump(self.app)) != before:
                raise Mistake("a query changed the state")
        except BaseException:
            self.set_state(json.loads(before))
            raise

    def change(self, change: Callable[[], Any]) -> Any:
        """Carries out a change that no request asked for, and tells readers of it."""
        with self.atomic():
            result = change()
        self.run = ("", {})
        self.store(1)
        self.send(CHANGED, {"version": self.version})
        return result

    def wake(self) -> float:
        """Calls `on_wake` if it is time. Returns in how many seconds it may be."""
        due = self.app.next_wake() if self.is_open else None
        if due is None or due > time.time():
            return 3600 if due is None else min(due - time.time(), 3600)
        try:
            self.change(self.app.on_wake)
        except Exception:
            traceback.print_exc()
        return 0.1

    def project(self, body: Body) -> Body:
        view = View(body["lod"], body["budget"], body.get("reader") or "")
        self.app.view(view)
        shown, window = (
            view.body(),
            (body["window"], view.lod, view.budget, view.reader),
        )
        digest = hash(pack(shown))
        # It may have changed without being told, as a clock does.
        self.version += self.shown.get(window, digest) != digest
        self.shown = {**self.shown, window: digest} if len(self.shown) < 64 else {}
        is_known = body.get("known_version") == self.version
        return {"version": self.version, **({"unchanged": True} if is_known else shown)}

    def invoke(self, body: Body) -> Body:
        name, function = body["action"], self.actions.get(body["action"])
        if function is None:
            raise Fault(f"unknown action {name}", code="usage")
        request = Request(body["reader"], body["run_id"], Path(body.get("cwd") or "."))
        request.budget = body.get("budget") or request.budget
        request.confirmed = bool(body.get("confirmed"))
        if resume := body.get("resume"):
            (*answers, digest) = unpack(resume["token"])[0]
            request.answers = [*answers[0], [digest, resume["choice"]]]
        hints, args, used = typing.get_type_hints(function), Body(), dict[str, int]()
        for param, arg in (body.get("args") or {}).items():
            try:
                args[param] = load(
                    hints[param], self.value_of(arg, request.run_id, used)
                )
            except Fault as fault:
                fault.body["message"] = f"{param}: {fault.body['message']}"
                raise
            if isinstance(args[param], Path):
                args[param] = request.cwd / args[param]
        how, self.app.request = function.__pipemux__, request  # type: ignore[attr-defined]
        is_query = how["risk"] == "query"
        try:
            with self.atomic(is_query):
                result = function(self.app, **args)
                if how["previews"] and not request.asked:
                    raise Mistake(
                        f"{name} has previews=True and never calls self.confirm"
                    )
        except Question as question:
            return {"needs": question.args[0]}
        if not is_query:
            self.record(request.run_id, used)
            self.shown.clear()
            self.store(1)
        if isinstance(result, Job):
            return {"started": self.start(result)}
        if result is None or isinstance(result, str):
            result = Done().show(result or "") if is_query else Done(result or "")
        if not isinstance(result, Done):
            raise Mistake(
                f"{name} returned {result!r:.40}, not a Done, a Job, a str or None"
            )
        return {"done": {**result.body(), "version": self.version}}

    def value_of(self, arg: Body, run_id: str, used: dict[str, int]) -> Any:
        """The value of an argument, in which things stand for refs."""
        if "list" in arg:
            return [self.value_of(item, run_id, used) for item in arg["list"]]
        if "record" in arg:
            return {
                n: self.value_of(each, run_id, used)
                for n, each in arg["record"].items()
            }
        if "ref" not in arg:
            return unpack(arg["value"] if "value" in arg else arg["copied"]["value"])[0]
        thing = self.look_up(arg["ref"], run_id)
        used[thing.key] = thing.rev
        return thing

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
        self.run = self.run if self.run[0] == run_id else (run_id, {})
        for key, rev in used.items():
            thing = self.app.find(key)
            if thing is not None and thing.rev != rev:
                self.run[1].setdefault(key, []).append(rev)

    def start(self, job: Job[Any]) -> Body:
        """Starts the thread of a job."""
        key = uuid.uuid4().hex
        self.jobs[key] = job
        job.report = lambda report: self.send(JOB_REPORT, {"job": key, **report})
        threading.Thread(target=self.work, args=(key, job), daemon=True).start()
        started = {"job": key, "brief": job.brief, "total": job.total}
        return {**started, "version": self.version}

    def work(self, key: str, job: Job[Any]) -> None:
        """Does a job's work, on its own thread."""
        result, error = None, None
        try:
            result = job.work(job)
        except Exception as failed:
            traceback.print_exc()
            error = failed
        self.post(lambda: self.end(key, job, result, error))

    def end(
        self, key: str, job: Job[Any], result: Any, error: Exception | None
    ) -> None:
        """Tells how a job ended, after what its result changes."""
        brief, finish = result if isinstance(result, str) else "", job.finish
        del self.jobs[key]
        if finish and not error and not job.cancelled:
            try:
                brief = self.change(lambda: finish(result)) or ""
            except Exception as failed:
                traceback.print_exc()
                error = failed
        state = "cancelled" if job.cancelled else "failed" if error else "done"
        job.report(
            {"state": state, "brief": describe(error)["message"] if error else brief}
        )

    def cancel_job(self, body: Body) -> Body:
        if body["job"] in self.jobs:
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
        return {
            "data": data[start : start + body["max"]],
            "total": len(data),
            "text": is_text,
        }

    def locate(self, body: Body) -> Body:
        def place(key: str) -> Any:
            thing = self.app.find(key)
            how = self.app.hidden(thing) if thing else None
            return (
                {"hidden": how}
                if how
                else "shown"
                if thing
                else {"gone": self.app.gone(key)}
            )

        return {"places": [place(key) for key in body["keys"]]}

    def save(self, body: Body) -> Body:
        if self.jobs:
            raise Fault("a job is running", code="refused")
        self.store(0)
        due = self.app.next_wake()
        return {
            "version": self.version,
            "wake_at": None if due is None else int(due * 1000),
        }
