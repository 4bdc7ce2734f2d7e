//! Greeting and request in bytes, as `pipemux-proto` writes them.

use crate::environment::Environment;
use crate::limits::{HINT_OPTIONS_MAX, REQUEST_MS};
use crate::line::{Line, Verb};
use crate::pack::Writer;
use crate::place::{DEFAULT, display_name, hex};

/// The numbers of [`Kind`](pipemux_proto::Kind) and [`Method`](pipemux_proto::Method) that are
/// used.
pub const REQUEST: u64 = 0;
pub const REPLY: u64 = 1;
pub const EVENT: u64 = 3;
pub const HELLO: u64 = 0;
pub const VERB: u64 = 32;
pub const SEEN: u64 = 33;

/// The id of the request; there is only one.
pub const ID: u64 = 1;
/// The major version of the protocol.
pub const MAJOR: u64 = 1;
const MINOR: u64 = 6;

/// The contents of a request besides its command line.
pub struct Facts<'a> {
    pub environment: &'a Environment<'a>,
    pub directory: &'a str,
    /// The key of the workspace.
    pub workspace: &'a str,
    pub run_id: &'a str,
}

/// Writes greeting and request. `None` if they don't fit, or a name needs a closer look.
pub fn write<'a>(room: &'a mut [u8], line: &Line<'_>, facts: &Facts<'_>) -> Option<&'a [u8]> {
    let mut writer = Writer::new(room);
    frame(&mut writer, [EVENT, HELLO, 0, 0], hello);
    let name = display_name(facts.workspace)?;
    let hints = Hints::of(line);
    if hints.length() > HINT_OPTIONS_MAX {
        return None;
    }
    frame(&mut writer, [REQUEST, VERB, ID, REQUEST_MS.into()], |writer| {
        verb_request(writer, line, facts, name, &hints);
    });
    writer.finish()
}

/// Writes the confirmation that the answer was written.
pub fn write_seen(room: &mut [u8], delivery: u64) -> Option<&[u8]> {
    let mut writer = Writer::new(room);
    frame(&mut writer, [EVENT, SEEN, 0, 0], |writer| {
        writer.map(1);
        writer.text("delivery");
        writer.number(delivery);
    });
    writer.finish()
}

/// Writes a frame: its length, kind, method, id and deadline, and its body.
fn frame(writer: &mut Writer<'_>, envelope: [u64; 4], body: impl FnOnce(&mut Writer<'_>)) {
    let start = writer.length();
    writer.bytes(&[0; 4]);
    let [kind, method, id, deadline] = envelope;
    writer.bytes(&[0x95]);
    [kind, method, id, 0, deadline].into_iter().for_each(|number| writer.number(number));
    body(writer);
    let length = writer.length().wrapping_sub(start).wrapping_sub(4);
    writer.overwrite(start, &(length as u32).to_be_bytes());
}

fn hello(writer: &mut Writer<'_>) {
    writer.map(5);
    writer.text("protocol");
    writer.map(2);
    writer.text("major");
    writer.number(MAJOR);
    writer.text("minor");
    writer.number(MINOR);
    writer.text("features");
    writer.bytes(&[0x90]);
    writer.text("role");
    writer.text("client");
    writer.text("software");
    writer.text(concat!("pipemux ", env!("CARGO_PKG_VERSION")));
    writer.text("prototypes");
    writer.bytes(&[0x90]);
}

fn verb_request(
    writer: &mut Writer<'_>,
    line: &Line<'_>,
    facts: &Facts<'_>,
    name: &str,
    hints: &Hints<'_>,
) {
    let environment = facts.environment;
    let passed = if line.verb.may_open() { environment.passed() } else { &[] };
    let session = environment.session();
    let (token, hints_said) = (environment.reader_token, hints.length() > 0);
    let optional = [token.is_some(), session.is_some(), hints_said, !passed.is_empty()];
    let present = optional.into_iter().filter(|is_present| *is_present).count();
    writer.map((present as u8).wrapping_add(6));
    writer.text("workspace");
    writer.map(2);
    writer.text("key");
    writer.text(facts.workspace);
    writer.text("name");
    writer.text(name);
    writer.text("reader");
    match (line.reader.or(environment.reader), session) {
        (Some(reader), _) => writer.text(reader),
        (None, Some((_, session))) => writer.joined("", || ["session-", session].into_iter()),
        (None, None) => writer.text(DEFAULT),
    }
    if let Some(token) = token {
        writer.text("reader_token");
        writer.text(token);
    }
    writer.text("run_id");
    writer.text(facts.run_id);
    writer.text("format");
    writer.text("markdown");
    writer.text("cwd");
    writer.text(facts.directory);
    if let Some((harness, _)) = session {
        writer.text("client");
        writer.joined(" ", || ["cli", harness].into_iter());
    }
    if hints_said {
        writer.text("hint_options");
        writer.joined(" ", || hints.words());
    }
    if !passed.is_empty() {
        writer.text("env");
        writer.map(passed.len() as u8);
        for (name, value) in passed {
            writer.text(name);
            writer.text(value);
        }
    }
    writer.text("verb");
    verb(writer, &line.verb);
}

fn verb(writer: &mut Writer<'_>, verb: &Verb<'_>) {
    writer.map(1);
    let field = |writer: &mut Writer<'_>, verb: &str, name: &str, value: &str| {
        writer.text(verb);
        writer.map(1);
        writer.text(name);
        writer.text(value);
    };
    match verb {
        Verb::Click(link) => field(writer, "click", "link", link),
        Verb::Read(target) => field(writer, "read", "target", target),
        Verb::Run { code, only_queries: false } => field(writer, "run", "code", code),
        Verb::Run { code, only_queries: true } => {
            writer.text("run");
            writer.map(2);
            writer.text("code");
            writer.text(code);
            writer.text("only_queries");
            writer.yes();
        }
        Verb::Answer(words) => {
            writer.text("answer");
            writer.map(1);
            writer.text("text");
            writer.joined(" ", || words.iter());
        }
        Verb::View(None) => {
            writer.text("view");
            writer.map(0);
        }
        Verb::View(Some(session)) => {
            writer.text("view");
            writer.map(2);
            writer.text("session");
            writer.text(session);
            writer.text("open");
            writer.yes();
        }
    }
}

/// The options that commands in hints repeat.
struct Hints<'a> {
    options: [(&'static str, Option<&'a str>); 2],
}

impl<'a> Hints<'a> {
    fn of(line: &Line<'a>) -> Self {
        Self { options: [("--workspace", line.workspace), ("--reader", line.reader)] }
    }

    fn words(&self) -> impl Iterator<Item = &'a str> {
        let given = self.options.into_iter().filter_map(|(name, value)| Some([name, value?]));
        given.flatten()
    }

    fn length(&self) -> usize {
        self.words().fold(0, |length, word| length.saturating_add(word.len()).saturating_add(1))
    }
}

/// Makes a request's id of the time and randomness, as `pipemux_proto::run_id` does.
pub fn run_id(unix_ms: u64, random: [u8; 16]) -> [u8; 36] {
    let random = u128::from_be_bytes(random);
    let (a, b) = ((random >> 62) as u64 & 0xfff, random as u64 & ((1 << 62) - 1));
    let mut id = *b"01234567-0123-7abc-0123-0123456789ab";
    let parts = [
        (0..8, unix_ms >> 16),
        (9..13, unix_ms),
        (15..18, a),
        (19..23, 0x8000 | b >> 48),
        (24..36, b),
    ];
    for (range, number) in parts {
        if let Some(room) = id.get_mut(range) {
            hex(number, room);
        }
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::client::DeliveryAck;
    use pipemux_proto::envelope::{Envelope, Kind, Method};
    use pipemux_proto::{Frame, Hello, Incarnation, Role, hello::PROTOCOL};

    #[test]
    fn greeting_and_confirmation_are_those_of_the_protocol() {
        assert_eq!((PROTOCOL.major, PROTOCOL.minor), (MAJOR as u16, MINOR as u16));
        let numbers = [Kind::Request as u64, Kind::Reply as u64, Kind::Event as u64];
        assert_eq!(numbers, [REQUEST, REPLY, EVENT]);
        let methods = [Method::Hello as u64, Method::Verb as u64, Method::Seen as u64];
        assert_eq!(methods, [HELLO, VERB, SEEN]);
        let software = concat!("pipemux ", env!("CARGO_PKG_VERSION"));
        let greeting = Envelope::event(Method::Hello, Incarnation(0));
        let expected = Frame::encode(&greeting, &Hello::new(Role::Client, software)).unwrap();
        let mut room = [0; 256];
        let mut writer = Writer::new(&mut room);
        frame(&mut writer, [EVENT, HELLO, 0, 0], hello);
        assert_eq!(writer.finish().unwrap(), expected);
        for delivery in [1, 300, u64::MAX] {
            let seen = Envelope::event(Method::Seen, Incarnation(0));
            let expected = Frame::encode(&seen, &DeliveryAck { delivery }).unwrap();
            assert_eq!(write_seen(&mut room, delivery).unwrap(), expected);
        }
    }

    #[test]
    fn ids_are_those_of_the_protocol() {
        for (ms, random) in [(0, 0), (1_765_360_800_123, u128::MAX), ((1 << 48) - 1, 1 << 73)] {
            let expected = pipemux_proto::run_id::new(ms, random);
            assert_eq!(run_id(ms, random.to_be_bytes()), expected.as_bytes());
        }
    }
}
