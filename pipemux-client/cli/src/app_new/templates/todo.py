#!/usr/bin/env python3
"""A to-do list for PipeMux: fields are the state, methods are the actions."""

from dataclasses import dataclass, field

from pipemux import App, Done, Thing, View, action, link, new_key, run


@dataclass
class Item(Thing):
    """A thing has a key, which is never used again, and the label that is shown."""


@dataclass
class Todo(App):
    items: list[Item] = field(default_factory=list)

    @action(prominence="featured")
    def add(self, text: str) -> Done:
        """Adds an item. @param text What is to be done."""
        self.items.append(Item(new_key(), text))
        return Done(self.brief())

    @action()
    def edit(self, item: Item, text: str) -> str:
        """Changes the text of an item."""
        item.label = text
        return text

    @action()
    def done(self, item: Item) -> str:
        """Removes an item that is done."""
        self.items.remove(item)
        return self.brief()

    def brief(self) -> str:
        return f"{len(self.items)} to do"

    def view(self, view: View) -> None:
        view.title = self.brief()
        for item in self.items:
            view.line("- ", item, " ", link("done", self.done, item))


if __name__ == "__main__":
    run(Todo)
