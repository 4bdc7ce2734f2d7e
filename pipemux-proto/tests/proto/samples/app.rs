//! Messages between daemon and app.

use bytes::Bytes;
use pipemux_proto::app::*;
use pipemux_proto::consent::ConsentRequest;
use pipemux_proto::job::{CancelJob, JobEnd, JobReport, Started};
use pipemux_proto::projection::*;
use pipemux_proto::{Blob, Fault, Kind, LineNumbers, LineRun, Method, Value};

use super::{Sample, add};

pub fn samples(all: &mut Vec<Sample>) {
    opens(all);
    projections(all);
    invokes(all);
    outcomes(all);
    look_ups(all);
    events(all);
}

fn opens(all: &mut Vec<Sample>) {
    let open = OpenRequest {
        session: "editor/main".parse().expect("a session"),
        attach: true,
        again: true,
        args: vec!["src/文.rs".into()],
        cwd: "/work".into(),
        env: [("LANG".to_owned(), "C".to_owned())].into(),
        state_dir: "/state/editor/main".into(),
        woken: None,
        due: false,
        jobs: Vec::new(),
    };
    add(all, "app-open", (Kind::Request, Method::AppOpen), &open);
    let jobs = OpenRequest { jobs: vec!["test-1".into()], ..open.clone() };
    add(all, "app-open-jobs", (Kind::Request, Method::AppOpen), &jobs);
    let woken = OpenRequest { woken: Some(70_000), ..open };
    add(all, "app-open-woken", (Kind::Request, Method::AppOpen), &woken);
    let due = OpenRequest { due: true, ..woken };
    add(all, "app-open-due", (Kind::Request, Method::AppOpen), &due);
    let opened = Opened { notes: vec!["restored 1 unsaved edit".into()], ..Opened::default() };
    add(all, "app-opened", (Kind::Reply, Method::AppOpen), &opened);
    let resumed = Opened { resumed: Some(70_000), ..Opened::default() };
    add(all, "app-opened-resumed", (Kind::Reply, Method::AppOpen), &resumed);
    let jobs = Opened { jobs: vec!["test-1".into()], ..Opened::default() };
    add(all, "app-opened-jobs", (Kind::Reply, Method::AppOpen), &jobs);
    let saved = Saved { version: Some(70_000), wake_at: None };
    add(all, "saved", (Kind::Reply, Method::Save), &saved);
    let until = Saved { wake_at: Some(1_800_000_000_000), ..saved };
    add(all, "saved-wake-at", (Kind::Reply, Method::Save), &until);
}

fn projections(all: &mut Vec<Sample>) {
    for (name, lod) in [("gist", Lod::Gist), ("summary", Lod::Summary), ("full", Lod::Full)] {
        let known_version = (lod == Lod::Full).then_some(9);
        let reader = String::new();
        let project = Project { window: 3, lod, budget: 1500, known_version, reader };
        add(all, &format!("project-{name}"), (Kind::Request, Method::Project), &project);
    }
    let reader = "agent".to_owned();
    let budget = 1500;
    let project = Project { window: 3, lod: Lod::Summary, budget, known_version: None, reader };
    add(all, "project-reader", (Kind::Request, Method::Project), &project);
    let reply = (Kind::Reply, Method::Project);
    let unchanged = Projection { version: 9, unchanged: true, ..Projection::default() };
    add(all, "projection-unchanged", reply, &unchanged);
    let object = ObjectSlot {
        key: "k1".into(),
        rev: 2,
        ty: Some("note".into()),
        label: "One".into(),
        ..ObjectSlot::default()
    };
    let link = LinkSlot {
        label: "edit".into(),
        action: "edit".into(),
        args: args(),
        titled: true,
        code: None,
        lasting: false,
    };
    let custom = [
        ("null", Value::Null),
        ("bool", Value::Bool(true)),
        ("int", Value::Int(-40_000)),
        ("float", Value::Float(1.5)),
        ("str", "grüße".into()),
        ("bin", Value::Bin(Bytes::from_static(&[0, 255]))),
        ("list", Value::List(vec![1.into(), "two".into()])),
        ("map", Value::Map(vec![("b".into(), 1.into()), ("a".into(), Value::Int(i64::MIN))])),
    ];
    let projection = Projection {
        version: 70_000,
        unchanged: false,
        title: "2 of 14 notes".into(),
        document: None,
        nav: vec![link.clone()],
        content: vec![
            Piece::Text("text ".into()),
            Piece::Object(object.clone()),
            Piece::Link(link),
            Piece::Code(CodePiece {
                lang: "rust".into(),
                text: "fn f()\n".into(),
                first: Some(40),
                lines: Vec::new(),
            }),
        ],
        position: Some("lines 40-40".into()),
        actions: Some(vec!["edit".into()]),
        names: [("selection".to_owned(), object)].into(),
        focus: Some("k1".into()),
        custom: custom.map(|(name, value)| (name.to_owned(), value)).into(),
        numbers: Vec::new(),
        hidden_tokens: 5_000_000_000,
    };
    add(all, "projection", reply, &projection);
    let detail = "pid 4711".into();
    let twin = ObjectSlot { key: "p1".into(), label: "rustc".into(), detail, ..Default::default() };
    let told_apart =
        Projection { version: 70_002, content: vec![Piece::Object(twin)], ..Default::default() };
    add(all, "projection-detail", reply, &told_apart);
    let media = Media {
        media_type: "image/png".into(),
        bytes: 31_000,
        width: Some(640),
        height: Some(480),
        duration_ms: None,
    };
    let sound =
        Media { media_type: "audio/wav".into(), duration_ms: Some(90_500), ..media.clone() };
    let slot = |key: &str, media| {
        let (key, label) = (key.to_owned(), key.to_owned());
        Piece::Object(ObjectSlot { key, label, media: Some(media), ..Default::default() })
    };
    let content = vec![slot("diagram", media), slot("sound", sound)];
    let with_media = Projection { version: 70_003, content, ..Default::default() };
    add(all, "projection-media", reply, &with_media);
    let embed = |session: &str, lod, budget| {
        Piece::Embed(EmbedSlot { session: session.into(), lod, budget })
    };
    let content = vec![
        embed("monitor/main", Lod::Gist, 120),
        Piece::Text("own text\n".into()),
        embed("notebook/main", Lod::default(), 0),
    ];
    let embedding = Projection { version: 70_004, content, ..Default::default() };
    add(all, "projection-embed", reply, &embedding);
    let lasting = LinkSlot { label: "undo".into(), lasting: true, ..no_link() };
    let with_link = Projection { version: 70_002, nav: vec![lasting], ..Projection::default() };
    add(all, "projection-lasting-link", reply, &with_link);
    let document = Some("src/文.rs".into());
    let of_document = Projection { version: 70_001, document, ..Projection::default() };
    add(all, "projection-document", reply, &of_document);
    let lines = vec![LineRun { id: 1, count: 39 }, LineRun { id: 700, count: 1 }];
    let code =
        CodePiece { text: "fn f()\n".into(), first: Some(40), lines, ..CodePiece::default() };
    let numbered = Projection {
        version: 70_002,
        content: vec![Piece::Code(code)],
        numbers: numbers(),
        ..Projection::default()
    };
    add(all, "projection-numbers", reply, &numbered);
}

/// Numbers that were shown, that moved, that an earlier incarnation showed, that are retired.
fn numbers() -> Vec<LineNumbers> {
    let document = "src/文.rs".to_owned();
    let shown = LineNumbers { document, first: 1, last: 40, version: Some(70_002), was: None };
    let moved = LineNumbers { was: Some(43), ..shown.clone() };
    let lost = LineNumbers { version: Some(0), ..shown.clone() };
    let retired =
        LineNumbers { document: String::new(), first: 41, last: u64::MAX, ..Default::default() };
    vec![shown, moved, lost, retired]
}

/// One argument of each form.
fn args() -> Args {
    let found = RefArg { key: "k1".into(), rev: 2, ty: Some("note".into()) };
    let copied = Copied {
        value: Value::from("text").to_blob(),
        from: "editor/main".into(),
        label: "src/a.rs:1-3".into(),
        file: None,
    };
    let list = Arg::List(vec![Arg::from(Value::Int(7)), Arg::Ref(found.clone())]);
    [
        ("copied", Arg::Copied(copied)),
        ("list", list),
        ("ref", Arg::Ref(found)),
        ("value", Arg::from(Value::from("x"))),
    ]
    .map(|(name, arg)| (name.to_owned(), arg))
    .into()
}

/// An invoke with a value that is passed as a file.
fn with_file() -> Invoke {
    let copied = Copied {
        value: Value::Null.to_blob(),
        from: "editor/main".into(),
        label: "film.mp4".into(),
        file: Some("/s/sessions/o/notebook/main/values/1-2".into()),
    };
    let args = [("text".to_owned(), Arg::Copied(copied))].into();
    Invoke { action: "add".into(), args, reader: "agent".into(), ..Invoke::default() }
}

fn invokes(all: &mut Vec<Sample>) {
    add(all, "invoke-value-file", (Kind::Request, Method::Invoke), &with_file());
    let invoke = Invoke {
        action: "replace".into(),
        args: args(),
        seen_version: Some(12),
        seen_lost: false,
        numbers: Vec::new(),
        forgotten: false,
        cwd: String::new(),
        reader: "default".into(),
        run_id: "r-1".into(),
        confirmed: false,
        budget: 0,
        nested: false,
        consents: Vec::new(),
        changed_beside: Vec::new(),
        resume: None,
    };
    let request = (Kind::Request, Method::Invoke);
    add(all, "invoke", request, &invoke);
    let seen = Invoke { numbers: numbers(), forgotten: true, ..invoke.clone() };
    add(all, "invoke-numbers", request, &seen);
    add(all, "invoke-budget", request, &Invoke { budget: 2_000, ..invoke.clone() });
    add(all, "invoke-nested", request, &Invoke { nested: true, ..invoke.clone() });
    let consents = vec!["trust plan.toml sha256:1f".to_owned()];
    add(all, "invoke-consents", request, &Invoke { consents, ..invoke.clone() });
    let by = "round 5 (reviewer)".to_owned();
    let changed_beside = vec![ChangedBeside { by, files: vec!["/p/a.rs".into()], more_files: 2 }];
    add(all, "invoke-changed-beside", request, &Invoke { changed_beside, ..invoke.clone() });
    let choices = [
        ("picked", Choice::Picked(vec![1, 3])),
        ("all-but", Choice::AllBut(vec![2])),
        ("yes", Choice::Yes),
        ("text", Choice::Text("SessionId".into())),
    ];
    for (name, choice) in choices {
        let confirmed = choice == Choice::Yes;
        let token = Blob(Bytes::from_static(b"\x01token"));
        let resume = Some(Resume { token, choice });
        let resumed = Invoke { confirmed, resume, ..invoke.clone() };
        add(all, &format!("invoke-{name}"), request, &resumed);
    }
}

fn outcomes(all: &mut Vec<Sample>) {
    let reply = (Kind::Reply, Method::Invoke);
    let undo = LinkSlot { label: "undo".into(), action: "undo".into(), ..no_link() };
    let done = Done {
        brief: "2 of 3 matches".into(),
        detail: Some("lines 2 and 58".into()),
        value: Some(Value::Int(2).to_blob()),
        label: Some("src/a.rs".into()),
        version: 13,
        links: vec![undo],
        reverts: false,
        numbers: Vec::new(),
        content: Vec::new(),
        complete: false,
        diff: None,
        changed_files: Vec::new(),
        no_undo: None,
        ended_jobs: Vec::new(),
    };
    add(all, "outcome-done", reply, &Outcome::Done(done.clone()));
    let told = Done { numbers: numbers(), ..done.clone() };
    add(all, "outcome-done-numbers", reply, &Outcome::Done(told));
    let content = vec![Piece::Text("3 files: ".into())];
    let shown = Done { content, complete: true, ..done.clone() };
    add(all, "outcome-done-content", reply, &Outcome::Done(shown));
    let diff = Some("--- a.rs\n+++ a.rs\n@@ -2 +2 @@\n-one\n+two\n".into());
    add(all, "outcome-done-diff", reply, &Outcome::Done(Done { diff, ..done.clone() }));
    let ends = Done { ended_jobs: vec!["c2".into()], ..done.clone() };
    add(all, "outcome-done-ends", reply, &Outcome::Done(ends));
    let changed = Done { changed_files: vec!["/p/a.rs".into()], ..done.clone() };
    add(all, "outcome-done-changed", reply, &Outcome::Done(changed));
    let no_undo = Done { no_undo: Some("its commit stays".into()), ..done.clone() };
    add(all, "outcome-done-no-undo", reply, &Outcome::Done(no_undo));
    let reverts = Done { reverts: true, ..done };
    add(all, "outcome-done-reverts", reply, &Outcome::Done(reverts));
    let consent = ConsentRequest {
        key: "trust plan.toml sha256:1f".into(),
        what: "trust plan.toml".into(),
        shows: vec!["starts: sh say.sh".into()],
        for_ms: 60_000,
    };
    let needs_consent = Fault::refused("nobody has trusted plan.toml").needs_consent(consent);
    add(
        all,
        "outcome-needs-consent",
        (Kind::Reply, Method::Invoke),
        &Outcome::Failed(needs_consent),
    );
    let failed = Fault::stale("changed").about("k1").hint("changed by another client");
    let started = Started {
        job: "test-1".into(),
        brief: "cargo test".into(),
        version: 13,
        ..Default::default()
    };
    add(all, "outcome-started", reply, &Outcome::Started(started.clone()));
    let links = vec![LinkSlot { label: "show".into(), action: "show".into(), ..no_link() }];
    let started = Started { total: 300, links, sleeps: true, ..started };
    add(all, "outcome-started-sleeps", reply, &Outcome::Started(started.clone()));
    let started = Started { job: "c2".into(), named: true, complete: true, ..started };
    add(all, "outcome-started-named", reply, &Outcome::Started(started.clone()));
    let started = Started { ran_ms: 25_000, ended_jobs: vec!["c1".into()], ..started };
    add(all, "outcome-started-ran", reply, &Outcome::Started(started.clone()));
    let started = Started { fails_alone: true, ..started };
    add(all, "outcome-started-fails-alone", reply, &Outcome::Started(started.clone()));
    let started = Started { no_undo: Some("it went on as c2".into()), ..started };
    add(all, "outcome-started-no-undo", reply, &Outcome::Started(started));
    add(all, "outcome-failed", reply, &Outcome::Failed(failed.clone()));
    let excerpt = failed.numbers(numbers());
    add(all, "outcome-failed-numbers", reply, &Outcome::Failed(excerpt.clone()));
    let repeatable = excerpt.repeatable(true);
    add(all, "outcome-failed-repeatable", reply, &Outcome::Failed(repeatable));
    let kinds = [
        ("pick-one", QuestionKind::PickOne),
        ("pick-many", QuestionKind::PickMany),
        ("confirm", QuestionKind::Confirm),
        ("text", QuestionKind::Text),
    ];
    for (name, kind) in kinds {
        let options = vec![OptionItem { label: "line 2".into(), text: "use a;".into() }];
        let question = Question {
            text: "3 matches".into(),
            kind,
            options,
            unlisted: 2,
            ..Question::default()
        };
        let token = Blob(Bytes::from_static(b"\x01token"));
        let needs = Needs { question, token, numbers: Vec::new() };
        add(all, &format!("outcome-needs-{name}"), reply, &Outcome::Needs(needs));
    }
}

fn no_link() -> LinkSlot {
    LinkSlot { label: String::new(), action: String::new(), ..LinkSlot::default() }
}

fn look_ups(all: &mut Vec<Sample>) {
    let read = ReadRequest { key: "k1".into(), rev: 2, offset: 131_072, max: 131_072, path: false };
    add(all, "app-read", (Kind::Request, Method::AppRead), &read);
    let chunk = Chunk {
        data: Bytes::from_static("grü".as_bytes()),
        total: 131_076,
        text: true,
        path: None,
    };
    add(all, "app-chunk", (Kind::Reply, Method::AppRead), &chunk);
    let keys = ["k1", "k2", "k3", "k4"].map(str::to_owned).to_vec();
    add(
        all,
        "locate",
        (Kind::Request, Method::Locate),
        &Locate { keys: keys.clone(), ..Locate::default() },
    );
    let locate = Locate { keys, reader: "agent".into(), ..Locate::default() };
    add(all, "locate-reader", (Kind::Request, Method::Locate), &locate);
    let places = vec![
        KeyLocation::Shown,
        KeyLocation::Hidden("notebook.expand(entry=obj:3)".into()),
        KeyLocation::Gone(Some("removed by another client".into())),
        KeyLocation::Gone(None),
    ];
    add(all, "located", (Kind::Reply, Method::Locate), &Located { places, tokens: Vec::new() });
    let (ty, name) = ("Node".to_owned(), "plan".to_owned());
    let of_token = Locate {
        keys: vec![name.clone()],
        tokens: vec![TokenName { ty, name }],
        ..Locate::default()
    };
    add(all, "locate-tokens", (Kind::Request, Method::Locate), &of_token);
    let meaning = TokenMeaning {
        place: KeyLocation::Shown,
        title: "Release plan".into(),
        at: Some("in Roadmap".into()),
        click: Some("expand('plan')".into()),
    };
    let gone = TokenMeaning {
        place: KeyLocation::Gone(None),
        title: String::new(),
        at: None,
        click: None,
    };
    let tokens = vec![meaning, gone];
    let told = Located { places: vec![KeyLocation::Shown, KeyLocation::Gone(None)], tokens };
    add(all, "located-tokens", (Kind::Reply, Method::Locate), &told);
}

fn events(all: &mut Vec<Sample>) {
    add(all, "changed", (Kind::Event, Method::Changed), &Changed { version: 14 });
    add(all, "notify", (Kind::Event, Method::Notify), &Notify { text: "disk is full".into() });
    let progress = Progress { done: 3, total: 10, text: "reading".into() };
    add(all, "progress", (Kind::Event, Method::Progress), &progress);
    let report = JobReport { job: "test-1".into(), ..JobReport::default() };
    let event = (Kind::Event, Method::JobReport);
    let text = Some("compiling".into());
    let progress = JobReport { text, done: Some(3), total: Some(300), ..report.clone() };
    add(all, "job-report", event, &progress);
    let output = Some(Bytes::from_static(&[b'o', b'k', 0x1b, 0xff]));
    add(all, "job-report-output", event, &JobReport { output, ..report.clone() });
    let ends =
        [("done", JobEnd::Done), ("failed", JobEnd::Failed), ("cancelled", JobEnd::Cancelled)];
    for (name, end) in ends {
        let report = JobReport { state: Some(end), brief: "12 passed".into(), ..report.clone() };
        add(all, &format!("job-report-{name}"), event, &report);
    }
    let cancel = (Kind::Request, Method::CancelJob);
    add(all, "cancel-job", cancel, &CancelJob { job: "test-1".into() });
    let busy = Busy { what: "indexing".into(), for_ms: 60_000 };
    add(all, "busy", (Kind::Event, Method::Busy), &busy);
}
