//! What keeping the state costs: figures, no demands.

use std::time::Instant;

use pipemux_core::saved::{SavedAnchor, SavedRound, SavedTarget};
use pipemux_core::{Config, Core};

use super::*;

/// 100 workspaces with 10,000 rounds and 10,000 anchors in all.
fn large() -> Vec<Record> {
    let mut records = Vec::new();
    for number in 0..100 {
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
        };
        let anchors = (1..=100).map(anchor).collect();
        records.push(Record::Anchors { workspace: workspace.clone(), anchors });
        for number in 0..100 {
            let round = SavedRound {
                number,
                unix_ms: 1_765_360_800_000,
                reader: "default".into(),
                action: "editor.replace_lines(3, 5, text=…)".repeat(3),
                result: "replace_lines: 3 lines".repeat(4),
                detail: Some("a line of detail\n".repeat(10)),
                exit: 0,
            };
            records.push(Record::Round { workspace: workspace.clone(), round });
        }
    }
    records
}

#[test]
#[ignore = "prints figures: cargo test --release -p pipemux-daemon figures -- --ignored --nocapture"]
fn figures() {
    let (_directory, path) = in_directory();
    let core = Core::new(Config::default(), large());
    let timed = |what: &str, start: Instant| {
        #[allow(clippy::print_stdout, reason = "figures are to be read")]
        {
            println!("{what}: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
        }
    };
    let start = Instant::now();
    let snapshot = core.snapshot();
    timed(&format!("snapshot of {} records, on the driver's thread", snapshot.len()), start);
    let start = Instant::now();
    let bytes = format::encode_journal(&snapshot, None).unwrap();
    timed(&format!("encoding {} bytes", bytes.len()), start);
    let start = Instant::now();
    let file = JournalFile::create(&temp_path(&path), &bytes).unwrap();
    timed("writing and syncing them", start);
    drop(file);
    let start = Instant::now();
    let mut journal = Journal::create(&path, &snapshot).unwrap();
    timed("all of that at the start", start);
    let start = Instant::now();
    assert_eq!(load(&path).records.len(), snapshot.len());
    timed("loading it", start);

    let append = |journal: &mut Journal, times: usize| {
        let mut spans: Vec<f64> = (0..times)
            .map(|number| {
                let start = Instant::now();
                append(journal, &record(number as u64)).unwrap();
                start.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        spans.sort_by(f64::total_cmp);
        let at = |share: f64| spans[((times - 1) as f64 * share) as usize];
        format!("p50 {:.1} us, p99 {:.1} us, max {:.1} us", at(0.5), at(0.99), at(1.0))
    };
    let quiet = append(&mut journal, 20_000);
    let start = Instant::now();
    journal.start_compaction(core.snapshot()).unwrap();
    timed("beginning to write anew", start);
    let mut worst = 0.0_f64;
    let mut busy = String::new();
    while journal.compaction.is_some() {
        busy = append(&mut journal, 200);
        let start = Instant::now();
        journal.poll_compaction().unwrap();
        worst = worst.max(start.elapsed().as_secs_f64() * 1e3);
    }
    #[allow(clippy::print_stdout, reason = "figures are to be read")]
    {
        println!("appending: {quiet}");
        println!("appending while it is written anew, the last 200: {busy}");
        println!("longest step of going on: {worst:.2} ms");
    }
}
