/** Tests of the model; `pipemux app check` tests the rest. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { add, empty, finish } from "./model.ts";

test("a done item is gone", () => {
  const todo = empty();
  add(todo, "buy milk");
  add(todo, "sleep");
  const [first] = todo.items;
  if (first) finish(todo, first);
  assert.deepEqual(todo.items.map((item) => item.label), ["sleep"]);
});
