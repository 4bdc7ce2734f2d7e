/** An author's mistakes are told with their place, and the codec is held to the protocol. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { encodeFrame, pack, unpack } from "../src/codec.ts";
import { action, int, link, Mistake, optional, prototypes, str, type Action } from "../src/index.ts";

function mistake(actions: Record<string, Action<any, any>>, state: unknown = {}): string {
  try {
    prototypes({ state: () => state, actions, view() {} });
  } catch (error) {
    assert.ok(error instanceof Mistake, String(error));
    return error.message;
  }
  return assert.fail("there was no mistake");
}

test("names and defaults are checked, with the line of the action", () => {
  const odd = action({ params: { "a-b": str() }, run() {} });
  const half = action({ params: { size: int().default(1.5) }, run() {} });
  const lines = mistake({ "do-it": odd, half }).split("\n");
  assert.match(lines[0]!, /^mistakes.test.js:\d+: do-it: "do-it" is no name: letters, digits, _$/);
  assert.match(lines[1]!, /^mistakes.test.js:\d+: do-it: "a-b" is no name/);
  assert.match(lines[2]!, /^mistakes.test.js:\d+: half: the default of size has another type$/);
});

test("input takes a line, and there is one", () => {
  const nothing = action({ input: true, run() {} });
  const number = action({ input: true, params: { count: int() }, run() {} });
  const more = action({ input: true, params: { text: str(), count: int() }, run() {} });
  const told = "input: its first parameter takes a str, and each other one has a default";
  assert.equal(mistake({ nothing, number, more }).split(told).length, 4);
  const say = action({ input: true, params: { text: optional(str()), count: int().default(1) }, run() {} });
  const note = action({ input: true, params: { text: str(), by: optional(str()) }, run() {} });
  assert.equal(mistake({ say, note }), "one input at most, not say, note");
});

test("state must be storable", () => {
  const told = ": keep texts, numbers, true, false, null, lists and plain objects";
  assert.equal(mistake({}, { at: [new Date()] }), `state.at.0 is a Date, which can't be saved${told}`);
  assert.equal(mistake({}, { size: NaN }), `state.size is NaN, which can't be saved${told}`);
});

test("link must fit its action", () => {
  const go = action({ params: { to: str() }, run() {} });
  assert.throws(() => link("x", go, { to: "a" }), /its action isn't among the app's actions/);
  prototypes({ state: () => ({}), actions: { go }, view() {} });
  // @ts-expect-error: the argument is missing.
  assert.throws(() => link("x", go, {}), /link "x": go needs to/);
  // @ts-expect-error: there is no such parameter.
  assert.throws(() => link("x", go, { to: "a", from: "b" }), /go has no parameter from/);
});

test("values come back", () => {
  for (const value of [null, true, 0, 127, 128, -1, -(2n ** 63n), 2n ** 64n - 1n, 1.5, "ü", Buffer.of(0)]) {
    assert.deepEqual(unpack(pack(value))[0], value);
  }
  const nested = { a: [1, { b: [] }], c: "x".repeat(70_000) };
  assert.deepEqual(unpack(pack(nested)), [nested, pack(nested).length]);
});

test("short forms are read", () => {
  const short = Buffer.from("83a161cd01f4a162c4020102a16393d0ffe07f", "hex");
  assert.deepEqual(unpack(short)[0], { a: 500, b: Buffer.of(1, 2), c: [-1, -32, 127] });
  for (const [hex, value] of [["d1ff00", -256], ["d9026869", "hi"], ["ca3fc00000", 1.5]] as const) {
    assert.equal(unpack(Buffer.from(hex, "hex"))[0], value);
  }
});

test("frame begins with its length", () => {
  assert.equal(encodeFrame([0, 5, 5, 7, 0], Buffer.of(0x80)).toString("hex"), "0000000795000505070080");
});
