/** The daemon's side of an app's connection, for tests without a daemon. */

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";

import { encodeFrame, pack, takeFrames, unpack, type Body } from "../src/codec.ts";

const LIFE = 7;
export const method = { open: 1, project: 2, invoke: 3, read: 4, locate: 5, ping: 6, save: 7, close: 8, cancelJob: 9 };
export const event = { changed: 17, notify: 18, jobReport: 20 };

/** The app answered with a fault. */
export class Refused extends Error {
  readonly fault: Body;

  constructor(fault: Body) {
    super(fault.message);
    this.fault = fault;
  }
}

/** A process of the sample app. */
export class SampleApp {
  opened: Body = {};
  hello: Body = {};
  private process: ChildProcess;
  private stream: Duplex;
  private id = 300;
  private received: Buffer = Buffer.alloc(0);
  private frames: [any[], Buffer][] = [];
  private events: [number, Body][] = [];

  static async start(stateDir: string, opening: Body = {}, name = "sample.js"): Promise<SampleApp> {
    const app = new SampleApp(name);
    app.send([3, 0, 0, LIFE, 0], { protocol: { major: 1, minor: 6 }, role: "daemon", features: ["forms", "jobs"] });
    app.hello = (await app.receive())[1];
    const open = { session: "todo/main", attach: false, args: [], cwd: "/w", state_dir: stateDir };
    app.opened = await app.ask(method.open, { ...open, ...opening });
    return app;
  }
  constructor(name: string) {
    const program = fileURLToPath(new URL(name, import.meta.url));
    const env = { ...process.env, PIPEMUX_FD: "3" };
    this.process = spawn(process.execPath, [program], { env, stdio: ["ignore", "inherit", "ignore", "pipe"] });
    this.stream = this.process.stdio[3] as Duplex;
    this.stream.on("data", (data) => {
      const [frames, rest] = takeFrames(Buffer.concat([this.received, data]));
      this.frames.push(...frames);
      this.received = rest;
    });
  }
  private send(envelope: number[], body: Body): void {
    this.stream.write(encodeFrame(envelope, pack(body)));
  }
  private async receive(): Promise<[any[], Body]> {
    while (this.frames.length === 0) await once(this.stream, "data");
    const [envelope, data] = this.frames.shift()!;
    return [envelope, unpack(data)[0]];
  }
  /** Sends a request and returns the reply; events that come before it are kept. */
  async ask(method: number, body: Body): Promise<Body> {
    this.id += 1;
    this.send([0, method, this.id, LIFE, 500], body);
    for (;;) {
      const [[kind, answered, id, life], answer] = await this.receive();
      assert.equal(life, LIFE);
      if (kind === 3) {
        this.events.push([answered, answer]);
        continue;
      }
      assert.deepEqual([answered, id], [method, this.id]);
      if (kind === 2) throw new Refused(answer);
      return answer;
    }
  }
  /** Returns the next event of a method. */
  async event(method: number): Promise<Body> {
    for (;;) {
      const index = this.events.findIndex(([each]) => each === method);
      if (index >= 0) return this.events.splice(index, 1)[0]![1];
      const [[kind, got], body] = await this.receive();
      assert.equal(kind, 3);
      this.events.push([got, body]);
    }
  }
  view(known?: number): Promise<Body> {
    return this.ask(method.project, { window: 1, lod: "full", budget: 1000, known_version: known });
  }
  invoke(action: string, given: Body = {}, more: Body = {}): Promise<Body> {
    const args = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, arg(value)]));
    const common = { seen_version: 1, reader: "me", run_id: "run", cwd: "/w" };
    return this.ask(method.invoke, { action, args, ...common, ...more });
  }
  /** Carries out an action and returns its done outcome. */
  async do(action: string, args: Body = {}): Promise<Body> {
    const outcome = await this.invoke(action, args);
    assert.ok(outcome.done, JSON.stringify(outcome));
    return outcome.done;
  }
  /** The things that the view shows. */
  async refs(): Promise<Body[]> {
    const slots = (await this.view()).content.filter((each: Body) => each.object);
    return slots.map(({ object: { key, rev, type } }: Body) => ({ key, rev, type }));
  }
  async close(): Promise<void> {
    const ended = once(this.process, "exit");
    await this.ask(method.close, {});
    assert.deepEqual(await ended, [0, null]);
  }
  kill(): void {
    this.process.kill("SIGKILL");
    this.stream.destroy();
  }
}

/** An argument as the daemon sends it. */
function arg(value: unknown): Body {
  const isRef = (value: any) => typeof value === "object" && "key" in value;
  if (Array.isArray(value) && value.some(isRef)) return { list: value.map(arg) };
  return isRef(value) ? { ref: value } : { value: pack(value) };
}
