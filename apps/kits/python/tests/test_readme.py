"""Each example of the README is an app that works."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from wire import CHANGED, HERE, App

README = (HERE.parent / "README.md").read_text("utf-8")


class ReadmeTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.todo, self.board = re.findall(r"```python\n(.*?)```", README, re.DOTALL)

    def start(self, code: str) -> App:
        file = self.folder / "app.py"
        file.write_text(code, "utf-8")
        app = App(folder := str(self.folder), str(file), cwd=folder)
        self.addCleanup(app.kill)
        return app

    def test_list_of_things(self) -> None:
        todo = self.start(self.todo)
        todo.do("add", text="a")
        todo.do("add", text="b")
        self.assertEqual(todo.do("done", item=todo.refs()[0])["brief"], "1 left")
        self.assertEqual(todo.view()["title"], "1 to do")

    def test_example_prints_its_manifest(self) -> None:
        file = self.folder / "todo.py"
        file.write_text(self.todo, "utf-8")
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent / "src")}
        command = [sys.executable, str(file)]
        run = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )
        self.assertIn(f'id = "todo"\ncommand = "{sys.executable}"', run.stderr)

    def test_cards_in_a_file_that_others_write(self) -> None:
        board, file = self.start(self.board), self.folder / "board.json"
        board.do("add", title="mine")
        cards = json.loads(file.read_text())
        file.write_text(json.dumps([{"key": "x", "label": "theirs"}, *cards]))
        board.event(CHANGED)
        self.assertEqual(board.view()["title"], "2 cards")
        self.assertEqual(board.do("undo")["brief"], "took back add mine")
        labels = [each["label"] for each in json.loads(file.read_text())]
        self.assertEqual(labels, ["theirs"])


if __name__ == "__main__":
    unittest.main()
