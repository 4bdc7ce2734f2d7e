/** One session: calls the app for each request, and keeps its state and its version. */

import { randomUUID } from "node:crypto";
import { existsSync, lstatSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { Context, digest, Job, need, notJson, projectOf, Question, type App, type Handle } from "./app.ts";
import { unpack, type Body } from "./codec.ts";
import { describe, Fault, Mistake } from "./errors.ts";
import { sealChange, trackChanges, type Undoable } from "./helpers.ts";
import { absolute, findThing, type Thing } from "./params.ts";
import { Done, View, type About } from "./view.ts";
import { Watch } from "./watch.ts";

const TROUBLES_MAX = 8;
/** Milliseconds until `onWake` is tried again when it failed. */
const WAKE_RETRY = 5000;
const [CHANGED, NOTIFY, BUSY, JOB_REPORT] = [17, 18, 19, 20];

/** How a session sends an event, and has work done after what is under way. */
export interface Connection {
  send(method: number, body: Body): void;
  enqueue(work: () => unknown): void;
  /** What the daemon knows besides the basic protocol. */
  features: string[];
}

/** An app with the version of its state, and the file that keeps both. */
export class Session<S> {
  readonly app: App<S>;
  private state: S;
  private version = 1;
  private file = "";
  private isOpen = false;
  /** What each window was shown of the present version. */
  private shown = new Map<string, number>();
  private secrets = new Map<string, unknown>();
  private jobs = new Map<string, Job<S, any>>();
  /** The newest run, and by key the revs of things that it replaced itself. */
  private run: { id: string; replaced: Record<string, number[]> } = { id: "", replaced: {} };
  /** Why a change failed that no request asked for, by its function, until it succeeds. */
  private troubles = new Map<string, string>();
  private folder = "";
  private watch: Watch;
  private connection: Connection;
  private handle: Handle<S>;
  private timer: NodeJS.Timeout | undefined;

  constructor(app: App<S>, connection: Connection) {
    this.app = app;
    this.state = structuredClone(app.state());
    this.connection = connection;
    this.watch = new Watch((work) => connection.enqueue(work));
    const session = this;
    this.handle = {
      post: (change) => connection.enqueue(() => this.attempt(change)),
      watch: (path, onChange) => this.observe(resolve(path), onChange),
      get project() {
        return session.folder;
      },
      notify: (text) => connection.send(NOTIFY, { text }),
      busy: (what, seconds) => connection.send(BUSY, { what, for_ms: Math.round(seconds * 1000) }),
    };
  }

  /** Answers a request. Throws a Fault to refuse it. */
  async answer(method: number, body: Body): Promise<Body> {
    const [open, project, invoke, read, locate, save, cancel] = [1, 2, 3, 4, 5, 7, 9];
    if (method === open) return this.open(body);
    if (!this.isOpen) throw new Fault("the session isn't open", { code: "refused" });
    if (method === project) return this.project(body);
    if (method === invoke) return this.invoke(body);
    if (method === read) return this.read(body);
    if (method === locate) return { places: body.keys.map((key: string) => this.place(key, body.reader ?? "")) };
    if (method === save) return this.save();
    if (method === cancel) this.jobs.get(body.job)?.abort.abort();
    else throw new Fault("apps don't handle this request", { code: "refused" });
    return {};
  }

  /** Ends what the session does by itself. */
  end(): void {
    clearTimeout(this.timer);
    this.watch.end();
  }

  private async open(body: Body): Promise<Body> {
    const notes: string[] = [];
    let resumed = 0;
    if (!this.isOpen) {
      this.file = join(body.state_dir, "state.json");
      resumed = this.restore(body.woken || 0, notes);
      this.folder = projectOf(body.cwd);
    }
    const shown = () => JSON.stringify([this.state, ...this.troubles]);
    const before = shown();
    await this.atomic(() => notes.push(...(this.app.opened?.(this.state, body as any, this.handle) ?? [])));
    for (const each of this.watch.changed()) await each.take().catch(() => {});
    // What it reads may have changed while it slept.
    const isNew = !resumed || shown() !== before;
    if (resumed && isNew) this.connection.enqueue(() => this.connection.send(CHANGED, { version: this.version }));
    this.isOpen = true;
    this.store(isNew ? 1 : 0);
    return { notes, resumed };
  }

  /** Loads the saved state. Returns the version that it continues. */
  private restore(woken: number, notes: string[]): number {
    if (!existsSync(this.file)) return 0;
    try {
      const saved = JSON.parse(readFileSync(this.file, "utf8"));
      // Fields that the app has got since keep their defaults.
      this.state = { ...this.state, ...saved.state };
      this.version = saved.version;
      if (woken === saved.version) [this.run, this.troubles] = [saved.run, new Map(saved.troubles ?? [])];
    } catch (error) {
      const aside = `${this.file}.${Date.now()}.unreadable`;
      renameSync(this.file, aside);
      notes.push(`the saved state can't be read and is kept as ${aside}: ${error}`);
    }
    return woken === this.version ? woken : 0;
  }

  /** Counts the version up and saves the state: after a crash it is the old or the new one. */
  private store(rise: number): void {
    this.version += rise;
    const saved = { version: this.version, run: this.run, state: this.state, troubles: [...this.troubles] };
    writeFileSync(`${this.file}.new`, JSON.stringify(saved), { mode: 0o600 });
    renameSync(`${this.file}.new`, this.file);
    this.planWake();
  }

  /** Puts the state back if what is done with it fails or asks. */
  private async atomic<T>(work: () => T | Promise<T>, isQuery = false): Promise<T> {
    if (this.keepsChanges()) trackChanges(this.state as Undoable);
    const before = JSON.stringify(this.state);
    try {
      const result = await work();
      if (isQuery && JSON.stringify(this.state) !== before) throw new Mistake("a query changed the state");
      const odd = notJson(this.state, "state");
      if (odd !== undefined) throw new Mistake(odd);
      if (this.keepsChanges()) sealChange(this.state as Undoable);
      return result;
    } catch (error) {
      this.state = JSON.parse(before);
      throw error;
    }
  }

  /**
   * Carries out a change that no request asked for, and tells readers of it. When it is quiet and changed nothing, there
   * is nothing to tell.
   */
  private async change<T>(change: (state: S) => T | Promise<T>, isQuiet = false): Promise<T> {
    const before = JSON.stringify(this.state);
    const result = await this.atomic(() => change(this.state));
    const isSame = JSON.stringify(this.state) === before;
    if (!isSame) this.run = { id: "", replaced: {} };
    if (!this.isOpen || (isQuiet && isSame)) return result;
    this.store(1);
    this.connection.send(CHANGED, { version: this.version });
    return result;
  }

  /** Watches a path. What is there is taken in when what goes on has returned. */
  private observe(path: string, onChange?: (state: S) => void | Promise<void>): void {
    const watched = this.watch.add(path, () => this.attempt(onChange ?? (() => {}), !!onChange), !!onChange);
    if (onChange && this.isOpen) this.connection.enqueue(watched.take);
  }

  /** Carries out a change that nobody waits for: if it fails, the window says so. */
  private async attempt(change: (state: S) => unknown, isQuiet = false): Promise<void> {
    const name = change.name || String(change);
    const before = new Map(this.troubles);
    const healed = this.troubles.delete(name);
    try {
      await this.change(change, isQuiet && !healed);
    } catch (error) {
      const told = `⚠ ${String(describe(error).message).replace(/\s+/g, " ")}`.slice(0, 500);
      this.troubles = new Map([...new Map(before).set(name, told)].slice(0, TROUBLES_MAX));
      if (told !== before.get(name)) {
        this.connection.enqueue(() => this.connection.send(NOTIFY, { text: told }));
        if (!this.isOpen) throw error;
        this.store(1);
        this.connection.send(CHANGED, { version: this.version });
      }
      throw error;
    }
  }

  private keepsChanges(): boolean {
    return Array.isArray((this.state as Partial<Undoable>).undo?.past);
  }

  private planWake(least = 100): void {
    clearTimeout(this.timer);
    const due = this.app.nextWake?.(this.state);
    if (due === undefined) return;
    // A timer that fires early plans itself again; one that stays due fires each 100 ms.
    const wait = Math.min(Math.max(due - Date.now(), least), 3_600_000);
    this.timer = setTimeout(() => {
      if (due > Date.now()) this.planWake();
      else this.connection.enqueue(() => this.wake());
    }, wait);
  }

  private about: About = {
    rev: (thing) => this.rev(thing),
    media: (thing) => this.app.media?.(thing)?.slot(),
  };
  private async wake(): Promise<void> {
    try {
      await this.attempt((state) => this.app.onWake?.(state, this.handle));
    } catch (error) {
      this.planWake(WAKE_RETRY);
      throw error;
    }
  }

  private rev = (thing: Thing): number => digest(this.app.meaning ? this.app.meaning(thing) : thing.label);

  private find(key: string): Thing | undefined {
    return this.app.find ? this.app.find(this.state, key) : findThing(this.state, key);
  }

  private project(body: Body): Body {
    const view = Object.assign(new View(), { lod: body.lod, budget: body.budget, reader: body.reader ?? "" });
    for (const trouble of this.troubles.values()) view.line(trouble);
    this.app.view(this.state, view);
    const shown = view.body(this.about);
    const window = JSON.stringify([body.window, view.lod, view.budget, view.reader]);
    const now = digest(shown);
    // It may have changed without being told, as a clock does.
    if ((this.shown.get(window) ?? now) !== now) this.version += 1;
    if (this.shown.size > 64) this.shown.clear();
    this.shown.set(window, now);
    const version = this.version;
    return body.known_version === version ? { version, unchanged: true } : { version, ...shown };
  }

  private async invoke(body: Body): Promise<Body> {
    const action = this.app.actions[body.action];
    if (!action) throw new Fault(`unknown action ${body.action}`, { code: "usage" });
    const isQuery = action.risk === "query";
    if (!isQuery) for (const each of this.watch.changed()) await each.take();
    const context = new Context<S>(body, this.handle, this.connection.features, this.secrets);
    const used = new Map<string, number>();
    const args: Body = {};
    const unknown = Object.keys(body.args ?? {}).find((each) => !(each in action.params));
    if (unknown) throw new Fault(`${action.name} has no parameter ${unknown}`, { code: "usage" });
    for (const [name, param] of Object.entries(action.params as Record<string, any>)) {
      const given = body.args?.[name];
      try {
        args[name] = param.decode(given && this.valueOf(given, context, used));
      } catch (error) {
        if (error instanceof Fault) error.body.message = `${name}: ${error.body.message}`;
        throw error;
      }
      if (param.isPath) args[name] = absolute(args[name], context.cwd);
    }
    let result: Done | Job<S, any>;
    let done: Body | undefined;
    try {
      result = await this.atomic(async () => {
        const given = (await action.run(this.state, args, context)) ?? "";
        if (action.previews && !context.asked) throw new Mistake(`${action.name} never calls context.confirm`);
        if (given instanceof Job) need("jobs", this.connection.features);
        if (given instanceof Job) return given;
        const result = typeof given !== "string" ? given : isQuery ? new Done().show(given) : new Done(given);
        if (!(result instanceof Done)) throw new Mistake(`${action.name} returned ${given}, no Done, Job or text`);
        done = result.body(this.about);
        return result;
      }, isQuery);
    } catch (error) {
      if (error instanceof Question) return { needs: error.needs };
      throw error;
    }
    if (!isQuery) {
      this.record(context.runId, used);
      this.shown.clear();
      this.store(1);
    }
    if (result instanceof Job) return { started: { ...this.start(result), version: this.version } };
    return { done: { ...done, version: this.version } };
  }

  /** The value of an argument, in which things stand for refs. */
  private valueOf(arg: Body, context: Context<S>, used: Map<string, number>): unknown {
    if (arg.list) return arg.list.map((item: Body) => this.valueOf(item, context, used));
    if (arg.record) {
      const fields: [string, Body][] = Object.entries(arg.record);
      return Object.fromEntries(fields.map(([name, item]) => [name, this.valueOf(item, context, used)]));
    }
    if (arg.copied?.file) return this.valueOfFile(arg.copied.file);
    if (!arg.ref) return unpack(arg.value ?? arg.copied.value)[0];
    const thing = this.lookUp(arg.ref, context.runId);
    used.set(thing.key, this.rev(thing));
    return thing;
  }

  /** A value that was too long for a message: the daemon wrote it for this session. */
  private valueOfFile(file: string): string | Buffer {
    const own = dirname(file) === join(dirname(this.file), "values") && basename(file) !== "..";
    if (!own || !lstatSync(file, { throwIfNoEntry: false })?.isFile()) {
      throw new Fault("its value is no longer there", { hints: ["pass it again"] });
    }
    const data = readFileSync(file);
    const text = data.toString();
    return Buffer.from(text).equals(data) ? text : data;
  }

  /** The thing that a ref names, if it means what the reader saw. */
  private lookUp({ key, rev }: Body, runId = ""): Thing {
    const thing = this.find(key);
    if (!thing) {
      const how = this.app.gone?.(this.state, key);
      throw new Fault("gone", { code: "not_found", about: key, hints: how === undefined ? [] : [how] });
    }
    const own = this.run.id === runId ? (this.run.replaced[key] ?? []) : [];
    if (![this.rev(thing), ...own].includes(rev)) {
      throw new Fault("changed since it was seen", { code: "stale", about: key });
    }
    return thing;
  }

  /** Remembers the revs that a run replaced, so that its later steps aren't stale. */
  private record(id: string, used: Map<string, number>): void {
    if (this.run.id !== id) this.run = { id, replaced: {} };
    for (const [key, rev] of used) {
      const thing = this.find(key);
      if (thing && this.rev(thing) !== rev) (this.run.replaced[key] ??= []).push(rev);
    }
  }

  private start(job: Job<S, any>): Body {
    const key = randomUUID();
    this.jobs.set(key, job);
    job.report = (report) => this.connection.send(JOB_REPORT, { job: key, ...report });
    const end = (how: () => Promise<string>) => this.connection.enqueue(() => this.endJob(key, job, how));
    const work = async () => {
      try {
        const result = await job.work(job);
        const own = typeof result === "string" ? result : "";
        end(async () => (job.finish ? ((await this.change((state) => job.finish?.(state, result))) ?? "") : own));
      } catch (error) {
        end(() => Promise.reject(error));
      }
    };
    // The daemon drops the reports of a job that it doesn't know yet: the work begins once the answer was sent.
    this.connection.enqueue(() => void work());
    return { job: key, brief: job.brief, total: job.total };
  }

  private async endJob(key: string, job: Job<S, any>, how: () => Promise<string>): Promise<void> {
    this.jobs.delete(key);
    if (job.abort.signal.aborted) return job.report({ state: "cancelled" });
    try {
      job.report({ state: "done", brief: await how() });
    } catch (error) {
      job.report({ state: "failed", brief: describe(error).message });
      if (!(error instanceof Fault)) throw error;
    }
  }

  private read(body: Body): Body {
    const thing = this.lookUp(body);
    if (body.path) return { data: Buffer.of(), total: 0, text: true, path: this.app.path?.(this.state, thing) };
    const image = this.app.read ? undefined : this.app.media?.(thing);
    if (!this.app.read && !image) throw new Fault("it has no value to read", { code: "refused", about: thing });
    const data = image ? image.read() : Buffer.from(this.app.read!(this.state, thing));
    const text = Buffer.from(data.toString()).equals(data);
    return { data: data.subarray(body.offset, body.offset + body.max), total: data.length, text };
  }

  private place(key: string, reader: string): unknown {
    const thing = this.find(key);
    if (!thing) return { gone: this.app.gone?.(this.state, key) ?? null };
    const how = this.app.hidden?.(this.state, thing, reader);
    return how === undefined ? "shown" : { hidden: how };
  }

  private save(): Body {
    if (this.jobs.size > 0) throw new Fault("a job is running", { code: "refused" });
    this.store(0);
    const due = this.app.nextWake?.(this.state);
    return { version: this.version, wake_at: due === undefined ? undefined : Math.round(due) };
  }
}
