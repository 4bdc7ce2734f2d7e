//! A large state: that it survives, and how much time keeping it takes.

use std::time::{Duration, Instant};

use pipemux_core::saved::{SavedAnchor, SavedRound, SavedTarget};
use pipemux_core::{Config, Core};

use super::compaction::poll_until;
use super::*;

const WORKSPACES: usize = 100;
const ROUNDS: u64 = 100;

/// Records of 100 workspaces with 10,000 rounds and 10,000 anchors in all.
fn large_records() -> Vec<Record> {
    let mut records = Vec::new();
    for number in 0..WORKSPACES {
        let workspace = format!("/home/ann/projects/number-{number}");
        records.push(Record::Workspace {
            key: workspace.clone(),
            name: format!("number-{number}"),
            ids_below: 1_000,
            epochs_below: 500,
        });
        let anchor = |id| SavedAnchor {
            id,
            workspace: Some(workspace.clone()),
            session: "editor/main".into(),
            target: SavedTarget::Object { key: format!("src/module/file-{id}.rs") },
            rev: id,
            ty: Some("file".into()),
            label: format!("src/module/file-{id}.rs"),
            key_form: None,
        };
        let anchors = (1..=100).map(anchor).collect();
        records.push(Record::Anchors { workspace: workspace.clone(), anchors });
        for number in 0..ROUNDS {
            let round = SavedRound {
                number,
                unix_ms: 1_765_360_800_000,
                reader: "default".into(),
                action: "editor.replace_lines(3, 5, text=…)".repeat(3),
                result: "replace_lines: 3 lines".repeat(4),
                detail: Some("a line of detail\n".repeat(10)),
                exit: 0,
                sessions: vec!["editor/main".into()],
                ..SavedRound::default()
            };
            records.push(Record::Round { workspace: workspace.clone(), round });
        }
    }
    records
}

#[test]
fn large_state_survives_a_restart_and_a_compaction() {
    let (_directory, path) = temp_journal();
    let core = Core::new(Config::default(), large_records());
    let snapshot = core.snapshot();
    assert!(snapshot.len() >= WORKSPACES * ROUNDS as usize, "{}", snapshot.len());
    let mut journal = Journal::create(&path, &snapshot).unwrap();
    assert_eq!(load_undamaged(&path), snapshot);

    journal.start_compaction(snapshot.clone()).unwrap();
    let mut expected = snapshot;
    for number in 0..1_000 {
        append(&mut journal, &record(number)).unwrap();
        expected.push(record(number));
        journal.poll_compaction().unwrap();
    }
    poll_until(&mut journal, |journal| journal.compaction.is_none());
    assert_eq!(load_undamaged(&path), expected);
    // Loaded into a core, the records amount to the same state.
    let restored = Core::new(Config::default(), load_undamaged(&path));
    let again = Core::new(Config::default(), restored.snapshot());
    assert_eq!(again.snapshot(), restored.snapshot());
}

/// Measures what the driver's thread pays. The limits leave room for a slow machine in a release
/// build.
#[test]
#[ignore = "measures: cargo test --release -p pipemux-daemon journal_costs -- --ignored --nocapture"]
fn journal_costs_the_driver_little_even_during_a_compaction() {
    let (_directory, path) = temp_journal();
    let core = Core::new(Config::default(), large_records());
    let (taking_snapshot, snapshot) = timed(|| core.snapshot());
    let (creating, journal) = timed(|| Journal::create(&path, &snapshot).unwrap());
    let mut journal = journal;
    let (loading, loaded) = timed(|| load(&path));
    assert_eq!(loaded.records.len(), snapshot.len());

    let mut idle: Vec<Duration> = (0..20_000).map(|n| append_time(&mut journal, n)).collect();
    let (starting, ()) = timed(|| journal.start_compaction(core.snapshot()).unwrap());
    let (mut busy, mut longest_poll) = (Vec::new(), Duration::ZERO);
    while journal.compaction.is_some() {
        busy.push(append_time(&mut journal, busy.len() as u64));
        longest_poll = longest_poll.max(timed(|| journal.poll_compaction().unwrap()).0);
    }
    assert!(!busy.is_empty(), "no record was appended during the compaction");
    let (idle, busy) = (Quantiles::of(&mut idle), Quantiles::of(&mut busy));
    #[allow(clippy::print_stdout, reason = "this test reports what it measures")]
    {
        println!("snapshot of {} records: {taking_snapshot:?}", snapshot.len());
        println!("creating a journal: {creating:?}, loading it: {loading:?}");
        println!("appending while idle: {idle:?}");
        println!("starting a compaction: {starting:?}, longest poll: {longest_poll:?}");
        println!("appending during a compaction: {busy:?}");
    }
    assert!(idle.median < Duration::from_millis(1), "{idle:?}");
    assert!(busy.median < Duration::from_millis(5), "{busy:?}");
    assert!(longest_poll < Duration::from_millis(500), "{longest_poll:?}");
}

#[derive(Debug)]
#[allow(dead_code, reason = "the fields are printed")]
struct Quantiles {
    median: Duration,
    p99: Duration,
    max: Duration,
}

impl Quantiles {
    fn of(times: &mut [Duration]) -> Self {
        times.sort();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        Self { median: at(50), p99: at(99), max: at(100) }
    }
}

fn append_time(journal: &mut Journal, number: u64) -> Duration {
    timed(|| append(journal, &record(number)).unwrap()).0
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}
