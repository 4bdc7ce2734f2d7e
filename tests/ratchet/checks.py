#!/usr/bin/env python3
"""Checks of the ratchet itself: each of its rules notices what breaks it."""

import importlib.machinery
import importlib.util
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import lines
import reasons
import system_calls

HERE = Path(__file__).resolve().parent


def script(name: str):
    """A program of this directory, as a module."""
    spec = importlib.util.spec_from_loader(name, importlib.machinery.SourceFileLoader(name, str(HERE / name)))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Lines(unittest.TestCase):
    def test_comments_empty_lines_and_tests_do_not_count(self):
        text = '''//! A crate.

/* of
two lines */
const QUOTED: &str = "// no comment {";
fn code() -> char { '"' } // behind code
const RAW: &str = r#"
 "{"
"#;
#[cfg(test)]
use crate::{a, b};
#[cfg(test)]
#[allow(unused)]
mod tests {
    fn helper() { let closing = "}"; }
}
fn more<'a>(x: &'a str) {}
#[cfg(test)]
mod elsewhere;
'''
        self.assertEqual(lines.without_tests(text), (6, ["elsewhere"]))

    def test_modules_of_tests_are_found_beside_their_file(self):
        self.assertIn(Path("src/a/tests.rs"), lines.places(Path("src/a.rs"), "tests"))
        self.assertIn(Path("src/tests"), lines.places(Path("src/lib.rs"), "tests"))
        self.assertEqual([Path("src/b/a_tests.rs")], lines.places(Path("src/b/a.rs"), "a_tests.rs"))


class Reasons(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.git("init", "-q", "-b", "main")
        self.commit(10, "begin")

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        done = subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, figure: int, body: str, other: int = 1) -> None:
        (self.root / "record.json").write_text(json.dumps({"lines": {"core": figure, "other": other}, "seconds": {"tests": {"a": figure}}}))
        self.git("add", ".")
        self.git("commit", "-q", "-m", "A subject", "-m", body)

    def wrong(self, root: Path | None = None) -> int | None:
        found = reasons.unexplained((root or self.root).resolve(), (root or self.root).resolve() / "record.json")
        return None if found is None else len(found)

    def test_raise_needs_its_name_and_a_reason(self):
        self.commit(11, "Raises lines.other, lines.core: it does more now", other=2)
        self.assertEqual(self.wrong(), 0)
        self.commit(12, "Raises lines.core:")
        self.assertEqual(self.wrong(), 1)

    def test_later_commit_explains_nothing_and_a_lower_one_only_what_it_takes_back(self):
        self.commit(20, "says nothing")
        self.commit(19, "Raises lines.core: as said too late")
        self.assertEqual(self.wrong(), 1)
        self.commit(10, "takes it back")
        self.commit(30, "Raises lines.core: it does more now")
        self.assertEqual(self.wrong(), 0)

    def test_raise_on_a_merged_branch_is_found_in_a_clone_whose_head_is_a_merge(self):
        self.git("switch", "-q", "-c", "branch")
        self.commit(20, "says nothing")
        self.git("switch", "-q", "main")
        (self.root / "file").write_text("")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "Something else")
        self.git("merge", "-q", "--no-ff", "-m", "Merge", "branch")
        with tempfile.TemporaryDirectory() as clone:
            self.git("clone", "-q", str(self.root), clone)
            self.assertEqual(self.wrong(Path(clone)), 1)

    def test_merge_that_raises_over_both_sides_needs_a_reason(self):
        self.git("switch", "-q", "-c", "branch")
        self.commit(12, "Raises lines.core: of the branch")
        self.git("switch", "-q", "main")
        self.commit(13, "Raises lines.core: of the trunk")
        self.git("merge", "-q", "-s", "ours", "--no-commit", "branch")
        self.commit(15, "Merge")
        self.assertEqual(self.wrong(), 1)
        self.git("commit", "-q", "--amend", "-m", "Merge", "-m", "Raises lines.core: both sides together")
        self.assertEqual(self.wrong(), 0)

    def test_shallow_clone_knows_nothing(self):
        self.commit(11, "says nothing")
        with tempfile.TemporaryDirectory() as clone:
            self.git("clone", "-q", "--depth=1", f"file://{self.root}", clone)
            self.assertIsNone(self.wrong(Path(clone)))


class Calls(unittest.TestCase):
    def test_calls_are_told_apart_by_process_and_act(self):
        trace = """1 write(3, "== run", 6) = 6
1 vfork( <unfinished ...>
9 close(3) = 0
9 execve("pipemux") = 0
1 <... vfork resumed>) = 9
9 read(0, "", 1) = 0
2 clone3({flags=CLONE_VM|CLONE_THREAD}, 88) = 8
8 fsync(3) = 0
2 read(5 <unfinished ...>
2 <... read resumed>, "", 1) = 0
2 read(5 <unfinished ...>
2 <... read resumed>, 0x1, 1) = -1 EAGAIN (Resource temporarily unavailable)
2 epoll_wait(3, [], 8, 0) = 0
1 write(3, "== click", 8) = 8
2 read(5, "", 1) = 0
1 write(3, "== end", 6) = 6""".splitlines()
        found = system_calls.divided(trace, {"1": "act", "2": "daemon"})
        self.assertEqual(found["client_run"], [2])
        self.assertEqual(found["daemon_run"], [2])
        self.assertEqual(found["daemon_click"], [1])

    def test_figure_that_differs_each_time_is_none(self):
        warming = [9] * system_calls.WARMING
        self.assertEqual(system_calls.usual("a", [*warming, 5, 5, 6, 5]), 5)
        with self.assertRaises(RuntimeError):
            system_calls.usual("a", [*warming, 5, 6, 7, 5])


class Compared(unittest.TestCase):
    def test_tolerances(self):
        compare = script("run").compare
        self.assertEqual(len(compare("lines", {"a": 101}, {"lines": {"a": 100}}, True)), 1)
        self.assertEqual(len(compare("lines", {"a": 100}, {"lines": {"a": 100}}, True)), 0)
        self.assertEqual(len(compare("instructions", {"a": 1030}, {"instructions": {"a": 1000}}, True)), 0)
        self.assertEqual(len(compare("instructions", {"a": 1031}, {"instructions": {"a": 1000}}, True)), 1)
        self.assertEqual(len(compare("lines", {"b": 1}, {"lines": {"a": 1}}, True)), 2)


class Times(unittest.TestCase):
    def test_each_test_lasts_from_its_start_to_its_line(self):
        times = script("times")
        times.os.environ["RUST_TEST_THREADS"] = "2"
        self.addCleanup(times.os.environ.pop, "RUST_TEST_THREADS")
        found = times.durations(10.0, [(11.0, "a"), (14.0, "c"), (15.0, "b")])
        self.assertEqual(found, {"a": 1.0, "c": 3.0, "b": 5.0})


if __name__ == "__main__":
    unittest.main(buffer=True)
