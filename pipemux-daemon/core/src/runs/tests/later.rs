//! Later calls of the same action, which one question may be about.

use super::*;
use crate::limits::{LATER_BYTES_MAX, LATER_CALLS_MAX};

fn asking(addr: &str, text: Argument) -> Step {
    let mut step = step(addr, "add").with("text", Type::String, text);
    step.prototype.asks_together = true;
    step
}

fn text(text: &str) -> Argument {
    Argument::Fixed(Arg::from(Value::from(text)))
}

fn texts(invoke: &Invoke) -> Vec<Arg> {
    invoke.later.iter().map(|args| args["text"].clone()).collect()
}

#[test]
fn action_that_asks_together_is_told_of_later_calls_that_are_known() {
    let scene = Scene::new();
    let of = pipemux_proto::refs::Ref::obj(1);
    let mut steps = vec![
        asking("notes/main", text("a")),
        asking("notes/main", Argument::List(vec![text("b"), text("c")])),
        asking("todo/main", text("of another session")),
        step("notes/main", "other").with("text", Type::String, text("of another action")),
        asking("notes/main", Argument::Ref { of, ty: Type::String }),
        asking("notes/main", Argument::Result(0)),
        asking("notes/main", text("inner")).nested(),
        asking("notes/main", text("d")),
    ];
    let list = Arg::List(vec![Arg::from(Value::from("b")), Arg::from(Value::from("c"))]);
    let last = Arg::from(Value::from("d"));
    let mut run = scene.run(steps.clone());
    let (_, invoke) = sent(scene.begin(&mut run));
    assert_eq!(texts(&invoke), [list, last.clone()]);
    let (_, invoke) = sent(scene.reply(&mut run, done(11)));
    assert_eq!(texts(&invoke), [last], "what is behind the step itself");

    // An action that doesn't declare it isn't told.
    for step in &mut steps {
        step.prototype.asks_together = false;
    }
    let (_, invoke) = sent(scene.begin(&mut scene.run(steps)));
    assert!(invoke.later.is_empty());
}

#[test]
fn later_calls_have_bounds() {
    let scene = Scene::new();
    let many = (0..=LATER_CALLS_MAX + 1).map(|_| asking("notes/main", text("a"))).collect();
    let (_, invoke) = sent(scene.begin(&mut scene.run(many)));
    assert_eq!(invoke.later.len(), LATER_CALLS_MAX);
    let half = "x".repeat(LATER_BYTES_MAX / 2);
    let large = (0..5).map(|_| asking("notes/main", text(&half))).collect();
    let (_, invoke) = sent(scene.begin(&mut scene.run(large)));
    assert_eq!(invoke.later.len(), 1);
}
