/** A list in which each reader turns pages for itself, and changes can be taken back. */

import { action, Done, int, makeAgain, newKey, noChanges, optional, pageOf, pages, positionOf } from "../src/index.ts";
import { recordChange, run, str, takeBack, turnPage } from "../src/index.ts";
import type { Pages, Thing, Undo } from "../src/index.ts";

interface Lines {
  lines: Thing[];
  pages: Pages;
  undo: Undo;
}

const add = action({
  params: { text: str() },
  run(state: Lines, { text }) {
    const change = recordChange(state, `add ${text}`);
    state.lines.push({ key: newKey(), type: "line", label: text });
    return new Done("added").undoneBy(undo, { change });
  },
});

const undo = action({
  params: { change: optional(int()) },
  run(state: Lines, { change }): Done {
    const undone = takeBack(state, change);
    return new Done(`undid ${undone.what}`, { reverts: true }).undoneBy(redo, { change: undone.number });
  },
});

const redo = action({
  params: { change: optional(int()) },
  run(state: Lines, { change }): Done {
    const redone = makeAgain(state, change);
    return new Done(`redid ${redone.what}`).undoneBy(undo, { change: redone.number });
  },
});

const turn = action({
  params: { pages: int().default(1) },
  run: (state: Lines, { pages }, { reader }) => turnPage(state.pages, state.lines, reader, pages),
});

run<Lines>({
  perReader: true,
  state: () => ({ lines: [], pages: pages(2), undo: noChanges() }),
  actions: { add, undo, redo, turn },
  view({ lines, pages }, view) {
    view.title = `${lines.length} lines`;
    view.position = positionOf(pages, lines, view.reader);
    for (const each of pageOf(pages, lines, view.reader)) view.line(each);
  },
  hidden: ({ lines, pages }, thing, reader) => (pageOf(pages, lines, reader).includes(thing) ? undefined : "lines.turn()"),
});
