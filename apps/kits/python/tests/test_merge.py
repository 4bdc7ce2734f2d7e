"""Laws of merging, and comparisons: with git, and with a model of a board."""

import copy
import json
import random
import subprocess
import tempfile
import unittest
from itertools import count
from pathlib import Path
from typing import Any

from test_helpers import RandomValues

from pipemux.merge import Conflict, merge

Columns = dict[str, list[dict[str, Any]]]


class LawsTest(RandomValues):
    def thing(self) -> dict[str, Any]:
        return {
            "key": self.random.choice("abcdef"),
            "label": "x",
            "more": self.value(1),
        }

    def sides(self) -> tuple[Any, Any, Any]:
        base = {
            "x": self.value(3),
            "y": [self.thing() for _ in range(self.random.randrange(5))],
        }
        ours, theirs = (
            {name: self.mutated(each) for name, each in base.items()} for _ in "ab"
        )
        return base, ours, theirs

    def test_what_one_side_changed_is_taken_as_it_is(self) -> None:
        self.random = random.Random(3)
        for _ in range(3000):
            base, ours, theirs = copy.deepcopy(self.sides())
            for merged, wanted in [
                (merge(base, ours, base), ours),
                (merge(base, base, theirs), theirs),
                (merge(base, ours, copy.deepcopy(ours)), ours),
            ]:
                self.assertEqual(json.dumps(merged), json.dumps(wanted))

    def test_sides_may_be_swapped(self) -> None:
        self.random, merged = random.Random(4), 0
        for _ in range(3000):
            base, ours, theirs = [each["x"] for each in self.sides()]
            results = [self.result(base, ours, theirs), self.result(base, theirs, ours)]
            # Only the order of a record's entries is one side's.
            one, other = (json.dumps(each, sort_keys=True) for each in results)
            self.assertEqual(one, other)
            merged += results[0] != "conflict"
        self.assertGreater(merged, 500)

    def result(self, *values: Any) -> Any:
        try:
            return merge(*values)
        except Conflict:
            return "conflict"


class GitTest(unittest.TestCase):
    def test_lists_are_merged_as_git_merges_lines(self) -> None:
        rng, new, clean = random.Random(5), count(), 0

        def changed(items: list[str]) -> list[str]:
            made = list(items)
            for _ in range(rng.randrange(1, 4)):
                at = rng.randrange(len(made) + 1)
                made[at : at + rng.randrange(3)] = [f"n{next(new)}"] * rng.randrange(2)
            return made

        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("ours", "base", "theirs")]
            for _ in range(300):
                base = [f"{n}" for n in range(rng.randrange(12))]
                ours, theirs = changed(base), changed(base)
                for file, items in zip(files, (ours, base, theirs)):
                    file.write_text("".join(f"{each}\n" for each in items))
                command = ["git", "merge-file", "-p", *map(str, files)]
                git = subprocess.run(
                    command, capture_output=True, text=True, check=False
                )
                try:
                    merged = merge(base, ours, theirs)
                except Conflict:
                    self.assertNotEqual(git.returncode, 0, (base, ours, theirs))
                    continue
                if git.returncode == 0:
                    clean += 1
                    self.assertEqual(merged, git.stdout.split(), (base, ours, theirs))
        self.assertGreater(clean, 80)


class BoardTest(unittest.TestCase):
    """Cards in columns: each field of a card, and its column, merges alone."""

    def changed(self, board: Columns) -> Columns:
        made, moved = copy.deepcopy(board), set[str]()
        for _ in range(self.random.randrange(4)):
            name, other = self.random.sample(sorted(made), 2)
            if not made[name]:
                continue
            at = self.random.randrange(len(made[name]))
            card = made[name][at]
            match self.random.randrange(5):
                case 0 | 1:
                    card[self.random.choice(["label", "note"])] = str(next(self.new))
                case 2:
                    del made[name][at]
                case 3 if card["key"] not in moved:
                    moved.add(card["key"])
                    made[other].insert(
                        self.random.randrange(len(made[other]) + 1), made[name].pop(at)
                    )
                case _:
                    key = f"n{next(self.new)}"
                    made[name].insert(at, {"key": key, "label": key, "note": ""})
        return made

    def cards(self, board: Columns) -> dict[str, dict[str, Any]]:
        return {
            card["key"]: {**card, "in": name}
            for name, cards in board.items()
            for card in cards
        }

    def expected(self, *boards: Columns) -> dict[str, dict[str, Any]] | None:
        """The cards by key, or None where both sides changed the same."""
        base, ours, theirs = map(self.cards, boards)
        made = {}
        for key in {**base, **ours, **theirs}:
            was, own, other = base.get(key), ours.get(key), theirs.get(key)
            if was and own and other:
                card = {}
                for name in was:
                    if (
                        was[name] not in (own[name], other[name])
                        and own[name] != other[name]
                    ):
                        return None
                    card[name] = other[name] if was[name] == own[name] else own[name]
                made[key] = card
            elif not was:
                made[key] = own or other or {}
            elif own and {**own, "in": 0} != {**was, "in": 0}:
                return None  # Edited here, removed there.
            elif other and other != was:
                return None  # Removed here, edited or moved there.
        return made

    def test_each_field_of_a_card_merges_alone(self) -> None:
        self.random, self.new = random.Random(6), count()
        conflicts = 0
        for _ in range(3000):
            base: Columns = {"todo": [], "doing": [], "done": []}
            for n in range(self.random.randrange(7)):
                card = {"key": f"{n}", "label": "x", "note": ""}
                base[self.random.choice(list(base))].append(card)
            sides = base, self.changed(base), self.changed(base)
            expected = self.expected(*sides)
            conflicts += expected is None
            if expected is None:
                with self.assertRaises(Conflict):
                    merge(*sides)
            else:
                merged = merge(*sides)
                self.assertEqual(self.cards(merged), expected)
                self.assertEqual(sum(map(len, merged.values())), len(expected))
        self.assertTrue(200 < conflicts < 2000, conflicts)

    def test_cards_beside_one_that_comes_back_stay_in_order(self) -> None:
        card = lambda key: {"key": key, "label": key}
        boards = ["acd", "aqcdz", "abcd"]
        merged = merge(*(list(map(card, each)) for each in boards))
        self.assertIn("".join(each["key"] for each in merged), ["abqcdz", "aqbcdz"])


if __name__ == "__main__":
    unittest.main()
