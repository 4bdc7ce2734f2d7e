//! The checked-in records, and what each of them means.
//!
//! A file is never edited: a log on somebody's disk holds these bytes. When a record gains a field,
//! its fixture moves from `records` to `earlier`, with the field's default as its meaning, and a
//! new fixture takes its place.

use bytes::Bytes;
use pipemux_core::saved::{
    KeyForm, Record, SavedAct, SavedAnchor, SavedJob, SavedJobEnd, SavedOpen, SavedOptions,
    SavedPanels, SavedPlacement, SavedQuestion, SavedRest, SavedRound, SavedTarget, SavedUndo,
};

/// A workspace's key and its name with characters that need quoting or are more than one byte long.
pub const KEY: &str = "/計画 \"A\" & 'b'";
pub const NAME: &str = "計画 \"A\" & 'b'";
/// A workspace with the shortest key and an empty name.
pub const EMPTY_KEY: &str = "/";
/// A workspace whose anchors are shown with their keys.
pub const KEYED_KEY: &str = "/keyed";

/// The id of an acting request, and the time in it.
pub const RUN_ID: &str = "019b0780-0000-7abc-8def-0123456789ab";
const RUN_ID_MS: u64 = 0x019b_0780_0000;

/// One checked-in record.
pub struct Fixture {
    pub name: &'static str,
    pub hex: &'static str,
    pub record: Record,
}

macro_rules! fixture {
    ($folder:literal, $name:literal, $record:expr) => {
        Fixture {
            name: $name,
            hex: include_str!(concat!($folder, "/", $name, ".hex")),
            record: $record,
        }
    };
}

/// Returns the bytes that hexadecimal digits stand for.
pub fn unhex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("hex digits");
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// Returns bytes as a fixture file holds them: 48 bytes a line.
pub fn hex(bytes: &[u8]) -> String {
    let line = |line: &[u8]| line.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    bytes.chunks(48).map(|chunk| line(chunk) + "\n").collect()
}

/// Records as they are written today. In this order they are one log.
pub fn records() -> Vec<Fixture> {
    vec![
        fixture!("records", "reserved", Record::Reserved { numbers_below: 5_000_000_000 }),
        fixture!("records", "floor", Record::Floor { numbers_below: u64::from(u32::MAX) + 7 }),
        fixture!("records", "workspace", workspace(KEY, NAME, 900, 70)),
        fixture!("records", "workspace_empty", workspace(EMPTY_KEY, "", 1, 0)),
        fixture!("records", "workspace_keyed", workspace(KEYED_KEY, "keyed", 900, 70)),
        fixture!("records", "session", session(Some(KEY), "notes/main", opens())),
        fixture!(
            "records",
            "session_shared",
            session(None, "shared/main", vec![SavedOpen::default()])
        ),
        fixture!("records", "session_without_opens", session(None, "shared/gone", Vec::new())),
        fixture!("records", "session_passed", session(Some(KEY), "other/passed", passed_opens())),
        fixture!("records", "session_asleep", session(Some(KEY), "notes/asleep", opens())),
        fixture!("records", "session_to_end", session(Some(KEY), "other/ended", opens())),
        fixture!("records", "session_to_close", session(Some(KEY), "other/closed", opens())),
        fixture!(
            "records",
            "prototypes",
            Record::Prototypes {
                provider: "notes".into(),
                prototypes: unhex(include_str!("opaque/prototypes.hex")).into(),
            }
        ),
        fixture!(
            "records",
            "prototypes_unreadable",
            Record::Prototypes { provider: "other".into(), prototypes: Bytes::new() }
        ),
        fixture!("records", "window", window("notes/main", "summary", Some(1_200), true)),
        fixture!("records", "window_plain", window("shared/main", "full", None, false)),
        fixture!(
            "records",
            "window_placed",
            placed_window(
                "other/passed",
                "summary",
                (None, false),
                Some(SavedPlacement { priority: -3, weight: 2 })
            )
        ),
        fixture!("records", "window_asleep", window("notes/asleep", "gist", None, false)),
        fixture!("records", "window_to_close", window("other/closed", "full", Some(0), false)),
        fixture!("records", "options", options(KEY, false, true)),
        fixture!("records", "options_empty", options(EMPTY_KEY, true, false)),
        fixture!("records", "options_panels", options_with_panels(KEYED_KEY)),
        fixture!(
            "records",
            "anchors",
            Record::Anchors { workspace: KEY.into(), anchors: anchors() }
        ),
        fixture!(
            "records",
            "anchors_empty",
            Record::Anchors { workspace: EMPTY_KEY.into(), anchors: Vec::new() }
        ),
        fixture!(
            "records",
            "anchors_keyed",
            Record::Anchors { workspace: KEYED_KEY.into(), anchors: keyed_anchors() }
        ),
        fixture!("records", "workspace_jobs", workspace("/jobs", "jobs", 900, 70)),
        fixture!(
            "records",
            "anchors_cancel",
            Record::Anchors { workspace: "/jobs".into(), anchors: vec![cancel_anchor()] }
        ),
        fixture!("records", "job", Record::Job(Box::new(running_job()))),
        fixture!("records", "job_ended", Record::Job(Box::new(ended_job()))),
        fixture!("records", "job_named", Record::Job(Box::new(named_job()))),
        fixture!(
            "records",
            "job_told",
            Record::JobTold { job: 20, workspace: KEY.into(), reader: "told".into() }
        ),
        fixture!("records", "consent", consent(31, None, true)),
        fixture!("records", "consent_for_a_time", consent(32, Some(RUN_ID_MS + 600_000), true)),
        fixture!("records", "pause", pause(None, Some("止められた"), true)),
        fixture!("records", "pause_of_workspace", pause(Some("/elsewhere"), None, true)),
        fixture!("records", "pause_of_all", pause(None, None, true)),
        fixture!("records", "pause_ended", pause(None, None, false)),
        fixture!("records", "consent_withdrawn", consent(32, Some(RUN_ID_MS + 600_000), false)),
        fixture!("records", "begun", begun_before("run 日本 \"begun\"")),
        fixture!("records", "answered", answered("run 日本 \"answered\"", 5)),
        fixture!("records", "answered_last", answered("run '最後'", u8::MAX)),
        fixture!("records", "begun_by_reader", begun()),
        fixture!("records", "begun_run", begun_run()),
        fixture!("records", "progressed", progressed()),
        fixture!("records", "answered_by_reader", answered_by_reader()),
        fixture!("records", "acts", acts()),
        fixture!("records", "acts_forgotten", acts_forgotten()),
        fixture!("records", "pseudonym_key", pseudonym_key()),
        fixture!("records", "round", round(full_round())),
        fixture!(
            "records",
            "round_diff",
            round(SavedRound {
                number: 11,
                diff: Some("--- 文.rs\n+++ 文.rs\n@@ -1 +1 @@\n-一\n+二\n".into()),
                ..plain_round()
            })
        ),
        fixture!(
            "records",
            "round_files",
            round(SavedRound {
                number: 13,
                client: "mcp 助手".into(),
                files: vec!["/計画/一.rs".into()],
                more_files: 2,
                ..plain_round()
            })
        ),
        fixture!(
            "records",
            "round_wrote",
            round(SavedRound {
                number: 14,
                files: vec!["/計画/一.rs".into()],
                wrote: Some((1_790_000_000_000, 1_790_000_000_007)),
                ..plain_round()
            })
        ),
        fixture!("records", "round_plain", round(plain_round())),
        fixture!(
            "records",
            "round_of_request",
            round(SavedRound { number: 14, run_id: RUN_ID.into(), ..plain_round() })
        ),
        fixture!(
            "records",
            "round_epoch",
            round(SavedRound { number: 12, epoch: Some(300), ..plain_round() })
        ),
        fixture!(
            "records",
            "question",
            question(4_000_000_001, 1, unhex(include_str!("opaque/question_state.hex")))
        ),
        fixture!("records", "question_of_another_version", question(12, u16::MAX, Vec::new())),
        fixture!(
            "records",
            "question_to_close",
            question(13, 1, unhex(include_str!("opaque/question_state.hex")))
        ),
        fixture!(
            "records",
            "question_closed",
            Record::QuestionClosed { workspace: KEY.into(), number: 13 }
        ),
        fixture!("records", "round_undo", round(undo_round())),
        fixture!("records", "round_to_undo", round(SavedRound { number: 10, ..undo_round() })),
        fixture!(
            "records",
            "undone",
            Record::Undone {
                workspace: KEY.into(),
                round: 10,
                steps: vec![0],
                again: Vec::new(),
                unsure: Vec::new()
            }
        ),
        fixture!(
            "records",
            "undo_interrupted",
            Record::Undone {
                workspace: KEY.into(),
                round: 10,
                steps: vec![0],
                again: Vec::new(),
                unsure: vec![1]
            }
        ),
        fixture!("records", "kept", kept(14, full_rest())),
        fixture!("records", "kept_plain", kept(15, SavedRest::default())),
        fixture!(
            "records",
            "kept_closed",
            Record::KeptClosed { workspace: KEY.into(), number: 15 }
        ),
        fixture!("records", "asleep_until", asleep_until(Some(KEY), "notes/asleep", 11)),
        fixture!("records", "asleep", asleep(Some(KEY), "notes/asleep", 12)),
        fixture!("records", "awake", asleep(None, "shared/main", 0)),
        fixture!(
            "records",
            "window_closed",
            Record::WindowClosed { workspace: KEY.into(), session: "other/closed".into() }
        ),
        fixture!("records", "session_ended", ended(Some(KEY), "other/ended")),
        fixture!("records", "session_ended_shared", ended(None, "shared/gone")),
    ]
}

/// Records of earlier releases, without the fields that were added since.
pub fn earlier_records() -> Vec<Fixture> {
    vec![
        fixture!("earlier", "window", window("notes/main", "summary", None, false)),
        fixture!("earlier", "options", options(KEY, false, false)),
        fixture!("earlier", "round", round(plain_round())),
        fixture!(
            "earlier",
            "round_without_sessions",
            round(SavedRound { sessions: Vec::new(), ..full_round() })
        ),
        fixture!("earlier", "round_plain", round(plain_round())),
        fixture!(
            "earlier",
            "anchors",
            Record::Anchors {
                workspace: KEY.into(),
                anchors: vec![SavedAnchor { label: String::new(), ..plain_anchor() }],
            }
        ),
    ]
}

fn workspace(key: &str, name: &str, ids_below: u64, epochs_below: u64) -> Record {
    Record::Workspace { key: key.into(), name: name.into(), ids_below, epochs_below }
}

fn session(workspace: Option<&str>, session: &str, opens: Vec<SavedOpen>) -> Record {
    Record::Session { workspace: workspace.map(Into::into), session: session.into(), opens }
}

fn ended(workspace: Option<&str>, session: &str) -> Record {
    Record::SessionEnded { workspace: workspace.map(Into::into), session: session.into() }
}

fn asleep(workspace: Option<&str>, session: &str, version: u64) -> Record {
    Record::Asleep {
        workspace: workspace.map(Into::into),
        session: session.into(),
        version,
        at_zero: false,
        wake_at: None,
    }
}

/// Asleep until 2100.
fn asleep_until(workspace: Option<&str>, session: &str, version: u64) -> Record {
    let (workspace, wake_at) = (workspace.map(Into::into), Some(4_102_444_800_000));
    Record::Asleep { workspace, session: session.into(), version, at_zero: false, wake_at }
}

fn window(session: &str, lod: &str, budget: Option<u32>, pinned: bool) -> Record {
    placed_window(session, lod, (budget, pinned), None)
}

fn placed_window(
    session: &str,
    lod: &str,
    (budget, pinned): (Option<u32>, bool),
    placement: Option<SavedPlacement>,
) -> Record {
    let (workspace, session, lod) = (KEY.into(), session.into(), lod.into());
    Record::Window { workspace, session, lod, budget, pinned, placement }
}

fn options(workspace: &str, strict: bool, rebase: bool) -> Record {
    Record::Options {
        workspace: workspace.into(),
        options: SavedOptions { strict, rebase, ..SavedOptions::default() },
    }
}

fn options_with_panels(workspace: &str) -> Record {
    let panels = SavedPanels {
        views: true,
        environment: true,
        notices: true,
        history: true,
        questions: true,
    };
    let options = SavedOptions { titles: true, panels, ..SavedOptions::default() };
    Record::Options { workspace: workspace.into(), options }
}

fn consent(number: u64, until: Option<u64>, given: bool) -> Record {
    Record::Consent {
        workspace: KEY.into(),
        provider: "planner".into(),
        number,
        key: format!("trust planner.toml sha256:{number}"),
        what: "trust planner.toml · 信任".into(),
        unix_ms: RUN_ID_MS,
        until,
        given,
    }
}

fn pause(workspace: Option<&str>, reader: Option<&str>, on: bool) -> Record {
    let (workspace, reader) = (workspace.map(str::to_owned), reader.map(str::to_owned));
    let ahead_s = reader.is_some().then_some(-3600);
    Record::Pause { workspace, reader, unix_ms: RUN_ID_MS, ahead_s, on }
}

/// A record of a release that knew requests by their ids alone.
fn begun_before(run_id: &str) -> Record {
    Record::Begun { run_id: run_id.into(), workspace: None, reader: None, unix_ms: 0, round: None }
}

/// As `begun_before`.
fn answered(run_id: &str, exit: u8) -> Record {
    Record::Answered { run_id: run_id.into(), workspace: None, reader: None, exit }
}

fn begun() -> Record {
    Record::Begun {
        run_id: RUN_ID.into(),
        workspace: Some(KEY.into()),
        reader: Some("阿达".into()),
        unix_ms: RUN_ID_MS,
        round: None,
    }
}

/// Of a run that has acted and isn't answered.
fn begun_run() -> Record {
    Record::Begun {
        run_id: "run 途中".into(),
        workspace: Some(KEY.into()),
        reader: Some("阿达".into()),
        unix_ms: RUN_ID_MS,
        round: Some(Box::new(SavedRound {
            number: 0,
            reader: "阿达".into(),
            action: "editor.replace(\"一\", \"二\")".into(),
            result: "editor.replace unknown: the daemon was lost meanwhile".into(),
            exit: 7,
            ..plain_round()
        })),
    }
}

/// What the run of `begun_run` has done since.
fn progressed() -> Record {
    Record::Progressed {
        run_id: "run 途中".into(),
        workspace: Some(KEY.into()),
        reader: Some("阿达".into()),
        round: Box::new(SavedRound {
            number: 0,
            unix_ms: 1_765_360_000_789,
            action: String::new(),
            result: "replace unknown: the daemon was lost meanwhile".into(),
            detail: Some("add done: 一".into()),
            exit: 7,
            undo: undo_round().undo,
            ..plain_round()
        }),
    }
}

fn answered_by_reader() -> Record {
    let (workspace, reader) = (Some(KEY.into()), Some("阿达".into()));
    Record::Answered { run_id: RUN_ID.into(), workspace, reader, exit: 4 }
}

fn acts() -> Record {
    let act = |run_id: &str, unix_ms, exit| SavedAct { run_id: run_id.into(), unix_ms, exit };
    Record::Acts {
        workspace: Some(KEY.into()),
        reader: Some("another".into()),
        forgotten_to: 1_765_340_000_000,
        acts: vec![act("run 1", 1_765_350_000_001, Some(0)), act(RUN_ID, RUN_ID_MS, None)],
    }
}

fn acts_forgotten() -> Record {
    let forgotten_to = 1_765_350_000_000;
    Record::Acts { workspace: None, reader: None, forgotten_to, acts: Vec::new() }
}

fn pseudonym_key() -> Record {
    Record::PseudonymKey { key: (0..16).collect::<Vec<u8>>().into() }
}

fn round(round: SavedRound) -> Record {
    Record::Round { workspace: KEY.into(), round }
}

fn question(number: u64, version: u16, state: Vec<u8>) -> Record {
    let question = SavedQuestion { version, state: state.into() };
    Record::Question { workspace: KEY.into(), number, question }
}

fn kept(number: u64, rest: SavedRest) -> Record {
    Record::Kept { workspace: KEY.into(), number, rest }
}

/// A round that took another one back, and can be taken back itself.
fn undo_round() -> SavedRound {
    let undo = SavedUndo {
        workspace: Some(KEY.into()),
        session: "notes/main".into(),
        call: "notes.say('一')".into(),
        action: "say".into(),
        args: Bytes::from_static(&[0x80]),
        undone: false,
        unsure: false,
    };
    let undo = vec![undo.clone(), SavedUndo { workspace: None, undone: true, ..undo }];
    let lasting = vec!["notes.remove".into()];
    SavedRound { number: 9, undo, lasting, undoes: Some(7), ..plain_round() }
}

fn full_rest() -> SavedRest {
    SavedRest {
        reader: "阿达".into(),
        run_id: "run-7".into(),
        cwd: "/home/ada/文書".into(),
        before: vec!["notes.say('一')".into()],
        behind: vec!["notes.say(<<END)\nline\nEND".into(), "notes.say(stdin)".into()],
        stdin: Some(Bytes::from_static("text 二\n".as_bytes())),
        earlier: 2,
    }
}

fn opens() -> Vec<SavedOpen> {
    let args = ["一つ.txt", "with space", "it's \"quoted\"", "--flag=", ""];
    vec![
        SavedOpen {
            args: args.map(Into::into).to_vec(),
            cwd: "/home/ada/文書".into(),
            env: vec![("PATH".into(), "/bin".into()), ("EMPTY".into(), String::new())],
            granted: Vec::new(),
            passed: Vec::new(),
        },
        SavedOpen::default(),
    ]
}

fn passed_opens() -> Vec<SavedOpen> {
    let passed = vec!["GITHUB_TOKEN".into(), "トークン".into()];
    vec![SavedOpen { passed, ..SavedOpen::default() }]
}

fn full_round() -> SavedRound {
    SavedRound {
        number: 7,
        unix_ms: 1_765_360_000_123,
        reader: "阿达".into(),
        action: "notes.say('一\"二\"')".into(),
        result: "said 一\"二\"".into(),
        detail: Some("first line\n\tsecond 'line'\n".into()),
        exit: 3,
        sessions: vec!["notes/main".into(), "other/二".into()],
        ..SavedRound::default()
    }
}

fn plain_round() -> SavedRound {
    SavedRound {
        number: 8,
        unix_ms: 1_765_360_000_456,
        reader: String::new(),
        action: "click".into(),
        result: String::new(),
        detail: None,
        exit: 0,
        sessions: Vec::new(),
        ..SavedRound::default()
    }
}

fn anchors() -> Vec<SavedAnchor> {
    vec![
        SavedAnchor {
            id: 811,
            workspace: Some(KEY.into()),
            session: "notes/main".into(),
            target: SavedTarget::Object { key: "k1".into() },
            rev: 1,
            ty: Some("note".into()),
            label: "k1 r1".into(),
            key_form: None,
        },
        SavedAnchor {
            id: 812,
            workspace: Some(KEY.into()),
            session: "notes/main".into(),
            target: SavedTarget::Action {
                action: "pick".into(),
                args: Bytes::from_static(&[0x80]),
                code: None,
            },
            rev: 0,
            ty: None,
            label: "pick".into(),
            key_form: None,
        },
        SavedAnchor { id: 813, ..plain_anchor() },
    ]
}

/// A running job with everything optional.
fn running_job() -> SavedJob {
    SavedJob {
        number: 21,
        workspace: Some(KEY.into()),
        session: "notes/main".into(),
        key: "ビルド-1".into(),
        named: false,
        brief: "cargo test".into(),
        started_in: KEY.into(),
        reader: "阿达".into(),
        started_ms: 1_765_360_000_123,
        sleeps: true,
        end: None,
        readers: vec![(KEY.into(), "b".into()), (KEY.into(), "阿达".into())],
    }
}

/// A job of a shared session that has ended.
fn ended_job() -> SavedJob {
    SavedJob {
        number: 20,
        session: "shared/main".into(),
        key: "j".into(),
        end: Some(SavedJobEnd {
            state: "failed".into(),
            ended_ms: 1_765_360_000_456,
            result: "2 failed".into(),
            output: Bytes::from_static(&[0x1b, 0xff]),
            dropped: u64::from(u32::MAX) + 8,
        }),
        readers: vec![(KEY.into(), "b".into())],
        ..SavedJob::default()
    }
}

/// A job that readers know by its key.
fn named_job() -> SavedJob {
    SavedJob { number: 22, named: true, ..ended_job() }
}

/// The link that cancels a job.
fn cancel_anchor() -> SavedAnchor {
    SavedAnchor {
        id: 5,
        target: SavedTarget::CancelJob { job: 21 },
        rev: 0,
        label: "cancel".into(),
        ..plain_anchor()
    }
}

/// Anchors whose refs are shown with their keys.
fn keyed_anchors() -> Vec<SavedAnchor> {
    let keyed = |id, session: &str, form| SavedAnchor {
        id,
        session: session.into(),
        key_form: Some(form),
        ..plain_anchor()
    };
    vec![keyed(1, "shared/main", KeyForm::Plain), keyed(2, "shared/other", KeyForm::WithSession)]
}

/// An anchor of a shared session with everything optional left out.
fn plain_anchor() -> SavedAnchor {
    SavedAnchor {
        id: 1,
        workspace: None,
        session: "shared/main".into(),
        target: SavedTarget::Object { key: "[キー](obj:1)\n'\"".into() },
        rev: u64::MAX,
        ty: None,
        label: "[鍵] r1".into(),
        key_form: None,
    }
}
