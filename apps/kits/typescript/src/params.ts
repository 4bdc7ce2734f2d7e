/** The parameters of actions: their types as the protocol names them, and the check of arguments. */

import { resolve } from "node:path";

import { Fault } from "./errors.ts";

/**
 * Something in a window that can be acted on: an object in the state with a `key`, which is never given to another
 * thing, and the `label` that is shown. Its `type` is for parameters that take only such things.
 */
export interface Thing {
  key: string;
  label: string;
  type?: string;
}

/** True for a value that is a thing. */
export const isThing = (value: unknown): value is Thing =>
  typeof value === "object" && value !== null && "key" in value && typeof (value as Thing).label === "string";

/** A parameter of an action. `D` is true when it has a default. */
export class Param<T, D extends boolean = false> {
  readonly wire: { type: unknown; doc?: string; default?: unknown; path?: boolean; secret?: boolean };
  /** Returns the argument, or undefined for one of another type. */
  readonly accept: (value: unknown) => T | undefined;
  /** True for a path, and for a list of paths: the action gets absolute ones. */
  readonly isPath: boolean;
  declare readonly hasDefault: D;

  constructor(wire: Param<T>["wire"], accept: (value: unknown) => T | undefined, isPath = wire.path ?? false) {
    this.wire = wire;
    this.accept = accept;
    this.isPath = isPath;
  }
  /** Says what the argument means, in one sentence. */
  doc(doc: string): Param<T, D> {
    return new Param<T, D>({ ...this.wire, doc }, this.accept, this.isPath);
  }
  /** The argument is never printed, logged or kept. */
  secret(): Param<T, D> {
    return new Param<T, D>({ ...this.wire, secret: true }, this.accept, this.isPath);
  }
  /** Makes the parameter optional. */
  default(value: T): Param<T, true> {
    return new Param<T, true>({ ...this.wire, default: value }, this.accept, this.isPath);
  }
  /** The argument that was given. Throws a Fault for one of another type. */
  decode(given: unknown): T {
    const value = given === undefined ? (this.wire.default as T) : this.accept(given);
    if (value !== undefined) return value;
    const shown = isThing(given) ? `the thing ${JSON.stringify(given.label)}` : String(JSON.stringify(given)).slice(0, 60);
    throw new Fault(`expected ${typeName(this.wire.type)}, not ${shown}`, { code: "usage" });
  }
}

/** The parameters of an action by name. */
export type Params = Record<string, Param<any, boolean>>;
/** The arguments that an action gets. */
export type Args<P extends Params> = { [K in keyof P]: P[K] extends Param<infer T, boolean> ? T : never };
type Required<P extends Params> = { [K in keyof P]: P[K] extends Param<any, true> ? never : K }[keyof P];
/** The arguments that a link gives: those with a default may be left out. */
export type Given<P extends Params> = Pick<Args<P>, Required<P>> & Partial<Args<P>>;

const plain = <T>(type: unknown, is: (value: unknown) => boolean, more = {}) => (): Param<T> =>
  new Param<T>({ type, ...more }, (value) => (is(value) ? (value as T) : undefined));

/** A text. */
export const str = plain<string>("string", (value) => typeof value === "string");
/** A whole number. */
export const int = plain<number>("int", Number.isSafeInteger);
/** A number. */
export const float = plain<number>("float", (value) => typeof value === "number");
/** True or false. */
export const bool = plain<boolean>("bool", (value) => typeof value === "boolean");
/** The path of a file, absolute. */
export const path = plain<string>("string", (value) => typeof value === "string", { path: true });
/** Any value. */
export const any = plain<unknown>("any", (value) => value !== undefined);

/** One of these texts. */
export const oneOf = <const T extends string>(...texts: T[]): Param<T> =>
  plain<T>({ union: texts }, (value) => texts.includes(value as T))();

/** A thing; of this type if one is given. */
export const thing = <T extends Thing = Thing>(type?: T["type"] & string): Param<T> =>
  plain<T>({ anchor: type ?? null }, (value) => isThing(value) && (type === undefined || value.type === type))();

/** Several such values. One of them also stands for a list of one. */
export const list = <T>(of: Param<T>): Param<T[]> =>
  new Param(
    { type: { list: of.wire.type } },
    (value) => {
      const items = (Array.isArray(value) ? value : [value]).map(of.accept);
      return items.includes(undefined) ? undefined : (items as T[]);
    },
    of.isPath,
  );

/** An object with these fields. */
export const record = <P extends Params>(fields: P): Param<Args<P>> =>
  new Param({ type: { record: wiresOf(fields) } }, (value) => decodeFields(fields, value) as Args<P> | undefined);

/** The fields of a record or a form, or the parameters of an action, as the protocol describes them. */
export const wiresOf = (fields: Params): object[] =>
  Object.entries(fields).map(([name, { wire }]) => ({ name, ...wire }));

/** Decodes each field; undefined for what isn't an object. */
export function decodeFields(fields: Params, value: any): object | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.decode(value[name])]));
}

/** Such a value or null, which is the default. */
export const optional = <T>(of: Param<T>): Param<T | null, true> =>
  new Param<T | null>(
    { ...of.wire, type: { optional: of.wire.type } },
    (value) => (value === null ? null : of.accept(value)),
    of.isPath,
  ).default(null);

/** A type as readers see it: `Anchor<enemy>`. */
export function typeName(type: any): string {
  if (typeof type === "string") return type;
  if ("anchor" in type) return type.anchor === null ? "Anchor" : `Anchor<${type.anchor}>`;
  if ("union" in type) return type.union.map((text: string) => `'${text}'`).join("|");
  if ("record" in type) return "a record";
  return "list" in type ? `list of ${typeName(type.list)}` : `${typeName(type.optional)} or null`;
}

/** A path, or a list of them, as absolute ones; null where there is none. */
export function absolute(value: unknown, cwd: string): unknown {
  if (Array.isArray(value)) return value.map((each) => absolute(each, cwd));
  return typeof value === "string" ? resolve(cwd, value) : value;
}

/** The thing in a state that a key names. */
export function findThing(value: unknown, key: string): Thing | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (isThing(value) && value.key === key) return value;
  for (const item of Object.values(value)) {
    const found = findThing(item, key);
    if (found) return found;
  }
  return undefined;
}
