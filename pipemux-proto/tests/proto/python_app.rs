//! Runs the example app of `PROTOCOL.md` unchanged, with this test as its daemon.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pipemux_proto::app::{
    Choice, Chunk, Empty, Invoke, KeyLocation, Locate, Located, OpenRequest, Opened, Outcome,
    Project, QuestionKind, ReadRequest, Resume, Saved,
};
use pipemux_proto::projection::{Arg, Args, Lod, Piece, Projection, RefArg};
use pipemux_proto::prototype::Risk;
use pipemux_proto::{
    Code, Envelope, Fault, Frame, FrameDecoder, Hello, Incarnation, Kind, Method, Role, Value,
    decode,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

const LIFE: Incarnation = Incarnation(1_000);

#[test]
fn example_app_of_the_page_runs_unchanged() {
    let folder = Folder::new("pages-app");
    let Some(mut app) = App::start(&folder) else { return };
    assert_eq!(app.open(&folder), Vec::<String>::new());
    let empty = app.project(Lod::Summary, None);
    assert_eq!((empty.title.as_str(), empty.content.len()), ("0 to do", 0));

    let text = "Grüße, 世界 \u{1f600} — and more than thirty-one bytes of it";
    let done = app.done("add", [("text", Value::from(text).into())]);
    assert_eq!((done.brief.as_str(), done.version), ("1 to do", 1));
    let shown = app.project(Lod::Summary, Some(0));
    let Some(Piece::Object(object)) = shown.content.get(1) else { panic!("{shown:?}") };
    assert_eq!((object.label.as_str(), object.rev, shown.version), (text, 0, 1));
    assert!(app.project(Lod::Summary, Some(1)).unchanged);
    assert!(app.project(Lod::Gist, Some(0)).content.is_empty());

    // A ref carries the revision that was seen: the app refuses another one, and a thing that is
    // gone.
    let item = |rev| Arg::Ref(RefArg { key: object.key.clone(), rev, ty: None });
    app.done("edit", [("item", item(0)), ("text", Value::from("new").into())]);
    let stale = app.invoke("done", [("item", item(0))], None).expect_err("stale");
    assert_eq!((stale.code, stale.key.as_deref()), (Code::Stale, Some(object.key.as_str())));
    let read = |rev| ReadRequest { key: object.key.clone(), rev, offset: 1, max: 10, path: false };
    let chunk: Chunk = app.ask(Method::AppRead, &read(1)).expect("a chunk");
    assert_eq!((&chunk.data[..], chunk.total, chunk.text), (&b"ew"[..], 3, true));
    let keys = vec![object.key.clone(), "never".to_owned()];
    let located: Located =
        app.ask(Method::Locate, &Locate { keys, ..Locate::default() }).expect("places");
    assert_eq!(located.places, [KeyLocation::Shown, KeyLocation::Gone(None)]);

    // The app asks before it destroys data.
    let Ok(Outcome::Needs(needs)) = app.invoke("clear", [], None) else { panic!("it must ask") };
    assert_eq!(needs.question.kind, QuestionKind::Confirm);
    let resume = Resume { token: needs.token, choice: Choice::Yes };
    let Ok(Outcome::Done(done)) = app.invoke("clear", [], Some(resume)) else { panic!("not done") };
    assert_eq!(done.brief, "0 to do");
    assert!(app.invoke("dance", [], None).is_err());

    // The state survives sleep, in its version: readers notice nothing.
    app.done("add", [("text", Value::from("kept").into())]);
    let before = app.project(Lod::Full, None);
    let saved: Saved = app.ask(Method::Save, &Empty {}).expect("saved");
    assert_eq!(saved.version, Some(before.version));
    app.close();
    let mut app = App::start(&folder).expect("python3 is there");
    assert_eq!(app.open_woken(&folder, saved.version).resumed, saved.version);
    assert_eq!(app.project(Lod::Full, None), before);
    assert!(app.project(Lod::Full, saved.version).unchanged);
    app.close();
    // Woken from another version, it doesn't claim to have that.
    let mut app = App::start(&folder).expect("python3 is there");
    assert_eq!(app.open_woken(&folder, Some(before.version + 1)).resumed, None);
    app.close();

    // The state survives a restart, and keys aren't used again.
    let mut app = App::start(&folder).expect("python3 is there");
    app.open(&folder);
    let shown = app.project(Lod::Full, None);
    let Some(Piece::Object(kept)) = shown.content.get(1) else { panic!("{shown:?}") };
    assert_eq!(kept.label, "kept");
    assert_ne!(kept.key, object.key);
    app.close();
}

/// The app's process, and the daemon's end of its connection.
struct App {
    child: Child,
    stream: UnixStream,
    decoder: FrameDecoder,
    next: u64,
}

impl App {
    /// Starts the page's code; returns none, with a message, on a machine without Python.
    #[allow(clippy::print_stdout)]
    fn start(folder: &Folder) -> Option<Self> {
        let (ours, theirs) = UnixStream::pair().expect("a socketpair");
        // Passed as standard input, because that needs no unsafe code; the app only uses the
        // number.
        let spawned = Command::new("python3")
            .arg(folder.write("todo.py", &code()))
            .env("PIPEMUX_FD", "0")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn();
        let child = match spawned {
            Ok(child) => child,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                println!("skipped: there is no python3 here to run PROTOCOL.md's app with");
                return None;
            }
            Err(error) => panic!("python3: {error}"),
        };
        ours.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        let mut app = Self { child, stream: ours, decoder: FrameDecoder::default(), next: 200 };
        app.send(&Envelope::event(Method::Hello, LIFE), &Hello::new(Role::Daemon, "test 1"));
        let frame = app.receive();
        assert_eq!((frame.envelope.kind, frame.envelope.method), (Kind::Event, Method::Hello));
        let hello: Hello = decode(&frame.body).expect("a Hello");
        hello.check().expect("the same major");
        assert_eq!(hello.role, Role::App);
        let clear = hello.prototypes.iter().find(|p| p.name == "clear").expect("an action");
        assert_eq!(clear.risk, Risk::Destructive);
        Some(app)
    }

    fn open(&mut self, folder: &Folder) -> Vec<String> {
        self.open_woken(folder, None).notes
    }

    fn open_woken(&mut self, folder: &Folder, woken: Option<u64>) -> Opened {
        let open = OpenRequest {
            session: "todo/main".parse().expect("a session"),
            attach: false,
            again: woken.is_some(),
            woken,
            due: false,
            jobs: Vec::new(),
            args: Vec::new(),
            cwd: "/".into(),
            env: Default::default(),
            state_dir: folder.0.to_string_lossy().into_owned(),
        };
        self.ask(Method::AppOpen, &open).expect("opened")
    }

    fn project(&mut self, lod: Lod, known_version: Option<u64>) -> Projection {
        let reader = String::new();
        let project = Project { window: 1, lod, budget: 1500, known_version, reader };
        self.ask(Method::Project, &project).expect("a projection")
    }

    fn invoke<const N: usize>(
        &mut self,
        action: &str,
        args: [(&str, Arg); N],
        resume: Option<Resume>,
    ) -> Result<Outcome, Fault> {
        let args: Args = args.into_iter().map(|(name, arg)| (name.to_owned(), arg)).collect();
        let invoke = Invoke {
            action: action.into(),
            args,
            seen_version: Some(1),
            seen_lost: false,
            numbers: Vec::new(),
            forgotten: false,
            cwd: String::new(),
            reader: "default".into(),
            run_id: "r-1".into(),
            confirmed: resume.is_some(),
            budget: 0,
            nested: false,
            consents: Vec::new(),
            changed_beside: Vec::new(),
            resume,
        };
        self.ask(Method::Invoke, &invoke)
    }

    fn done<const N: usize>(
        &mut self,
        action: &str,
        args: [(&str, Arg); N],
    ) -> pipemux_proto::app::Done {
        match self.invoke(action, args, None) {
            Ok(Outcome::Done(done)) => done,
            other => panic!("{action}: {other:?}"),
        }
    }

    fn ask<T: DeserializeOwned>(
        &mut self,
        method: Method,
        body: &impl Serialize,
    ) -> Result<T, Fault> {
        self.next += 1;
        let mut request = Envelope::request(method, self.next, LIFE);
        request.deadline_ms = 30_000;
        self.send(&request, body);
        let frame = self.receive();
        if frame.envelope == request.answer(Kind::Fault) {
            return Err(decode(&frame.body).expect("a fault"));
        }
        assert_eq!(frame.envelope, request.answer(Kind::Reply));
        Ok(decode(&frame.body).expect("a reply"))
    }

    fn close(mut self) {
        self.ask::<Empty>(Method::AppClose, &Empty {}).expect("a reply");
        assert!(self.child.wait().expect("it ends").success());
    }

    fn send(&mut self, envelope: &Envelope, body: &impl Serialize) {
        let bytes = Frame::encode(envelope, body).expect("a frame");
        // In two parts, as a socket may deliver them.
        let (head, tail) = bytes.split_at(bytes.len() / 2);
        self.stream.write_all(head).expect("written");
        self.stream.write_all(tail).expect("written");
    }

    fn receive(&mut self) -> Frame {
        let mut chunk = [0; 4096];
        loop {
            if let Some(frame) = self.decoder.next_frame().expect("frames") {
                return frame;
            }
            let length = self.stream.read(&mut chunk).expect("the app answers in time");
            assert!(length > 0, "the app closed its connection");
            self.decoder.extend(&chunk[..length]);
        }
    }
}

/// Leaves no process running when a test fails.
impl Drop for App {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The Python block of the page.
fn code() -> String {
    let page = include_str!("../../PROTOCOL.md");
    let start = page.find("```python\n").expect("an app in Python") + "```python\n".len();
    let block = &page[start..];
    block[..block.find("\n```").expect("its end") + 1].to_owned()
}

/// A folder for this test alone.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
