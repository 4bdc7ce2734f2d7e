// Scripts of agents with PipeMux: the same steps over MCP, on the command line with a help call, and on the command line
// with the skill in the prompt.

// A step is what a model decides to do; each side writes it in its own way.
const steps = {
  ask: (code) => ({ tool: "ask", verb: "ask", code }),
  // `verify` is a query by which an agent on the command line looks at what it did; an act's result over MCP shows that.
  run: (code, { stdin, verify } = {}) => ({ tool: "run_code_snippet", verb: "run", code, stdin, verify }),
  // Repeats a refused act, corrected, in the cheapest of the ways that the refusal names.
  recover: (code, { stdin }) => ({ tool: "run_code_snippet", verb: "answer", code, stdin }),
  // A look at an app's window, which the first of them opens.
  look: (app) => ({ look: app }),
  // What somebody else does between two turns; no model writes it.
  outside: (act) => ({ act }),
};

// Returns the scripts of the three sides. `prepare` lays out what isn't in files; nobody pays for it.
export function pipemux(plan, { prepare, variant, blind = false } = {}) {
  const carryOut = (write) => async (agent, world) => {
    const opened = new Set();
    let read = "";
    for (const step of plan(steps, world)) {
      if (step.act) {
        await step.act(world);
      } else {
        read = await agent.turn(write({ ...step, opens: !opened.has(step.look), refusal: read }));
        opened.add(step.look);
      }
    }
  };
  const commands = carryOut(commandLine);
  const withHelp = async (agent, world) => {
    await agent.learn("pipemux --help");
    await commands(agent, world);
  };
  const named = (name) => [name, variant].filter(Boolean).join(", ") || undefined;
  return [
    { side: "mcp", variant: named(), blind, prepare, run: carryOut(toolCall) },
    { side: "cli", variant: named(), blind, prepare, run: withHelp },
    { side: "cli", variant: named("with the skill"), blind, skill: true, prepare, run: commands },
  ];
}

function toolCall({ tool, verb, code, stdin, look, opens, refusal }) {
  if (look) return opens ? ["open", { app: look }] : ["ask", { code: `view ${look}/main` }];
  if (verb === "answer" && refusal.includes("answer go")) return [tool, { code: "answer go" }];
  return [tool, { code: stdin === undefined ? code : code.replace("stdin", `<<END\n${stdin}END\n`) }];
}

function commandLine({ verb, code, stdin, verify, look, opens, refusal }) {
  if (look) return opens ? `pipemux open ${look}` : `pipemux view ${look}/main`;
  if (verb === "answer" && refusal.includes("pipemux answer go")) return "pipemux answer go";
  const line = `pipemux ${verb} "${[code, verify].filter(Boolean).join("; ")}"`;
  // A refused act's standard input is kept.
  return stdin === undefined || verb === "answer" ? line : `${line} <<'END'\n${stdin}END`;
}
