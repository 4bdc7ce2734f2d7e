//! What a person does at a terminal, and what happens to it.

use std::fs;
use std::process::Command;

use pipemux_tests::{Signal, TestEnv, kill, wait_for};

use super::terminal::Terminal;
use crate::planner::workshop;

const TERM: &str = "xterm-256color";

fn with_todo() -> TestEnv {
    let env = TestEnv::new();
    env.install("todo", "examples/todo", "");
    env
}

#[test]
fn person_reads_and_types_at_a_terminal() {
    let env = with_todo();
    let mut terminal = Terminal::attach(&env, "todo", (100, 24), TERM);
    terminal.shows("a line goes to todo.add");

    // Chinese is typed, and shown when the app has taken it.
    terminal.press("买牛奶和茶叶");
    terminal.shows("> 买牛奶和茶叶");
    terminal.press("\r");
    terminal.shows("- 买牛奶和茶叶 done");

    // What another reader does is seen at once, and a terminal sequence in it stays text, as what
    // reorders text does.
    let hostile = "<<END\nfrom \u{1b}[2J\u{202e}\u{9b}31m elsewhere 👨‍👩‍👧\nEND\n";
    env.run(&format!("todo.add({hostile})")).ok();
    let text = terminal.shows("m elsewhere 👨");
    assert!(text.contains("- 买牛奶和茶叶 done") && !text.contains('\u{202e}'), "{text}");

    // A smaller terminal breaks the rows again.
    terminal.resize((30, 12));
    terminal.shows("todo ·");
    terminal.press("再见");
    terminal.shows("> 再见");
    terminal.press("\u{15}");
    terminal.resize((100, 24));
    terminal.shows("a line goes to todo.add");

    // A call and its outcome, which Escape puts away; and help.
    terminal.press("/undo\r");
    terminal.shows("took back: add");
    terminal.press("\u{1b}");
    terminal.hides("elsewhere");
    terminal.press("?\r");
    terminal.shows("/help: more");
    terminal.press("/help\r");
    terminal.shows("leaves; everything goes on");

    // Leaving ends nothing.
    terminal.press("\u{3}");
    terminal.shows("left todo, which goes on: pipemux attach todo");
    terminal.ended(0);
    assert!(env.sessions().iter().any(|row| row.session == "todo/main"));
    env.pipemux(&["view", "todo"]).ok().has("买牛奶和茶叶");
}

#[test]
fn number_on_the_screen_follows_its_link() {
    let env = with_todo();
    env.pipemux(&["open", "todo"]).ok();
    for item in ["one", "two"] {
        env.run(&format!("todo.add('{item}')")).ok();
    }
    let size = (100, 24);
    let mut terminal = Terminal::run(
        &env,
        &["attach", "todo"],
        size,
        &[("TERM", TERM), ("LANG", "C.UTF-8"), ("NO_COLOR", "")],
    );
    let text = terminal.shows("- two done ⟨2⟩");
    assert!(text.contains("- one done ⟨1⟩") && !text.contains("(link:"), "{text}");
    assert_ne!(terminal.colour_of("one done"), vt100::Color::Default);
    terminal.press("1\r");
    terminal.shows("- two done ⟨1⟩");
    terminal.hides("- one");
    terminal.press("/undo\r");
    terminal.shows("- one done ⟨1⟩");
    terminal.press("\u{3}");
    terminal.ended(0);

    let plain = [("TERM", TERM), ("LC_ALL", "C"), ("NO_COLOR", "1")];
    let terminal = Terminal::run(&env, &["attach", "todo"], size, &plain);
    terminal.shows("- two done <2>");
    assert_eq!(terminal.colour_of("one done"), vt100::Color::Default);
}

/// A white PNG image of one pixel.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\0\0\0\nIDATx\x9cc\xf8\x0f\0\x01\x01\x01\0\xb18\xf6\x14\0\0\0\0IEND\xaeB`\x82";

#[test]
fn picture_is_shown_below_its_name_where_the_terminal_draws_it() {
    let env = TestEnv::new();
    env.write("white.png", PIXEL);
    let mut base64 = Command::new("base64");
    let encoded = base64.args(["-w0", "white.png"]).current_dir(env.project()).output();
    let encoded = String::from_utf8(encoded.expect("base64").stdout).expect("ASCII");
    let attach = &["attach", "editor", "white.png"];
    let mut terminal = Terminal::run(&env, attach, (80, 24), &[("TERM", "xterm-kitty")]);
    terminal.was_sent(&format!("\u{1b}_Ga=t,f=100,i=1,q=2,m=0;{encoded}\u{1b}\\"));
    terminal.was_sent("\u{1b}_Ga=p,i=1,c=1,r=1,C=1,q=2\u{1b}\\");
    let text = terminal.shows("white.png PNG 1×1, 67 bytes");
    assert!(!text.contains("iVBOR"), "{text}");
    // It is given back with the terminal, and taken again.
    terminal.press("\u{1a}");
    terminal.ended(128 + Signal::SIGSTOP as i32);
    terminal.was_sent("\u{1b}_Ga=d,d=A,q=2\u{1b}\\");
    terminal.press("\n");
    wait_for("the picture again", || terminal.was_sent("\u{1b}_Ga=t,f=100,i=1") == 2);
    terminal.press("q");
    terminal.ended(0);

    let iterm = [("TERM", TERM), ("TERM_PROGRAM", "iTerm.app")];
    let terminal = Terminal::run(&env, attach, (80, 24), &iterm);
    terminal.was_sent("\u{1b}]1337;File=inline=1;size=67;width=1;height=1;");
    drop(terminal);
    let plain = Terminal::attach(&env, "editor", (80, 24), TERM);
    let text = plain.shows("white.png PNG 1×1, 67 bytes");
    assert!(!text.contains("1337"), "{text}");
}

#[test]
fn letter_leaves_a_window_that_takes_no_words() {
    let env = TestEnv::new();
    let mut terminal = Terminal::attach(&env, "notebook", (80, 24), TERM);
    terminal.shows("? helps · q leaves");
    terminal.press("?");
    terminal.shows("q leaves · /help: more");
    terminal.press("q");
    terminal.ended(0);
}

#[test]
fn files_are_opened_as_with_open() {
    let env = TestEnv::new();
    env.write("notes.md", "buy milk\n");
    let mut terminal =
        Terminal::run(&env, &["attach", "editor", "notes.md"], (100, 24), &[("TERM", TERM)]);
    let text = terminal.shows("buy milk");
    assert!(text.contains("editor/main · notes.md"), "{text}");
    terminal.press("\u{3}");
    terminal.ended(0);
    env.pipemux(&["open", "notebook"]).ok();
    let args = ["notebook", "another"];
    let mut refused = env.pipemux(&[&["open"][..], &args].concat()).text();
    refused = refused.lines().next().expect("why").to_owned();
    let attach = [&["attach"][..], &args].concat();
    let terminal = Terminal::run(&env, &attach, (200, 24), &[("TERM", TERM)]);
    let text = terminal.ended(9);
    assert!(text.contains(&refused), "{refused}: {text}");
    let nothere = Terminal::attach(&env, "edtior", (100, 24), TERM);
    nothere.shows("no app edtior: did you mean editor?");
    nothere.shows("there are editor, ");
    nothere.ended(3);
}

#[test]
fn app_that_dies_and_a_lost_daemon_are_come_through() {
    let env = with_todo();
    let mut terminal = Terminal::attach(&env, "todo", (100, 24), TERM);
    terminal.shows("a line goes to todo.add");
    terminal.press("before\r");
    terminal.shows("- before done");

    env.kill_session("todo/main");
    terminal.press("after the crash\r");
    let text = terminal.shows("- after the crash done");
    assert!(text.contains("- before done"), "{text}");

    kill(env.daemon_pid(), Signal::SIGKILL);
    terminal.shows("the daemon is gone: waiting for another one");
    env.pipemux(&["up"]).ok();
    terminal.shows("connected to a daemon again");
    terminal.press("after the daemon\r");
    let text = terminal.shows("- after the daemon done");
    assert!(text.contains("- after the crash done"), "{text}");
}

#[test]
fn any_size_of_the_terminal_is_survived() {
    let env = with_todo();
    // A terminal that doesn't know its size is drawn on as one of the usual size.
    let mut terminal = Terminal::attach(&env, "todo", (80, 24), TERM);
    terminal.shows("a line goes to todo.add");
    terminal.claim_size((0, 0));
    for size in [(1, 1), (2, 1), (1, 50), (200, 2), (3, 3)] {
        terminal.resize(size);
        terminal.press("x");
    }
    terminal.claim_size((65535, 65535));
    terminal.press("x");
    terminal.resize((80, 24));
    terminal.shows("> xxxxxx");
    terminal.press("\r");
    terminal.shows("- xxxxxx done");
}

#[test]
fn signal_gives_the_shell_its_terminal_back() {
    let env = with_todo();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT] {
        let terminal = Terminal::attach(&env, "todo", (80, 24), TERM);
        terminal.shows("a line goes to todo.add");
        kill(terminal.pid(), signal);
        terminal.ended(0);
    }
}

#[test]
fn stopped_program_takes_its_terminal_again() {
    let env = with_todo();
    let mut terminal = Terminal::attach(&env, "todo", (80, 24), TERM);
    terminal.shows("a line goes to todo.add");
    // The signal, as from another program, and the key.
    let stopped = 128 + Signal::SIGSTOP as i32;
    for by_key in [false, true] {
        match by_key {
            true => terminal.press("\u{1a}"),
            false => kill(terminal.pid(), Signal::SIGTSTP),
        }
        terminal.ended(stopped);
        terminal.press("\n");
        terminal.shows("a line goes to todo.add");
        terminal.press("x");
        terminal.shows("> x");
        terminal.press("\u{15}");
        terminal.hides("> x");
    }
    // Nobody can prepare for this one; what was written meanwhile is drawn over.
    kill(terminal.pid(), Signal::SIGSTOP);
    terminal.shows(&format!("status {stopped}"));
    terminal.press("\n");
    terminal.hides("status");
    terminal.press("y\r");
    terminal.shows("- y done");
    terminal.press("\u{3}");
    terminal.ended(0);
}

#[test]
fn nothing_stays_of_a_character_that_the_terminal_counts_otherwise() {
    let env = with_todo();
    let mut terminal = Terminal::attach(&env, "todo", (80, 24), TERM);
    terminal.shows("a line goes to todo.add");
    terminal.press("键盘 👨‍👩‍👧");
    terminal.shows("> 键盘 👨");
    terminal.press("\u{15}");
    terminal.hides("👧");
    wait_for("an empty line", || terminal.text().trim_end().ends_with("\n>"));
}

#[test]
fn terminal_without_a_cursor_to_move_is_refused() {
    let env = with_todo();
    for term in ["dumb", ""] {
        let terminal = Terminal::attach(&env, "todo", (80, 24), term);
        let text = terminal.ended(2);
        assert!(
            text.contains(&format!("one that can move its cursor: TERM is {term:?}")),
            "{text}"
        );
        assert!(text.contains("pipemux view todo --wait 60"), "{text}");
    }
}

#[test]
fn meeting_is_held_at_a_terminal() {
    let env = workshop("meeting");
    let mut terminal = Terminal::attach(&env, "planner", (120, 40), TERM);
    // Before there is a plan, a line has nobody to go to; what is said tells what to do.
    terminal.press("Add an audit log\r");
    terminal.shows("there is no brief yet");
    terminal.press("/plan('Add an audit log')\r");
    terminal.shows("question 1 of 3 so far): Is it bound to the users we have?");

    // The user asks back, and the role that asked answers.
    terminal.press("/say('Which users do you mean?')\r");
    terminal.shows("All that signed in this year.");
    terminal.press("对，全部 500,000 人\r");
    terminal.shows("question 2 of 2 so far): With 500,000 users bound");
    terminal.press("I don't know\r");
    terminal.shows("decides on the plan: all five agree");

    // The record tells that a person typed it.
    let lines = env.read(".planning/add-an-audit-log/planning.clarification.jsonl");
    let answer = lines.lines().find(|line| line.contains("对，全部 500,000 人"));
    let answer = answer.unwrap_or_else(|| panic!("{lines}"));
    assert!(answer.contains(r#""as":"person""#), "{answer}");
    assert!(answer.contains(r#""reader":"attach-"#), "{answer}");

    // The command that the window shows works when it is pasted.
    terminal.press("\u{1b}[200~pipemux run 'planner.accept()'\u{1b}[201~\r");
    terminal.shows("it is accepted");
    terminal.press("\u{3}");
    terminal.ended(0);
    env.pipemux(&["view", "planner"]).ok().has("it is accepted");
    assert!(fs::exists(env.path(".planning/add-an-audit-log/planning.ai.json")).expect("a file"));
}
