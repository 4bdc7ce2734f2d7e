// The tables that are printed: costs, aims, and where PipeMux loses with the texts that cost most.

const OURS = ["mcp", "cli"];
const OFFICIAL = ["filesystem", "memory"];
const LARGEST = 3;
const LABEL_LENGTH = 90;

const title = ({ side, variant }) => {
  const names = { mcp: "PipeMux MCP", cli: "PipeMux CLI", filesystem: "server-filesystem", memory: "server-memory" };
  return `${names[side] ?? side}${variant ? `, ${variant}` : ""}`;
};
const figure = (value) => value.toLocaleString("en-US");
const ratio = (value) => (value < 0.1 ? value.toFixed(3) : value.toFixed(2));
const least = (results, measure) =>
  results.reduce((best, one) => (best && best.o200k[measure] <= one.o200k[measure] ? best : one), undefined);

// Reports results, of which each has a `task`, and what the sides cost `inOneSession`.
export function report(results, inOneSession, samples) {
  const tasks = [...new Set(results.map((one) => one.task))];
  const of = (task) => results.filter((one) => one.task === task);
  const sections = tasks.map((task) => {
    const heading = `${task.number}. ${task.name}: ${task.title}`.replace("20 times", `${samples} times`);
    return costs(heading, of(task));
  });
  sections.push(costs("In one session: rename, move, note and stale, with definitions and help once", inOneSession));
  return [...sections, aims(tasks, of), losses(tasks, of)].join("\n");
}

function costs(heading, results) {
  const rows = results.map((one) => {
    const { o200k, cl100k } = one;
    const state = one.failure ? "WRONG" : "right";
    const tokens = [o200k.work, o200k.once, o200k.sent, cl100k.once, cl100k.sent].map(figure);
    const cells = [title(one), o200k.turns, o200k.calls, ...tokens, state];
    return `| ${cells.join(" | ")} |`;
  });
  return `${heading}
| side | turns | calls | o200k work | once | sent | cl100k once | sent | state |
|---|---|---|---|---|---|---|---|---|
${rows.join("\n")}
`;
}

// Each aim is printed as met or missed, for each of PipeMux's sides, against the best of the others.
function aims(tasks, of) {
  const lines = [];
  for (const task of tasks) {
    const others = of(task).filter((one) => !OURS.includes(one.side));
    const official = others.filter((one) => OFFICIAL.includes(one.side));
    const shell = others.filter((one) => one.side === "shell");
    const bars = [];
    if (official.length > 0) bars.push(["the official server", official, 0.1]);
    if (task.number <= 2) bars.push(["the best shell script", shell, 1]);
    if (task.number === 4) bars.push(["repeated top", shell.filter((one) => one.variant === "repeated top"), 0.05]);
    for (const ours of of(task).filter((one) => OURS.includes(one.side))) {
      for (const [name, rivals, factor] of bars.filter(([, rivals]) => rivals.length > 0)) {
        const told = ["work", "once", "sent"].map((measure) => {
          const value = ours.o200k[measure] / least(rivals, measure).o200k[measure];
          return `${measure} ${ratio(value)} ${value <= factor ? "met" : "missed"}`;
        });
        lines.push(`${task.name}, ${title(ours)}: ≤ ${factor} × ${name}: ${told.join(", ")}`);
      }
      // A script that looks first is compared with such scripts.
      const comparable = others.filter((one) => ours.blind || !one.blind);
      if (comparable.length === 0) continue;
      const turns = Math.min(...comparable.map((one) => one.o200k.turns));
      const met = ours.o200k.turns <= turns ? "met" : "missed";
      lines.push(`${task.name}, ${title(ours)}: never more turns: ${ours.o200k.turns} against ${turns}: ${met}`);
    }
  }
  return `Aims, in tokens of o200k\n${lines.map((line) => `- ${line}`).join("\n")}\n`;
}

// Wherever another side is cheaper, the largest texts of PipeMux's side say what to look at.
function losses(tasks, of) {
  const lines = [];
  for (const task of tasks) {
    const others = of(task).filter((one) => !OURS.includes(one.side));
    if (others.length === 0) continue;
    for (const ours of of(task).filter((one) => OURS.includes(one.side))) {
      const ahead = ["work", "once", "sent", "turns"].flatMap((measure) => {
        const best = least(others, measure);
        const [own, other] = [ours.o200k[measure], best.o200k[measure]];
        return own > other ? [`${measure} ${figure(own)} against ${figure(other)} (${title(best)})`] : [];
      });
      if (ahead.length === 0) continue;
      lines.push(`- ${task.name}, ${title(ours)}: ${ahead.join("; ")}`);
      for (const { label, size } of ours.o200k.parts.slice(0, LARGEST)) {
        lines.push(`    ${figure(size)} ${label.replaceAll("\n", "⏎").slice(0, LABEL_LENGTH)}`);
      }
    }
  }
  return `Where PipeMux loses, with its largest texts\n${lines.join("\n") || "nowhere"}\n`;
}
