//! A process of an app: what it does about a frame, by its manner.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use pipemux_core::Exit;
use pipemux_proto::app::{
    Chunk, Empty, Invoke, KeyLocation as Where, Locate, Located, OpenRequest, Opened, Project,
    ReadRequest, Saved,
};
use pipemux_proto::hello::ProtocolVersion;
use pipemux_proto::projection::Projection;
use pipemux_proto::{
    Envelope, Fault, Frame, FrameDecoder, Hello, Incarnation, Kind, Method, Role, decode,
};

use crate::action::Manner;
use crate::places::Place;
use crate::store::{Store, prototypes};

/// Bytes of a value that one reply brings: small, so that values come in several.
const CHUNK: usize = 24;

/// A process.
#[derive(Debug)]
pub struct Process {
    /// The place that it was started for.
    pub place: Place,
    /// The sessions that live in it, by the numbers of their lives: its own, unless sessions share it.
    pub desk: BTreeMap<Incarnation, Place>,
    /// True when they do.
    pub shared: bool,
    /// Lives that were opened in it.
    pub opened: BTreeSet<Incarnation>,
    /// False once its end is on its way.
    pub alive: bool,
    /// True once it runs: nothing of it comes before that.
    pub started: bool,
    /// True once nothing of it is read any more.
    pub closed: bool,
    /// When it says the last of what it has to say.
    pub said: u64,
    /// What it has taken in and not looked at yet.
    pub held: Vec<Frame>,
    /// Requests that have no answer yet, by id.
    pub owed: BTreeMap<u64, Envelope>,
    /// Requests that were answered: any of them, for answering once more.
    pub answered: Option<Envelope>,
    /// What sessions were before the last step, for those that do several things at once.
    pub before: BTreeMap<Incarnation, Store>,
    /// Lives that it had, and whose end was heard.
    pub left: Vec<Incarnation>,
    /// True once something of it doesn't behave.
    pub wild: bool,
    /// True once it was asked or made to end.
    pub ending: bool,
    /// Lives that were asked to save their state, and those whose open was refused.
    pub saved: BTreeSet<Incarnation>,
    pub refused: BTreeSet<Incarnation>,
}

/// What a process does about a frame.
#[derive(Debug, Default)]
pub struct Reaction {
    pub frames: Vec<Frame>,
    pub exit: Option<Exit>,
    /// An action, and whether something came of it.
    pub invoked: Option<(Invoke, bool)>,
    /// It went on from where it was put to sleep.
    pub woken: bool,
    /// An open, and whether it was taken in.
    pub opened: Option<bool>,
    /// It said `unchanged` of a look that it never showed.
    pub wrong_known: Option<String>,
}

impl Process {
    pub fn new(app: Incarnation, place: Place, shared: bool) -> Self {
        let desk = if shared { BTreeMap::new() } else { [(app, place)].into() };
        Self {
            place,
            desk,
            shared,
            opened: BTreeSet::new(),
            alive: true,
            started: false,
            closed: false,
            said: 0,
            held: Vec::new(),
            owed: BTreeMap::new(),
            answered: None,
            before: BTreeMap::new(),
            left: Vec::new(),
            wild: false,
            ending: false,
            saved: BTreeSet::new(),
            refused: BTreeSet::new(),
        }
    }

    /// True while a session lives in it.
    pub fn has(&self, place: Place) -> bool {
        self.place == place && !self.shared || self.desk.values().any(|of| *of == place)
    }

    pub fn react(
        &mut self,
        life: Incarnation,
        frame: &Frame,
        manner: Manner,
        store: &mut Store,
    ) -> Reaction {
        let envelope = frame.envelope;
        let mut reaction = Reaction::default();
        match (envelope.kind, envelope.method) {
            (Kind::Event, Method::Hello) => {
                if matches!(manner, Manner::Hangs | Manner::Stopped) {
                    self.held.push(frame.clone());
                }
                return greet(life, manner);
            }
            (Kind::Request, _) => {}
            (Kind::Cancel, _) => {
                self.owed.remove(&envelope.id);
                return reaction;
            }
            _ => return reaction,
        }
        self.owed.insert(envelope.id, envelope);
        match (manner, envelope.method) {
            (Manner::DiesOnInvoke(false), Method::Invoke)
            | (Manner::DiesOnProject, Method::Project)
            | (Manner::DiesOnOpen, Method::AppOpen) => {
                reaction.exit = Some(Exit::Signal(11));
                return reaction;
            }
            (Manner::Hangs | Manner::Stopped, _) => {
                self.held.push(frame.clone());
                return reaction;
            }
            _ => {}
        }
        let reply = self.answer(frame, manner, store, &mut reaction);
        match manner {
            Manner::DiesOnInvoke(true) if envelope.method == Method::Invoke => {
                reaction.exit = Some(Exit::Code(101));
                return reaction;
            }
            Manner::Garbage => reaction.frames.push(garbage(reply.envelope)),
            Manner::Twice => reaction.frames.extend([reply.clone(), reply]),
            _ => reaction.frames.push(reply),
        }
        if envelope.method == Method::AppClose {
            self.desk.remove(&envelope.incarnation);
            // A shared one goes on for its other sessions, until it is asked to end itself.
            reaction.exit = (!self.shared).then_some(Exit::Code(0));
        }
        reaction
    }

    fn answer(
        &mut self,
        request: &Frame,
        manner: Manner,
        store: &mut Store,
        reaction: &mut Reaction,
    ) -> Frame {
        let envelope = request.envelope;
        let reply = envelope.answer(Kind::Reply);
        let refuse = |fault: &Fault| frame(&envelope.answer(Kind::Fault), fault);
        match envelope.method {
            Method::AppOpen if manner == Manner::RefusesOpen => {
                // One that is repeated at a start may be refused: the session runs without it.
                let open: OpenRequest = decode(&request.body).expect("an OpenRequest");
                reaction.opened = Some(open.again);
                refuse(&Fault::failed("no"))
            }
            Method::AppOpen => {
                reaction.opened = Some(true);
                let open: OpenRequest = decode(&request.body).expect("an OpenRequest");
                let resumed = if store.resumed { open.woken } else { 0 };
                let resumed = if resumed == store.version { resumed } else { 0 };
                reaction.woken = resumed > 0;
                frame(&reply, &Opened { resumed, ..Opened::default() })
            }
            Method::Save => {
                store.save();
                frame(&reply, &Saved { version: store.version })
            }
            Method::Project => {
                let ask: Project = decode(&request.body).expect("a Project");
                let look = |version| (ask.window, ask.lod, ask.budget, version);
                let before = self.before.remove(&envelope.incarnation);
                if let Some(before) = before.filter(|_| manner == Manner::AtOnce) {
                    if before.total % 2 == 0 {
                        return refuse(&Fault::refused("a step is under way"));
                    }
                    store.shown.insert(look(before.version));
                    store.versions.insert((before.version, before.total));
                    return frame(&reply, &before.project(ask.lod));
                }
                if let Some(known) = ask.known_version.filter(|v| !store.shown.contains(&look(*v)))
                {
                    reaction.wrong_known =
                        Some(format!("{ask:?} of life {}: v{known}", envelope.incarnation));
                }
                if ask.known_version == Some(store.version) {
                    let version = store.version;
                    return frame(
                        &reply,
                        &Projection { version, unchanged: true, ..Projection::default() },
                    );
                }
                store.shown.insert(look(store.version));
                store.versions.insert((store.version, store.total));
                frame(&reply, &store.project(ask.lod))
            }
            Method::Invoke => {
                let invoke: Invoke = decode(&request.body).expect("an Invoke");
                if manner == Manner::AtOnce {
                    self.before.insert(envelope.incarnation, store.clone());
                }
                let executed = store.invoke(&invoke);
                reaction.invoked = Some((invoke, executed.effect));
                frame(&reply, &executed.outcome)
            }
            Method::AppRead => {
                let read: ReadRequest = decode(&request.body).expect("a ReadRequest");
                match store.check(&read.key, read.rev) {
                    Ok(note) => frame(&reply, &chunk(&store.value(note), &read)),
                    Err(fault) => refuse(&fault),
                }
            }
            Method::Locate => {
                let locate: Locate = decode(&request.body).expect("a Locate");
                let places = locate.keys.iter().map(|key| match store.note(key) {
                    Some(note) if note.hidden => Where::Hidden("it is hidden".into()),
                    Some(_) => Where::Shown,
                    None => Where::Gone(Some("it was removed".into())),
                });
                frame(&reply, &Located { places: places.collect() })
            }
            _ => frame(&reply, &Empty {}),
        }
    }
}

fn greet(life: Incarnation, manner: Manner) -> Reaction {
    let hello = Hello { prototypes: prototypes(), ..Hello::new(Role::App, "model 1") };
    let greeting = |hello: &Hello| frame(&Envelope::event(Method::Hello, life), hello);
    match manner {
        Manner::NoHello | Manner::Hangs | Manner::Stopped => Reaction::default(),
        Manner::DiesAtStart => Reaction { exit: Some(Exit::Code(1)), ..Reaction::default() },
        Manner::WrongVersion => {
            let protocol = ProtocolVersion { major: 99, minor: 0 };
            let frames = vec![greeting(&Hello { protocol, ..hello })];
            Reaction { frames, ..Reaction::default() }
        }
        _ => Reaction { frames: vec![greeting(&hello)], ..Reaction::default() },
    }
}

fn chunk(text: &str, read: &ReadRequest) -> Chunk {
    let bytes = text.as_bytes();
    let start = (read.offset as usize).min(bytes.len());
    let end = (start + (read.max as usize).min(CHUNK)).min(bytes.len());
    Chunk { data: bytes[start..end].to_vec().into(), total: bytes.len() as u64, text: true }
}

/// A frame as it comes from outside.
pub fn frame<T: serde::Serialize>(envelope: &Envelope, body: &T) -> Frame {
    let bytes = Frame::encode(envelope, body).expect("it encodes");
    frames(&bytes).expect("frames").remove(0)
}

/// The frames of what was written: whole ones only.
pub fn frames(bytes: &[u8]) -> Result<Vec<Frame>, String> {
    let mut decoder = FrameDecoder::default();
    decoder.extend(bytes);
    let mut all = Vec::new();
    while let Some(frame) = decoder.next_frame().map_err(|error| error.to_string())? {
        all.push(frame);
    }
    if decoder.is_empty() && !all.is_empty() { Ok(all) } else { Err("no whole frames".into()) }
}

/// A frame whose body is no message.
pub fn garbage(envelope: Envelope) -> Frame {
    Frame { envelope, body: Bytes::from_static(&[0xc1, 0xff, 0x00]) }
}
