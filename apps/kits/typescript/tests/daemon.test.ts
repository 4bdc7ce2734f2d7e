/** Runs the sample app under a real daemon, if `pipemux` is built or installed. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const path = process.env.PATH ?? "";
const folders = ["target/debug", "../../../target/debug", ...path.split(delimiter)];
const pipemux = process.env.PIPEMUX ?? folders.map((each) => join(each, "pipemux")).find(existsSync);

test("whole session", { skip: pipemux ? false : "pipemux is neither built nor installed" }, () => {
  const home = mkdtempSync(join(tmpdir(), "pmx-"));
  const apps = join(home, ".config/pipemux/apps");
  mkdirSync(apps, { recursive: true });
  const program = fileURLToPath(new URL("./sample.js", import.meta.url));
  // The kit isn't installed, so the sandbox doesn't know that the app needs it.
  const reads = `read = ["${resolve(program, "../..")}"]`;
  const manifest = `id = "todo"\ncommand = "${process.execPath}"\nargs = ["${program}"]\n${reads}\n`;
  writeFileSync(join(apps, "todo.toml"), manifest);
  const run = (exit: number, ...args: string[]): string => {
    const env = { HOME: home, XDG_RUNTIME_DIR: home, PATH: path };
    // The path may be relative to where the tests run.
    const done = spawnSync(resolve(pipemux!), args, { env, cwd: home, encoding: "utf8" });
    assert.equal(done.status, exit, `${done.stdout}${done.stderr}${done.error ?? ""}`);
    return done.stdout;
  };
  try {
    assert.match(run(0, "open", "todo"), /0 to do/);
    assert.match(run(0, "run", "add('milk'); add('bread')"), /2 to do/);
    assert.match(run(5, "run", "rename()"), /which one\?/);
    assert.match(run(5, "answer", "2"), /a new name for bread\?/);
    assert.match(run(0, "answer", "cake"), /now cake/);
    assert.match(run(0, "ask", "count('cake')"), /1 found: \[cake\]/);
    assert.match(run(1, "run", "fail('x')"), /RangeError: no x \(sample.js:/);
    assert.match(run(0, "run", "done(['milk'])"), /1 done/);
    assert.match(run(0, "view"), /1 to do · rung 1/);
  } finally {
    run(0, "down");
    rmSync(home, { recursive: true });
  }
});
