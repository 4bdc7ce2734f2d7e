"""A to-do list that uses all parts of the kit; the tests drive it."""

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pipemux import (
    App,
    Done,
    Fault,
    Job,
    Opening,
    Thing,
    View,
    action,
    link,
    run,
)


@dataclass
class Item(Thing):
    folded: bool = False


@dataclass
class Todo(App):
    items: list[Item] = field(default_factory=list)
    next: int = 1
    due: float | None = None
    rung: int = 0

    @action(prominence="featured", input=True)
    def add(self, text: str) -> str:
        """Adds an item.

        @param text What is to be done.
        """
        self.items.append(Item(f"i{self.next}", text))
        self.next += 1
        return f"{len(self.items)} to do"

    @action()
    def edit(self, item: Item, text: str) -> None:
        item.label = text

    @action()
    def done(self, items: list[Item]) -> Done:
        self.items = [each for each in self.items if each not in items]
        return Done(f"{len(items)} done").link("add it again", self.add, items[0].label)

    @action()
    def fold(self, item: Item) -> None:
        item.folded = True

    @action()
    def fail(self, text: str) -> None:
        """Adds an item and then fails."""
        self.add(text)
        raise ValueError(f"no {text}")

    @action("destructive", previews=True)
    def clear(self) -> str:
        self.confirm(f"{len(self.items)} items", self.items)
        self.items.clear()
        return "all gone"

    @action()
    def rename(self) -> str:
        """Asks twice."""
        item = self.pick("which one?", self.items)
        self.rung += 1
        item.label = self.ask(f"a new name for {item.label}?")
        return f"now {item.label}"

    @action()
    def prune(self) -> str:
        gone = self.pick_many("which ones?", self.items)
        self.items = [each for each in self.items if each not in gone]
        return f"{len(gone)} gone"

    @action("query", returns=int)
    def count(self, of: str = "") -> Done:
        """Counts the items with a text."""
        found = [each for each in self.items if of in each.label]
        return Done(value=len(found)).show(f"{len(found)} found: ", *found)

    @action()
    def spoil(self) -> str:
        """Leaves a state that can't be saved."""
        self.rung = 1.5  # type: ignore[assignment]
        return "spoilt"

    @action("query")
    def cheat(self) -> str:
        self.items.clear()
        return "nothing to see"

    @action()
    def remind(self, seconds: float) -> str:
        self.due = time.time() + seconds
        return "set"

    @action()
    def types(
        self,
        file: Path,
        how: Literal["a", "b"] = "a",
        note: str | None = None,
        counts: list[int] | None = None,
    ) -> str:
        return f"{file} {how} {note} {counts} {self.request.reader}"

    @action()
    def work(self, steps: int = 3) -> Job[int]:
        """Starts a job."""

        def steps_done(job: Job[int]) -> int:
            for step in range(steps):
                job.progress(step, f"step {step}")
                job.output(f"did {step}\n")
            if steps > 100:
                raise Fault("too much")
            while steps == 0 and not job.cancelled:
                time.sleep(0.01)
            return steps

        return Job("work", steps_done, self.worked, total=steps)

    def worked(self, steps: int) -> str:
        self.rung += steps
        return f"{steps} steps"

    @action()
    def later(self) -> str:
        """Changes from another thread."""
        change = threading.Thread(target=lambda: self.post(lambda: self.add("later")))
        change.start()
        self.notify("soon there is one more")
        return "begun"

    def opened(self, opening: Opening) -> list[str]:
        return [f"opened with {' '.join(opening.args)}"] if opening.args else []

    def view(self, view: View) -> None:
        view.title = f"{len(self.items)} to do · rung {self.rung}"
        for each in self.items:
            if not each.folded:
                view.line("- ", each, " ", link("done", self.done, [each]))

    def hidden(self, thing: Thing) -> str | None:
        return "it is folded" if isinstance(thing, Item) and thing.folded else None

    def gone(self, key: str) -> str | None:
        return "it was done" if key in {f"i{n}" for n in range(self.next)} else None

    def read(self, thing: Thing) -> str:
        return f"to do: {thing.label}"

    def next_wake(self) -> float | None:
        return self.due

    def on_wake(self) -> None:
        self.due = None
        self.rung += 1
        self.notify("it is time")


if __name__ == "__main__":
    run(Todo)
