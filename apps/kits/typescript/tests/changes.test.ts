/** Changes that are taken back beside those of others, and laws of differences. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { chance, mutated, value } from "./values.ts";
import { apply, difference, Elsewhere } from "../src/difference.ts";
import { trackChanges } from "../src/helpers.ts";
import { Fault, makeAgain, noChanges, recordChange, sealChange, takeBack } from "../src/index.ts";

const lines = () => ({ lines: ["a", "b"], undo: noChanges() });
type Lines = ReturnType<typeof lines>;

/** Changes a line as an action does. */
function edit(state: Lines, index: number, text: string): void {
  recordChange(state, `edit ${index}`);
  state.lines[index] = text;
  sealChange(state);
}

test("what others change stays when a change is taken back", () => {
  const state = lines();
  edit(state, 0, "mine");
  state.lines = ["mine", "theirs", "theirs, too"];
  takeBack(state);
  assert.deepEqual(state.lines, ["a", "theirs", "theirs, too"]);
  makeAgain(state);
  assert.deepEqual(state.lines, ["mine", "theirs", "theirs, too"]);
});

test("change that others changed again isn't taken back", () => {
  const state = lines();
  edit(state, 0, "mine");
  state.lines[0] = "theirs";
  const refusal = (error: unknown) => error instanceof Fault && /lines was changed since/.test(error.message);
  assert.throws(() => takeBack(state), refusal);
  assert.deepEqual([state.lines, state.undo.past.length], [["theirs", "b"], 1]);
});

test("changes are bounded in number and size, and the newest is kept", () => {
  const state = lines();
  for (let n = 0; n < 60; n += 1) edit(state, 0, `${n}`);
  assert.equal(state.undo.past.length, 50);
  state.lines[1] = "x".repeat(100_000);
  assert.ok(JSON.stringify(state.undo).length < 10_000);
  edit(state, 1, "y".repeat(700_000));
  edit(state, 1, "z".repeat(700_000));
  assert.deepEqual(state.undo.past.map(({ what }) => what), ["edit 1"]);
  takeBack(state);
  assert.equal(state.lines[1]?.slice(0, 2), "yy");
});

test("changes are taken back beside those of others", () => {
  const next = chance(7);
  for (let n = 0; n < 300; n += 1) {
    let state = { lines: "abcdef".split("").map((key) => ({ key, label: "0" })), undo: noChanges() };
    const edited: string[] = [];
    const others = new Map(state.lines.map(({ key, label }) => [key, label]));
    // Actions edit labels; others edit the lines' order, remove lines and add some.
    for (let n = next(12); n > 0 && state.lines.length > 1; n -= 1) {
      const [at, choice] = [next(state.lines.length), next(4)];
      const line = state.lines[at]!;
      if (choice < 2 && line.key.length === 1) {
        edited.push(line.key);
        recordChange(state, "edit");
        line.label = `${n}`;
        sealChange(state);
      } else if (choice === 2 && !edited.includes(line.key)) {
        state.lines.splice(at, 1);
        others.delete(line.key);
      } else if (choice === 2) {
        others.set(`new${n}`, "new");
        state.lines.splice(at, 0, { key: `new${n}`, label: "new" });
      } else state.lines.splice(next(state.lines.length), 0, ...state.lines.splice(at, 1));
      sealChange(state);
      // As an app that was saved and started again.
      if (next(3) > 0) continue;
      state = JSON.parse(JSON.stringify(state));
      trackChanges(state);
    }
    const after = structuredClone(state.lines);
    for (const _ of edited) takeBack(state);
    assert.deepEqual(new Map(state.lines.map(({ key, label }) => [key, label])), others);
    assert.deepEqual(state.lines.map(({ key }) => key), after.map(({ key }) => key));
    for (const _ of edited) makeAgain(state);
    assert.deepEqual(state.lines, after);
  }
});

test("states of earlier releases are no changes", () => {
  const state = { ...lines(), undo: { past: [{ number: 1, what: "x", state: "{}" }], future: [], last: 1 } };
  assert.throws(() => takeBack(state as any), /there is nothing to undo/);
});

test("edits make the other value, and back", () => {
  const next = chance(1);
  for (let n = 0; n < 3000; n += 1) {
    const one = { x: value(next, 3), y: value(next, 3) };
    const other = { x: mutated(next, one.x), y: mutated(next, one.y) };
    const edits = JSON.parse(JSON.stringify(difference(one, other)));
    const made = JSON.parse(JSON.stringify(one));
    apply(made, edits, "forwards");
    assert.equal(JSON.stringify(made), JSON.stringify(other));
    apply(made, edits, "backwards");
    assert.equal(JSON.stringify(made), JSON.stringify(one));
  }
});

test("edits of other values are refused, or made in their places", () => {
  const next = chance(2);
  for (let n = 0; n < 2000; n += 1) {
    const one = value(next, 3);
    const edits = difference([one], [mutated(next, one)]);
    try {
      apply([value(next, 3)], edits, next(2) ? "forwards" : "backwards");
    } catch (error) {
      assert.ok(error instanceof Elsewhere, `${error}`);
    }
  }
});
