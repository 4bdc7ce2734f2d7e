/** Each example of the README is an app that compiles and works. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { event, SampleApp } from "./wire.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const found = (paths: string[]) => paths.map((each) => resolve(each)).find(existsSync);
const readme = found([join(here, "../../README.md"), "apps/kits/typescript/README.md"]);
const modules = found(["node_modules/typescript", "target/tools/node_modules/typescript"]);
const skip = readme && modules ? false : "there is no README or no compiler";
let folder: string;

before(() => {
  if (!readme || !modules) return;
  folder = mkdtempSync(join(tmpdir(), "kit-"));
  const kit = join(folder, "node_modules/pipemux");
  mkdirSync(kit, { recursive: true });
  const index = JSON.stringify(join(here, "../src/index.js"));
  for (const name of ["index.js", "index.d.ts"]) writeFileSync(join(kit, name), `export * from ${index};\n`);
  const entry = { types: "./index.d.ts", default: "./index.js" };
  writeFileSync(join(kit, "package.json"), JSON.stringify({ type: "module", exports: { ".": entry } }));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const examples = [...readFileSync(readme, "utf8").matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code!);
  assert.equal(examples.length, 2);
  examples.forEach((code, n) => writeFileSync(join(folder, `${n}.ts`), code));
  const options = ["--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", "--types", "node"];
  const types = ["--typeRoots", join(modules, "../@types")];
  const args = [join(modules, "bin/tsc"), ...options, ...types, "0.ts", "1.ts"];
  const compiled = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  assert.equal(compiled.status, 0, compiled.stdout);
});
after(() => {
  if (folder) rmSync(folder, { recursive: true });
});

const start = (name: string) => SampleApp.start(folder, { cwd: folder }, join(folder, name));

test("list of things", { skip }, async () => {
  const todo = await start("0.js");
  await todo.do("add", { text: "a" });
  await todo.do("add", { text: "b" });
  assert.equal((await todo.do("done", { item: (await todo.refs())[0] })).brief, "1 left");
  assert.equal((await todo.view()).title, "1 to do");
  todo.kill();
});

test("manifest is printed with the program's name", { skip }, () => {
  writeFileSync(join(folder, "todo.js"), readFileSync(join(folder, "0.js")));
  const { stderr } = spawnSync(process.execPath, ["todo.js"], { cwd: folder, encoding: "utf8" });
  assert.match(stderr, /pipemux open todo\nid = "todo"\ncommand = "/);
});

test("cards in a file that others write", { skip }, async () => {
  rmSync(join(folder, "state.json"), { force: true });
  const [board, file] = [await start("1.js"), join(folder, "board.json")];
  await board.do("add", { title: "mine" });
  const cards = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify([{ key: "x", label: "theirs", column: "todo" }, ...cards]));
  await board.event(event.changed);
  assert.equal((await board.view()).title, "2 cards");
  assert.equal((await board.do("undo")).brief, "took back add mine");
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")).map(({ label }: any) => label), ["theirs"]);
  board.kill();
});
