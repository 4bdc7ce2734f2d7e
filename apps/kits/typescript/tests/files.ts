/** Notes in a file that other programs write, too, with images; the tests drive it. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { action, Done, Fault, Image, int, list, newKey, noChanges, optional, path, recordChange } from "../src/index.ts";
import { run, str, takeBack, type Handle, type Thing, type Undo } from "../src/index.ts";

interface Note extends Thing { image?: string | null }
interface Notes { notes: Note[]; undo: Undo; due?: number | null }

const add = action({
  params: { text: str(), image: optional(path()) },
  run(state: Notes, { text, image }) {
    const change = recordChange(state, `add ${text}`);
    state.notes.push({ key: newKey(), type: "note", label: text, image });
    return new Done("added").undoneBy(undo, { change });
  },
});

const reuse = action({
  doc: "Gives a key again.",
  params: { key: str() },
  run(state: Notes, { key }) {
    recordChange(state, "reuse");
    state.notes.push({ key, label: "again" });
  },
});

const undo = action({
  params: { change: optional(int()) },
  run: (state: Notes, { change }): Done => new Done(`undid ${takeBack(state, change).what}`, { reverts: true }),
});

const exportTo = action({
  params: { to: path().default("out.md"), more: optional(list(path())) },
  run: (_: Notes, { to, more }, { handle }) => `${to} ${more} in ${handle.project}`,
});

const where = action({ risk: "query", params: { to: path() }, run: (_: Notes, { to }) => to });

const fail = action({
  doc: "Fails after it was answered, or no longer.",
  params: { text: str().default("") },
  run(_: Notes, { text }, { handle }) {
    handle.post(function change(state) {
      state.notes = [];
      if (text) throw new Fault(text);
    });
  },
});

const ring = action({
  run(state: Notes) {
    state.due = Date.now();
  },
});

function load(state: Notes, { project }: Handle<Notes>): void {
  const file = join(project, "notes.json");
  const saved: string[] = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  state.notes = saved.map((label, n) => ({ key: `f${n}`, type: "note", label }));
}

run<Notes>({
  state: () => ({ notes: [], undo: noChanges() }),
  actions: { add, reuse, undo, export: exportTo, where, fail, ring },
  opened(_, __, handle) {
    handle.watch(join(handle.project, "notes.json"), (state) => load(state, handle));
  },
  view({ notes }, view) {
    view.title = `${notes.length} notes`;
    for (const each of notes) view.line(each);
  },
  nextWake: ({ due }) => due ?? undefined,
  onWake(state, { project }) {
    const file = join(project, "rung");
    const rung = Number(readFileSync(file, "utf8")) + 1;
    writeFileSync(file, `${rung}`);
    if (rung === 1) throw new RangeError("not yet");
    state.due = null;
  },
  media: ({ image }: Note) => (image ? new Image(image) : undefined),
});
