"""Drives the sample app over its connection."""

import tempfile
import unittest
from pathlib import Path
from typing import Any

from wire import (
    CANCEL_JOB,
    CHANGED,
    JOB_REPORT,
    LOCATE,
    NOTIFY,
    OPEN,
    PING,
    READ,
    SAVE,
    App,
    Refused,
)

from pipemux.codec import pack


class AppTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state_dir = folder.name
        self.app = self.start()

    def start(self, **opening: Any) -> App:
        app = App(self.state_dir, **opening)
        self.addCleanup(app.kill)
        return app

    def refused(self, code: str, action: str, **args: Any) -> str:
        with self.assertRaises(Refused) as caught:
            self.app.do(action, **args)
        self.assertEqual(caught.exception.fault["code"], code)
        return str(caught.exception)

    def test_signatures_come_from_methods(self) -> None:
        actions = {each["name"]: each for each in self.app.hello["prototypes"]}
        add, types = actions["add"], {p["name"]: p for p in actions["types"]["params"]}
        self.assertEqual(add["doc"], "Adds an item.")
        self.assertEqual(add["params"][0]["doc"], "What is to be done.")
        self.assertEqual(add["prominence"], "featured")
        inputs = [each["name"] for each in actions.values() if each.get("input")]
        self.assertEqual(inputs, ["add"])
        self.assertEqual(actions["clear"]["risk"], "destructive")
        self.assertEqual(actions["count"]["returns"], "int")
        self.assertEqual(types["file"]["path"], True)
        self.assertEqual(types["how"]["type"], {"union": ["a", "b"]})
        self.assertEqual(types["how"]["default"], "a")
        self.assertEqual(types["note"]["type"], {"optional": "string"})
        self.assertEqual(types["counts"]["type"], {"optional": {"list": "int"}})
        items = actions["done"]["params"][0]["type"]
        self.assertEqual(items, {"list": {"anchor": "item"}})

    def test_arguments_get_the_types_of_the_signature(self) -> None:
        done = self.app.do("types", file="a.txt", how="b", counts=[1, 2])
        self.assertEqual(done["brief"], "/w/a.txt b None [1, 2] me")
        message = self.refused("usage", "types", file=3)
        self.assertEqual(message, "file: expected Path, not 3")
        self.refused("usage", "types", file="a", how="c")
        self.refused("usage", "types", file="a", counts=["x"])
        self.assertEqual(self.app.do("remind", seconds=1000)["brief"], "set")

    def test_each_change_raises_the_version_by_one(self) -> None:
        before = self.app.view()["version"]
        self.assertEqual(self.app.do("add", text="a")["version"], before + 1)
        view = self.app.view()
        self.assertEqual(
            (view["version"], view["title"]), (before + 1, "1 to do · rung 0")
        )
        self.assertEqual(self.app.do("count")["version"], before + 1)
        unchanged = {"version": before + 1, "unchanged": True}
        self.assertEqual(self.app.view(known=before + 1), unchanged)

    def test_failed_action_changes_nothing(self) -> None:
        self.app.do("add", text="a")
        view = self.app.view()
        with self.assertRaisesRegex(Refused, r"ValueError: no b \(sample.py:\d+\)"):
            self.app.do("fail", text="b")
        with self.assertRaisesRegex(Refused, "a query changed the state"):
            self.app.do("cheat")
        self.assertEqual(self.refused("usage", "spoil"), "rung: expected int, not 1.5")
        self.assertEqual(self.app.view(), view)

    def test_changed_thing_is_stale_except_for_the_run_that_changed_it(self) -> None:
        self.app.do("add", text="a")
        (seen,) = self.app.refs()
        self.app.invoke("edit", "mine", args={"item": seen, "text": "b"})
        self.app.invoke("edit", "mine", args={"item": seen, "text": "c"})
        with self.assertRaises(Refused) as caught:
            self.app.invoke("edit", "other", args={"item": seen, "text": "d"})
        fault = caught.exception.fault
        self.assertEqual((fault["code"], fault["key"]), ("stale", "i1"))
        self.app.do("done", items=self.app.refs())
        self.assertEqual(
            self.refused("not_found", "edit", item=seen, text="x"), "item: gone"
        )

    def test_located_things_are_shown_hidden_or_gone(self) -> None:
        for text in "abc":
            self.app.do("add", text=text)
        _, second, third = self.app.refs()
        self.app.do("fold", item=second)
        self.app.do("done", items=[third])
        places = self.app.ask(LOCATE, {"keys": ["i1", "i2", "i3", "i9"]})["places"]
        wanted = [
            "shown",
            {"hidden": "it is folded"},
            {"gone": "it was done"},
            {"gone": None},
        ]
        self.assertEqual(places, wanted)

    def test_value_of_a_thing_is_read_in_chunks(self) -> None:
        self.app.do("add", text="milk")
        (ref,) = self.app.refs()
        chunk = self.app.ask(READ, {**ref, "offset": 3, "max": 5})
        self.assertEqual(chunk, {"data": b"do: m", "total": 11, "text": True})

    def test_confirmed_action_shows_what_it_affects(self) -> None:
        self.app.do("add", text="a")
        needs = self.app.invoke("clear")["needs"]
        self.assertEqual(needs["question"]["kind"], "confirm")
        self.assertEqual(needs["question"]["options"], [{"label": "a"}])
        resume = {"token": needs["token"], "choice": "yes"}
        # Something was added meanwhile, so that the question is another one.
        self.app.do("add", text="b")
        again = self.app.invoke("clear", confirmed=True, resume=resume)["needs"]
        self.assertEqual(len(again["question"]["options"]), 2)
        resume = {"token": again["token"], "choice": "yes"}
        done = self.app.invoke("clear", confirmed=True, resume=resume)["done"]
        self.assertEqual(done["brief"], "all gone")

    def test_action_with_two_questions_is_run_again_with_each_answer(self) -> None:
        for text in "ab":
            self.app.do("add", text=text)
        version = self.app.view()["version"]
        first = self.app.invoke("rename")["needs"]
        resume = {"token": first["token"], "choice": {"picked": [2]}}
        second = self.app.invoke("rename", resume=resume)["needs"]
        self.assertEqual(second["question"]["text"], "a new name for b?")
        self.assertEqual(self.app.view()["version"], version, "nothing happened yet")
        resume = {"token": second["token"], "choice": {"text": "c"}}
        done = self.app.invoke("rename", resume=resume)["done"]
        self.assertEqual((done["brief"], done["version"]), ("now c", version + 1))
        self.assertIn("rung 1", self.app.view()["title"])

    def test_several_are_picked_or_left_out(self) -> None:
        for text in "abc":
            self.app.do("add", text=text)
        token = self.app.invoke("prune")["needs"]["token"]
        resume = {"token": token, "choice": {"all_but": [2]}}
        self.assertEqual(
            self.app.invoke("prune", resume=resume)["done"]["brief"], "2 gone"
        )
        token = self.app.invoke("prune")["needs"]["token"]
        resume = {"token": token, "choice": {"picked": [1]}}
        self.assertEqual(
            self.app.invoke("prune", resume=resume)["done"]["brief"], "1 gone"
        )

    def test_dataclasses_are_records_and_forms(self) -> None:
        board = self.start(program="cards.py")
        actions = {each["name"]: each for each in board.hello["prototypes"]}
        kind = actions["plan"]["params"][0]["type"]
        title, column = fields = kind["list"]["record"]
        self.assertEqual((title["name"], title["doc"]), ("title", "What it is about."))
        self.assertNotIn("default", title)
        self.assertEqual(column["default"], "todo")
        board.do("plan", cards=[{"title": "a"}, {"title": "b", "column": "done"}])
        form = board.invoke("new")["needs"]
        self.assertEqual(form["question"]["kind"], "form")
        self.assertEqual(form["question"]["fields"], fields)
        filled = {"title": {"value": pack("c")}}
        board.invoke(
            "new", resume={"token": form["token"], "choice": {"fields": filled}}
        )
        rows = "| a | todo |\n| b | done |\n| c | todo |\n"
        self.assertIn(rows, board.view()["content"][0]["text"])

    def test_secrets_are_marked(self) -> None:
        board = self.start(program="cards.py")
        actions = {each["name"]: each for each in board.hello["prototypes"]}
        self.assertTrue(actions["unlock"]["params"][0]["secret"])
        asked = board.invoke("unlock", args={"key": "abc"})["needs"]
        self.assertTrue(asked["question"]["secret"])
        resume = {"token": asked["token"], "choice": {"text": "geheim"}}
        sure = board.invoke("unlock", args={"key": "abc"}, resume=resume)["needs"]
        self.assertNotIn(b"geheim", sure["token"], "the daemon keeps tokens")
        resume = {"token": sure["token"], "choice": "yes"}
        done = board.invoke("unlock", args={"key": "abc"}, resume=resume)["done"]
        self.assertEqual(done["brief"], "3 and 6 characters")

    def test_state_survives_a_crash(self) -> None:
        self.app.do("add", text="kept")
        version = self.app.view()["version"]
        self.app.kill()
        self.app = self.start(again=True, args=["x"])
        self.assertEqual(self.app.opened, {"notes": ["opened with x"], "resumed": 0})
        self.assertEqual([each["key"] for each in self.app.refs()], ["i1"])
        self.assertGreater(self.app.view()["version"], version)

    def test_woken_app_continues_where_it_slept(self) -> None:
        self.app.do("add", text="a")
        (seen,) = self.app.refs()
        self.app.invoke("edit", "mine", args={"item": seen, "text": "b"})
        view, saved = self.app.view(), self.app.ask(SAVE, {})
        self.assertEqual(saved, {"version": view["version"], "wake_at": None})
        self.app.close()
        self.app = self.start(again=True, woken=saved["version"])
        self.assertEqual(self.app.opened["resumed"], saved["version"])
        self.assertEqual(self.app.view(), view)
        self.app.invoke("edit", "mine", args={"item": seen, "text": "c"})

    def test_unreadable_state_is_kept_and_told(self) -> None:
        self.app.kill()
        Path(self.state_dir, "state.json").write_text("{")
        self.app = self.start()
        self.assertIn("unreadable state was moved", self.app.opened["notes"][0])
        kept = [
            each
            for each in Path(self.state_dir).iterdir()
            if each.suffix == ".unreadable"
        ]
        self.assertEqual(kept[0].read_text(), "{")

    def test_timer_changes_the_state_and_readers_are_told(self) -> None:
        version = self.app.do("remind", seconds=0.05)["version"]
        self.assertEqual(self.app.event(NOTIFY), {"text": "it is time"})
        self.assertEqual(self.app.event(CHANGED), {"version": version + 1})
        self.assertIn("rung 1", self.app.view()["title"])
        self.app.do("remind", seconds=1000)
        self.assertGreater(self.app.ask(SAVE, {})["wake_at"], 1_700_000_000_000)

    def test_other_threads_may_change_the_state(self) -> None:
        self.app.do("later")
        self.app.event(CHANGED)
        self.assertEqual(self.app.view()["title"], "1 to do · rung 0")

    def test_job_reports_its_progress_output_and_end(self) -> None:
        started = self.app.invoke("work")["started"]
        self.assertEqual((started["brief"], started["total"]), ("work", 3))
        reports = [self.app.event(JOB_REPORT) for _ in range(7)]
        self.assertEqual({each["job"] for each in reports}, {started["job"]})
        self.assertEqual(reports[0]["text"], "step 0")
        self.assertEqual(reports[5]["output"], b"did 2\n")
        self.assertEqual(
            (reports[6]["state"], reports[6]["brief"]), ("done", "3 steps")
        )
        self.assertIn("rung 3", self.app.view()["title"])

    def test_job_is_cancelled_or_fails_with_one_end(self) -> None:
        started = self.app.invoke("work", args={"steps": 0})["started"]
        with self.assertRaisesRegex(Refused, "a job is running"):
            self.app.ask(SAVE, {})
        self.assertEqual(self.app.ask(CANCEL_JOB, {"job": started["job"]}), {})
        self.assertEqual(self.app.event(JOB_REPORT)["state"], "cancelled")
        self.app.invoke("work", args={"steps": 101})
        reports = [self.app.event(JOB_REPORT) for _ in range(203)]
        self.assertEqual(
            (reports[-1]["state"], reports[-1]["brief"]), ("failed", "too much")
        )
        self.assertEqual(self.app.ask(PING, {}), {})

    def test_outcome_has_links_value_and_content(self) -> None:
        self.app.do("add", text="a")
        count = self.app.do("count", of="a")
        self.assertEqual(
            (count["value"], count["content"][0]), (b"\x01", {"text": "1 found: "})
        )
        done = self.app.do("done", items=self.app.refs())
        link = done["links"][0]
        self.assertEqual((link["label"], link["action"]), ("add it again", "add"))

    def test_further_open_reaches_the_app(self) -> None:
        open = {"session": "todo/main", "attach": True, "args": ["y"], "cwd": "/w"}
        opened = self.app.ask(OPEN, {**open, "state_dir": self.state_dir})
        self.assertEqual(opened["notes"], ["opened with y"])
        self.app.close()


if __name__ == "__main__":
    unittest.main()
