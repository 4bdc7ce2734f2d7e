"""An agent of the Agent Client Protocol that plays its part in one of its modes, and checks what it is sent.

The arguments: the mode, and a folder for traces. What it finds wrong it says as a block, which no test expects.
"""

import json
import os
import sys
import time

mode, traces = sys.argv[1], sys.argv[2]
wrong = []


def send(message):
    sys.stdout.write(json.dumps(message, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def answer(message, result):
    send({"jsonrpc": "2.0", "id": message["id"], "result": result})


def fail(message, code, why, data=None):
    error = {"code": code, "message": why}
    send({"jsonrpc": "2.0", "id": message["id"], "error": error if data is None else {**error, "data": data}})


def update(kind, text, session="s-1"):
    body = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    send({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": body}})


def ask(number, method, params):
    """Makes a request of its own, under an id that the client uses, too."""
    send({"jsonrpc": "2.0", "id": number, "method": method, "params": {"sessionId": "s-1", **params}})
    reply = receive()
    expect(reply.get("id") == number, "the answer to " + method)
    return reply


def permission(number, kinds):
    options = [{"optionId": "o-" + kind, "name": kind, "kind": kind} for kind in kinds]
    call = {"toolCallId": "c", "title": "rm -rf", "kind": "execute", "status": "pending"}
    return ask(number, "session/request_permission", {"toolCall": call, "options": options})["result"]["outcome"]


def expect(truth, what):
    if not truth:
        wrong.append(what)


def verdict(ok, *reasons):
    return json.dumps({"ok": False if wrong else ok, "reasons": wrong or list(reasons)}, ensure_ascii=False)


def trace(name, text):
    with open(os.path.join(traces, name), "a") as out:
        out.write(text + "\n")


if mode == "replays":
    for line in open(traces):
        answer = json.loads(line)
        send({**answer, "id": receive()["id"]})
    time.sleep(1000)
if mode == "hangs_at_once":
    time.sleep(1000)
if mode == "endless_line":
    while True:
        sys.stdout.write("x" * 65536)
if mode == "floods":
    while True:
        sys.stdout.write("log " * 10000 + "\n")
first = receive()
if mode == "old":
    answer(first, {"protocolVersion": 0})
    time.sleep(1000)
expect(first["method"] == "initialize" and first["jsonrpc"] == "2.0", "initialize first")
expect(first["params"]["protocolVersion"] == 1, "version 1")
offered = first["params"]["clientCapabilities"]
expect(offered == {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}, "nothing is offered")
login = [{"id": "l", "name": "Log in", "description": "run `fake login`"}]
if mode == "noisy":
    print("migrating the database")
    print("[1, 2]")
    print('{"level": "info", "id": 1, "method": null}')
    sys.stdout.flush()
answer(first, {"protocolVersion": 1, "authMethods": login if mode == "login" else []})
new = receive()
folder = new["params"]["cwd"]
trace("folder", folder)
expect(new["params"]["mcpServers"] == [] and os.path.isabs(folder), "session/new")
expect(os.listdir(folder) == [] and folder != os.getcwd(), "the session's folder is empty")
if mode == "login":
    fail(new, -32000, "Authentication required sk-SECRET123")
elif mode == "no_session":
    answer(new, None)
elif mode == "dies":
    print("fatal: no key sk-SECRET123", file=sys.stderr)
    sys.exit(3)
answer(new, {"sessionId": "s-1"})
prompt = receive()
expect(prompt["method"] == "session/prompt" and prompt["params"]["sessionId"] == "s-1", "session/prompt")
text = "".join(part["text"] for part in prompt["params"]["prompt"])
payload = json.loads(text[text.index("{") :])
expect("user_brief" in payload and "my_prompt" in payload, "the payload")
agree = verdict(True, "fine")
if mode == "talks":
    update("agent_thought_chunk", verdict(False, "a thought"))
    update("user_message_chunk", verdict(False, "an echo"))
    update("agent_message_chunk", verdict(False, "of another session"), "s-2")
    outcome = permission(3, ["allow_once", "allow_always", "reject_always", "reject_once"])
    expect(outcome == {"outcome": "selected", "optionId": "o-reject_once"}, "a tool: " + str(outcome))
    outcome = permission("x", ["allow_once"])
    expect(outcome == {"outcome": "cancelled"}, "a tool without a way to refuse it: " + str(outcome))
    for method in ["fs/read_text_file", "fs/write_text_file", "terminal/create", "elicitation/create", "_own/thing"]:
        reply = ask(2, method, {"path": "/etc/passwd", "content": "x", "command": "sh"})
        expect("result" not in reply and reply["error"]["code"] == -32601, method)
    send({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": {"sessionUpdate": "new_kind"}}})
    for char in "好的，我的判断：\n" + verdict(True, "同意：范围清楚，可以测试"):
        update("agent_message_chunk", char)
    answer(prompt, {"stopReason": "end_turn"})
elif mode == "chunks":
    for piece in json.load(open(os.path.join(traces, "chunks.json"))):
        update("agent_message_chunk", piece)
        print("a log line")
    answer(prompt, {"stopReason": "end_turn"})
elif mode == "noisy":
    update("agent_message_chunk", agree)
    answer(prompt, {"stopReason": "end_turn"})
elif mode == "broken":
    update("agent_message_chunk", agree)
    print('{"jsonrpc": "2.0", "method": "session/upd')
    answer(prompt, {"stopReason": "end_turn"})
elif mode == "says_too_much":
    for _ in range(40):
        update("agent_message_chunk", "x" * 60000)
elif mode == "fails":
    fail(prompt, -32603, "Internal error", {"details": "401 for sk-SECRET123"})
elif mode == "refuses":
    permission(9, ["reject_once"])
    answer(prompt, {"stopReason": "refusal"})
elif mode == "half":
    update("agent_message_chunk", '{"ok": true, "rea')
    os.kill(os.getpid(), 9)
elif mode == "closes":
    sys.stdout.flush()
    os.close(1)
elif mode == "hangs":
    trace("pids", str(os.getpid()))
    told = receive()
    expect(told["method"] == "session/cancel" and told["params"] == {"sessionId": "s-1"}, "cancel")
    expect(permission(9, ["reject_once"]) == {"outcome": "cancelled"}, "a tool after that")
    trace("told", str(wrong))
    # It takes no leave.
time.sleep(1000)
