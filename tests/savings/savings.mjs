// Carries out the five tasks with scripted agents and prints what each side costs. Argument 1 is the folder with the
// programs, argument 2 the one with the node modules. `--quick` takes one script of each side and samples briefly, as a
// check of this program; `--verbose` prints the transcripts. It fails when a task doesn't end in the right state, and never because of a count.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { McpAgent, ShellAgent, run } from "./agents.mjs";
import { count, joined, vocabularies } from "./count.mjs";
import { notes, write } from "./inputs.mjs";
import { report } from "./report.mjs";
import { session, tasks } from "./tasks.mjs";

const [programs, modules] = process.argv.slice(2, 4).map((path) => resolve(path));
const quick = process.argv.includes("--quick");
const verbose = process.argv.includes("--verbose");
const samples = quick ? 3 : 20;

const home = mkdtempSync(join(tmpdir(), "savings-"));
const environment = {
  HOME: home,
  XDG_RUNTIME_DIR: join(home, "run"),
  TMPDIR: join(home, "tmp"),
  PATH: `${programs}:${process.env.PATH}`,
  LANG: "C.UTF-8",
  GIT_CONFIG_NOSYSTEM: "1",
};
for (const folder of ["run", "tmp"]) mkdirSync(join(home, folder), { mode: 0o700 });

const official = (name) => ["node", join(modules, `@modelcontextprotocol/server-${name}/dist/index.js`)];

// Lays a task out in a project of its own and carries out one script; returns what it cost, or how it went wrong.
async function attempt(task, script, index) {
  const project = join(home, task.name, String(index));
  const memoryFile = join(home, task.name, `memory-${index}.jsonl`);
  const shell = async (command, input) => (await run(command, project, environment, input)).output;
  const world = { project, memoryFile, samples, shell };
  write(project, task.files);
  await shell("git init -q && git add . && git -c user.name=a -c user.email=a commit -qm start");
  if (script.side === "memory") {
    const entities = notes.map(({ title, text }) =>
      `${JSON.stringify({ type: "entity", name: title, entityType: "note", observations: [text] })}`);
    writeFileSync(memoryFile, entities.join("\n"));
  }
  await script.prepare?.(world);
  const agent = await start(script, project, memoryFile);
  if (script.skill) {
    const { output } = await run("pipemux skill", project, environment);
    agent.transcript.definitions.push({ label: "the skill", text: output });
  }
  const { side, variant, blind } = script;
  const result = { side, variant, blind, transcript: agent.transcript };
  try {
    await script.run(agent, world);
    await agent.close();
    await task.check(world, result);
  } catch (error) {
    result.failure = error;
    await agent.close();
  }
  if (verbose || result.failure) show(task, result);
  return counted(result);
}

function counted(result) {
  for (const [name, vocabulary] of Object.entries(vocabularies)) result[name] = count(result.transcript, vocabulary);
  return result;
}

function start({ side }, project, memoryFile) {
  const servers = {
    mcp: { name: "PipeMux", command: [join(programs, "pipemux"), "mcp"], environment },
    filesystem: { name: "server-filesystem", command: [...official("filesystem"), project], environment },
    memory: { name: "server-memory", command: official("memory"), environment: { ...environment, MEMORY_FILE_PATH: memoryFile } },
  };
  return side in servers ? McpAgent.start(project, [servers[side]]) : new ShellAgent(project, environment);
}

function show(task, { side, variant, transcript, failure }) {
  console.log(`=== ${task.name}, ${side}${variant ? ` (${variant})` : ""}`);
  for (const { wrote, read } of transcript.turns.flat()) console.log(`>>> ${wrote}\n${read}`);
  if (failure) console.log(`FAILED: ${failure.stack}`);
}

// Returns what the sides cost in one conversation with the tasks that the official servers can do; these are one side
// together. Of each side it is the first script of each task, the one of an agent that looks before it acts.
function inOneSession(results) {
  const sides = [
    ["mcp", undefined],
    ["cli", undefined],
    ["cli", "with the skill"],
    ["filesystem and memory", undefined],
    ["shell", undefined],
  ];
  return sides.flatMap(([side, variant]) => {
    const first = session.map((task) =>
      results.find((one) => one.task === task && side.includes(one.side) && (side === "shell" || one.variant === variant)));
    if (first.includes(undefined)) return [];
    const failure = first.find((one) => one.failure)?.failure;
    return counted({ side, variant, transcript: joined(first.map((one) => one.transcript)), failure });
  });
}

// Leaves a script out whose programs the machine doesn't have.
function hasPrograms({ needs = [] }) {
  const missing = needs.filter((program) =>
    !process.env.PATH.split(":").some((folder) => existsSync(join(folder, program))));
  if (missing.length > 0) console.log(`left out: a script that needs ${missing.join(", ")}`);
  return missing.length === 0;
}

const results = [];
try {
  for (const task of tasks) {
    const isFirst = (script, index) => task.scripts.findIndex((one) => one.side === script.side) === index;
    const scripts = (quick ? task.scripts.filter(isFirst) : task.scripts).filter(hasPrograms);
    for (const [index, script] of scripts.entries()) {
      results.push({ task, ...(await attempt(task, script, index)) });
    }
  }
} finally {
  await run("pipemux down", home, environment).catch(() => {});
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
console.log(report(results, inOneSession(results), samples));
const wrong = results.filter((one) => one.failure).length;
console.log(`${results.length - wrong} passed, ${wrong} failed`);
process.exitCode = wrong === 0 ? 0 : 1;
