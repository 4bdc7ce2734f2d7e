/** Parts of a state that many apps need: pages of a list, and changes to take back. */

import { apply, difference, Elsewhere } from "./difference.ts";
import type { Edit } from "./difference.ts";
import { Fault } from "./errors.ts";

const READERS_MAX = 64;
const CHANGES_MAX = 50;
/** In UTF-16 units of their JSON. */
const CHANGES_SIZE_MAX = 1 << 20;

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
}

/** A state whose changes can be taken back. */
export interface Undoable {
  undo: Undo;
}

/** Makes the field of a new state. */
export const noChanges = (): Undo => ({ past: [], future: [], last: 0 });

/** The states before changes whose actions haven't ended. */
const begun = new WeakMap<Undo, string>();

function rest({ undo: _, ...state }: Undoable): string {
  return JSON.stringify(state);
}

/**
 * Begins a change that is about to be made; it ends with the action. Returns its number: name it in
 * `new Done(…).undoneBy(undo, { change })`, so that `pipemux undo` works.
 */
export function recordChange(state: Undoable, what: string): number {
  sealChange(state);
  const { undo } = state;
  undo.last += 1;
  undo.past.push({ number: undo.last, what });
  undo.future = [];
  begun.set(undo, rest(state));
  return undo.last;
}

/** Ends the change that was begun. The kit does it when an action has ended. */
export function sealChange(state: Undoable): void {
  const { undo } = state;
  // A state without such a field has begun none.
  const before = begun.get(undo);
  const change = before === undefined ? undefined : undo.past.at(-1);
  if (before === undefined || !change) return;
  begun.delete(undo);
  change.edits = difference(JSON.parse(before), JSON.parse(rest(state)));
  let [size, kept] = [0, 0];
  for (const { edits } of undo.past.slice(-CHANGES_MAX).reverse()) {
    size += JSON.stringify(edits ?? []).length;
    if (size > CHANGES_SIZE_MAX && kept > 0) break;
    kept += 1;
  }
  undo.past = undo.past.slice(-kept);
}

/** Takes back the newest change, which must be the given one if one is given. */
export function takeBack(state: Undoable, number?: number | null): Change {
  sealChange(state);
  return swap(state, "undo", state.undo.past, state.undo.future, number);
}

/** Makes the change again that was taken back last. */
export function makeAgain(state: Undoable, number?: number | null): Change {
  return swap(state, "redo", state.undo.future, state.undo.past, number);
}

function swap(state: Undoable, verb: string, from: Change[], to: Change[], number?: number | null): Change {
  // Earlier releases kept whole states.
  while (from.length > 0 && !from.at(-1)?.edits) from.pop();
  const change = from.at(-1);
  if (!change?.edits) throw new Fault(`there is nothing to ${verb}`, { code: "refused" });
  if ((number ?? change.number) !== change.number) {
    const instead = `the next one to ${verb} is ${change.number}, ${change.what}`;
    throw new Fault(`change ${number} can't be taken: ${instead}`, { code: "stale" });
  }
  const changed = JSON.parse(rest(state));
  try {
    apply(changed, change.edits, verb === "undo" ? "backwards" : "forwards");
  } catch (error) {
    if (!(error instanceof Elsewhere)) throw error;
    const why = "what it changed was changed again since, by no action";
    throw new Fault(`can't ${verb} ${change.what}: ${why}`, { code: "refused" });
  }
  from.pop();
  to.push(change);
  for (const key of Object.keys(state)) {
    if (key !== "undo" && !(key in changed)) delete (state as any)[key];
  }
  Object.assign(state, changed);
  return change;
}
