//! The variables that a manifest passes: an app gets them, the disk doesn't.

use pipemux_core::Manifest;
use pipemux_core::saved::{Record, SavedOpen};
use pipemux_proto::client::Verb;

use crate::world::{Reader, World, open, reader};

fn passes_secret(manifest: &mut Manifest) {
    manifest.pass = vec!["SECRET".into(), "UNSET".into()];
}

/// Opens `notes` with these values of `SECRET` and `PATH`.
fn open_with(world: &mut World, who: Reader, secret: &str) -> String {
    let Verb::Open(mut args) = open("notes") else { panic!("an open") };
    args.env = [("PATH".into(), "/bin".into()), ("SECRET".into(), secret.into())].into();
    world.ask(who, Verb::Open(args)).text
}

fn secret_of_process(world: &World) -> Option<String> {
    let app = world.process("notes/main").expect("it runs");
    world.apps[&app].opens[0].env.get("SECRET").cloned()
}

#[test]
fn value_that_a_manifest_passes_reaches_the_app_and_no_record() {
    let mut world = World::with_notes(passes_secret);
    open_with(&mut world, reader("a"), "hunter2");
    assert_eq!(secret_of_process(&world).as_deref(), Some("hunter2"));
    let records = format!("{:?}{:?}", world.records, world.core.snapshot());
    assert!(records.contains("SECRET") && !records.contains("hunter2"));
    // It is still there for the next process of this daemon.
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, pipemux_core::Exit::Signal(9), &[]);
    let view = world.view(reader("a"));
    view.exits(0).lacks("Started without");
    assert_eq!(secret_of_process(&world).as_deref(), Some("hunter2"));
}

#[test]
fn next_opener_passes_again_what_a_lost_daemon_knew() {
    let mut world = World::with_notes(passes_secret);
    open_with(&mut world, reader("a"), "hunter2");
    world.lose_daemon();
    let told = "Started without SECRET: its value is kept in memory only, and the daemon was restarted; pass again: \
                pipemux open notes/main && pipemux restart notes/main";
    world.view(reader("a")).exits(0).has(told);
    assert_eq!(secret_of_process(&world), None);
    let opened = open_with(&mut world, reader("a"), "hunter3");
    let changed =
        "SECRET changed; notes/main gets it when it starts again: pipemux restart notes/main";
    assert!(opened.contains(changed), "{opened}");
    assert!(!open_with(&mut world, reader("a"), "hunter3").contains("SECRET"));
    world.ask(reader("a"), Verb::Restart { session: crate::world::session_addr("notes/main") });
    assert_eq!(secret_of_process(&world).as_deref(), Some("hunter3"));
}

#[test]
fn opener_after_a_lost_daemon_starts_the_app_with_its_own_value() {
    let mut world = World::with_notes(passes_secret);
    open_with(&mut world, reader("a"), "hunter2");
    world.lose_daemon();
    assert!(!open_with(&mut world, reader("a"), "hunter3").contains("SECRET"));
    assert_eq!(secret_of_process(&world).as_deref(), Some("hunter3"));
}

#[test]
fn value_that_an_older_release_saved_is_used_and_not_saved_again() {
    let opens = vec![SavedOpen {
        cwd: "/work".into(),
        env: vec![("PATH".into(), "/bin".into()), ("SECRET".into(), "hunter2".into())],
        ..SavedOpen::default()
    }];
    let mut world = World::with_notes(passes_secret);
    world.open(reader("a"), "notes");
    let workspace = world.records.iter().find_map(|record| match record {
        Record::Session { workspace, .. } => Some(workspace.clone()),
        _ => None,
    });
    let session = Record::Session {
        workspace: workspace.expect("a session"),
        session: "notes/main".into(),
        opens,
    };
    world.records.push(session);
    world.lose_daemon();
    world.view(reader("a")).exits(0).lacks("Started without");
    assert_eq!(secret_of_process(&world).as_deref(), Some("hunter2"));
    let snapshot = format!("{:?}", world.core.snapshot());
    assert!(snapshot.contains("SECRET") && !snapshot.contains("hunter2"));
}
