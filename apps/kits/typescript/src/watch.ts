/** Watches paths for what other programs write. */

import { statSync, type BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";

const PATHS_MAX = 256;
/** Milliseconds between two looks, and after a minute in which nothing changed. */
const [LOOK, LOOK_QUIET, QUIET] = [200, 1000, 60_000];
/** Looks after which a file that is written again and again counts as changed all the same. */
const LOOKS_MAX = 10;

/** A path, as it was when its change was taken in last, and when it was looked at last. */
interface Watched {
  change(): Promise<void>;
  taken: string;
  seen: string;
  looks: number;
  isPosted: boolean;
  hasFailed: boolean;
}

/**
 * The watched paths of a session. It looks at the files again and again: that works with each file system, needs no
 * grant in the manifest, and a path may be replaced, removed and made again.
 */
export class Watch {
  private paths = new Map<string, Watched>();
  private post: (work: () => unknown) => void;
  private timer: NodeJS.Timeout | undefined;
  private changed = Date.now();
  private isEnded = false;

  constructor(post: (work: () => unknown) => void) {
    this.post = post;
  }
  add(path: string, change: () => Promise<void>): void {
    if (this.paths.size >= PATHS_MAX && !this.paths.has(path)) {
      throw new RangeError(`at most ${PATHS_MAX} paths are watched: watch their folder`);
    }
    const taken = foundNow(path);
    this.paths.set(path, { change, taken, seen: taken, looks: 0, isPosted: false, hasFailed: false });
    if (!this.timer) this.plan();
  }
  /** Takes in what changed, or couldn't be taken in, before an action acts on it. */
  async take(): Promise<void> {
    for (const [path, each] of this.paths) {
      if (each.hasFailed || foundNow(path) !== each.taken) await take(path, each);
    }
  }
  end(): void {
    this.isEnded = true;
    clearTimeout(this.timer);
  }
  private plan(): void {
    if (this.isEnded) return;
    this.timer = setTimeout(() => void this.look(), Date.now() - this.changed < QUIET ? LOOK : LOOK_QUIET);
  }
  private async look(): Promise<void> {
    for (const [path, each] of [...this.paths]) {
      const now = textOf(await stat(path, { bigint: true }).catch(() => undefined));
      each.looks = now === each.taken ? 0 : each.looks + 1;
      const rests = now === each.seen;
      each.seen = now;
      if (each.looks === 0) continue;
      this.changed = Date.now();
      // One that is written again and again is taken in all the same.
      if (each.isPosted || (!rests && each.looks % LOOKS_MAX > 0)) continue;
      each.isPosted = true;
      this.post(() => take(path, each));
    }
    this.plan();
  }
}

async function take(path: string, each: Watched): Promise<void> {
  Object.assign(each, { taken: foundNow(path), isPosted: false, hasFailed: true });
  await each.change();
  each.hasFailed = false;
}

function foundNow(path: string): string {
  try {
    return textOf(statSync(path, { bigint: true }));
  } catch {
    return "";
  }
}

/** What differs when a path changed. */
const textOf = (found: BigIntStats | undefined): string =>
  found ? [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join() : "";
