/** Parts of a state that many apps need: pages of a list, and changes to take back. */

import { randomBytes } from "node:crypto";

import { apply, difference, Elsewhere } from "./difference.ts";
import type { Edit } from "./difference.ts";
import { Fault, Mistake } from "./errors.ts";
import { Conflict, merge, thingsIn } from "./merge.ts";

const READERS_MAX = 64;
const CHANGES_MAX = 50;
/** In UTF-16 units of their JSON. */
const CHANGES_SIZE_MAX = 1 << 20;
const SPENT_MAX = 1000;

/** The page of a list that each reader turned to, of an app with `perReader: true`: a field of its state. */
export interface Pages {
  size: number;
  /** Readers, and the index of the first item that each is shown; who turned last is at the end. */
  turned: [reader: string, first: number][];
}

/** Makes pages of so many items. */
export const pages = (size = 20): Pages => ({ size, turned: [] });

function firstOf({ size, turned }: Pages, length: number, reader: string): number {
  const first = turned.find(([name]) => name === reader)?.[1] ?? 0;
  // A page exists however the list changes.
  return Math.min(first, Math.floor(Math.max(length - 1, 0) / size) * size);
}

/** The items that a reader is shown. */
export function pageOf<T>(pages: Pages, items: T[], reader: string): T[] {
  const first = firstOf(pages, items.length, reader);
  return items.slice(first, first + pages.size);
}

/** Which part of the list it is, for `view.position`: `21-40 of 45`. */
export function positionOf(pages: Pages, items: unknown[], reader: string): string {
  const [first, shown] = [firstOf(pages, items.length, reader), pageOf(pages, items, reader).length];
  return `${first + Math.min(shown, 1)}-${first + shown} of ${items.length}`;
}

/** Shows a reader the next page, or with -1 the previous one. Returns the position. */
export function turnPage(pages: Pages, items: unknown[], reader: string, by = 1): string {
  const first = firstOf(pages, items.length, reader) + by * pages.size;
  if (first < 0 || first >= items.length) throw new Fault("there is no such page", { code: "refused" });
  pages.turned = [...pages.turned.filter(([name]) => name !== reader), [reader, first]];
  pages.turned.splice(0, pages.turned.length - READERS_MAX);
  return positionOf(pages, items, reader);
}

/** A change that can be taken back and made again. */
export interface Change {
  number: number;
  what: string;
  /** What it changed in the state; absent until its action ends. */
  edits?: Edit[];
  /** What others changed between the change before and this one. */
  gap?: Edit[];
}

/**
 * The last changes: the field `undo` of a state, so that it is saved, too. There are at most 50 of them, and 1 MiB, but
 * always the newest. What an action changes without `recordChange`, such as a page that is turned, stays when a change
 * before it is taken back; so does what another program or a timer changed. Where they changed the same, taking back is
 * refused.
 */
export interface Undo {
  past: Change[];
  future: Change[];
  last: number;
  /** What others changed since the newest change that wasn't taken back. */
  since: Edit[];
  /** Keys of things whose making was taken back: they belong to nothing else. */
  spent: string[];
}

/** A state whose changes can be taken back. */
export interface Undoable {
  undo: Undo;
}

/** Makes the field of a new state. */
export const noChanges = (): Undo => ({ past: [], future: [], last: 0, since: [], spent: [] });

/** A key that no thing ever had, whatever is taken back or lost. */
export const newKey = (): string => randomBytes(8).toString("hex");

/** As JSON, the state that the newest change left, or the one before the change that was begun. */
interface Base {
  json: string;
  isBegun: boolean;
}
const bases = new WeakMap<Undo, Base>();

function rest({ undo: _, ...state }: Undoable): string {
  return JSON.stringify(state);
}

/** Finds out what the newest change left. The kit does it before an action begins. */
export function trackChanges(state: Undoable): Base {
  const { undo } = state;
  const known = bases.get(undo);
  if (known) return known;
  // Earlier releases kept whole states, and nothing of what others changed.
  const kept = (changes: Change[]) => changes.filter(({ edits }) => edits);
  Object.assign(undo, { past: kept(undo.past), future: kept(undo.future) });
  undo.since ??= [];
  undo.spent ??= [];
  const before = JSON.parse(rest(state));
  try {
    apply(before, undo.since, "backwards");
  } catch {
    Object.assign(undo, { past: [], future: [] });
  }
  const made = { json: JSON.stringify(before), isBegun: false };
  bases.set(undo, made);
  return made;
}

/**
 * Begins a change that is about to be made; it ends with the action. Returns its number: name it in
 * `new Done(…).undoneBy(undo, { change })`, so that `pipemux undo` works.
 */
export function recordChange(state: Undoable, what: string): number {
  const base = sealChange(state);
  const { undo } = state;
  undo.last += 1;
  undo.past.push({ number: undo.last, what, gap: undo.past.length > 0 ? undo.since : [] });
  undo.future = [];
  undo.since = [];
  Object.assign(base, { json: rest(state), isBegun: true });
  return undo.last;
}

/** Ends the change that was begun. The kit does it when an action has ended. */
export function sealChange(state: Undoable): Base {
  const [{ undo }, base, json] = [state, trackChanges(state), rest(state)];
  const edits = json === base.json ? [] : difference(JSON.parse(base.json), JSON.parse(json));
  const change = base.isBegun ? undo.past.at(-1) : undefined;
  if (!change) {
    undo.since = edits;
    return base;
  }
  const known = new Set(keysIn(base.json));
  const again = undo.spent.length > 0 && keysIn(json).find((key) => undo.spent.includes(key) && !known.has(key));
  if (again) throw new Mistake(`the key ${again} was another thing's: give each newKey()`);
  change.edits = edits;
  Object.assign(base, { json, isBegun: false });
  let [size, kept] = [0, 0];
  for (const { edits, gap } of undo.past.slice(-CHANGES_MAX).reverse()) {
    size += JSON.stringify([edits, gap]).length;
    if (size > CHANGES_SIZE_MAX && kept > 0) break;
    kept += 1;
  }
  undo.past = undo.past.slice(-kept);
  undo.past[0]!.gap = [];
  return base;
}

const keysIn = (json: string): string[] => thingsIn(JSON.parse(json)).map(({ key }) => key);

/** Takes back the newest change, which must be the given one if one is given. */
export function takeBack(state: Undoable, number?: number | null): Change {
  const base = sealChange(state);
  const { past, future } = state.undo;
  const change = nextOf("undo", past, number);
  const before = stepped(base.json, change.edits!, "backwards");
  makeOf(state, "undo", change, base.json, before);
  base.json = stepped(before, change.gap ?? [], "backwards");
  future.push(past.pop()!);
  return change;
}

/** Makes the change again that was taken back last. */
export function makeAgain(state: Undoable, number?: number | null): Change {
  const base = sealChange(state);
  const { past, future } = state.undo;
  const change = nextOf("redo", future, number);
  const before = stepped(base.json, change.gap ?? [], "forwards");
  const after = stepped(before, change.edits!, "forwards");
  makeOf(state, "redo", change, before, after);
  base.json = after;
  past.push(future.pop()!);
  return change;
}

function nextOf(verb: string, among: Change[], number?: number | null): Change {
  const change = among.at(-1);
  if (!change) throw new Fault(`there is nothing to ${verb}`, { code: "refused" });
  if ((number ?? change.number) !== change.number) {
    const instead = `the next one to ${verb} is ${change.number}, ${change.what}`;
    throw new Fault(`change ${number} can't be taken: ${instead}`, { code: "stale" });
  }
  return change;
}

function stepped(json: string, edits: Edit[], direction: "forwards" | "backwards"): string {
  const state = JSON.parse(json);
  try {
    apply(state, edits, direction);
  } catch (error) {
    if (!(error instanceof Elsewhere)) throw error;
    throw new Fault("what was saved of the changes doesn't fit", { code: "refused" });
  }
  return JSON.stringify(state);
}

/** Gives the state what leads from `base` to `wanted`, beside what others changed. */
function makeOf(state: Undoable, verb: string, change: Change, base: string, wanted: string): void {
  const [before, were] = [JSON.parse(base), keysIn(rest(state))];
  let merged: any;
  try {
    merged = merge(before, JSON.parse(rest(state)), JSON.parse(wanted));
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    const thing = thingsIn(before).find(({ key }) => key === error.message);
    const message = `can't ${verb} ${change.what}: ${thing ? JSON.stringify(thing.label) : error.message} was changed since`;
    throw new Fault(message, { code: "refused", ...(thing && { about: thing }) });
  }
  for (const key of Object.keys(state)) {
    if (key !== "undo" && !(key in merged)) delete (state as any)[key];
  }
  Object.assign(state, merged);
  const are = new Set(keysIn(JSON.stringify(merged)));
  const spent = [...state.undo.spent, ...were].filter((key) => !are.has(key));
  state.undo.spent = [...new Set(spent)].slice(-SPENT_MAX);
}
