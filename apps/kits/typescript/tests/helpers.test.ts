/** Drives an app with pages and undo over its connection. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { method, Refused, SampleApp } from "./wire.ts";

let folder: string;
let app: SampleApp;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "kit-"));
  app = await SampleApp.start(folder, {}, "pages.js");
  for (const text of ["a", "b", "c", "d", "e"]) await app.do("add", { text });
});
afterEach(() => {
  app.kill();
  rmSync(folder, { recursive: true });
});

const page = (reader: string) => app.ask(method.project, { window: 1, lod: "full", budget: 900, reader });
const refusal = (message: RegExp) => (error: unknown) => error instanceof Refused && message.test(error.message);

test("one reader's page is not everybody's", async () => {
  assert.deepEqual(app.hello.features, ["value-files", "per-reader"]);
  const key = (await app.refs())[0]!.key;
  await app.do("turn", { pages: 2 });
  assert.equal((await page("me")).position, "5-5 of 5");
  assert.equal((await page("bob")).position, "1-2 of 5");
  const places = async (reader: string) => (await app.ask(method.locate, { keys: [key], reader })).places;
  assert.deepEqual(await places("me"), [{ hidden: "lines.turn()" }]);
  assert.deepEqual(await places("bob"), ["shown"]);
  await assert.rejects(app.do("turn"), refusal(/there is no such page/));
  // The list became shorter: the last page is shown.
  for (let n = 0; n < 3; n += 1) await app.do("undo");
  assert.equal((await page("me")).position, "1-2 of 2");
});

test("changes are taken back and made again, also after a sleep", async () => {
  const { links } = await app.do("add", { text: "f" });
  assert.deepEqual([links[0].label, links[0].action, links[0].lasting], ["undo", "undo", true]);
  const undone = await app.do("undo", { change: 6 });
  assert.deepEqual([undone.brief, undone.reverts, undone.links[0].label], ["undid add f", true, "redo"]);
  assert.equal((await app.do("redo", { change: 6 })).brief, "redid add f");
  await assert.rejects(app.do("undo", { change: 2 }), refusal(/the next one to undo is 6, add f/));
  await assert.rejects(app.do("redo"), refusal(/there is nothing to redo/));
  const { version } = await app.ask(method.save, {});
  app.kill();
  app = await SampleApp.start(folder, { woken: version }, "pages.js");
  assert.equal((await app.do("undo")).brief, "undid add f");
  assert.equal((await page("me")).title, "5 lines");
});
