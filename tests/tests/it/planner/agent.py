"""An agent of the Agent Client Protocol that has the judge say what it says. It tries to use what isn't offered first."""

import json
import os
import subprocess
import sys

judge, case = sys.argv[1:3]


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def update(kind, text):
    body = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    send({"method": "session/update", "params": {"sessionId": "s", "update": body}})


def ask(method, params):
    send({"id": 1, "method": method, "params": {"sessionId": "s", **params}})
    return json.loads(sys.stdin.readline())


for line in sys.stdin:
    message = json.loads(line)
    method, result = message["method"], {}
    if method == "initialize":
        result = {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}
    elif method == "session/new":
        folder = message["params"]["cwd"]
        result = {"sessionId": "s"}
    elif method == "session/prompt":
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in ["allow_once", "reject_once"]]
        outcome = ask("session/request_permission", {"toolCall": {"toolCallId": "t", "kind": "edit"}, "options": options})
        file = ask("fs/read_text_file", {"path": judge})
        # Runtimes that programs bring along do so.
        open("/proc/self/maps").close()
        if outcome["result"]["outcome"].get("optionId") != "reject_once" or "result" in file or os.listdir(folder):
            update("agent_message_chunk", "I was given what no role needs.")
        text = message["params"]["prompt"][0]["text"]
        said = subprocess.run(["python3", judge, case], input=text[text.index("{") :].encode(), capture_output=True, check=True)
        update("agent_thought_chunk", '{"ok": false, "reasons": ["a thought"]}')
        for at in range(0, len(said.stdout), 20):
            update("agent_message_chunk", said.stdout.decode()[at : at + 20])
        result = {"stopReason": "end_turn"}
    send({"id": message["id"], "result": result})
