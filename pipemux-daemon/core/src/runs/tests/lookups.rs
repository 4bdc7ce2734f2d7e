//! What is looked up before a step can be sent.

use pipemux_proto::app::{Chunk, KeyLocation, Located};
use pipemux_proto::limits::COPY_MAX;
use pipemux_proto::projection::{Copied, RefArg};

use crate::runs::protocol::ArrivedWindow;

use super::*;

fn located(place: KeyLocation) -> RunInput {
    RunInput::LookedUp(LookupReply::Location(reply(&Located {
        places: vec![place],
        ..Located::default()
    })))
}

fn chunk(data: &'static [u8], total: usize) -> RunInput {
    let data = Bytes::from_static(data);
    RunInput::LookedUp(LookupReply::Value(reply(&Chunk {
        data,
        total: total as u64,
        text: true,
        path: None,
    })))
}

/// A scene whose window of `notes/main` showed an object and no longer does.
fn hidden() -> (Scene, u64) {
    let mut scene = Scene::new();
    let id = scene.show("notes/main", "n1", 4);
    let epoch = scene.workspace.epoch;
    scene.workspace.anchors.hide_session(&key("notes/main"), epoch);
    (scene, id)
}

#[test]
fn shown_object_of_the_own_app_is_passed_as_a_ref() {
    let mut scene = Scene::new();
    let id = scene.show("notes/main", "n1", 4);
    let mut run = scene.run(vec![step("notes/main", "open").at(id)]);
    let (_, invoke) = sent(scene.begin(&mut run));
    let expected = RefArg { key: "n1".into(), rev: 4, ty: Some("note".into()) };
    assert_eq!(invoke.args["at"], Arg::Ref(expected));
}

#[test]
fn object_that_is_not_shown_is_located_first() {
    let (scene, id) = hidden();
    let mut run = scene.run(vec![step("notes/main", "open").at(id)]);
    let output = scene.begin(&mut run);
    let RunOutput::LookUp(LookupRequest::Locate { session, locate }) = output else {
        panic!("{output:?}")
    };
    assert_eq!((session, locate.keys), (key("notes/main"), vec!["n1".to_owned()]));
    let (_, invoke) = sent(scene.resume(&mut run, located(KeyLocation::Shown)));
    assert!(matches!(invoke.args["at"], Arg::Ref(_)));
}

#[test]
fn object_out_of_view_ends_the_run_with_the_exact_sentence() {
    let (scene, id) = hidden();
    let out_of_view =
        format!("Failed: Anchor obj:{id} is out of view. Navigate or expand to access.");
    let not_found = format!("Failed: Anchor obj:{id} not found in current context.");
    for (input, sentence) in [
        (located(KeyLocation::Hidden("expand(1)".into())), &out_of_view),
        (located(KeyLocation::Gone(None)), &not_found),
        (
            RunInput::LookedUp(LookupReply::Location(AppReply::timed_out(&key("notes/main")))),
            &out_of_view,
        ),
    ] {
        let mut run = scene.run(vec![step("notes/main", "open").at(id)]);
        scene.begin(&mut run);
        assert_finished(scene.resume(&mut run, input));
        assert_eq!(outcomes(&run).join(""), *sentence);
        assert_eq!(run.own_changes.touched, [key("notes/main")], "the answer shows where to look");
    }
}

#[test]
fn app_that_can_not_tell_where_an_object_is_says_why() {
    let (scene, id) = hidden();
    let mut run = scene.run(vec![step("notes/main", "open").at(id)]);
    scene.begin(&mut run);
    let damaged = AppReply::Fault(Fault::failed("notebook.db is damaged"));
    assert_finished(scene.resume(&mut run, RunInput::LookedUp(LookupReply::Location(damaged))));
    assert_eq!(outcomes(&run).join(""), "Failed: notebook.db is damaged");
}

#[test]
fn run_that_is_cancelled_during_a_lookup_sends_nothing() {
    let (scene, id) = hidden();
    let mut run = scene.run(vec![step("notes/main", "open").at(id)]);
    scene.begin(&mut run);
    run.cancelled = true;
    assert_finished(scene.resume(&mut run, located(KeyLocation::Shown)));
    assert_eq!(outcomes(&run), ["Failed: cancelled before it began; nothing was sent"]);
}

#[test]
fn value_goes_from_app_to_app_in_chunks() {
    let mut scene = Scene::new();
    let id = scene.show("notes/main", "n1", 4);
    let of = pipemux_proto::refs::Ref::obj(id);
    let text = Argument::Ref { of, ty: Type::String };
    let mut run = scene.run(vec![step("todo/main", "add").with("text", Type::String, text)]);

    let output = scene.begin(&mut run);
    let RunOutput::LookUp(LookupRequest::Read { session, read }) = output else {
        panic!("{output:?}")
    };
    assert_eq!(
        (session, read.key.as_str(), read.rev, read.offset),
        (key("notes/main"), "n1", 4, 0)
    );
    let output = scene.resume(&mut run, chunk(b"one ", 7));
    let RunOutput::LookUp(LookupRequest::Read { read, .. }) = output else { panic!("{output:?}") };
    assert_eq!(read.offset, 4);
    let (session, invoke) = sent(scene.resume(&mut run, chunk(b"two", 7)));
    let value = Value::from("one two").to_blob();
    let copied = Copied { value, from: "notes/main".into(), label: "a note".into(), file: None };
    assert_eq!((session, invoke.args["text"].clone()), (key("todo/main"), Arg::Copied(copied)));
}

#[test]
fn value_that_is_too_long_is_not_passed_on() {
    let mut scene = Scene::new();
    let id = scene.show("notes/main", "n1", 4);
    let of = pipemux_proto::refs::Ref::obj(id);
    let text = Argument::Ref { of, ty: Type::String };
    let mut run = scene.run(vec![step("todo/main", "add").with("text", Type::String, text)]);
    scene.begin(&mut run);
    // The app may take values as files, which it says when it greets.
    let output = scene.resume(&mut run, chunk(b"x", COPY_MAX + 1));
    assert!(matches!(output, RunOutput::LookUp(LookupRequest::Refresh { .. })), "{output:?}");
    let (app, version, epoch) = (Incarnation(1), 1, scene.workspace.epoch);
    let arrived = ArrivedWindow { app, version, ids: Vec::new(), epoch };
    let output = scene.resume(&mut run, RunInput::LookedUp(LookupReply::Window(Ok(arrived))));
    assert!(matches!(output, RunOutput::LookUp(LookupRequest::Read { .. })), "{output:?}");
    assert_finished(scene.resume(&mut run, chunk(b"x", COPY_MAX + 1)));
    assert!(outcomes(&run)[0].starts_with("Failed: obj:1 has"), "{:?}", outcomes(&run));
}

#[test]
fn value_that_ends_early_or_late_is_not_passed_on() {
    for (parts, came) in [(&[&b"one "[..], b""][..], 4), (&[b"one two three"], 13)] {
        let mut scene = Scene::new();
        let id = scene.show("notes/main", "n1", 4);
        let of = pipemux_proto::refs::Ref::obj(id);
        let text = Argument::Ref { of, ty: Type::String };
        let mut run = scene.run(vec![step("todo/main", "add").with("text", Type::String, text)]);
        scene.begin(&mut run);
        let mut outputs: Vec<RunOutput> =
            parts.iter().map(|part| scene.resume(&mut run, chunk(part, 7))).collect();
        assert_finished(outputs.pop().expect("one at least"));
        let told = format!("7 bytes are announced, {came} came");
        assert!(outcomes(&run)[0].contains(&told), "{:?}", outcomes(&run));
    }
}

#[test]
fn object_of_another_app_is_no_ref_argument() {
    let mut scene = Scene::new();
    let id = scene.show("notes/main", "n1", 4);
    let mut run = scene.run(vec![step("todo/main", "open").at(id)]);
    assert_finished(scene.begin(&mut run));
    let belongs = "Failed: obj:1 belongs to notes/main; todo/main expects a thing of its own";
    assert_eq!(outcomes(&run), [belongs]);
}

#[test]
fn name_is_looked_up_again_once_the_run_changed_its_session() {
    let mut scene = Scene::new();
    let name = Argument::Name { session: key("notes/main"), name: "it".into(), ty: Type::Any };
    let write = step("notes/main", "write");
    let show = step("notes/main", "show").with("at", Type::Any, name);
    let mut run = scene.run(vec![write, show]);
    sent(scene.begin(&mut run));
    let output = scene.reply(&mut run, done(11));
    let RunOutput::LookUp(LookupRequest::Refresh { session, .. }) = output else {
        panic!("{output:?}")
    };
    assert_eq!(session, key("notes/main"));
    assert!(!run.needs_ids());

    scene.bind("notes/main", "it", "n7");
    let (app, version, epoch) = (Incarnation(1), 11, scene.workspace.epoch);
    let arrived = ArrivedWindow { app, version, ids: Vec::new(), epoch };
    let (_, invoke) =
        sent(scene.resume(&mut run, RunInput::LookedUp(LookupReply::Window(Ok(arrived)))));
    let Arg::Ref(of) = &invoke.args["at"] else { panic!("{invoke:?}") };
    assert_eq!(of.key, "n7");
}

#[test]
fn window_that_was_closed_meanwhile_binds_nothing() {
    let mut scene = Scene::new();
    let name = Argument::Name { session: key("notes/main"), name: "it".into(), ty: Type::Any };
    let show = step("todo/main", "show").with("at", Type::Any, name);
    let mut run = scene.run(vec![step("notes/main", "write"), show]);
    sent(scene.begin(&mut run));
    scene.workspace.windows.remove(&key("notes/main"));
    assert_finished(scene.reply(&mut run, done(11)));
    let closed = "Failed: the window of notes/main was closed meanwhile";
    assert_eq!(outcomes(&run), ["Done: ok", closed]);
}
