//! Jobs that readers know by the app's own word.

use pipemux_core::limits;
use pipemux_proto::app::Outcome;
use pipemux_proto::client::Verb;
use pipemux_proto::job::{JobEnd, JobReport, Started};

use crate::world::{AnswerText, Behaviour, World, reader};

fn named(key: &str) -> Started {
    let brief = "cargo test".into();
    Started { job: key.into(), brief, version: 1, named: true, ..Started::default() }
}

/// Has a session begin a job, and returns the answer.
fn begin(world: &mut World, session: &str, started: Started) -> AnswerText {
    world.set_behaviour(session, Behaviour::Ends(Box::new(Outcome::Started(started))));
    let said = world.run(reader("a"), &format!("{session}.say('x')"));
    world.set_behaviour(session, Behaviour::Normal);
    said
}

fn opened(sessions: &[&str]) -> World {
    let mut world = World::new();
    for session in sessions {
        world.model(session).add("one");
        world.open(reader("a"), session);
    }
    world
}

fn read(world: &mut World, name: &str) -> AnswerText {
    world.ask(reader("a"), Verb::Read { target: format!("job:{name}") })
}

#[test]
fn named_job_has_one_name_wherever_it_is_told() {
    let mut world = opened(&["notes/main"]);
    let said = begin(&mut world, "notes/main", named("c2"));
    said.exits(0).has("say: cargo test · job c2 · [cancel](link:");
    said.has("end and output: pipemux read job:c2 --wait 60\n");
    world.view(reader("a")).has("job c2 · cargo test · [cancel](link:");
    read(&mut world, "c2").exits(0).has("job c2 still runs").has("pipemux read job:c2 --wait 60");
    let end = JobReport {
        job: "c2".into(),
        state: Some(JobEnd::Failed),
        brief: "2 failed".into(),
        ..JobReport::default()
    };
    world.report_job("notes/main", &end);
    world.view(reader("a")).has("job c2 failed after ").has("2 failed · cargo test");
    read(&mut world, "c2").exits(0).has("2 failed");
    read(&mut world, "c3").exits(3).has("no job c3 is known here");
}

#[test]
fn same_name_in_two_sessions_means_the_one_that_is_shown_so() {
    let mut world = opened(&["notes/main", "notes/b"]);
    begin(&mut world, "notes/b", named("c2")).has("job notes/b:c2 · [cancel]");
    read(&mut world, "c2").exits(0).has("job notes/b:c2 still runs");
    begin(&mut world, "notes/main", named("c2")).has("job c2 · [cancel]");
    read(&mut world, "c2").exits(0).has("job c2 still runs");
    read(&mut world, "notes/b:c2").exits(0).has("job notes/b:c2 still runs");
    read(&mut world, "notes/main:c2").exits(0).has("job c2 still runs");
}

#[test]
fn key_that_could_be_taken_for_something_else_is_no_name() {
    let long = "c".repeat(limits::JOB_NAME_MAX + 1);
    for key in ["2", "c 2", "c:2", "ビルド", "", "-c", &long] {
        let mut world = opened(&["notes/main"]);
        let said = begin(&mut world, "notes/main", named(key));
        said.exits(0).lacks(&format!("job {key} · "));
    }
    let mut world = opened(&["notes/main"]);
    let longest = "c".repeat(limits::JOB_NAME_MAX);
    begin(&mut world, "notes/main", named(&longest)).has(&format!("job {longest} · "));
}

#[test]
fn start_that_tells_all_shows_no_window() {
    let mut world = opened(&["notes/main"]);
    let complete = Started { complete: true, ..named("c1") };
    begin(&mut world, "notes/main", complete).exits(0).lacks("## notes/main");
}
