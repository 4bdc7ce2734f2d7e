//! Undo: what can be undone now, and advice that leads there.

use crate::common::{Fixture, append, at, edit};
use docui::Fault;
use pipemux_notebook::Action;
use pipemux_proto::app::{Done, Outcome};
use proptest::prelude::*;

/// Returns the id of the change that an answer's undo or redo link is bound to.
fn change(done: &Done) -> String {
    let args = &done.links[0].args;
    match &args["change"] {
        pipemux_proto::projection::Arg::Value(blob) => match blob.to_value().unwrap() {
            pipemux_proto::Value::Str(id) => id,
            other => panic!("{other}"),
        },
        other => panic!("{other:?}"),
    }
}

fn undo(change: &str) -> Action {
    Action::UndoChange { change: change.into() }
}

/// Returns the changes that a hint's command undoes, in its order.
fn changes_in(hint: &str) -> Vec<String> {
    let command = hint.strip_prefix("pipemux run '").and_then(|rest| rest.strip_suffix('\''));
    let calls = command.unwrap_or_else(|| panic!("{hint} is no command")).split("; ");
    let change = |call: &str| {
        let id = call.strip_prefix("notebook.undo(\"").and_then(|rest| rest.strip_suffix("\")"));
        id.unwrap_or_else(|| panic!("{call} is no undo")).to_owned()
    };
    calls.map(change).collect()
}

fn text(fixture: &Fixture) -> String {
    let read = docui::App::read(fixture.host.app().unwrap(), "n1").unwrap();
    String::from_utf8(read).unwrap()
}

#[test]
fn older_change_can_be_undone_once_the_newer_one_is_undone() {
    let mut fixture = Fixture::new();
    fixture.add("plan", "v0", &[]);
    let first = change(&fixture.done(append(1, 1, "v1")));
    let second = change(&fixture.done(append(1, 2, "v2")));

    let refused = fixture.fault(undo(&first));
    assert_eq!(
        refused.message,
        "\"plan\" was changed again since; nothing was undone, 1 change to undo first"
    );
    assert_eq!(changes_in(&refused.hints[0]), [second.clone(), first.clone()]);
    assert_eq!(text(&fixture), "v0\nv1\nv2");

    let redo = change(&fixture.done(undo(&second)));
    assert_eq!(text(&fixture), "v0\nv1");
    fixture.done(undo(&first));
    assert_eq!(text(&fixture), "v0");
    // The advice for the redo is the one undo that stands in its way, and not the whole past.
    let refused = fixture.fault(undo(&redo));
    let advice = changes_in(&refused.hints[0]);
    assert_eq!(advice.len(), 2, "{advice:?}");
    for change in &advice {
        fixture.done(undo(change));
    }
    assert_eq!(text(&fixture), "v0\nv1\nv2");
}

#[test]
fn advice_for_a_long_past_is_given_in_parts() {
    let mut fixture = Fixture::new();
    fixture.add("plan", "v0", &[]);
    let mut changes = Vec::new();
    for rev in 1..=50 {
        changes.push(change(&fixture.done(edit(1, rev, &format!("text {rev}")))));
    }
    let mut refusals = 0;
    let done = loop {
        let Fault { hints, .. } = match fixture.host.invoke(&undo(&changes[0])) {
            Outcome::Done(done) => break done,
            Outcome::Failed(fault) => fault,
            other => panic!("{other:?}"),
        };
        refusals += 1;
        let again = format!("then again: pipemux run 'notebook.undo(\"{}\")'", changes[0]);
        let all = changes_in(&hints[0]);
        assert_eq!(hints.get(1).is_some(), all.last() != Some(&changes[0]));
        assert!(hints.get(1).is_none_or(|hint| *hint == again), "{hints:?}");
        let wanted = all.last() == Some(&changes[0]);
        let last = all.len() - 1;
        for change in &all[..last] {
            fixture.done(undo(change));
        }
        let outcome = fixture.done(undo(&all[last]));
        if wanted {
            break outcome;
        }
    };
    assert!(done.brief.contains("earlier text again") && refusals == 3, "{refusals}");
    assert_eq!(text(&fixture), "v0");
}

#[test]
fn undo_takes_back_the_last_changes_one_after_another() {
    let mut fixture = Fixture::new();
    let last = |steps| Action::Undo { steps };
    fixture.add("plan", "v0", &["a"]);
    fixture.done(edit(1, 1, "v1"));
    fixture.done(Action::Tag { entry: at(1, 2), tags: vec!["b".into()] });
    fixture.done(Action::Rename { entry: at(1, 3), new: "Plan B".into() });
    fixture.done(Action::Gist { entry: at(1, 4), text: "short".into() });
    assert_eq!(fixture.brief(last(1)), "\"Plan B\" has its earlier gist again: ");
    assert_eq!(fixture.brief(last(1)), "\"Plan B\" is \"plan\" again");
    // A redo counts as done again.
    let undone = fixture.done(last(1));
    assert_eq!(undone.brief, "\"plan\": #a");
    fixture.done(undo(&change(&undone)));
    assert_eq!(fixture.brief(last(1)), "\"plan\": #a");
    // A new change is taken back before the older ones.
    fixture.done(append(1, 10, "more"));
    assert_eq!(fixture.fault(last(0)).message, "steps: expected 1 or more, not 0");
    assert_eq!(fixture.fault(last(9)).message, "only 3 changes can be undone, not 9");
    assert_eq!(text(&fixture), "v1\nmore");
    assert_eq!(
        fixture.brief(last(3)),
        "\"plan\" has its earlier text again, 1 line · \"plan\" has its earlier text again, 1 line · \
         \"plan\" is removed again"
    );
    assert_eq!(fixture.fault(last(1)).message, "nothing to undo");
}

#[test]
fn change_that_is_undone_or_unknown_is_refused_for_the_true_reason() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.fault(undo("c1")).message, "there was never a change c1");
    fixture.add("plan", "v0", &[]);
    let appended = change(&fixture.done(append(1, 1, "v1")));
    let redo = change(&fixture.done(undo(&appended)));
    let refused = fixture.fault(undo(&appended));
    assert_eq!(
        refused.message,
        format!("\"plan\" is already as it was before {appended}; nothing was undone")
    );
    let again = format!("to have the change again: pipemux run 'notebook.undo(\"{redo}\")'");
    assert_eq!(refused.hints, [again]);
    fixture.done(undo(&redo));
    assert_eq!(text(&fixture), "v0\nv1");

    let unknown = fixture.fault(undo("c99"));
    assert_eq!(unknown.message, "there was never a change c99");
    assert_eq!(unknown.hints, ["the newest one is c4"]);
    let other = change(&fixture.done(crate::common::add("other", "text", &[])));
    fixture.done(undo(&other));
    let gone = fixture.fault(undo(&other));
    assert_eq!(gone.message, "\"other\" is already as it was before c5; nothing was undone");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// After any edits and undos, each change can be undone, or the advice leads there.
    #[test]
    fn advice_of_a_refused_undo_can_be_followed(
        steps in proptest::collection::vec((0_usize..3, 0_usize..100), 1..12),
        wanted in 0_usize..100,
    ) {
        let mut fixture = Fixture::new();
        fixture.add("plan", "v0", &[]);
        // Each change, with the text before it.
        let mut changes: Vec<(String, String)> = Vec::new();
        for (kind, number) in steps {
            let before = text(&fixture);
            let rev = match docui::App::find(fixture.host.app().unwrap(), "n1") {
                docui::Found::Here(rev) => rev,
                other => panic!("{other:?}"),
            };
            let outcome = match kind {
                // Few different texts, so that some come back without an undo.
                0 => fixture.host.invoke(&edit(1, rev, &format!("text {}", number % 3))),
                1 => fixture.host.invoke(&Action::Rename {
                    entry: at(1, rev),
                    new: format!("title {}", number % 2),
                }),
                _ if changes.is_empty() => continue,
                _ => fixture.host.invoke(&undo(&changes[number % changes.len()].0)),
            };
            if let Outcome::Done(done) = outcome
                && !done.links.is_empty()
            {
                changes.push((change(&done), before));
            }
        }
        prop_assume!(!changes.is_empty());
        let (wanted, before) = changes[wanted % changes.len()].clone();
        if let Outcome::Failed(fault) = fixture.host.invoke(&undo(&wanted))
            && !fault.message.contains("is already as it was")
        {
            let advice = changes_in(&fault.hints[0]);
            prop_assert_eq!(advice.last(), Some(&wanted));
            for change in advice {
                fixture.done(undo(&change));
            }
        }
        prop_assert_eq!(text(&fixture), before);
    }
}
