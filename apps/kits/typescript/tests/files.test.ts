/** Drives an app with watched files, images and changes that fail without a request. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { event, method, Refused, SampleApp } from "./wire.ts";
import type { Body } from "../src/codec.ts";
import { Fault, Image } from "../src/index.ts";
import { IMAGE_BYTES_MAX } from "../src/media.ts";

let folder: string;
let file: string;
let state: string;
let cwd: string;
let app: SampleApp;

const start = (more: Body = {}) => SampleApp.start(state, { cwd, ...more }, "files.js");

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "kit-"));
  [file, state, cwd] = ["project/notes.json", "state", "project/a/b"].map((name) => join(folder, name)) as any;
  for (const name of [".git", "a/b", "../state"]) mkdirSync(join(folder, "project", name), { recursive: true });
  app = await start();
});
afterEach(() => {
  app.kill();
  rmSync(folder, { recursive: true });
});

const objects = async (): Promise<Body[]> => (await app.view()).content.flatMap((each: Body) => each.object ?? []);
const shown = async () => (await app.view()).content.map((each: Body) => each.text ?? "").join("");
const refusal = (message: RegExp) => (error: unknown) => error instanceof Refused && message.test(error.message);

/** The labels that are shown once something was told. */
async function told(): Promise<string> {
  await app.event(event.changed);
  return (await objects()).map(({ label }) => label).join("");
}

test("what other programs do with a file is told", async () => {
  writeFileSync(file, '["a"]');
  assert.equal(await told(), "a");
  // As editors do: a new file takes the name.
  writeFileSync(`${file}~`, '["b"]');
  renameSync(`${file}~`, file);
  assert.equal(await told(), "b");
  // The same length, and the same second.
  const { atime, mtime } = statSync(file);
  writeFileSync(file, '["c"]');
  utimesSync(file, atime, mtime);
  assert.equal(await told(), "c");
  unlinkSync(file);
  assert.equal(await told(), "");
  writeFileSync(file, '["d"]');
  assert.equal(await told(), "d");
});

test("many writes are told in few changes", async () => {
  const { version } = await app.view();
  for (let n = 0; n < 500; n += 1) writeFileSync(file, `["${n}"]`);
  while ((await told()) !== "499");
  assert.ok((await app.view()).version - version < 5);
});

test("file that changed while the app slept is read again", async () => {
  const { version } = await app.ask(method.save, {});
  await app.close();
  app = await start({ again: true, woken: version });
  assert.equal(app.opened.resumed, version);
  await app.close();
  writeFileSync(file, '["new"]');
  app = await start({ again: true, woken: version });
  assert.equal(app.opened.resumed, version);
  assert.equal(await told(), "new");
  assert.equal((await app.view()).version, version + 1);
});

test("window says that a file can't be read until it can", async () => {
  writeFileSync(file, '["a"]');
  assert.equal(await told(), "a");
  writeFileSync(file, "[");
  assert.equal(await told(), "a");
  assert.match(await shown(), /^⚠ SyntaxError: .* \(files.js:\d+\)\n/);
  assert.match((await app.event(event.notify)).text, /^⚠ SyntaxError/);
  const { version } = await app.ask(method.save, {});
  await app.close();
  app = await start({ again: true, woken: version });
  assert.match(await shown(), /^⚠ SyntaxError/);
  await app.close();
  writeFileSync(file, '["a"]');
  app = await start({ again: true, woken: version });
  assert.deepEqual([await told(), await shown()], ["a", "\n"]);
});

test("app with an unreadable file opens and says so", async () => {
  app.kill();
  writeFileSync(file, "[");
  app = await start();
  assert.match(await shown(), /^⚠ SyntaxError/);
  assert.match((await app.event(event.notify)).text, /^⚠ SyntaxError/);
  await assert.rejects(app.do("add", { text: "c" }), refusal(/SyntaxError/));
  writeFileSync(file, '["a"]');
  assert.deepEqual([await told(), await shown()], ["a", "\n"]);
});

test("action acts on what the file has", async () => {
  writeFileSync(file, '["a"]');
  await app.do("add", { text: "b" });
  assert.deepEqual((await objects()).map(({ label }) => label), ["a", "b"]);
  writeFileSync(file, "[");
  for (let n = 0; n < 2; n += 1) await assert.rejects(app.do("add", { text: "c" }), refusal(/SyntaxError: .* \(files.js:/));
  assert.equal((await app.do("where", { to: "x.md" })).content[0].text, "/w/x.md");
  writeFileSync(file, '["d"]');
  await app.do("undo");
  assert.deepEqual((await objects()).map(({ label }) => label), ["d"]);
});

test("failed change without a request is told once and changes nothing", async () => {
  await app.do("add", { text: "a" });
  for (let n = 0; n < 3; n += 1) await app.do("fail", { text: "no\nmore" });
  assert.deepEqual(await app.event(event.notify), { text: "⚠ no more" });
  assert.equal(await told(), "a");
  assert.equal(await shown(), "⚠ no more\n\n");
  const { version } = await app.ask(method.save, {});
  await app.close();
  app = await start({ again: true, woken: version });
  assert.match(await shown(), /^⚠ no more\n/);
  await app.do("fail");
  await app.event(event.changed);
  assert.equal(await shown(), "");
});

test("timer that failed is tried again later", async () => {
  const rung = join(folder, "project/rung");
  writeFileSync(rung, "");
  await app.do("ring");
  assert.match((await app.event(event.notify)).text, /^⚠ RangeError: not yet/);
  await told();
  assert.match(await shown(), /^⚠ RangeError: not yet/);
  await told();
  assert.deepEqual([await shown(), readFileSync(rung, "utf8")], ["", "2"]);
});

test("paths are absolute and the project is known", async () => {
  const project = join(folder, "project");
  assert.equal((await app.do("export", { more: ["x", "/y"] })).brief, `/w/out.md /w/x,/y in ${project}`);
  app.kill();
  app = await start({ cwd: folder });
  assert.match((await app.do("export")).brief, new RegExp(` in ${folder}$`));
});

test("image is shown with its size and read", async () => {
  const image = join(folder, "a.png");
  writeFileSync(image, png);
  await app.do("add", { text: "a", image });
  const [{ key, rev, type, media }] = (await objects()) as [Body];
  assert.deepEqual(media, { type: "image/png", bytes: png.length, width: 640, height: 480 });
  const chunk = await app.ask(method.read, { key, rev, type, offset: 0, max: 9999 });
  assert.deepEqual([chunk.data, chunk.text], [png, false]);
  unlinkSync(image);
  assert.equal((await objects())[0]!.media, undefined);
  await assert.rejects(app.ask(method.read, { key, rev, type, offset: 0, max: 9999 }), refusal(/ENOENT/));
});

test("key is never given again", async () => {
  await app.do("add", { text: "a" });
  const [{ key }] = (await objects()) as [Body];
  await app.do("undo");
  await app.do("add", { text: "b" });
  assert.notEqual((await objects())[0]!.key, key);
  await assert.rejects(app.do("reuse", { key }), refusal(/was another thing's: give each newKey\(\)/));
  assert.equal((await objects()).length, 1);
});

const png = Buffer.from("89504e470d0a1a0a0000000d4948445200000280000001e00806000000", "hex");

test("types and sizes of images are found, and too many bytes refused", () => {
  const jpeg = Buffer.from("ffd8ffe000046162ffc000110800030004", "hex");
  for (const [data, type, width, height] of [
    [png, "image/png", 640, 480],
    [Buffer.from("47494638396105000600", "hex"), "image/gif", 5, 6],
    [jpeg, "image/jpeg", 4, 3],
    [jpeg.subarray(0, 9), "image/jpeg"],
    [Buffer.from("RIFF\0\0\0\0WEBPVP8 "), "image/webp"],
    [png.subarray(0, 9), "image/png"],
    [Buffer.of(), "application/octet-stream"],
  ] as const) {
    const slot = new Image(data).slot();
    assert.deepEqual([slot?.type, slot?.width, slot?.height], [type, width, height]);
  }
  assert.equal(new Image(Buffer.of(), "audio/x").slot()?.type, "audio/x");
  // What the bytes are counts, not what they are called.
  assert.equal(new Image(png, "image/webp").slot()?.type, "image/png");
  assert.throws(() => new Image(Buffer.alloc(IMAGE_BYTES_MAX + 1)).read(), Fault);
});
