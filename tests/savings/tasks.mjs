// The five tasks: what each begins with, the scripts of its agents, and what must be there in the end. README.md says
// where each script comes from. A script gets an agent and a `world`; it writes only what a model would write. A `blind`
// one acts without a look at the files.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as inputs from "./inputs.mjs";
import { pipemux } from "./pipemux.mjs";

const files = (expected) => (world) => {
  for (const [path, content] of Object.entries(expected)) {
    assert.equal(readFileSync(join(world.project, path), "utf8"), content, path);
  }
};

const rename = {
  name: "rename",
  title: "rename a function: 12 matches in 3 files, of which 2 must not change",
  number: 1,
  files: inputs.shop,
  check: files(inputs.shopRenamed),
  scripts: [
    ...pipemux((step) => [
      step.ask("editor.find('get_price', in='shop', word=true)"),
      step.run("editor.rename('get_price', 'price_of')", { verify: "editor.diff(in='shop')" }),
    ]),
    ...pipemux((step) => [step.run("editor.rename('get_price', 'price_of')")], { variant: "one call", blind: true }),
    {
      side: "filesystem",
      run: async (agent) => {
        await agent.turn(["list_directory", { path: "shop" }]);
        const paths = ["shop/stock.py", "shop/bill.py", "shop/report.py"];
        await agent.turn(["read_multiple_files", { paths }]);
        // Whole lines, since of a text that occurs twice only the first is replaced.
        const edits = (path) => inputs.shop[path].split("\n").flatMap((line, index) => {
          const newText = inputs.shopRenamed[path].split("\n")[index];
          return line === newText ? [] : [{ oldText: line.trim(), newText: newText.trim() }];
        });
        await agent.turn(...paths.map((path) => ["edit_file", { path, edits: edits(path) }]));
      },
    },
    {
      side: "shell",
      run: async (agent) => {
        await agent.turn("grep -rnw get_price shop");
        await agent.turn(String.raw`sed -i -E '/^LABEL|"""/!s/\bget_price\b/price_of/g' shop/*.py; git diff -U0 shop`);
      },
    },
    {
      side: "shell",
      variant: "one script, knowing the files",
      blind: true,
      run: (agent) =>
        agent.turn(String.raw`sed -i -E '/^LABEL|"""/!s/\bget_price\b/price_of/g' shop/*.py; grep -rnw get_price shop`),
    },
  ],
};

const move = {
  name: "move",
  title: "move a section of 200 lines to another file",
  number: 2,
  files: inputs.guides,
  check: files(inputs.guidesMoved),
  scripts: [
    ...pipemux((step) => [
      step.ask("editor.find('^## (Section [34]|Part 3)$', in=['guide.md', 'manual.md'], regex=true)"),
      step.ask("editor.lines('guide.md:66-71'); editor.lines('guide.md:266-270'); editor.lines('manual.md:56-60')"),
      step.run("editor.move('guide.md#Section 3', before='manual.md#Part 3')", { verify: "editor.diff()" }),
    ]),
    ...pipemux((step) => [step.run("editor.move('guide.md#Section 3', before='manual.md#Part 3')")], {
      variant: "one call",
      blind: true,
    }),
    {
      side: "filesystem",
      run: async (agent) => {
        await agent.turn(["read_text_file", { path: "guide.md" }], ["read_text_file", { path: "manual.md" }]);
        const before = "## Part 3\n";
        const edits = [{ oldText: before, newText: inputs.movedSection + before }];
        const removal = [{ oldText: inputs.movedSection, newText: "" }];
        await agent.turn(["edit_file", { path: "manual.md", edits }], ["edit_file", { path: "guide.md", edits: removal }]);
      },
    },
    {
      side: "shell",
      run: async (agent) => {
        await agent.turn("grep -n '^## ' guide.md manual.md; sed -n '66,71p;266,270p' guide.md; sed -n 56,60p manual.md");
        await agent.turn(
          "sed -n 69,268p guide.md > $TMPDIR/part && sed -i \"58r $TMPDIR/part\" manual.md && sed -i 69,268d guide.md; git diff --stat; grep -n '^## ' *.md",
        );
      },
    },
    {
      side: "shell",
      variant: "one script, knowing the files",
      blind: true,
      run: (agent) =>
        agent.turn(`python3 - <<'E'
g, m = open('guide.md').read(), open('manual.md').read()
i, j, k = g.index('## Section 3\\n'), g.index('## Section 4\\n'), m.index('## Part 3\\n')
open('manual.md', 'w').write(m[:k] + g[i:j] + m[k:])
open('guide.md', 'w').write(g[:i] + g[j:])
E
git diff --stat`),
    },
  ],
};

const wanted = inputs.notes[inputs.wantedNote];
const wantedFile = inputs.noteFile(inputs.wantedNote);
const seenInFile = files({ [wantedFile]: `${inputs.noteFiles[wantedFile]}seen: yes\n` });
const noteInShell = {
  side: "shell",
  run: async (agent) => {
    await agent.turn("grep -lw quartz notes/* | xargs grep -w humidity");
    await agent.turn(`echo 'seen: yes' >> ${wantedFile}; cat ${wantedFile}`);
  },
};

const note = {
  name: "note",
  title: "find one of 500 notes by two words that aren't adjacent, and add a line; each side in its own store",
  number: 3,
  files: inputs.noteFiles,
  check: async (world, { side }) => {
    if (side === "memory") {
      const entities = readFileSync(world.memoryFile, "utf8").trim().split("\n").map((line) => JSON.parse(line));
      const found = entities.find((one) => one.name === wanted.title);
      assert.deepEqual(found.observations, [wanted.text, "seen: yes"]);
    } else if (side === "shell") {
      seenInFile(world);
    } else {
      const shown = await world.shell(`pipemux ask "notebook.show('${wanted.title}', level='full')"`);
      assert.match(shown, /cellar\.\n+seen: yes\n/);
    }
  },
  scripts: [
    ...pipemux(
      (step) => [
        step.ask("notebook.search('quartz humidity')"),
        step.run(`notebook.append('${wanted.title}', 'seen: yes')`),
      ],
      {
        prepare: (world) => {
          const rows = inputs.notes.map((one) => `${JSON.stringify(one)}\n`).join("");
          return world.shell("pipemux run 'notebook.add_many(rows=stdin)'", rows);
        },
      },
    ),
    {
      side: "memory",
      run: async (agent) => {
        await agent.turn(["search_nodes", { query: "quartz humidity" }]);
        await agent.turn(["search_nodes", { query: "quartz" }]);
        const observations = [{ entityName: wanted.title, contents: ["seen: yes"] }];
        await agent.turn(["add_observations", { observations }]);
      },
    },
    noteInShell,
  ],
};

const noteFile = {
  name: "note-file",
  title: "the same with notes that are files",
  number: 3,
  files: inputs.noteFiles,
  check: seenInFile,
  scripts: [
    ...pipemux((step) => [
      step.ask("editor.find('quartz', in='notes', count=true); editor.find('humidity', in='notes', count=true)"),
      step.run(`editor.insert('seen: yes', at_end_of='${wantedFile}')`),
    ]),
    ...pipemux(
      (step) => [
        step.ask("editor.find('quartz', with='humidity', in='notes')"),
        step.run(`editor.insert('seen: yes', at_end_of='${wantedFile}')`),
      ],
      { variant: "one search" },
    ),
    {
      side: "filesystem",
      run: async (agent) => {
        await agent.turn(["list_directory", { path: "notes" }]);
        // The server searches names only, so all texts have to be read: a hundred a call.
        for (let first = 0; first < inputs.notes.length; first += 100) {
          const paths = Array.from({ length: 100 }, (_, index) => inputs.noteFile(first + index));
          await agent.turn(["read_multiple_files", { paths }]);
        }
        const edits = [{ oldText: wanted.text, newText: `${wanted.text}\nseen: yes` }];
        await agent.turn(["edit_file", { path: wantedFile, edits }]);
      },
    },
    noteInShell,
  ],
};

const repeated = (command) => async (agent, world) => {
  for (let sample = 0; sample < world.samples; sample += 1) await agent.turn(command);
};

const watch = {
  name: "watch",
  title: "sample the machine's load 20 times while something else runs",
  number: 4,
  files: { "README.md": "# A project\n" },
  check: (world, { transcript }) => {
    const read = transcript.turns.flat().map((part) => part.read).join("\n");
    const figures = read.match(/\b\d+\.\d+\b/g) ?? [];
    assert(figures.length >= world.samples, `only ${figures.length} figures in ${read}`);
  },
  scripts: [
    ...pipemux((step, world) => [
      step.ask(`monitor.watch('load', seconds=${world.samples - 1}, every=1); monitor.top(n=3, by='mem')`),
    ]),
    {
      side: "shell",
      variant: "repeated top",
      needs: ["top"],
      run: repeated("top -bn1 | head -n 10"),
    },
    {
      side: "shell",
      variant: "one loop",
      needs: ["ps"],
      run: (agent, world) =>
        agent.turn(
          `for i in $(seq ${world.samples}); do cut -d' ' -f1-3 /proc/loadavg; sleep 1; done; ps axo pid,rss,comm --sort=-rss | head -n 4`,
        ),
    },
  ],
};

const watchApart = {
  name: "watch-apart",
  title: "look at the load 20 times, each time in a turn of its own between other work",
  number: 4,
  files: watch.files,
  check: watch.check,
  scripts: [
    ...pipemux((step, world) =>
      Array.from({ length: world.samples }, () => step.ask("monitor.watch('load', seconds=1, every=1)")),
    ),
    ...pipemux((step, world) => Array.from({ length: world.samples }, () => step.look("monitor")), {
      variant: "its window",
    }),
    watch.scripts.find((script) => script.variant === "repeated top"),
    {
      side: "shell",
      variant: "repeated uptime",
      needs: ["uptime"],
      run: repeated("uptime"),
    },
  ],
};

const changeElsewhere = (world) => inputs.write(world.project, inputs.configChangedElsewhere);

const stale = {
  name: "stale",
  title: "replace 20 lines that somebody else changed after they were read, and know of it",
  number: 5,
  files: inputs.config,
  check: files(inputs.configEdited),
  scripts: [
    ...pipemux((step) => [
      step.ask("editor.lines('config.ini:51-70')"),
      step.outside(changeElsewhere),
      step.run("editor.replace_lines('config.ini:51', 70, text=stdin)", { stdin: inputs.editedBlock }),
      step.recover("editor.replace_lines('config.ini:53', 72, text=stdin)", { stdin: inputs.editedBlock }),
    ]),
    {
      side: "filesystem",
      run: async (agent, world) => {
        const path = "config.ini";
        await agent.turn(["read_text_file", { path }]);
        changeElsewhere(world);
        const edit = (oldText) => ["edit_file", { path, edits: [{ oldText, newText: inputs.editedBlock }] }];
        await agent.turn(edit(inputs.originalBlock));
        const found = await agent.turn(["read_text_file", { path }]);
        await agent.turn(edit(found.slice(found.indexOf("[server11]"), found.indexOf("[server15]"))));
      },
    },
    {
      side: "shell",
      run: async (agent, world) => {
        await agent.turn("sha1sum config.ini > $TMPDIR/seen; sed -n 51,70p config.ini");
        changeElsewhere(world);
        const edit = "sha1sum -c --quiet $TMPDIR/seen && sed -i";
        const text = `cat > $TMPDIR/new <<'END'\n${inputs.editedBlock}END`;
        await agent.turn(`${text}\n${edit} -e "50r $TMPDIR/new" -e 51,70d config.ini`);
        await agent.turn("sha1sum config.ini > $TMPDIR/seen; git diff -U0 config.ini; grep -n '^.server1[15]' config.ini");
        await agent.turn(`${edit} -e "52r $TMPDIR/new" -e 53,72d config.ini; git diff --stat`);
      },
    },
    {
      side: "shell",
      variant: "by name, blind to the change",
      blind: true,
      run: async (agent, world) => {
        await agent.turn("sed -n 51,70p config.ini");
        changeElsewhere(world);
        await agent.turn(`cat > $TMPDIR/new <<'END'
${inputs.editedBlock}END
sed -i -e "/^.server10/,/^$/{/^$/r $TMPDIR/new
}" -e '/^.server11/,/^.server15/{/^.server15/!d}' config.ini`);
      },
    },
  ],
};

export const tasks = [rename, move, note, noteFile, watch, watchApart, stale];
// Those that the official servers can do, each once.
export const session = [rename, move, note, stale];
