/** Watches paths for what other programs write. */

import { statSync, type BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";

const PATHS_MAX = 256;
/** Milliseconds between two looks, and after a minute in which nothing changed. */
const [LOOK, LOOK_QUIET, QUIET] = [200, 1000, 60_000];
/** Looks after which a file that is written again and again counts as changed all the same. */
const LOOKS_MAX = 10;

/** A path, as it was when its change was told last, and when it was looked at last. */
interface Watched {
  told: string;
  seen: string;
  looks: number;
  tell(): void;
}

/**
 * The watched paths of a session. It looks at the files again and again: that works with each file system, needs no
 * grant in the manifest, and a path may be replaced, removed and made again.
 */
export class Watch {
  private paths = new Map<string, Watched>();
  private timer: NodeJS.Timeout | undefined;
  private changed = Date.now();
  private isEnded = false;

  add(path: string, tell: () => void): void {
    if (this.paths.size >= PATHS_MAX && !this.paths.has(path)) {
      throw new RangeError(`at most ${PATHS_MAX} paths are watched: watch their folder`);
    }
    const found = foundNow(path);
    this.paths.set(path, { told: found, seen: found, looks: 0, tell });
    if (!this.timer) this.plan();
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
      each.looks = now === each.told ? 0 : each.looks + 1;
      const rests = now === each.seen;
      each.seen = now;
      if (each.looks > 0) this.changed = Date.now();
      if (each.looks === 0 || (!rests && each.looks < LOOKS_MAX)) continue;
      // What goes on is told once more when it rests.
      Object.assign(each, { told: rests ? now : "written", looks: 0 });
      if (!this.isEnded) each.tell();
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
