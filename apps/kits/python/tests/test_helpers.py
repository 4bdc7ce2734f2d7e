"""Drives an app with pages and undo over its connection."""

import copy
import json
import random
import tempfile
import unittest
from pathlib import Path
from typing import Any

from pages import Line, Lines
from wire import LOCATE, PROJECT, SAVE, App, Refused

from pipemux import Fault, Undo
from pipemux.difference import apply, difference
from pipemux.schema import dump, load


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
        first = self.app.refs()[0]["key"]
        turn = self.app.invoke("turn", reader="ann", args={"pages": 2})
        self.assertEqual(turn["done"]["brief"], "5-5 of 5")
        self.assertEqual(self.page("ann")["position"], "5-5 of 5")
        self.assertEqual(self.page("bob")["position"], "1-2 of 5")
        version = self.page("ann")["version"]
        self.assertEqual(self.page("bob")["version"], version)
        self.assertTrue(self.page("ann", known=version)["unchanged"])
        hidden, shown = [{"hidden": "lines.turn()"}], ["shown"]
        for reader, places in ("ann", hidden), ("bob", shown):
            asked = {"keys": [first], "reader": reader}
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


class ChangesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.lines = Lines(lines=[Line("a", "a"), Line("b", "b")])

    def changed(self, index: int, text: str) -> int:
        """Changes a line as an action does. Returns the number of the change."""
        number = self.lines.changes.record(self.lines, f"edit {index}")
        self.lines.lines[index].label = text
        self.lines.changes.seal(self.lines)
        return number

    def labels(self) -> list[str]:
        return [each.label for each in self.lines.lines]

    def test_what_others_change_stays_when_a_change_is_taken_back(self) -> None:
        self.changed(0, "mine")
        self.lines.lines[1].label = "theirs"
        self.lines.lines.append(Line("c", "theirs, too"))
        self.lines.changes.undo(self.lines)
        self.assertEqual(self.labels(), ["a", "theirs", "theirs, too"])
        self.lines.changes.redo(self.lines)
        self.assertEqual(self.labels(), ["mine", "theirs", "theirs, too"])

    def test_change_that_others_changed_again_is_not_taken_back(self) -> None:
        self.changed(0, "mine")
        self.lines.lines[0].label = "theirs"
        with self.assertRaisesRegex(
            Fault, "can.t undo edit 0: .mine. was changed since"
        ):
            self.lines.changes.undo(self.lines)
        self.assertEqual(self.labels(), ["theirs", "b"])
        self.assertEqual(len(self.lines.changes.past), 1)

    def test_changes_are_bounded_in_number_and_size_but_the_newest_is_kept(
        self,
    ) -> None:
        for each in range(60):
            self.changed(0, str(each))
        self.assertEqual(len(self.lines.changes.past), 50)
        self.lines.lines[1].label = "x" * 100_000
        self.assertLess(len(json.dumps(dump(self.lines.changes))), 10_000)
        self.changed(1, "y" * 700_000)
        self.assertLess(len(self.lines.changes.past), 52)
        self.changed(1, "z" * 700_000)
        self.assertEqual([each.what for each in self.lines.changes.past], ["edit 1"])
        self.lines.changes.undo(self.lines)
        self.assertEqual(self.labels()[1][:2], "yy")

    def test_changes_are_taken_back_beside_those_of_others(self) -> None:
        """Actions edit labels; others edit the lines' order, remove lines and add some."""
        rng, keys = random.Random(7), [f"l{n}" for n in range(6)]
        for _ in range(300):
            self.lines = Lines(lines=[Line(key, "0") for key in keys])
            edited, others = list[str](), {key: "0" for key in keys}
            for n in range(1, rng.randrange(2, 12)):
                lines = self.lines.lines
                at = rng.randrange(len(lines))
                if rng.random() < 0.5 and lines[at].key in keys:
                    edited.append(lines[at].key)
                    self.changed(at, str(n))
                elif rng.random() < 0.3:
                    others[f"o{n}"] = "new"
                    lines.insert(at, Line(f"o{n}", "new"))
                elif rng.random() < 0.5 and lines[at].key not in edited:
                    others.pop(lines.pop(at).key)
                else:
                    lines.insert(rng.randrange(len(lines)), lines.pop(at))
                if not self.lines.lines:
                    break
                if rng.random() < 0.3:
                    # As an app that was saved and started again.
                    self.lines.changes.seal(self.lines)
                    saved = json.loads(json.dumps(dump(self.lines)))
                    self.lines = load(Lines, saved)
                    self.lines.changes.track(self.lines)
            after = [(each.key, each.label) for each in self.lines.lines]
            for _ in edited:
                self.lines.changes.undo(self.lines)
            before = [(each.key, each.label) for each in self.lines.lines]
            self.assertEqual(dict(before), others)
            self.assertEqual([key for key, _ in before], [key for key, _ in after])
            for _ in edited:
                self.lines.changes.redo(self.lines)
            self.assertEqual(
                [(each.key, each.label) for each in self.lines.lines], after
            )

    def test_removal_is_taken_back_at_its_place(self) -> None:
        self.lines.changes.record(self.lines, "remove a")
        first = self.lines.lines.pop(0)
        self.lines.changes.seal(self.lines)
        self.lines.lines[:] = [Line("c", "c"), *self.lines.lines, Line("d", "d")]
        self.lines.changes.undo(self.lines)
        self.assertIn("".join(self.labels()), ["acbd", "cabd"])
        first.label = "other"
        self.lines.changes.redo(self.lines)
        self.assertEqual(self.labels(), ["c", "b", "d"])

    def test_states_of_earlier_releases_are_dropped(self) -> None:
        saved = {"past": [{"number": 1, "what": "x", "state": "{}"}], "last": 1}
        undo = load(Undo, saved)
        self.assertEqual((undo.past, undo.last), ([], 1))


class RandomValues(unittest.TestCase):
    """Makes values by chance, but the same each time."""

    random: random.Random

    def value(self, depth: int) -> Any:
        choose = self.random.randrange(8 if depth else 5)
        if choose < 5:
            return self.random.choice([None, True, 1, 0, 1.5, "", "é", float("inf")])
        length = self.random.randrange(5)
        if choose < 7:
            return [self.value(depth - 1) for _ in range(length)]
        keys = self.random.sample("abcde", length)
        return {key: self.value(depth - 1) for key in keys}

    def mutated(self, value: Any) -> Any:
        """The value with something else at a few places."""
        if self.random.random() < 0.15 or not isinstance(value, (list, dict)):
            return self.value(2)
        if isinstance(value, dict):
            entries = list(value.items())
            if entries and self.random.random() < 0.3:
                self.random.shuffle(entries)
                entries = entries[: self.random.randrange(len(entries) + 1)]
            return {
                key: self.mutated(each) if self.random.random() < 0.3 else each
                for key, each in entries
            }
        items = [
            self.mutated(each) if self.random.random() < 0.3 else each for each in value
        ]
        if self.random.random() < 0.3:
            items.insert(self.random.randrange(len(items) + 1), self.value(1))
        return items


class DifferenceTest(RandomValues):
    """Laws that hold for any two values."""

    def test_edits_make_the_other_value_and_back(self) -> None:
        self.random = random.Random(1)
        for _ in range(3000):
            one = {key: self.value(3) for key in "xyz"}
            other = {key: self.mutated(each) for key, each in one.items()}
            edits = json.loads(json.dumps(difference(one, other)))
            made = copy.deepcopy(one)
            apply(made, edits, backwards=False)
            self.assertEqual(json.dumps(made), json.dumps(other))
            apply(made, edits, backwards=True)
            self.assertEqual(json.dumps(made), json.dumps(one))

    def test_edits_of_other_values_are_refused_or_change_only_their_places(
        self,
    ) -> None:
        self.random = random.Random(2)
        for _ in range(2000):
            one, alien = self.value(3), self.value(3)
            edits = difference([one], [self.mutated(one)])
            try:
                apply([alien], edits, backwards=self.random.random() < 0.5)
            except LookupError:
                pass


if __name__ == "__main__":
    unittest.main()
