//! Unsuitable files, damaged or locked stores, and crashes.

use std::fs;
use std::path::PathBuf;

use crate::common::{Fixture, STORE, open};
use docui::Fault;
use pipemux_notebook::Notebook;
use pipemux_proto::app::Outcome;
use pipemux_proto::fault::Code;
use rusqlite::Connection;
use rustix::fs::{CWD, FileType, Mode, mknodat};
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
    assert!(fault.hints[0].contains("mkdir -p "), "{fault:?}");
    let fault = refused(&dir, "garbage/notes.db");
    assert!(fault.message.contains("garbage"), "{fault}");
    let fault = refused(&dir, "/dev/null");
    assert!(fault.message.contains("is a device, expected a file"), "{fault}");

    // SQLite would wait for ever on a pipe, also on one in the place of its log.
    for name in ["pipe", "notes.db-wal", "other.db-journal"] {
        mknodat(CWD, dir.path().join(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }
    for path in ["pipe", "notes.db", "other.db"] {
        let fault = refused(&dir, path);
        assert!(fault.message.contains("is a FIFO, expected a file"), "{fault}");
    }
}

#[test]
fn empty_file_becomes_a_store() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("empty"), "").unwrap();
    let mut host = open(&dir, "x", &["empty"]).unwrap();
    crate::common::done(&mut host, crate::common::add("a", "b", &[]));
}

#[test]
fn default_store_is_in_the_state_directory() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = open(&dir, "x", &[]).unwrap();
    crate::common::done(&mut host, crate::common::add("a", "b", &[]));
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
    let fault = fixture.fault(crate::common::add("a", "b", &[]));
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
    let fault = fixture.fault(crate::common::add("c", "d", &[]));
    assert!(fault.message.contains("moved, deleted or replaced"), "{fault}");
    fs::rename(&elsewhere, fixture.store()).unwrap();
    fixture.add("c", "d", &[]);
}

#[test]
fn store_that_was_deleted_is_written_again() {
    let mut fixture = Fixture::new();
    let path = fixture.store();
    fixture.add("first", "text", &[]);
    let (log, index) = (path.with_extension("db-wal"), path.with_extension("db-shm"));
    for (round, more) in [false, true].into_iter().enumerate() {
        fs::remove_file(&path).unwrap();
        if more {
            fs::remove_file(&log).unwrap();
            fs::remove_file(&index).unwrap();
        }
        let shown = fixture.text();
        assert!(shown.contains("notes.db had been deleted: it was written again"), "{shown}");
        let done = fixture.add(&format!("more {round}"), "text", &[]);
        assert!(done.brief.contains("; notes.db had been deleted"), "{}", done.brief);
        // What readers saw of the entries is as it was.
        fixture.done(crate::common::append(1, 1 + round as u64, "line"));
        assert!(!fixture.text().contains("deleted"), "{}", fixture.text());
    }
    // Also when nothing else happens before the process is restarted.
    fs::remove_file(&path).unwrap();
    fixture.host.hibernate().unwrap();
    let mut fixture = fixture.restart();
    let shown = fixture.text();
    assert!(shown.contains("first") && shown.contains("more 1"), "{shown}");
    let left: Vec<_> = fs::read_dir(fixture.dir.path()).unwrap().flatten().collect();
    let copies = left.iter().filter(|file| file.file_name().to_string_lossy().contains("db."));
    assert_eq!(copies.count(), 0, "{left:?}");
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
    let fault = match open(&dir, "x", &[STORE]) {
        Err(fault) => fault,
        Ok(mut host) => host.text(docui::Lod::Summary, 1000).unwrap_err(),
    };
    assert!(fault.message.contains("damaged"), "{fault}");
}

/// Copies the store as a backup does.
fn back_up(fixture: &Fixture) -> PathBuf {
    let backup = fixture.dir.path().join("backup.db");
    let connection = Connection::open(fixture.store()).unwrap();
    connection.execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
    backup
}

/// Puts a file that is no store in the store's place.
fn damage(fixture: &Fixture) {
    let garbage = fixture.dir.path().join("garbage");
    fs::write(&garbage, "no database ".repeat(2000)).unwrap();
    fs::rename(garbage, fixture.store()).unwrap();
}

#[test]
fn damage_is_explained_each_time_until_it_is_mended() {
    let mut fixture = Fixture::new();
    fixture.add("kept", "in the backup", &[]);
    let backup = back_up(&fixture);
    let lost = fixture.add("lost", "not in the backup", &[]);
    damage(&fixture);
    let damaged = fs::read(fixture.store()).unwrap();
    for _ in 0..3 {
        let shown = fixture.host.text(docui::Lod::Summary, 1000).unwrap_err();
        assert!(shown.message.contains("notes.db is not a SQLite file"), "{shown}");
        assert!(shown.hints[0].contains("rm -f "), "{shown:?}");
        assert!(shown.hints[1].ends_with("pipemux open notebook/other"), "{shown:?}");
        let refused = fixture.fault(crate::common::add("a", "b", &[]));
        assert!(refused.message.contains("notes.db is not a SQLite file"), "{refused}");
        let found = docui::App::find(fixture.host.app().unwrap(), "n1");
        assert!(matches!(found, docui::Found::Unreadable(_)), "{found:?}");
        assert_eq!(fs::read(fixture.store()).unwrap(), damaged, "left as it is");
    }
    fs::copy(backup, fixture.store()).unwrap();
    assert!(fixture.text().contains("[kept](obj:n1)"), "{}", fixture.text());
    // What was lost with the store is not confused with what comes after it.
    assert!(fixture.fault(crate::common::edit(1, 1, "unseen")).message.contains("changed"));
    fixture.add("new", "text", &[]);
    assert!(fixture.text().contains("[new](obj:n3)"), "{}", fixture.text());
    let links = &lost.links;
    let undo = docui::Actions::decode(&links[0].action, links[0].args.clone()).unwrap();
    assert!(fixture.fault(undo).message.contains("no longer kept"));
}

/// A process that is started again on a damaged store explains it as often, and goes on once it is
/// mended.
#[test]
fn session_that_starts_on_a_damaged_store_works_once_it_is_mended() {
    let mut fixture = Fixture::new();
    fixture.add("kept", "in the backup", &[]);
    let backup = back_up(&fixture);
    let Fixture { host, dir } = fixture;
    let store = dir.path().join(STORE);
    drop(host);
    fs::write(&store, "no database ".repeat(2000)).unwrap();
    let state = dir.path().join("state-a");
    let mut host =
        docui::testing::Host::<Notebook>::restart("notebook/main", &[&[STORE]], dir.path(), &state);
    for _ in 0..3 {
        let shown = host.text(docui::Lod::Summary, 1000).unwrap_err();
        assert!(shown.message.contains("not a SQLite file"), "{shown}");
        let Outcome::Failed(refused) = host.invoke(&crate::common::add("a", "b", &[])) else {
            panic!()
        };
        assert_eq!(refused, shown);
    }
    fs::copy(backup, store).unwrap();
    crate::common::done(&mut host, crate::common::add("new", "text", &[]));
    let text = host.text(docui::Lod::Summary, 1000).unwrap();
    assert!(text.contains("[kept](obj:n1)") && text.contains("[new](obj:n2)"), "{text}");
}

#[test]
fn store_that_is_replaced_by_its_backup_is_used_without_a_restart() {
    let mut fixture = Fixture::new();
    fixture.add("kept", "in the backup", &[]);
    let backup = back_up(&fixture);
    fixture.add("lost", "not in the backup", &[]);
    fs::rename(backup, fixture.store()).unwrap();
    let text = fixture.text();
    assert!(text.contains("[kept](obj:n1)") && !text.contains("lost"), "{text}");
    fixture.add("new", "text", &[]);
    assert!(fixture.text().contains("[new](obj:n3)"), "{}", fixture.text());

    // Another store means other entries by the same keys.
    let other = tempfile::tempdir().unwrap();
    drop(open(&other, "x", &[STORE]).unwrap());
    fs::rename(other.path().join(STORE), fixture.store()).unwrap();
    let shown = fixture.host.text(docui::Lod::Summary, 1000).unwrap_err();
    assert!(shown.message.contains("is a different store"), "{shown}");
    assert!(shown.hints[0].ends_with("or: pipemux restart notebook/main"), "{shown:?}");
}

#[test]
fn unreadable_view_state_is_ignored() {
    let mut fixture = Fixture::new();
    fixture.add("a", "b", &[]);
    fs::write(fixture.dir.path().join("state-a/shown.toml"), "levels = \0 {").unwrap();
    let mut fixture = fixture.restart();
    assert_eq!(fixture.shown(), ["n1"]);
    fixture.done(crate::common::expand(1, 1));
    let mut fixture = fixture.restart();
    assert!(fixture.text().contains("[collapse]"));
}

#[test]
fn answered_changes_are_in_the_files_before_the_process_ends() {
    let mut fixture = Fixture::new();
    for n in 0..20 {
        fixture.add(&format!("note {n}"), "text", &[]);
    }
    fixture.done(crate::common::edit(20, 1, "changed last"));
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
        crate::common::done(&mut host, crate::common::search("changed")).brief,
        "1 of 20 notes"
    );
}
