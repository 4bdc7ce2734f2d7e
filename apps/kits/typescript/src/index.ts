/**
 * PipeMux apps in TypeScript: a plain object is the state, functions show it and change it.
 *
 * `run` serves an {@link App}; `action` declares what readers may do, and a {@link View} is what they see.
 */

export { action, Context, Job, prototypes, type Action, type App, type Handle, type Opening } from "./app.ts";
export { Fault, Mistake } from "./errors.ts";
export {
  makeAgain, newKey, noChanges, pageOf, pages, positionOf, recordChange, sealChange, takeBack, turnPage,
  type Change, type Pages, type Undo, type Undoable,
} from "./helpers.ts";
export { Image } from "./media.ts";
export { any, bool, float, int, list, oneOf, optional, path, record, str, thing, type Param, type Thing } from "./params.ts";
export { run } from "./serve.ts";
export { Code, Done, Link, link, View, type Piece } from "./view.ts";
