// The files that the tasks begin with: the same in every run.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

// Writes files, given as an object from path to content, below a folder.
export function write(folder, files) {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

// Twelve whole words `get_price` in three files, of which the one in LABEL and the one in the docstring must stay; and
// `get_price_list`, which is another function.
export const shop = {
  "shop/__init__.py": "",
  "shop/stock.py": `"""Stock of the shop."""


def get_price(item, table):
    """get_price looks the price up; see get_price_list for all."""
    return table[item]


def get_price_list(table):
    return [get_price(item, table) for item in sorted(table)]


class Stock:
    def __init__(self, table):
        self.table = table

    def total(self):
        return sum(get_price(item, self.table) for item in self.table)

    def dearest(self):
        return max(self.table, key=lambda item: get_price(item, self.table))
`,
  "shop/bill.py": `from shop.stock import get_price, Stock


LABEL = "get_price"  # shown to the user, a key of the translation table


def bill(items, table):
    lines = []
    for item in items:
        price = get_price(item, table)
        lines.append(f"{item}: {price:.2f}")
    lines.append(f"sum: {sum(get_price(i, table) for i in items):.2f}")
    return "\\n".join(lines)
`,
  "shop/report.py": `from shop import stock


def report(table):
    out = []
    for item in table:
        out.append((item, stock.get_price(item, table)))
    cheapest = min(stock.get_price(i, table) for i in table)
    dearest = max(stock.get_price(i, table) for i in table)
    return out, cheapest, dearest
`,
};

export const shopRenamed = Object.fromEntries(
  Object.entries(shop).map(([path, content]) => [
    path,
    content.replace(/^.*$/gm, (line) => (/^LABEL|"""get_price/.test(line) ? line : line.replace(/\bget_price\b/g, "price_of"))),
  ]),
);

// A multiplicative generator: the texts only have to be varied, and the same everywhere.
function pseudorandom(seed) {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

function lines(count, random) {
  const words = "alpha beta gamma delta kappa sigma omega river stone cloud paper glass".split(" ");
  const line = () => Array.from({ length: 9 }, () => words[random(words.length)]).join(" ");
  return Array.from({ length: count }, line).join("\n");
}

const random = pseudorandom(7);
const part = (name, index, count) => `## ${name} ${index}\n\n${lines(count, random)}\n\n`;
const sections = [1, 2, 3, 4, 5, 6].map((index) => part("Section", index, index === 3 ? 197 : 30));
const parts = [1, 2, 3, 4].map((index) => part("Part", index, 25));

// The third section has 200 lines, its heading and the empty line behind it included.
export const guides = { "guide.md": `# Guide\n\n${sections.join("")}`, "manual.md": `# Manual\n\n${parts.join("")}` };
export const movedSection = sections[2];
export const guidesMoved = {
  "guide.md": `# Guide\n\n${sections.filter((_, index) => index !== 2).join("")}`,
  "manual.md": `# Manual\n\n${[...parts.slice(0, 2), movedSection, ...parts.slice(2)].join("")}`,
};

// 500 notes. 'quartz' is in 14 of them and 'humidity' in 13, both only in the note 317, with twelve words between.
const NOTES = 500;
export const wantedNote = 317;
export const notes = Array.from({ length: NOTES }, (_, index) => {
  const words = "harbor lantern meadow copper violet thunder basket marble falcon winter timber saddle".split(" ");
  const text = Array.from({ length: 40 }, () => words[random(words.length)]);
  if (index % 41 === 5) text[11] = "quartz";
  if (index % 41 === 22) text[29] = "humidity";
  const own = "The quartz crystal in the old clock was replaced; its frequency drifts with the humidity of the cellar.";
  return { title: `Note ${index}`, text: index === wantedNote ? own : text.join(" ") };
});
export const noteFile = (index) => `notes/n${String(index).padStart(3, "0")}.md`;
export const noteFiles = Object.fromEntries(
  notes.map(({ title, text }, index) => [noteFile(index), `# ${title}\n\n${text}\n`]),
);

// A configuration of 40 servers with five lines each; four of them, 20 lines, are edited.
export const server = (index, timeout = 30, host = `10.0.0.${index}`) =>
  `[server${index}]\nhost = ${host}\nport = ${8000 + index}\ntimeout = ${timeout}\n\n`;
const servers = (make) => Array.from({ length: 40 }, (_, index) => make(index + 1)).join("");
const isEdited = (index) => index >= 11 && index <= 14;
export const editedBlock = [11, 12, 13, 14].map((index) => server(index, 45, `web${index}.example.org`)).join("");
export const originalBlock = [11, 12, 13, 14].map((index) => server(index)).join("");
export const config = { "config.ini": servers((index) => server(index)) };
// Meanwhile somebody adds two lines at the top, and changes a line in the middle of the block that the agent rewrites.
const HEADER = "# edited elsewhere\n\n";
export const configChangedElsewhere = {
  "config.ini": HEADER + servers((index) => server(index, index === 12 ? 60 : 30)),
};
export const configEdited = {
  "config.ini": HEADER + servers((index) => (isEdited(index) ? server(index, 45, `web${index}.example.org`) : server(index))),
};
