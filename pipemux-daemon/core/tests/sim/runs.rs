//! Runs: what reaches an app, and whether answers tell the truth about it.
//!
//! | law | what it holds |
//! |---|---|
//! | a ref means what its reader saw | key and rev of each argument, values and names too |
//! | nothing begins that nobody waits for | no step after its answer, none of a client that is gone |
//! | nothing runs twice | whatever is lost or sent again |
//! | a confirmation is the reader's own | of the very question, by that reader |
//! | an answer tells the truth | exit status and steps against what the apps really did |

use std::collections::BTreeMap;

use pipemux_proto::app::{Choice, Invoke};
use pipemux_proto::client::{Answer, Body, Verb};
use pipemux_proto::projection::Arg;
use pipemux_proto::report::Status;
use pipemux_proto::{Fault, Incarnation, Value};

use crate::action::{Act, Owner, Ref, Step, Who};
use crate::law::{Lawful, law};
use crate::places::{CALM_READER, Place, READERS};
use crate::reading::thing;
use crate::sim::Sim;

/// Where the calm reader's marks begin.
const CALM_MARKS: u64 = 1_000_000;

/// How a step refers to a thing.
#[derive(Debug, Clone, Default)]
pub struct Use {
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
pub struct Marked {
    pub request: usize,
    pub place: Option<Place>,
    /// By parameter.
    pub refs: Vec<(&'static str, Use)>,
    /// True when a step of the same run is on the same session before it.
    pub follows: bool,
    pub safe: bool,
    /// How often it was sent to an app, answers to its questions aside.
    pub sent: u32,
    /// How often it took effect.
    pub effects: u32,
}

/// A question that an app asked.
#[derive(Debug)]
struct Question {
    invoke: Invoke,
    who: Who,
    confirms: bool,
    answered: u32,
}

#[derive(Debug, Default)]
pub struct Runs {
    pub marks: BTreeMap<u64, Marked>,
    next: u64,
    calm_next: u64,
    /// Effects of clicks, by run id.
    clicks: BTreeMap<String, u32>,
    /// `answer go`: who, and before which request.
    pub goes: Vec<(Who, usize)>,
    questions: BTreeMap<Vec<u8>, Question>,
    /// Workspaces that ever took changed things as they are.
    pub rebasing: Vec<usize>,
    /// Workspaces in which every older epoch was ever stale.
    pub strict: Vec<usize>,
    /// Marks that must not take effect, with the answer that said so.
    promises: Vec<(u64, String)>,
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

    /// How often a reader may have had a step sent again.
    fn goes_since(&self, who: Who, request: usize) -> u32 {
        self.goes.iter().filter(|(of, at)| *of == who && *at > request).count() as u32
    }
}

impl Sim {
    /// A ref as it is written, and what it means.
    pub fn write_ref(&self, who: Who, of: Ref) -> (String, Use) {
        let workspace = READERS[who].0;
        let by_id = |id: u64| (format!("obj:{id}"), Use { id: Some(id), ..Use::default() });
        match of {
            Ref::Number(number) => by_id(number.into()),
            Ref::Anyones(pick) => by_id(self.seen.some_id(workspace, pick).unwrap_or(3)),
            Ref::Shown(pick) | Ref::Pinned(pick) | Ref::Key(pick) => {
                let Some((id, label, epoch)) = self.seen.some_thing(who, pick) else {
                    return by_id(3);
                };
                match of {
                    Ref::Pinned(_) => {
                        let means = Use { id: Some(id), pin: Some(epoch), ..Use::default() };
                        (format!("obj:{id}@e{epoch}"), means)
                    }
                    Ref::Key(_) => self.by_key(&label).unwrap_or_else(|| by_id(id)),
                    _ => by_id(id),
                }
            }
        }
    }

    /// A thing by its app's own key: `obj:notes/main:note:k3`.
    fn by_key(&self, label: &str) -> Option<(String, Use)> {
        let (thing, _) = thing(label)?;
        let place = self.place_of(thing)?;
        let name = &self.stores.get(&place)?.name;
        let key = thing.strip_prefix(name.as_str())?;
        let means = Use { thing: Some(thing.to_owned()), ..Use::default() };
        Some((format!("obj:{}:note:{key}", place.addr()), means))
    }

    /// The place that a thing's label is of.
    fn place_of(&self, label: &str) -> Option<Place> {
        let tag = label.chars().next()?;
        self.stores.keys().find(|place| place.tag() == tag).copied()
    }

    /// Writes a run's code; each step gets a mark. Returns also the epoch that all of it is pinned to.
    pub fn write_run(
        &mut self,
        who: Who,
        steps: &[Step],
        request: usize,
        pinned: bool,
        marks: &mut Vec<u64>,
    ) -> (String, Option<u64>) {
        let workspace = READERS[who].0;
        let first = steps.iter().find_map(|step| match step.act {
            Act::Edit(of) | Act::Text(of) | Act::Drop(of) => Some(of),
            _ => None,
        });
        let at = match first {
            Some(Ref::Shown(pick)) if pinned => {
                self.seen.some_thing(who, pick).map(|(.., epoch)| epoch)
            }
            _ => None,
        };
        let mut code = Vec::new();
        let mut before: Vec<Place> = Vec::new();
        for step in steps {
            let of = match &step.act {
                Act::Edit(of) | Act::Select(of) | Act::Drop(of) | Act::Text(of) => Some(*of),
                _ => None,
            };
            let written = of.map(|of| self.write_ref(who, of));
            // A thing's own app is meant, mostly.
            let own = written.as_ref().and_then(|(_, means)| {
                let stands = self.seen.identity(workspace, means.id?)?;
                let place = self.place_of(stands)?;
                (place.workspace().is_none_or(|of| of == workspace)).then(|| place.addr())
            });
            let addr = own.unwrap_or(step.addr);
            let place = Place::of(workspace, addr);
            let owner = match step.owner {
                Owner::Full => format!("{addr}."),
                Owner::Provider => format!("{}.", addr.split('/').next().unwrap_or_default()),
                Owner::None => String::new(),
            };
            let place = place.filter(|_| step.owner == Owner::Full);
            let (shown, means) = written.unwrap_or_default();
            let note = vec![("note", means)];
            let (action, args, refs) = match &step.act {
                Act::Say => ("say", "'hello'".to_owned(), Vec::new()),
                Act::Same => {
                    code.push(format!("{owner}say('the same')"));
                    before.extend(Place::of(workspace, addr));
                    continue;
                }
                Act::Add => ("add", String::new(), Vec::new()),
                Act::Edit(_) => ("edit", shown, note),
                Act::Select(_) => ("select", shown, note),
                Act::Drop(_) => ("drop", shown, note),
                Act::Text(_) => ("text", shown, note),
                Act::SayOf(of) => {
                    let (shown, means) = self.write_ref(who, *of);
                    ("say", shown, vec![("text", means)])
                }
                Act::SayText(other, of) => {
                    let (shown, means) = self.write_ref(who, *of);
                    let other_place = Place::of(workspace, other);
                    let nested = Marked {
                        request,
                        place: other_place,
                        refs: vec![("note", Use { pin: means.pin.or(at), ..means })],
                        follows: other_place.is_some_and(|place| before.contains(&place)),
                        safe: true,
                        sent: 0,
                        effects: 0,
                    };
                    before.extend(other_place);
                    let mark = self.mark(who, nested, marks);
                    ("say", format!("text={other}.text({shown}, mark='t{mark}')"), Vec::new())
                }
                Act::EditSelection => {
                    let name = format!("{addr}.selection");
                    ("edit", name, vec![("note", Use { selection: true, ..Use::default() })])
                }
                Act::EditNothing => ("edit", String::new(), Vec::new()),
                Act::Line(at) => ("line", at.to_string(), Vec::new()),
                Act::Pick => ("pick", String::new(), Vec::new()),
                Act::Name => ("name", String::new(), Vec::new()),
                Act::Fail => ("fail", String::new(), Vec::new()),
                Act::Nonsense => ("nonsense", String::new(), Vec::new()),
            };
            let refs = refs.into_iter().map(|(name, means): (&'static str, Use)| {
                (name, Use { pin: means.pin.or(at), ..means })
            });
            let marked = Marked {
                request,
                place,
                refs: refs.collect(),
                follows: place.is_none_or(|place| before.contains(&place)),
                safe: matches!(step.act, Act::Text(_)),
                sent: 0,
                effects: 0,
            };
            before.extend(Place::of(workspace, addr));
            let mark = self.mark(who, marked, marks);
            let comma = if args.is_empty() { "" } else { ", " };
            code.push(format!("{owner}{action}({args}{comma}mark='t{mark}')"));
        }
        (code.join("; "), at)
    }

    fn mark(&mut self, who: Who, marked: Marked, marks: &mut Vec<u64>) -> u64 {
        // The calm one counts for itself: what it writes doesn't depend on the others.
        let calm = who == CALM_READER;
        let next = if calm { &mut self.runs.calm_next } else { &mut self.runs.next };
        *next += 1;
        let mark = if calm { CALM_MARKS + *next } else { *next };
        self.runs.marks.insert(mark, marked);
        marks.push(mark);
        mark
    }

    /// A step is being sent to an app.
    pub fn check_invoke(&mut self, life: Incarnation, invoke: &Invoke) -> Lawful {
        let Some(place) = self.processes.get(&life).map(|process| process.place) else {
            return Ok(());
        };
        self.figures.count("steps sent");
        crate::play::tell(|| format!("→ {}: {invoke:?}", place.addr()));
        let mark = mark_of(invoke);
        let known = mark.and_then(|mark| self.runs.marks.get(&mark));
        let by_run = || self.requests.iter().position(|r| r.call.run_id == invoke.run_id);
        let index = known.map(|marked| marked.request).or_else(by_run);
        let Some(index) = index else {
            law!(false, "what is done was asked for", "{invoke:?}");
            return Ok(());
        };
        let who = self.requests[index].who;
        let (workspace, reader) = READERS[who];
        law!(reader == invoke.reader, "whose action it is", "{invoke:?} was asked by {reader}");
        let owned = place.workspace().is_none_or(|of| of == workspace);
        let wanted = known.and_then(|marked| marked.place).is_none_or(|wanted| wanted == place);
        law!(owned && wanted, "a step goes to its own session", "{invoke:?} to {place:?}");
        // The request itself, one that repeats it, or the answer to its question.
        let waits = self.requests.iter().rev().take(700).any(|request| {
            let same = request.call.run_id == invoke.run_id || request.may_answer();
            request.who == who && same && request.is_open() && !request.abandoned
        });
        let rebases = self.runs.rebasing.contains(&workspace);
        law!(waits || rebases, "nothing begins that nobody waits for", "{invoke:?}");
        let goes = self.runs.goes_since(who, index);
        if let Some(resume) = &invoke.resume {
            self.check_resumed(who, invoke, &resume.token.0, &resume.choice)?;
        } else {
            law!(!invoke.confirmed, "a confirmation is the reader's own", "{invoke:?}");
            if let Some(marked) = mark.and_then(|mark| self.runs.marks.get_mut(&mark)) {
                marked.sent += 1;
                // An action that is as good twice is sent once more to the next process.
                let again =
                    u32::from(rebases && marked.safe) + u32::from(invoke.action == "select");
                let most = 1 + goes + again;
                law!(
                    marked.sent <= most,
                    "nothing is sent twice",
                    "{} times {invoke:?}",
                    marked.sent
                );
            }
        }
        if mark.is_some() {
            self.check_refs(place, index, mark, invoke)?;
        } else {
            self.check_click(place, index, invoke)?;
        }
        self.check_version(life, place, index, invoke)
    }

    /// A link does what it said, to what it said.
    fn check_click(&self, place: Place, index: usize, invoke: &Invoke) -> Lawful {
        let Some(label) = &self.requests[index].clicked else { return Ok(()) };
        let store = &self.stores[&place];
        let does = match invoke.args.get("note") {
            Some(Arg::Ref(found)) => {
                format!("{} {}", invoke.action, store.label(&found.key, found.rev))
            }
            _ => format!("{} {}", invoke.action, store.name),
        };
        let undo = invoke.action == "say" && label.starts_with(&format!("undo {} ", store.name));
        law!(does == *label || undo, "a link does what it said", "{label:?} did {does:?}");
        Ok(())
    }

    fn check_refs(&self, place: Place, index: usize, mark: Option<u64>, invoke: &Invoke) -> Lawful {
        let Some(marked) = mark.and_then(|mark| self.runs.marks.get(&mark)) else { return Ok(()) };
        let request = &self.requests[index];
        let (who, workspace) = (request.who, READERS[request.who].0);
        let rebases = self.runs.rebasing.contains(&workspace) && marked.safe;
        for (name, means) in &marked.refs {
            let label = match invoke.args.get(*name) {
                Some(Arg::Ref(found)) => self.stores[&place].label(&found.key, found.rev),
                Some(Arg::Copied(copied)) => {
                    let value = copied.value.to_value().ok();
                    let text = value.as_ref().and_then(Value::as_str).unwrap_or_default();
                    text.split(' ').take(2).collect::<Vec<_>>().join(" ")
                }
                _ => continue,
            };
            let Some((thing, _)) = thing(&label) else { continue };
            if let Some(stands) = means.id.and_then(|id| self.seen.identity(workspace, id)) {
                law!(
                    thing == stands,
                    "a ref means what its reader saw",
                    "{means:?} of {stands} was {label}"
                );
            }
            if let Some(named) = &means.thing {
                law!(thing == named, "a ref means what its reader saw", "{named} was {label}");
            }
            if rebases {
                continue;
            }
            if request.call.at.is_some() && self.runs.goes_since(who, index) > 0 {
                // `go` means what is shown now.
                continue;
            }
            if let (Some(id), Some(pin)) = (means.id, means.pin) {
                let shown = self.seen.pinned(workspace, id, pin);
                law!(
                    shown.is_none_or(|shown| *shown == label),
                    "a pin means what its epoch showed",
                    "obj:{id}@e{pin} was {shown:?}, meant {label:?}"
                );
            } else if let Some(id) = means.id {
                let saw = self.seen.may_mean(who, id, request.since);
                law!(
                    saw.iter().any(|saw| saw.what == label) || self.seen.lost,
                    "a ref means what its reader saw",
                    "obj:{id} meant {label:?}, its reader saw {saw:?}"
                );
            } else if means.selection && !marked.follows {
                let saw = self.seen.windows(who, place.addr(), request.since);
                let meant = |heading: &str| heading == label;
                law!(
                    saw.is_empty()
                        || saw.iter().any(|saw| saw.what.selection.as_deref().is_some_and(meant)),
                    "a name means what its reader saw",
                    "{}.selection meant {label:?}, its reader saw {saw:?}",
                    place.addr()
                );
            }
        }
        Ok(())
    }

    /// Numbers mean the version that the reader saw, of the life that gets them.
    fn check_version(
        &self,
        life: Incarnation,
        place: Place,
        index: usize,
        invoke: &Invoke,
    ) -> Lawful {
        let request = &self.requests[index];
        if request.call.at.is_some() || invoke.seen_version == 0 {
            return Ok(());
        }
        let saw = self.seen.windows(request.who, place.addr(), request.since);
        let store = &self.stores[&place];
        let held = saw.iter().any(|saw| {
            saw.what.version == invoke.seen_version
                && store.versions.contains(&(saw.what.version, saw.what.total))
        });
        let rebases = self.runs.rebasing.contains(&READERS[request.who].0);
        law!(
            held || rebases || self.seen.lost,
            "a number means the version that its reader saw",
            "v{} of {} in life {life}, its reader saw {saw:?}",
            invoke.seen_version,
            place.addr()
        );
        Ok(())
    }

    /// An answer goes with the question that it answers, once, as that reader gave it.
    fn check_resumed(
        &mut self,
        who: Who,
        invoke: &Invoke,
        token: &[u8],
        choice: &Choice,
    ) -> Lawful {
        let requests = self.requests.iter().rev().take(700);
        let open = requests.filter(|r| r.who == who && r.is_open() && !r.abandoned && r.acts());
        let given: Vec<&Verb> = open.map(|request| &request.call.verb).collect();
        let fits = given.iter().any(|verb| match verb {
            Verb::Answer { text, .. } => reads_as(text, choice),
            _ => true,
        });
        let Some(question) = self.runs.questions.get_mut(token) else {
            law!(false, "an answer goes with its question", "{invoke:?}");
            return Ok(());
        };
        question.answered += 1;
        let asked = &question.invoke;
        let same = asked.args == invoke.args
            && asked.action == invoke.action
            && asked.run_id == invoke.run_id
            && question.who == who
            && question.answered == 1;
        law!(same, "an answer goes with its question", "{question:?}\nwas answered {invoke:?}");
        let confirmed = question.confirms && *choice == Choice::Yes;
        law!(
            invoke.confirmed == confirmed && fits,
            "a confirmation is the reader's own",
            "{invoke:?} of {given:?}"
        );
        Ok(())
    }

    /// An app has done something, or refused it, or asks.
    pub fn check_executed(&mut self, place: Place, invoke: &Invoke, effect: bool) -> Lawful {
        let mark = mark_of(invoke);
        let by_run = |r: &crate::clients::Request| r.call.run_id == invoke.run_id;
        let known = mark.and_then(|mark| self.runs.marks.get(&mark)).map(|marked| marked.request);
        let Some(index) = known.or_else(|| self.requests.iter().position(by_run)) else {
            return Ok(());
        };
        let who = self.requests[index].who;
        if !effect {
            // It may have asked: the token says which question this is.
            let store = &self.stores[&place];
            if let Some(token) = store.asked() {
                let question = Question {
                    invoke: invoke.clone(),
                    who,
                    confirms: invoke.action == "drop",
                    answered: 0,
                };
                self.runs.questions.entry(token).or_insert(question);
            }
            return Ok(());
        }
        self.figures.count("effects");
        let most = 1 + self.runs.goes_since(who, index) + u32::from(invoke.action == "select");
        let times = match mark.and_then(|mark| self.runs.marks.get_mut(&mark)) {
            Some(marked) => &mut marked.effects,
            None => self.runs.clicks.entry(invoke.run_id.clone()).or_default(),
        };
        *times += 1;
        law!(*times <= most, "nothing runs twice", "{times} times {invoke:?}");
        Ok(())
    }

    /// Whether an answer tells the truth.
    pub fn check_end(&mut self, index: usize, answer: &Result<Answer, Fault>) -> Lawful {
        let request = &self.requests[index];
        let exit = request.exit.unwrap_or_default();
        if format!("{answer:?}").contains("in quarantine") {
            self.figures.count("quarantined");
        }
        if let Some(first) = request.repeats {
            self.check_repeated(index, first)?;
        }
        let request = &self.requests[index];
        let goes = self.runs.goes_since(request.who, self.first_of(index));
        let own = matches!(request.call.verb, Verb::Run { .. });
        let effects = |mark: &u64| self.runs.marks.get(mark).map_or(0, |marked| marked.effects);
        let sent = |mark: &u64| self.runs.marks.get(mark).map_or(0, |marked| marked.sent);
        let tell = || format!("{:?} ended {exit}: {answer:?}", request.call.verb);
        if own && goes == 0 {
            let took = request.marks.iter().filter(|mark| effects(mark) > 0).count();
            match exit {
                0 => law!(took == request.marks.len(), "done is done", "{took} of {}", tell()),
                2 | 3 | 4 | 6 | 9 => law!(took == 0, "no step took effect", "{took} of {}", tell()),
                _ => {}
            }
            let any = request.marks.iter().any(|mark| sent(mark) > 0);
            law!(!any || !matches!(exit, 2 | 6 | 9), "nothing reached an app", "{}", tell());
        }
        // What was refused may be sent again.
        if own && matches!(exit, 2 | 3 | 4 | 6) {
            let said = format!("ended {exit}");
            let promises = request.marks.iter().map(|mark| (*mark, said.clone()));
            self.runs.promises.extend(promises);
        }
        if let Ok(Answer { body: Body::Report(report), .. }) = answer {
            for step in &report.steps {
                let Some(mark) = last_mark(&step.call).filter(|_| goes == 0) else { continue };
                let (took, went) = (effects(&mark), sent(&mark));
                let true_to_life = match step.status {
                    Status::Done => took > 0,
                    Status::Failed => took == 0,
                    Status::Skipped => took == 0 || exit == 5,
                    // The daemon may ask before it is sent, and another request may have answered.
                    Status::Needs => true,
                    Status::Unknown => went > 0,
                };
                law!(
                    true_to_life,
                    "a step's status is true",
                    "{step:?}: {took} effects, sent {went}\n{}",
                    tell()
                );
            }
        }
        self.check_stale(index, answer)
    }

    fn first_of(&self, index: usize) -> usize {
        self.requests[index].repeats.unwrap_or(index)
    }

    /// What was answered is answered so again.
    fn check_repeated(&self, index: usize, first: usize) -> Lawful {
        let (again, before) = (&self.requests[index], &self.requests[first]);
        let (Some(exit), Some(was)) = (again.exit, before.exit) else { return Ok(()) };
        // Refused for want of room, nothing was begun, and it may be sent again.
        let excused =
            was == 9 || before.refused || again.refused || self.lossy || self.daemon.disk_full;
        law!(
            exit == was || excused,
            "what was answered is answered so again",
            "{was}, then {exit}: {:?}",
            again.call
        );
        Ok(())
    }

    /// A thing that is as its reader saw it is never stale.
    fn check_stale(&self, index: usize, answer: &Result<Answer, Fault>) -> Lawful {
        let request = &self.requests[index];
        let Ok(Answer { body: Body::Text(said), .. }) = answer else { return Ok(()) };
        let own = matches!(request.call.verb, Verb::Run { .. } | Verb::Read { .. });
        let read_pinned =
            matches!(&request.call.verb, Verb::Read { target } if target.contains('@'));
        if !own || read_pinned || request.repeats.is_some() || request.call.at.is_some() {
            return Ok(());
        }
        let mark = "Anchor obj:";
        for (at, _) in said.match_indices(mark) {
            let rest = &said[at + mark.len()..];
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let Ok(id) = rest[..digits].parse::<u64>() else { continue };
            let pinned =
                request.marks.iter().filter_map(|mark| self.runs.marks.get(mark)).any(|marked| {
                    marked.refs.iter().any(|(_, means)| means.id == Some(id) && means.pin.is_some())
                });
            let strict = self.runs.strict.contains(&READERS[request.who].0);
            if !rest[digits..].starts_with(" is stale") || pinned || strict {
                continue;
            }
            let saw = self.seen.may_mean(request.who, id, request.since);
            let Some(saw) = saw.first().filter(|saw| saw.at <= request.since) else { continue };
            let Some((of, rev)) =
                thing(&saw.what).filter(|_| saw.firm && saw.daemon == self.daemon.nth)
            else {
                continue;
            };
            let Some(place) = self.place_of(of) else { continue };
            let store = &self.stores[&place];
            let now = of.strip_prefix(store.name.as_str()).and_then(|key| store.note(key));
            let same = now.is_some_and(|note| format!("r{}", note.rev) == rev);
            law!(!same, "only what changed is stale", "obj:{id} is {:?} still", saw.what);
        }
        Ok(())
    }

    /// What was said not to have taken effect never did.
    pub fn check_promises(&self) -> Lawful {
        for (mark, said) in &self.runs.promises {
            let Some(marked) = self.runs.marks.get(mark) else { continue };
            let goes = self.runs.goes_since(self.requests[marked.request].who, marked.request);
            law!(marked.effects <= goes, "no step took effect", "t{mark} {said}, then did");
        }
        Ok(())
    }
}

/// The mark that a step carries.
fn mark_of(invoke: &Invoke) -> Option<u64> {
    let Some(Arg::Value(blob)) = invoke.args.get("mark") else { return None };
    let value = blob.to_value().ok()?;
    value.as_str()?.strip_prefix('t')?.parse().ok()
}

/// The mark at the end of a call as it was written.
fn last_mark(call: &str) -> Option<u64> {
    call.strip_suffix("')")?.rsplit_once("mark='t")?.1.parse().ok()
}

/// True when a typed answer means that choice.
fn reads_as(text: &str, choice: &Choice) -> bool {
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
