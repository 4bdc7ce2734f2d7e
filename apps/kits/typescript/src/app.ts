/** An app: a state, functions that show it, and actions that change it. */

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { pack, unpack, type Body } from "./codec.ts";
import { Fault, Mistake, placeOf } from "./errors.ts";
import type { Image } from "./media.ts";
import { decodeFields, isThing, wiresOf, type Args, type Param, type Params, type Thing } from "./params.ts";
import type { Done, View } from "./view.ts";

const OPTIONS_MAX = 20;
const SECRETS_MAX = 64;

/** What an action returns: a Done, its brief alone, a Job for work that takes long, or nothing. */
export type Result = Done | Job<any, any> | string | void;

/** What readers see of an action, and the function that carries it out. */
export interface ActionSpec<S, P extends Params> {
  /** What the action does, in one or two sentences. */
  doc?: string;
  params?: P;
  /**
   * A "query" changes nothing, and what it returns is the whole answer. A "destructive" action is confirmed before it
   * runs; with `previews` it calls `context.confirm` itself, before it does anything.
   */
  risk?: "query" | "safe" | "changes" | "destructive";
  prominence?: "featured" | "listed" | "help" | "alias";
  idempotent?: boolean;
  previews?: boolean;
  /** Takes what a person types below the window (`pipemux attach`) as its first argument. One action at most. */
  input?: boolean;
  /** The type of its Done's value. */
  returns?: Param<any, boolean>;
  run(state: S, args: Args<P>, context: Context<S>): Result | Promise<Result>;
}

/** An action of an app. Its name is the one under which the app lists it. */
export interface Action<S, P extends Params> extends ActionSpec<S, P> {
  params: P;
  name: string;
  place: string;
}

/** Declares an action. */
export function action<S, P extends Params = {}>(spec: ActionSpec<S, P>): Action<S, P> {
  return { ...spec, params: spec.params ?? ({} as P), name: "", place: placeOf(new Error()) };
}

/** What an app may do at any time, also when no request is under way. */
export interface Handle<S> {
  /**
   * Has a function change the state, and readers told of it. If it fails, it changes nothing, and the window says so
   * until it succeeds.
   */
  post(change: (state: S) => void | Promise<void>): void;
  /**
   * Has `onChange` take in what is there, now and when another program changes it. It is called once `opened` or the
   * action has returned; later when the file rests, within two seconds, and before an action that comes sooner: that
   * fails if it does. Readers are told if it changed the state; without a function, always. Of a folder, the names in
   * it are watched. The same path once more replaces its function.
   */
  watch(path: string, onChange?: (state: S) => void | Promise<void>): void;
  /**
   * The folder of the project that the session was opened in: the nearest with `.git` around the caller's directory,
   * else that directory.
   */
  readonly project: string;
  /** Tells every reader one line with the next answer. */
  notify(text: string): void;
  /** Keeps the app awake while it works outside of requests; 0 seconds when the work is finished. */
  busy(what: string, seconds: number): void;
}

/** One `open` of a session. */
export interface Opening {
  session: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  state_dir: string;
  /** True for a further open of a running session. */
  attach?: boolean;
  /** True when the daemon repeats an earlier open, since the process was lost or slept. */
  again?: boolean;
}

/** The definition of an app. */
export interface App<S> {
  /** Makes the state of a new session. It is kept as JSON: texts, numbers, true, false, null, lists, plain objects. */
  state(): S;
  actions: Record<string, Action<S, any>>;
  /** Shows the state. The same state must give the same view. */
  view(state: S, view: View): void;
  /** Handles an open. Returns what readers should know about it. */
  opened?(state: S, opening: Opening, handle: Handle<S>): string[] | void;
  /** Returns the thing that a key names; by default it is looked for in the state. */
  find?(state: S, key: string): Thing | undefined;
  /** What readers must have seen of a thing before they act: when it changes, refs are stale. Its label by default. */
  meaning?(thing: Thing): unknown;
  /** True if `view` and `hidden` depend on who reads: `view.reader`. */
  perReader?: boolean;
  /** Says how to bring a thing into view that is folded or filtered away, or on another page of this reader. */
  hidden?(state: S, thing: Thing, reader: string): string | undefined;
  /** Says how a thing disappeared, if the app knows. */
  gone?(state: S, key: string): string | undefined;
  /** Returns the image, sound or file that is a thing's value, which windows name and `read` gives. */
  media?(thing: Thing): Image | undefined;
  /** Returns the value of a thing, for `pipemux read` and for other apps. */
  read?(state: S, thing: Thing): string | Uint8Array;
  /** Returns the absolute path of a thing that is a file. */
  path?(state: S, thing: Thing): string | undefined;
  /** When `onWake` is to be called, in milliseconds since 1970. A sleeping app is woken. */
  nextWake?(state: S): number | undefined;
  /** Changes the state at the time that `nextWake` names, and moves that time on. */
  onWake?(state: S, handle: Handle<S>): void;
}

/** Work that outlasts its action: `return new Job("compile", compile, (state, result) => …)`. */
export class Job<S, T> {
  readonly brief: string;
  readonly total: number;
  readonly work: (job: Job<S, T>) => Promise<T>;
  readonly finish: ((state: S, result: T) => string | void) | undefined;
  /** Aborted when a reader cancels the job. */
  readonly abort = new AbortController();
  report: (report: Body) => void = () => {};

  /** `finish` gets the result of `work`, may change the state, and returns the job's result in one line. */
  constructor(brief: string, work: Job<S, T>["work"], finish?: Job<S, T>["finish"], total = 0) {
    this.brief = brief;
    this.work = work;
    this.finish = finish;
    this.total = total;
  }
  /** Tells how many units are done, and what the job does at the moment. */
  progress(done: number, text?: string): void {
    this.report({ done, text });
  }
  /** Adds to the job's output. */
  output(text: string): void {
    for (let at = 0; at < text.length; at += 65_536) this.report({ output: Buffer.from(text.slice(at, at + 65_536)) });
  }
}

/** Ends an action that asks. */
export class Question {
  readonly needs: Body;

  constructor(needs: Body) {
    this.needs = needs;
  }
}

/**
 * The circumstances of an action, and its questions. With a question the action ends, with the state as it was before,
 * and runs again with the answer. Don't catch what a question throws.
 */
export class Context<S> {
  readonly reader: string;
  readonly cwd: string;
  readonly runId: string;
  /** About how many tokens the answer may take. */
  readonly budget: number;
  readonly handle: Handle<S>;
  asked = 0;
  private answers: [question: number, choice: any][] = [];
  private confirmed: boolean;
  private features: string[];
  private secrets: Map<string, unknown>;

  constructor(body: Body, handle: Handle<S>, features: string[], secrets: Map<string, unknown>) {
    this.features = features;
    this.secrets = secrets;
    this.reader = body.reader ?? "";
    this.cwd = body.cwd || ".";
    this.runId = body.run_id ?? "";
    this.budget = body.budget || 4000;
    this.confirmed = body.confirmed ?? false;
    this.handle = handle;
    if (!body.resume) return;
    const [answers, question] = unpack(body.resume.token)[0];
    this.answers = [...answers, [question, body.resume.choice]];
  }
  /** Asks for a yes, and goes on only with it. The options are what is affected. */
  confirm(text: string, options: readonly (Thing | string)[] = []): void {
    this.choose("confirm", text, options);
  }
  /** Asks for a text. A secret one is never printed, logged or kept. */
  ask(text: string, { secret = false } = {}): string {
    return this.choose("text", text, [], { secret }).text;
  }
  /** Asks for several fields. */
  form<P extends Params>(text: string, fields: P): Args<P> {
    need("forms", this.features);
    const given: [string, Body][] = Object.entries(this.choose("form", text, [], { fields: wiresOf(fields) }).fields);
    return decodeFields(fields, Object.fromEntries(given.map(([name, arg]) => [name, unpack(arg.value)[0]]))) as Args<P>;
  }
  /** Asks which of the options is meant. */
  pick<T extends Thing | string>(text: string, options: readonly T[]): T {
    return options[this.choose("pick_one", text, options).picked[0] - 1]!;
  }
  /** Asks which of the options are meant. */
  pickMany<T extends Thing | string>(text: string, options: readonly T[]): T[] {
    const { picked, all_but: allBut } = this.choose("pick_many", text, options);
    return options.filter((_, n) => (picked ? picked.includes(n + 1) : !allBut.includes(n + 1)));
  }

  /**
   * The daemon keeps the token of a later question, so that names a secret answer, which itself stays in this process:
   * should it end, the question is asked again.
   */
  private knownSecret(answer: [question: number, choice: any]): unknown {
    if (typeof answer[1] === "string") return this.secrets.get(answer[1]);
    if (this.secrets.size >= SECRETS_MAX) this.secrets.clear();
    const [key, choice] = [randomUUID(), answer[1]];
    this.secrets.set(key, choice);
    answer[1] = key;
    return choice;
  }
  private choose(kind: string, text: string, options: readonly (Thing | string)[], more: Body = {}): any {
    if (kind.startsWith("pick") && options.length === 0) throw new Fault(`${text}: there is nothing to choose from`);
    const labels = options.map((each) => (isThing(each) ? each.label : each));
    const asked = digest([kind, text, labels, more]);
    const answer = this.answers[this.asked++];
    const isSecret = [more, ...(more.fields ?? [])].some((each) => each.secret);
    const choice = answer?.[0] !== asked ? undefined : isSecret ? this.knownSecret(answer) : answer[1];
    if (choice !== undefined) return choice;
    if (kind === "confirm" && this.confirmed && this.answers.length === 0) return "yes";
    const listed = labels.slice(0, OPTIONS_MAX).map((label) => ({ label }));
    const unlisted = labels.length - listed.length;
    const token = pack([this.answers.slice(0, this.asked - 1), asked]);
    throw new Question({ question: { text, kind, options: listed, unlisted, ...more }, token });
  }
}

/** Refuses what an older daemon doesn't know. */
export function need(feature: string, features: string[]): void {
  if (features.includes(feature)) return;
  const hints = ["update PipeMux, then: pipemux down"];
  throw new Fault(`this daemon has no ${feature}`, { code: "version", hints });
}

/** A number of 32 bits that differs when the value does. */
export function digest(value: unknown): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(JSON.stringify(value) ?? "")) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** The signatures of an app's actions, which get their names. Throws a Mistake that names all that is wrong. */
export function prototypes(app: App<any>): Body[] {
  const mistakes: string[] = [];
  const odd = notJson(app.state(), "state");
  if (odd) mistakes.push(`${odd}: keep texts, numbers, true, false, null, lists and plain objects`);
  const made = Object.entries(app.actions).map(([name, each]) => {
    const { doc, risk, prominence, idempotent, previews, input, returns, params, place } = each;
    each.name = name;
    for (const one of [name, ...Object.keys(params)]) {
      if (!/^[A-Za-z_]\w{0,63}$/.test(one)) mistakes.push(`${place}: ${name}: "${one}" is no name: letters, digits, _`);
    }
    for (const [param, { wire }] of Object.entries(params as Params)) {
      if (wire.default !== undefined && params[param].accept(wire.default) === undefined)
        mistakes.push(`${place}: ${name}: the default of ${param} has another type`);
    }
    if (input && !takesLine(Object.values(params as Params)))
      mistakes.push(`${place}: ${name}: input: its first parameter takes a str, and each other one has a default`);
    const type = returns?.wire.type;
    return { name, doc, risk, prominence, idempotent, previews, input, returns: type, params: wiresOf(params) };
  });
  const inputs = made.filter((each) => each.input).map((each) => each.name);
  if (inputs.length > 1) mistakes.push(`one input at most, not ${inputs.join(", ")}`);
  if (mistakes.length > 0) throw new Mistake(mistakes.join("\n"));
  return made;
}

/** True if an action can be called with a text alone. */
function takesLine([first, ...rest]: Param<any, boolean>[]): boolean {
  const optional = ({ wire }: Param<any, boolean>) => (wire.type as any).optional;
  const text = first && (optional(first) ?? first.wire.type);
  const given = (each: Param<any, boolean>) => each.wire.default !== undefined || optional(each) !== undefined;
  return ["string", "any"].includes(text) && !first!.wire.secret && rest.every(given);
}

/** Says what in a state can't be saved, if anything. */
export function notJson(value: any, path: string): string | undefined {
  if (value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value)) return undefined;
  const prototype = typeof value === "object" && Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && !Array.isArray(value)) {
    return `${path} is ${prototype ? `a ${value.constructor.name}` : String(value)}, which can't be saved`;
  }
  const found = Object.entries(value).map(([key, item]) => notJson(item, `${path}.${key}`));
  return found.find((each) => each !== undefined);
}

/** The project that a directory is in. */
export function projectOf(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (at === dirname(at)) return directory;
  }
}
