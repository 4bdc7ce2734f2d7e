/** Drives the sample app over its connection. */

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { event, method, Refused, SampleApp } from "./wire.ts";
import { pack, type Body } from "../src/codec.ts";

let folder: string;
let app: SampleApp;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "kit-"));
  app = await SampleApp.start(folder);
});
afterEach(() => {
  app.kill();
  rmSync(folder, { recursive: true });
});

async function refused(work: Promise<unknown>): Promise<Body> {
  const error = await work.then(
    () => assert.fail("it wasn't refused"),
    (error) => error,
  );
  assert.ok(error instanceof Refused, String(error));
  return error.fault;
}

async function addAll(...texts: string[]): Promise<void> {
  for (const text of texts) await app.do("add", { text });
}

test("signatures come from declarations", () => {
  const actions = Object.fromEntries(app.hello.prototypes.map((each: Body) => [each.name, each]));
  const params = Object.fromEntries(actions.types.params.map((each: Body) => [each.name, each]));
  assert.equal(actions.add.doc, "Adds an item.");
  assert.deepEqual(actions.add.params, [{ name: "text", type: "string", doc: "What is to be done." }]);
  assert.equal(actions.clear.risk, "destructive");
  const inputs = app.hello.prototypes.filter((each: Body) => each.input);
  assert.deepEqual(inputs.map((each: Body) => each.name), ["add"]);
  assert.equal(actions.count.returns, "int");
  assert.equal(params.file.path, true);
  assert.deepEqual(params.how, { name: "how", type: { union: ["a", "b"] }, default: "a" });
  assert.deepEqual(params.counts.type, { optional: { list: "int" } });
  assert.deepEqual(actions.done.params[0].type, { list: { anchor: "item" } });
});

test("arguments get the types of the signature", async () => {
  const done = await app.do("types", { file: "a.txt", how: "b", counts: [1, 2] });
  assert.equal(done.brief, "/w/a.txt b null [1,2] me");
  const fault = await refused(app.do("types", { file: 3 }));
  assert.deepEqual([fault.code, fault.message], ["usage", "file: expected string, not 3"]);
  await refused(app.do("types", { file: "a", how: "c" }));
  assert.equal((await refused(app.do("add"))).message, "text: expected string, not undefined");
});

test("each change raises the version by one", async () => {
  const { version: before } = await app.view();
  assert.equal((await app.do("add", { text: "a" })).version, before + 1);
  const view = await app.view();
  assert.deepEqual([view.version, view.title], [before + 1, "1 to do · rung 0"]);
  assert.equal((await app.do("count")).version, before + 1);
  assert.deepEqual(await app.view(before + 1), { version: before + 1, unchanged: true });
});

test("failed action changes nothing", async () => {
  await addAll("a");
  const view = await app.view();
  assert.match((await refused(app.do("fail", { text: "b" }))).message, /^RangeError: no b \(sample.js:\d+\)$/);
  assert.match((await refused(app.do("cheat"))).message, /a query changed the state/);
  assert.match((await refused(app.do("spoil"))).message, /state.rung is NaN, which can't be saved/);
  assert.deepEqual(await app.view(), view);
});

test("changed thing is stale except for the run that changed it", async () => {
  await addAll("a");
  const [item] = await app.refs();
  await app.invoke("edit", { item, text: "b" }, { run_id: "mine" });
  await app.invoke("edit", { item, text: "c" }, { run_id: "mine" });
  const stale = await refused(app.invoke("edit", { item, text: "d" }, { run_id: "other" }));
  assert.deepEqual([stale.code, stale.key], ["stale", "i1"]);
  await app.do("done", { items: await app.refs() });
  assert.equal((await refused(app.do("edit", { item, text: "x" }))).code, "not_found");
});

test("located things are shown, hidden or gone", async () => {
  await addAll("a", "b", "c");
  const [, second, third] = await app.refs();
  await app.do("fold", { item: second });
  await app.do("done", { items: [third] });
  const { places } = await app.ask(method.locate, { keys: ["i1", "i2", "i3", "i9"] });
  assert.deepEqual(places, ["shown", { hidden: "it is folded" }, { gone: "it was done" }, { gone: null }]);
});

test("value of a thing is read in chunks", async () => {
  await addAll("milk");
  const [ref] = await app.refs();
  const chunk = await app.ask(method.read, { ...ref, offset: 3, max: 5 });
  assert.deepEqual({ ...chunk, data: String(chunk.data) }, { data: "do: m", total: 11, text: true });
});

test("confirmed action shows what it affects", async () => {
  await addAll("a");
  const { needs } = await app.invoke("clear");
  assert.deepEqual([needs.question.kind, needs.question.options], ["confirm", [{ label: "a" }]]);
  await addAll("b");
  const answer = (token: Uint8Array) => ({ confirmed: true, resume: { token, choice: "yes" } });
  const again = await app.invoke("clear", {}, answer(needs.token));
  assert.equal(again.needs.question.options.length, 2, "another question is asked again");
  const { done } = await app.invoke("clear", {}, answer(again.needs.token));
  assert.equal(done.brief, "all gone");
});

test("action with two questions is run again with each answer", async () => {
  await addAll("a", "b");
  const { version } = await app.view();
  const first = (await app.invoke("rename")).needs;
  const picked = { token: first.token, choice: { picked: [2] } };
  const second = (await app.invoke("rename", {}, { resume: picked })).needs;
  assert.equal(second.question.text, "a new name for b?");
  assert.equal((await app.view()).version, version, "nothing happened yet");
  const named = { token: second.token, choice: { text: "c" } };
  const { done } = await app.invoke("rename", {}, { resume: named });
  assert.deepEqual([done.brief, done.version], ["now c", version + 1]);
  assert.match((await app.view()).title, /rung 1/);
});

test("several are picked or left out", async () => {
  await addAll("a", "b", "c");
  for (const [choice, brief] of [[{ all_but: [2] }, "2 gone"], [{ picked: [1] }, "1 gone"]] as const) {
    const { token } = (await app.invoke("prune")).needs;
    assert.equal((await app.invoke("prune", {}, { resume: { token, choice } })).done.brief, brief);
  }
});

test("records and forms have fields", async () => {
  app.kill();
  app = await SampleApp.start(folder, {}, "cards.js");
  const actions = Object.fromEntries(app.hello.prototypes.map((each: Body) => [each.name, each]));
  const title = { name: "title", type: "string", doc: "What it is about." };
  const column = { name: "column", type: { union: ["todo", "done"] }, default: "todo" };
  assert.deepEqual(actions.plan.params[0].type, { list: { record: [title, column] } });
  await app.do("plan", { cards: [{ title: "a" }, { title: "b", column: "done" }] });
  const { question, token } = (await app.invoke("new")).needs;
  assert.deepEqual([question.kind, question.fields], ["form", [title, column]]);
  const choice = { fields: { title: { value: pack("c") } } };
  await app.invoke("new", {}, { resume: { token, choice } });
  assert.match((await app.view()).content[0].text, /\| a \| todo \|\n\| b \| done \|\n\| c \| todo \|/);
});

test("secrets are marked", async () => {
  app.kill();
  app = await SampleApp.start(folder, {}, "cards.js");
  const { params } = app.hello.prototypes.find((each: Body) => each.name === "unlock");
  assert.equal(params[0].secret, true);
  const { question, token } = (await app.invoke("unlock", { key: "abc" })).needs;
  assert.equal(question.secret, true);
  const resume = { token, choice: { text: "geheim" } };
  const { needs } = await app.invoke("unlock", { key: "abc" }, { resume });
  assert.ok(!needs.token.includes("geheim"), "the daemon keeps tokens");
  const sure = { token: needs.token, choice: "yes" };
  const { done } = await app.invoke("unlock", { key: "abc" }, { resume: sure });
  assert.equal(done.brief, "3 and 6 characters");
});

test("state survives a crash", async () => {
  await addAll("kept");
  const { version } = await app.view();
  app.kill();
  app = await SampleApp.start(folder, { again: true, args: ["x"] });
  assert.deepEqual(app.opened, { notes: ["opened with x"], resumed: 0 });
  assert.equal((await app.refs())[0]!.key, "i1");
  assert.ok((await app.view()).version > version);
});

test("woken app continues where it slept", async () => {
  await addAll("a");
  const [item] = await app.refs();
  await app.invoke("edit", { item, text: "b" }, { run_id: "mine" });
  const view = await app.view();
  const saved = await app.ask(method.save, {});
  assert.deepEqual(saved, { version: view.version });
  await app.close();
  app = await SampleApp.start(folder, { again: true, woken: saved.version });
  assert.equal(app.opened.resumed, saved.version);
  assert.deepEqual(await app.view(), view);
  await app.invoke("edit", { item, text: "c" }, { run_id: "mine" });
});

test("unreadable state is kept and told", async () => {
  app.kill();
  writeFileSync(join(folder, "state.json"), "{");
  app = await SampleApp.start(folder);
  assert.match(app.opened.notes[0], /^the saved state can't be read/);
  const kept = readdirSync(folder).find((each) => each.endsWith(".unreadable"));
  assert.equal(readFileSync(join(folder, kept!), "utf8"), "{");
});

test("timer changes the state and readers are told", async () => {
  const { version } = await app.do("remind", { seconds: 0.05 });
  assert.deepEqual(await app.event(event.notify), { text: "it is time" });
  assert.deepEqual(await app.event(event.changed), { version: version + 1 });
  assert.match((await app.view()).title, /rung 1/);
  await app.do("remind", { seconds: 1000 });
  assert.ok((await app.ask(method.save, {})).wake_at > 1_700_000_000_000);
});

test("state may change outside of requests", async () => {
  await app.do("later");
  await app.event(event.changed);
  assert.equal((await app.view()).title, "1 to do · rung 0");
});

test("job reports its progress, output and end", async () => {
  const { started } = await app.invoke("work");
  assert.deepEqual([started.brief, started.total], ["work", 3]);
  const reports: Body[] = [];
  while (!reports.at(-1)?.state) reports.push(await app.event(event.jobReport));
  assert.ok(reports.every(({ job }) => job === started.job));
  assert.equal(reports[0]!.text, "step 0");
  assert.equal(String(reports[5]!.output), "did 2\n");
  assert.deepEqual([reports[6]!.state, reports[6]!.brief], ["done", "3 steps"]);
  assert.match((await app.view()).title, /rung 3/);
});

test("job is cancelled or fails with one end", async () => {
  const { started } = await app.invoke("work", { steps: 0 });
  assert.equal((await refused(app.ask(method.save, {}))).message, "a job is running");
  assert.deepEqual(await app.ask(method.cancelJob, { job: started.job }), {});
  assert.equal((await app.event(event.jobReport)).state, "cancelled");
  await app.invoke("work", { steps: 101 });
  let last: Body = {};
  while (!last.state) last = await app.event(event.jobReport);
  assert.deepEqual([last.state, last.brief], ["failed", "too much"]);
  assert.deepEqual(await app.ask(method.ping, {}), {});
});

test("outcome has links, value and content", async () => {
  await addAll("a");
  const count = await app.do("count", { of: "a" });
  assert.deepEqual([count.value, count.content[0]], [Buffer.of(1), { text: "1 found: " }]);
  const { links } = await app.do("done", { items: await app.refs() });
  assert.deepEqual([links[0].label, links[0].action], ["add it again", "add"]);
});

test("further open reaches the app", async () => {
  const open = { session: "todo/main", attach: true, args: ["y"], cwd: "/w", state_dir: folder };
  assert.deepEqual((await app.ask(method.open, open)).notes, ["opened with y"]);
  await app.close();
});
