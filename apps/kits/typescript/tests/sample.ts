/** A to-do list that uses all parts of the kit; the tests drive it. */

import { action, bool, Code, Done, Fault, float, int, Job, link, list, oneOf, optional, path, run, str, thing } from "../src/index.ts";
import type { Thing } from "../src/index.ts";

interface Item extends Thing {
  folded: boolean;
}
interface Todo {
  items: Item[];
  next: number;
  due: number | null;
  rung: number;
}

const item = () => thing<Item>("item");

function addItem(todo: Todo, label: string): void {
  todo.items.push({ key: `i${todo.next}`, type: "item", label, folded: false });
  todo.next += 1;
}

const add = action({
  doc: "Adds an item.",
  prominence: "featured",
  input: true,
  params: { text: str().doc("What is to be done.") },
  run(todo: Todo, { text }) {
    addItem(todo, text);
    return `${todo.items.length} to do`;
  },
});

const edit = action({
  params: { item: item(), text: str() },
  run(_: Todo, { item, text }) {
    item.label = text;
  },
});

const done = action({
  params: { items: list(item()) },
  run(todo: Todo, { items }) {
    todo.items = todo.items.filter((each) => !items.includes(each));
    return new Done(`${items.length} done`).link("add it again", add, { text: items[0]!.label });
  },
});

const fold = action({
  params: { item: item(), yes: bool().default(true) },
  run(_: Todo, { item, yes }) {
    item.folded = yes;
  },
});

const fail = action({
  doc: "Adds an item and then fails.",
  params: { text: str() },
  run(todo: Todo, { text }) {
    addItem(todo, text);
    throw new RangeError(`no ${text}`);
  },
});

const clear = action({
  risk: "destructive",
  previews: true,
  run(todo: Todo, _, context) {
    context.confirm(`${todo.items.length} items`, todo.items);
    todo.items = [];
    return "all gone";
  },
});

const rename = action({
  doc: "Asks twice.",
  run(todo: Todo, _, context) {
    const item = context.pick("which one?", todo.items);
    todo.rung += 1;
    item.label = context.ask(`a new name for ${item.label}?`);
    return `now ${item.label}`;
  },
});

const prune = action({
  run(todo: Todo, _, context) {
    const gone = context.pickMany("which ones?", todo.items);
    todo.items = todo.items.filter((each) => !gone.includes(each));
    return `${gone.length} gone`;
  },
});

const count = action({
  doc: "Counts the items with a text.",
  risk: "query",
  returns: int(),
  params: { of: str().default("") },
  run({ items }: Todo, { of }) {
    const found = items.filter((each) => each.label.includes(of));
    return new Done("", { value: found.length }).show(`${found.length} found: `, ...found);
  },
});

const spoil = action({
  doc: "Leaves a state that can't be saved.",
  run(todo: Todo) {
    todo.rung = NaN;
    return "spoilt";
  },
});

const cheat = action({
  risk: "query",
  run(todo: Todo) {
    todo.items = [];
    return "nothing to see";
  },
});

const remind = action({
  params: { seconds: float() },
  run(todo: Todo, { seconds }) {
    todo.due = Date.now() + seconds * 1000;
    return "set";
  },
});

const types = action({
  params: { file: path(), how: oneOf("a", "b").default("a"), note: optional(str()), counts: optional(list(int())) },
  run: (_: Todo, { file, how, note, counts }, { reader }) =>
    `${file} ${how} ${note} ${JSON.stringify(counts)} ${reader}`,
});

const work = action({
  doc: "Starts a job.",
  params: { steps: int().default(3) },
  run(_: Todo, { steps }) {
    const all = async (job: Job<Todo, number>) => {
      for (let step = 0; step < steps; step += 1) {
        job.progress(step, `step ${step}`);
        job.output(`did ${step}\n`);
      }
      if (steps > 100) throw new Fault("too much");
      if (steps === 0) await new Promise((end) => job.abort.signal.addEventListener("abort", end));
      return steps;
    };
    const worked = (todo: Todo, steps: number) => {
      todo.rung += steps;
      return `${steps} steps`;
    };
    return new Job("work", all, worked, steps);
  },
});

const later = action({
  doc: "Changes after it was answered.",
  run(_: Todo, __, { handle }) {
    setImmediate(() => handle.post((todo) => addItem(todo, "later")));
    handle.notify("soon there is one more");
    return "begun";
  },
});

run<Todo>({
  state: () => ({ items: [], next: 1, due: null, rung: 0 }),
  actions: { add, edit, done, fold, fail, clear, rename, prune, count, spoil, cheat, remind, types, work, later },
  opened: (_, { args }) => (args.length > 0 ? [`opened with ${args.join(" ")}`] : []),
  view({ items, rung }, view) {
    view.title = `${items.length} to do · rung ${rung}`;
    for (const item of items.filter(({ folded }) => !folded)) {
      view.line`- ${item} ${link("done", done, { items: [item] })}`;
    }
    if (view.lod === "full" && items.length > 5) view.write(new Code("many\n"));
  },
  hidden: (_, item) => ((item as Item).folded ? "it is folded" : undefined),
  gone: ({ next }, key) => (Number(key.slice(1)) < next ? "it was done" : undefined),
  read: (_, { label }) => `to do: ${label}`,
  nextWake: ({ due }) => due ?? undefined,
  onWake(todo, { notify }) {
    todo.due = null;
    todo.rung += 1;
    notify("it is time");
  },
});
