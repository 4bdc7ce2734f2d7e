// The ways in which a scripted agent reaches its project, and what it writes and reads there: a shell, with or without
// PipeMux's commands, or servers of the Model Context Protocol on real standard streams.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const CALL_SECONDS = 120;

// What a model sees of a harness's shell tool. Both sides that use a shell pay for it.
const SHELL_TOOL = {
  name: "bash",
  description: "Runs a bash command line in the project's folder and returns what it prints.",
  inputSchema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
};

// One agent's transcript: the tools' definitions, then turns. A turn is one message of the model, with one call or,
// where none depends on another's result, several.
export class Transcript {
  definitions = [];
  turns = [];

  // Notes a turn: each part has a `label`, what the model `wrote` and what it `read`. A turn that `teaches` is needed
  // once a session, like the definitions.
  add(parts, teaches = false) {
    this.turns.push(Object.assign(parts, { teaches }));
  }

  get calls() {
    return this.turns.reduce((sum, parts) => sum + parts.length, 0);
  }
}

export class ShellAgent {
  transcript = new Transcript();

  constructor(project, environment) {
    Object.assign(this, { project, environment });
    this.transcript.definitions.push({ label: "definition of the shell tool", text: JSON.stringify(SHELL_TOOL) });
  }

  // Runs a command line as one turn; returns what it printed.
  turn(command) {
    return this.#run(command, false);
  }

  // The same for a command that prints what can be called.
  learn(command) {
    return this.#run(command, true);
  }

  async #run(command, teaches) {
    const { output, status } = await run(command, this.project, this.environment);
    const read = status === 0 ? output : `exit status ${status}\n${output}`;
    this.transcript.add([{ label: command, wrote: written("bash", { command }), read }], teaches);
    return read;
  }

  async close() {}
}

export class McpAgent {
  transcript = new Transcript();
  servers = [];

  // Starts servers, each `{name, command: [program, arguments…], environment}`, and learns their tools.
  static async start(project, servers) {
    const agent = new McpAgent();
    for (const { name, command, environment } of servers) {
      const server = new Server(command, project, environment);
      agent.servers.push(server);
      const tools = await server.greet();
      for (const tool of tools) {
        server.tools.add(tool.name);
      }
      // Names, descriptions and schemas are what harnesses show a model; annotations and output schemas are not.
      const seen = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
      const text = JSON.stringify(seen) + server.instructions;
      agent.transcript.definitions.push({ label: `definitions of ${name}'s ${tools.length} tools`, text });
    }
    return agent;
  }

  // Carries out calls, each `[tool, arguments]`, as one turn; returns the last one's text.
  async turn(...calls) {
    const parts = [];
    for (const [tool, args] of calls) {
      const server = this.servers.find((one) => one.tools.has(tool));
      const result = await server.request("tools/call", { name: tool, arguments: args });
      const read = result.content.map((piece) => piece.text ?? "").join("\n");
      parts.push({ label: `${tool} ${JSON.stringify(args)}`, wrote: written(tool, args), read });
    }
    this.transcript.add(parts);
    return parts.at(-1).read;
  }

  async close() {
    await Promise.all(this.servers.map((server) => server.close()));
  }
}

// A call as a model writes it: the tool's name and its arguments in JSON.
const written = (tool, args) => JSON.stringify({ name: tool, arguments: args });

class Server {
  tools = new Set();
  instructions = "";
  #waiting = new Map();
  #last = 0;

  constructor([program, ...args], cwd, env) {
    this.process = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
    this.ended = new Promise((resolve) => this.process.once("close", resolve));
    // A server that ends early breaks the pipe; the requests that wait tell of it.
    this.process.stdin.on("error", () => {});
    this.process.once("error", (error) => this.#fail(error));
    this.process.once("close", () => this.#fail(new Error(`${program} ended`)));
    createInterface({ input: this.process.stdout }).on("line", (line) => this.#take(JSON.parse(line)));
  }

  async greet() {
    const clientInfo = { name: "savings", version: "1" };
    const greeting = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    this.instructions = (await this.request("initialize", greeting)).instructions ?? "";
    this.#send({ method: "notifications/initialized" });
    return (await this.request("tools/list", {})).tools;
  }

  request(method, params) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${method}: no answer`)), CALL_SECONDS * 1000);
      this.#waiting.set(id, { resolve, reject, late });
      this.#send({ id, method, params });
    });
  }

  async close() {
    this.process.stdin.end();
    const late = setTimeout(() => this.process.kill("SIGKILL"), 10_000);
    await this.ended;
    clearTimeout(late);
  }

  #send(message) {
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #take(message) {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    this.#waiting.delete(message.id);
    clearTimeout(waiting.late);
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result);
  }

  #fail(error) {
    for (const { reject, late } of this.#waiting.values()) {
      clearTimeout(late);
      reject(error);
    }
    this.#waiting.clear();
  }
}

// Runs a bash command line; its output is what it prints on both streams, in the order in which it comes.
export function run(command, cwd, env, input = "") {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", `exec 2>&1\n${command}`], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
    const late = setTimeout(() => child.kill("SIGKILL"), CALL_SECONDS * 1000);
    const chunks = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    child.once("error", reject);
    child.once("close", (code, signal) => {
      clearTimeout(late);
      if (signal) reject(new Error(`${command}: ended by ${signal}`));
      else resolve({ output: Buffer.concat(chunks).toString(), status: code });
    });
  });
}
