//! Apps that are written with the kits for Python and TypeScript.
//!
//! The arena of each kit must look and act like the one of `docui`. The to-do list of each kit's
//! tests uses all parts of the kit, under a real daemon.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use pipemux_tests::{Output, TestEnv, wait_for};

/// A kit whose language is installed here.
pub struct Kit {
    pub name: &'static str,
    /// What starts a program of the kit.
    command: String,
    /// The arguments before the program.
    args: Vec<String>,
    pub arena: PathBuf,
    pub sample: PathBuf,
    cards: PathBuf,
}

impl Kit {
    pub fn install(&self, env: &TestEnv, id: &str, program: &Path, more: &str) {
        let mut args = self.args.clone();
        args.push(program.display().to_string());
        // The kit isn't installed where the language looks for packages.
        let kit = program.ancestors().nth(2).expect("the folder of the kit");
        env.install(id, &self.command, &format!("args = {args:?}\nread = [{kit:?}]\n{more}"));
    }
}

#[test]
fn arenas_of_the_kits_look_and_act_like_that_of_docui() {
    let rust = TestEnv::new();
    rust.install("arena", "examples/arena", "");
    let wanted = play_in_arena(&rust);
    for kit in kits() {
        let env = TestEnv::new();
        kit.install(&env, "arena", &kit.arena, "");
        for (own, rust) in play_in_arena(&env).iter().zip(&wanted) {
            assert_eq!(own, rust, "the arena in {}", kit.name);
        }
    }
}

/// Returns what each command of a whole fight prints.
fn play_in_arena(env: &TestEnv) -> Vec<String> {
    let commands: [&[&str]; 13] = [
        &["open", "arena"],
        &["help", "arena", "--full"],
        &["run", "attack('史莱姆1'); loot('史莱姆1')"],
        &["view"],
        &["click", "loot it"],
        &["run", "cast_fireball('强盗', mana=20)"],
        &["run", "loot('强盗')"],
        &["run", "attack(obj:1)"],
        &["read", "obj:2"],
        &["view", "--lod", "full"],
        &["view", "--json", "--lod", "gist"],
        &["click", "逃跑"],
        &["view"],
    ];
    let print = |command: &&[&str]| without_times(&env.pipemux(command).text());
    commands.iter().map(print).collect()
}

/// Leaves out what differs from run to run: times, and the hash in the id of a session.
fn without_times(text: &str) -> String {
    let names = ["\"timestamp\"", "\"sessionId\""];
    text.lines().filter(|line| names.iter().all(|name| !line.contains(name))).collect()
}

fn todo(kit: &Kit, more: &str) -> TestEnv {
    let env = TestEnv::new();
    kit.install(&env, "todo", &kit.sample, more);
    env.pipemux(&["open", "todo"]).ok();
    env.run("add('milk'); add('bread'); add('salt')").ok().has("3 to do");
    env
}

#[test]
fn questions_of_a_kit_are_answered_one_after_the_other() {
    for kit in kits() {
        let env = todo(kit, "");
        env.run("rename(); add('more')").exits(5).has("which one?").has("2. [bread]");
        env.pipemux(&["answer", "2"]).exits(5).has("a new name for bread?");
        env.pipemux(&["answer", "cake"]).ok().has("1 done · rename: now cake").has("4 to do");
        env.run("clear()").exits(5).has("4 items").has("cake");
        env.pipemux(&["answer", "no"]).ok();
        env.pipemux(&["view"]).ok().has("4 to do");
        env.run("prune()").exits(5);
        env.pipemux(&["answer", "all", "but", "1"]).ok().has("3 gone");
        env.run("clear()").exits(5);
        env.pipemux(&["answer", "yes"]).ok().has("all gone");
    }
}

#[test]
fn refs_of_a_kit_are_stale_hidden_or_gone() {
    for kit in kits() {
        let env = todo(kit, "");
        let view = env.pipemux(&["view"]);
        let (milk, bread, salt) = (view.obj("milk"), view.obj("bread"), view.obj("salt"));
        env.as_reader("other", &["view"]).ok();
        env.as_reader("other", &["run", &format!("edit(obj:{milk}, 'oat milk')")]).ok();
        env.run(&format!("edit(obj:{milk}, 'x')")).exits(4).has("is stale");
        // A run's own changes don't make its later steps stale.
        env.run(&format!("edit(obj:{bread}, 'rye'); edit(obj:{bread}, 'rye bread')")).ok();
        env.run(&format!("fold(obj:{salt})")).ok();
        env.pipemux(&["read", &format!("obj:{salt}")]).exits(4).has("is out of view");
        env.run(&format!("done([obj:{bread}])")).ok().has("1 done");
        env.pipemux(&["read", &format!("obj:{bread}")]).exits(3).has("it was done");
        env.pipemux(&["read", &format!("obj:{milk}")]).ok().has("to do: oat milk");
        env.run("fail('x')").exits(1).has("no x (sample.");
        env.pipemux(&["ask", "count('milk')"]).ok().has("1 found").has("oat milk");
        env.pipemux(&["view"]).ok().has("2 to do");
    }
}

#[test]
fn state_of_a_kit_survives_a_crash_and_a_sleep() {
    for kit in kits() {
        let env = todo(kit, "idle = \"300ms\"\n");
        let is_asleep = || env.sessions().iter().any(|row| row.state == "asleep");
        env.pipemux(&["view", "--lod", "full"]).ok();
        let before = env.pipemux(&["view", "--lod", "full"]).ok().text();
        wait_for("the session hibernates", is_asleep);
        assert_eq!(env.pipemux(&["view", "--lod", "full"]).ok().text(), before, "{}", kit.name);
        env.pipemux(&["open", "todo", "--pin"]).ok();
        env.kill_session("todo/main");
        env.pipemux(&["view"]).ok().has("restarted").has("3 to do").has("milk");
    }
}

#[test]
fn changes_of_a_kit_without_a_request_reach_those_who_wait() {
    for kit in kits() {
        let env = todo(kit, "");
        env.run("later()").ok();
        wait_for("the change is shown", || env.pipemux(&["view"]).text().contains("4 to do"));
        env.pipemux(&["view"]).ok();
        let waiting = env.command(&["view", "--wait", "30"]).start();
        env.as_reader("other", &["run", "remind(0.2)"]).ok();
        // The first view has what the other reader did, or already what the timer did.
        let _ = waiting.finish();
        wait_for("the timer fired", || env.pipemux(&["view"]).text().contains("rung 1"));
    }
}

#[test]
fn jobs_of_a_kit_have_output_and_one_end() {
    for kit in kits() {
        let env = todo(kit, "");
        let end_of = |run: &Output| {
            let text = run.text();
            let number = text.split("· job ").nth(1).and_then(|rest| rest.split(' ').next());
            let job = format!("job:{}", number.expect("the number of the job"));
            env.pipemux(&["read", &job, "--wait", "30"])
        };
        let done = end_of(env.run("work()").ok().has("1 started · work"));
        done.ok().has("3 steps").has("did 0\ndid 1\ndid 2\n");
        env.pipemux(&["view"]).ok().has("rung 3");
        let endless = env.run("work(steps=0)");
        env.pipemux(&["click", &endless.ok().link("cancel").to_string()]).ok();
        end_of(&endless).has("cancelled");
        end_of(env.run("work(steps=101)").ok()).has("failed").has("too much");
    }
}

#[test]
fn records_forms_and_secrets_of_a_kit_are_dataclasses_and_fields() {
    for kit in kits() {
        let env = TestEnv::new();
        kit.install(&env, "cards", &kit.cards, "");
        let opened = env.pipemux(&["open", "cards"]);
        opened.ok().has("plan(cards: {title: string, column: 'todo'|'done' = 'todo'}[])");
        env.run("plan(cards=[{title: 'a'}, {title: 'b', column: 'done'}])").ok().has("2 planned");
        env.run("plan(cards=[{titel: 'c'}])").exits(2).has("did you mean title?");
        env.run("new()").exits(5).has("title: string // What it is about.");
        env.pipemux(&["answer", "title=\"c\" column=done"]).ok().has("+ | c | done |");
        env.run("unlock('geheim')").exits(5).has("once more?");
        env.command(&["answer", "-"]).stdin(b"geheim").output().exits(5).has("sure?");
        env.pipemux(&["answer", "yes"]).ok().has("6 and 6 characters").lacks("geheim");
        env.pipemux(&["history", "--detail"]).ok().lacks("geheim");
    }
}

/// Returns the kits that can run here, and says once which can't.
#[allow(clippy::print_stdout)]
pub fn kits() -> &'static [Kit] {
    static KITS: OnceLock<Vec<Kit>> = OnceLock::new();
    KITS.get_or_init(|| {
        let found = [python(), typescript()];
        let skip = |why: &String| println!("skipped: {why}");
        found.into_iter().filter_map(|kit| kit.inspect_err(skip).ok()).collect()
    })
}

fn python() -> Result<Kit, String> {
    let program = "import sys; print(sys.executable if sys.version_info >= (3, 10) else '')";
    let python = print("python3", &["-c", program])?;
    if python.is_empty() {
        return Err("python3 is older than 3.10".into());
    }
    let kit = kits_dir().join("python");
    let run = format!(
        "import runpy, sys; sys.path.insert(0, {:?}); del sys.argv[0]; \
         runpy.run_path(sys.argv[0], run_name='__main__')",
        kit.join("src")
    );
    Ok(Kit {
        name: "Python",
        command: python,
        args: vec!["-B".into(), "-c".into(), run],
        arena: kit.join("examples/arena.py"),
        sample: kit.join("tests/sample.py"),
        cards: kit.join("tests/cards.py"),
    })
}

/// Compiles the kit for TypeScript, unless this Node runs TypeScript as it is.
fn typescript() -> Result<Kit, String> {
    let node = print("node", &["--print", "process.execPath"])?;
    let kit = kits_dir().join("typescript");
    let made = |folder: &Path, end: &str| Kit {
        name: "TypeScript",
        command: node.clone(),
        args: Vec::new(),
        arena: folder.join(format!("examples/arena.{end}")),
        sample: folder.join(format!("tests/sample.{end}")),
        cards: folder.join(format!("tests/cards.{end}")),
    };
    if print("node", &["--print", "process.features.typescript || ''"])? == "strip" {
        return Ok(made(&kit, "ts"));
    }
    let Some(compiler) = typescript_compiler() else {
        return Err("this node runs no TypeScript, and there is no compiler: npm install --prefix target/tools typescript".into());
    };
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("typescript-kit");
    let arguments = ["--noCheck", "--declaration", "false", "--types", "null", "--outDir"];
    let mut compile = Command::new(&node);
    compile.arg(compiler).arg("--project").arg(&kit).args(arguments).arg(&output);
    let compiled = compile.output().map_err(|error| error.to_string())?;
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stdout));
    std::fs::write(output.join("package.json"), "{\"type\": \"module\"}").expect("a file");
    Ok(made(&output, "js"))
}

/// Returns the compiler for TypeScript, if one is installed for these tests.
pub fn typescript_compiler() -> Option<PathBuf> {
    let tools = [kits_dir().join("typescript"), kits_dir().join("../../target/tools")];
    let compilers = tools.map(|folder| folder.join("node_modules/typescript/bin/tsc"));
    compilers.into_iter().find(|compiler| compiler.exists())
}

fn kits_dir() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().expect("the repository").join("apps/kits")
}

/// Returns what a program prints.
fn print(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("{program} can't be started: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
