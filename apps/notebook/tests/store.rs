//! Unsuitable files, damaged or locked stores, and crashes.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{Fixture, STORE, open};
use docui::Fault;
use pipemux_proto::fault::Code;
use rusqlite::Connection;
use tempfile::TempDir;

fn refused(dir: &TempDir, path: &str) -> Fault {
    open(dir, "x", &[path]).err().unwrap_or_else(|| panic!("{path} should be refused"))
}

#[test]
fn file_that_is_no_store_is_refused_and_left_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let garbage = dir.path().join("garbage");
    fs::write(
        &garbage,
        "just some text, long enough to have a header of a hundred bytes".repeat(9),
    )
    .unwrap();
    let before = fs::read(&garbage).unwrap();
    let fault = refused(&dir, "garbage");
    assert!(fault.message.contains("not a SQLite file"), "{fault}");
    assert_eq!(fs::read(&garbage).unwrap(), before);

    let foreign = dir.path().join("foreign");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let before = fs::read(&foreign).unwrap();
    let fault = refused(&dir, "foreign");
    assert!(fault.message.contains("another program"), "{fault}");
    assert_eq!(fs::read(&foreign).unwrap(), before);

    let fault = refused(&dir, ".");
    assert!(fault.message.contains("is a directory"), "{fault}");
    let fault = refused(&dir, "missing/notes.db");
    assert_eq!(fault.code, Code::NotFound);
    assert!(fault.hints[0].starts_with("mkdir -p "), "{fault:?}");
    let fault = refused(&dir, "garbage/notes.db");
    assert!(fault.message.contains("garbage"), "{fault}");
    let fault = refused(&dir, "/dev/null");
    assert!(fault.message.contains("not a plain file"), "{fault}");
}

#[test]
fn empty_file_becomes_a_store() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("empty"), "").unwrap();
    let mut host = open(&dir, "x", &["empty"]).unwrap();
    common::done(&mut host, common::add("a", "b", &[]));
}

#[test]
fn default_store_is_in_the_state_directory() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = open(&dir, "x", &[]).unwrap();
    common::done(&mut host, common::add("a", "b", &[]));
    assert!(dir.path().join("state-x/notebook.db").is_file());
}

#[test]
fn store_of_a_newer_version_is_refused() {
    let fixture = Fixture::new();
    let (dir, path) = (&fixture.dir, fixture.store());
    Connection::open(path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let fault = refused(dir, STORE);
    assert!(fault.message.contains("newer notebook"), "{fault}");
}

#[test]
fn locked_store_refuses_changes_until_it_is_released() {
    let mut fixture = Fixture::new();
    let other = Connection::open(fixture.store()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let fault = fixture.fault(common::add("a", "b", &[]));
    assert!(fault.message.contains("locked by another program"), "{fault}");
    // Reading still works.
    assert!(fixture.text().starts_with("## 0 entries"));
    other.execute_batch("ROLLBACK").unwrap();
    fixture.add("a", "b", &[]);
}

#[test]
fn store_that_was_moved_is_not_written() {
    let mut fixture = Fixture::new();
    fixture.add("a", "b", &[]);
    let elsewhere = fixture.dir.path().join("elsewhere.db");
    fs::rename(fixture.store(), &elsewhere).unwrap();
    let fault = fixture.fault(common::add("c", "d", &[]));
    assert!(fault.message.contains("moved, deleted or replaced"), "{fault}");
    fs::rename(&elsewhere, fixture.store()).unwrap();
    fixture.add("c", "d", &[]);
}

#[test]
fn damaged_store_is_reported() {
    let mut fixture = Fixture::new();
    for n in 0..50 {
        fixture.add(&format!("{n}"), &"some text ".repeat(500), &[]);
    }
    let path = fixture.store();
    let Fixture { host, dir } = fixture;
    drop(host);
    let mut bytes = fs::read(&path).unwrap();
    // The header stays intact, so that the file is recognised.
    bytes[4096..].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    match open(&dir, "x", &[STORE]) {
        Err(fault) => assert!(fault.message.contains("damaged"), "{fault}"),
        Ok(mut host) => {
            let text = host.text(docui::Lod::Summary, 1000).unwrap();
            assert!(text.contains("damaged"), "{text}");
        }
    }
}

#[test]
fn unreadable_view_state_is_ignored() {
    let mut fixture = Fixture::new();
    fixture.add("a", "b", &[]);
    fs::write(fixture.dir.path().join("state-a/shown.toml"), "levels = \0 {").unwrap();
    let mut fixture = fixture.restart();
    assert_eq!(fixture.shown(), ["n1"]);
    fixture.done(common::search("nothing"));
    let mut fixture = fixture.restart();
    assert_eq!(fixture.shown(), Vec::<String>::new());
}

#[test]
fn answered_changes_are_in_the_files_before_the_process_ends() {
    let mut fixture = Fixture::new();
    for n in 0..20 {
        fixture.add(&format!("note {n}"), "text", &[]);
    }
    fixture.done(common::edit(20, 1, "changed last"));
    // The files are copied while the process runs: closing it must not be needed to flush them.
    let after = tempfile::tempdir().unwrap();
    for name in [STORE.to_owned(), format!("{STORE}-wal")] {
        fs::copy(fixture.dir.path().join(&name), after.path().join(&name)).unwrap();
    }
    let mut host = open(&after, "x", &[STORE]).unwrap();
    let text = host.text(docui::Lod::Summary, 10_000).unwrap();
    assert!(text.starts_with("## 20 entries\n"), "{text}");
    assert!(text.contains("[note 19](obj:n20) 1 line\n  changed last\n"), "{text}");
    assert_eq!(
        common::done(&mut host, common::search("changed")).brief,
        "1 result for \"changed\""
    );
}
