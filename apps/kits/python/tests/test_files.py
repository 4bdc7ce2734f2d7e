"""Drives an app with watched files, images and changes that fail without a request."""

import os
import struct
import tempfile
import unittest
from pathlib import Path
from typing import Any

from wire import CHANGED, NOTIFY, READ, SAVE, App, Refused

from pipemux import Fault, Image
from pipemux.media import IMAGE_BYTES_MAX

PNG = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + b"\x08\x06\0\0\0"
)


class FilesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name, "project")
        self.inner = self.root / "a/b"
        self.inner.mkdir(parents=True)
        self.root.joinpath(".git").mkdir()
        self.file = self.root / "notes.json"
        self.state = Path(folder.name, "state")
        self.state.mkdir()
        self.app = self.start()

    def start(self, **opening: Any) -> App:
        app = App(str(self.state), "files.py", **{"cwd": str(self.inner), **opening})
        self.addCleanup(app.kill)
        return app

    def told(self) -> str:
        """The labels that are shown once something was told."""
        self.app.event(CHANGED)
        return "".join(each["label"] for each in self.objects())

    def objects(self) -> list[dict[str, Any]]:
        return [
            each["object"] for each in self.app.view()["content"] if "object" in each
        ]

    def shown(self) -> str:
        return "".join(each.get("text", "") for each in self.app.view()["content"])

    def test_what_other_programs_do_with_a_file_is_told(self) -> None:
        self.file.write_text('["a"]')
        self.assertEqual(self.told(), "a")
        # As editors do: a new file takes the name.
        new = self.root / "notes.json~"
        new.write_text('["b"]')
        new.replace(self.file)
        self.assertEqual(self.told(), "b")
        # The same length, and the same second.
        was = self.file.stat()
        self.file.write_text('["c"]')
        os.utime(self.file, ns=(was.st_atime_ns, was.st_mtime_ns))
        self.assertEqual(self.told(), "c")
        self.file.unlink()
        self.assertEqual(self.told(), "")
        self.file.write_text('["d"]')
        self.assertEqual(self.told(), "d")

    def test_many_writes_are_told_in_few_changes(self) -> None:
        before = self.app.view()["version"]
        for n in range(500):
            self.file.write_text(f'["{n}"]')
        while self.told() != "499":
            pass
        self.assertLess(self.app.view()["version"] - before, 5)

    def test_file_that_changed_while_the_app_slept_is_read_again(self) -> None:
        saved = self.app.ask(SAVE, {})
        self.app.close()
        self.app = self.start(again=True, woken=saved["version"])
        self.assertEqual(self.app.opened["resumed"], saved["version"])
        self.app.close()
        self.file.write_text('["new"]')
        self.app = self.start(again=True, woken=saved["version"])
        self.assertEqual(self.app.opened["resumed"], saved["version"])
        self.assertEqual(self.told(), "new")
        self.assertEqual(self.app.view()["version"], saved["version"] + 1)

    def test_window_says_that_a_file_cannot_be_read_until_it_can(self) -> None:
        self.file.write_text('["a"]')
        self.assertEqual(self.told(), "a")
        self.file.write_text("[")
        self.assertEqual(self.told(), "a")
        self.assertRegex(self.shown(), r"^⚠ JSONDecodeError: .* \(files.py:\d+\)\n")
        self.assertRegex(self.app.event(NOTIFY)["text"], r"^⚠ JSONDecodeError")
        version = self.app.ask(SAVE, {})["version"]
        self.app.close()
        self.app = self.start(again=True, woken=version)
        self.assertRegex(self.shown(), r"^⚠ JSONDecodeError")
        self.app.close()
        self.file.write_text('["a"]')
        self.app = self.start(again=True, woken=version)
        self.assertEqual((self.told(), self.shown()), ("a", "\n"))

    def test_app_with_an_unreadable_file_opens_and_says_so(self) -> None:
        self.app.kill()
        self.file.write_text("[")
        self.app = self.start()
        self.assertRegex(self.shown(), r"^⚠ JSONDecodeError")
        self.assertRegex(self.app.event(NOTIFY)["text"], r"^⚠ JSONDecodeError")
        with self.assertRaisesRegex(Refused, "JSONDecodeError"):
            self.app.do("add", text="c")
        self.file.write_text('["a"]')
        self.assertEqual((self.told(), self.shown()), ("a", "\n"))

    def test_action_acts_on_what_the_file_has(self) -> None:
        self.file.write_text('["a"]')
        self.app.do("add", text="b")
        self.assertEqual([each["label"] for each in self.objects()], ["a", "b"])
        self.file.write_text("[")
        for _ in range(2):
            with self.assertRaisesRegex(Refused, r"JSONDecodeError: .* \(files.py:"):
                self.app.do("add", text="c")
        self.assertIn("/w/x.md", self.app.do("where", to="x.md")["content"][0]["text"])
        self.file.write_text('["d"]')
        self.app.do("undo")
        self.assertEqual([each["label"] for each in self.objects()], ["d"])

    def test_failed_change_without_a_request_is_told_once_and_changes_nothing(
        self,
    ) -> None:
        self.app.do("add", text="a")
        for _ in range(3):
            self.app.do("fail", text="no\nmore")
        self.assertEqual(self.app.event(NOTIFY), {"text": "⚠ no more"})
        self.assertEqual(self.told(), "a")
        self.assertEqual(self.shown(), "⚠ no more\n\n")
        self.app.do("fail")
        self.app.view()
        self.assertEqual(self.shown(), "")
        self.assertNotIn(NOTIFY, [method for method, _ in self.app.events])

    def test_timer_that_failed_is_tried_again_later(self) -> None:
        rung = self.root / "rung"
        rung.write_text("")
        self.app.do("ring")
        self.assertRegex(self.app.event(NOTIFY)["text"], r"^⚠ ValueError: not yet")
        self.told()
        self.assertRegex(self.shown(), r"^⚠ ValueError: not yet")
        self.told()
        self.assertEqual((self.shown(), rung.read_text()), ("", "2"))

    def test_failed_thread_of_the_author_is_told(self) -> None:
        self.app.do("spin")
        told = self.app.event(NOTIFY)["text"]
        self.assertRegex(told, r"^⚠ ZeroDivisionError: .* \(files.py:\d+\)$")

    def test_paths_are_absolute_and_the_project_is_known(self) -> None:
        brief = self.app.do("export", more=["x", "/y"])["brief"]
        wanted = f"{self.inner}/out.md {[Path('/w/x'), Path('/y')]} in {self.root}"
        self.assertEqual(brief.replace("/w/out.md", f"{self.inner}/out.md"), wanted)
        self.assertIn("/w/b.md None", self.app.do("export", to="b.md")["brief"])
        alone = tempfile.TemporaryDirectory()
        self.addCleanup(alone.cleanup)
        self.app.kill()
        self.app = self.start(cwd=alone.name)
        self.assertIn(f" in {alone.name}", self.app.do("export")["brief"])

    def test_image_is_shown_with_its_size_and_read(self) -> None:
        image = self.root / "a.png"
        image.write_bytes(PNG)
        self.app.do("add", text="a", image=str(image))
        (shown,) = self.objects()
        size = {"type": "image/png", "bytes": len(PNG), "width": 640, "height": 480}
        self.assertEqual(shown["media"], size)
        ref = {name: shown[name] for name in ("key", "rev", "type")}
        chunk = self.app.ask(READ, {**ref, "offset": 0, "max": 9999})
        self.assertEqual((chunk["data"], chunk["text"]), (PNG, False))
        image.unlink()
        self.assertEqual(self.objects()[0]["media"], None)
        with self.assertRaisesRegex(Refused, "No such file"):
            self.app.ask(READ, {**ref, "offset": 0, "max": 9999})

    def test_key_is_never_given_again(self) -> None:
        self.app.do("add", text="a")
        key = self.objects()[0]["key"]
        self.app.do("undo")
        self.app.do("add", text="b")
        self.assertNotEqual(self.objects()[0]["key"], key)
        with self.assertRaisesRegex(
            Refused, "was another thing's: give each new_key()"
        ):
            self.app.do("reuse", key=key)
        self.assertEqual(len(self.objects()), 1)


class ImageTest(unittest.TestCase):
    def test_types_and_sizes_are_found(self) -> None:
        frame = b"\xff\xc0\0\x11\x08" + struct.pack(">HH", 3, 4)
        jpeg = b"\xff\xd8\xff\xe0\0\x04ab" + frame
        for data, type, size in [
            (PNG, "image/png", (640, 480)),
            (b"GIF89a" + struct.pack("<HH", 5, 6), "image/gif", (5, 6)),
            (jpeg, "image/jpeg", (4, 3)),
            (jpeg[:9], "image/jpeg", (None, None)),
            (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp", (None, None)),
            (PNG[:9], "image/png", (None, None)),
            (b"", "application/octet-stream", (None, None)),
        ]:
            slot = Image(data).slot() or {}
            found = slot["type"], (slot.get("width"), slot.get("height"))
            self.assertEqual(found, (type, size), data)
        self.assertEqual((Image(b"", "audio/x").slot() or {})["type"], "audio/x")
        # What the bytes are counts, not what they are called.
        self.assertEqual((Image(PNG, "image/webp").slot() or {})["type"], "image/png")

    def test_too_many_bytes_are_refused(self) -> None:
        with self.assertRaisesRegex(Fault, "at most 16777216 can be read"):
            Image(bytes(IMAGE_BYTES_MAX + 1)).read()


if __name__ == "__main__":
    unittest.main()
