"""Drives an app with pages and undo over its connection."""

import tempfile
import unittest
from pathlib import Path
from typing import Any

from wire import LOCATE, PROJECT, SAVE, App, Refused


class HelperTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.app = App(self.folder.name, "pages.py")
        for text in "abcde":
            self.app.do("add", text=text)

    def tearDown(self) -> None:
        self.app.kill()
        self.folder.cleanup()

    def page(self, reader: str, known: int | None = None) -> dict[str, Any]:
        asked = {"window": 1, "lod": "full", "budget": 900, "reader": reader}
        return self.app.ask(PROJECT, {**asked, "known_version": known})

    def test_one_readers_page_is_not_everybodys(self) -> None:
        self.assertEqual(self.app.hello["features"], ["value-files", "per-reader"])
        turn = self.app.invoke("turn", reader="ann", args={"pages": 2})
        self.assertEqual(turn["done"]["brief"], "5-5 of 5")
        self.assertEqual(self.page("ann")["position"], "5-5 of 5")
        self.assertEqual(self.page("bob")["position"], "1-2 of 5")
        version = self.page("ann")["version"]
        self.assertEqual(self.page("bob")["version"], version)
        self.assertTrue(self.page("ann", known=version)["unchanged"])
        hidden, shown = [{"hidden": "lines.turn()"}], ["shown"]
        for reader, places in ("ann", hidden), ("bob", shown):
            asked = {"keys": ["l1"], "reader": reader}
            self.assertEqual(self.app.ask(LOCATE, asked)["places"], places)
        with self.assertRaisesRegex(Refused, "there is no such page"):
            self.app.invoke("turn", reader="ann")
        # The list became shorter: the last page is shown.
        for _ in range(3):
            self.app.do("undo")
        self.assertEqual(self.page("ann")["position"], "1-2 of 2")

    def test_changes_are_taken_back_and_made_again(self) -> None:
        done = self.app.do("add", text="f")
        (link,) = done["links"]
        self.assertEqual(
            (link["label"], link["action"], link["lasting"]), ("undo", "undo", True)
        )
        undone = self.app.do("undo", change=6)
        self.assertEqual((undone["brief"], undone["reverts"]), ("undid add f", True))
        self.assertEqual(undone["links"][0]["label"], "redo")
        self.assertEqual(self.page("me")["title"], "5 lines")
        self.assertEqual(self.app.do("redo", change=6)["brief"], "redid add f")
        with self.assertRaisesRegex(Refused, "the next one to undo is 6, add f"):
            self.app.do("undo", change=2)
        with self.assertRaisesRegex(Refused, "there is nothing to redo"):
            self.app.do("redo")

    def test_long_value_is_taken_from_a_file_of_the_session_only(self) -> None:
        values = Path(self.folder.name, "values")
        values.mkdir()
        Path(values, "1-1").write_text("long " * 200_000)
        Path(self.folder.name, "secret").write_text("secret")
        Path(values, "1-2").symlink_to(Path(self.folder.name, "secret"))
        copied = {"value": b"\xc0", "from": "editor/main", "label": "text"}

        def add(file: Path) -> Any:
            args = {"text": {"copied": {**copied, "file": str(file)}}}
            return self.app.invoke("add", raw_args=args)

        self.assertIn("done", add(values / "1-1"))
        for file in (
            values / "1-2",
            values / "1-3",
            values / "../secret",
            values / "..",
        ):
            with self.assertRaisesRegex(Refused, "its value is no longer there"):
                add(file)

    def test_changes_can_be_taken_back_after_a_sleep(self) -> None:
        saved = self.app.ask(SAVE, {})
        self.app.kill()
        self.app = App(self.folder.name, "pages.py", woken=saved["version"])
        self.assertEqual(self.app.do("undo")["brief"], "undid add e")
        self.assertEqual(self.page("me")["title"], "4 lines")


if __name__ == "__main__":
    unittest.main()
