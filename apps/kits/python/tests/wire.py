"""The daemon's side of an app's connection, for tests without a daemon."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from pipemux.codec import encode_frame, pack, read_frame, unpack

HERE = Path(__file__).parent
LIFE = 7
OPEN, PROJECT, INVOKE, READ, LOCATE, PING, SAVE, CLOSE, CANCEL_JOB = range(1, 10)
CHANGED, NOTIFY, JOB_REPORT = 17, 18, 20


class Refused(Exception):
    """The app answered with a fault."""

    def __init__(self, fault: dict[str, Any]):
        super().__init__(fault["message"])
        self.fault = fault


class App:
    """A process of the sample app, which was opened."""

    def __init__(self, state_dir: str, program: str = "sample.py", **opening: Any):
        ours, theirs = socket.socketpair()
        environment = {**os.environ, "PIPEMUX_FD": str(theirs.fileno())}
        environment["PYTHONPATH"] = str(HERE.parent / "src")
        self.process = subprocess.Popen(
            [sys.executable, HERE / program],
            pass_fds=[theirs.fileno()],
            env=environment,
            stderr=subprocess.DEVNULL,
        )
        theirs.close()
        ours.settimeout(20)
        self.socket, self.stream, self.id = ours, ours.makefile("rb"), 300
        self.events: list[tuple[int, dict[str, Any]]] = []
        hello = {
            "protocol": {"major": 1, "minor": 6},
            "role": "daemon",
            "features": ["forms", "jobs"],
        }
        self.socket.sendall(encode_frame([3, 0, 0, LIFE, 0], hello))
        self.hello = self.receive()[1]
        open = {"session": "todo/main", "attach": False, "args": [], "cwd": "/w"}
        self.opened = self.ask(OPEN, {**open, "state_dir": state_dir, **opening})

    def receive(self) -> tuple[list[int], dict[str, Any]]:
        frame = read_frame(self.stream)
        assert frame, "the app ended"
        return frame[0], unpack(frame[1])[0]

    def ask(self, method: int, body: dict[str, Any]) -> dict[str, Any]:
        """Sends a request and returns the reply; events that come before it are kept."""
        self.id += 1
        self.socket.sendall(encode_frame([0, method, self.id, LIFE, 500], body))
        while True:
            (kind, answered, id, life, _), answer = self.receive()
            assert life == LIFE
            if kind == 3:
                self.events.append((answered, answer))
                continue
            assert (answered, id) == (method, self.id)
            if kind == 2:
                raise Refused(answer)
            return answer

    def event(self, method: int) -> dict[str, Any]:
        """Returns the next event of a method."""
        while not any(each == method for each, _ in self.events):
            (kind, got, *_), body = self.receive()
            assert kind == 3
            self.events.append((got, body))
        index = [each for each, _ in self.events].index(method)
        return self.events.pop(index)[1]

    def view(self, known: int | None = None) -> dict[str, Any]:
        body = {"window": 1, "lod": "full", "budget": 1000, "known_version": known}
        return self.ask(PROJECT, body)

    def invoke(self, action: str, run: str = "run", **body: Any) -> dict[str, Any]:
        args = {name: arg(value) for name, value in body.pop("args", {}).items()}
        args |= body.pop("raw_args", {})
        common = {"seen_version": 1, "reader": "me", "run_id": run, "cwd": "/w"}
        return self.ask(INVOKE, {"action": action, "args": args, **common, **body})

    def do(self, action: str, **args: Any) -> dict[str, Any]:
        """Carries out an action and returns its done outcome."""
        outcome = self.invoke(action, args=args)
        assert "done" in outcome, outcome
        return dict(outcome["done"])

    def refs(self) -> list[dict[str, Any]]:
        """The things that the view shows."""
        slots = [each["object"] for each in self.view()["content"] if "object" in each]
        return [{name: each[name] for name in ("key", "rev", "type")} for each in slots]

    def close(self) -> None:
        self.ask(CLOSE, {})
        assert self.process.wait(20) == 0
        self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.stream.close()
        self.socket.close()


def arg(value: Any) -> dict[str, Any]:
    """An argument as the daemon sends it."""
    if isinstance(value, dict) and "key" in value:
        return {"ref": value}
    if isinstance(value, list) and any(
        isinstance(each, dict) and "key" in each for each in value
    ):
        return {"list": [arg(each) for each in value]}
    return {"value": pack(value)}
