"""Notes in a file that other programs write, too, with images; the tests drive it."""

import json
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from pipemux import (
    App,
    Done,
    Fault,
    Image,
    Opening,
    Thing,
    Undo,
    View,
    action,
    new_key,
    run,
)


@dataclass
class Note(Thing):
    image: Path | bytes | None = None

    def media(self) -> Image | None:
        return Image(self.image) if self.image else None


@dataclass
class Notes(App):
    notes: list[Note] = field(default_factory=list)
    changes: Undo = field(default_factory=Undo)
    due: float | None = None

    @action()
    def add(self, text: str, image: Path | None = None) -> Done:
        change = self.changes.record(self, f"add {text}")
        self.notes.append(Note(new_key(), text, image))
        return Done("added").undone_by(self.undo, change)

    @action()
    def reuse(self, key: str) -> None:
        """Gives a key again."""
        self.changes.record(self, "reuse")
        self.notes.append(Note(key, "again"))

    @action()
    def undo(self, change: int | None = None) -> Done:
        undone = self.changes.undo(self, change)
        return Done(f"undid {undone.what}", reverts=True)

    @action()
    def export(self, to: Path = Path("out.md"), more: list[Path] | None = None) -> str:
        return f"{to} {more} in {self.project}"

    @action("query")
    def where(self, to: Path) -> str:
        return str(to)

    @action()
    def fail(self, text: str = "") -> None:
        """Fails after it was answered, or no longer."""

        def change() -> None:
            self.notes.clear()
            if text:
                raise Fault(text)

        self.post(change)

    @action()
    def ring(self) -> None:
        self.due = time.time()

    def next_wake(self) -> float | None:
        return self.due

    def on_wake(self) -> None:
        self.rung.write_text(str(int(self.rung.read_text() or 0) + 1))
        if self.rung.read_text() == "1":
            raise ValueError("not yet")
        self.due = None

    @property
    def rung(self) -> Path:
        return self.project / "rung"

    @action()
    def spin(self) -> None:
        """Fails on a thread of its own."""
        threading.Thread(target=lambda: 1 // 0).start()

    def load(self) -> None:
        self.notes = [Note(f"f{n}", text) for n, text in enumerate(self.saved())]

    def saved(self) -> list[str]:
        file = self.project / "notes.json"
        return list(json.loads(file.read_text())) if file.exists() else []

    def opened(self, opening: Opening) -> None:
        self.watch(self.project / "notes.json", self.load)

    def view(self, view: View) -> None:
        view.title = f"{len(self.notes)} notes"
        for each in self.notes:
            view.line(each)


if __name__ == "__main__":
    run(Notes)
