//! Runs: the steps that reach an app.
//!
//! | law | why it must hold |
//! |---|---|
//! | a ref means what its reader was shown | an agent must not act on a thing or a state that it hasn't seen |
//! | a step claims the version that its reader was shown | the app resolves line numbers by it |
//! | a step is sent only while its reader waits | nobody would learn of its outcome |

use std::collections::BTreeMap;

use pipemux_proto::app::Invoke;
use pipemux_proto::projection::Arg;
use pipemux_proto::{Incarnation, Value};

use crate::answer_content::thing;
use crate::kept_runs::KeptRuns;
use crate::law::{LawResult, law};
use crate::questions::Question;
use crate::requests::Request;
use crate::sessions::{READERS, SessionKey};
use crate::sim::Sim;

/// The first mark of the calm reader.
pub const CALM_MARKS: u64 = 1_000_000;

/// How a step refers to a thing.
#[derive(Debug, Clone, Default)]
pub struct RefMeaning {
    pub id: Option<u64>,
    /// The thing, as `c1k3`, when it is named by its key.
    pub thing: Option<String>,
    /// The epoch to which it is pinned.
    pub pin: Option<u64>,
    /// True for the name `selection`.
    pub selection: bool,
}

/// A step of a run, recognized by its mark.
#[derive(Debug)]
pub struct MarkedStep {
    pub request: usize,
    pub session_key: Option<SessionKey>,
    /// The meaning of its refs, by parameter.
    pub refs: Vec<(&'static str, RefMeaning)>,
    /// True when an earlier step of the run is on the same session.
    pub follows: bool,
    pub safe: bool,
    /// True for a call inside another's arguments, which is sent right before it.
    pub nested: bool,
    /// True for a query, and for a call inside another's arguments: it has no effect of its own.
    pub only_looks: bool,
}

#[derive(Debug, Default)]
pub struct Runs {
    pub marks: BTreeMap<u64, MarkedStep>,
    pub next: u64,
    pub calm_next: u64,
    /// What `answer go` sends again, and how often each step was sent.
    pub kept: KeptRuns,
    /// The reader that gave a wrong answer last, and when.
    pub wrong_answer: Option<(crate::action::ReaderIndex, u64)>,
    /// Open questions, by token.
    pub questions: BTreeMap<Vec<u8>, Question>,
    /// Workspaces in which the option `rebase` was ever on.
    pub rebasing: Vec<usize>,
    /// Workspaces in which the option `epoch` was ever strict.
    pub strict: Vec<usize>,
    /// Steps that must not take effect under a run's id, with the answer that said so.
    pub promises: Vec<(u64, String, String)>,
}

impl Runs {
    /// Notes an option that is being set.
    pub fn set(&mut self, workspace: usize, option: &str, value: &str) {
        match (option, value) {
            ("rebase", "on") => self.rebasing.push(workspace),
            ("epoch", "strict") => self.strict.push(workspace),
            _ => {}
        }
    }
}

impl Sim {
    /// Checks a step that is being sent to an app.
    pub fn check_invoke(
        &mut self,
        app: Incarnation,
        incarnation: Incarnation,
        invoke: &Invoke,
    ) -> LawResult {
        let session_key = self
            .processes
            .get(&app)
            .and_then(|process| process.sessions.get(&incarnation).copied());
        let Some(session_key) = session_key else {
            return Ok(());
        };
        self.statistics.count("steps sent");
        crate::play::trace(|| format!("→ {}: {invoke:?}", session_key.addr()));
        let mark = mark_of(invoke);
        let known = mark.and_then(|mark| self.runs.marks.get(&mark));
        let by_run = || self.requests.iter().position(|r| r.call.run_id == invoke.run_id);
        let index = known.map(|marked| marked.request).or_else(by_run);
        let Some(index) = index else {
            law!(false, "a step belongs to a request", "{invoke:?}");
            return Ok(());
        };
        let who = self.requests[index].who;
        let (workspace, reader) = READERS[who];
        law!(
            reader == invoke.reader,
            "a step names the reader that asked",
            "{invoke:?} was asked by {reader}"
        );
        let owned = session_key.workspace().is_none_or(|of| of == workspace);
        let wanted =
            known.and_then(|marked| marked.session_key).is_none_or(|wanted| wanted == session_key);
        law!(owned && wanted, "a step goes to its own session", "{invoke:?} to {session_key:?}");
        // The request itself, a repetition of it, or the answer to its question waits.
        let waits = self.requests.iter().rev().take(700).any(|request| {
            let same = request.call.run_id == invoke.run_id || request.may_answer();
            request.who == who && same && request.is_open() && !request.abandoned
        });
        let rebases = self.runs.rebasing.contains(&workspace);
        // An undo that was called off is put right first.
        let puts_back = mark.is_none() && self.puts_back(invoke).is_some();
        law!(
            waits || rebases || puts_back,
            "a step is sent only while its reader waits",
            "{invoke:?}"
        );
        if let Some(resume) = &invoke.resume {
            self.check_resumed(who, invoke, &resume.token.0, &resume.choice)?;
        } else {
            law!(!invoke.confirmed, "a confirmation is given by the reader", "{invoke:?}");
            self.count_sent((index, session_key), mark, invoke)?;
            if mark.is_none() {
                self.check_undo(index, invoke)?;
            }
        }
        if mark.is_some() {
            self.check_refs(session_key, index, mark, invoke)?;
        } else {
            self.check_click(session_key, index, invoke)?;
        }
        self.check_version(incarnation, session_key, index, invoke)
    }

    /// Checks that a clicked link runs the action of its label on the thing of its label.
    fn check_click(&self, session_key: SessionKey, index: usize, invoke: &Invoke) -> LawResult {
        let Some(label) = &self.requests[index].clicked else { return Ok(()) };
        let store = &self.stores[&session_key];
        let does = match invoke.args.get("note") {
            Some(Arg::Ref(found)) => {
                format!("{} {}", invoke.action, store.label(&found.key, found.rev))
            }
            _ => format!("{} {}", invoke.action, store.name),
        };
        let undo = invoke.action == "say" && label.starts_with(&format!("undo {} ", store.name));
        law!(does == *label || undo, "a link does what its label says", "{label:?} did {does:?}");
        Ok(())
    }

    fn check_refs(
        &self,
        session_key: SessionKey,
        index: usize,
        mark: Option<u64>,
        invoke: &Invoke,
    ) -> LawResult {
        let Some(marked) = mark.and_then(|mark| self.runs.marks.get(&mark)) else { return Ok(()) };
        let request = &self.requests[index];
        let (who, workspace) = (request.who, READERS[request.who].0);
        let rebases = self.runs.rebasing.contains(&workspace) && marked.safe;
        for (name, means) in &marked.refs {
            let label = match invoke.args.get(*name) {
                Some(Arg::Ref(found)) => self.stores[&session_key].label(&found.key, found.rev),
                Some(Arg::Copied(copied)) => {
                    let value = copied.value.to_value().ok();
                    let text = value.as_ref().and_then(Value::as_str).unwrap_or_default();
                    text.split(' ').take(2).collect::<Vec<_>>().join(" ")
                }
                _ => continue,
            };
            let Some((thing, _)) = thing(&label) else { continue };
            if let Some(stands) = means.id.and_then(|id| self.knowledge.identity(workspace, id)) {
                law!(
                    thing == stands,
                    "a ref means what its reader was shown",
                    "{means:?} of {stands} was {label}"
                );
            }
            if let Some(named) = &means.thing {
                law!(
                    thing == named,
                    "a ref means what its reader was shown",
                    "{named} was {label}"
                );
            }
            if rebases {
                continue;
            }
            let goes = self.is_sent_by_go(index, &invoke.run_id);
            if request.call.at.is_some() && goes {
                // `go` takes things as they are shown now.
                continue;
            }
            // So does it with a ref that was pinned in the call that was refused; those behind it
            // stay pinned.
            let pin = means.pin.filter(|_| !goes);
            let stays = means.pin.filter(|_| goes).zip(means.id);
            if stays
                .and_then(|(pin, id)| self.knowledge.pinned(workspace, id, pin))
                .is_some_and(|shown| *shown == label)
            {
                continue;
            }
            if let (Some(id), Some(pin)) = (means.id, pin) {
                let shown = self.knowledge.pinned(workspace, id, pin);
                law!(
                    shown.is_none_or(|shown| *shown == label),
                    "a pinned ref means what its epoch showed",
                    "obj:{id}@e{pin} was {shown:?}, meant {label:?}"
                );
            } else if let Some(id) = means.id {
                let saw = self.knowledge.may_mean(who, id, request.since);
                law!(
                    saw.iter().any(|saw| saw.what == label) || self.knowledge.lost,
                    "a ref means what its reader was shown",
                    "obj:{id} meant {label:?}, its reader saw {saw:?}"
                );
            } else if means.selection
                && !marked.follows
                && !self.was_corrected_in(&invoke.run_id, session_key)
            {
                let saw = self.knowledge.live_windows(who, session_key.addr(), request.since);
                let meant = |heading: &str| heading == label;
                law!(
                    saw.is_empty()
                        || saw.iter().any(|saw| saw.what.selection.as_deref().is_some_and(meant)),
                    "a name means what its reader was shown",
                    "{}.selection meant {label:?}, its reader saw {saw:?}",
                    session_key.addr()
                );
            }
        }
        Ok(())
    }

    /// Checks that the version that a step claims was shown to its reader by the same incarnation.
    fn check_version(
        &self,
        incarnation: Incarnation,
        session_key: SessionKey,
        index: usize,
        invoke: &Invoke,
    ) -> LawResult {
        let request = &self.requests[index];
        let Some(version) = invoke.seen_version.filter(|_| request.call.at.is_none()) else {
            return Ok(());
        };
        // Steps that were kept behind a question mean what the epoch showed that their own request
        // named.
        let is_pinned = |earlier: &Request| earlier.who == request.who && earlier.call.at.is_some();
        if mark_of(invoke).is_none() && self.requests.iter().any(is_pinned) {
            return Ok(());
        }
        // Behind the step that a `go` repairs, steps mean what their reader had seen when it wrote
        // them.
        let goes = mark_of(invoke).is_none() && self.runs.kept.goes.contains_key(&invoke.run_id);
        let since = if goes { 0 } else { request.since };
        let saw = self.knowledge.windows(request.who, session_key.addr(), since);
        let store = &self.stores[&session_key];
        let held = saw.iter().any(|saw| {
            saw.what.version == version
                && store.versions.contains(&(saw.what.version, saw.what.total))
        });
        let rebases = self.runs.rebasing.contains(&READERS[request.who].0);
        law!(
            held || rebases || self.knowledge.lost,
            "a step claims the version that its reader was shown",
            "v{version} of {} in incarnation {incarnation}, its reader saw {saw:?}",
            session_key.addr()
        );
        Ok(())
    }

    /// Takes in what an app did about a step: an effect, a refusal or a question.
    pub fn check_executed(
        &mut self,
        session_key: SessionKey,
        invoke: &Invoke,
        effect: bool,
    ) -> LawResult {
        let mark = mark_of(invoke);
        let by_run = |r: &Request| r.call.run_id == invoke.run_id;
        let known = mark.and_then(|mark| self.runs.marks.get(&mark)).map(|marked| marked.request);
        let Some(index) = known.or_else(|| self.requests.iter().position(by_run)) else {
            return Ok(());
        };
        let who = self.requests[index].who;
        if !effect {
            // The app may have asked a question, which its token identifies.
            let store = &self.stores[&session_key];
            if let Some(token) = store.asked() {
                let question = Question {
                    invoke: invoke.clone(),
                    who,
                    confirms: invoke.action == "drop",
                    answered: 0,
                };
                self.runs.questions.entry(token).or_insert(question);
                self.runs.kept.asks(who, index);
            } else {
                self.count_refusal(mark, &invoke.run_id);
            }
            if let Some(resume) = invoke.resume.as_ref().filter(|_| crate::store::is_second(invoke))
            {
                self.note_refused_answer(&resume.token.0);
            }
            return Ok(());
        }
        self.statistics.count("effects");
        self.count_effect((index, session_key), mark, invoke)
    }
}

/// Returns the mark of a step.
pub fn mark_of(invoke: &Invoke) -> Option<u64> {
    let Some(Arg::Value(blob)) = invoke.args.get("mark") else { return None };
    let value = blob.to_value().ok()?;
    value.as_str()?.strip_prefix('t')?.parse().ok()
}
