//! Files that version 0.1 saved must stay readable by every later version.
//!
//! `saved/` holds a store and the state directory of a hibernated session, as that version wrote
//! them. `saved/v2` holds a store of the second schema and the levels of a session on it. Never
//! change these files: if the formats change, add files of the new version beside them.

use std::path::Path;

use crate::common::{Fixture, STORE, add, append, done, filter, open};
use docui::testing::Host;
use docui::{App, Lod};
use pipemux_notebook::{Action, Notebook};
use pipemux_proto::fault::Code;

/// The version of the state that the session saved.
const SAVED_VERSION: u64 = 12;

/// Copies the saved files and wakes the session.
fn wake() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    // A session is started only to have a host. Its files are then replaced by the saved ones.
    let mut host = open(&dir, "a", &["other.db"]).unwrap();
    host.hibernate().unwrap();
    let saved = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/saved");
    std::fs::copy(saved.join(STORE), dir.path().join(STORE)).unwrap();
    for name in ["shown.toml", "asleep.toml", "docui.asleep"] {
        std::fs::copy(saved.join("state").join(name), dir.path().join("state-a").join(name))
            .unwrap();
    }
    let (resumed, notes) = host.wake(SAVED_VERSION, &[&[STORE]]).unwrap();
    assert!(resumed);
    assert_eq!(notes, ["Kept: 3 entries and their levels."]);
    Fixture { host, dir }
}

fn read(host: &Host<Notebook>, key: &str) -> String {
    String::from_utf8(host.app().unwrap().read(key).unwrap()).unwrap()
}

#[test]
fn hibernated_session_of_version_0_1_resumes_with_its_levels() {
    let mut fixture = wake();
    let projection = fixture.host.project(Lod::Summary, 10_000).unwrap();
    assert_eq!(
        projection.version,
        SAVED_VERSION + 1,
        "that nothing is hidden any more is a change"
    );
    // The search and the filter that the session had are dropped.
    let expected = "## 3 entries\n\
        [all as summaries](link:focus) \n\
        [Meeting 12 May](obj:n4) 0 lines · plan\n\
        [数据库](obj:n2) shortest (outdated)\n\
        [Release plan](obj:n1) 3 lines · plan, q2 [collapse](link:collapse)\n\
        Ship on Monday\n\nthen plan more\n";
    assert_eq!(fixture.text(), expected);
}

#[test]
fn store_of_version_0_1_is_read_completely() {
    let mut fixture = wake();
    let text = "全文检索要支持中文词语。\r\nplan 🦀\r\none more line";
    assert_eq!(read(&fixture.host, "n2"), text);
    let folded = fixture.text();
    assert!(folded.contains("[数据库](obj:n2) shortest (outdated)\n"), "the gist: {folded}");
    fixture.done(Action::Focus { entries: Vec::new() });
    let shown = fixture.text();
    assert!(shown.contains("[数据库](obj:n2) 3 lines · plan, 设计"), "{shown}");
    assert!(shown.contains("\n  search\n  in short\n  (outdated)\n"), "the summary: {shown}");
    let full = fixture.host.text(Lod::Full, 10_000).unwrap();
    assert!(full.contains("from editor/main src/parse.rs:101-300\n"), "the origin: {full}");
    assert_eq!(fixture.listed(filter("q2")), ["Release plan"]);
    assert_eq!(fixture.listed(crate::common::search("中文")), ["数据库"]);
}

#[test]
fn store_of_version_0_1_is_changed_and_undone() {
    let mut fixture = wake();
    // Change c5 appended to entry 2, change c6 edited entry 1, and entry 3 was removed after that.
    assert_eq!(
        fixture.brief(Action::UndoChange { change: "c6".into() }),
        "\"Release plan\" has its earlier text again, 3 lines"
    );
    assert_eq!(read(&fixture.host, "n1"), "Ship on Friday\n\nthen rest\n");
    let (text, label) = (
        "全文检索要支持中文词语。\r\nplan 🦀\r\n",
        "\"数据库\" has its earlier text again, 2 lines",
    );
    assert_eq!(fixture.brief(Action::UndoChange { change: "c5".into() }), label);
    assert_eq!(read(&fixture.host, "n2"), text);
    done(&mut fixture.host, append(2, 3, "written by this version"));
    assert_eq!(fixture.fault(append(3, 1, "x")).hints, ["It was removed"]);
    assert_eq!(fixture.fault(append(1, 2, "x")).code, Code::Stale);
    fixture.done(add("next", "x", &[]));
    assert_eq!(fixture.shown(), ["n5", "n4", "n2", "n1"], "an id is never reused");
}

#[test]
fn store_of_the_second_schema_is_read_and_its_removals_are_undone() {
    let dir = tempfile::tempdir().unwrap();
    let saved = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/saved/v2");
    std::fs::copy(saved.join(STORE), dir.path().join(STORE)).unwrap();
    let state = dir.path().join("state-a");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::copy(saved.join("shown.toml"), state.join("shown.toml")).unwrap();
    let host = open(&dir, "a", &[STORE]).unwrap();
    let mut fixture = Fixture { host, dir };
    assert_eq!(
        fixture.text(),
        "## 2 entries\n[all as summaries](link:focus) \n\
         [数据库](obj:n2) 3 lines · 设计 [collapse](link:collapse)\n\
         全文检索要支持中文词语。\nplan 🦀\none more line[Release plan](obj:n1) ship\n"
    );
    let undo = |fixture: &mut Fixture| fixture.brief(Action::Undo { steps: 1 });
    assert_eq!(undo(&mut fixture), "\"itoa\" is back, 1 line");
    assert_eq!(read(&fixture.host, "n3"), "Integers.\n");
    assert_eq!(undo(&mut fixture), "\"itoa\" is removed again");
    assert_eq!(undo(&mut fixture), "\"数据库\" has its earlier gist again: ");
    let told = "1 of 2 notes\n[数据库] #设计 1: 全文检索要支持中文词语。 · summary: search\n";
    assert_eq!(fixture.ask(crate::common::search("中文 search")), told);
}
