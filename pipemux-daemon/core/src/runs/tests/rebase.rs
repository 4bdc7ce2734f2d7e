//! Stale steps: refused with the exact sentence, or sent to what is there now.

use crate::runs::protocol::ArrivedWindow;

use crate::runs::suspended::Suspended;

use super::*;

/// A scene with an object whose meaning changed after the run's reader saw it, and that run.
fn stale(steps: impl Fn(u64) -> Vec<Step>) -> (Scene, Run, u64) {
    let mut scene = Scene::new();
    let id = scene.show("notes/main", "n1", 4);
    let run = scene.run(steps(id));
    scene.show("notes/main", "n1", 5);
    (scene, run, id)
}

fn arrived(scene: &Scene, ids: &[u64]) -> RunInput {
    let (app, version, epoch) = (Incarnation(1), 20, scene.workspace.epoch);
    RunInput::LookedUp(LookupReply::Window(Ok(ArrivedWindow {
        app,
        version,
        ids: ids.to_vec(),
        epoch,
    })))
}

fn sentence(id: u64) -> String {
    format!("Failed: Anchor obj:{id} is stale. Please refresh to get current IDs.")
}

#[test]
fn stale_ref_ends_the_run_unless_the_workspace_rebases() {
    let (scene, mut run, id) = stale(|id| vec![step("notes/main", "open").at(id)]);
    assert_finished(scene.begin(&mut run));
    assert_eq!(outcomes(&run), [sentence(id)]);
    assert_eq!(run.own_changes.touched, [key("notes/main")], "the answer shows what changed");
}

#[test]
fn safe_step_is_rebased_and_later_steps_mean_what_was_seen() {
    let steps = |id| vec![step("notes/main", "open").at(id), step("notes/main", "edit").at(id)];
    let (mut scene, mut run, id) = stale(steps);
    scene.workspace.options.rebase = true;
    let output = scene.begin(&mut run);
    let RunOutput::LookUp(LookupRequest::Refresh { session, .. }) = output else {
        panic!("{output:?}")
    };
    assert_eq!(session, key("notes/main"));
    assert!(run.needs_ids());

    let (_, invoke) = sent(scene.resume(&mut run, arrived(&scene, &[id])));
    let Arg::Ref(of) = &invoke.args["at"] else { panic!("{invoke:?}") };
    assert_eq!((of.rev, invoke.seen_version), (5, Some(20)));
    assert_eq!(run.attempts.rebased, [0]);

    // The second step is as stale as the first was, and is rebased for itself.
    let output = scene.reply(&mut run, done(21));
    assert!(matches!(output, RunOutput::LookUp(LookupRequest::Refresh { .. })), "{output:?}");
    assert_eq!(run.baseline.now.versions[&key("notes/main")], (Incarnation(1), 10));
}

#[test]
fn app_that_refuses_a_rebased_step_as_stale_ends_the_run() {
    let mut scene = Scene::new();
    scene.workspace.options.rebase = true;
    let id = scene.show("notes/main", "n1", 4);
    let refusal = || Outcome::Failed(Fault::stale("it changed").about("n1"));
    let mut run = scene.run(vec![step("notes/main", "open").at(id)]);
    sent(scene.begin(&mut run));
    let output = scene.reply(&mut run, refusal());
    assert!(matches!(output, RunOutput::LookUp(LookupRequest::Refresh { .. })), "{output:?}");
    sent(scene.resume(&mut run, arrived(&scene, &[id])));
    assert_finished(scene.reply(&mut run, refusal()));
    assert_eq!(outcomes(&run), [sentence(id)]);
}

#[test]
fn first_refusal_counts_when_the_window_does_not_arrive() {
    let (mut scene, mut run, id) = stale(|id| vec![step("notes/main", "open").at(id)]);
    scene.workspace.options.rebase = true;
    scene.begin(&mut run);
    let lost =
        RunInput::LookedUp(LookupReply::Window(Err(Fault::unavailable("notes/main has ended"))));
    assert_finished(scene.resume(&mut run, lost));
    assert_eq!(outcomes(&run), [sentence(id)]);
    assert!(run.attempts.rebased.is_empty());
}

#[test]
fn only_safe_steps_that_were_not_sent_are_rebased() {
    let (mut scene, run, _) = stale(|id| vec![step("notes/main", "open").at(id)]);
    scene.workspace.options.rebase = true;
    let mut changes = Suspended::of(&run).into_run();
    changes.progress.steps[0].prototype.risk = Risk::Changes;
    assert_finished(scene.begin(&mut changes));
    let mut sent_before = run;
    sent_before.attempts.sent_before = vec![0];
    assert_finished(scene.begin(&mut sent_before));
    assert!(!changes.unknown && sent_before.unknown);
}

#[test]
fn stale_click_names_its_link() {
    let mut scene = Scene::new();
    let id = scene.show("notes/main", "n1", 4);
    let mut click = step("notes/main", "open");
    (click.origin, click.call) = (StepOrigin::Link, "link:15".into());
    for (of, named) in
        [(click, "link:15".to_owned()), (step("notes/main", "open"), format!("obj:note:{id}"))]
    {
        let mut run = scene.run(vec![of]);
        sent(scene.begin(&mut run));
        let refusal = Outcome::Failed(Fault::stale("it changed").about("n1"));
        assert_finished(scene.reply(&mut run, refusal));
        let expected =
            format!("Failed: Anchor {named} is stale. Please refresh to get current IDs.");
        assert_eq!(outcomes(&run), [expected]);
    }
}
