"""An author's mistakes are told with their place, and the codec is held to the protocol."""

import json
import unittest
from dataclasses import dataclass, field
from typing import Any

from pipemux import App, Fault, Mistake, Thing, View, action, link, prototypes
from pipemux.codec import encode_frame, pack, unpack
from pipemux.schema import dump, load


@dataclass
class Fine(App):
    names: set[str] = field(default_factory=set)

    def view(self, view: View) -> None: ...


class MistakesTest(unittest.TestCase):
    def mistake(self, cls: type[App]) -> str:
        with self.assertRaises(Mistake) as caught:
            prototypes(cls)
        message = str(caught.exception)
        self.assertRegex(message, r"^test_mistakes.py:\d+: ")
        return message.split(": ", 2)[2]

    def test_class_must_be_a_dataclass_with_a_view_and_defaults(self) -> None:
        class Plain(App):
            pass

        @dataclass
        class Blind(App):
            pass

        @dataclass
        class Empty(Fine):
            count: Any = field(kw_only=True)

        self.assertEqual(self.mistake(Plain), "write @dataclass above the class")
        self.assertEqual(
            self.mistake(Blind), "write its method: def view(self, view: View) -> None"
        )
        self.assertEqual(
            self.mistake(Empty), "count needs a default, which a new session has"
        )

    def test_state_must_be_storable(self) -> None:
        self.assertEqual(self.mistake(Fine), "a set can't be saved")

    def test_parameters_need_types_that_calls_can_have(self) -> None:
        @dataclass
        class Bad(App):
            def view(self, view: View) -> None: ...

            @action()
            def untyped(self, text) -> None: ...  # type: ignore[no-untyped-def]

            @action()
            def odd(self, when: complex) -> None: ...

            @action()
            def many(self, *texts: str) -> None: ...

            @action()
            def told(self, text: str) -> None:
                """Tells. @param txet The text."""

            @action()
            def gives(self) -> int:
                return 3

            @action()
            async def waits(self) -> None: ...

            @action("danger")  # type: ignore[arg-type]
            def risky(self) -> None: ...

            @action("safe", "fetured")  # type: ignore[arg-type]
            def shown(self) -> None: ...

        message = self.mistake(Bad)
        self.assertEqual(len(message.splitlines()), 8)
        for part in [
            "parameter text has no type; write for example text: str",
            "odd: parameter when: complex can't be its type; write str, int",
            "many: parameter texts: * and ** can't be called",
            "told: @param txet: there is no such parameter",
            "gives: returns int; return a Done, a Job, a str or None",
            "waits: write a plain function, which may return a Job",
            "risky: risk 'danger' is none of query, safe, changes, destructive",
            "shown: prominence 'fetured' is none of featured, listed, help, alias",
        ]:
            self.assertIn(part, message)

    def test_input_takes_a_line_and_there_is_one(self) -> None:
        @dataclass
        class Bad(App):
            def view(self, view: View) -> None: ...

            @action(input=True)
            def nothing(self) -> None: ...

            @action(input=True)
            def number(self, count: int) -> None: ...

            @action(input=True)
            def more(self, text: str, count: int) -> None: ...

        told = "input=True: its first parameter takes a str, and each other one has a default"
        self.assertEqual(self.mistake(Bad).count(told), 3)

        @dataclass
        class Two(App):
            def view(self, view: View) -> None: ...

            @action(input=True)
            def say(self, text: str | None = None, count: int = 1) -> None: ...

            @action(input=True)
            def note(self, text: str, by: str | None) -> None: ...

        with self.assertRaisesRegex(Mistake, "Two: one input at most, not say, note"):
            prototypes(Two)

    def test_link_must_fit_its_action(self) -> None:
        class Some(App):
            @action()
            def go(self, to: str) -> None: ...

            def stay(self) -> None: ...

        with self.assertRaisesRegex(
            Mistake, "link 'x' to go: missing a required argument: 'to'"
        ):
            link("x", Some().go)  # type: ignore[call-arg]
        with self.assertRaisesRegex(Mistake, r"stay is no @action\(\)"):
            link("x", Some().stay)
        with self.assertRaisesRegex(Mistake, "with parentheses"):
            action(Some.stay)  # type: ignore[arg-type]

    def test_link_does_not_write_out_the_whole_app(self) -> None:
        class Large(App):
            @action()
            def go(self) -> None: ...

            def __repr__(self) -> str:
                raise AssertionError("its text takes as long as its state is large")

        self.assertEqual(link("x", Large().go).slot["action"], "go")

    def test_state_comes_back_with_the_classes_that_it_had(self) -> None:
        @dataclass
        class Animal(Thing):
            legs: int = 4

        @dataclass
        class Bird(Animal):
            song: str | None = None

        cage = [Animal("a", "ape", 2), Bird("b", "blackbird", 2, "la")]
        self.assertEqual(load(list[Animal], json.loads(json.dumps(dump(cage)))), cage)
        with self.assertRaisesRegex(Fault, "legs: expected int, not 'x'"):
            load(Animal, {"$": "Animal", "key": "a", "label": "b", "legs": "x"})

    def test_revision_follows_the_meaning(self) -> None:
        @dataclass
        class Note(Thing, kind="memo"):
            text: str = ""

            def meaning(self) -> Any:
                return [self.label, self.text]

        note = Note("k", "title", "a")
        before = note.ref()
        self.assertEqual((before["key"], before["type"]), ("k", "memo"))
        note.text = "b"
        self.assertNotEqual(note.rev, before["rev"])


class CodecTest(unittest.TestCase):
    def test_values_come_back(self) -> None:
        for value in [
            None,
            True,
            0,
            127,
            128,
            -1,
            -(2**63),
            2**64 - 1,
            1.5,
            "ü",
            b"\x00",
        ]:
            self.assertEqual(unpack(pack(value))[0], value)
        nested = {"a": [1, {"b": []}], "c": "x" * 70_000}
        self.assertEqual(unpack(pack(nested)), (nested, len(pack(nested))))

    def test_short_forms_are_read(self) -> None:
        short = bytes.fromhex("83a161cd01f4a162c4020102a16393d0ffe07f")
        self.assertEqual(
            unpack(short)[0], {"a": 500, "b": b"\x01\x02", "c": [-1, -32, 127]}
        )
        for hex, value in [("d1ff00", -256), ("d9026869", "hi"), ("ca3fc00000", 1.5)]:
            self.assertEqual(unpack(bytes.fromhex(hex))[0], value)

    def test_frame_begins_with_its_length(self) -> None:
        frame = encode_frame([0, 5, 5, 7, 0], {})
        self.assertEqual(frame.hex(), "0000000b" + "950005050700" + "df00000000")


if __name__ == "__main__":
    unittest.main()
