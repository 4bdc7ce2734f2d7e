//! The saved state that is on disk today can be read for ever: every kind of record has a
//! checked-in fixture, which is decoded, compared field by field, and restored into a core.

mod fixtures;
mod story;

#[allow(unused_imports, reason = "it serves several tests")]
#[path = "../world/mod.rs"]
mod world;

use std::collections::BTreeSet;

use fixtures::{Fixture, earlier_records, hex, records, unhex};
use pipemux_core::saved::{Record, SavedAnchor, SavedTarget};

/// Returns the name that a record has on disk. A new kind of record does not compile without a line
/// here and fails `every_kind_of_record_has_a_fixture` without a fixture.
fn name_on_disk(record: &Record) -> &'static str {
    match record {
        Record::Reserved { .. } => "reserved",
        Record::Workspace { .. } => "workspace",
        Record::Floor { .. } => "floor",
        Record::Session { .. } => "session",
        Record::SessionEnded { .. } => "session_ended",
        Record::Window { .. } => "window",
        Record::Prototypes { .. } => "prototypes",
        Record::Options { .. } => "options",
        Record::Begun { .. } => "begun",
        Record::Progressed { .. } => "progressed",
        Record::Answered { .. } => "answered",
        Record::Acts { .. } => "acts",
        Record::PseudonymKey { .. } => "pseudonym_key",
        Record::Round { .. } => "round",
        Record::Anchors { anchors, .. } => {
            for SavedAnchor { target, .. } in anchors {
                match target {
                    SavedTarget::Object { .. }
                    | SavedTarget::Action { .. }
                    | SavedTarget::CancelJob { .. } => {}
                }
            }
            "anchors"
        }
        Record::Undone { .. } => "undone",
        Record::Question { .. } => "question",
        Record::QuestionClosed { .. } => "question_closed",
        Record::Kept { .. } => "kept",
        Record::KeptClosed { .. } => "kept_closed",
        Record::Asleep { .. } => "asleep",
        Record::WindowClosed { .. } => "window_closed",
        Record::Job(_) => "job",
        Record::JobTold { .. } => "job_told",
        Record::Consent { .. } => "consent",
        Record::Pause { .. } => "pause",
    }
}

/// Returns every name that the decoder knows, from what it says about one that it doesn't.
fn names_that_decode() -> BTreeSet<String> {
    let error = serde_json::from_str::<Record>(r#"{"no such record": {}}"#).expect_err("no such");
    let error = error.to_string();
    let (_, known) = error.split_once("expected one of ").expect("the names that are known");
    known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_kind_of_record_has_a_fixture() {
    let all = records();
    let covered: BTreeSet<String> =
        all.iter().map(|fixture| name_on_disk(&fixture.record).to_owned()).collect();
    assert_eq!(covered, names_that_decode());
    let targets = all.iter().filter_map(|fixture| match &fixture.record {
        Record::Anchors { anchors, .. } => Some(anchors),
        _ => None,
    });
    let targets: Vec<&SavedTarget> = targets.flatten().map(|anchor| &anchor.target).collect();
    assert!(targets.iter().any(|target| matches!(target, SavedTarget::Object { .. })));
    assert!(targets.iter().any(|target| matches!(target, SavedTarget::Action { .. })));
    assert!(targets.iter().any(|target| matches!(target, SavedTarget::CancelJob { .. })));
}

#[test]
fn every_fixture_decodes_to_the_same_fields_for_ever() {
    for Fixture { name, hex, record } in records().into_iter().chain(earlier_records()) {
        let decoded: Record = pipemux_proto::decode(&unhex(hex))
            .unwrap_or_else(|error| panic!("{name} can't be read any more: {error}"));
        assert_eq!(decoded, record, "{name}");
    }
}

#[test]
fn records_are_written_as_their_fixtures_are() {
    for Fixture { name, hex: fixture, record } in records() {
        let encoded = pipemux_proto::encode(&record).expect("a record encodes");
        assert_eq!(hex(&encoded), fixture, "{name}: see fixtures.rs for what to do");
    }
}
