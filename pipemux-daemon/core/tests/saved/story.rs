//! A core that starts on all fixtures at once, as one log.

use pipemux_core::saved::Record;
use pipemux_proto::client::{HistoryArgs, Verb, VerbRequest, is_passed_variable};

use crate::fixtures::{EMPTY_KEY, NAME, RUN_ID, records};
use crate::world::{AnswerText, Reader, World, run, text};

const READER: Reader = Reader { workspace: NAME, reader: "阿达" };

/// Fixtures that later ones of the same log take back, and one that can't be read.
const NOT_RESTORED: [&str; 30] = [
    "pause_of_all",
    "pause_ended",
    "consent_for_a_time",
    "consent_withdrawn",
    "job_told",
    // Snapshots gather them in `Acts`.
    "begun",
    "answered",
    "answered_last",
    "begun_by_reader",
    // It is a round there.
    "begun_run",
    "progressed",
    "answered_by_reader",
    "round_to_undo",
    "undone",
    "undo_interrupted",
    "kept_plain",
    "kept_closed",
    "session_without_opens",
    "session_to_end",
    "session_ended",
    "session_ended_shared",
    "prototypes_unreadable",
    "window_to_close",
    "window_closed",
    "anchors_empty",
    "question_of_another_version",
    "question_to_close",
    "question_closed",
    "asleep_until",
    "awake",
];

fn restored_from_fixtures() -> World {
    World::restored(records().into_iter().map(|fixture| fixture.record).collect())
}

/// Sends a run under an id that the log knows; its step must not reach the app.
fn repeat_run(world: &mut World, run_id: &str) -> AnswerText {
    repeat_run_of(world, READER, run_id)
}

fn repeat_run_of(world: &mut World, reader: Reader, run_id: &str) -> AnswerText {
    let call = world.call(reader, run("notes.say('again')"));
    let said = world.ask_call(&VerbRequest { run_id: run_id.into(), ..call });
    assert!(world.invoked.is_empty(), "{run_id} was carried out again");
    said
}

/// Checks all that the fixtures hold, as a client meets it.
fn assert_restored(mut world: World) {
    world.model("notes/main").add("一 \"1\"");
    world.model("notes/main").add("two");
    world.model("shared/main").add("shared");

    let view = world.view(READER);
    view.exits(0).has("## notes/main").has("## notes/asleep").has("## shared/main");
    view.lacks("other/ended").lacks("other/closed").lacks("unavailable");
    view.has("workspace 計画 \"A\" & 'b'");
    assert_eq!((view.id("k1 r1"), view.id("pick")), (811, 812), "known anchors keep their ids");
    assert!(view.id("k2 r1") >= 900, "{}", view.text);
    assert!(text::epoch(&view.text) > Some(70), "{}", view.text);
    let app = world.process("notes/main").expect("it was started");
    assert!(app.0 >= 5_000_000_000, "{app}");

    let asleep = world.process("notes/asleep").expect("it was woken");
    assert_eq!(world.apps[&asleep].opens[0].woken, Some(12));
    let opens = &world.apps[&app].opens;
    assert_eq!(opens.len(), 2, "{opens:?}");
    assert_eq!(opens[0].args, ["一つ.txt", "with space", "it's \"quoted\"", "--flag=", ""]);
    assert_eq!(opens[0].cwd, "/home/ada/文書");

    let history =
        world.ask(READER, Verb::History(HistoryArgs { detail: true, ..HistoryArgs::default() }));
    history.has("7. 09:46:40Z · 阿达 · notes.say('一\"二\"') (exit 3)\n");
    history.has("15. 09:46:40Z · 阿达 · editor.replace(\"一\", \"二\") (exit 7)");
    history.has("   replace unknown: the daemon was lost meanwhile; add done: 一\n");
    history.has("   said 一\"二\"\n   first line\n   \tsecond 'line'\n").has("8. ");
    let options = |world: &mut World, workspace| {
        world.ask(Reader { workspace, ..READER }, Verb::Set { option: None, value: None })
    };
    options(&mut world, NAME).has("epoch meaning").has("rebase on");
    options(&mut world, &EMPTY_KEY[1..]).has("epoch strict").has("rebase off").has("panels off");
    let keyed = options(&mut world, "keyed");
    keyed.has("titles on").has("panels views,environment,notices,history,questions");

    repeat_run(&mut world, "run 日本 \"begun\"").exits(7).has("may not have taken effect");
    repeat_run(&mut world, "run 日本 \"answered\"").exits(5).has("answered before (exit 5)");
    repeat_run(&mut world, "run '最後'").exits(u8::MAX);
    repeat_run(&mut world, RUN_ID).exits(4).has("answered before (exit 4)");
    let another = Reader { reader: "another", ..READER };
    repeat_run_of(&mut world, another, "run 1").exits(0).has("answered before (exit 0)");
    repeat_run_of(&mut world, another, RUN_ID).exits(7).has("may not have taken effect");

    world.answer(READER, "yes").exits(0).has("2 done").has("removed");
    assert_eq!(world.model_of(NAME, "notes/main").expect("its notes").notes.len(), 1);

    let other = Reader { workspace: "new", reader: "a" };
    let said = world.open(other, "notes");
    assert!(said.id("pick") >= u64::from(u32::MAX) + 7, "{}", said.text);
}

#[test]
fn core_restores_everything_that_the_fixtures_hold() {
    let mut world = restored_from_fixtures();
    world.view(READER).has("question 12 was asked by another version and is lost");
    assert_restored(restored_from_fixtures());
}

#[test]
fn snapshot_restores_the_same_again() {
    let first = restored_from_fixtures().core.snapshot();
    assert_restored(World::restored(first.clone()));
    // Windows take numbers when they are restored, so that record may differ.
    let all_but_numbers = |records: &[Record]| -> Vec<Record> {
        let reserved = |record: &&Record| matches!(record, Record::Reserved { .. });
        records.iter().filter(|record| !reserved(record)).cloned().collect()
    };
    let second = World::restored(first.clone()).core.snapshot();
    assert_eq!(all_but_numbers(&first), all_but_numbers(&second));
}

/// Replaces the variables that only a manifest passes by their names. Earlier releases saved their
/// values.
fn without_values(mut record: Record) -> Record {
    if let Record::Session { opens, .. } = &mut record {
        for open in opens {
            let named = |(name, _): &(String, String)| !is_passed_variable(name);
            let taken: Vec<_> = open.env.extract_if(.., |variable| named(variable)).collect();
            open.passed.extend(taken.into_iter().map(|(name, _)| name));
        }
    }
    record
}

#[test]
fn snapshot_holds_the_fixtures_that_still_count() {
    let snapshot = restored_from_fixtures().core.snapshot();
    for fixture in records().iter().filter(|fixture| fixture.name != "reserved") {
        let restored = !NOT_RESTORED.contains(&fixture.name);
        let record = without_values(fixture.record.clone());
        assert_eq!(snapshot.contains(&record), restored, "{}: {snapshot:#?}", fixture.name);
    }
}
