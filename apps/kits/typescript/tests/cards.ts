/** An app with records, a form and secrets; the tests drive it. */

import { action, list, oneOf, record, run, str } from "../src/index.ts";

interface Board {
  cards: { title: string; column: "todo" | "done" }[];
}

const card = { title: str().doc("What it is about."), column: oneOf("todo", "done").default("todo") };

const plan = action({
  params: { cards: list(record(card)) },
  run(board: Board, { cards }) {
    board.cards.push(...cards);
    return `${cards.length} planned`;
  },
});

const create = action({
  run(board: Board, _, context) {
    board.cards.push(context.form("which card?", card));
  },
});

const unlock = action({
  params: { key: str().secret() },
  run(_: Board, { key }, context) {
    const again = context.ask("once more?", { secret: true });
    context.confirm("sure?");
    return `${key.length} and ${again.length} characters`;
  },
});

run<Board>({
  state: () => ({ cards: [] }),
  actions: { plan, new: create, unlock },
  view: ({ cards }, view) => void view.table(["Title", "Column"], cards.map((each) => [each.title, each.column])),
});
