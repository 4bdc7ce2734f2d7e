"""Runs an app on its connection to the daemon."""

import os
import queue
import socket
import sys
import threading
import traceback
from typing import Any

from .app import App, prototypes
from .codec import encode_frame, pack, read_frame, unpack
from .errors import Fault, Mistake, describe
from .session import NOTIFY, Session

REQUEST, REPLY, FAULT, EVENT = range(4)
HELLO, OPEN, PING, CLOSE = 0, 1, 6, 8
ANSWER_MAX = 1_048_512


def run(cls: type[App]) -> None:
    """Serves an app until the daemon ends it. Call it at the end of the app's program."""
    try:
        hello: dict[str, Any] = {"role": "app", "prototypes": prototypes(cls)}
    except Mistake as mistake:
        sys.exit(str(mistake))
    if "PIPEMUX_FD" not in os.environ:
        name, program = cls.__name__.lower(), os.path.abspath(sys.argv[0])
        lines = f'id = "{name}"\ncommand = "{sys.executable}"\nargs = ["{program}"]'
        add = f"pipemux app add {name}.toml && pipemux open {name}"
        sys.exit(f"PipeMux starts this app. Write {name}.toml, then: {add}\n{lines}")
    server = Server(cls, socket.socket(fileno=int(os.environ["PIPEMUX_FD"])))
    hello["features"] = ["value-files", *["per-reader"] * cls.per_reader]
    hello |= {"protocol": {"major": 1, "minor": 6}, "software": "pipemux-python 0.1.0"}
    server.send(EVENT, HELLO, 0, 0, hello)
    server.serve()


class Server:
    """The sessions of a process, and the queue of what its one thread does next."""

    def __init__(self, cls: type[App], stream: socket.socket):
        self.cls, self.stream, self.lock = cls, stream, threading.Lock()
        self.sessions: dict[int, Session] = {}
        self.work: queue.Queue[Any] = queue.Queue()
        self.life, self.features = 0, list[str]()

    def send(self, kind: int, method: int, id: int, life: int, body: Any) -> None:
        with self.lock:
            self.stream.sendall(encode_frame([kind, method, id, life, 0], body))

    def receive(self) -> None:
        stream = self.stream.makefile("rb")
        try:
            while frame := read_frame(stream):
                self.work.put(lambda frame=frame: self.handle(*frame))
        finally:
            self.work.put(sys.exit)

    def serve(self) -> None:
        """Handles frames and posted changes one after the other."""
        threading.excepthook = self.tell
        threading.Thread(target=self.receive, daemon=True).start()
        while True:
            waits = [each.wake() for each in self.sessions.values()]
            try:
                self.work.get(timeout=min(waits, default=None))()
            except queue.Empty:
                continue
            except Exception:
                traceback.print_exc()

    def tell(self, failed: threading.ExceptHookArgs) -> None:
        """Tells readers that a thread of the author failed; it would be said in the log only."""
        threading.__excepthook__(failed)
        if failed.exc_value and not isinstance(failed.exc_value, SystemExit):
            text = f"⚠ {describe(failed.exc_value)['message']}"
            for each in list(self.sessions.values()):
                each.send(NOTIFY, {"text": text})

    def handle(self, envelope: list[int], data: bytes) -> None:
        """Answers a frame."""
        kind, method, id, life, _ = envelope
        if kind == EVENT and method == HELLO:
            self.life, self.features = life, unpack(data)[0].get("features") or []
        if kind != REQUEST:
            return
        try:
            answer = self.answer(method, life, unpack(data)[0])
            if len(pack(answer)) > ANSWER_MAX:
                raise Fault("the app's answer is longer than 1 MiB", code="refused")
            self.send(REPLY, method, id, life, answer)
        except Exception as error:
            if not isinstance(error, Fault):
                traceback.print_exc()
            self.send(FAULT, method, id, life, describe(error))
        if method == CLOSE and (life == self.life or not self.sessions):
            sys.exit()

    def answer(self, method: int, life: int, body: dict[str, Any]) -> dict[str, Any]:
        if method == CLOSE and (closed := self.sessions.pop(life, None)):
            closed.watch.ended.set()
        if method in (PING, CLOSE):
            return {}
        if method == OPEN and life not in self.sessions:
            send = lambda event, body: self.send(EVENT, event, 0, life, body)
            self.sessions[life] = Session(self.cls(), self.work.put, send)
            self.sessions[life].app._features = self.features
        return self.sessions[life].handle(method, body)
