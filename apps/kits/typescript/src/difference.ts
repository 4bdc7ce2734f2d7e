/** Differences of two JSON values, which can be made and taken back. */

import { isDeepStrictEqual } from "node:util";

type Container = unknown[] | Record<string, unknown>;

/** A splice of a list, or of the entries `[key, value]` of a record. */
export interface Edit {
  of: "list" | "record";
  /** The path to it: indexes of lists and keys of records. */
  at: (number | string)[];
  /** The index of the first item or entry. */
  first: number;
  old: unknown[];
  new: unknown[];
}

/** What an edit is about isn't there as the edit left it. */
export class Elsewhere extends Error {}

/** Returns the edits that make one value of another, both lists or both records. */
export function difference(before: Container, after: Container): Edit[] {
  const edits: Edit[] = [];
  compare(before, after, [], edits);
  return edits;
}

function compare(before: Container, after: Container, at: Edit["at"], edits: Edit[]): void {
  const of = kind(before);
  const [old, now] = [items(before), items(after)];
  let [first, oldEnd, newEnd] = [0, old.length, now.length];
  while (first < Math.min(oldEnd, newEnd) && same(old[first], now[first])) first += 1;
  while (Math.min(oldEnd, newEnd) > first && same(old[oldEnd - 1], now[newEnd - 1])) {
    oldEnd -= 1;
    newEnd -= 1;
  }
  const hasSameKeys = (index: number) => of === "list" || (old[index] as any)[0] === (now[index] as any)[0];
  const middle = [...old.keys()].slice(first, oldEnd);
  if (oldEnd !== newEnd || !middle.every(hasSameKeys)) {
    edits.push({ of, at, first, old: old.slice(first, oldEnd), new: now.slice(first, newEnd) });
    return;
  }
  for (const index of middle) {
    const [one, other] = [old[index], now[index]];
    if (same(one, other)) continue;
    const [key, inner, outer] = of === "list" ? [index, one, other] : [(one as any)[0], (one as any)[1], (other as any)[1]];
    if (isContainer(inner) && isContainer(outer) && kind(inner) === kind(outer)) {
      compare(inner, outer, [...at, key], edits);
    } else {
      edits.push({ of, at, first: index, old: [one], new: [other] });
    }
  }
}

/**
 * Makes edits in a value, or takes them back. Throws Elsewhere where what an edit is about isn't there as it left it;
 * the value is then half done.
 */
export function apply(value: Container, edits: Edit[], direction: "forwards" | "backwards"): void {
  const isBack = direction === "backwards";
  for (const edit of isBack ? [...edits].reverse() : edits) {
    const [there, becomes] = isBack ? [edit.new, edit.old] : [edit.old, edit.new];
    const container = edit.at.reduce<unknown>(inside, value);
    if (!isContainer(container) || kind(container) !== edit.of) throw new Elsewhere();
    const all = items(container);
    if (!same(all.slice(edit.first, edit.first + there.length), there)) throw new Elsewhere();
    all.splice(edit.first, there.length, ...structuredClone(becomes));
    if (Array.isArray(container)) {
      container.splice(0, container.length, ...all);
      continue;
    }
    const entries = all as [string, unknown][];
    if (new Set(entries.map(([key]) => key)).size < entries.length) throw new Elsewhere();
    for (const key of Object.keys(container)) delete container[key];
    // A key such as __proto__ is a key like any other.
    for (const [key, item] of entries) {
      Object.defineProperty(container, key, { value: item, writable: true, enumerable: true, configurable: true });
    }
  }
}

function inside(container: unknown, key: number | string): unknown {
  const wanted = typeof key === "number" ? "list" : "record";
  return isContainer(container) && kind(container) === wanted && Object.hasOwn(container, key)
    ? (container as any)[key]
    : undefined;
}

const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;
const kind = (container: Container) => (Array.isArray(container) ? "list" : "record");
const items = (container: Container): unknown[] =>
  Array.isArray(container) ? [...container] : Object.entries(container);

/** The order of keys counts, since it is the order in which they are shown. */
export function same(one: unknown, other: unknown): boolean {
  if (!isContainer(one) || !isContainer(other)) return Object.is(one, other);
  return isDeepStrictEqual(one, other) && JSON.stringify(one) === JSON.stringify(other);
}
