//! Agents keep a project's knowledge in a tree of files, which git shares.

use std::fs;
use std::process::Command;

use pipemux_tests::{Signal, TestEnv, is_alive, kill, wait_for};

const KNOWLEDGE: &str = "# Architecture\nOne daemon, many apps.\n## Wire\nFrames of MessagePack.\n## 存储\n\
                         日志只追加，快照压缩。\n# Release\nShip on Friday.\n";

fn with_tree() -> TestEnv {
    let env = TestEnv::new();
    // Nothing is open: the call opens the app.
    let add = env.command(&["run", "memotree.add_many(rows=stdin)"]).stdin(KNOWLEDGE.as_bytes());
    add.output().ok().has("added 4 nodes: architecture, wire, 存储, release").has("[undo](link:");
    env
}

/// All files below a directory of the project.
fn files(env: &TestEnv, below: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(env.path(below)).into_iter().flatten() {
        let entry = entry.expect("an entry");
        let name = format!("{below}/{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => files.extend(self::files(env, &name)),
            false => files.push((name.clone(), env.read(&name))),
        }
    }
    files.sort();
    files
}

#[test]
fn agent_keeps_and_finds_a_projects_knowledge_by_title_id_and_token() {
    let env = with_tree();
    let before = files(&env, ".memotree");
    let view = env.pipemux(&["view"]);
    view.ok().has("current: default [[MT:View:default]]").has("4 nodes, 0 expanded");
    view.has("- Architecture [[MT:Node:architecture]] · 2 nodes").lacks("MessagePack");
    let expanded = env.run("memotree.expand(['Architecture', [[MT:Node:wire]], '存储'])");
    expanded.ok().has("+ - Architecture [[MT:Node:architecture]]");
    expanded.has("+   - Wire [[MT:Node:wire]]").has("Frames of MessagePack.");
    assert_eq!(files(&env, ".memotree"), before, "looking changes no file");
    // A query shows what a token means, also of a node that no window shows, and takes it as an
    // argument.
    let shown = env.pipemux(&["ask", "memotree.show([[MT:Node:release]])"]);
    shown.ok().has("\nRelease\n  Ship on Friday.\n");
    env.pipemux(&["read", "[[MT:Node:wire]]"]).ok().has("Frames of MessagePack.");
    env.pipemux(&["ask", "memotree.search('追加')"]).ok().has("- 存储").has("日志只追加");
    env.run("memotree.show([[MT:Node:gone]])").exits(3).has("not found in current context");
    env.run("memotree.show([[MT:View:default]])").exits(2).has("is of type view, expected node");
    env.run("memotree.edit('Relaese', 'x')").exits(3).has("near: release");
    // Text goes by reference, in both directions.
    env.run("notebook.add('copy', text=memotree.show('wire'))").ok().has("1 line from wire");
    env.write("notes.txt", "from a file\nand more\n");
    env.run("memotree.add('Copied', text=editor.lines('notes.txt'), parent='release')").ok();
    env.pipemux(&["read", "[[MT:Node:copied]]"]).ok().has("from a file\nand more\n");
}

#[test]
fn view_of_its_own_keeps_what_it_expanded_and_deleting_it_asks() {
    let env = with_tree();
    env.run("memotree.create('release', description='what ships'); memotree.switch('release')")
        .ok();
    env.run("memotree.expand('Release')").ok().has("Ship on Friday.");
    env.run("memotree.switch([[MT:View:default]])").ok().has("current: default").lacks("Friday");
    env.run("memotree.switch('relese')").exits(3).has("there is no view `relese`; near: release");
    env.run("memotree.delete('release')").exits(5).has("view release (what ships)");
    env.pipemux(&["answer", "yes"]).ok();
    env.pipemux(&["ask", "memotree.list()"]).ok().lacks("what ships");
    env.run("memotree.undo()").ok();
    env.run("memotree.switch('release')").ok().has("Ship on Friday.");
}

#[test]
fn answered_changes_survive_kills_and_what_is_expanded_does_too() {
    let env = with_tree();
    env.run("memotree.expand('Architecture')").ok();
    env.run("memotree.append('Wire', 'At most 1 MiB.'); memotree.move('Release', before='Architecture')").ok();
    env.kill_session("memotree/main");
    let view = env.pipemux(&["view"]);
    view.ok().has("restarted").has("Kept: 4 nodes").has("One daemon, many apps.");
    let (daemon, app) = (env.daemon_pid(), env.pid("memotree/main"));
    kill(daemon, Signal::SIGKILL);
    wait_for("the app ends with its daemon", || !is_alive(app));
    env.pipemux(&["ask", "memotree.show('Wire')"]).ok().has("At most 1 MiB.");
    env.run("memotree.undo(steps=2)").ok().has("move release (1 node); append to wire");
    env.pipemux(&["ask", "memotree.show('Wire')"]).ok().lacks("At most");
}

#[test]
fn file_that_another_program_writes_is_told_to_a_waiting_view() {
    let env = with_tree();
    env.pipemux(&["view"]).ok();
    let waiting = env.command(&["view", "--wait", "40"]).start();
    let file = env.read(".memotree/nodes/wire.md");
    env.write(".memotree/nodes/wire.md", file.replace("Frames of", "Envelopes of"));
    let told = waiting.finish();
    told.ok().has("The tree's files were changed outside: changed wire.").lacks("unchanged");
    // What the agent hasn't seen isn't replaced.
    let waiting = env.command(&["view", "--wait", "40"]).start();
    env.write(".memotree/nodes/release.md", "---\ntitle: Release\n---\nShip on Monday.\n");
    waiting.finish().ok().has("changed release");
    env.pipemux(&["ask", "memotree.show('release')"]).ok().has("Ship on Monday.");
}

#[test]
fn another_reader_does_not_replace_what_it_has_not_seen() {
    let env = with_tree();
    let (ann, bob) = ("ann", "bob");
    env.as_reader(ann, &["view"]).ok();
    env.as_reader(bob, &["view"]).ok();
    env.as_reader(ann, &["run", "memotree.edit('release', 'Ship on Monday.')"]).ok();
    let refused = env.as_reader(bob, &["run", "memotree.edit('release', 'Ship on Sunday.')"]);
    refused.exits(4).has("release was changed by somebody else since you saw it");
    assert!(env.read(".memotree/nodes/release.md").contains("Monday"));
    env.as_reader(bob, &["view"]).ok();
    env.as_reader(bob, &["run", "memotree.edit('release', 'Ship on Sunday.')"]).ok();
}

fn git(env: &TestEnv, args: &[&str]) -> bool {
    let identity =
        ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
    let mut command = Command::new("git");
    command.args(identity).args(args).current_dir(env.project());
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", env.root());
    command.output().expect("git").status.success()
}

#[test]
fn branches_that_both_move_and_add_nodes_merge() {
    let env = TestEnv::new();
    assert!(git(&env, &["init", "-q", "-b", "main"]));
    let add = env.command(&["run", "memotree.add_many(rows=stdin)"]).stdin(KNOWLEDGE.as_bytes());
    add.output().ok();
    let commit = |message: &str| {
        assert!(git(&env, &["add", ".memotree"]));
        assert!(git(&env, &["commit", "-q", "-m", message]));
    };
    commit("base");
    assert!(git(&env, &["checkout", "-q", "-b", "branch"]));
    env.run("memotree.move('Wire', parent='Release'); memotree.add('Theirs', 'theirs', parent='Architecture')").ok();
    env.run("memotree.edit('存储', 'changed on the branch')").ok();
    commit("branch");
    assert!(git(&env, &["checkout", "-q", "main"]));
    env.pipemux(&["view"]).ok().lacks("Theirs");
    env.run("memotree.move('Release', before='Architecture'); memotree.add('Ours', 'ours', parent='Architecture')").ok();
    env.run("memotree.append('Wire', 'At most 1 MiB.'); memotree.edit('存储', 'changed here')")
        .ok();
    commit("main");
    assert!(!git(&env, &["merge", "-q", "branch"]), "the text of one node conflicts");
    let outline = env.pipemux(&["ask", "memotree.show()"]);
    // Both moves and both additions are there; the node whose text both changed says so, and
    // nothing else is touched.
    outline.ok().has("- Release · 1 node\n  - Wire · 2 lines\n");
    outline.has("  - Theirs").has("  - Ours");
    outline.has("  - 存储 · line 9: a merge left a conflict there");
    env.run("memotree.append('存储', 'x')").exits(1).has("mend the file, then repeat this");
    let file = env.read(".memotree/nodes/存储.md");
    assert!(
        file.contains("<<<<<<<")
            && file.contains("changed here")
            && file.contains("changed on the branch")
    );
    env.write(".memotree/nodes/存储.md", "---\ntitle: 存储\nparent: architecture\n---\n\nboth\n");
    env.run("memotree.append('存储', 'and more')").ok();
    env.pipemux(&["ask", "memotree.show('存储')"]).ok().has("both\nand more");
}

#[test]
fn context_names_no_path_and_no_secret_of_the_environment() {
    let env = TestEnv::new();
    let planted =
        [("API_TOKEN", "sk-very-secret"), ("USER", "planted-user"), ("LOGNAME", "planted-log")];
    let with_secrets = |words: &[&str]| {
        let command = env.command(words);
        planted.iter().fold(command, |command, (name, value)| command.env(name, value)).output()
    };
    env.write("lib.rs", "pub struct Rope;\n");
    with_secrets(&["run", "memotree.add('Wire', 'Frames.')"]).ok();
    with_secrets(&["run", "memotree.set(debug=true, time=true)"]).ok();
    for words in [&["view", "--lod", "full"][..], &["view", "--json"], &["inject"]] {
        let view = with_secrets(words);
        view.ok().lacks(&env.root().display().to_string());
        for (_, value) in planted {
            view.lacks(value);
        }
    }
}

#[test]
fn source_that_dies_or_hangs_leaves_the_rest_of_the_document_byte_for_byte() {
    let env = TestEnv::with_rogue();
    env.run("memotree.add('Wire', 'Frames.'); memotree.expand('wire')").ok();
    env.run("memotree.source_add('rogue/main', lod='gist'); memotree.source_add('nobody/home')")
        .ok();
    let view = || {
        let shown = env.pipemux(&["view", "memotree/main"]);
        shown.ok();
        shown.text()
    };
    // Up to the source, and behind it up to the line with the epoch.
    let around = |text: &str| {
        let (before, rest) = text.split_once("### embedded rogue/main").expect("the source");
        let (_, behind) = rest.split_once("### embedded nobody/home").expect("the next source");
        let behind: Vec<&str> = behind.lines().filter(|line| !line.contains(" tokens")).collect();
        format!("{before}…{}", behind.join("\n"))
    };
    let fresh = view();
    assert!(fresh.contains("Frames."), "{fresh}");
    assert!(fresh.contains("nobody/home · not open · "), "{fresh}");
    kill(env.pid("rogue/main"), Signal::SIGSTOP);
    let hanging = view();
    assert_eq!(around(&hanging), around(&fresh));
    kill(env.pid("rogue/main"), Signal::SIGKILL);
    assert_eq!(around(&view()), around(&fresh));
    env.run("memotree.source_remove('rogue/main')").ok();
    assert!(!view().contains("embedded rogue"));
}

#[test]
fn small_windows_keep_the_views_and_their_examples_work_when_pasted() {
    let env = with_tree();
    for name in ["事故复盘", "发布计划", "架构评审", "性能调优", "新人指南"] {
        env.run(&format!(
            "memotree.create('{name}', '跟踪所有相关的决定和问题并给出下一步的计划')"
        ))
        .ok();
    }
    env.pipemux(&["view", "memotree"]).ok();
    for budget in ["500", "600", "1000", "1500"] {
        let view = env.pipemux(&["view", "memotree", "--budget", budget]);
        let text = view.ok().text();
        assert_eq!(text.matches("下一步的计划 · changed 20").count(), 5, "{budget}: {text}");
        let has_tree = text.contains("[[MT:Node:");
        assert!(
            !has_tree || text.contains("expanded") && text.contains("memotree.delete("),
            "{text}"
        );
    }
    let text = env.pipemux(&["view", "memotree"]).ok().text();
    let hints: Vec<&str> = text.lines().filter(|line| line.starts_with("pipemux run ")).collect();
    assert_eq!(hints.len(), 4, "{text}");
    // The last one deletes, and asks first.
    for (hint, exit) in hints.iter().zip([0, 0, 3, 5]) {
        let code =
            hint.strip_prefix("pipemux run '").and_then(|code| code.strip_suffix("'")).unwrap();
        let said = env.run(code);
        match exit {
            0 => said.ok(),
            3 => said.has("already"),
            exit => said.exits(exit),
        };
    }
}
