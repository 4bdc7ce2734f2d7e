//! Ends of jobs that an outcome tells, and times that count from the beginning of the work.

use pipemux_core::limits;
use pipemux_proto::app::{Done, Outcome};
use pipemux_proto::client::Verb;
use pipemux_proto::job::{JobEnd, JobReport, Started};

use crate::world::{Behaviour, World, reader};

fn started(key: &str) -> Started {
    let brief = "cargo test".into();
    Started { job: key.into(), brief, version: 1, named: true, ..Started::default() }
}

/// A world in which two readers know of a job.
fn with_job(key: &str) -> World {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    world.view(reader("b"));
    act(&mut world, Outcome::Started(started(key)));
    world
}

fn act(world: &mut World, outcome: Outcome) {
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(outcome)));
    world.run(reader("a"), "notes.say('x')").exits(0);
    world.set_behaviour("notes/main", Behaviour::Normal);
}

fn tells(jobs: &[&str]) -> Done {
    let ended_jobs = jobs.iter().map(|job| (*job).to_owned()).collect();
    Done { brief: "c1 · stopped".into(), version: 2, ended_jobs, ..Done::default() }
}

fn report(world: &mut World, key: &str) {
    let state = Some(JobEnd::Cancelled);
    world.report_job("notes/main", &JobReport { job: key.into(), state, ..JobReport::default() });
}

#[test]
fn end_that_an_outcome_told_is_not_told_again_to_its_reader() {
    // The report may come before the outcome or behind it.
    for early in [true, false] {
        let mut world = with_job("c1");
        if early {
            report(&mut world, "c1");
        }
        act(&mut world, Outcome::Done(tells(&["c1", "unknown"])));
        if !early {
            report(&mut world, "c1");
        }
        world.view(reader("a")).lacks("job c1 cancelled");
        world.view(reader("b")).has("job c1 cancelled");
        world.view(reader("b")).lacks("job c1 cancelled");
    }
}

#[test]
fn ends_beyond_the_bound_are_told_again() {
    let mut world = with_job("c1");
    let mut claimed = vec!["unknown"; limits::ENDED_JOBS_MAX];
    claimed.push("c1");
    act(&mut world, Outcome::Done(tells(&claimed)));
    report(&mut world, "c1");
    world.view(reader("a")).has("job c1 cancelled");
}

#[test]
fn job_that_another_one_replaces_is_not_told_of() {
    let mut world = with_job("c1");
    let next = Started { ended_jobs: vec!["c1".into()], ..started("c2") };
    act(&mut world, Outcome::Started(next));
    report(&mut world, "c1");
    report(&mut world, "c2");
    world.view(reader("a")).has("job c2 cancelled").lacks("job c1 cancelled");
}

#[test]
fn duration_counts_from_the_beginning_of_the_work() {
    let mut world = with_job("c1");
    act(&mut world, Outcome::Started(Started { ran_ms: 25_000, ..started("c2") }));
    world.pass(5_000);
    let read = world.ask(reader("a"), Verb::Read { target: "job:c2".into() });
    read.exits(0).has("job c2 still runs after 30.0 s");
    // No claim takes it before the beginning of time.
    act(&mut world, Outcome::Started(Started { ran_ms: u64::MAX, ..started("c3") }));
    report(&mut world, "c3");
    world.view(reader("a")).has("job c3 cancelled");
}
