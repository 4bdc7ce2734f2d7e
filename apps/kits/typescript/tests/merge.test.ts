/** Laws of merging, and comparisons: with git, and with a model of a board. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { chance, mutated, value } from "./values.ts";
import { Conflict, merge } from "../src/merge.ts";

type Card = { key: string; label: string; note: string };
type Board = Record<string, Card[]>;
type Placed = Card & { in: string };

/** The merged value; undefined for a conflict. */
function merged(base: unknown, ours: unknown, theirs: unknown): any {
  try {
    return merge(base, ours, theirs);
  } catch (error) {
    assert.ok(error instanceof Conflict, `${error}`);
    return undefined;
  }
}

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    inner && typeof inner === "object" && !Array.isArray(inner) ? Object.entries(inner).sort() : inner,
  ) ?? "conflict";

test("what one side changed is taken as it is, and sides may be swapped", () => {
  const next = chance(3);
  let clean = 0;
  for (let n = 0; n < 3000; n += 1) {
    const thing = () => ({ key: "abcdef"[next(6)], label: "x", more: value(next, 1) });
    const base = { x: value(next, 3), y: Array.from({ length: next(5) }, thing) };
    const [ours, theirs] = [0, 1].map(() => ({ x: mutated(next, base.x), y: mutated(next, base.y) })) as [any, any];
    assert.equal(JSON.stringify(merge(base, ours, base)), JSON.stringify(ours));
    assert.equal(JSON.stringify(merge(base, base, theirs)), JSON.stringify(theirs));
    assert.equal(JSON.stringify(merge(base, ours, structuredClone(ours))), JSON.stringify(ours));
    const one = merged(base.x, ours.x, theirs.x);
    assert.equal(sorted(one), sorted(merged(base.x, theirs.x, ours.x)));
    if (one !== undefined) clean += 1;
  }
  assert.ok(clean > 500, `${clean}`);
});

test("lists are merged as git merges lines", () => {
  const [next, folder] = [chance(5), mkdtempSync(join(tmpdir(), "kit-"))];
  let [made, clean] = [0, 0];
  const changed = (items: string[]) => {
    const list = [...items];
    for (let n = next(3) + 1; n > 0; n -= 1) {
      list.splice(next(list.length + 1), next(3), ...(next(2) ? [`n${(made += 1)}`] : []));
    }
    return list;
  };
  for (let n = 0; n < 300; n += 1) {
    const base = Array.from({ length: next(12) }, (_, n) => `${n}`);
    const sides = [changed(base), base, changed(base)] as const;
    const files = sides.map((items, n) => {
      const file = join(folder, `${n}`);
      writeFileSync(file, items.map((each) => `${each}\n`).join(""));
      return file;
    });
    const git = spawnSync("git", ["merge-file", "-p", ...files], { encoding: "utf8" });
    const own = merged(base, sides[0], sides[2]);
    if (own === undefined) assert.notEqual(git.status, 0, JSON.stringify(sides));
    else if (git.status === 0) {
      clean += 1;
      assert.deepEqual(own, git.stdout.split("\n").slice(0, -1), JSON.stringify(sides));
    }
  }
  rmSync(folder, { recursive: true });
  assert.ok(clean > 80, `${clean}`);
});

function cardsOf(board: Board): Map<string, Placed> {
  const all = Object.entries(board).flatMap(([name, cards]) => cards.map((card) => ({ ...card, in: name })));
  return new Map(all.map((card) => [card.key, card]));
}

/** The cards by key as a model has them; undefined where both sides changed the same. */
function expected(boards: Board[]): Map<string, Placed> | undefined {
  const [base, ours, theirs] = boards.map(cardsOf) as [Map<string, Placed>, Map<string, Placed>, Map<string, Placed>];
  const made = new Map<string, Placed>();
  for (const key of new Set([base, ours, theirs].flatMap((cards) => [...cards.keys()]))) {
    const [was, own, other] = [base.get(key), ours.get(key), theirs.get(key)];
    if (!was) made.set(key, (own ?? other)!);
    else if (own && other) {
      const card: any = {};
      for (const name of Object.keys(was) as (keyof Placed)[]) {
        if (own[name] !== other[name] && was[name] !== own[name] && was[name] !== other[name]) return undefined;
        card[name] = was[name] === own[name] ? other[name] : own[name];
      }
      made.set(key, card);
    } else if (own && (own.label !== was.label || own.note !== was.note)) return undefined;
    else if (other && sorted(other) !== sorted(was)) return undefined;
  }
  return made;
}

test("each field of a card merges alone, and so does its column", () => {
  const next = chance(6);
  const names = ["todo", "doing", "done"];
  let [made, conflicts] = [0, 0];
  const changed = (board: Board): Board => {
    const [result, moved] = [structuredClone(board), new Set<string>()];
    for (let n = next(4); n > 0; n -= 1) {
      const from = next(3);
      const cards = result[names[from]!]!;
      if (cards.length === 0) continue;
      const at = next(cards.length);
      const card = cards[at]!;
      const choice = next(5);
      if (choice < 2) card[choice ? "label" : "note"] = `${(made += 1)}`;
      else if (choice === 2) cards.splice(at, 1);
      else if (choice === 3 && !moved.has(card.key)) {
        moved.add(card.key);
        const to = result[names[(from + 1 + next(2)) % 3]!]!;
        to.splice(next(to.length + 1), 0, ...cards.splice(at, 1));
      } else cards.splice(at, 0, { key: `n${(made += 1)}`, label: "new", note: "" });
    }
    return result;
  };
  for (let n = 0; n < 3000; n += 1) {
    const base: Board = { todo: [], doing: [], done: [] };
    for (let n = next(7); n > 0; n -= 1) base[names[next(3)]!]!.push({ key: `${n}`, label: "x", note: "" });
    const sides = [base, changed(base), changed(base)] as [Board, Board, Board];
    const [own, wanted] = [merged(...sides), expected(sides)];
    if (!wanted) conflicts += 1;
    if (!own || !wanted) assert.equal(own, wanted, JSON.stringify(sides));
    else {
      assert.deepEqual([...cardsOf(own)].sort(), [...wanted].sort());
      assert.equal(Object.values<Card[]>(own).flat().length, wanted.size);
    }
  }
  assert.ok(conflicts > 200 && conflicts < 2000, `${conflicts}`);
});
