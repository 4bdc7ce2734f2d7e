//! Runs that are kept to be sent again, advice, and the history's account.

use crate::limits::FAILURES_MAX;
use crate::runs::followup::follow_up;
use crate::runs::history_round::history_round;

use super::*;

/// A scene and a run whose last step, with an object as argument, was refused as stale.
fn refused_as_stale(change: impl Fn(&mut Step)) -> (Scene, Run) {
    let mut scene = Scene::new();
    let id = scene.show("notes/main", "n1", 4);
    let mut outer = step("notes/main", "open").at(id);
    change(&mut outer);
    let mut run =
        scene.run(vec![step("notes/main", "write"), step("notes/main", "find").nested(), outer]);
    sent(scene.begin(&mut run));
    sent(scene.reply(&mut run, done(11)));
    scene.show("notes/main", "n1", 5);
    assert_finished(scene.reply(&mut run, done(12)));
    assert_eq!(run.progress.done.len(), 3);
    (scene, run)
}

#[test]
fn stale_step_is_kept_with_its_nested_calls() {
    let (mut scene, run) = refused_as_stale(|_| {});
    let text = follow_up(&mut scene.workspace, &mut scene.open, &run);
    assert!(text.starts_with("it changed nothing, your arguments are kept"), "{text}");
    let mut kept = scene.open.take_kept(WORKSPACE, READER).unwrap().suspended.into_run();
    assert_eq!((kept.progress.next, kept.progress.done.len(), kept.unknown), (1, 1, false));

    // Sent again, its refs mean what the reader has seen since.
    Rc::make_mut(&mut kept.baseline.now.refs.known).insert(1, scene.workspace.epoch);
    assert_eq!(sent(scene.begin(&mut kept)).1.action, "find");
    let (_, invoke) = sent(scene.reply(&mut kept, done(13)));
    let Arg::Ref(of) = &invoke.args["at"] else { panic!("{invoke:?}") };
    assert_eq!(of.rev, 5);
}

#[test]
fn links_and_line_numbers_are_not_kept() {
    let link = |step: &mut Step| step.origin = StepOrigin::Link;
    let line = |step: &mut Step| {
        *step = step.clone().with("line", Type::Line, fixed_arg(3));
    };
    for change in [&link as &dyn Fn(&mut Step), &line] {
        let (mut scene, run) = refused_as_stale(change);
        assert_eq!(follow_up(&mut scene.workspace, &mut scene.open, &run), "");
        assert!(scene.open.take_kept(WORKSPACE, READER).is_none());
    }
}

#[test]
fn kept_run_stays_unknown_whatever_becomes_of_it() {
    let mut scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "write")]);
    sent(scene.begin(&mut run));
    assert_finished(scene.die(&mut run));
    let text = follow_up(&mut scene.workspace, &mut scene.open, &run);
    assert!(text.contains("pipemux answer go"), "{text}");
    let mut kept = scene.open.take_kept(WORKSPACE, READER).unwrap().suspended.into_run();
    sent(scene.begin(&mut kept));
    assert_finished(scene.reply(&mut kept, refused()));
    assert!(kept.unknown && !kept.progress.took_effect());
}

#[test]
fn reader_is_advised_to_step_back_after_repeated_failures() {
    let mut scene = Scene::new();
    for nth in 1..=FAILURES_MAX {
        let mut run = scene.run(vec![step("notes/main", "write")]);
        sent(scene.begin(&mut run));
        assert_finished(scene.reply(&mut run, refused()));
        let text = follow_up(&mut scene.workspace, &mut scene.open, &run);
        assert_eq!(text.starts_with("step back:"), nth == FAILURES_MAX, "{nth}: {text}");
    }
}

#[test]
fn round_names_actions_and_results() {
    let scene = Scene::new();
    let mut click = step("notes/main", "open");
    (click.origin, click.call) = (StepOrigin::Link, "link:15".into());
    let mut run =
        scene.run(vec![step("notes/main", "find").nested(), step("todo/main", "add"), click]);
    run.answers.count = 1;
    sent(scene.begin(&mut run));
    sent(scene.reply(&mut run, done(11)));
    assert_finished(scene.reply(&mut run, refused()));
    let round = history_round(&run, &scene.workspace, 1_000);
    assert_eq!((round.number, round.exit, round.reader.as_str()), (1, 9, READER));
    assert_eq!(round.action, "add(); notes.open() (link:15)");
    assert_eq!(round.result, "add failed: not today; not run: open (chosen in 1 step)");
}
