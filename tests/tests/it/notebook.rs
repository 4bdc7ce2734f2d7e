//! An agent keeps notes, and loses none.

use pipemux_tests::{Signal, World, is_alive, kill, wait_until};

fn notebook() -> World {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok().has("0 entries");
    world
}

#[test]
fn entries_are_found_in_english_and_chinese() {
    let world = notebook();
    world.run("notebook.add('fox', 'the quick brown fox jumps')").ok();
    world.run("notebook.add('森', '我们在深い森的边缘讨论软着陆的设计')").ok();
    world.run("notebook.add('other', 'nothing of that')").ok();
    world.run("notebook.search('brown fox')").ok().has("fox").lacks("[other]");
    world.run("notebook.search('软着陆')").ok().has("森").lacks("[other]");
    world.run("notebook.search('no such words')").lacks("[other]");
    world.run("notebook.show_all()").ok().has("[other]");
}

#[test]
fn entries_fold_each_on_its_own_and_keep_their_ids() {
    let world = notebook();
    let long: String = (1..=40).map(|number| format!("paragraph {number}\n")).collect();
    let add = |title: &str| {
        let call = format!("notebook.add('{title}', text=stdin)");
        world.command(&["run", &call]).stdin(long.as_bytes()).output().ok().obj(title)
    };
    let (first, second) = (add("first"), add("second"));
    assert_ne!(first, second);
    world.run(&format!("notebook.expand(obj:{first})")).ok().has("paragraph 40");
    let view = world.pipemux(&["view"]);
    assert_eq!((view.obj("first"), view.obj("second")), (first, second));
    assert_eq!(view.text().matches("paragraph 40").count(), 1, "{view}");
    world.run(&format!("notebook.fold(obj:{first}); notebook.fold(obj:{first})")).ok();
    let view = world.pipemux(&["view"]);
    view.lacks("paragraph 40");
    assert_eq!((view.obj("first"), view.obj("second")), (first, second));
}

#[test]
fn removing_asks_and_names_what_goes() {
    let world = notebook();
    let entry =
        world.run("notebook.add('Release plan', 'Ship on Friday')").ok().obj("Release plan");
    let call = format!("notebook.remove(obj:{entry})");
    world.run(&call).exits(5).has("Release plan").has("pipemux answer");
    world.pipemux(&["answer", "no"]);
    world.pipemux(&["view"]).ok().has("[Release plan]");
    world.run(&call).exits(5);
    world.pipemux(&["answer", "yes"]).ok();
    world.pipemux(&["view"]).ok().lacks("[Release plan]");
    world.pipemux(&["read", &format!("obj:{entry}")]).exits(3);
}

#[test]
fn a_confirmation_counts_only_for_what_was_shown() {
    let world = notebook();
    let entry = world.run("notebook.add('plan', 'v1')").ok().obj("plan");
    world.run(&format!("notebook.remove(obj:{entry})")).exits(5);
    let bob = |args: &[&str]| world.command(args).reader("bob").output();
    bob(&["view"]).ok();
    bob(&["run", &format!("notebook.edit(obj:{entry}, 'v2, precious')")]).ok();
    let answer = world.pipemux(&["answer", "yes"]);
    assert_ne!(answer.exit, 0, "it is another text than the one shown: {answer}");
    world.pipemux(&["view"]).ok().has("precious");
}

#[test]
fn everything_survives_the_death_of_app_and_daemon() {
    let world = notebook();
    let mut ids = Vec::new();
    for number in 1..=5 {
        let added = world.run(&format!("notebook.add('note {number}', 'text of {number}')"));
        ids.push(added.ok().obj(&format!("note {number}")));
    }
    let app = world.pid("notebook/main");
    kill(app, Signal::SIGKILL);
    wait_until("the app's end", || (!is_alive(app)).then_some(()));
    let view = world.pipemux(&["view"]);
    view.ok().has("restarted").has("5 entries");

    let daemon = world.daemon();
    let app = world.pid("notebook/main");
    kill(daemon, Signal::SIGKILL);
    wait_until("the app ends with its daemon", || (!is_alive(app)).then_some(()));
    let view = world.pipemux(&["view"]);
    view.ok().has("## notebook/main").has("5 entries");
    for (number, id) in (1..=5).zip(&ids) {
        // The same id or a fresh one, never one that meant something else.
        let again = view.obj(&format!("note {number}"));
        assert!(again == *id || ids.iter().all(|id| *id < again), "{again} after {ids:?}");
    }
    let added = world.run("notebook.add('note 6', 'after')").ok().obj("note 6");
    assert!(ids.iter().all(|id| *id < added), "{added} after {ids:?}");
    world.run("notebook.search('\"text of 3\"')").ok().has("note 3");
}

#[test]
fn five_hundred_notes_survive_and_are_found() {
    let world = notebook();
    for hundreds in 0..2 {
        let add = |number: usize| {
            let number = hundreds * 250 + number;
            format!("notebook.add('note {number}', 'word{number} and 深い森{number}号')\n")
        };
        let script: String = (0..250).map(add).collect();
        world.command(&["run", "-"]).stdin(script.as_bytes()).output().ok();
    }
    let (app, daemon) = (world.pid("notebook/main"), world.daemon());
    kill(app, Signal::SIGKILL);
    kill(daemon, Signal::SIGKILL);
    wait_until("both are gone", || (!is_alive(app) && !is_alive(daemon)).then_some(()));
    world.pipemux(&["view"]).ok().has("500 entries");
    world.run("notebook.search('word321')").ok().has("note 321");
    world.run("notebook.search('深い森499号')").ok().has("note 499");
}

#[test]
fn notes_of_racing_clients_are_each_there_once() {
    let world = notebook();
    let add = |number: usize| {
        let code =
            format!("notebook.add('note {number}', 'x'); notebook.add('more {number}', 'y')");
        world.command(&["run", &code]).reader(&format!("reader {number}")).start()
    };
    let racing: Vec<_> = (0..16).map(add).collect();
    for running in racing {
        running.finish().ok();
    }
    let all = world.pipemux(&["view", "notebook/main", "--lod", "full"]);
    all.ok().has("32 entries");
    for number in 0..16 {
        let text = all.text();
        assert_eq!(text.matches(&format!("[note {number}](")).count(), 1, "{number}: {all}");
    }
}
