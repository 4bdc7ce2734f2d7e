"""Compares planned renamings with what a language server says of the same symbols.

    compare.py pyright <langserver.index.js> <project> <plans>
    compare.py tsserver <tsserver.js> <project> <plans>

`plans` are the lines that the example `rename_plans` prints. For each symbol, the server's references are what it is. Counted are

- wrong: places that were proven, and that the server knows to be something else;
- missed: places that are the symbol, and that are neither proven, nor possible, nor told as left;
- asked: symbols with a possible place or a doubt, although the server resolves each place of the name.
"""

import ast
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.parse


class Server:
    """A server that is asked over its standard input and output."""

    def __init__(self, command, root):
        self.root = pathlib.Path(root).resolve()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0
        self.answers = {}
        self.changed = threading.Condition()
        self.idle = False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            length = 0
            while True:
                line = self.process.stdout.readline()
                if not line:
                    return
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
                if line.strip() == b"" and length:
                    break
            message = json.loads(self.process.stdout.read(length))
            with self.changed:
                self.take(message)
                self.changed.notify_all()

    def wait(self, number, seconds=240):
        end = time.monotonic() + seconds
        with self.changed:
            while number not in self.answers:
                if not self.changed.wait(max(0.0, end - time.monotonic())):
                    raise TimeoutError("the server doesn't answer")
            return self.answers.pop(number)

    def close(self):
        self.process.kill()
        self.process.wait()


class Pyright(Server):
    """Pyright, asked by the Language Server Protocol."""

    def __init__(self, program, root):
        super().__init__(["node", program, "--stdio"], root)
        self.opened = set()
        folder = {"uri": self.root.as_uri(), "name": "project"}
        capabilities = {"workspace": {"workspaceFolders": True, "configuration": True}, "general": {"positionEncodings": ["utf-16"]}}
        self.ask(
            "initialize",
            {"processId": os.getpid(), "rootUri": self.root.as_uri(), "capabilities": capabilities, "workspaceFolders": [folder]},
        )
        self.tell("initialized", {})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, parameters):
        self.send({"method": method, "params": parameters})

    def ask(self, method, parameters):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        return self.wait(self.number)

    def take(self, message):
        if "method" in message and "id" in message:
            items = message["params"].get("items", []) if isinstance(message.get("params"), dict) else []
            result = [{} for _ in items] if message["method"] == "workspace/configuration" else None
            self.send({"id": message["id"], "result": result})
        elif "id" in message:
            self.answers[message["id"]] = message.get("result")

    def open(self, path):
        if path not in self.opened:
            self.opened.add(path)
            text = (self.root / path).read_text()
            document = {"uri": (self.root / path).as_uri(), "languageId": "python", "version": 1, "text": text}
            self.tell("textDocument/didOpen", {"textDocument": document})

    def at(self, path, place):
        self.open(path)
        return {"textDocument": {"uri": (self.root / path).as_uri()}, "position": {"line": place[0], "character": place[1]}}

    def places(self, found):
        found = [found] if isinstance(found, dict) else found or []
        all = set()
        for one in found:
            path = pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(one["uri"]).path))
            start = one["range"]["start"]
            inside = path.is_relative_to(self.root)
            all.add((str(path.relative_to(self.root)) if inside else str(path), start["line"], start["character"]))
        return all

    def references(self, path, place):
        asked = {**self.at(path, place), "context": {"includeDeclaration": True}}
        return self.places(self.ask("textDocument/references", asked))

    def definitions(self, path, place):
        return self.places(self.ask("textDocument/definition", self.at(path, place)))


class TsServer(Server):
    """The server of TypeScript, asked by its own protocol."""

    def __init__(self, program, root):
        super().__init__(["node", program, "--disableAutomaticTypingAcquisition"], root)
        self.opened = set()

    def take(self, message):
        if message.get("type") == "response":
            self.answers[message["request_seq"]] = message.get("body")

    def ask(self, command, arguments, answered=True):
        self.number += 1
        message = {"seq": self.number, "type": "request", "command": command, "arguments": arguments}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return self.wait(self.number) if answered else None

    def open(self, path):
        if path not in self.opened:
            self.opened.add(path)
            self.ask("open", {"file": str(self.root / path)}, answered=False)

    def at(self, path, place):
        self.open(path)
        return {"file": str(self.root / path), "line": place[0] + 1, "offset": place[1] + 1}

    def places(self, found):
        all = set()
        for one in found or []:
            path = pathlib.Path(one["file"])
            inside = path.is_relative_to(self.root)
            name = str(path.relative_to(self.root)) if inside else str(path)
            all.add((name, one["start"]["line"] - 1, one["start"]["offset"] - 1))
        return all

    def references(self, path, place):
        body = self.ask("references", self.at(path, place)) or {}
        return self.places(body.get("refs"))

    def definitions(self, path, place):
        return self.places(self.ask("definition", self.at(path, place)))


class PythonClasses:
    """Which classes are related, by the names of their bases alone: what a language server's references leave out."""

    def __init__(self, root):
        self.around = {}
        self.parent = {}
        for path in pathlib.Path(root).rglob("*.py"):
            try:
                tree = ast.parse(path.read_text())
            except (SyntaxError, ValueError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    self.around.setdefault(str(path.relative_to(root)), []).append((node.lineno, node.end_lineno, node.name))
                    for base in node.bases:
                        base = base.value if isinstance(base, ast.Subscript) else base
                        name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", None)
                        if name and name not in ("object", "Exception", "ABC", "Protocol", "Generic", "Enum"):
                            self.join(node.name, name)

    def group(self, name):
        while name in self.parent:
            name = self.parent[name]
        return name

    def join(self, one, other):
        one, other = self.group(one), self.group(other)
        if one != other:
            self.parent[one] = other

    def of(self, place):
        """The group of the class around a place."""
        around = [one for one in self.around.get(place[0], []) if one[0] <= place[1] + 1 <= one[1]]
        return self.group(min(around, key=lambda one: one[1] - one[0])[2]) if around else None


class Texts:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.known = {}

    def place(self, path, byte):
        """A byte as line and UTF-16 column."""
        if path not in self.known:
            self.known[path] = (self.root / path).read_bytes()
        before = self.known[path][:byte]
        start = before.rfind(b"\n") + 1
        return before.count(b"\n"), len(before[start:].decode(errors="replace").encode("utf-16-le")) // 2


def main():
    kind, program, root, plans = sys.argv[1:5]
    verbose = "-v" in sys.argv
    texts = Texts(root)
    classes = PythonClasses(root)
    files = {"pyright": (".py", ".pyi"), "tsserver": (".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs", ".d.ts")}[kind]
    server = {"pyright": Pyright, "tsserver": TsServer}[kind](program, root)
    counts = dict.fromkeys(["symbols", "refused", "resolved", "asked", "asked_resolved", "wrong", "missed", "proven", "conflated"], 0)
    plans = [json.loads(line) for line in open(plans)]
    plans = [one for one in plans if one["path"].endswith(files)]
    for one in plans:
        for path, _ in one.get("proven", []) + one.get("possible", []) + one.get("others", []):
            if path.endswith(files):
                server.open(path)
    for one in plans:
        counts["symbols"] += 1
        if "refused" in one:
            counts["refused"] += 1
            continue

        def of(name):
            return {(path, *texts.place(path, byte)) for path, byte in one[name] if path.endswith(files)}

        proven, possible, others, left = of("proven"), of("possible"), of("others"), of("left")
        counts["proven"] += len(proven)
        target = (one["path"], *texts.place(one["path"], one["at"]))
        references = server.references(target[0], target[1:]) or {target}
        # What must have the same name is one symbol, which a server may know as several.
        for place in sorted(proven - references):
            also = server.references(place[0], place[1:])
            defined = server.definitions(place[0], place[1:])
            group = classes.of(target)
            related = group is not None and any(classes.of(one) == group for one in defined | {place})
            # A type and a value of one name are one symbol for whoever imports it, and two for the server.
            merged = kind == "tsserver" and any(one in proven and one[0] == target[0] for one in defined)
            if also & references or not defined or related or merged:
                references |= also | {place}
        # A server that takes it for something outside of the project, too, knows less of it than its scope tells.
        if any(os.path.isabs(path) for path, *_ in references):
            counts["conflated"] += 1
            continue
        wrong = proven - references
        missed = references - proven - possible - left
        missed = {place for place in missed if place in others or place[0].endswith(files)}
        asked = bool(possible) or bool(one["doubt"])
        resolved = all(server.definitions(place[0], place[1:]) for place in proven | possible | others)
        counts["resolved"] += resolved
        counts["asked"] += asked
        counts["asked_resolved"] += asked and resolved
        counts["wrong"] += len(wrong)
        counts["missed"] += len(missed)
        for what, places in [("wrong", wrong), ("missed", missed)]:
            for place in sorted(places)[:4]:
                print(f"{what}: {one['kind']} {one['qualified']} of {one['path']}: {place[0]}:{place[1] + 1}:{place[2] + 1}", flush=True)
        if verbose and asked and resolved:
            places = ", ".join(f"{place[0]}:{place[1] + 1}" for place in sorted(possible)[:3])
            print(f"asked: {one['kind']} {one['qualified']} of {one['path']}: {len(proven)} proven, {len(possible)} possible {places} {one['doubt'] or ''}", flush=True)
    server.close()
    print(json.dumps(counts))


main()
