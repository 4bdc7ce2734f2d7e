//! Messages between client and daemon.

use bytes::Bytes;
use pipemux_proto::client::*;
use pipemux_proto::consent::{ConsentArgs, ConsentDecision, PersonChannel};
use pipemux_proto::context::*;
use pipemux_proto::job::{JobState, JobStatus};
use pipemux_proto::pause::{PauseArgs, PauseScope};
use pipemux_proto::projection::Lod;
use pipemux_proto::report::*;
use pipemux_proto::watch::*;
use pipemux_proto::{Envelope, Fault, Frame, Incarnation, Kind, Method, SessionAddr, Value};

use super::{Sample, add};

pub fn samples(all: &mut Vec<Sample>) {
    verbs(all);
    answers(all);
}

fn verbs(all: &mut Vec<Sample>) {
    let session = || -> SessionAddr { "editor/main".parse().expect("a session") };
    let open = OpenArgs {
        provider: "editor".parse().expect("a provider"),
        session: Some("main".parse().expect("a session")),
        args: vec!["a.rs".into()],
        cwd: "/work".into(),
        env: [("PATH".to_owned(), "/bin".to_owned())].into(),
        pin: None,
        priority: None,
        weight: None,
    };
    let added = NewProvider {
        file: "/home/me/arena.toml".into(),
        text: "id = \"arena\"\n".into(),
        replace: true,
        path: "/bin".into(),
    };
    let verbs = [
        ("open-pin", Verb::Open(OpenArgs { pin: Some(true), ..open.clone() })),
        (
            "open-ranked",
            Verb::Open(OpenArgs { priority: Some(-3), weight: Some(2), ..open.clone() }),
        ),
        ("open", Verb::Open(open)),
        ("view", Verb::View(ViewArgs::default())),
        (
            "view-one",
            Verb::View(ViewArgs {
                session: Some(session()),
                since: Some(4),
                ..ViewArgs::default()
            }),
        ),
        (
            "view-open",
            Verb::View(ViewArgs { session: Some(session()), open: true, ..ViewArgs::default() }),
        ),
        ("view-wait", Verb::View(ViewArgs { wait_ms: 5_000, ..ViewArgs::default() })),
        (
            "view-inject",
            Verb::View(ViewArgs { inject: Some(Inject { reset: true }), ..ViewArgs::default() }),
        ),
        (
            "view-held",
            Verb::View(ViewArgs {
                held: ["memotree/main=2.0.6".parse().unwrap(), "planner".parse().unwrap()].into(),
                ..ViewArgs::default()
            }),
        ),
        ("click", Verb::Click { link: "link:15".into() }),
        ("run", Verb::Run { code: "editor.save()".into(), stdin: None, only_queries: false }),
        (
            "run-stdin",
            Verb::Run {
                code: "f(stdin)".into(),
                stdin: Some(Bytes::from_static(b"x\n")),
                only_queries: false,
            },
        ),
        ("ask", Verb::Run { code: "find('a')".into(), stdin: None, only_queries: true }),
        ("answer", Verb::Answer { text: "1,3".into(), to: None, stdin: None }),
        ("answer-to", Verb::Answer { text: "all".into(), to: Some(66), stdin: None }),
        (
            "answer-stdin",
            Verb::Answer { text: "-".into(), to: None, stdin: Some(Bytes::from_static(b"text\n")) },
        ),
        ("read", Verb::Read { target: "obj:12".into() }),
        ("resolve", Verb::Resolve { text: "see [[MT:Node:plan]]".into(), run: false }),
        ("resolve-run", Verb::Resolve { text: "[[MT:Node:plan]]".into(), run: true }),
        (
            "help",
            Verb::Help {
                provider: "editor".parse().expect("a provider"),
                aliases: false,
                action: None,
            },
        ),
        (
            "aliases",
            Verb::Help {
                provider: "editor".parse().expect("a provider"),
                aliases: true,
                action: None,
            },
        ),
        (
            "help-action",
            Verb::Help {
                provider: "editor".parse().expect("a provider"),
                aliases: false,
                action: Some("find".into()),
            },
        ),
        ("close", Verb::Close { session: session(), end: true }),
        ("apps", Verb::Apps),
        (
            "history",
            Verb::History(HistoryArgs { detail: true, rounds: Some(5), ..HistoryArgs::default() }),
        ),
        (
            "history-of-file",
            Verb::History(HistoryArgs {
                since_ms: Some(1_767_225_600_000),
                all: true,
                file: Some("/p/a.rs".into()),
                clock: vec![ClockOffset { from_s: 1_761_440_400, ahead_s: 3600 }],
                ..HistoryArgs::default()
            }),
        ),
        ("set", Verb::Set { option: Some("epoch".into()), value: Some("strict".into()) }),
        ("sessions", Verb::Sessions),
        ("trace", Verb::Trace { session: session(), lines: 50, after: Some(412), wait_ms: 5_000 }),
        ("logs", Verb::Logs { session: session(), lines: 50, after: None, wait_ms: 0 }),
        (
            "logs-follow",
            Verb::Logs { session: session(), lines: 50, after: Some(412), wait_ms: 5_000 },
        ),
        ("undo", Verb::Undo { round: None }),
        ("undo-round", Verb::Undo { round: Some(12) }),
        ("limits", Verb::Limits),
        ("watch", Verb::Watch(WatchArgs::default())),
        (
            "watch-after",
            Verb::Watch(WatchArgs { after: Some(12), life: 3, wait_ms: 5_000, all: true }),
        ),
        ("providers", Verb::Providers(ProvidersArgs::default())),
        ("consents", Verb::Consent(ConsentArgs::default())),
        (
            "consent-allow",
            Verb::Consent(ConsentArgs {
                number: Some(3),
                decision: Some(ConsentDecision::Allow),
                by: Some(PersonChannel::Terminal),
            }),
        ),
        ("providers-add", Verb::Providers(ProvidersArgs { add: Some(added), remove: None })),
        (
            "providers-remove",
            Verb::Providers(ProvidersArgs {
                add: None,
                remove: Some("arena".parse().expect("a provider")),
            }),
        ),
        (
            "pause",
            Verb::Pause(PauseArgs {
                scope: PauseScope::Reader("reviewer".into()),
                on: true,
                by: Some(PersonChannel::Terminal),
                clock: vec![ClockOffset { from_s: 0, ahead_s: 3600 }],
            }),
        ),
        (
            "resume",
            Verb::Pause(PauseArgs {
                scope: PauseScope::All,
                on: false,
                by: Some(PersonChannel::Terminal),
                clock: Vec::new(),
            }),
        ),
        ("restart", Verb::Restart { session: session() }),
        ("end", Verb::End { session: session() }),
        ("status", Verb::Status),
        ("down", Verb::Down),
    ];
    for (name, verb) in verbs {
        let plain = matches!(verb, Verb::Apps);
        let call = VerbRequest {
            workspace: Workspace { key: "/work".into(), name: "work".into() },
            reader: "default".into(),
            reader_token: String::new(),
            run_id: "r-1".into(),
            format: if plain { Format::Json } else { Format::Markdown },
            budget: plain.then_some(300),
            lod: plain.then_some(Lod::Full),
            at: plain.then_some(17),
            client: String::new(),
            hint_options: String::new(),
            env: std::collections::BTreeMap::new(),
            diff: 0,
            wait_ms: 0,
            titles: plain,
            cwd: String::new(),
            verb,
        };
        add(all, &format!("verb-{name}"), (Kind::Request, Method::Verb), &call);
        if plain {
            let call = VerbRequest { reader_token: "k3y".into(), ..call };
            let named = VerbRequest { client: "mcp claude-code".into(), ..call.clone() };
            add(all, "verb-client", (Kind::Request, Method::Verb), &named);
            let waits = VerbRequest { wait_ms: 30_000, ..call.clone() };
            add(all, "verb-wait", (Kind::Request, Method::Verb), &waits);
            add(all, "verb-with-token", (Kind::Request, Method::Verb), &call);
        }
    }
    add(all, "seen", (Kind::Request, Method::Seen), &DeliveryAck { delivery: 41 });
    add(all, "seen-last", (Kind::Event, Method::Seen), &DeliveryAck { delivery: 41 });
    let workspace = Workspace { key: "/work".into(), name: "work".into() };
    let attach = Attach { workspace, session: session() };
    add(all, "attach", (Kind::Request, Method::Attach), &attach);
    let attached = Attached { incarnation: Incarnation(7) };
    add(all, "attached", (Kind::Reply, Method::Attach), &attached);
    exchanges(all);
}

/// Bodies of exchanges are passed on as they are, without being decoded.
fn exchanges(all: &mut Vec<Sample>) {
    let asked = Envelope {
        deadline_ms: 30_000,
        ..Envelope::request(Method::Exchange, 300, Incarnation(7))
    };
    let passed_on = Envelope { id: 1 << 63 | 5, ..asked };
    let answered = asked.answer(Kind::Reply);
    for (name, envelope, body) in [
        ("exchange", asked, &[0xc1, 0xff, 0x00, b'x'][..]),
        ("exchange-passed-on", passed_on, &[0xc1, 0xff, 0x00, b'x'][..]),
        ("exchange-answered", answered, &[][..]),
    ] {
        let bytes = Frame::forward(&envelope, body).expect("it fits").to_vec();
        let head = Frame::head(&envelope, body.len()).expect("it fits");
        assert_eq!([&head[..], body].concat(), bytes);
        let reencode = |frame: &Frame| {
            let bytes = Frame::forward(&frame.envelope, &frame.body);
            bytes.map(|bytes| bytes.to_vec()).map_err(|error| error.to_string())
        };
        all.push(Sample { name: name.to_owned(), envelope, bytes, reencode });
    }
}

fn answers(all: &mut Vec<Sample>) {
    let bodies = [
        ("text", Body::Text("done\n".into())),
        ("raw", Body::Raw(Bytes::from_static(&[0, 159, 146]))),
        ("data", Body::Data(Value::List(vec!["closed".into()]))),
        ("report", Body::Report(Box::new(report()))),
        ("report-option-detail", Body::Report(Box::new(report_with_detail()))),
        ("report-broken", Body::Report(Box::new(broken()))),
        ("report-media", Body::Report(Box::new(with_media()))),
        ("report-input", Body::Report(Box::new(with_input()))),
        ("report-questions", Body::Report(Box::new(questions()))),
        ("report-clicked", Body::Report(Box::new(clicked()))),
        ("report-content", Body::Report(Box::new(with_content()))),
        ("report-jobs", Body::Report(Box::new(with_jobs()))),
        ("events-jobs", Body::Events(job_events())),
        ("report-held", Body::Report(Box::new(with_held()))),
        ("report-panels", Body::Report(Box::new(with_panels()))),
        ("report-kept", Body::Report(Box::new(with_kept()))),
        ("events", Body::Events(events())),
        ("events-exits", Body::Events(exits())),
        ("log", Body::Log(LogPart { text: "x\n".into(), next: 414, missed: 7 })),
    ];
    for (name, body) in bodies {
        let answer = Answer { exit: 5, body, delivery: 41, error: false };
        add(all, &format!("answer-{name}"), (Kind::Reply, Method::Verb), &answer);
    }
    let body = Body::Text("not found · no app editr\n".into());
    let error = Answer { exit: 3, body, delivery: 0, error: true };
    add(all, "answer-error", (Kind::Reply, Method::Verb), &error);
}

/// One event of each kind.
fn events() -> Events {
    let kinds = [
        EventKind::Act,
        EventKind::Changed,
        EventKind::Opened,
        EventKind::Closed,
        EventKind::Started,
        EventKind::Crashed,
        EventKind::Restarted,
        EventKind::Failed,
        EventKind::Ended,
        EventKind::Hibernated,
        EventKind::Asked,
        EventKind::Answered,
        EventKind::Notice,
        EventKind::Providers,
        EventKind::Other,
    ];
    let told = |(at, what): (usize, &EventKind)| WorkspaceEvent {
        number: 13 + at as u64,
        at: "2025-12-10T10:00:00Z".into(),
        what: *what,
        workspace: (at == 0).then(|| "work".into()),
        session: (at < 4).then(|| "editor/main".into()),
        reader: (at == 0).then(|| "default".into()),
        text: "editor.save() → save done".into(),
        process_exit: None,
        run_exit: None,
        job: None,
    };
    let events = kinds.iter().enumerate().map(told).collect();
    Events { life: 3, last: 27, dropped: 12, events }
}

/// A failed run and one process for each way to end.
fn exits() -> Events {
    let process = |code, signal, limit| Some(ProcessExit { code, signal, limit });
    let told = [
        (EventKind::Act, None, Some(4)),
        (EventKind::Ended, process(Some(0), None, None), None),
        (EventKind::Crashed, process(None, Some(11), None), None),
        (EventKind::Crashed, process(None, Some(24), Some(ProcessLimit::Cpu)), None),
        (EventKind::Crashed, process(Some(1), None, Some(ProcessLimit::Memory)), None),
        (EventKind::Failed, process(None, None, Some(ProcessLimit::Processes)), None),
        (EventKind::Crashed, process(None, None, Some(ProcessLimit::Other)), None),
        (EventKind::Crashed, process(None, None, None), None),
    ];
    let occurrence = |(at, (what, process_exit, run_exit))| WorkspaceEvent {
        number: 13 + at as u64,
        at: "2025-12-10T10:00:00Z".into(),
        what,
        workspace: Some("work".into()),
        session: Some("editor/main".into()),
        reader: None,
        text: "editor/main ended".into(),
        process_exit,
        run_exit,
        job: None,
    };
    let events = told.into_iter().enumerate().map(occurrence).collect();
    Events { life: 3, last: 20, dropped: 0, events }
}

/// A report whose question has an option with a detail.
fn report_with_detail() -> Report {
    let mut report = report();
    for option in report.question.iter_mut().flat_map(|question| &mut question.options) {
        option.detail = "let x = 1;".into();
    }
    report
}

/// A job in each state.
fn jobs() -> Vec<JobStatus> {
    use JobState::{Cancelled, Done, Failed, Lost, Running};
    let job = |state| JobStatus {
        number: 3,
        name: None,
        session: "term/main".into(),
        brief: "cargo test".into(),
        state,
        text: "compiling".into(),
        done: 3,
        total: 300,
        result: if state == Running { String::new() } else { "12 passed".into() },
        ms: 8_400,
        cancel: (state == Running).then(|| "link:9".into()),
    };
    [Running, Done, Failed, Cancelled, Lost].map(job).to_vec()
}

fn with_jobs() -> Report {
    let mut report = clicked();
    report.steps[0].job = Some(3);
    Report { jobs: jobs(), ..report }
}

fn job_events() -> Events {
    let told = |(at, job): (usize, JobStatus)| WorkspaceEvent {
        number: 13 + at as u64,
        at: "2025-12-10T10:00:00Z".into(),
        what: EventKind::Job,
        workspace: Some("work".into()),
        session: Some("term/main".into()),
        reader: None,
        text: "job 3".into(),
        process_exit: None,
        run_exit: None,
        job: Some(job),
    };
    let events = jobs().into_iter().enumerate().map(told).collect();
    Events { life: 3, last: 20, dropped: 0, events }
}

fn with_kept() -> Report {
    let kept = KeptReport {
        id: 3,
        steps: vec!["editor.save()".into()],
        stdin: Some(4_600),
        hints: vec!["pipemux answer none".into()],
    };
    Report { kept: Some(kept), ..Report::default() }
}

fn with_held() -> Report {
    let held = |(change, version): (_, Option<&str>)| HeldReport {
        window: "memotree/main".into(),
        change,
        version: version.map(str::to_owned),
        error: version.is_none().then(|| Fault::unavailable("no room for all of it")),
    };
    let changes = [
        (HeldChange::Unchanged, Some("2.0.6")),
        (HeldChange::Changed, Some("3.0.0")),
        (HeldChange::Whole, Some("3.1.0")),
        (HeldChange::Lost, None),
    ];
    let receipt = TokenReceipt { shown: 69, available: 6912, same: 40 };
    Report { held: changes.map(held).into(), receipt, ..Report::default() }
}

fn with_panels() -> Report {
    let views = ("views".to_owned(), "## pipemux/views\n- editor/main · 2 files\n".to_owned());
    Report { panels: [views].into(), ..Report::default() }
}

fn with_content() -> Report {
    let mut report = clicked();
    report.steps[0].content = "src/a.rs: 2 lines as before\n".into();
    report
}

fn clicked() -> Report {
    let step = StepReport {
        call: "link:9".into(),
        clicked: Some("\"undo\" of editor/main".into()),
        status: StepStatus::Done,
        brief: "replace undone".into(),
        detail: None,
        content: String::new(),
        value: None,
        job: None,
        error: None,
    };
    Report { steps: vec![step], ..Report::default() }
}

fn report() -> Report {
    let statuses = [
        StepStatus::Done,
        StepStatus::Failed,
        StepStatus::Needs,
        StepStatus::Skipped,
        StepStatus::Unknown,
    ];
    let step = |status| StepReport {
        call: "editor.save()".into(),
        clicked: None,
        status,
        brief: "saved".into(),
        detail: Some("412 lines".into()),
        content: String::new(),
        value: Some(Value::Int(412)),
        job: None,
        error: (status == StepStatus::Failed).then(|| Fault::failed("disk full")),
    };
    Report {
        workspace: "work".into(),
        epoch: 17,
        steps: statuses.map(step).to_vec(),
        question: Some(QuestionReport {
            level: pipemux_proto::Level::Choice,
            id: 66,
            text: "3 matches".into(),
            options: vec![AnswerOption {
                label: "line 2".into(),
                detail: String::new(),
                link: "link:9".into(),
            }],
            unlisted: 1,
            hints: vec!["pipemux answer all".into()],
            ..QuestionReport::default()
        }),
        questions: Vec::new(),
        kept: None,
        windows: vec![window()],
        held: Vec::new(),
        panels: Default::default(),
        jobs: Vec::new(),
        notices: vec!["editor/main was restarted".into()],
        error: Some(Fault::not_found("no window")),
        receipt: TokenReceipt { shown: 69, available: 6912, same: 0 },
    }
}

/// A report with several open questions.
fn questions() -> Report {
    let Report { question, .. } = report();
    let questions: Vec<QuestionReport> = question.clone().into_iter().cycle().take(2).collect();
    Report { workspace: "work".into(), question, questions, ..Report::default() }
}

/// A report whose window can't be shown.
fn with_media() -> Report {
    let (width, height) = (Some(640), Some(480));
    let media_type = "image/png".to_owned();
    let media = AnchorMedia { media_type, bytes: 31_000, width, height, duration_ms: None };
    let mut shown = window();
    for anchor in shown.anchors.values_mut() {
        anchor.media = (anchor.ty == AnchorType::Reference).then(|| media.clone());
    }
    Report { workspace: "work".into(), windows: vec![shown], ..Report::default() }
}

/// A report of a window whose action takes what a person types.
fn with_input() -> Report {
    let mut shown = window();
    for anchor in shown.anchors.values_mut() {
        anchor.input = anchor.ty == AnchorType::Form;
    }
    Report { workspace: "work".into(), windows: vec![shown], ..Report::default() }
}

fn broken() -> Report {
    let fault = Fault::invalid_source_data("a.db is not a SQLite file; it was left as it is");
    let broken = Context {
        content: "InvalidSourceData · a.db is not a SQLite file; it was left as it is\n".into(),
        anchors: Default::default(),
        history: None,
        errors: vec![fault],
        ..window()
    };
    Report { workspace: "work".into(), windows: vec![broken], ..Report::default() }
}

fn window() -> Context {
    let anchor = |ty, params: &[&str], target: Option<&str>| AnchorInfo {
        ty,
        params: params.iter().map(|param| (*param).to_owned()).collect(),
        target: target.map(str::to_owned),
        media: None,
        input: false,
    };
    Context {
        header: ContextHeader {
            app_id: "editor".into(),
            session_id: "main".into(),
            version: ContextVersion { major: 3, minor: 1, patch: 2 },
            timestamp: "2025-12-10T10:00:00Z".into(),
        },
        state: ViewState {
            current_lod: LodLevel::Summary,
            focus_id: Some("obj:3".into()),
            custom: Some([("unsaved".to_owned(), Value::Bool(true))].into()),
        },
        content: "## editor/main\n".into(),
        anchors: [
            ("link:4".to_owned(), anchor(AnchorType::Button, &[], Some("obj:3"))),
            ("link:5".to_owned(), anchor(AnchorType::Form, &["text"], None)),
            ("obj:3".to_owned(), anchor(AnchorType::Reference, &[], None)),
        ]
        .into(),
        history: Some(vec![HistoryRound {
            number: None,
            action: "editor.save()".into(),
            result: "saved".into(),
            timestamp: "2025-12-10T10:00:00Z".into(),
        }]),
        errors: Vec::new(),
    }
}
