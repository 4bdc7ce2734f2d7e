/** Values by chance, but the same each time. */

/** Returns numbers below a bound (mulberry32). */
export function chance(seed: number): (below: number) => number {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

export function value(next: (below: number) => number, depth: number): unknown {
  const choice = next(depth > 0 ? 8 : 5);
  if (choice < 5) return [null, true, 1, 0, 1.5, "", "é"][next(7)];
  const inner = Array.from({ length: next(5) }, () => value(next, depth - 1));
  if (choice < 7) return inner;
  // A key such as __proto__ is a key like any other.
  return Object.fromEntries(inner.map((each) => [["a", "b", "c", "__proto__", "constructor"][next(5)], each]));
}

export function mutated(next: (below: number) => number, of: unknown): unknown {
  if (next(7) === 0 || typeof of !== "object" || of === null) return value(next, 2);
  const some = (each: unknown) => (next(3) === 0 ? mutated(next, each) : each);
  if (Array.isArray(of)) {
    const items = of.map(some);
    if (next(3) === 0) items.splice(next(items.length + 1), 0, value(next, 1));
    return items;
  }
  const entries = Object.entries(of).map(([key, each]) => [key, some(each)]);
  return Object.fromEntries(next(3) === 0 ? entries.reverse().slice(next(entries.length + 1)) : entries);
}
