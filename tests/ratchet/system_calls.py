"""Counts the system calls of the client, the daemon and the app for one act with a daemon that is warmed up.

strace follows one program, `act` below, and all that it starts: the daemon, its launcher, the app `notebook`, and a client
for each act. A mark that `act` writes between the acts divides the trace. How many processes there are above a client is of
no account: `act` has the first process as its parent.

What depends on the order in which processes get a processor doesn't count: calls that only wait, those that found nothing,
and other threads than a process's first, which sync files as often as the disk permits. Each act is done many times: now
and then a timer adds something, so what most of them need is the figure.
"""

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

# What doesn't count: by the first a process wakes itself, when a timer has set something going; by the second the standard
# library checks a descriptor before it is closed, only in programs that aren't optimised.
UNCOUNTED = (r', "\1\0\0\0\0\0\0\0", 8', ", F_GETFD", "= -1 EAGAIN")
ROUNDS = 21
# The first ones aren't counted: they start processes and fill caches.
WARMING = 5
MARK = b"== "
WAITS = {"clock_nanosleep", "epoll_wait", "epoll_pwait", "epoll_pwait2", "futex", "poll", "ppoll", "restart_syscall", "sched_yield"}
# An act is over once nothing has been traced for so long, in seconds.
QUIET = 0.05
DEADLINE = 600


def count(root: Path, left_out: type[Exception]) -> dict[str, int]:
    """The calls by role and act, such as `daemon_click`. The bridge is `pipemux-mcp`."""
    if not shutil.which("strace"):
        raise left_out("there is no strace")
    programs = root / "target/debug"
    with tempfile.TemporaryDirectory(prefix="pmx-") as folder:
        work = Path(folder)
        for name in ("home", "run", "project/.git"):
            (work / name).mkdir(parents=True)
        (work / "run").chmod(0o700)
        orphan(["strace", "-f", "-qq", "-s", "16", "-e", "signal=none", "-o", str(work / "trace"),
                sys.executable, __file__, str(programs), str(work)], work)
        done = wait_for(work / "done", DEADLINE)
        if not done:
            os.killpg(int((work / "group").read_text()), signal.SIGKILL)
            subprocess.run([programs / "pipemux", "down"], cwd=work / "project", env=variables(work), check=False)
        if not done or "error" in done:
            raise RuntimeError(f"system calls: {done}\n{(work / 'said').read_text()}")
        found = divided((work / "trace").read_text(errors="replace").splitlines(), done["roles"])
    return {name: usual(name, numbers) for name, numbers in sorted(found.items())}


def orphan(command: list[str], work: Path) -> None:
    """Starts a program in a session of its own, whose parent is the first process."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.setsid()
    (work / "group").write_text(str(os.getpid()))
    if os.fork() == 0:
        said = os.open(work / "said", os.O_WRONLY | os.O_CREAT)
        null = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in enumerate((null, said, said)):
            os.dup2(descriptor, number)
        os.chdir(work / "project")
        os.execvpe(command[0], command, variables(work))
    os._exit(0)


def variables(work: Path) -> dict[str, str]:
    return {"HOME": str(work / "home"), "XDG_RUNTIME_DIR": str(work / "run"), "PATH": os.environ["PATH"]}


def wait_for(file: Path, seconds: float) -> dict | None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if file.exists():
            return json.loads(file.read_text())
        time.sleep(0.05)
    return None


def divided(trace: list[str], roles: dict[str, str]) -> dict[str, list[int]]:
    """How many calls each role made in each round of each act."""
    found, act, counted = collections.defaultdict(list), None, collections.Counter()
    threads, executed = set(threads_of(trace)), set()
    for row in trace:
        process, call = row.split(None, 1)
        if process in threads:
            continue
        # Before it becomes the client, a child belongs to `act`.
        role = roles.get(process) or ("client" if process in executed or call.startswith("execve(") else None)
        if role == "act":
            if mark := re.search(r'"== (\w+)', call):
                if act not in (None, "other"):
                    for one in ("bridge" if act == "mcp_call" else "client", "daemon", "app"):
                        found[f"{one}_{act}"].append(counted[one])
                act, counted = mark[1], collections.Counter()
            continue
        if role == "client":
            executed.add(process)
        if name := re.match(r"(\w+)\(", call):
            counted[role] += name[1] not in WAITS and not any(part in call for part in UNCOUNTED)
        elif "= -1 EAGAIN" in call and not any(f" {name} " in call for name in WAITS):
            # What was counted when it began.
            counted[role] -= 1
    return found


def threads_of(trace: list[str]) -> Iterator[str]:
    """The threads that processes started beside their first one."""
    starting = set()
    for row in trace:
        if "clone" in row:
            thread, call = row.split(None, 1)
            if "CLONE_THREAD" in call:
                starting.add(thread)
            if thread in starting and (made := re.search(r" = (\d+)$", call)):
                starting.remove(thread)
                yield made[1]


def usual(name: str, numbers: list[int]) -> int:
    numbers = numbers[WARMING:]
    (number, times), *_ = collections.Counter(numbers).most_common(1)
    if 2 * times <= len(numbers):
        raise RuntimeError(f"calls.{name} is another one each time: {numbers}")
    return number


class Acts:
    """Carries the acts out; this is what strace follows."""

    def __init__(self, programs: Path, work: Path) -> None:
        self.programs, self.trace = programs, (work / "trace").open("rb", buffering=0)
        self.null = os.open(os.devnull, os.O_WRONLY)
        self.begun, self.mcp = b"", None

    def pipemux(self, *words: str) -> str:
        return subprocess.run([self.programs / "pipemux", *words], check=True, stdout=subprocess.PIPE, text=True).stdout

    def mark(self, act: str) -> None:
        """Says what comes next, once all that was before is over."""
        own, quiet = b"%d " % os.getpid(), False
        while not quiet:
            time.sleep(QUIET)
            # One read: each is traced itself. The last line isn't all there while its call goes on.
            *rows, self.begun = (self.begun + self.trace.read(1 << 20)).split(b"\n")
            quiet = all(row.startswith(own) for row in rows)
        os.write(self.null, MARK + act.encode())

    def send(self, method: str, **more) -> None:
        self.mcp.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, **more}).encode() + b"\n")
        self.mcp.stdin.flush()

    def serve(self) -> None:
        self.mcp = subprocess.Popen([self.programs / "pipemux-mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.send("initialize", id=1, params={"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "ratchet", "version": "1"}})
        self.mcp.stdout.readline()
        self.send("notifications/initialized")

    def call(self, code: str) -> str:
        self.send("tools/call", id=2, params={"name": "run_code_snippet", "arguments": {"code": code}})
        answer = json.loads(self.mcp.stdout.readline())["result"]
        assert not answer.get("isError"), answer
        return answer["content"][0]["text"]

    def round(self) -> None:
        def link(answer: str) -> str:
            return re.search(r"link:\d+", answer)[0]

        self.mark("run")
        answer = self.pipemux("run", "notebook.add('a title', 'its text')")
        self.mark("click")
        self.pipemux("click", link(answer))
        self.mark("ask")
        self.pipemux("ask", "notebook.show('first')")
        self.mark("mcp_call")
        answer = self.call("notebook.add('a title', 'its text')")
        self.mark("other")
        self.call("notebook.undo()")

    def all(self) -> dict[str, str]:
        self.pipemux("run", "notebook.add('first', 'a text')")
        self.serve()
        for _ in range(ROUNDS):
            self.round()
        self.mark("end")
        status = json.loads(self.pipemux("status", "--json"))
        sessions = json.loads(self.pipemux("sessions", "--json"))
        launcher = Path(f"/proc/{sessions[0]['pid']}/stat").read_text().rsplit(") ")[1].split()[1]
        roles = {status["pid"]: "daemon", sessions[0]["pid"]: "app", launcher: "launcher", self.mcp.pid: "bridge", os.getpid(): "act"}
        return {str(process): role for process, role in roles.items()}


def main() -> None:
    work = Path(sys.argv[2])
    acts = Acts(Path(sys.argv[1]), work)
    try:
        done = {"roles": acts.all()}
    except Exception as error:
        done = {"error": repr(error)}
    subprocess.run([acts.programs / "pipemux", "down"], check=False, stdout=subprocess.DEVNULL)
    (work / "doing").write_text(json.dumps(done))
    (work / "doing").rename(work / "done")


if __name__ == "__main__":
    main()
