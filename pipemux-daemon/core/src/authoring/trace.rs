//! The frames of a session, decoded, for its author: `pipemux trace`.
//!
//! A session is traced once somebody asks, until nobody has asked for [`TRACE_MS`], and always
//! while its manifest says `dev = true`. The newest frames are kept, in memory only.
//!
//! **Invariant: no secret enters a trace.** Values of variables that a manifest passes, arguments
//! and answers that are secret are left out when a frame is recorded.

use std::collections::VecDeque;
use std::fmt::Write as _;

use pipemux_proto::client::is_passed_variable;
use pipemux_proto::prototype::{Param, Prototype};
use pipemux_proto::watch::LogPart;
use pipemux_proto::{Frame, Kind, Method, Value};

use crate::event::Now;
use crate::intake;
use crate::limits::{TRACE_BYTES, TRACE_LINES, TRACE_SECRETS_MAX};

/// Items of one list or map in a trace.
const TRACE_ITEMS: usize = 40;
/// Characters of one text in a trace.
const TRACE_TEXT_CHARS: usize = 200;
/// Bytes of one frame in a trace.
const TRACE_FRAME_CHARS: usize = 2_000;
/// Milliseconds that a session is traced after somebody asked for its trace.
const TRACE_MS: u64 = 10 * 60_000;

/// The direction of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    ToApp,
    FromApp,
}

/// The newest frames of a session.
#[derive(Debug, Default)]
pub struct Trace {
    lines: VecDeque<String>,
    bytes: usize,
    /// The total number of recorded frames.
    next: u64,
    /// The end of the trace on the monotonic clock; `None` for one in an author's session.
    until: Option<u64>,
    /// The tokens of questions whose answers are secret.
    secret_tokens: VecDeque<Value>,
    /// The tokens of the other questions that it has. The answer to one that was asked before the
    /// trace may be secret.
    plain_tokens: VecDeque<Value>,
}

impl Trace {
    /// Goes on for a while from now; for ever for a session whose author works on it.
    pub fn prolong(&mut self, now: Now, dev: bool) {
        self.until = (!dev).then_some(now.mono_ms + TRACE_MS);
    }

    /// True once nobody has asked for it for long.
    pub fn is_over(&self, now: Now) -> bool {
        self.until.is_some_and(|until| until <= now.mono_ms)
    }

    /// Returns how many frames were recorded in all: the position after the newest one.
    #[cfg(test)]
    fn end(&self) -> u64 {
        self.next
    }

    /// Records a frame, and why it was dropped if it was.
    pub fn record(
        &mut self,
        now: Now,
        direction: Direction,
        frame: &Frame,
        actions: &[Prototype],
        dropped: Option<&str>,
    ) {
        let envelope = &frame.envelope;
        let arrow = if direction == Direction::ToApp { "→" } else { "←" };
        let (life, method) = (envelope.incarnation, envelope.method);
        let mut line = format!("{} life {life} {arrow} {method:?}", time_of_day(now.unix_ms));
        let _ = match envelope.kind {
            Kind::Request => write!(line, " #{}", envelope.id),
            Kind::Reply => write!(line, " #{} reply", envelope.id),
            Kind::Fault => write!(line, " #{} fault", envelope.id),
            Kind::Event => Ok(()),
            Kind::Cancel => write!(line, " #{} cancel", envelope.id),
        };
        if method == Method::Exchange {
            let _ = write!(line, " {} bytes", frame.body.len());
        } else {
            match intake::any(&frame.body) {
                Ok(mut body) => {
                    self.leave_secrets_out(&mut body, method, envelope.kind, actions);
                    line.push(' ');
                    write_value(&body, &mut line, 0);
                }
                Err(why) => {
                    let _ = write!(line, " unreadable: {why}");
                }
            }
        }
        if line.len() > TRACE_FRAME_CHARS {
            line.truncate(line.floor_char_boundary(TRACE_FRAME_CHARS));
            line.push('…');
        }
        if let Some(why) = dropped {
            let _ = write!(line, " · dropped: {why}");
        }
        self.push(line);
    }

    fn push(&mut self, line: String) {
        self.bytes += line.len();
        self.lines.push_back(line);
        self.next += 1;
        while self.bytes > TRACE_BYTES || self.lines.len() > TRACE_LINES {
            let Some(oldest) = self.lines.pop_front() else { return };
            self.bytes -= oldest.len();
        }
    }

    /// Returns the newest lines, or those after a position.
    pub fn part(&self, after: Option<u64>, most: usize) -> LogPart {
        let first = self.next - self.lines.len() as u64;
        let (from, missed) = match after {
            Some(after) => (after.max(first), first.saturating_sub(after)),
            None => (self.next.saturating_sub(most as u64).max(first), 0),
        };
        let mut text = String::new();
        if missed > 0 {
            let _ = writeln!(text, "… {missed} frames left out");
        }
        let skipped = usize::try_from(from - first).unwrap_or(usize::MAX);
        for line in self.lines.iter().skip(skipped) {
            text += line;
            text.push('\n');
        }
        LogPart { text, next: self.next, missed: 0 }
    }

    fn leave_secrets_out(
        &mut self,
        body: &mut Value,
        method: Method,
        kind: Kind,
        actions: &[Prototype],
    ) {
        match (method, kind) {
            (Method::AppOpen, Kind::Request) => {
                let Some(Value::Map(env)) = field(body, "env") else { return };
                for (_, value) in env.iter_mut().filter(|(name, _)| !is_passed_variable(name)) {
                    *value = NOT_SHOWN.into();
                }
            }
            (Method::Invoke, Kind::Request) => {
                let action = body.get("action").and_then(Value::as_str);
                let action = actions.iter().find(|known| Some(known.name.as_str()) == action);
                let secret = |name: &str| action.is_some_and(|action| is_secret(action, name));
                if let Some(args) = field(body, "args") {
                    hide(args, &secret);
                }
                let Some(resume) = field(body, "resume") else { return };
                let token = resume.get("token").cloned().unwrap_or(Value::Null);
                let plain = self.plain_tokens.contains(&token);
                if (!plain || self.secret_tokens.contains(&token))
                    && let Some(choice) = field(resume, "choice")
                {
                    *choice = NOT_SHOWN.into();
                }
            }
            (Method::Invoke, Kind::Reply) => {
                let Some(needs) = field(body, "needs") else { return };
                let token = needs.get("token").cloned().unwrap_or(Value::Null);
                let tokens = match needs.get("question").is_some_and(asks_for_secret) {
                    true => &mut self.secret_tokens,
                    false => &mut self.plain_tokens,
                };
                tokens.push_back(token);
                if tokens.len() > TRACE_SECRETS_MAX {
                    tokens.pop_front();
                }
            }
            _ => {}
        }
    }
}

/// The placeholder for a value that is left out.
const NOT_SHOWN: &str = "(not shown)";

/// Leaves out the arguments whose names are those of secrets.
fn hide(args: &mut Value, is_secret: &dyn Fn(&str) -> bool) {
    let Value::Map(args) = args else { return };
    for (_, value) in args.iter_mut().filter(|(name, _)| is_secret(name)) {
        *value = NOT_SHOWN.into();
    }
}

/// True for an argument whose value, or a part of it, is secret. One that isn't declared may be
/// anything.
fn is_secret(action: &Prototype, param: &str) -> bool {
    let found = action.params.iter().find(|known| known.name == param);
    found.is_none_or(Param::holds_secret)
}

/// True for a question whose answer, or a field of it, is secret.
fn asks_for_secret(question: &Value) -> bool {
    match question {
        Value::Map(fields) => fields.iter().any(|(name, value)| {
            (name == "secret" && *value == Value::Bool(true)) || asks_for_secret(value)
        }),
        Value::List(items) => items.iter().any(asks_for_secret),
        _ => false,
    }
}

fn field<'a>(value: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    let Value::Map(fields) = value else { return None };
    fields.iter_mut().find(|(field, _)| field == name).map(|(_, value)| value)
}

/// Writes a value on one line, without the ends of long texts and lists.
fn write_value(value: &Value, out: &mut String, depth: usize) {
    match value {
        Value::Str(text) => {
            let short: String = text.chars().take(TRACE_TEXT_CHARS).collect();
            let more = if short.len() < text.len() { "…" } else { "" };
            let _ = write!(out, "{short:?}{more}");
        }
        // Arguments and results are values that are encoded by themselves.
        Value::Bin(bytes) => match intake::any(bytes) {
            Ok(inner) if depth < 16 && bytes.len() <= TRACE_FRAME_CHARS => {
                write_value(&inner, out, depth + 1);
            }
            _ => {
                let _ = write!(out, "<{} bytes>", bytes.len());
            }
        },
        Value::List(items) => {
            out.push('[');
            write_items(items, out, |item, out| write_value(item, out, depth + 1));
            out.push(']');
        }
        Value::Map(fields) => {
            out.push('{');
            write_items(fields, out, |(name, value), out| {
                out.push_str(name);
                out.push_str(": ");
                write_value(value, out, depth + 1);
            });
            out.push('}');
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

fn write_items<T>(items: &[T], out: &mut String, mut write: impl FnMut(&T, &mut String)) {
    for (at, item) in items.iter().take(TRACE_ITEMS).enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        // What comes later would be cut anyway.
        if out.len() > TRACE_FRAME_CHARS {
            return;
        }
        write(item, out);
    }
    if items.len() > TRACE_ITEMS {
        let _ = write!(out, ", … {} more", items.len() - TRACE_ITEMS);
    }
}

/// Returns the time of the day in UTC: `03:04:05.123`.
pub fn time_of_day(unix_ms: u64) -> String {
    let (seconds, ms) = (unix_ms / 1000 % 86_400, unix_ms % 1000);
    format!("{:02}:{:02}:{:02}.{ms:03}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::app::{Choice, Invoke, OpenRequest, Resume};
    use pipemux_proto::{Blob, Envelope, Incarnation};

    const NOW: Now = Now { mono_ms: 0, unix_ms: 11_045_123 };

    fn frame<T: serde::Serialize>(envelope: Envelope, body: &T) -> Frame {
        Frame { envelope, body: pipemux_proto::encode(body).unwrap().into() }
    }

    fn request(method: Method) -> Envelope {
        Envelope::request(method, 5, Incarnation(7))
    }

    fn recorded(trace: &mut Trace, direction: Direction, frame: &Frame) -> String {
        let at = trace.end();
        trace.record(NOW, direction, frame, &[], None);
        trace.part(Some(at), 0).text
    }

    #[test]
    fn frame_is_one_readable_line() {
        let args = [("text".to_owned(), Value::from("milk").into())].into();
        let invoke = Invoke { action: "add".into(), args, ..Invoke::default() };
        let mut trace = Trace::default();
        let line = recorded(&mut trace, Direction::ToApp, &frame(request(Method::Invoke), &invoke));
        let expected =
            "03:04:05.123 life 7 → Invoke #5 {action: \"add\", args: {text: {value: \"milk\"}}, ";
        assert!(line.starts_with(expected), "{line}");
        let event = Envelope::event(Method::Changed, Incarnation(6));
        let event = frame(event, &pipemux_proto::app::Changed { version: 3 });
        trace.record(NOW, Direction::FromApp, &event, &[], Some("another incarnation"));
        let line = trace.part(Some(1), 0).text;
        let expected =
            "03:04:05.123 life 6 ← Changed {version: 3} · dropped: another incarnation\n";
        assert_eq!(line, expected);
    }

    #[test]
    fn values_of_passed_variables_and_secret_answers_are_left_out() {
        let open = OpenRequest {
            session: "todo/main".parse().unwrap(),
            attach: false,
            again: false,
            args: Vec::new(),
            cwd: "/".into(),
            env: [("LANG", "C"), ("API_TOKEN", "hush")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            state_dir: "/s".into(),
            woken: None,
            due: false,
            jobs: Vec::new(),
        };
        let mut trace = Trace::default();
        let line = recorded(&mut trace, Direction::ToApp, &frame(request(Method::AppOpen), &open));
        assert!(line.contains("LANG: \"C\"") && !line.contains("hush"), "{line}");

        let map = |fields: &[(&str, Value)]| {
            let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
            Value::Map(fields.collect())
        };
        let token = Blob(bytes::Bytes::from_static(b"\xa1t"));
        let question = map(&[("text", "password?".into()), ("secret", true.into())]);
        let needs = map(&[("question", question), ("token", Value::Bin(token.0.clone()))]);
        let reply = frame(request(Method::Invoke).answer(Kind::Reply), &map(&[("needs", needs)]));
        recorded(&mut trace, Direction::FromApp, &reply);
        let resume = |token: &Blob| {
            let choice = Choice::Text("hush".into());
            let resume = Some(Resume { token: token.clone(), choice });
            frame(request(Method::Invoke), &Invoke { resume, ..Invoke::default() })
        };
        let line = recorded(&mut trace, Direction::ToApp, &resume(&token));
        assert!(line.contains("(not shown)") && !line.contains("hush"), "{line}");
        // Of a question that isn't in the trace, nobody knows.
        let other = Blob(bytes::Bytes::from_static(b"\xa1u"));
        let line = recorded(&mut trace, Direction::ToApp, &resume(&other));
        assert!(line.contains("(not shown)") && !line.contains("hush"), "{line}");
        let question = map(&[("text", "name?".into())]);
        let needs = map(&[("question", question), ("token", Value::Bin(other.0.clone()))]);
        let reply = frame(request(Method::Invoke).answer(Kind::Reply), &map(&[("needs", needs)]));
        recorded(&mut trace, Direction::FromApp, &reply);
        assert!(recorded(&mut trace, Direction::ToApp, &resume(&other)).contains("hush"));
    }

    #[test]
    fn newest_frames_are_kept_and_the_others_counted() {
        let mut trace = Trace::default();
        let ping = frame(request(Method::Ping), &pipemux_proto::app::Empty {});
        for _ in 0..TRACE_LINES + 3 {
            trace.record(NOW, Direction::ToApp, &ping, &[], None);
        }
        let all = trace.part(Some(0), 0);
        assert!(all.text.starts_with("… 3 frames left out\n"), "{}", all.text);
        assert_eq!(all.text.lines().count(), TRACE_LINES + 1);
        assert_eq!(trace.part(None, 2).text.lines().count(), 2);
        assert_eq!(trace.part(Some(all.next), 0).text, "");
        let long = frame(request(Method::Ping), &Value::from("x".repeat(100_000)));
        let line = recorded(&mut trace, Direction::ToApp, &long);
        assert!(line.len() < TRACE_FRAME_CHARS + 10, "{}", line.len());
    }
}
