//! Jobs: started by an action, told of while they run, ended exactly once, whatever is lost
//! meanwhile.

use bytes::Bytes;
use pipemux_core::{Exit, Idle, limits};
use pipemux_proto::app::Outcome;
use pipemux_proto::client::{Format, Verb, VerbRequest, ViewArgs, WatchArgs};
use pipemux_proto::job::{JobEnd, JobReport, Started};

use crate::world::{AnswerText, Behaviour, Reader, World, reader, run, session_addr};

const KILLED: Exit = Exit::Signal(9);

fn started(key: &str) -> Started {
    Started { job: key.into(), brief: "cargo test".into(), version: 1, ..Started::default() }
}

fn progress(key: &str, done: u64) -> JobReport {
    let text = Some("compiling".into());
    JobReport { job: key.into(), done: Some(done), total: Some(10), text, ..Default::default() }
}

fn end(key: &str, state: JobEnd, brief: &str) -> JobReport {
    JobReport { job: key.into(), state: Some(state), brief: brief.into(), ..Default::default() }
}

fn output(key: &str, text: &str) -> JobReport {
    let output = Some(Bytes::copy_from_slice(text.as_bytes()));
    JobReport { job: key.into(), output, ..JobReport::default() }
}

/// A world with a window of an app.
fn opened(mut world: World) -> World {
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    world
}

/// Has the next action begin a job.
fn begins(world: &mut World, started: Started) {
    let outcome = Outcome::Started(started);
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(outcome)));
}

/// A world in which a job runs, and the answer that told of it.
fn with_job(world: World) -> (World, AnswerText) {
    let mut world = opened(world);
    begins(&mut world, started("j1"));
    let said = world.run(reader("a"), "notes.say('x')");
    world.set_behaviour("notes/main", Behaviour::Normal);
    (world, said)
}

/// Returns the number that the daemon gave the job.
fn number(said: &AnswerText) -> u64 {
    let (_, rest) = said.text.split_once("job:").expect("the way to the job");
    rest.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}

fn waiting(world: &mut World, who: Reader, verb: Verb, wait_ms: u32) -> VerbRequest {
    VerbRequest { wait_ms, ..world.call(who, verb) }
}

fn read(number: u64) -> Verb {
    Verb::Read { target: format!("job:{number}") }
}

fn view_wait(wait_ms: u32) -> Verb {
    Verb::View(ViewArgs { wait_ms, ..ViewArgs::default() })
}

#[test]
fn job_is_told_where_it_starts_runs_and_ends() {
    let (mut world, said) = with_job(World::new());
    let job = number(&said);
    let link = said.id("cancel");
    assert_eq!(
        said.text
            .split_once("\n\n")
            .map_or(said.text.as_str(), |(head, _)| head)
            .lines()
            .take(2)
            .collect::<Vec<_>>(),
        [
            format!("1 started · say: cargo test · job {job} · [cancel](link:{link})").as_str(),
            format!("end and output: pipemux read job:{job} --wait 60").as_str(),
        ]
    );
    said.exits(0);
    world.report_job("notes/main", &progress("j1", 4));
    let line = format!("job {job} · cargo test · 40 % · compiling · [cancel](link:{link})\n");
    world.view(reader("a")).has(&line);
    world.view(reader("b")).has(&line);
    world.ask(reader("a"), Verb::Sessions).has("1 job");

    world.pass(8_400);
    world.report_job("notes/main", &output("j1", "test a … ok\n"));
    world.report_job("notes/main", &end("j1", JobEnd::Done, "12 passed"));
    let told = format!(
        "job {job} done after 8.4 s: 12 passed · cargo test · output: pipemux read job:{job}\n"
    );
    let view = world.view(reader("a"));
    view.has(&told).lacks("[cancel]");
    world.view(reader("a")).lacks("12 passed");
    // The other reader is told with its next answer, whatever that is.
    world.run(reader("b"), "notes.say('y')").exits(0).has(&told);
    world.run(reader("b"), "notes.say('z')").lacks("12 passed");
    world.view(reader("c")).lacks("12 passed");
    world.ask(reader("c"), read(job)).exits(0).has("12 passed").has("```\ntest a … ok\n```\n");
}

#[test]
fn later_reports_of_an_ended_job_are_dropped() {
    let (mut world, said) = with_job(World::new());
    world.report_job("notes/main", &end("j1", JobEnd::Failed, "2 failed"));
    world.report_job("notes/main", &end("j1", JobEnd::Done, "late"));
    world.report_job("notes/main", &progress("j1", 9));
    world.report_job("notes/main", &progress("unknown", 9));
    world.view(reader("a")).has("failed after 0.0 s: 2 failed").lacks("late").lacks("90 %");
    world.ask(reader("a"), read(number(&said))).has("2 failed").lacks("late");
}

#[test]
fn run_waits_for_the_end_of_its_job_before_the_next_step() {
    let mut world = opened(World::new());
    begins(&mut world, started("j1"));
    let call = waiting(&mut world, reader("a"), run("notes.say('x'); notes.say('y')"), 60_000);
    let client = world.connect();
    let id = world.send_for(client, &call, 120_000);
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.pass(5_000);
    assert_eq!((world.answer_to(client, id), world.invoked.len()), (None, 1));
    world.report_job("notes/main", &end("j1", JobEnd::Done, "12 passed"));
    let said = world.answer_to(client, id).expect("both steps ran");
    said.exits(0).has("1 done · say: cargo test · job ").has("done after 5.0 s: 12 passed");
    said.has("\n2 done · say: y");
    world.confirm(client, said.delivery);
    world.view(reader("a")).lacks("12 passed");
    assert_eq!(world.invoked.len(), 2);
}

#[test]
fn failed_job_fails_its_step_and_stops_the_run() {
    let mut world = opened(World::new());
    begins(&mut world, started("j1"));
    let call = waiting(&mut world, reader("a"), run("notes.say('x'); notes.say('y')"), 60_000);
    let client = world.connect();
    let id = world.send_for(client, &call, 120_000);
    world.report_job("notes/main", &output("j1", "assertion failed\n"));
    world.report_job("notes/main", &end("j1", JobEnd::Failed, "1 failed"));
    let said = world.answer_to(client, id).expect("it has ended");
    said.exits(1).has("1 failed · say: cargo test · job ").has("failed after 0.0 s: 1 failed");
    said.has("```\nassertion failed\n```").lacks("pipemux read job:").lacks("done · say");
    assert_eq!(world.invoked.len(), 1);
}

#[test]
fn job_that_fails_alone_is_done_with_its_newest_output_and_the_run_goes_on() {
    let mut world = opened(World::new());
    begins(&mut world, Started { fails_alone: true, ..started("j1") });
    let call = waiting(&mut world, reader("a"), run("notes.say('x'); notes.say('y')"), 60_000);
    let client = world.connect();
    let id = world.send_for(client, &call, 120_000);
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.report_job("notes/main", &output("j1", &"a line of output\n".repeat(2_000)));
    world.report_job("notes/main", &output("j1", "assertion failed\n"));
    world.report_job("notes/main", &end("j1", JobEnd::Failed, "exit 1"));
    let said = world.answer_to(client, id).expect("it has ended");
    said.exits(0)
        .has("1 done · say: cargo test · job ")
        .has("failed after 0.0 s: exit 1\noutput: ");
    said.has("output\nassertion failed\n```").has("2 done · say");
    assert!(said.text.len() < 10_000, "{}", said.text);
    assert_eq!(world.invoked.len(), 2);
}

#[test]
fn wait_that_is_too_short_tells_that_the_job_runs_and_begins_no_other_step() {
    let mut world = opened(World::new());
    begins(&mut world, started("j1"));
    let call = waiting(&mut world, reader("a"), run("notes.say('x'); notes.say('y')"), 5_000);
    let client = world.connect();
    let id = world.send_for(client, &call, 60_000);
    world.report_job("notes/main", &progress("j1", 4));
    world.pass(5_000);
    let said = world.answer_to(client, id).expect("the wait is over");
    said.exits(1).has("still runs after 5.0 s: 40 % · compiling · [cancel](link:");
    said.has("2 failed · say: not begun, because job ").has(" --wait 60");
    assert_eq!(world.invoked.len(), 1);
    world.confirm(client, said.delivery);
    world.report_job("notes/main", &end("j1", JobEnd::Done, "12 passed"));
    world.view(reader("a")).has("12 passed");
}

#[test]
fn client_that_leaves_ends_the_wait_and_not_the_job() {
    let mut world = opened(World::new());
    begins(&mut world, started("j1"));
    let call = waiting(&mut world, reader("a"), run("notes.say('x'); notes.say('y')"), 60_000);
    let client = world.connect();
    let id = world.send_for(client, &call, 120_000);
    world.cancel(client, id);
    world.answer_to(client, id).expect("it is answered").has("1 started · say").has("not begun");
    world.report_job("notes/main", &end("j1", JobEnd::Done, "12 passed"));
    world.view(reader("a")).has("12 passed");
    assert_eq!(world.invoked.len(), 1);
}

#[test]
fn reading_a_job_waits_for_its_end_and_counts_as_being_told() {
    let (mut world, said) = with_job(World::new());
    let job = number(&said);
    let call = waiting(&mut world, reader("a"), read(job), 60_000);
    let client = world.connect();
    let id = world.send_for(client, &call, 120_000);
    world.report_job("notes/main", &output("j1", "one\n"));
    world.pass(20_000);
    assert_eq!(world.answer_to(client, id), None);
    world.report_job("notes/main", &end("j1", JobEnd::Done, "ok"));
    let read_to_end = world.answer_to(client, id).expect("it has ended");
    read_to_end.exits(0).has("done after 20.0 s: ok · cargo test\n").has("```\none\n```\n");
    world.confirm(client, read_to_end.delivery);
    world.view(reader("a")).lacks("done after");
    // While it runs, the answer says so.
    begins(&mut world, started("j2"));
    let job = number(&world.run(reader("a"), "notes.say('x')"));
    let call = waiting(&mut world, reader("a"), read(job), 1_000);
    world.ask_call(&call).has("still runs after 1.0 s").has("--wait 60\n");
    world.ask(reader("a"), read(9_999)).exits(3).has("no job 9999 is known here");
    world.ask(reader("a").at("elsewhere"), read(job)).exits(3);
}

#[test]
fn output_is_bounded_exact_and_inert() {
    let (mut world, said) = with_job(World::new());
    let line = "\u{1b}[31m```[x](link:1)\n";
    let lines = limits::JOB_OUTPUT_MAX / line.len() + 100;
    world.report_job("notes/main", &output("j1", &line.repeat(lines)));
    let kept = limits::JOB_OUTPUT_MAX;
    let dropped = line.len() * lines - kept;
    let said = world.ask(reader("a"), read(number(&said)));
    said.has(&format!("… {dropped} earlier bytes of its output are not kept\n"));
    said.has(" more lines: repeat it with --budget ").has("\n````\n").lacks("\u{1b}");
    let json = VerbRequest { format: Format::Json, ..world.call(reader("a"), read(1)) };
    world.ask_call(&VerbRequest { verb: Verb::Read { target: "job:x".into() }, ..json }).exits(3);
}

#[test]
fn cancel_asks_the_app_and_tells_the_end() {
    let (mut world, said) = with_job(World::new());
    let link = format!("link:{}", said.id("cancel"));
    world.view(reader("b"));
    let call = world.call(reader("b"), Verb::Click { link: link.clone() });
    let client = world.connect();
    let id = world.send(client, &call);
    let app = world.process("notes/main").expect("it runs");
    assert!(world.effects.iter().any(|effect| effect.contains("ToApp")), "{app}");
    assert_eq!(world.answer_to(client, id), None, "it waits for the end");
    world.report_job("notes/main", &end("j1", JobEnd::Cancelled, ""));
    let cancelled = world.answer_to(client, id).expect("it has ended");
    cancelled.exits(0).has("cancelled after 0.0 s · cargo test\n");
    world.confirm(client, cancelled.delivery);
    world.view(reader("a")).has("cancelled after");
    world.view(reader("b")).lacks("cancelled after");
    world.click(reader("a"), &link).exits(0).has("cancelled after 0.0 s");
    world.run(reader("a"), &format!("notes.say('x'); click({link})")).exits(2);
}

#[test]
fn cancel_of_a_job_that_goes_on_says_so() {
    let (mut world, said) = with_job(World::new());
    let link = format!("link:{}", said.id("cancel"));
    let asked = world.click(reader("a"), &link);
    asked.exits(0).has("was asked to cancel, and still runs · cargo test · end and output: ");
    world.view(reader("a")).has("[cancel]");
}

#[test]
fn app_that_dies_loses_its_job_and_is_started_again_to_say_so() {
    let (mut world, said) = with_job(World::new());
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, KILLED, &[]);
    assert_ne!(world.process("notes/main"), Some(app), "another one was started");
    let open = world.apps.values().next().expect("it runs").opens[0].clone();
    assert_eq!(open.jobs, ["j1"]);
    let job = number(&said);
    let told =
        format!("job {job} lost after 0.0 s: notes/main died while it ran (killed by signal 9)");
    world.view(reader("a")).has(&told).lacks("[cancel]");
    world.report_job("notes/main", &end("j1", JobEnd::Done, "late"));
    world.view(reader("a")).lacks("lost").lacks("late");
}

#[test]
fn job_that_the_next_process_goes_on_with_ends_once() {
    let (mut world, said) = with_job(World::new());
    world.set_behaviour("notes/main", Behaviour::ResumesJobs);
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, KILLED, &[]);
    let cancel = said.id("cancel");
    world.view(reader("a")).has("was restarted").has(&format!("[cancel](link:{cancel})"));
    world.report_job("notes/main", &end("j1", JobEnd::Done, "12 passed"));
    world.view(reader("a")).has("12 passed");
    world.view(reader("a")).lacks("12 passed").lacks("lost");
}

#[test]
fn app_that_dies_too_often_loses_its_job() {
    let (mut world, _) = with_job(World::new());
    world.set_behaviour("notes/main", Behaviour::DiesAtStart(Vec::new()));
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, KILLED, &[]);
    world.pass(limits::CRASH_WINDOW_MS);
    world.view(reader("a")).has(" lost after ");
    assert!(world.apps.is_empty());
}

#[test]
fn lost_daemon_tells_its_jobs_as_lost_to_those_who_knew_of_them() {
    let (mut world, said) = with_job(World::new());
    world.view(reader("b"));
    world.pass(1_000);
    world.lose_daemon();
    world.core.earlier_daemon_was_lost();
    let told = format!("job {} lost after 1.0 s: the daemon was lost or restarted", number(&said));
    world.view(reader("b")).has(&told);
    world.view(reader("b")).lacks("lost after");
    world.view(reader("c")).lacks("lost after");
    world.view(reader("a")).has(&told);
    world.lose_daemon();
    world.view(reader("a")).lacks("lost after");
    world.ask(reader("a"), read(number(&said))).has("lost after");
}

#[test]
fn daemon_that_comes_back_starts_the_app_of_a_job_which_goes_on() {
    let (mut world, said) = with_job(World::new());
    world.set_behaviour("notes/main", Behaviour::ResumesJobs);
    world.lose_daemon();
    world.pass(1);
    assert!(world.process("notes/main").is_some(), "no client has come, but its job runs");
    let line = format!("job {} · cargo test · [cancel](link:{})", number(&said), said.id("cancel"));
    world.view(reader("a")).has(&line);
    world.report_job("notes/main", &end("j1", JobEnd::Done, "12 passed"));
    // Told by a third daemon, too, since nobody has confirmed it.
    world.lose_daemon();
    world.view(reader("a")).has("12 passed");
    world.lose_daemon();
    world.view(reader("a")).lacks("12 passed");
}

#[test]
fn session_with_a_running_job_is_not_put_to_sleep() {
    let sleeper = || World::with_notes(|notes| notes.idle = Idle::After(60_000));
    let (mut world, _) = with_job(sleeper());
    world.pass(300_000);
    assert!(world.process("notes/main").is_some(), "its job runs");
    world.report_job("notes/main", &end("j1", JobEnd::Done, ""));
    world.pass(300_000);
    assert!(world.process("notes/main").is_none());
    // The end is told although the session sleeps.
    world.view(reader("a")).has("done after 5 min 0 s").lacks("lost");
}

#[test]
fn job_that_its_app_saves_sleeps_with_its_session() {
    let mut world = opened(World::with_notes(|notes| notes.idle = Idle::After(60_000)));
    begins(&mut world, Started { sleeps: true, ..started("timer") });
    let said = world.run(reader("a"), "notes.say('x')");
    world.set_behaviour("notes/main", Behaviour::ResumesJobs);
    world.pass(300_000);
    assert!(world.process("notes/main").is_none(), "it is asleep");
    world.lose_daemon();
    world.connect();
    assert!(world.process("notes/main").is_none(), "nothing needs it");
    world.view(reader("a")).has(&format!("job {} · cargo test", number(&said)));
    world.report_job("notes/main", &end("timer", JobEnd::Done, "rang"));
    world.view(reader("a")).has("rang");
}

#[test]
fn end_of_the_session_ends_its_jobs() {
    let (mut world, said) = with_job(World::new());
    world.ask(reader("b"), Verb::End { session: session_addr("notes/main") }).exits(0);
    world.view(reader("a")).has(" lost after 0.0 s: notes/main was ended");
    world.ask(reader("a"), read(number(&said))).has("lost");
}

#[test]
fn restart_asks_the_app_which_jobs_go_on() {
    let (mut world, _) = with_job(World::new());
    world.ask(reader("a"), Verb::Restart { session: session_addr("notes/main") }).exits(0);
    world.view(reader("a")).has(" lost after 0.0 s: notes/main was restarted");
}

#[test]
fn view_that_waits_returns_on_an_end_at_once_and_on_progress_later() {
    let (mut world, _) = with_job(World::new());
    world.view(reader("a"));
    let call = world.call(reader("a"), view_wait(60_000));
    let client = world.connect();
    let id = world.send_for(client, &call, 120_000);
    world.report_job("notes/main", &progress("j1", 4));
    world.pass(limits::JOB_PROGRESS_MS - 1);
    assert_eq!(world.answer_to(client, id), None, "progress alone disturbs nobody");
    world.pass(1);
    let said = world.answer_to(client, id).expect("it has lasted long enough");
    said.has("40 %").lacks("unchanged");
    world.confirm(client, said.delivery);
    let id = world.send_for(client, &call, 120_000);
    world.pass(limits::JOB_PROGRESS_MS * 2);
    assert_eq!(world.answer_to(client, id), None, "that progress was seen");
    world.report_job("notes/main", &end("j1", JobEnd::Done, "12 passed"));
    world.answer_to(client, id).expect("an end is told at once").has("12 passed");
}

#[test]
fn watch_tells_start_progress_and_end_of_a_job() {
    let mut world = opened(World::new());
    let after = |world: &mut World| {
        let verb = Verb::Watch(WatchArgs { after: Some(0), ..WatchArgs::default() });
        world.ask(reader("w"), verb)
    };
    begins(&mut world, started("j1"));
    let job = number(&world.run(reader("a"), "notes.say('x')"));
    for done in 1..=9 {
        world.report_job("notes/main", &progress("j1", done));
        world.pass(100);
    }
    let told = after(&mut world);
    told.has(&format!("notes/main job {job} started · cargo test"));
    told.has("10 % · compiling").lacks("90 %");
    // What was put off is told once its time has come.
    world.pass(limits::JOB_REPORT_MS);
    after(&mut world).has("90 % · compiling").lacks("10 %");
    world.report_job("notes/main", &end("j1", JobEnd::Done, "12 passed"));
    after(&mut world)
        .has(&format!("notes/main job {job} done after 1.9 s: 12 passed · cargo test"));
}

#[test]
fn job_of_a_late_answer_is_followed() {
    let mut world = opened(World::new());
    world.set_behaviour("notes/main", Behaviour::Holds);
    world.run(reader("a"), "notes.say('x')").exits(7);
    begins(&mut world, started("j1"));
    let client = world.connect();
    let call = world.call(reader("a"), run("notes.say('x')"));
    let app = world.process("notes/main").expect("it runs");
    world.apps.get_mut(&app).expect("it runs").held.clear();
    let id = world.send_for(client, &call, 0);
    world.answer_to(client, id).expect("an answer").has("started");
    // The same words once more, for a request that nobody waits for.
    let late = Outcome::Started(started("j2"));
    let reply = pipemux_proto::Envelope {
        kind: pipemux_proto::Kind::Reply,
        ..pipemux_proto::Envelope::request(pipemux_proto::Method::Invoke, 1, app)
    };
    let frame = crate::world::frame(&reply, &late);
    world.event(pipemux_core::Event::AppFrame { app, frame });
    world.report_job("notes/main", &end("j2", JobEnd::Done, "late but told"));
    world.view(reader("a")).has("late but told");
}

#[test]
fn nested_call_has_no_value_of_a_job() {
    let mut world = opened(World::new());
    let note = world.view(reader("a")).id("k1 r1");
    begins(&mut world, started("j1"));
    let said = world.run(reader("a"), &format!("notes.say(notes.text(obj:{note}))"));
    said.exits(1).has("started a job").has("has no value to pass on");
    world.view(reader("a")).has("· [cancel](link:");
}

#[test]
fn further_jobs_of_a_session_are_done_and_not_followed() {
    let mut world = opened(World::new());
    for job in 0..limits::JOBS_RUNNING_MAX {
        begins(&mut world, started(&format!("j{job}")));
        world.run(reader("a"), "notes.say('x')").exits(0).has("[cancel]");
    }
    begins(&mut world, started("one more"));
    world.run(reader("a"), "notes.say('x')").exits(0).lacks("[cancel]");
    let more = limits::JOBS_RUNNING_MAX - limits::JOBS_SHOWN;
    world.view(reader("a")).has(&format!("… {more} more jobs\n"));
}
