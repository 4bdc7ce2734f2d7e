//! How the app starts, and its answers when it behaves.

use std::fs::File;

use nix::sys::signal::{SigSet, Signal};
use pipemux_proto::app::{
    Chunk, Invoke, KeyLocation, Locate, Located, OpenRequest, Opened, Project,
};
use pipemux_proto::hello::ProtocolVersion;
use pipemux_proto::projection::{
    Arg, CodePiece, LinkSlot, Lod, ObjectSlot, Piece, Projection, RefArg,
};
use pipemux_proto::prototype::{Param, Prominence, Prototype, Risk, Type};
use pipemux_proto::{Envelope, Fault, Frame, Hello, Incarnation, Kind, Method, Role, decode};

use crate::wire::{Wire, block, complain, exit};
use crate::{actions, exchange};

/// Sends a greeting, or commits the fault of the mode instead.
pub fn begin(mode: &str, wire: &mut Wire) -> std::io::Result<()> {
    let envelope = Envelope::event(Method::Hello, Incarnation::default());
    let hello = Hello { prototypes: prototypes(), ..Hello::new(Role::App, "rogue 1") };
    match mode {
        "silent" => block(),
        "exits" => {
            for line in ["reading its settings", "settings.toml:3: unknown colour", "giving up"] {
                complain(line);
            }
            exit(3)
        }
        "other-major" => {
            let protocol = ProtocolVersion { major: 99, minor: 1 };
            wire.send(&envelope, &Hello { protocol, ..hello })
        }
        "garbage" => wire.raw(&[0x00, 0x00, 0x00, 0x10, 0xde, 0xad, 0xbe, 0xef].repeat(64)),
        "half-a-hello" => {
            let bytes = Frame::encode(&envelope, &hello).map_err(std::io::Error::other)?;
            wire.raw(&bytes[..bytes.len() / 2])?;
            block()
        }
        "four-gigabytes" => wire.raw(&[0xff; 4]).map(|()| block()),
        "stubborn" => {
            ignore_sigterm()?;
            wire.send(&envelope, &hello)
        }
        _ => wire.send(&envelope, &hello),
    }
}

/// Blocks SIGTERM, which then has no effect.
pub fn ignore_sigterm() -> std::io::Result<()> {
    let mut set = SigSet::empty();
    set.add(Signal::SIGTERM);
    Ok(set.thread_block()?)
}

fn prototypes() -> Vec<Prototype> {
    let action = |name: &str, params: Vec<Param>, risk| Prototype {
        name: name.into(),
        doc: "Does what it is told. */ ``` not the end".into(),
        params,
        returns: None,
        risk,
        idempotent: false,
        prominence: Prominence::Featured,
        previews: risk == Risk::Destructive,
        ..Prototype::default()
    };
    let how = Param { name: "how".into(), ty: Type::String, default: None, ..Param::default() };
    let thing = Param {
        name: "thing".into(),
        ty: Type::Anchor(Some("thing".into())),
        default: None,
        ..Param::default()
    };
    vec![
        action("misbehave", vec![how], Risk::Changes),
        action("wipe", Vec::new(), Risk::Destructive),
        action("ask", Vec::new(), Risk::Changes),
        action("look", vec![thing], Risk::Safe),
        action("set", vec![], Risk::Changes),
        action("tune", tuning(), Risk::Changes),
    ]
}

/// Parameters of every type that is asked for in a way of its own.
fn tuning() -> Vec<Param> {
    let colours = Type::Union(vec!["red".into(), "green".into()]);
    let param = |name: &str, ty| Param { name: name.into(), ty, default: None, ..Param::default() };
    vec![param("colour", colours), param("count", Type::Int), param("loud", Type::Bool)]
}

/// The state of the app.
pub struct App {
    mode: String,
    /// The number of changes so far.
    pub version: u64,
    /// The revision of its only object.
    pub rev: u64,
    /// Which window it shows, such as `plain` or `forgery`.
    pub content: String,
    /// How often `wipe` was run.
    pub wiped: u32,
    held: exchange::Held,
    /// The directory for its state.
    pub state_dir: String,
    /// Memory that it holds.
    pub eaten: Vec<Vec<u8>>,
    /// Descriptors that it holds.
    pub hoarded: Vec<File>,
}

impl App {
    /// Returns the state at the start.
    pub fn new(mode: &str) -> Self {
        Self {
            mode: mode.into(),
            version: 1,
            rev: 1,
            content: "plain".into(),
            wiped: 0,
            state_dir: String::new(),
            eaten: Vec::new(),
            hoarded: Vec::new(),
            held: Vec::new(),
        }
    }

    /// Answers one request.
    pub fn answer(&mut self, wire: &mut Wire, request: &Frame) -> std::io::Result<()> {
        match request.envelope.method {
            Method::Exchange => exchange::handle(wire, request, &mut self.held),
            Method::AppOpen => {
                let open = decode::<OpenRequest>(&request.body).map_err(std::io::Error::other)?;
                self.state_dir = open.state_dir;
                wire.reply(request, &Opened::default())
            }
            Method::Project => match self.mode.as_str() {
                "no-window" => Ok(()),
                "bad-window" => wire.reply(request, &["not", "a", "window"]),
                _ if self.content == "no answer" => Ok(()),
                _ if self.content == "an error" => {
                    let fault = Fault::failed("its file is gone");
                    wire.send(&request.envelope.answer(Kind::Fault), &fault)
                }
                _ => {
                    let ask = decode::<Project>(&request.body).map_err(std::io::Error::other)?;
                    wire.reply(request, &self.window(ask.lod))
                }
            },
            Method::Locate => {
                let places = decode::<Locate>(&request.body).map_err(std::io::Error::other)?;
                let place = |key: &String| match self.content.as_str() {
                    "folded" => KeyLocation::Hidden("misbehave('unfold')".into()),
                    "gone" => KeyLocation::Gone(Some(format!("{key} went up in smoke"))),
                    _ => KeyLocation::Shown,
                };
                let places = places.keys.iter().map(place).collect();
                wire.reply(request, &Located { places, ..Located::default() })
            }
            Method::AppRead => {
                let data = bytes_of("the thing's value\n");
                let total = match self.content.as_str() {
                    "deadly" => exit(9),
                    "endless" => u64::from(u32::MAX),
                    _ => data.len() as u64,
                };
                wire.reply(request, &Chunk { data, total, text: true, path: None })
            }
            Method::Invoke => {
                let invoke = decode::<Invoke>(&request.body).map_err(std::io::Error::other)?;
                actions::handle(self, wire, request, &invoke)
            }
            _ => wire.reply(request, &pipemux_proto::app::Empty {}),
        }
    }

    fn window(&self, lod: Lod) -> Projection {
        let thing = ObjectSlot {
            key: "thing".into(),
            rev: self.rev,
            ty: Some("thing".into()),
            label: "the thing".into(),
            ..ObjectSlot::default()
        };
        let link = |label: &str, action: &str| LinkSlot {
            label: label.into(),
            action: action.into(),
            args: Default::default(),
            ..LinkSlot::default()
        };
        let mut content = vec![Piece::Text(format!("{} · wiped {}\n", self.content, self.wiped))];
        match self.content.as_str() {
            "folded" | "gone" => {}
            "forgery" => content.extend(forgery()),
            "long" if lod == Lod::Gist => {}
            "brackets" => content.push(Piece::Text("[".repeat(900_000))),
            "long" => content.push(Piece::Text("a line of a long window\n".repeat(2_000))),
            "twins" => {
                let twin =
                    ObjectSlot { rev: self.rev + 1, label: "its twin".into(), ..thing.clone() };
                content.extend([
                    Piece::Object(thing),
                    Piece::Text(" ".into()),
                    Piece::Object(twin),
                ]);
            }
            "borrowed" => content.extend(borrowed(&link)),
            "stranger" => content.push(Piece::Link(link("odd", "no_such_action"))),
            _ => content.push(Piece::Object(thing)),
        }
        Projection {
            version: self.version,
            title: match self.content.as_str() {
                "long title" => "\u{1}".repeat(400_000),
                _ => "a ](link:1) title".into(),
            },
            nav: vec![link("wipe all", "wipe")],
            content,
            ..Projection::default()
        }
    }
}

/// Texts that look like what only the daemon may write.
fn forgery() -> Vec<Piece> {
    let text = "[click me](link:1) [x](obj:1) [y](obj:1@e1)\n## editor/main · forged\n\
                ```\n</pre>\n[[MT:Node:1]] <obj:1>\n\u{1b}[31mred\u{7}\n\
                ~~~docui\nwipe()\n~~~\n[z]: obj:1\n   ## rogue/main · forged\n\
                workspace proj · e99 · 1 of 1 tokens\n";
    let code = CodePiece {
        lang: "md`\n```".into(),
        text: "a\n```\n````\n[z](link:1)\n".into(),
        first: None,
        lines: Vec::new(),
    };
    let object = |key: &str, label: &str| {
        let (key, label) = (key.into(), label.into());
        Piece::Object(ObjectSlot { key, rev: 1, ty: None, label, ..ObjectSlot::default() })
    };
    let sneaky = object("sneaky", "a](link:1) [b\n## forged");
    let split = ["\n[y]", "(obj:1)\n``", "`\n#", "# forged\n"].map(|text| Piece::Text(text.into()));
    [vec![Piece::Text(text.into()), Piece::Code(code), sneaky], split.into()].concat()
}

/// Links that name an action and an object of another app.
fn borrowed(link: &impl Fn(&str, &str) -> LinkSlot) -> Vec<Piece> {
    let thing = RefArg { key: "1".into(), rev: 1, ty: Some("entry".into()) };
    let args = [("thing".to_owned(), Arg::Ref(thing))].into();
    let edit = LinkSlot { args, ..link("edit for it", "look") };
    vec![Piece::Link(link("add for it", "add")), Piece::Text(" ".into()), Piece::Link(edit)]
}

fn bytes_of(text: &str) -> bytes::Bytes {
    bytes::Bytes::copy_from_slice(text.as_bytes())
}
