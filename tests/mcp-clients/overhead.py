"""Compares a `tools/call` that runs one action with one of a bare rmcp server, in turns within one run.

    cargo build --release -p pipemux-mcp --bins --examples && cargo build --release
    python3 tests/mcp-clients/overhead.py target/release
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS, CALLS = 20, 50
PROGRAMS = Path(sys.argv[1] if len(sys.argv) > 1 else "target/release").resolve()


class Server:
    def __init__(self, command: list[str], home: Path) -> None:
        environment = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PATH": os.environ["PATH"]}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=home, env=environment)
        client = {"name": "overhead", "version": "1"}
        self.request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, **params: object) -> dict:
        self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        return json.loads(self.process.stdout.readline())

    def seconds(self, code: str) -> float:
        start = time.perf_counter()
        for _ in range(CALLS):
            call = {"name": "run_code_snippet", "arguments": {"code": code}}
            answer = self.request("tools/call", **call)
            assert not answer["result"].get("isError"), answer
        return (time.perf_counter() - start) / CALLS


with tempfile.TemporaryDirectory() as directory:
    home = Path(directory)
    (home / ".git").mkdir()
    bridge = Server([str(PROGRAMS / "pipemux-mcp")], home)
    echo = Server([str(PROGRAMS / "examples/echo")], home)
    code = "notebook.show('none')"
    bridge.request("tools/call", name="run_code_snippet", arguments={"code": "notebook.add('none', 'x')"})
    pairs = [(bridge.seconds(code), echo.seconds(code)) for _ in range(ROUNDS)]
    bridge.process.stdin.close()
    echo.process.stdin.close()
    environment = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PATH": os.environ["PATH"]}
    subprocess.run([PROGRAMS / "pipemux", "down"], env=environment, stdout=subprocess.DEVNULL, check=False)
    ours, bare = (statistics.median(side) for side in zip(*pairs))
    ratio = statistics.median(one / other for one, other in pairs)
    print(f"pipemux-mcp {ours * 1e6:.0f} µs, bare rmcp {bare * 1e6:.0f} µs, ratio {ratio:.2f}")
