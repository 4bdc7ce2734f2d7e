//! The guide that agents read before their first call: the workflow first, then the calls.
//!
//! It is one text for every door. `pipemux --help` prints it for a shell, with the verbs for people
//! below it, and `pipemux skill` with front matter. Over the Model Context Protocol its parts are
//! the server's instructions and the descriptions of two tools, since clients cut each of these.
//! The daemon and the apps say what is left out: `pipemux help editor`.

/// The interface through which a reader makes calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// The command line.
    Shell,
    /// Tools of a model, which have no standard input.
    Tools,
}

/// Returns the whole guide for a shell.
pub fn of_shell() -> String {
    let parts = [&*way(Door::Shell), PLACES, LOOK, &*edit(Door::Shell), &*commands(Door::Shell)];
    format!(
        "{}{}More: pipemux help editor (terminal, memotree, notebook, planner, monitor)\n",
        parts.concat(),
        notes(Door::Shell)
    )
}

/// Returns the instructions of a server that has the tools.
pub fn instructions() -> String {
    format!("{}{}", way(Door::Tools), notes(Door::Tools))
}

/// Returns what the tool that looks is described by.
pub fn of_looking() -> String {
    format!(
        "Look at a project, notes, this machine: ONE call with all that you want to see, `;` or a line end between queries. Changes nothing.\n{PLACES}{LOOK}memotree.search('words') notebook.show('title') monitor.top()\nOr one command: history · view · read obj:7 · help editor\n"
    )
}

/// Returns what the tool that acts is described by.
pub fn of_acting() -> String {
    format!(
        "Edit and run: ONE call with all edits and, behind them, tests and checks, in order. A failing edit stops it and the rest is kept. FILES, RANGE: as for `ask`, whose queries may stand here, too.\n{}{}Or one command: answer 1,3|all|none to a question · answer <corrected call> · undo 3 (round 3) · click link:4\n",
        edit(Door::Tools),
        commands(Door::Tools)
    )
}

/// Returns the guidance on doing a whole step of work in one call, and on passing texts.
fn way(door: Door) -> String {
    let (run, calls, texts) = match door {
        Door::Shell => ("run", SHELL_CALLS, SHELL_TEXTS),
        Door::Tools => ("run_code_snippet", TOOL_CALLS, TOOL_TEXTS),
    };
    format!(
        "# PipeMux: a whole step of work in one call\nEvery call costs the whole conversation again. ONE `ask` with all you want to see; ONE `{run}` with all edits and, behind them, tests and checks. Nothing needs opening; edits are on disk at once.\n{calls}{texts}"
    )
}

const SHELL_CALLS: &str = " pipemux ask 'query; query; …'   only looks; `--budget 20000` to read much (else some 6,500 tokens)
 pipemux run 'call; call; …'     queries, edits, commands in order. A failing edit stops it, the rest is kept: pipemux answer '<corrected call>' goes on from there, `answer none` drops it. A command's exit 1 stops nothing.
 pipemux answer 1,3 | all | none   exit 5 is a question
 pipemux undo N                  takes round N back, what its commands changed too, whatever came later (its answer names it at its end); undo that to redo
";

const TOOL_CALLS: &str = " ask: code 'query; query; …'; budget 20000 to read much (else some 6,500 tokens)
 run_code_snippet: code 'call; call; …': queries, edits, commands in order. A failing edit stops it, the rest is kept: code `answer <corrected call>` goes on from there, `answer none` drops it. A command's exit 1 stops nothing.
 A question: code `answer 1,3`, `answer all` or `answer none`
 code `undo N` takes round N back, what its commands changed too, whatever came later (its answer names it at its end); undo that to redo
";

const SHELL_TEXTS: &str = r#"Text: 'x' or "x" (\n works), `stdin` (one heredoc behind the run), or <<END in the place of any text, its lines below:
 pipemux run 'editor.replace("old", <<END, in="src/a.py")
new lines
END
editor.apply(stdin); terminal.run("pytest -q")' <<'EOF'
"#;

const TOOL_TEXTS: &str = r#"Text: 'x' or "x" (\n works), or <<END in the place of any text, its lines below, then END on a line of its own (several are fine):
 {"code": "editor.replace('old', <<END, in='src/a.py')\nnew lines\nEND\neditor.apply(<<P)\n*** Begin Patch\n…\n*** End Patch\nP\nterminal.run('pytest -q')"}
"#;

const PLACES: &str = "\
FILES: 'path', 'folder', 'src/{a,b}.rs' or a list of these; left out: the project. RANGE: 'file:10-20' or a symbol with its docs: 'foo', 'Type::foo', 'file#foo'.
";

const LOOK: &str = "\
Look:
 editor.find('text', in=FILES|RANGE, regex=true, word=true, case=false, only='code'|'comments'|'strings', not='regex', count=true, all=true)
 editor.lines([RANGE, RANGE, …]): cheapest; around='regex': signatures and matches · editor.lines(FILES, first=1, last=400)
 editor.uses('name', in=FILES): its callers
 editor.outline(in=FILES, name='part', depth=1): symbols · editor.diff(in=FILES): your changes
";

fn edit(door: Door) -> String {
    let patch = match door {
        Door::Shell => "stdin",
        Door::Tools => "<<P",
    };
    format!("\
Edit (the answer shows what you can't know: don't read it again):
 editor.apply({patch}): `*** Begin Patch`, unified diff or SEARCH/REPLACE; many files, all or nothing; best for two edits or more
 editor.replace('old', 'new', in=FILES|RANGE, all=true, regex=true ($1)) · replace_lines(RANGE, text) · create('path', text, overwrite=true)
 editor.insert(text, before=|after=RANGE, at_end_of=FILE) · move(RANGE, before=|after=SYMBOL, at_end_of=FILE) · swap(A, B) · delete(RANGE): blank lines and imports elsewhere follow; re-exports are yours
 editor.rename('symbol', 'new'): code only; replace(…, word=true, all=true) for docs and strings, too
")
}

fn commands(door: Door) -> String {
    let script = match door {
        Door::Shell => "stdin",
        Door::Tools => "<<SH",
    };
    format!(
        "\
Commands: terminal.run('any shell line', wait=300): verdict and failures first; terminal.run({script}): a script; terminal.output(from=-20): last lines. Check here (cmp, git diff), not by reading back.
"
    )
}

fn notes(door: Door) -> String {
    let rows = match door {
        Door::Shell => "stdin",
        Door::Tools => "<<N",
    };
    format!("\
Project notes: memotree.add_many({rows}): Markdown, `# Title #tag` a node, `## Title` one below it. NODE: its full title or id.
 show() titles, show(NODE, level='full'), search('words') · add(title, text, parent=NODE), append(NODE, text), edit(NODE, text), replace(old, new), summary(NODE, text), retitle(NODE, title), remove(NODE), restore(id), export('F.md', overwrite=true)
 Quote, don't retype: memotree.append(NODE, editor.lines('doc.md:28-29')); a query may stand for any text.
Own notes: notebook.add(title, text), show(title), search(words)
")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn assert_tokens(name: &str, text: &str, most: u64) {
        let tokens = pipemux_tokens::estimate(text);
        assert!(tokens <= most, "{name}: {tokens} tokens, at most {most}");
    }

    #[test]
    fn parts_are_as_short_as_an_agent_reads_and_clients_pass_on() {
        assert_tokens("shell", &of_shell(), 900);
        let parts = [instructions(), of_looking(), of_acting()];
        assert_tokens("tools", &parts.concat(), 1_000);
        // Clients cut each of these.
        for part in &parts {
            assert!(part.len() < 2048, "{} bytes: {part}", part.len());
        }
    }

    /// Returns the calls of a text: app, action, and the names of parameters. One without an app is
    /// of the last one's.
    fn calls(text: &str) -> Vec<(String, String, Vec<String>)> {
        let mut found = Vec::new();
        let mut app = String::new();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for (at, _) in text.match_indices('(') {
            let (head, rest) = text.split_at(at);
            let action = head.rsplit(|c| !is_name(c)).next().unwrap_or_default();
            if action.is_empty() {
                continue;
            }
            let before = head.strip_suffix(action).unwrap_or_default();
            if let Some(before) = before.strip_suffix('.') {
                app = before.rsplit(|c| !is_name(c)).next().unwrap_or_default().to_owned();
            }
            let (mut depth, mut quote, mut params, mut word) = (0, None, Vec::new(), String::new());
            for c in rest.chars() {
                match (c, quote) {
                    ('\'' | '"', None) => quote = Some(c),
                    (c, Some(open)) if c == open => quote = None,
                    (_, Some(_)) => {}
                    ('(', _) => depth += 1,
                    (')', _) if depth == 1 => break,
                    (')', _) => depth -= 1,
                    ('=', _) if depth == 1 => params.push(std::mem::take(&mut word)),
                    (c, _) if is_name(c) => word.push(c),
                    _ => word.clear(),
                }
            }
            found.push((app.clone(), action.to_owned(), params));
        }
        found
    }

    #[test]
    fn every_call_of_the_guide_is_an_action_with_these_parameters() {
        let mut seen = BTreeSet::new();
        for text in [of_shell(), instructions(), of_looking(), of_acting()] {
            for (app, action, params) in calls(&text.replace("\\n", "\n")) {
                let known =
                    pipemux_catalog::app(&app).unwrap_or_else(|| panic!("no app {app}: {action}"));
                let prototypes = known.prototypes();
                let of_name = prototypes.iter().filter(|one| one.written_name() == action);
                let of_name: Vec<_> = of_name.collect();
                assert!(!of_name.is_empty(), "no action {app}.{action}");
                for param in &params {
                    let has =
                        of_name.iter().any(|one| one.params.iter().any(|has| has.name == *param));
                    assert!(has, "{app}.{action} has no {param}");
                }
                seen.insert((app, action));
            }
        }
        assert!(seen.len() >= 30, "{seen:?}");
    }

    #[test]
    fn calls_for_looking_are_queries() {
        for (app, action, _) in calls(&of_looking()) {
            let prototypes = pipemux_catalog::app(&app).unwrap().prototypes();
            assert!(
                prototypes.iter().any(|one| one.written_name() == action && one.risk.only_looks()),
                "{app}.{action}"
            );
        }
    }
}
