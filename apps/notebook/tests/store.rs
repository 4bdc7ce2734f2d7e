//! Files that are no stores, and stores that are in another state than expected.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{Desk, STORE, open};
use docui::Fault;
use pipemux_proto::fault::Code;
use rusqlite::Connection;
use tempfile::TempDir;

fn refused(dir: &TempDir, path: &str) -> Fault {
    open(dir, "x", &[path]).err().unwrap_or_else(|| panic!("{path} should be refused"))
}

#[test]
fn what_is_no_store_is_refused_and_left_alone() {
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
fn an_empty_file_becomes_a_store() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("empty"), "").unwrap();
    let mut host = open(&dir, "x", &["empty"]).unwrap();
    common::done(&mut host, common::add("a", "b", &[]));
}

#[test]
fn the_default_store_is_in_the_state_directory() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = open(&dir, "x", &[]).unwrap();
    common::done(&mut host, common::add("a", "b", &[]));
    assert!(dir.path().join("state-x/notebook.db").is_file());
}

#[test]
fn a_newer_store_is_refused() {
    let desk = Desk::new();
    let (dir, path) = (&desk.dir, desk.store());
    Connection::open(path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let fault = refused(dir, STORE);
    assert!(fault.message.contains("newer notebook"), "{fault}");
}

#[test]
fn a_locked_store_is_told_and_nothing_is_lost() {
    let mut desk = Desk::new();
    let other = Connection::open(desk.store()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let fault = desk.fault(common::add("a", "b", &[]));
    assert!(fault.message.contains("locked by another program"), "{fault}");
    // Reading goes on meanwhile.
    assert!(desk.text().starts_with("## 0 entries"));
    other.execute_batch("ROLLBACK").unwrap();
    desk.add("a", "b", &[]);
}

#[test]
fn a_store_that_was_moved_away_is_not_written() {
    let mut desk = Desk::new();
    desk.add("a", "b", &[]);
    let elsewhere = desk.dir.path().join("elsewhere.db");
    fs::rename(desk.store(), &elsewhere).unwrap();
    let fault = desk.fault(common::add("c", "d", &[]));
    assert!(fault.message.contains("moved, deleted or replaced"), "{fault}");
    fs::rename(&elsewhere, desk.store()).unwrap();
    desk.add("c", "d", &[]);
}

#[test]
fn a_damaged_store_says_so() {
    let mut desk = Desk::new();
    for n in 0..50 {
        desk.add(&format!("{n}"), &"some text ".repeat(500), &[]);
    }
    let path = desk.store();
    let Desk { host, dir } = desk;
    drop(host);
    let mut bytes = fs::read(&path).unwrap();
    // The header stays, so that it opens.
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
fn garbage_instead_of_the_foldings_loses_no_note() {
    let mut desk = Desk::new();
    desk.add("a", "b", &[]);
    fs::write(desk.dir.path().join("state-a/shown.toml"), "levels = \0 {").unwrap();
    let mut desk = desk.restart();
    assert_eq!(desk.shown(), ["n1"]);
    desk.done(common::search("nothing"));
    let mut desk = desk.restart();
    assert_eq!(desk.shown(), Vec::<String>::new());
}

#[test]
fn what_was_answered_is_in_the_files_when_the_process_is_killed() {
    let mut desk = Desk::new();
    for n in 0..20 {
        desk.add(&format!("note {n}"), "text", &[]);
    }
    desk.done(common::edit(20, 1, "changed last"));
    // The files as they lie there while the process lives: nothing is flushed by closing.
    let after = tempfile::tempdir().unwrap();
    for name in [STORE.to_owned(), format!("{STORE}-wal")] {
        fs::copy(desk.dir.path().join(&name), after.path().join(&name)).unwrap();
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
