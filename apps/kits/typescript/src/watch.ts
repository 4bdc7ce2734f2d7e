/** Watches paths for what other programs write. */

import { statSync, type BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";

const PATHS_MAX = 256;
/** Milliseconds between two looks, and after a minute in which nothing changed. */
const [LOOK, LOOK_QUIET, QUIET] = [200, 1000, 60_000];
/** Looks after which a file that is written again and again counts as changed all the same. */
const LOOKS_MAX = 10;

/** A path, as it was when its change was taken in last, and when it was looked at last. */
export interface Watched {
  /** Takes in what the path has now. */
  take(): Promise<void>;
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
  private changedAt = Date.now();
  private isEnded = false;

  constructor(post: (work: () => unknown) => void) {
    this.post = post;
  }
  /** `isNew` if what is there is to be taken in, too. */
  add(path: string, change: () => Promise<void>, isNew: boolean): Watched {
    if (this.paths.size >= PATHS_MAX && !this.paths.has(path)) {
      throw new RangeError(`at most ${PATHS_MAX} paths are watched: watch their folder`);
    }
    const taken = foundNow(path);
    const watched = { taken, seen: taken, looks: 0, isPosted: false, hasFailed: isNew, take };
    this.paths.set(path, watched);
    if (!this.timer) this.plan();
    return watched;

    async function take(): Promise<void> {
      Object.assign(watched, { taken: foundNow(path), isPosted: false, hasFailed: true });
      await change();
      watched.hasFailed = false;
    }
  }
  /** The paths that changed, or whose change couldn't be taken in. */
  changed(): Watched[] {
    return [...this.paths].filter(([path, each]) => each.hasFailed || foundNow(path) !== each.taken).map(([, each]) => each);
  }
  end(): void {
    this.isEnded = true;
    clearTimeout(this.timer);
  }
  private plan(): void {
    if (this.isEnded) return;
    this.timer = setTimeout(() => void this.look(), Date.now() - this.changedAt < QUIET ? LOOK : LOOK_QUIET);
  }
  private async look(): Promise<void> {
    for (const [path, each] of [...this.paths]) {
      const now = textOf(await stat(path, { bigint: true }).catch(() => undefined));
      each.looks = now === each.taken ? 0 : each.looks + 1;
      const rests = now === each.seen;
      each.seen = now;
      if (each.looks === 0) continue;
      this.changedAt = Date.now();
      // One that is written again and again is taken in all the same.
      if (each.isPosted || (!rests && each.looks % LOOKS_MAX > 0)) continue;
      each.isPosted = true;
      this.post(each.take);
    }
    this.plan();
  }
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
