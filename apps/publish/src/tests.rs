use std::collections::BTreeSet;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;

fn text_of(file: &File) -> io::Result<Vec<u8>> {
    // A descriptor of its own would share the position: it is read by offsets.
    use std::os::unix::fs::FileExt;
    let mut bytes = vec![0; file.metadata()?.len() as usize + 1];
    let mut length = 0;
    loop {
        match file.read_at(&mut bytes[length..], length as u64)? {
            0 => break,
            read => length += read,
        }
        if length == bytes.len() {
            bytes.resize(length * 2, 0);
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

fn replace_text(path: &Path, before: &[u8], after: &[u8]) -> Result<Metadata, PublishError> {
    let staged = stage(path, Place::Existing, Durability::Power, |out| out.write_all(after))?;
    staged.publish(&|file| Ok(text_of(file)? == before))
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn text_takes_its_files_place_with_mode_and_attributes_and_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.txt");
    fs::write(&path, "one").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let marked = rustix::fs::setxattr(&path, "user.note", b"hi", rustix::fs::XattrFlags::empty());
    replace_text(&path, b"one", b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
    if marked.is_ok() {
        let mut value = [0; 8];
        assert_eq!(rustix::fs::getxattr(&path, "user.note", &mut value[..]), Ok(2));
    }
    assert!(matches!(replace_text(&path, b"one", b"three"), Err(PublishError::Changed)));
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(names(directory.path()), ["a.txt"]);
}

#[test]
fn staged_text_is_readable_by_its_owner_alone_and_unseen_by_git() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.txt");
    fs::write(&path, "x").unwrap();
    let mut seen = false;
    let staged = stage(&path, Place::Existing, Durability::Power, |out| {
        out.write_all(b"TOKEN=secret")?;
        out.flush()?;
        let folder =
            names(directory.path()).into_iter().find(|name| name.starts_with(FOLDER_PREFIX));
        let folder = directory.path().join(folder.unwrap());
        assert_eq!(fs::metadata(&folder)?.permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(folder.join(FILE_NAME))?.permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_to_string(folder.join(".gitignore"))?, "*\n");
        seen = true;
        Ok(())
    });
    drop(staged.unwrap());
    assert!(seen);
    assert_eq!(names(directory.path()), ["a.txt"]);
}

#[test]
fn new_file_never_takes_the_place_of_one_that_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new.txt");
    let stage_new = || {
        stage(&path, Place::New(0o666), Durability::Process, |out| out.write_all(b"mine")).unwrap()
    };
    let late = stage_new();
    stage_new().publish(&|_| Ok(true)).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    fs::write(&path, "theirs").unwrap();
    assert!(matches!(late.publish(&|_| Ok(true)), Err(PublishError::Exists)));
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
    let content = |text: &'static [u8]| move |file: &File| Ok(text_of(file)? == text);
    assert!(matches!(remove(&path, &content(b"mine")), Err(PublishError::Changed)));
    remove(&path, &content(b"theirs")).unwrap();
    assert!(names(directory.path()).is_empty());
    assert!(matches!(remove(&path, &content(b"theirs")), Err(PublishError::Changed)));
}

#[cfg(target_os = "linux")]
#[test]
fn file_that_somebody_has_open_for_writing_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    fs::write(&path, "one\n").unwrap();
    let mut writer = File::options().append(true).open(&path).unwrap();
    assert!(matches!(replace_text(&path, b"one\n", b"two\n"), Err(PublishError::Busy)));
    let same = |file: &File| Ok(text_of(file)? == b"one\n");
    assert!(matches!(remove(&path, &same), Err(PublishError::Busy)));
    writer.write_all(b"more\n").unwrap();
    drop(writer);
    assert_eq!(fs::read(&path).unwrap(), b"one\nmore\n");
    replace_text(&path, b"one\nmore\n", b"two\n").unwrap();
}

/// Maximum number of lines written, since the time for a comparison grows with the file.
const FOREIGN_LINES: usize = 20_000;

/// Changes a file as fast as it can, by appending to it or by renaming another one over it, until
/// it is told to stop. Returns the lines that it wrote.
fn foreign(path: &Path, renames: bool, stop: &AtomicBool) -> Vec<String> {
    let mut lines = Vec::new();
    while !stop.load(Ordering::Relaxed) && lines.len() < FOREIGN_LINES {
        let line = format!("theirs {} {renames}\n", lines.len());
        if renames {
            // As an editor does, which has the text in memory: one that reads the file again can
            // find, for some microseconds, a text in its place that is taken back.
            let aside = path.with_extension("aside");
            fs::write(&aside, lines.concat() + line.as_str()).unwrap();
            fs::rename(&aside, path).unwrap();
        } else {
            let mut file = File::options().append(true).open(path).unwrap();
            file.write_all(line.as_bytes()).unwrap();
        }
        lines.push(line);
        thread::yield_now();
    }
    lines
}

/// Edits a file by adding lines to what it reads; returns those that were acknowledged.
fn edits(path: &Path, who: &str, count: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for number in 0..count {
        let line = format!("{who} {number}\n");
        let mut before = Vec::new();
        let file = File::open(path).unwrap();
        // Who reads to the end of a file that grows all the time may never be done.
        let length = file.metadata().unwrap().len();
        file.take(length).read_to_end(&mut before).unwrap();
        let after = [line.as_bytes(), &before].concat();
        match replace_text(path, &before, &after) {
            Ok(_) => lines.push(line),
            Err(PublishError::Changed | PublishError::Busy) => {}
            // It is told where the other text is, so nothing is lost.
            Err(PublishError::Kept(_)) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    lines
}

/// Returns the texts that [`PublishError::Kept`] reports.
fn kept(directory: &Path) -> String {
    let folders = names(directory).into_iter().filter(|name| name.starts_with(FOLDER_PREFIX));
    let text = |name: String| fs::read_to_string(directory.join(name).join(FILE_NAME)).unwrap();
    folders.map(text).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_lost_of_what_a_program_appends_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    fs::write(&path, "").unwrap();
    let stop = AtomicBool::new(false);
    let (theirs, ours) = thread::scope(|scope| {
        let theirs = scope.spawn(|| foreign(&path, false, &stop));
        let ours = edits(&path, "ours", 200);
        stop.store(true, Ordering::Relaxed);
        (theirs.join().unwrap(), ours)
    });
    settle();
    let text = fs::read_to_string(&path).unwrap() + &kept(directory.path());
    let there: BTreeSet<&str> = text.split_inclusive('\n').collect();
    let lost = theirs.iter().chain(&ours).filter(|line| !there.contains(line.as_str()));
    assert_eq!(lost.count(), 0, "{} of theirs, {} of ours", theirs.len(), ours.len());
    assert_eq!(text.lines().count(), theirs.len() + ours.len(), "a line is there twice");
    assert!(!theirs.is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_lost_of_what_a_program_renames_over_the_file_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    fs::write(&path, "").unwrap();
    let stop = AtomicBool::new(false);
    let theirs = thread::scope(|scope| {
        let theirs = scope.spawn(|| foreign(&path, true, &stop));
        edits(&path, "ours", 200);
        stop.store(true, Ordering::Relaxed);
        theirs.join().unwrap()
    });
    settle();
    // That program may lose our lines: it doesn't look at what it renames over. We lose none of
    // its.
    let text = fs::read_to_string(&path).unwrap() + &kept(directory.path());
    let there: BTreeSet<&str> = text.split_inclusive('\n').collect();
    let lost = theirs.iter().filter(|line| !there.contains(line.as_str()));
    assert_eq!(lost.count(), 0, "of {}", theirs.len());
}

#[cfg(target_os = "linux")]
#[test]
fn two_publishers_lose_nothing_of_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    fs::write(&path, "").unwrap();
    let (one, other) = thread::scope(|scope| {
        let one = scope.spawn(|| edits(&path, "one", 200));
        (edits(&path, "other", 200), one.join().unwrap())
    });
    settle();
    let text = fs::read_to_string(&path).unwrap() + &kept(directory.path());
    let there: BTreeSet<&str> = text.split_inclusive('\n').collect();
    let lost = one.iter().chain(&other).filter(|line| !there.contains(line.as_str()));
    assert_eq!(lost.count(), 0, "{} and {}", one.len(), other.len());
    assert!(one.len() + other.len() > 100);
    assert_eq!(names(directory.path()), ["log"]);
}

#[test]
fn only_what_nobody_will_finish_is_left_over_and_only_what_is_expected_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.txt");
    let write = |out: &mut io::BufWriter<&File>| out.write_all(b"new");
    let staged = stage(&path, Place::New(0o666), Durability::Process, write).unwrap();
    assert_eq!(leftovers(directory.path()), [], "somebody is about to publish it");
    // As a process leaves it that is killed: its locks are gone.
    let gone = directory.path().join(format!("{FOLDER_PREFIX}gone"));
    fs::create_dir(&gone).unwrap();
    for name in [leftovers::LOCK_NAME, FILE_NAME] {
        fs::copy(staged.folder.directory.path().join(name), gone.join(name)).unwrap();
    }
    // A folder of another program's.
    fs::create_dir(directory.path().join(format!("{FOLDER_PREFIX}theirs"))).unwrap();
    let found = leftovers(directory.path());
    let [left] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(left.text(), gone.join(FILE_NAME));
    let is = |wanted: &'static [u8]| move |file: &File| Ok(text_of(file)? == wanted);
    assert!(!left.remove(&is(b"old")).unwrap() && gone.exists());
    let writer = File::options().append(true).open(left.text()).unwrap();
    assert!(!left.remove(&is(b"new")).unwrap() && gone.exists(), "somebody may write to it");
    drop(writer);
    assert!(left.remove(&is(b"new")).unwrap() && !gone.exists());
    staged.publish(&|_| Ok(true)).unwrap();
    assert_eq!(names(directory.path()), [format!("{FOLDER_PREFIX}theirs").as_str(), "a.txt"]);
}

#[cfg(target_os = "linux")]
#[test]
fn many_texts_are_staged_together_with_few_descriptors() {
    let directory = tempfile::tempdir().unwrap();
    let mut stage = Stage::default();
    let path = |number: usize| directory.path().join(format!("{number}.txt"));
    let own = |entry: &fs::DirEntry| {
        fs::read_link(entry.path()).is_ok_and(|target| target.starts_with(directory.path()))
    };
    let staged: Vec<_> = (0..600)
        .map(|number| {
            let write = |out: &mut io::BufWriter<&File>| write!(out, "{number}");
            stage.text(&path(number), Place::New(0o600), Durability::Process, write).unwrap()
        })
        .collect();
    assert_eq!(names(directory.path()).len(), 1, "one folder");
    let open = fs::read_dir("/proc/self/fd").unwrap().flatten().filter(own).count();
    assert!(open <= 2, "{open} are open");
    drop(stage);
    for one in staged {
        one.publish(&|_| Ok(true)).unwrap();
    }
    assert_eq!(names(directory.path()).len(), 600, "the folder is gone");
    assert_eq!(fs::read_to_string(path(599)).unwrap(), "599");
}
