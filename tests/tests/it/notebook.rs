//! An agent keeps notes.

use pipemux_tests::{Signal, TestEnv, is_alive, kill, wait_for};

#[test]
fn entries_are_found_in_english_and_chinese() {
    let env = TestEnv::with_notebook();
    env.run("notebook.add('fox', 'the quick brown fox jumps')").ok();
    env.run("notebook.add('森', '我们在深い森的边缘讨论软着陆的设计')").ok();
    env.run("notebook.add('other', 'nothing of that')").ok();
    env.run("notebook.search('brown fox')").ok().has("fox").lacks("[other]");
    env.run("notebook.search('软着陆')").ok().has("森").lacks("[other]");
    env.run("notebook.search('no such words')").lacks("[other]");
    env.run("notebook.show_all()").ok().has("[other]");
}

#[test]
fn entries_fold_separately_and_keep_their_ids() {
    let env = TestEnv::with_notebook();
    let long: String = (1..=40).map(|number| format!("paragraph {number}\n")).collect();
    let add = |title: &str| {
        let call = format!("notebook.add('{title}', text=stdin)");
        env.command(&["run", &call]).stdin(long.as_bytes()).output().ok().obj(title)
    };
    let (first, second) = (add("first"), add("second"));
    assert_ne!(first, second);
    env.run(&format!("notebook.expand(obj:{first})")).ok().has("paragraph 40");
    let view = env.pipemux(&["view"]);
    assert_eq!((view.obj("first"), view.obj("second")), (first, second));
    assert_eq!(view.text().matches("paragraph 40").count(), 1, "{view}");
    env.run(&format!("notebook.fold(obj:{first}); notebook.fold(obj:{first})")).ok();
    let view = env.pipemux(&["view"]);
    view.lacks("paragraph 40");
    assert_eq!((view.obj("first"), view.obj("second")), (first, second));
}

#[test]
fn purging_an_entry_asks_and_names_it() {
    let env = TestEnv::with_notebook();
    let entry = env.run("notebook.add('Release plan', 'Ship on Friday')").ok().obj("Release plan");
    let call = format!("notebook.purge(obj:{entry})");
    env.run(&call).exits(5).has("Release plan").has("pipemux answer");
    env.pipemux(&["answer", "no"]).ok().has("cancelled");
    env.pipemux(&["view"]).ok().has("[Release plan]");
    env.run(&call).exits(5);
    env.pipemux(&["answer", "yes"]).ok();
    env.pipemux(&["view"]).ok().lacks("[Release plan]");
    env.pipemux(&["read", &format!("obj:{entry}")]).exits(3);
}

#[test]
fn titles_name_notes_that_no_window_shows() {
    let env = TestEnv::new();
    let rows = "{\"title\": \"tokio\", \"text\": \"rust-version: 1.70\", \"tags\": [\"io\"], \"gist\": \"async runtime\"}\n\
                {\"title\": \"itoa\", \"text\": \"Integers.\\nlicense: MIT\\n\", \"tags\": [\"text\"]}\n";
    env.pipemux(&["open", "notebook"]).ok();
    let added =
        env.command(&["run", "notebook.add_many(rows=stdin)"]).stdin(rows.as_bytes()).output();
    added.ok().has("added 2 notes").lacks("[tokio]");
    // Another workspace of the reader never saw them.
    env.pipemux(&["close", "notebook/main"]).ok();
    env.pipemux(&["open", "notebook"]).ok();
    let changed = env.run("notebook.rename('tokio', 'tokio (async runtime)'); notebook.append('itoa', 'checked twice')");
    changed
        .ok()
        .has("\"tokio\" is \"tokio (async runtime)\" now")
        .has("\"itoa\": +1 line: checked twice");
    env.run("notebook.append('tokio', 'x')").exits(3).has("near: \"tokio (async runtime)\"");
    env.run("notebook.remove(['itoa', 'tokio (async runtime)'])").ok().has("2 notes, 4 lines");
    env.pipemux(&["ask", "notebook.show()"]).ok().has("0 notes");
    env.run("notebook.undo()").ok().has("2 notes are back");
    let shown = env.pipemux(&["ask", "notebook.show('itoa', rest='gist')"]);
    shown
        .ok()
        .has("Integers.\nlicense: MIT\nchecked twice\n")
        .has("[tokio (async runtime)] #io async runtime\n");
    // The text itself is what another app gets.
    env.run("notebook.add('copy', text=notebook.show('itoa'))")
        .ok()
        .has("\"copy\", 3 lines from itoa");
    // A list of titles is what a query finds.
    env.run("notebook.remove(notebook.search('license'))").ok().has("2 notes");
    env.pipemux(&["ask", "notebook.search('async OR license')"])
        .ok()
        .has("1 of 1 note")
        .has("[tokio (async runtime)] #io");
}

#[test]
fn watching_a_figure_leaves_others_free() {
    let env = TestEnv::new();
    env.pipemux(&["open", "monitor"]).ok();
    let watching = env.command(&["ask", "monitor.watch('load', seconds=2, every=1)"]).start();
    env.pipemux(&["ask", "monitor.top(1)"]).ok().has("1 of ");
    watching.finish().ok().has("load every 1 s: ").has(" · ");
}

#[test]
fn confirmation_counts_only_for_the_text_that_was_shown() {
    let env = TestEnv::with_notebook();
    let entry = env.run("notebook.add('plan', 'v1')").ok().obj("plan");
    env.run(&format!("notebook.purge(obj:{entry})")).exits(5);
    let bob = |args: &[&str]| env.as_reader("bob", args);
    bob(&["view"]).ok();
    bob(&["run", &format!("notebook.edit(obj:{entry}, 'v2, precious')")]).ok();
    let answer = env.pipemux(&["answer", "yes"]);
    answer.exits(4).has("is stale");
    env.pipemux(&["view"]).ok().has("precious");
}

#[test]
fn notes_and_ids_survive_killed_app_and_daemon() {
    let env = TestEnv::with_notebook();
    let mut ids = Vec::new();
    for number in 1..=5 {
        let added = env.run(&format!("notebook.add('note {number}', 'text of {number}')"));
        ids.push(added.ok().obj(&format!("note {number}")));
    }
    env.kill_session("notebook/main");
    let view = env.pipemux(&["view"]);
    view.ok().has("restarted").has("5 entries");

    let daemon = env.daemon_pid();
    let app = env.pid("notebook/main");
    kill(daemon, Signal::SIGKILL);
    wait_for("the app ends with its daemon", || !is_alive(app));
    let view = env.pipemux(&["view"]);
    view.ok().has("## notebook/main").has("5 entries");
    for (number, id) in (1..=5).zip(&ids) {
        // An entry has the same id or a new one, never the id of another entry.
        let again = view.obj(&format!("note {number}"));
        assert!(again == *id || ids.iter().all(|id| *id < again), "{again} after {ids:?}");
    }
    let added = env.run("notebook.add('note 6', 'after')").ok().obj("note 6");
    assert!(ids.iter().all(|id| *id < added), "{added} after {ids:?}");
    env.run("notebook.search('\"text of 3\"')").ok().has("note 3");
}

#[test]
fn five_hundred_notes_survive_and_are_searchable() {
    let env = TestEnv::with_notebook();
    for hundreds in 0..2 {
        let add = |number: usize| {
            let number = hundreds * 250 + number;
            format!("notebook.add('note {number}', 'word{number} and 深い森{number}号')\n")
        };
        let script: String = (0..250).map(add).collect();
        env.command(&["run", "-"]).stdin(script.as_bytes()).output().ok();
    }
    let (app, daemon) = (env.pid("notebook/main"), env.daemon_pid());
    kill(app, Signal::SIGKILL);
    kill(daemon, Signal::SIGKILL);
    wait_for("both are gone", || !is_alive(app) && !is_alive(daemon));
    env.pipemux(&["view"]).ok().has("500 entries");
    env.run("notebook.search('word321')").ok().has("note 321");
    env.run("notebook.search('深い森499号')").ok().has("note 499");
}

#[test]
fn notes_of_concurrent_clients_are_each_kept_once() {
    let env = TestEnv::with_notebook();
    let add = |number: usize| {
        let code =
            format!("notebook.add('note {number}', 'x'); notebook.add('more {number}', 'y')");
        env.command(&["run", &code]).reader(&format!("reader {number}")).start()
    };
    let racing: Vec<_> = (0..16).map(add).collect();
    for running in racing {
        running.finish().ok();
    }
    let all = env.pipemux(&["view", "notebook/main", "--lod", "full"]);
    all.ok().has("32 entries");
    for number in 0..16 {
        let text = all.text();
        assert_eq!(text.matches(&format!("[note {number}](")).count(), 1, "{number}: {all}");
    }
}

#[test]
fn deleted_store_is_written_again_or_told_as_another_one() {
    let env = TestEnv::with_notebook();
    env.write("mine.db", "");
    env.pipemux(&["open", "notebook/b", "mine.db"]).ok();
    env.run("notebook/b.add('first', 'text')").ok();
    std::fs::remove_file(env.path("mine.db")).expect("it is removed");
    env.run("notebook/b.add('second', 'text')")
        .ok()
        .has("mine.db had been deleted: it was written again");
    env.pipemux(&["restart", "notebook/b"]).ok();
    env.pipemux(&["view", "notebook/b"]).ok().has("2 entries").has("first");
    // Nothing is left to write it from once the process was killed.
    std::fs::remove_file(env.path("mine.db")).expect("it is removed");
    env.kill_session("notebook/b");
    env.pipemux(&["view", "notebook/b"])
        .ok()
        .has("is a different store than before: 0 entries")
        .lacks("Kept");
}

#[test]
fn file_that_is_no_store_has_an_error_context_and_commands_that_help() {
    let env = TestEnv::new();
    env.write("text.db", "no database ".repeat(2000));
    let refused = env.pipemux(&["open", "notebook", "text.db", "--json"]).exits(9).json();
    let context = &refused["windows"][0];
    assert_eq!(context["header"]["appId"], "notebook", "{refused:#}");
    assert_eq!(context["errors"][0]["code"], "invalid_source_data");
    assert_eq!(context["errors"][0], refused["error"]);
    let content = context["content"].as_str().expect("a text");
    assert!(content.starts_with("InvalidSourceData · text.db is not a SQLite file"), "{content}");
    let go_on = ["open", "notebook/other"];
    env.pipemux(&["open", "notebook", "text.db"]).exits(9).has("pipemux open notebook/other\n");
    env.pipemux(&go_on).ok().has("## notebook/other");

    // The same command helps where the window is open already.
    env.write("n.db", "");
    env.pipemux(&["open", "notebook", "n.db"]).ok();
    env.pipemux(&["down"]).ok();
    std::fs::remove_file(env.path("n.db")).expect("it is removed");
    env.write("n.db", "no database ".repeat(2000));
    env.pipemux(&["view", "notebook/main"]).exits(9).has("pipemux open notebook/other\n");
    env.pipemux(&go_on).ok();
}
