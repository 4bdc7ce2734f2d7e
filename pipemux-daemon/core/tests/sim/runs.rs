//! Runs: what reaches an app, and whether answers tell the truth about it.
//!
//! | law | what it holds |
//! |---|---|
//! | a ref means what its reader was shown | key and rev of each argument, values and names too |
//! | a step is sent only while its reader waits | no step after its answer, none of a client that is gone |
//! | a confirmation is given by the reader | of the very question, by that reader |
//! | an answer tells the truth | exit status and steps against what the apps really did |

use std::collections::BTreeMap;

use pipemux_proto::app::{Choice, Invoke};
use pipemux_proto::client::Verb;
use pipemux_proto::projection::Arg;
use pipemux_proto::{Incarnation, Value};

use crate::action::ReaderIndex;
use crate::answer_content::thing;
use crate::kept_runs::KeptRuns;
use crate::law::{LawResult, law};
use crate::sessions::{READERS, SessionKey};
use crate::sim::Sim;

/// Where the calm reader's marks begin.
pub const CALM_MARKS: u64 = 1_000_000;

/// How a step refers to a thing.
#[derive(Debug, Clone, Default)]
pub struct RefMeaning {
    pub id: Option<u64>,
    /// `c1k3`, when it is named by its key.
    pub thing: Option<String>,
    /// The epoch that it is pinned to.
    pub pin: Option<u64>,
    /// True for the name `selection`.
    pub selection: bool,
}

/// A step of a run, known by its mark.
#[derive(Debug)]
pub struct MarkedStep {
    pub request: usize,
    pub session_key: Option<SessionKey>,
    /// By parameter.
    pub refs: Vec<(&'static str, RefMeaning)>,
    /// True when a step of the same run is on the same session before it.
    pub follows: bool,
    pub safe: bool,
    /// True for a call inside another's arguments.
    pub nested: bool,
}

/// A question that an app asked.
#[derive(Debug)]
struct Question {
    invoke: Invoke,
    who: ReaderIndex,
    confirms: bool,
    answered: u32,
}

#[derive(Debug, Default)]
pub struct Runs {
    pub marks: BTreeMap<u64, MarkedStep>,
    pub next: u64,
    pub calm_next: u64,
    /// What `answer go` sends again, and how often each step was sent.
    pub kept: KeptRuns,
    questions: BTreeMap<Vec<u8>, Question>,
    /// Workspaces that ever took changed things as they are.
    pub rebasing: Vec<usize>,
    /// Workspaces in which every older epoch was ever stale.
    pub strict: Vec<usize>,
    /// Marks that must not take effect under a run's id, with the answer that said so.
    pub promises: Vec<(u64, String, String)>,
}

impl Runs {
    /// What a workspace's options are said to be.
    pub fn set(&mut self, workspace: usize, option: &str, value: &str) {
        match (option, value) {
            ("rebase", "on") => self.rebasing.push(workspace),
            ("epoch", "strict") => self.strict.push(workspace),
            _ => {}
        }
    }
}

impl Sim {
    /// A step is being sent to an app.
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
        // The request itself, one that repeats it, or the answer to its question.
        let waits = self.requests.iter().rev().take(700).any(|request| {
            let same = request.call.run_id == invoke.run_id || request.may_answer();
            request.who == who && same && request.is_open() && !request.abandoned
        });
        let rebases = self.runs.rebasing.contains(&workspace);
        law!(waits || rebases, "a step is sent only while its reader waits", "{invoke:?}");
        if let Some(resume) = &invoke.resume {
            self.check_resumed(who, invoke, &resume.token.0, &resume.choice)?;
        } else {
            law!(!invoke.confirmed, "a confirmation is given by the reader", "{invoke:?}");
            self.count_sent(index, mark, invoke)?;
        }
        if mark.is_some() {
            self.check_refs(session_key, index, mark, invoke)?;
        } else {
            self.check_click(session_key, index, invoke)?;
        }
        self.check_version(incarnation, session_key, index, invoke)
    }

    /// A link does what it said, to what it said.
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
            if request.call.at.is_some() && request.call.run_id != invoke.run_id {
                // `go` means what is shown now.
                continue;
            }
            if let (Some(id), Some(pin)) = (means.id, means.pin) {
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
            } else if means.selection && !marked.follows {
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

    /// Numbers mean the version that the reader saw, of the incarnation that gets them.
    fn check_version(
        &self,
        incarnation: Incarnation,
        session_key: SessionKey,
        index: usize,
        invoke: &Invoke,
    ) -> LawResult {
        let request = &self.requests[index];
        if request.call.at.is_some() || invoke.seen_version == 0 {
            return Ok(());
        }
        let saw = self.knowledge.windows(request.who, session_key.addr(), request.since);
        let store = &self.stores[&session_key];
        let held = saw.iter().any(|saw| {
            saw.what.version == invoke.seen_version
                && store.versions.contains(&(saw.what.version, saw.what.total))
        });
        let rebases = self.runs.rebasing.contains(&READERS[request.who].0);
        law!(
            held || rebases || self.knowledge.lost,
            "a step claims the version that its reader was shown",
            "v{} of {} in incarnation {incarnation}, its reader saw {saw:?}",
            invoke.seen_version,
            session_key.addr()
        );
        Ok(())
    }

    /// An answer goes with the question that it answers, once, as that reader gave it.
    fn check_resumed(
        &mut self,
        who: ReaderIndex,
        invoke: &Invoke,
        token: &[u8],
        choice: &Choice,
    ) -> LawResult {
        let requests = self.requests.iter().rev().take(700);
        let open = requests.filter(|r| r.who == who && r.is_open() && !r.abandoned && r.acts());
        let given: Vec<&Verb> = open.map(|request| &request.call.verb).collect();
        let fits = given.iter().any(|verb| match verb {
            Verb::Answer { text, .. } => text_means(text, choice),
            _ => true,
        });
        let Some(question) = self.runs.questions.get_mut(token) else {
            law!(false, "an answer resumes its own question once", "{invoke:?}");
            return Ok(());
        };
        question.answered += 1;
        let asked = &question.invoke;
        let same = asked.args == invoke.args
            && asked.action == invoke.action
            && asked.run_id == invoke.run_id
            && question.who == who
            && question.answered == 1;
        law!(
            same,
            "an answer resumes its own question once",
            "{question:?}\nwas answered {invoke:?}"
        );
        let confirmed = question.confirms && *choice == Choice::Yes;
        law!(
            invoke.confirmed == confirmed && fits,
            "a confirmation is given by the reader",
            "{invoke:?} of {given:?}"
        );
        Ok(())
    }

    /// An app has done something, or refused it, or asks.
    pub fn check_executed(
        &mut self,
        session_key: SessionKey,
        invoke: &Invoke,
        effect: bool,
    ) -> LawResult {
        let mark = mark_of(invoke);
        let by_run = |r: &crate::clients::Request| r.call.run_id == invoke.run_id;
        let known = mark.and_then(|mark| self.runs.marks.get(&mark)).map(|marked| marked.request);
        let Some(index) = known.or_else(|| self.requests.iter().position(by_run)) else {
            return Ok(());
        };
        let who = self.requests[index].who;
        if !effect {
            // It may have asked: the token says which question this is.
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
            }
            return Ok(());
        }
        self.statistics.count("effects");
        self.count_effect((index, session_key), mark, invoke)
    }
}

/// The mark that a step carries.
fn mark_of(invoke: &Invoke) -> Option<u64> {
    let Some(Arg::Value(blob)) = invoke.args.get("mark") else { return None };
    let value = blob.to_value().ok()?;
    value.as_str()?.strip_prefix('t')?.parse().ok()
}

/// True when a typed answer means that choice.
fn text_means(text: &str, choice: &Choice) -> bool {
    match choice {
        Choice::Yes => matches!(text, "yes" | "go") || text.starts_with("link:"),
        Choice::Picked(picked) => {
            let typed: Vec<String> = picked.iter().map(u32::to_string).collect();
            text == typed.join(",")
        }
        Choice::AllBut(but) => match but.as_slice() {
            [] => text == "all",
            [one] => text == format!("all but {one}"),
            _ => false,
        },
        Choice::Text(said) => text == said,
    }
}
