//! An app in memory: notes with keys and revisions, and ways to misbehave.

use pipemux_core::Exit;
use pipemux_proto::app::{
    Chunk, Done, Empty, Invoke, KeyLocation, Locate, Located, OpenRequest, Opened, Outcome,
    Project, ReadRequest, Saved,
};
use pipemux_proto::hello::{PER_READER, ProtocolVersion, UNREPORTED_CHANGES, VALUE_FILES};
use pipemux_proto::projection::{Arg, Args, LinkSlot, Lod, ObjectSlot, Piece, Projection, RefArg};
use pipemux_proto::prototype::{Param, Prototype, Raw, Risk, Type};
use pipemux_proto::{
    Envelope, Fault, Frame, Hello, Incarnation, Kind, Method, Role, Value, decode,
};

use super::model::Model;
use super::wire::chunk;
use super::{frame, garbage};

/// Bytes of a value in one reply: few, so that values come in several.
const CHUNK: usize = 7;

/// How an app behaves.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Behaviour {
    #[default]
    Normal,
    /// Reads everything and answers nothing.
    Silent,
    /// Carries requests out, but holds its answers until the test releases them.
    Holds,
    /// Sends answers that can't be decoded.
    Garbage,
    /// Answers everything twice.
    Twice,
    /// Dies of every `Invoke`.
    DiesOnInvoke,
    /// Dies of the next `Invoke`; the process after it behaves.
    DiesOnInvokeOnce,
    /// Never greets and answers nothing.
    NoHello,
    /// Answers without having greeted.
    Ungreeted,
    /// Dies before it greets, with these last lines of output.
    DiesAtStart(Vec<String>),
    /// Refuses every `Open`.
    RefusesOpen(String),
    /// Wakes without its saved state.
    ForgetsSleep,
    /// Refuses to save its state.
    RefusesSave,
    /// Can't be started.
    Unstartable,
    /// Sends this text wherever an app may send text.
    Says(String),
    /// Refuses every `Project` with this fault.
    RefusesProject(Box<Fault>),
    /// Sends this projection instead of its own.
    Shows(Box<Projection>),
    /// Announces that its state may change without an event.
    Observes,
    /// Answers every `Invoke` with this outcome.
    Ends(Box<Outcome>),
    /// Greets with these prototypes.
    Greets(Vec<Prototype>),
    /// Greets with these notes at every `Open`.
    Notes(Vec<String>),
    /// Speaks this minor version of the protocol.
    SpeaksMinor(u16),
    /// Goes on with all jobs of the process before it.
    ResumesJobs,
    /// Shows each reader a page of its own, of two notes; `say("2")` turns it.
    PerReader,
    /// Takes long values as files.
    TakesValueFiles,
}

/// A process of an app.
#[derive(Debug)]
pub struct App {
    pub session: String,
    pub state_dir: String,
    /// The sessions that share it, by incarnation: name and state directory.
    pub sessions: std::collections::BTreeMap<Incarnation, (String, String)>,
    /// Answers that it holds.
    pub held: Vec<Frame>,
    /// True when it survives SIGTERM and `Close`.
    pub stubborn: bool,
    /// The open requests that it received.
    pub opens: Vec<OpenRequest>,
    /// The envelopes of answers and cancels that it received.
    pub got: Vec<Envelope>,
}

/// What a process does when a frame arrives.
#[derive(Debug, Default)]
pub struct Reaction {
    pub frames: Vec<Frame>,
    pub exit: Option<(Exit, Vec<String>)>,
}

impl App {
    pub fn new(session: String, state_dir: String) -> Self {
        Self {
            session,
            state_dir,
            sessions: Default::default(),
            held: Vec::new(),
            stubborn: false,
            opens: Vec::new(),
            got: Vec::new(),
        }
    }

    pub fn react(
        &mut self,
        incarnation: Incarnation,
        frame: &Frame,
        behaviour: &Behaviour,
        model: &mut Model,
    ) -> Reaction {
        let envelope = frame.envelope;
        if (envelope.kind, envelope.method) == (Kind::Event, Method::Hello) {
            return self.greet(incarnation, behaviour);
        }
        if envelope.kind != Kind::Request {
            self.got.push(envelope);
            return Reaction::default();
        }
        let dies = matches!(behaviour, Behaviour::DiesOnInvoke | Behaviour::DiesOnInvokeOnce);
        if dies && envelope.method == Method::Invoke {
            return Reaction { exit: Some((Exit::Signal(9), Vec::new())), ..Reaction::default() };
        }
        if matches!(behaviour, Behaviour::Silent | Behaviour::NoHello) {
            return Reaction::default();
        }
        let reply = self.answer(frame, behaviour, model);
        let mut reaction = Reaction::default();
        match behaviour {
            Behaviour::Holds => self.held.push(reply),
            Behaviour::Garbage => reaction.frames.push(garbage(reply.envelope)),
            Behaviour::Twice => reaction.frames.extend([reply.clone(), reply]),
            _ => reaction.frames.push(reply),
        }
        if envelope.method == Method::AppClose && !self.stubborn {
            reaction.exit = Some((Exit::Code(0), Vec::new()));
        }
        reaction
    }

    fn greet(&self, incarnation: Incarnation, behaviour: &Behaviour) -> Reaction {
        match behaviour {
            Behaviour::NoHello | Behaviour::Ungreeted => Reaction::default(),
            Behaviour::DiesAtStart(lines) => {
                Reaction { exit: Some((Exit::Code(1), lines.clone())), ..Reaction::default() }
            }
            _ => {
                let prefix = if self.session.starts_with("other") { "OT" } else { "NT" };
                let features = match behaviour {
                    Behaviour::Observes => vec![UNREPORTED_CHANGES.to_owned()],
                    Behaviour::PerReader => vec![PER_READER.to_owned()],
                    Behaviour::TakesValueFiles => vec![VALUE_FILES.to_owned()],
                    _ => Vec::new(),
                };
                let hello = Hello {
                    features,
                    token_prefix: Some(prefix.into()),
                    prototypes: match behaviour {
                        Behaviour::Greets(others) => others.clone(),
                        _ => prototypes(),
                    },
                    ..Hello::new(Role::App, "fake 1")
                };
                let protocol = match behaviour {
                    Behaviour::SpeaksMinor(minor) => {
                        ProtocolVersion { minor: *minor, ..hello.protocol }
                    }
                    _ => hello.protocol,
                };
                let hello = Hello { protocol, ..hello };
                let greeting = frame(&Envelope::event(Method::Hello, incarnation), &hello);
                Reaction { frames: vec![greeting], exit: None }
            }
        }
    }

    fn answer(&mut self, request: &Frame, behaviour: &Behaviour, model: &mut Model) -> Frame {
        let envelope = request.envelope;
        let reply = envelope.answer(Kind::Reply);
        let refuse = |fault: &Fault| frame(&envelope.answer(Kind::Fault), fault);
        match envelope.method {
            Method::AppOpen => {
                let open: OpenRequest = decode(&request.body).expect("an OpenRequest");
                let resumed = open.woken.filter(|_| *behaviour != Behaviour::ForgetsSleep);
                let jobs = open.jobs.clone();
                self.opens.push(open);
                match behaviour {
                    Behaviour::RefusesOpen(why) => refuse(&Fault::failed(why.clone())),
                    Behaviour::Says(said) => {
                        let notes = vec![said.clone()];
                        frame(&reply, &Opened { notes, resumed, ..Opened::default() })
                    }
                    Behaviour::Notes(notes) => {
                        let notes = notes.clone();
                        frame(&reply, &Opened { notes, resumed, ..Opened::default() })
                    }
                    Behaviour::ResumesJobs => {
                        frame(&reply, &Opened { resumed, jobs, ..Opened::default() })
                    }
                    _ => frame(&reply, &Opened { resumed, ..Opened::default() }),
                }
            }
            Method::Project => {
                let ask: Project = decode(&request.body).expect("a Project");
                match behaviour {
                    Behaviour::Says(said) => frame(&reply, &saying(model, said)),
                    Behaviour::Shows(projection) => frame(&reply, &**projection),
                    Behaviour::RefusesProject(fault) => refuse(fault),
                    _ if ask.known_version == Some(model.version) => {
                        let version = model.version;
                        frame(
                            &reply,
                            &Projection { version, unchanged: true, ..Default::default() },
                        )
                    }
                    Behaviour::PerReader => {
                        frame(&reply, &projection(&model.page_of(&ask.reader), ask.lod))
                    }
                    _ => frame(&reply, &projection(model, ask.lod)),
                }
            }
            Method::Invoke => {
                let invoke: Invoke = decode(&request.body).expect("an Invoke");
                match behaviour {
                    Behaviour::Ends(outcome) => frame(&reply, &**outcome),
                    Behaviour::Says(said) => frame(&reply, &said_by(model, said)),
                    Behaviour::PerReader => frame(&reply, &model.invoke_paged(invoke)),
                    _ => frame(&reply, &model.invoke(invoke)),
                }
            }
            Method::Save => match behaviour {
                Behaviour::RefusesSave => refuse(&Fault::refused("it can't sleep")),
                _ => {
                    let (version, wake_at) = (Some(model.version), model.wake_at);
                    frame(&reply, &Saved { version, wake_at })
                }
            },
            Method::AppRead => {
                let read: ReadRequest = decode(&request.body).expect("a ReadRequest");
                match model.check(&read.key, read.rev) {
                    Ok(note) if read.path && note.text.starts_with('/') => {
                        let path = Some(note.text.clone());
                        frame(&reply, &Chunk { text: true, path, ..Chunk::default() })
                    }
                    Ok(_) if read.path => frame(&reply, &Chunk::default()),
                    Ok(note) => {
                        let most = if note.text.len() > 9_999 { 100_000 } else { CHUNK };
                        frame(&reply, &chunk(&note.text, &read, most))
                    }
                    Err(fault) => refuse(&fault),
                }
            }
            Method::Locate => {
                let locate: Locate = decode(&request.body).expect("a Locate");
                let page = model.page_of(&locate.reader);
                let elsewhere =
                    |key: &str| *behaviour == Behaviour::PerReader && page.note(key).is_none();
                let places = locate.keys.iter().map(|key| match model.note(key) {
                    Some(_) if elsewhere(key) => KeyLocation::Hidden("notes.say('1')".into()),
                    Some(note) if note.hidden => KeyLocation::Hidden("notes.unhide()".into()),
                    Some(_) => KeyLocation::Shown,
                    None => KeyLocation::Gone(Some("it was removed".into())),
                });
                frame(&reply, &Located { places: places.collect(), tokens: model.tokens(&locate) })
            }
            _ => frame(&reply, &Empty {}),
        }
    }
}

pub fn prototypes() -> Vec<Prototype> {
    let note = || param("note", Type::Anchor(Some("note".into())));
    let text = || param("text", Type::String);
    let action = |name: &str, params, returns, risk| Prototype {
        name: name.into(),
        doc: String::new(),
        params,
        returns,
        risk,
        idempotent: false,
        prominence: Default::default(),
        previews: risk == Risk::Destructive,
        ..Prototype::default()
    };
    let raw = Param { raw: Raw::Always, ..text() };
    let raw_if = Param { raw: Raw::If("regex".into()), ..text() };
    let regex = Param { default: Some(Value::Bool(false)), ..param("regex", Type::Bool) };
    vec![
        action("edit", vec![note(), text()], None, Risk::Changes),
        action("remove", vec![note()], None, Risk::Destructive),
        action("pick", vec![], None, Risk::Changes),
        action("name", vec![], None, Risk::Changes),
        action("text", vec![note()], Some(Type::String), Risk::Safe),
        action("say", vec![text()], None, Risk::Changes),
        action("load", vec![Param { path: true, ..text() }], None, Risk::Changes),
        action("fail", vec![], None, Risk::Changes),
        action("takeback", vec![param("change", Type::Int)], None, Risk::Changes),
        action("list", vec![with_default("lines", 3)], Some(Type::String), Risk::Query),
        Prototype {
            called: Some("list".into()),
            ..action("list_note", vec![note()], Some(Type::String), Risk::Query)
        },
        action("matching", vec![raw], None, Risk::Safe),
        action("find", vec![raw_if, regex], None, Risk::Safe),
        Prototype { previews: false, ..action("wipe", vec![note()], None, Risk::Destructive) },
        Prototype { idempotent: true, ..action("touch", vec![text()], None, Risk::Changes) },
    ]
}

fn with_default(name: &str, default: i64) -> Param {
    Param { default: Some(Value::Int(default)), ..param(name, Type::Int) }
}

fn param(name: &str, ty: Type) -> Param {
    Param { name: name.into(), ty, default: None, ..Param::default() }
}

pub fn slot<const N: usize>(label: &str, action: &str, args: [(&str, Arg); N]) -> LinkSlot {
    let args: Args = args.into_iter().map(|(name, arg)| (name.to_owned(), arg)).collect();
    LinkSlot { label: label.into(), action: action.into(), args, ..LinkSlot::default() }
}

/// Labels hold the key and the revision of a note, so that tests can find its anchor: `k3 r2`.
fn projection(model: &Model, lod: Lod) -> Projection {
    let mut content = Vec::new();
    for note in model.notes.iter().filter(|note| !note.hidden && lod != Lod::Gist) {
        let (key, rev) = (note.key.clone(), note.rev);
        let label = format!("{key} r{rev}");
        let bound = RefArg { key: key.clone(), rev, ty: Some("note".into()) };
        let args = [("note", Arg::Ref(bound)), ("text", Value::from("by link").into())];
        let edit = slot(&format!("edit {label}"), "edit", args);
        content.push(Piece::Object(ObjectSlot {
            key,
            rev,
            ty: Some("note".into()),
            label,
            ..ObjectSlot::default()
        }));
        content.push(Piece::Text(format!(" {} ", note.text)));
        content.push(Piece::Link(edit));
        content.push(Piece::Text("\n".into()));
    }
    if !model.embeds.is_empty() {
        content.extend(model.embeds.iter().cloned().map(Piece::Embed));
        content.push(Piece::Text("own end\n".into()));
    }
    Projection {
        version: model.version,
        title: format!("{} notes", model.notes.len()),
        nav: vec![slot("pick", "pick", [])],
        content,
        ..Projection::default()
    }
}

/// A window with this text wherever an app may send text.
fn saying(model: &Model, said: &str) -> Projection {
    let code = pipemux_proto::projection::CodePiece {
        lang: said.into(),
        text: said.into(),
        first: Some(1),
        lines: Vec::new(),
    };
    let bare = pipemux_proto::projection::CodePiece { first: None, ..code.clone() };
    let unknown = slot(said, "nothing", []);
    let titled =
        LinkSlot { titled: true, ..slot(said, "say", [("text", Value::from(said).into())]) };
    let object = |key: &str| {
        let label = said.to_owned();
        Piece::Object(ObjectSlot {
            key: key.into(),
            rev: 0,
            ty: None,
            label,
            ..ObjectSlot::default()
        })
    };
    Projection {
        version: model.version,
        title: said.into(),
        nav: vec![titled.clone(), unknown.clone()],
        position: Some(said.into()),
        content: vec![
            Piece::Text(said.into()),
            object("a"),
            Piece::Text(said.into()),
            Piece::Link(unknown.clone()),
            Piece::Text("\n".into()),
            Piece::Link(unknown),
            Piece::Text(said.into()),
            Piece::Text(said.into()),
            Piece::Code(code),
            Piece::Code(bare),
            Piece::Link(titled),
        ],
        ..Projection::default()
    }
}

fn said_by(model: &mut Model, said: &str) -> Outcome {
    model.version += 1;
    Outcome::Done(Done {
        brief: said.into(),
        detail: Some(said.into()),
        version: model.version,
        links: vec![slot(said, "say", [("text", Value::from(said).into())])],
        ..Done::default()
    })
}
