//! Steps are sent one after the other, and every way in which one can end.

use pipemux_proto::Code;
use pipemux_proto::projection::Copied;

use crate::foreign::Speaker;
use crate::processes::quarantine::Fingerprint;

use pipemux_proto::report::StepStatus;

use super::*;

#[test]
fn steps_are_sent_one_after_the_other() {
    let scene = Scene::new();
    let write = step("notes/main", "write").with("text", Type::String, fixed_arg("hello"));
    let mut run = scene.run(vec![write, step("todo/main", "add")]);
    run.caller.cwd = "/home/ada".into();

    let RunOutput::Invoke { session, invoke, prefetch } = scene.begin(&mut run) else { panic!() };
    assert_eq!((session, prefetch), (key("notes/main"), false));
    assert_eq!(invoke.action, "write");
    assert_eq!(invoke.args["text"], Arg::from(Value::from("hello")));
    assert_eq!((invoke.reader.as_str(), invoke.run_id.as_str()), (READER, "run-1"));
    assert_eq!(
        (invoke.cwd.as_str(), invoke.seen_version, invoke.seen_lost),
        ("/home/ada", Some(10), false)
    );
    assert_eq!(run.in_flight(), Some((&key("notes/main"), &*invoke)));

    let output = scene.reply(&mut run, done(11));
    let RunOutput::Invoke { session, prefetch, .. } = output else { panic!("{output:?}") };
    assert_eq!(
        (session, prefetch),
        (key("todo/main"), true),
        "the last step's window is prefetched"
    );

    assert_finished(scene.reply(&mut run, done(11)));
    assert_eq!(outcomes(&run), ["Done: ok", "Done: ok"]);
    assert_eq!(run.own_changes.touched, [key("notes/main"), key("todo/main")]);
    assert!(
        run.own_changes.only_own
            && run.progress.took_effect()
            && !run.unknown
            && run.in_flight().is_none()
    );
}

#[test]
fn failure_stops_the_rest() {
    let scene = Scene::new();
    let mut run =
        scene.run(vec![step("notes/main", "a"), step("notes/main", "b"), step("notes/main", "c")]);
    sent(scene.begin(&mut run));
    sent(scene.reply(&mut run, done(11)));
    assert_finished(scene.reply(&mut run, refused()));
    assert_eq!(outcomes(&run), ["Done: ok", "Failed: not today"]);
    assert!(!run.unknown);
}

#[test]
fn nested_result_is_passed_to_its_outer_step() {
    let scene = Scene::new();
    let outer = step("todo/main", "add").with("text", Type::String, Argument::Result(0));
    let mut run = scene.run(vec![step("notes/main", "find").nested(), outer]);
    sent(scene.begin(&mut run));
    let (session, invoke) = sent(scene.reply(&mut run, done(11)));
    let value = Value::from("result").to_blob();
    let copied = Copied { value, from: "notes/main".into(), label: "find()".into(), file: None };
    assert_eq!((session, invoke.args["text"].clone()), (key("todo/main"), Arg::Copied(copied)));
    assert!(run.progress.passes_on(0) && !run.progress.passes_on(1));
}

#[test]
fn version_that_skips_tells_of_foreign_changes() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "write")]);
    sent(scene.begin(&mut run));
    assert_finished(scene.reply(&mut run, done(12)));
    assert!(!run.own_changes.only_own);
    assert_eq!(run.own_changes.expected[&key("notes/main")], 12);
}

#[test]
fn only_the_app_says_that_a_step_took_changes_back() {
    let scene = Scene::new();
    for (action, reverts) in [("undo", false), ("back", true), ("go", false)] {
        let mut run = scene.run(vec![step("notes/main", action)]);
        sent(scene.begin(&mut run));
        let Outcome::Done(done) = done(11) else { unreachable!() };
        assert_finished(scene.reply(&mut run, Outcome::Done(Done { reverts, ..done })));
        assert_eq!(run.progress.reverts(), reverts, "{action}");
    }
}

#[test]
fn versions_of_another_incarnation_count_as_lost() {
    let mut scene = Scene::new();
    scene.session("notes/main").process = ProcessState::Ready { app: Incarnation(9) };
    let mut run = scene.run(vec![step("notes/main", "write")]);
    let (_, invoke) = sent(scene.begin(&mut run));
    assert_eq!((invoke.seen_version, invoke.seen_lost), (None, true));

    // Nothing was seen: it is lost only if an earlier daemon may have shown it.
    for restored in [false, true] {
        scene.session("notes/main").restored = restored;
        let mut run = scene.run(vec![step("notes/main", "write")]);
        run.baseline.now.versions.clear();
        let (_, invoke) = sent(scene.begin(&mut run));
        assert_eq!((invoke.seen_version, invoke.seen_lost), (None, restored));
    }
}

#[test]
fn cancelled_run_sends_nothing_more() {
    let scene = Scene::new();
    let steps = || vec![step("notes/main", "a"), step("notes/main", "b")];
    let mut run = scene.run(steps());
    run.cancelled = true;
    assert_finished(scene.begin(&mut run));
    assert_eq!(outcomes(&run), ["Failed: cancelled before it began; nothing was sent"]);
    assert!(!run.progress.took_effect());

    let mut run = scene.run(steps());
    sent(scene.begin(&mut run));
    run.cancelled = true;
    assert_finished(scene.reply(&mut run, done(11)));
    let cancelled = "Failed: cancelled before it began; nothing was sent";
    assert_eq!(outcomes(&run), ["Done: ok", cancelled]);
}

#[test]
fn outcome_is_unknown_when_the_app_dies() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "a"), step("notes/main", "b")]);
    sent(scene.begin(&mut run));
    assert_finished(scene.die(&mut run));
    assert_eq!(outcomes(&run), ["Unknown: notes/main died; it may or may not have taken effect"]);
    assert!(run.unknown);
}

#[test]
fn undelivered_step_has_failed() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "a").idempotent()]);
    sent(scene.begin(&mut run));
    let undelivered = RunInput::Replied(lost(false, false, "it is down"));
    assert_finished(scene.resume(&mut run, undelivered));
    assert_eq!(outcomes(&run), ["Failed: it is down; nothing was sent to it"]);
    assert!(!run.unknown);
}

#[test]
fn idempotent_step_is_sent_again_once_when_the_app_dies() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "a").idempotent()]);
    let (_, first) = sent(scene.begin(&mut run));
    let output = scene.die(&mut run);
    assert!(matches!(output, RunOutput::Invoke { prefetch: false, .. }), "{output:?}");
    let (session, second) = sent(output);
    assert_eq!(session, key("notes/main"));
    assert_eq!(second, Invoke { seen_version: None, seen_lost: true, ..first });

    assert_finished(scene.die(&mut run));
    assert_eq!(outcomes(&run), ["Unknown: notes/main died; it may or may not have taken effect"]);
}

#[test]
fn step_that_was_sent_again_and_fails_is_unknown() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "a").idempotent()]);
    sent(scene.begin(&mut run));
    sent(scene.die(&mut run));
    assert_finished(scene.reply(&mut run, refused()));
    assert!(run.unknown && run.progress.done[0].fault.as_ref().unwrap().code == Code::Unknown);
    assert!(outcomes(&run)[0].ends_with("not today"), "{:?}", outcomes(&run));
}

#[test]
fn step_whose_outcome_the_app_does_not_know_is_unknown() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "a"), step("notes/main", "b")]);
    sent(scene.begin(&mut run));
    let fault = Fault::unknown("the disk of a.txt did not answer within 10 s");
    assert_finished(scene.reply(&mut run, Outcome::Failed(fault)));
    assert!(run.unknown);
    assert_eq!(outcomes(&run)[0], "Unknown: the disk of a.txt did not answer within 10 s");
}

#[test]
fn cancelled_step_is_not_sent_again() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "a").idempotent()]);
    sent(scene.begin(&mut run));
    run.cancelled = true;
    assert_finished(scene.die(&mut run));
    assert!(run.unknown);
}

#[test]
fn step_in_quarantine_is_not_sent() {
    let mut scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "a").idempotent()]);
    let (_, invoke) = sent(scene.begin(&mut run));
    for _ in 0..3 {
        scene
            .session("notes/main")
            .quarantine
            .blame(Fingerprint::of(&invoke), "killed by signal 9");
    }
    assert_finished(scene.die(&mut run));
    assert!(run.unknown, "it was sent once: {:?}", outcomes(&run));

    let mut run = scene.run(vec![step("notes/main", "a")]);
    assert_finished(scene.begin(&mut run));
    assert!(!run.unknown && run.own_changes.touched.is_empty());
    assert!(outcomes(&run)[0].contains("it is in quarantine"), "{:?}", outcomes(&run));
}

#[test]
fn unreadable_and_unexpected_replies_leave_the_outcome_unknown() {
    let scene = Scene::new();
    for input in [
        RunInput::Replied(StepReply::Unreadable("no map".into())),
        RunInput::LookedUp(LookupReply::Location(reply(&1))),
        RunInput::LookedUp(LookupReply::Value(reply(&1))),
        RunInput::LookedUp(LookupReply::Window(Err(Fault::unavailable("gone")))),
    ] {
        let mut run = scene.run(vec![step("notes/main", "a"), step("notes/main", "b")]);
        sent(scene.begin(&mut run));
        assert_finished(scene.resume(&mut run, input));
        assert!(run.unknown && run.progress.done.len() == 1, "{:?}", outcomes(&run));
    }
}

/// An app of the user's own.
const NOTES: Speaker<'_> = Speaker { provider: "notes", built_in: false };

#[test]
fn replies_are_decoded() {
    let body = |outcome: &Outcome| AppReply::Reply(encode(outcome).unwrap().into());
    assert!(matches!(StepReply::read(body(&done(3)), NOTES), StepReply::Outcome(Outcome::Done(_))));
    let fault = AppReply::Fault(Fault::refused("no"));
    assert!(matches!(StepReply::read(fault, NOTES), StepReply::Outcome(Outcome::Failed(_))));
    let garbage = AppReply::Reply(Bytes::from_static(b"\xc1"));
    assert!(matches!(StepReply::read(garbage, NOTES), StepReply::Unreadable(_)));
}

#[test]
fn step_that_is_not_reached_again_stays_unknown() {
    let scene = Scene::new();
    let outer = step("notes/main", "outer");
    let mut run = scene.run(vec![step("notes/main", "inner").nested(), outer]);
    run.attempts.sent_before = vec![1];
    sent(scene.begin(&mut run));
    assert_finished(scene.reply(&mut run, refused()));
    run.end_unreached();
    assert!(run.unknown);
    assert_eq!(run.progress.done.len(), 2);
    assert!(outcomes(&run)[1].starts_with("Unknown"), "{:?}", outcomes(&run));
}

#[test]
fn stopped_run_fails_with_its_next_step() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "a"), step("notes/main", "b")]);
    sent(scene.begin(&mut run));
    sent(scene.reply(&mut run, done(11)));
    run.fail(StepStatus::Failed, Fault::unavailable("the daemon is going down"));
    assert_eq!(outcomes(&run), ["Done: ok", "Failed: the daemon is going down"]);
}

#[test]
fn read_inside_a_step_that_failed_is_no_effect() {
    let scene = Scene::new();
    let stale = || Outcome::Failed(Fault::stale("it changed"));
    let outer = || step("todo/main", "add").with("text", Type::String, Argument::Result(0));
    for (risk, effect, exit) in
        [(Risk::Safe, false, 4), (Risk::Changes, true, 1), (Risk::Destructive, true, 1)]
    {
        let mut inner = step("notes/main", "find").nested();
        inner.prototype.risk = risk;
        inner.prototype.previews = true;
        let mut run = scene.run(vec![inner, outer()]);
        sent(scene.begin(&mut run));
        sent(scene.reply(&mut run, done(11)));
        assert_finished(scene.reply(&mut run, stale()));
        assert_eq!((run.progress.took_effect(), run.exit_status()), (effect, exit), "{risk:?}");
    }

    // The read itself fails, behind a step that took effect, and without one.
    let inner = || step("notes/main", "find").nested();
    let mut run = scene.run(vec![inner(), outer()]);
    sent(scene.begin(&mut run));
    assert_finished(scene.reply(&mut run, Outcome::Failed(Fault::not_found("gone"))));
    assert_eq!((run.exit_status(), run.progress.outer_step(0)), (3, 1));
    let mut run = scene.run(vec![step("notes/main", "write"), inner(), outer()]);
    sent(scene.begin(&mut run));
    sent(scene.reply(&mut run, done(11)));
    assert_finished(scene.reply(&mut run, Outcome::Failed(Fault::not_found("gone"))));
    assert_eq!(
        (run.exit_status(), run.progress.outer_step(0), run.progress.outer_step(1)),
        (1, 0, 2)
    );
}
