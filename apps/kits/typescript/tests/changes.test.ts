/** Changes that are taken back beside those of others, and laws of differences. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { apply, difference, Elsewhere } from "../src/difference.ts";
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
  const refusal = (error: unknown) => error instanceof Fault && /what it changed was changed again/.test(error.message);
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

test("states of earlier releases are no changes", () => {
  const state = { ...lines(), undo: { past: [{ number: 1, what: "x", state: "{}" }], future: [], last: 1 } };
  assert.throws(() => takeBack(state), /there is nothing to undo/);
});

/** By chance, but the same each time (mulberry32). */
function chance(seed: number): (below: number) => number {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

function value(next: (below: number) => number, depth: number): unknown {
  const choice = next(depth > 0 ? 8 : 5);
  if (choice < 5) return [null, true, 1, 0, 1.5, "", "é"][next(7)];
  const inner = Array.from({ length: next(5) }, () => value(next, depth - 1));
  if (choice < 7) return inner;
  // A key such as __proto__ is a key like any other.
  return Object.fromEntries(inner.map((each) => [["a", "b", "c", "__proto__", "constructor"][next(5)], each]));
}

function mutated(next: (below: number) => number, of: unknown): unknown {
  if (next(7) === 0 || typeof of !== "object" || of === null) return value(next, 2);
  const some = (each: unknown) => (next(3) === 0 ? mutated(next, each) : each);
  if (Array.isArray(of)) {
    const items = of.map(some);
    if (next(3) === 0) items.splice(next(items.length + 1), 0, value(next, 1));
    return items;
  }
  const entries = Object.entries(of).map(([key, each]) => [key, some(each)]);
  return Object.fromEntries(next(3) === 0 ? entries.reverse().slice(next(entries.length + 1)) : entries);
}

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
