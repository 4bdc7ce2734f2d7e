/** Merges what two sides made of the same value of JSON. */

import { same } from "./difference.ts";
import { isThing, type Thing } from "./params.ts";

/** Two lists that differ in more entries than this are one change as a whole. */
const DIFFERENCES_MAX = 500;

type Rec = Record<string, unknown>;
/** A replaced part of a list: from its first to behind its last index, and what a side has there. */
type Hunk = [first: number, end: number, items: unknown[]];
/** An equal part of two lists, and the one before it. */
type Way = { first: number; end: number; diagonal: number; before: Way } | undefined;

/** Both sides changed the same: the key of a thing, or the name of a field. */
export class Conflict extends Error {}

/** Stands for a thing in a list, so that its place and its content are merged apart. */
class Stub {
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }
}

/** Stands for what isn't there. */
const ABSENT = new Stub("");

/** A value with stubs for things, and what they stand for. */
class Side {
  readonly root: unknown;
  readonly things = new Map<string, unknown>();
  readonly places = new Map<string, string[]>();
  private unclear: Set<string>;

  /** `unclear` are keys that don't stand for one content on each side. */
  constructor(value: unknown, unclear: Set<string>) {
    this.unclear = unclear;
    this.root = this.stubbed(value, "");
  }
  private stubbed(value: unknown, place: string): unknown {
    if (Array.isArray(value)) return value.map((each) => this.entry(each, place));
    if (!isRecord(value)) return value;
    const inner = ([name, each]: [string, unknown]) => [name, this.stubbed(each, `${place}/${JSON.stringify(name)}`)];
    return Object.fromEntries(Object.entries(value).map(inner));
  }
  private entry(value: unknown, place: string): unknown {
    if (!isKeyed(value) || this.unclear.has(value.key)) return this.stubbed(value, place);
    const { key } = value;
    this.places.set(key, [...(this.places.get(key) ?? []), place]);
    if (!this.things.has(key)) {
      this.things.set(key, ABSENT);
      this.things.set(key, this.stubbed(value, JSON.stringify(key)));
    }
    return new Stub(key);
  }
}

/**
 * Returns what both sides made of `base`. Throws Conflict where they changed the same.
 *
 * A thing in a list is the same one wherever it stands: one side may change what the other moves. Entries of other
 * lists are merged as lines are.
 */
export function merge(base: unknown, ours: unknown, theirs: unknown): unknown {
  const unclear = new Set([base, ours, theirs].flatMap(unclearKeys));
  const sides = [base, ours, theirs].map((value) => new Side(value, unclear)) as [Side, Side, Side];
  const root = mergeValues("", sides[0].root, sides[1].root, sides[2].root);
  const things = mergeThings(...sides);
  const seen = new Map<string, number>();
  const result = whole(root, things, seen);
  for (const key of things.keys()) {
    const most = Math.max(...sides.map(({ places }) => places.get(key)?.length ?? 0));
    const times = seen.get(key) ?? 0;
    if (times === 0 || times > most) throw new Conflict(key);
  }
  return result;
}

/** The things in the lists of a value. */
export function thingsIn(value: unknown): Thing[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Array.isArray(value) ? value.filter(isKeyed) : [];
  return [...own, ...Object.values(value).flatMap(thingsIn)];
}

/** The keys of things that have several contents, such as those of an earlier time. */
function unclearKeys(value: unknown): string[] {
  const first = new Map<string, Thing>();
  return thingsIn(value).flatMap((each) => {
    if (!first.has(each.key)) first.set(each.key, each);
    return same(first.get(each.key), each) ? [] : [each.key];
  });
}

/** The things that are left, with their contents. */
function mergeThings(base: Side, ours: Side, theirs: Side): Map<string, unknown> {
  const left = new Map<string, unknown>();
  for (const key of new Set([base, ours, theirs].flatMap(({ things }) => [...things.keys()]))) {
    const [was, own, other] = [base, ours, theirs].map(({ things }) => things.get(key) ?? ABSENT);
    if (was === ABSENT || (own !== ABSENT && other !== ABSENT)) {
      left.set(key, mergeValues(key, was, own, other));
      continue;
    }
    // One side removed it: the other one must have left it alone, and they its place, too.
    const remaining = other === ABSENT ? own : other;
    const isMoved = other !== ABSENT && !same(base.places.get(key), theirs.places.get(key));
    if (remaining !== ABSENT && (isMoved || !same(was, remaining))) throw new Conflict(key);
  }
  return left;
}

/** A value with things for the stubs. Things that a side removed are left out. */
function whole(value: unknown, things: Map<string, unknown>, seen: Map<string, number>): unknown {
  if (isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, whole(each, things, seen)]));
  }
  if (!Array.isArray(value)) return value;
  return value.flatMap((each) => {
    if (!(each instanceof Stub)) return [whole(each, things, seen)];
    if (!things.has(each.key)) return [];
    seen.set(each.key, (seen.get(each.key) ?? 0) + 1);
    return [whole(things.get(each.key), things, seen)];
  });
}

function mergeValues(where: string, base: unknown, ours: unknown, theirs: unknown): unknown {
  if (same(base, theirs) || same(ours, theirs)) return ours;
  if (same(base, ours)) return theirs;
  if (isRecord(base) && isRecord(ours) && isRecord(theirs)) return mergeRecords(where, base, ours, theirs);
  if (!Array.isArray(base) || !Array.isArray(ours) || !Array.isArray(theirs)) throw new Conflict(where);
  const keys = [base, ours, theirs].map(keysOf);
  if (!keys.every((each) => each !== undefined)) return mergeEntries(where, base, ours, theirs);
  return mergeOrder(keys as [string[], string[], string[]], true).map((key) => new Stub(key));
}

const isKeyed = (value: unknown): value is Thing => isThing(value) && typeof value.key === "string";
const isRecord = (value: unknown): value is Rec =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Stub);

function mergeRecords(where: string, ...values: [Rec, Rec, Rec]): Rec {
  const merged = new Map<string, unknown>();
  for (const name of new Set(values.flatMap(Object.keys))) {
    const [was, own, other] = values.map((value) => (Object.hasOwn(value, name) ? value[name] : ABSENT));
    merged.set(name, mergeValues(where === "" ? name : where, was, own, other));
  }
  const order = mergeOrder(values.map(Object.keys) as [string[], string[], string[]], false);
  return Object.fromEntries(order.map((name) => [name, merged.get(name)]));
}

/** The keys of stubs of which none comes twice; undefined for other lists. */
function keysOf(list: unknown[]): string[] | undefined {
  const keys = list.flatMap((each) => (each instanceof Stub ? [each.key] : []));
  return keys.length === list.length && new Set(keys).size === list.length ? keys : undefined;
}

/** Merges lists in which nothing comes twice. Unless strict, ours is the order in doubt. */
function mergeOrder([base, ours, theirs]: [string[], string[], string[]], isStrict: boolean): string[] {
  const [old, own, other] = [new Set(base), new Set(ours), new Set(theirs)];
  const [movedByUs, moved] = [movedIn(base, ours), movedIn(base, theirs)];
  const both = [...moved].find((each) => movedByUs.has(each));
  if (isStrict && both !== undefined) throw new Conflict(both);
  // What they moved and made follows what it follows there.
  const isPlaced = (each: string) =>
    moved.has(each) ? own.has(each) && !movedByUs.has(each) : other.has(each) && !old.has(each) && !own.has(each);
  const kept = ours.filter((each) => (other.has(each) || !old.has(each)) && !isPlaced(each));
  const there = new Set(kept);
  const followers = new Map<string | undefined, string[]>();
  let anchor: string | undefined;
  for (const each of theirs) {
    if (isPlaced(each)) followers.set(anchor, [...(followers.get(anchor) ?? []), each]);
    else if (there.has(each)) anchor = each;
  }
  return [...(followers.get(undefined) ?? []), ...kept.flatMap((each) => [each, ...(followers.get(each) ?? [])])];
}

/** What a side moved: all but a longest part that is in order still. */
function movedIn(base: string[], side: string[]): Set<string> {
  const index = new Map(base.map((each, n) => [each, n]));
  const kept = side.filter((each) => index.has(each));
  const [tails, before]: [number[], number[]] = [[], []];
  for (const [n, each] of kept.entries()) {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (index.get(kept[tails[middle]!]!)! < index.get(each)!) low = middle + 1;
      else high = middle;
    }
    before.push(low > 0 ? tails[low - 1]! : -1);
    tails[low] = n;
  }
  const moved = new Set(kept);
  for (let n = tails.at(-1) ?? -1; n >= 0; n = before[n]!) moved.delete(kept[n]!);
  return moved;
}

/** Merges lists as `diff3` merges lines; but changes may touch each other. */
function mergeEntries(where: string, base: unknown[], ours: unknown[], theirs: unknown[]): unknown[] {
  const all = [ours, theirs].flatMap((side, n) => hunksOf(base, side).map((hunk) => ({ hunk, isOwn: n === 0 })));
  all.sort((a, b) => a.hunk[0] - b.hunk[0] || a.hunk[1] - b.hunk[1]);
  const merged: unknown[] = [];
  let done = 0;
  for (let next = all.shift(); next; next = all.shift()) {
    const group = [next];
    let [first, end] = next.hunk;
    const isTouched = ([from, to]: Hunk) => from < end || (from === to && from === first && first === end);
    while (all[0] && isTouched(all[0].hunk)) {
      end = Math.max(end, all[0].hunk[1]);
      group.push(all.shift()!);
    }
    const changed = (isOwn: boolean) => {
      const hunks = group.filter((each) => each.isOwn === isOwn).map(({ hunk }) => hunk);
      return { isChanged: hunks.length > 0, part: changedPart(base, first, end, hunks) };
    };
    const [own, other, part] = [changed(true), changed(false), base.slice(first, end)];
    merged.push(...base.slice(done, first));
    if (!other.isChanged || same(own.part, other.part)) merged.push(...own.part);
    else if (!own.isChanged) merged.push(...other.part);
    else if (own.part.length === part.length && other.part.length === part.length) {
      merged.push(...part.map((each, n) => mergeValues(where, each, own.part[n], other.part[n])));
    } else throw new Conflict(where);
    done = end;
  }
  return [...merged, ...base.slice(done)];
}

/** A part of the base as a side has it. */
function changedPart(base: unknown[], first: number, end: number, hunks: Hunk[]): unknown[] {
  const part: unknown[] = [];
  for (const [from, to, items] of hunks) {
    part.push(...base.slice(first, from), ...items);
    first = to;
  }
  return [...part, ...base.slice(first, end)];
}

/** What was replaced in a list. */
function hunksOf(old: unknown[], now: unknown[]): Hunk[] {
  const [a, b] = [old, now].map((items) => items.map((each) => JSON.stringify(each))) as [string[], string[]];
  const hunks: Hunk[] = [];
  let [at, to] = [0, 0];
  for (const [i, j] of [...common(a, b), [a.length, b.length] as const]) {
    if (at !== i || to !== j) hunks.push([at, i, now.slice(to, j)]);
    [at, to] = [i + 1, j + 1];
  }
  return hunks;
}

/** The indexes of a longest common part of two lists, by Myers' algorithm. */
function common(old: string[], now: string[]): (readonly [number, number])[] {
  // By diagonal: how far a way leads into the old list, and its equal parts from the last one on.
  const reached = new Map<number, [at: number, way: Way]>([[1, [0, undefined]]]);
  const none: [number, Way] = [-1, undefined];
  for (let steps = 0; steps <= DIFFERENCES_MAX; steps += 1) {
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      const [left, above] = [reached.get(diagonal - 1) ?? none, reached.get(diagonal + 1) ?? none];
      let [at, way] = left[0] < above[0] ? above : ([left[0] + 1, left[1]] as const);
      const first = at;
      while (at < old.length && at - diagonal < now.length && old[at] === now[at - diagonal]) at += 1;
      if (at > first) way = { first, end: at, diagonal, before: way };
      reached.set(diagonal, [at, way]);
      if (at >= old.length && at - diagonal >= now.length) return pairs(way);
    }
  }
  return [];
}

function pairs(way: Way): (readonly [number, number])[] {
  const found: (readonly [number, number])[] = [];
  for (; way; way = way.before) {
    for (let n = way.end - 1; n >= way.first; n -= 1) found.push([n, n - way.diagonal]);
  }
  return found.reverse();
}
