//! One sample of each message and variant.

mod app;
mod client;
mod forms;

use pipemux_proto::app::Empty;
use pipemux_proto::fault::{Level, SourcePosition};
use pipemux_proto::hello::ProtocolVersion;
use pipemux_proto::prototype::{Param, Prominence, Prototype, Raw, Risk, Type};
use pipemux_proto::{Code, Envelope, Fault, Frame, Hello, Incarnation, Kind, Method, Role, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A message as a frame.
pub struct Sample {
    pub name: String,
    pub envelope: Envelope,
    pub bytes: Vec<u8>,
    /// Decodes a frame as this message and encodes it again.
    pub reencode: fn(&Frame) -> Result<Vec<u8>, String>,
}

pub fn samples() -> Vec<Sample> {
    let mut all = Vec::new();
    greetings(&mut all);
    faults(&mut all);
    empties(&mut all);
    app::samples(&mut all);
    client::samples(&mut all);
    forms::samples(&mut all);
    all
}

/// Adds a frame of one conversation: incarnation 7, request 300.
fn add<T: Serialize + DeserializeOwned>(
    all: &mut Vec<Sample>,
    name: &str,
    (kind, method): (Kind, Method),
    body: &T,
) {
    let id = if kind == Kind::Event && method != Method::Progress { 0 } else { 300 };
    let client = matches!(method, Method::Verb | Method::Seen | Method::Attach);
    let incarnation = Incarnation(if client { 0 } else { 7 });
    let deadline_ms = if kind == Kind::Request { 30_000 } else { 0 };
    let envelope = Envelope { kind, method, id, incarnation, deadline_ms };
    let bytes = Frame::encode(&envelope, body).expect("it encodes").to_vec();
    all.push(Sample { name: name.to_owned(), envelope, bytes, reencode: reencode::<T> });
}

fn greetings(all: &mut Vec<Sample>) {
    let event = (Kind::Event, Method::Hello);
    for (name, minor) in [("", 0), ("-1-1", 1), ("-1-2", 2), ("-1-3", 3)] {
        let protocol = ProtocolVersion { major: 1, minor };
        let hello = |role, software| Hello { protocol, ..Hello::new(role, software) };
        let (client, daemon) = ("pipemux 0.1.0", "pipemuxd 0.1.0");
        add(all, &format!("hello-client{name}"), event, &hello(Role::Client, client));
        add(all, &format!("hello-daemon{name}"), event, &hello(Role::Daemon, daemon));
    }
    let types = [
        Type::String,
        Type::Int,
        Type::Float,
        Type::Bool,
        Type::Null,
        Type::Line,
        Type::Any,
        Type::Union(vec!["a".into(), "b".into()]),
        Type::Anchor(None),
        Type::Anchor(Some("enemy".into())),
        Type::List(Box::new(Type::Int)),
        Type::Optional(Box::new(Type::String)),
    ];
    let risks = [Risk::Safe, Risk::Changes, Risk::Destructive];
    let places = [Prominence::Featured, Prominence::Listed, Prominence::Help];
    let prototypes =
        risks.into_iter().zip(places).enumerate().map(|(index, (risk, prominence))| {
            let params = types.iter().skip(index * 4).take(4).enumerate();
            let params = params.map(|(at, ty)| Param {
                name: format!("p{at}"),
                ty: ty.clone(),
                default: (at == 0).then(|| Value::from("x")),
                ..Param::default()
            });
            Prototype {
                name: format!("act{index}"),
                doc: "Does it.".into(),
                params: params.collect(),
                returns: (index == 0).then_some(Type::String),
                risk,
                idempotent: index == 1,
                prominence,
                ..Prototype::default()
            }
        });
    let mut hello = Hello::new(Role::App, "docui 0.1.0");
    hello.protocol = ProtocolVersion { major: 1, minor: 0 };
    hello.features = vec!["later".into()];
    hello.prototypes = prototypes.collect();
    hello.token_prefix = Some("MT".into());
    add(all, "hello-app", event, &hello);
    let previewing = hello.prototypes[2].clone();
    let previewing = vec![Prototype { previews: true, params: Vec::new(), ..previewing }];
    add(all, "hello-app-previews", event, &Hello { prototypes: previewing, ..hello.clone() });
    hello.prototypes.truncate(1);
    hello.prototypes[0].params.truncate(1);
    hello.prototypes[0].params[0].doc = "What it is done to.".into();
    add(all, "hello-app-param-doc", event, &hello);
    for (name, raw) in [("always", Raw::Always), ("if", Raw::If("regex".into()))] {
        hello.prototypes[0].params[0].raw = raw;
        add(all, &format!("hello-app-param-raw-{name}"), event, &hello);
    }
    hello.prototypes[0].params[0].raw = Raw::default();
    hello.prototypes[0].called = Some("act".into());
    hello.prototypes[0].risk = Risk::Query;
    hello.prototypes[0].prominence = Prominence::Alias;
    add(all, "hello-app-overload", event, &hello);
    hello.prototypes[0].params[0].named = true;
    add(all, "hello-app-param-named", event, &hello);
    hello.prototypes[0].input = true;
    add(all, "hello-app-input", event, &hello);
}

fn faults(all: &mut Vec<Sample>) {
    let codes = [
        ("failed", Code::Failed),
        ("usage", Code::Usage),
        ("not-found", Code::NotFound),
        ("stale", Code::Stale),
        ("out-of-view", Code::OutOfView),
        ("unavailable", Code::Unavailable),
        ("unknown", Code::Unknown),
        ("version", Code::Version),
        ("refused", Code::Refused),
        ("invalid-source-data", Code::InvalidSourceData),
        ("version-mismatch", Code::VersionMismatch),
        ("anchor-conflict", Code::AnchorConflict),
        ("context-too-large", Code::ContextTooLarge),
        ("other", Code::Other),
    ];
    for (name, code) in codes {
        let fault = Fault::new(code, "it went wrong");
        add(all, &format!("fault-{name}"), (Kind::Fault, Method::Invoke), &fault);
    }
    for (name, level) in [("choice", Level::Choice), ("wizard", Level::Wizard)] {
        let mut fault = Fault::usage("wrong").hint("pipemux view").about("k1");
        fault.level = level;
        fault.at = Some(SourcePosition { line: 2, column: 7 });
        add(all, &format!("fault-{name}"), (Kind::Fault, Method::Verb), &fault);
    }
}

fn empties(all: &mut Vec<Sample>) {
    for (name, method) in
        [("ping", Method::Ping), ("save", Method::Save), ("app-close", Method::AppClose)]
    {
        add(all, name, (Kind::Request, method), &Empty {});
        add(all, &format!("{name}-reply"), (Kind::Reply, method), &Empty {});
    }
    add(all, "cancel", (Kind::Cancel, Method::Ping), &Empty {});
    add(all, "seen-reply", (Kind::Reply, Method::Seen), &Empty {});
}

/// Decodes a frame as a message of type `T` and encodes it again.
fn reencode<T: Serialize + DeserializeOwned>(frame: &Frame) -> Result<Vec<u8>, String> {
    let body: T = pipemux_proto::decode(&frame.body).map_err(|error| error.to_string())?;
    Frame::encode(&frame.envelope, &body).map(|b| b.to_vec()).map_err(|error| error.to_string())
}
