/** Errors that readers and authors are shown. */

import { basename } from "node:path";

import type { Thing } from "./params.ts";

/** How an error is told: its kind, the thing that it is about, and commands or sentences for what to do next. */
export interface FaultOptions {
  code?: "failed" | "usage" | "not_found" | "stale" | "refused" | "unavailable" | "version" | "invalid_source_data";
  about?: Thing | string;
  hints?: string[];
}

/** Refuses a request: what happened, in one sentence, and what to do next. */
export class Fault extends Error {
  readonly body: Record<string, unknown>;

  constructor(message: string, { code = "failed", about, hints = [] }: FaultOptions = {}) {
    super(message);
    this.body = { code, message, key: typeof about === "object" ? about.key : about, hints };
  }
}

/** A mistake of the app's author; the message says where it is and what to write. */
export class Mistake extends Error {}

/** The body of the fault for an error: with its place, unless it is a Fault. */
export function describe(error: unknown): Record<string, unknown> {
  if (error instanceof Fault) return error.body;
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const place = error instanceof Error ? placeOf(error) : "";
  return { code: "failed", message: place === "" ? message : `${message} (${place})` };
}

/** The innermost place of an error outside of this kit: `app.ts:31`. */
export function placeOf(error: Error): string {
  const kit = import.meta.url.replace(/[^/]*$/, "");
  const frames = (error.stack ?? "").split("\n").filter((line) => /:\d+:\d+\)?$/.test(line));
  const outside = frames.filter((line) => !line.includes(kit) && !line.includes("node:"));
  // The author's line is wanted, not that of a library which it called.
  const own = outside.find((line) => !line.includes("/node_modules/")) ?? outside[0] ?? "";
  const [, file, line] = /([^\s(]*):(\d+):\d+\)?$/.exec(own) ?? [];
  return file === undefined ? "" : `${basename(file)}:${line}`;
}
