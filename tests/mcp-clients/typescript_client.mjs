// The editor's task with the official TypeScript SDK's client: argument 1 is `pipemux`, argument 2 the project,
// argument 3 the directory in which the SDK is installed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [pipemux, project, modules] = process.argv.slice(2);
const sdk = (file) => import(pathToFileURL(join(modules, "@modelcontextprotocol/sdk/dist/esm/client", file)));
const { Client } = await sdk("index.js");
const { StdioClientTransport } = await sdk("stdio.js");

const client = new Client({ name: "story", version: "1" });
const env = { ...process.env };
await client.connect(new StdioClientTransport({ command: pipemux, args: ["mcp"], cwd: project, env }));
const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ["ask", "run_code_snippet", "open", "close"]);
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  console.log(`> ${name} ${JSON.stringify(args)}\n${result.content[0].text}`);
  return result;
};
const renamed = await call("run_code_snippet", { code: "editor.rename('greet', 'welcome')" });
assert.match(renamed.content[0].text, /1 done · rename/);
assert.match(readFileSync(join(project, "a.rs"), "utf8"), /fn welcome/);
assert.equal((await call("ask", { code: "editor.undo()" })).isError, true);
await call("run_code_snippet", { code: "undo" });
await call("open", { app: "editor", args: ["a.rs"] });
const { resources } = await client.listResources();
assert.deepEqual(resources.map((one) => one.uri), ["pipemux://editor/main"]);
const { contents } = await client.readResource({ uri: resources[0].uri });
assert.match(contents[0].text, /fn greet/);
await client.close();
console.log("the TypeScript SDK's client: done");
