//! An app as a little model: notes with keys and revs, and ways to misbehave.

use pipemux_core::Exit;
use pipemux_proto::app::{
    Chunk, Done, Empty, Invoke, KeyLocation, Locate, Located, OpenRequest, Opened, Outcome,
    Project, ReadRequest, Saved,
};
use pipemux_proto::projection::{Arg, Args, LinkSlot, Lod, ObjectSlot, Piece, Projection, RefArg};
use pipemux_proto::prototype::{Param, Prototype, Risk, Type};
use pipemux_proto::{
    Envelope, Fault, Frame, Hello, Incarnation, Kind, Method, Role, Value, decode,
};

use super::model::Model;
use super::{frame, garbage};

/// How an app behaves.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Manner {
    #[default]
    Normal,
    /// Takes everything in and says nothing.
    Silent,
    /// Works, but keeps its answers back until released.
    Holds,
    /// Answers what can't be read.
    Garbage,
    /// Answers everything twice.
    Twice,
    /// Dies of the next `Invoke` that comes.
    DiesOnInvoke,
    /// Dies of the next `Invoke` that comes; its next life is well.
    DiesOnInvokeOnce,
    /// Never greets, and says nothing else.
    NoHello,
    /// Answers without a greeting.
    Ungreeted,
    /// Dies before it greets, with these last lines.
    DiesAtStart(Vec<String>),
    /// Refuses every `OpenRequest`.
    RefusesOpen(String),
    /// Does not go on where it was put to sleep.
    ForgetsSleep,
    /// Refuses to be put to sleep.
    RefusesSave,
    /// Can't be started.
    Unstartable,
    /// Sends these pieces, this title and this brief instead of its own.
    Says(String),
    /// Sends this projection.
    Shows(Box<Projection>),
    /// Ends an `Invoke` with this.
    Ends(Box<Outcome>),
}

/// A process.
#[derive(Debug)]
pub struct App {
    pub session: String,
    pub state_dir: String,
    /// The sessions that share it, by life: name and state directory.
    pub sessions: std::collections::BTreeMap<Incarnation, (String, String)>,
    /// Answers that are kept back.
    pub held: Vec<Frame>,
    /// True when it survives SIGTERM and `Close`.
    pub stubborn: bool,
    /// The opens that it got.
    pub opens: Vec<OpenRequest>,
    /// The answers that it got.
    pub got: Vec<Envelope>,
}

/// What a process does about a frame.
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
        life: Incarnation,
        frame: &Frame,
        manner: &Manner,
        model: &mut Model,
    ) -> Reaction {
        let envelope = frame.envelope;
        if (envelope.kind, envelope.method) == (Kind::Event, Method::Hello) {
            return self.greet(life, manner);
        }
        if envelope.kind != Kind::Request {
            self.got.push(envelope);
            return Reaction::default();
        }
        let dies = matches!(manner, Manner::DiesOnInvoke | Manner::DiesOnInvokeOnce);
        if dies && envelope.method == Method::Invoke {
            return Reaction { exit: Some((Exit::Signal(9), Vec::new())), ..Reaction::default() };
        }
        if matches!(manner, Manner::Silent | Manner::NoHello) {
            return Reaction::default();
        }
        let reply = self.answer(frame, manner, model);
        let mut reaction = Reaction::default();
        match manner {
            Manner::Holds => self.held.push(reply),
            Manner::Garbage => reaction.frames.push(garbage(reply.envelope)),
            Manner::Twice => reaction.frames.extend([reply.clone(), reply]),
            _ => reaction.frames.push(reply),
        }
        if envelope.method == Method::AppClose && !self.stubborn {
            reaction.exit = Some((Exit::Code(0), Vec::new()));
        }
        reaction
    }

    fn greet(&self, life: Incarnation, manner: &Manner) -> Reaction {
        match manner {
            Manner::NoHello | Manner::Ungreeted => Reaction::default(),
            Manner::DiesAtStart(lines) => {
                Reaction { exit: Some((Exit::Code(1), lines.clone())), ..Reaction::default() }
            }
            _ => {
                let prefix = if self.session.starts_with("other") { "OT" } else { "NT" };
                let hello = Hello {
                    token_prefix: Some(prefix.into()),
                    prototypes: prototypes(),
                    ..Hello::new(Role::App, "fake 1")
                };
                let greeting = frame(&Envelope::event(Method::Hello, life), &hello);
                Reaction { frames: vec![greeting], exit: None }
            }
        }
    }

    fn answer(&mut self, request: &Frame, manner: &Manner, model: &mut Model) -> Frame {
        let envelope = request.envelope;
        let reply = envelope.answer(Kind::Reply);
        let refuse = |fault: &Fault| frame(&envelope.answer(Kind::Fault), fault);
        match envelope.method {
            Method::AppOpen => {
                let open: OpenRequest = decode(&request.body).expect("an OpenRequest");
                let resumed = if *manner == Manner::ForgetsSleep { 0 } else { open.woken };
                self.opens.push(open);
                match manner {
                    Manner::RefusesOpen(why) => refuse(&Fault::failed(why.clone())),
                    Manner::Says(said) => {
                        frame(&reply, &Opened { notes: vec![said.clone()], resumed })
                    }
                    _ => frame(&reply, &Opened { resumed, ..Opened::default() }),
                }
            }
            Method::Project => {
                let ask: Project = decode(&request.body).expect("a Project");
                match manner {
                    Manner::Says(said) => frame(&reply, &saying(model, said)),
                    Manner::Shows(projection) => frame(&reply, &**projection),
                    _ if ask.known_version == Some(model.version) => {
                        let version = model.version;
                        frame(
                            &reply,
                            &Projection { version, unchanged: true, ..Default::default() },
                        )
                    }
                    _ => frame(&reply, &projection(model, ask.lod)),
                }
            }
            Method::Invoke => {
                let invoke: Invoke = decode(&request.body).expect("an Invoke");
                match manner {
                    Manner::Ends(outcome) => frame(&reply, &**outcome),
                    Manner::Says(said) => frame(&reply, &said_by(model, said)),
                    _ => frame(&reply, &model.invoke(invoke)),
                }
            }
            Method::Save => match manner {
                Manner::RefusesSave => refuse(&Fault::refused("it can't sleep")),
                _ => frame(&reply, &Saved { version: model.version }),
            },
            Method::AppRead => {
                let read: ReadRequest = decode(&request.body).expect("a ReadRequest");
                match model.check(&read.key, read.rev) {
                    Ok(note) => frame(&reply, &chunk(&note.text, &read)),
                    Err(fault) => refuse(&fault),
                }
            }
            Method::Locate => {
                let locate: Locate = decode(&request.body).expect("a Locate");
                let places = locate.keys.iter().map(|key| match model.note(key) {
                    Some(note) if note.hidden => KeyLocation::Hidden("notes.unhide()".into()),
                    Some(_) => KeyLocation::Shown,
                    None => KeyLocation::Gone(Some("it was removed".into())),
                });
                frame(&reply, &Located { places: places.collect() })
            }
            _ => frame(&reply, &Empty {}),
        }
    }
}

fn prototypes() -> Vec<Prototype> {
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
    };
    vec![
        action("edit", vec![note(), text()], None, Risk::Changes),
        action("remove", vec![note()], None, Risk::Destructive),
        action("pick", vec![], None, Risk::Changes),
        action("name", vec![], None, Risk::Changes),
        action("text", vec![note()], Some(Type::String), Risk::Safe),
        action("say", vec![text()], None, Risk::Changes),
        action("fail", vec![], None, Risk::Changes),
        Prototype { idempotent: true, ..action("touch", vec![text()], None, Risk::Changes) },
    ]
}

fn param(name: &str, ty: Type) -> Param {
    Param { name: name.into(), ty, default: None }
}

pub fn slot<const N: usize>(label: &str, action: &str, args: [(&str, Arg); N]) -> LinkSlot {
    let args: Args = args.into_iter().map(|(name, arg)| (name.to_owned(), arg)).collect();
    LinkSlot { label: label.into(), action: action.into(), args, titled: false }
}

/// Labels tell what an anchor stands for, so that tests can read it: `k3 r2`.
fn projection(model: &Model, lod: Lod) -> Projection {
    let mut content = Vec::new();
    for note in model.notes.iter().filter(|note| !note.hidden && lod != Lod::Gist) {
        let (key, rev) = (note.key.clone(), note.rev);
        let label = format!("{key} r{rev}");
        let bound = RefArg { key: key.clone(), rev, ty: Some("note".into()) };
        let args = [("note", Arg::Ref(bound)), ("text", Value::from("by link").into())];
        let edit = slot(&format!("edit {label}"), "edit", args);
        content.push(Piece::Object(ObjectSlot { key, rev, ty: Some("note".into()), label }));
        content.push(Piece::Text(format!(" {} ", note.text)));
        content.push(Piece::Link(edit));
        content.push(Piece::Text("\n".into()));
    }
    Projection {
        version: model.version,
        title: format!("{} notes", model.notes.len()),
        nav: vec![slot("pick", "pick", [])],
        content,
        ..Projection::default()
    }
}

/// A window that says this wherever an app may say something.
fn saying(model: &Model, said: &str) -> Projection {
    let code = pipemux_proto::projection::CodePiece {
        lang: said.into(),
        text: said.into(),
        first: Some(1),
    };
    let bare = pipemux_proto::projection::CodePiece { first: None, ..code.clone() };
    let unknown = slot(said, "nothing", []);
    let titled =
        LinkSlot { titled: true, ..slot(said, "say", [("text", Value::from(said).into())]) };
    let object = |key: &str| {
        let label = said.to_owned();
        Piece::Object(ObjectSlot { key: key.into(), rev: 0, ty: None, label })
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

fn chunk(text: &str, read: &ReadRequest) -> Chunk {
    let bytes = text.as_bytes();
    let start = (read.offset as usize).min(bytes.len());
    // Small ones, so that values come in several.
    let end = (start + (read.max as usize).min(7)).min(bytes.len());
    Chunk { data: bytes[start..end].to_vec().into(), total: bytes.len() as u64, text: true }
}
