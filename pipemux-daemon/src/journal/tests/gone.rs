//! Journals that were removed, cut at the end of a record, or replaced by an older copy.

use super::*;

fn written(path: &Path, count: u64) -> Vec<u64> {
    let mut journal = Journal::create(path, &records(1)).unwrap();
    let mut lengths = vec![fs::metadata(path).unwrap().len()];
    for number in 1..count {
        append(&mut journal, &record(number)).unwrap();
        lengths.push(fs::metadata(path).unwrap().len());
    }
    killed(journal);
    lengths
}

fn highest(count: u64) -> u64 {
    (0..count).filter(|number| number % 3 == 0).max().unwrap_or(0)
}

/// Leaves a journal as when the daemon is killed, after the thread that syncs has written the mark.
fn killed(journal: Journal) {
    journal.mark_file.write().unwrap();
    std::mem::forget(journal);
}

#[test]
fn removed_journal_is_told_and_its_numbers_are_known() {
    let (directory, path) = temp_journal();
    written(&path, 10);
    fs::remove_file(&path).unwrap();
    let loaded = load(&path);
    let loss = loaded.loss.unwrap();
    // A request that is made now, to a daemon that starts for it, is carried out.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert!(loss.acts_to.is_some_and(|to| u128::from(to) <= now.as_millis()), "{loss:?}");
    assert!(
        loss.told.unwrap().contains("was removed") && loss.workspaces && loss.acts_to.is_some()
    );
    assert_eq!(loss.high_water.unwrap().numbers, highest(10));
    // A later journal goes on from there.
    drop(Journal::create(&path, &[]).unwrap());
    assert_eq!(mark::read(&path).unwrap().high_water.numbers, highest(10));
    // Without the mark, too, somebody must have removed it when sessions have been there.
    for name in ["state.log", "state.mark"] {
        fs::remove_file(directory.path().join(name)).unwrap();
    }
    assert_eq!(load(&path), LoadedJournal::default(), "a first start");
    fs::create_dir_all(directory.path().join("sessions/x")).unwrap();
    let loss = load(&path).loss.unwrap();
    assert!(loss.told.unwrap().contains("was removed") && loss.high_water.is_none());
}

#[test]
fn journal_cut_anywhere_is_told_and_its_numbers_are_known() {
    let (_directory, path) = temp_journal();
    let lengths = written(&path, 12);
    let whole = fs::read(&path).unwrap();
    assert_eq!(load_undamaged(&path), records(12));
    for (kept, length) in (1..).zip(&lengths[..11]) {
        for cut in [*length, length + 3] {
            fs::write(&path, &whole[..cut as usize]).unwrap();
            let loaded = load(&path);
            assert_eq!(loaded.records, records(kept));
            let loss = loaded.loss.unwrap();
            let missing = format!("was cut: {} bytes are missing", whole.len() as u64 - length);
            assert!(loss.told.clone().unwrap().contains(&missing), "{loss:?}");
            assert!(loss.acts_to.is_some() && !loss.workspaces, "{loss:?}");
            assert_eq!((loss.high_water.unwrap().numbers, loss.leap()), (highest(12), 0));
        }
    }
    // The beginning of one more record is no loss: nothing followed from it.
    fs::write(&path, [&whole[..], &[0, 0, 0, 9]].concat()).unwrap();
    let loss = load(&path).loss.unwrap();
    assert_eq!((loss.told.clone(), loss.acts_to, loss.leap()), (None, None, 0));
}

#[test]
fn older_copy_is_told_and_a_compacted_journal_is_none() {
    let (_directory, path) = temp_journal();
    written(&path, 5);
    let older = fs::read(&path).unwrap();
    let mut journal = Journal::create(&path, &records(5)).unwrap();
    journal.start_compaction(records(2)).unwrap();
    append(&mut journal, &record(5)).unwrap();
    compaction::poll_until(&mut journal, |journal| journal.compaction.is_none());
    append(&mut journal, &record(6)).unwrap();
    killed(journal);
    let loaded = load(&path);
    assert_eq!((loaded.loss, loaded.records.len()), (None, 4));
    fs::write(&path, &older).unwrap();
    let loss = load(&path).loss.unwrap();
    assert!(loss.told.unwrap().contains("is an older copy") && loss.acts_to.is_some());
    // One that took its place just before the daemon was killed is newer than the mark.
    let newer = format::encode_journal(&records(2), current_boot_id().as_deref(), 99).unwrap();
    fs::write(&path, newer).unwrap();
    assert_eq!(load_undamaged(&path), records(2));
}

#[test]
fn nothing_is_written_while_the_journal_is_gone_and_it_can_be_written_again() {
    let (directory, path) = temp_journal();
    let aside = directory.path().join("aside");
    let mut journal = Journal::create(&path, &records(3)).unwrap();
    journal.check_in_place().unwrap();
    type Harm = fn(&Path, &Path);
    let harms: [Harm; 3] = [
        |path, aside| fs::rename(path, aside).unwrap(),
        |path, aside| {
            fs::rename(path, aside).unwrap();
            fs::copy(aside, path).unwrap();
        },
        |path, _| OpenOptions::new().write(true).open(path).unwrap().set_len(20).unwrap(),
    ];
    for (round, harm) in (3..).zip(harms) {
        harm(&path, &aside);
        assert!(journal.check_in_place().unwrap_err().to_string().contains("state.log"));
        assert!(append(&mut journal, &record(round)).is_err());
        if round == 3 {
            // Put back, it goes on.
            fs::rename(&aside, &path).unwrap();
            journal.check_in_place().unwrap();
            journal.flush().unwrap();
        } else {
            journal.write_again(&records(round + 1)).unwrap();
        }
        assert_eq!(load_undamaged(&path), records(round + 1), "round {round}");
    }
    drop(journal);
    assert!(load(&path).clean_shutdown);
}
