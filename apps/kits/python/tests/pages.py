"""A list in which each reader turns pages for itself, and changes can be taken back."""

from dataclasses import dataclass, field

from pipemux import App, Done, Pages, Thing, Undo, View, action, new_key, run


@dataclass
class Line(Thing):
    pass


@dataclass
class Lines(App):
    per_reader = True
    lines: list[Line] = field(default_factory=list)
    pages: Pages = field(default_factory=lambda: Pages(2))
    changes: Undo = field(default_factory=Undo)

    @action()
    def add(self, text: str) -> Done:
        change = self.changes.record(self, f"add {text}")
        self.lines.append(Line(new_key(), text))
        return Done("added").undone_by(self.undo, change)

    @action()
    def undo(self, change: int | None = None) -> Done:
        undone = self.changes.undo(self, change)
        done = Done(f"undid {undone.what}", reverts=True)
        return done.undone_by(self.redo, undone.number)

    @action()
    def redo(self, change: int | None = None) -> Done:
        redone = self.changes.redo(self, change)
        return Done(f"redid {redone.what}").undone_by(self.undo, redone.number)

    @action()
    def turn(self, pages: int = 1) -> str:
        return self.pages.turn(self.lines, self.request.reader, pages)

    def view(self, view: View) -> None:
        view.title = f"{len(self.lines)} lines"
        view.position = self.pages.position(self.lines, view.reader)
        for each in self.pages.page(self.lines, view.reader):
            view.line(each)

    def hidden(self, thing: Thing) -> str | None:
        page = self.pages.page(self.lines, self.request.reader)
        return None if thing in page else "lines.turn()"


if __name__ == "__main__":
    run(Lines)
