#!/usr/bin/env node
/** A to-do list for PipeMux: a plain object is the state, functions are the actions. */

import { action, link, run, str, thing, type Thing } from "./pipemux/index.ts";
import { add, brief, edit, empty, finish, type Todo } from "./model.ts";

const addItem = action({
  doc: "Adds an item.",
  prominence: "featured",
  params: { text: str().doc("What is to be done.") },
  run(todo: Todo, { text }) { add(todo, text); return brief(todo); },
});

const editItem = action({
  doc: "Changes the text of an item.",
  params: { item: thing<Thing>("item"), text: str() },
  run(_: Todo, { item, text }) { edit(item, text); return text; },
});

const doneItem = action({
  doc: "Removes an item that is done.",
  params: { item: thing<Thing>("item") },
  run(todo: Todo, { item }) { finish(todo, item); return brief(todo); },
});

run<Todo>({
  state: empty,
  actions: { add: addItem, edit: editItem, done: doneItem },
  view(todo, view) {
    view.title = brief(todo);
    for (const item of todo.items) view.line`- ${item} ${link("done", doneItem, { item })}`;
  },
});
