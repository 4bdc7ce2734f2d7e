"""An app with records, a form and secrets; the tests drive it."""

from dataclasses import dataclass, field
from typing import Literal

from pipemux import App, Secret, View, action, run


@dataclass
class Card:
    title: str = field(metadata={"doc": "What it is about."})
    column: Literal["todo", "done"] = "todo"


@dataclass
class Board(App):
    cards: list[Card] = field(default_factory=list)

    @action()
    def plan(self, cards: list[Card]) -> str:
        self.cards += cards
        return f"{len(cards)} planned"

    @action()
    def new(self) -> None:
        self.cards.append(self.form("which card?", Card))

    @action()
    def unlock(self, key: Secret) -> str:
        again = self.ask("once more?", secret=True)
        self.confirm("sure?")
        return f"{len(key)} and {len(again)} characters"

    def view(self, view: View) -> None:
        view.table(
            ["Title", "Column"], [(each.title, each.column) for each in self.cards]
        )


if __name__ == "__main__":
    run(Board)
