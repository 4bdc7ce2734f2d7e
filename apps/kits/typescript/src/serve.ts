/** Runs an app on its connection to the daemon. */

import { Socket } from "node:net";
import { basename, extname, resolve } from "node:path";

import { prototypes, type App } from "./app.ts";
import { encodeFrame, pack, takeFrames, unpack } from "./codec.ts";
import { describe, Fault, Mistake } from "./errors.ts";
import { Session } from "./session.ts";

const [REQUEST, REPLY, FAULT, EVENT] = [0, 1, 2, 3];
const [HELLO, OPEN, PING, CLOSE] = [0, 1, 6, 8];
const ANSWER_MAX = 1_048_512;

/** Serves an app until the daemon ends it. Call it at the end of the app's program. */
export function run<S>(app: App<S>): void {
  try {
    const signatures = prototypes(app);
    if (process.env.PIPEMUX_FD === undefined) throw new Mistake(howToStart());
    serve(app, new Socket({ fd: Number(process.env.PIPEMUX_FD) }), signatures);
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}

function howToStart(): string {
  const file = basename(process.argv[1] ?? "", extname(process.argv[1] ?? "")).toLowerCase();
  const name = /^[a-z][a-z0-9-]{0,31}$/.test(file) ? file : "app";
  const lines = [`id = "${name}"`, `command = "${process.execPath}"`, `args = ["${resolve(process.argv[1] ?? "")}"]`];
  const next = `pipemux app add ${name}.toml && pipemux open ${name}`;
  return [`PipeMux starts this app. Write ${name}.toml, then: ${next}`, ...lines].join("\n");
}

function serve<S>(app: App<S>, socket: Socket, signatures: unknown): void {
  const sessions = new Map<unknown, Session<S>>();
  let incarnation: unknown = 0;
  let features: string[] = [];
  let received = Buffer.alloc(0);
  let queue: Promise<unknown> = Promise.resolve();

  const send = (kind: number, method: number, id: unknown, life: unknown, body: unknown) =>
    socket.write(encodeFrame([kind, method, id, life, 0], pack(body)));
  // What is asked of the app is done one after the other.
  const enqueue = (work: () => unknown) => (queue = queue.then(work).catch((error) => console.error(error)));

  send(EVENT!, HELLO!, 0, 0, {
    protocol: { major: 1, minor: 6 },
    role: "app",
    software: "pipemux-typescript 0.1.0",
    features: ["value-files", ...(app.perReader ? ["per-reader"] : [])],
    prototypes: signatures,
  });
  socket.on("close", () => process.exit());
  socket.on("error", () => process.exit());
  socket.on("data", (data) => {
    const [frames, rest] = takeFrames(Buffer.concat([received, data]));
    received = Buffer.from(rest);
    for (const [envelope, body] of frames) enqueue(() => handle(envelope, body));
  });

  async function handle([kind, method, id, life]: any[], data: Buffer): Promise<void> {
    if (kind === EVENT && method === HELLO) [incarnation, features] = [life, unpack(data)[0].features ?? []];
    if (kind !== REQUEST) return;
    try {
      const answer = pack(await answerTo(method, life, data));
      if (answer.length > ANSWER_MAX) throw new Fault("the app's answer is longer than 1 MiB", { code: "refused" });
      socket.write(encodeFrame([REPLY, method, id, life, 0], answer));
    } catch (error) {
      if (!(error instanceof Fault)) console.error(error);
      send(FAULT!, method, id, life, describe(error));
    }
    if (method === CLOSE && (life === incarnation || sessions.size === 0)) socket.end(() => process.exit());
  }

  async function answerTo(method: number, life: unknown, data: Buffer): Promise<unknown> {
    if (method === CLOSE) sessions.get(life)?.end();
    if (method === CLOSE) sessions.delete(life);
    if (method === PING || method === CLOSE) return {};
    if (method === OPEN && !sessions.has(life)) {
      const event = (method: number, body: object) => send(EVENT!, method, 0, life, body);
      sessions.set(life, new Session(app, { send: event, enqueue, features }));
    }
    const session = sessions.get(life);
    if (!session) throw new Fault("there is no such session", { code: "refused" });
    const [body] = unpack(data);
    if (Object.getPrototypeOf(body ?? 0) !== Object.prototype) throw new Fault("the body is no map", { code: "refused" });
    return session.answer(method, body);
  }
}
