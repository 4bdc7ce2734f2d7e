//! What the author of an app is told while they work on it (`dev = true` in the manifest): frames
//! that are dropped, flaws of messages with the path of the field, versions that stay when the
//! window changes, answers that come late.
//!
//! It is told at once, as a notice that comes with the next answer, and written to the session's
//! log. Each thing is told once in a process's life.

use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

use pipemux_proto::app::{Opened, Outcome};
use pipemux_proto::job::JobReport;
use pipemux_proto::projection::Projection;
use pipemux_proto::prototype::{Prototype, Risk};
use pipemux_proto::{Fault, Frame, Hello, Kind, Method, Value};
use rustc_hash::FxHasher;

use crate::authoring::lint::{self, Lint};
use crate::intake;
use crate::limits::{AUTHOR_TOLD_MAX, LOCATE_MS, PING_MS, PROJECT_MS};

/// The records on a process whose author is working on it.
#[derive(Debug, Default)]
pub struct AuthorAid {
    /// Requests that have no answer yet, by id.
    asked: HashMap<u64, Asked>,
    /// The newest version of each window, and a fingerprint of its contents.
    shown: HashMap<WindowKey, (u64, u64)>,
    /// The newest version that the app named.
    version: Option<u64>,
    /// The problems that were already reported.
    told: BTreeSet<String>,
}

/// The key of a window: its number, level of detail and budget, as in the request.
type WindowKey = String;

#[derive(Debug)]
struct Asked {
    at: u64,
    /// The requested window.
    window: Option<WindowKey>,
    /// The action being carried out, and the version before it.
    action: Option<(String, Option<u64>)>,
}

impl AuthorAid {
    /// Records a request that is sent.
    pub fn sent(&mut self, now_ms: u64, frame: &Frame) {
        let envelope = &frame.envelope;
        if envelope.kind != Kind::Request {
            return;
        }
        let body = intake::any(&frame.body).unwrap_or(Value::Null);
        let window = (envelope.method == Method::Project).then(|| {
            let part = |name: &str| body.get(name).map_or(String::new(), Value::to_string);
            [part("window"), part("lod"), part("budget")].join(" ")
        });
        let action = body.get("action").and_then(Value::as_str);
        let action = action.map(|action| (action.to_owned(), self.version));
        self.asked.insert(envelope.id, Asked { at: now_ms, window, action });
    }

    /// Returns what is to be told of a frame that the app sent.
    pub fn received(&mut self, now_ms: u64, frame: &Frame, actions: &[Prototype]) -> Vec<String> {
        let envelope = &frame.envelope;
        let method = envelope.method;
        let asked = match envelope.kind {
            Kind::Reply | Kind::Fault => self.asked.remove(&envelope.id),
            _ => None,
        };
        let mut told = Vec::new();
        if let Some(asked) = &asked {
            told.extend(late(method, now_ms.saturating_sub(asked.at)));
        }
        let lints = match (envelope.kind, method) {
            (Kind::Fault, _) => read::<Fault>(frame).map(|fault| lint::fault(&fault)),
            (Kind::Event, Method::Hello) => read::<Hello>(frame).map(|hello| lint::hello(&hello)),
            (Kind::Reply, Method::AppOpen) => {
                read::<Opened>(frame).map(|opened| lint::opened(&opened))
            }
            (Kind::Reply, Method::Project) => read::<Projection>(frame).map(|shown| {
                told.extend(asked.and_then(|asked| self.window_shown(asked.window?, &shown)));
                self.version = Some(shown.version);
                lint::projection(&shown, actions)
            }),
            (Kind::Reply, Method::Invoke) => read::<Outcome>(frame).map(|outcome| {
                let asked = asked.and_then(|asked| asked.action);
                let action = asked
                    .as_ref()
                    .and_then(|(name, _)| actions.iter().find(|action| action.name == *name));
                let version = match &outcome {
                    Outcome::Done(done) => Some(done.version),
                    Outcome::Started(started) => Some(started.version),
                    Outcome::Needs(_) | Outcome::Failed(_) => None,
                };
                if let (Some(version), Some(action)) = (version, action) {
                    let before = asked.as_ref().and_then(|(_, before)| *before);
                    told.extend(version_kept(action, before, version));
                    self.version = Some(version);
                }
                lint::outcome(&outcome, action, actions)
            }),
            // One that can't be read is told of as dropped.
            (Kind::Event, Method::JobReport) => {
                Ok(read::<JobReport>(frame).map_or(Vec::new(), |report| lint::job_report(&report)))
            }
            _ => Ok(Vec::new()),
        };
        match lints {
            Ok(lints) => told.extend(lints.iter().map(|lint| written(method, lint))),
            Err(why) => told.push(format!("{method:?} can't be read: {why}")),
        }
        told.retain(|text| self.is_new(text));
        told
    }

    /// Records a window that arrived. Returns the problem with its version, if there is one.
    fn window_shown(&mut self, window: WindowKey, shown: &Projection) -> Option<String> {
        if shown.unchanged {
            return None;
        }
        let mut hasher = FxHasher::default();
        let plain = Projection { version: 0, ..shown.clone() };
        pipemux_proto::encode(&plain).unwrap_or_default().hash(&mut hasher);
        let fingerprint = hasher.finish();
        let before = self.shown.insert(window, (shown.version, fingerprint));
        (before?.0 == shown.version && before?.1 != fingerprint).then(|| {
            format!(
                "Project · version: the window changed and its version stayed {}: each change adds 1",
                shown.version
            )
        })
    }

    /// Returns true for a text that wasn't reported yet for this process, ignoring digits.
    pub fn is_new(&mut self, text: &str) -> bool {
        let plain: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
        self.told.len() < AUTHOR_TOLD_MAX && self.told.insert(plain)
    }
}

fn read<T: serde::de::DeserializeOwned>(frame: &Frame) -> Result<T, String> {
    intake::as_sent(&frame.body)
}

fn written(method: Method, lint: &Lint) -> String {
    format!("{method:?} · {} · {}: {}", lint.path, lint.rule, lint.text)
}

fn late(method: Method, took: u64) -> Option<String> {
    let most = match method {
        Method::Project => PROJECT_MS,
        Method::Locate => LOCATE_MS,
        Method::Invoke | Method::AppRead => PING_MS,
        _ => return None,
    };
    (took > most).then(|| format!("{method:?} · slow: its answer took longer than {most} ms"))
}

fn version_kept(action: &Prototype, before: Option<u64>, version: u64) -> Option<String> {
    let kept = before == Some(version) && action.risk != Risk::Query;
    kept.then(|| {
        format!(
            "Invoke · version: {} is done and the version stayed {version}: each successful action adds 1, unless it is a query",
            action.name
        )
    })
}
