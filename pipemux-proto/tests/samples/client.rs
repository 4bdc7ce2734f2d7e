//! Client and daemon.

use bytes::Bytes;
use pipemux_proto::client::*;
use pipemux_proto::context::*;
use pipemux_proto::projection::Lod;
use pipemux_proto::report::*;
use pipemux_proto::{Fault, Kind, Method, SessionAddr, Value};

use super::{Sample, add};

pub fn samples(all: &mut Vec<Sample>) {
    verbs(all);
    answers(all);
}

fn verbs(all: &mut Vec<Sample>) {
    let session = || -> SessionAddr { "editor/main".parse().expect("a session") };
    let open = Open {
        provider: "editor".parse().expect("a provider"),
        session: Some("main".parse().expect("a session")),
        args: vec!["a.rs".into()],
        cwd: "/work".into(),
        env: [("PATH".to_owned(), "/bin".to_owned())].into(),
    };
    let verbs = [
        ("open", Verb::Open(open)),
        ("view", Verb::View(View::default())),
        ("view-one", Verb::View(View { session: Some(session()), since: Some(4) })),
        ("click", Verb::Click { link: "link:15".into() }),
        ("run", Verb::Run { code: "editor.save()".into(), stdin: None }),
        (
            "run-stdin",
            Verb::Run { code: "f(stdin)".into(), stdin: Some(Bytes::from_static(b"x\n")) },
        ),
        ("answer", Verb::Answer { text: "1,3".into(), to: None }),
        ("answer-to", Verb::Answer { text: "all".into(), to: Some(66) }),
        ("read", Verb::Read { target: "obj:12".into() }),
        ("help", Verb::Help { provider: "editor".parse().expect("a provider") }),
        ("close", Verb::Close { session: session(), end: true }),
        ("apps", Verb::Apps),
        ("history", Verb::History { detail: true, rounds: Some(5) }),
        ("set", Verb::Set { option: Some("epoch".into()), value: Some("strict".into()) }),
        ("sessions", Verb::Sessions),
        ("logs", Verb::Logs { session: session(), lines: 50 }),
        ("restart", Verb::Restart { session: session() }),
        ("end", Verb::End { session: session() }),
        ("status", Verb::Status),
        ("down", Verb::Down),
    ];
    for (name, verb) in verbs {
        let plain = matches!(verb, Verb::Apps);
        let call = Call {
            workspace: Workspace { key: "/work".into(), name: "work".into() },
            reader: "default".into(),
            run_id: "r-1".into(),
            format: if plain { Format::Json } else { Format::Markdown },
            budget: plain.then_some(300),
            lod: plain.then_some(Lod::Full),
            at: plain.then_some(17),
            titles: plain,

            cwd: String::new(),
            verb,
        };
        add(all, &format!("verb-{name}"), (Kind::Request, Method::Verb), &call);
    }
    add(all, "seen", (Kind::Request, Method::Seen), &Seen { delivery: 41 });
}

fn answers(all: &mut Vec<Sample>) {
    let bodies = [
        ("text", Body::Text("done\n".into())),
        ("raw", Body::Raw(Bytes::from_static(&[0, 159, 146]))),
        ("data", Body::Data(Value::List(vec!["closed".into()]))),
        ("report", Body::Report(Box::new(report()))),
    ];
    for (name, body) in bodies {
        let answer = Answer { exit: 5, body, delivery: 41 };
        add(all, &format!("answer-{name}"), (Kind::Reply, Method::Verb), &answer);
    }
}

fn report() -> Report {
    let statuses = [Status::Done, Status::Failed, Status::Needs, Status::Skipped, Status::Unknown];
    let step = |status| Step {
        call: "editor.save()".into(),
        status,
        brief: "saved".into(),
        detail: Some("412 lines".into()),
        value: Some(Value::Int(412)),
        error: (status == Status::Failed).then(|| Fault::failed("disk full")),
    };
    Report {
        workspace: "work".into(),
        epoch: 17,
        steps: statuses.map(step).to_vec(),
        question: Some(Asked {
            level: pipemux_proto::Level::Choice,
            id: 66,
            text: "3 matches".into(),
            options: vec![AnswerOption { label: "line 2".into(), link: "link:9".into() }],
            unlisted: 1,
            hints: vec!["pipemux answer all".into()],
        }),
        windows: vec![window()],
        notices: vec!["editor/main was restarted".into()],
        error: Some(Fault::not_found("no window")),
        receipt: Receipt { shown: 69, available: 6912 },
    }
}

fn window() -> Context {
    let anchor = |ty, params: &[&str], target: Option<&str>| AnchorInfo {
        ty,
        params: params.iter().map(|param| (*param).to_owned()).collect(),
        target: target.map(str::to_owned),
    };
    Context {
        header: Header {
            app_id: "editor".into(),
            session_id: "main".into(),
            version: ContextVersion { major: 3, minor: 1, patch: 2 },
            timestamp: "2025-12-10T10:00:00Z".into(),
        },
        state: State {
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
        history: Some(vec![Round {
            action: "editor.save()".into(),
            result: "saved".into(),
            timestamp: "2025-12-10T10:00:00Z".into(),
        }]),
    }
}
