//! Rules for actions: their versions and questions.

use pipemux_core::lint;
use pipemux_proto::app::{Choice, Done, Invoke, KeyLocation, Needs, Outcome, QuestionKind, Resume};
use pipemux_proto::job::Started;
use pipemux_proto::projection::{Args, LinkSlot, Piece, Projection};
use pipemux_proto::prototype::{Prototype, Risk, Type};
use pipemux_proto::{Code, Method};

use crate::arguments::{Arguments, Given, refs, written};
use crate::checker::Checker;
use crate::limits::{CLICKS, LONG_ACTION, QUESTIONS};
use crate::windows::same;

impl Checker<'_> {
    /// Invokes all actions. Invalid arguments, and all ways to give valid ones, are tried in the first round only.
    pub fn all_actions(&mut self, round: usize) {
        let actions = self.actions.clone();
        let mut later = Vec::new();
        for action in &actions {
            if !self.action_in_round(action, round) {
                later.push(action);
            }
        }
        // What needs things that other actions make.
        for action in later {
            if !self.action_in_round(action, round) && round == 0 {
                let name = action.written_name();
                self.report.note(format!("{name}, since no thing is shown that it needs"));
            }
        }
        if round == 0 {
            self.no_such_action();
            self.click_links();
        }
        if self.look("project full").is_some() {
            self.lookups();
        }
    }

    /// Invokes an action in the ways of a round. Returns false when there are no arguments for it.
    fn action_in_round(&mut self, action: &Prototype, round: usize) -> bool {
        if self.process.is_none() || self.long.contains(&action.name) {
            return true;
        }
        let Some(shown) = self.look("project full") else { return true };
        if shown.actions.as_ref().is_some_and(|actions| !actions.contains(&action.name)) {
            return true;
        }
        let unions = action.params.iter().filter_map(|param| match &param.ty {
            Type::Union(options) => Some(options.len()),
            _ => None,
        });
        let ways: Vec<(Given, usize)> = match round {
            0 => {
                let all = (0..unions.max().unwrap_or(1).clamp(1, 3)).map(|at| (Given::All, at));
                [(Given::Required, 0)].into_iter().chain(all).collect()
            }
            _ => vec![(Given::Required, round)],
        };
        if action.risk == Risk::Destructive && !self.things.has_own() {
            self.make_things(round);
        }
        let Some(args) = self.arguments(action, Given::Required, 0, round) else { return false };
        if round == 0 {
            self.invalid(action, &args);
        }
        for (given, union_at) in ways {
            if self.long.contains(&action.name) {
                break;
            }
            let Some(args) = self.arguments(action, given, union_at, round) else { continue };
            let done = self.valid(action, &args);
            if round == 0 && given == Given::Required && done {
                self.copies(action, &args);
            }
        }
        true
    }

    /// Carries out actions that need no thing, until one is shown that the run made.
    fn make_things(&mut self, round: usize) {
        for action in self.actions.clone() {
            let needs_thing = action.params.iter().any(|param| {
                param.is_required() && matches!(param.ty, Type::Anchor(_) | Type::List(_))
            });
            if action.risk != Risk::Changes || needs_thing || self.long.contains(&action.name) {
                continue;
            }
            if let Some(args) = self.arguments(&action, Given::Required, 0, round) {
                self.valid(&action, &args);
            }
            if self.things.has_own() {
                return;
            }
        }
    }

    fn arguments(
        &mut self,
        action: &Prototype,
        given: Given,
        union_at: usize,
        round: usize,
    ) -> Option<Args> {
        let last = round == 1;
        let mut arguments = Arguments { things: &mut self.things, last };
        arguments.of(action, given, union_at)
    }

    /// Carries out an action. Returns true when it is done.
    fn valid(&mut self, action: &Prototype, args: &Args) -> bool {
        let place = format!("invoke {}", written(&action.name, args));
        let Some(before) = self.look(&place) else { return false };
        self.cause = Some(action.risk);
        let done = self.carry_out(&place, action, args, &before);
        self.cause = None;
        done
    }

    fn carry_out(
        &mut self,
        place: &str,
        action: &Prototype,
        args: &Args,
        before: &Projection,
    ) -> bool {
        let destructive = action.risk == Risk::Destructive;
        let allowed = !destructive || self.may_confirm(action, args);
        if !allowed {
            return false;
        }
        let mut invoke = self.invoke(action, args, before);
        invoke.confirmed = destructive && !action.previews;
        for _ in 0..QUESTIONS {
            match self.send(place, Some(action), &invoke, before) {
                Some(outcome @ (Outcome::Done(_) | Outcome::Started(_))) => {
                    if destructive && !invoke.confirmed {
                        let text = "was carried out without `confirmed`: reply `needs` with a `confirm` question first";
                        self.report.add(place, "unconfirmed", text);
                    }
                    let version = match outcome {
                        Outcome::Started(started) => started.version,
                        Outcome::Done(done) => done.version,
                        Outcome::Needs(_) | Outcome::Failed(_) => before.version,
                    };
                    self.done(place, action, args, before, version);
                    self.failing.insert(action.written_name().to_owned(), None);
                    return true;
                }
                Some(Outcome::Needs(needs)) => {
                    if destructive
                        && !invoke.confirmed
                        && needs.question.kind != QuestionKind::Confirm
                    {
                        let text = "asks something else before it is confirmed: ask with the kind `confirm` first";
                        self.report.add(place, "unconfirmed", text);
                    }
                    invoke.confirmed |= destructive && needs.question.kind == QuestionKind::Confirm;
                    let Some(choice) = self.choice(&needs) else { return false };
                    invoke.resume = Some(Resume { token: needs.token, choice });
                }
                Some(Outcome::Failed(fault)) => {
                    let failing = self.failing.entry(action.written_name().to_owned());
                    let failed = failing.or_insert_with(|| Some(String::new()));
                    *failed = failed.take().map(|_| fault.message);
                    return false;
                }
                None => return false,
            }
        }
        let text =
            format!("asked {QUESTIONS} questions, each of which was answered: it asks forever");
        self.report.add(place, "question", text);
        false
    }

    /// Returns true when a destructive action may be carried out: all that it names, or could mean, was made by this
    /// run. What an app shows may be real, such as the processes of a machine, and may appear at any time.
    pub fn may_confirm(&mut self, action: &Prototype, args: &Args) -> bool {
        let named = refs(args);
        let keys: Vec<&str> = match named.is_empty() {
            true => self.things.shown.iter().map(|object| object.key.as_str()).collect(),
            false => named.into_iter().map(|of| of.key.as_str()).collect(),
        };
        let may = !keys.is_empty() && keys.into_iter().all(|key| self.things.is_own(key));
        let may = may || self.subject.destructive;
        self.tried
            .entry(action.written_name().to_owned())
            .and_modify(|tried| *tried |= may)
            .or_insert(may);
        may
    }

    pub fn invoke(&mut self, action: &Prototype, args: &Args, before: &Projection) -> Invoke {
        Invoke {
            action: action.name.clone(),
            args: args.clone(),
            seen_version: Some(before.version),
            cwd: self.subject.root.join("work").to_string_lossy().into_owned(),
            reader: "check".into(),
            run_id: self.next_run(),
            budget: 1000,
            ..Invoke::default()
        }
    }

    /// Sends an action, and checks that it had no effect unless it was done. A fault is a failed outcome.
    pub fn send(
        &mut self,
        place: &str,
        action: Option<&Prototype>,
        invoke: &Invoke,
        before: &Projection,
    ) -> Option<Outcome> {
        self.sent = true;
        let (answer, took) = self.ask_timed::<Outcome>(place, Method::Invoke, invoke);
        if took > LONG_ACTION {
            self.long.insert(invoke.action.clone());
        }
        let outcome = match answer? {
            Ok(outcome) => {
                self.lints(place, lint::outcome(&outcome, action, &self.actions));
                outcome
            }
            Err(fault) => Outcome::Failed(fault),
        };
        if let Outcome::Started(started) = &outcome
            && !self.job_started(place, &started.job)
        {
            // Each further job would be waited for as long.
            self.long.insert(invoke.action.clone());
        }
        if let Outcome::Done(Done { version, .. }) | Outcome::Started(Started { version, .. }) =
            &outcome
        {
            self.outcome_version = *version;
        }
        match (&outcome, action) {
            (Outcome::Needs(_), _) => self.had_no_effect(place, before, "asked"),
            (Outcome::Failed(_), _) => self.had_no_effect(place, before, "failed"),
            // Of one whose arguments are odd the effect is looked at here, so that it isn't taken for a change by itself.
            (Outcome::Done(_) | Outcome::Started(_), Some(action)) if self.cause.is_none() => {
                self.cause = Some(action.risk);
                self.look(place);
                self.cause = None;
            }
            (Outcome::Done(_) | Outcome::Started(_), _) => {}
        }
        Some(outcome)
    }

    /// Checks the version of a done action against the window, and refs to what it changed.
    fn done(&mut self, place: &str, action: &Prototype, args: &Args, before: &Projection, is: u64) {
        let own = self.told_own_change(before, is);
        let Some(after) = self.look(place) else { return };
        self.note_gone();
        let (was, shown) = (before.version, after.version);
        let query = action.risk == Risk::Query;
        let changed = !same(before, &after);
        let text = if is < was || shown < was {
            format!("the version went back from {was} to {}: it only grows", is.min(shown))
        } else if changed && shown == was {
            format!("the window changed and its version stayed {was}: each change adds 1")
        } else if shown < is {
            format!(
                "the window has version {shown}, the outcome {is}: a window that is asked for after the outcome is as new"
            )
        } else if query && is != was && !own && !self.changes_by_itself() {
            format!("a query raised the version from {was} to {is}: it changes nothing")
        } else if !query && is == was {
            format!(
                "it is done and the version stayed {was}: each successful action adds exactly 1, unless it is a query"
            )
        } else if !query && is != was + 1 && !own && !self.changes_by_itself() {
            format!("the version rose from {was} to {is}: each successful action adds exactly 1")
        } else {
            String::new()
        };
        if !text.is_empty() {
            self.report.add(place, "version", text);
        }
        self.refs_to_what_changed(action, args);
    }

    /// Returns true when the app told a change of its own between a window and an outcome, as one does that watches a
    /// file. The version of the outcome may be told, too.
    fn told_own_change(&self, before: &Projection, outcome: u64) -> bool {
        let told = self.process.as_ref().and_then(|process| process.changed);
        told.is_some_and(|version| version > before.version && version != outcome)
    }

    /// Sends an action on a thing again that it changed or removed: the thing isn't what the reader saw.
    fn refs_to_what_changed(&mut self, action: &Prototype, args: &Args) {
        if action.risk == Risk::Query || self.restless {
            return;
        }
        let Some(of) = refs(args).first().map(|of| (*of).clone()) else { return };
        let code = match self.things.find(&of.key) {
            Some(now) if now.rev != of.rev => Code::Stale,
            None if self.things.is_gone(&of.key) => Code::NotFound,
            _ => return,
        };
        let what = if code == Code::Stale { "what changed" } else { "what is gone" };
        let place = format!("invoke {} on {what}", written(&action.name, args));
        self.refused(&place, action, args, code, &of.key);
    }

    /// Asks where things are that aren't shown any more.
    fn note_gone(&mut self) {
        let missing = self.things.missing();
        if missing.is_empty() {
            return;
        }
        let Some(places) = self.locate(missing.clone()) else { return };
        for (key, place) in missing.iter().zip(places) {
            if matches!(place, KeyLocation::Gone(_)) {
                self.things.set_gone(key);
            }
        }
    }

    /// Clicks the links of the window.
    fn click_links(&mut self) {
        let Some(shown) = self.look("project full") else { return };
        let in_content = shown.content.iter().filter_map(|piece| match piece {
            Piece::Link(link) => Some(link),
            _ => None,
        });
        let links: Vec<LinkSlot> =
            shown.nav.iter().chain(in_content).take(CLICKS).cloned().collect();
        for link in links.into_iter().filter(|link| link.code.is_none()) {
            let Some(action) =
                self.actions.iter().find(|action| action.name == link.action).cloned()
            else {
                continue;
            };
            if !self.long.contains(&action.name) {
                self.valid(&action, &link.args);
            }
        }
    }

    /// Checks that an action that isn't done had no effect.
    fn had_no_effect(&mut self, place: &str, before: &Projection, how: &str) {
        let own_changes = self.own_changes;
        let Some(after) = self.look(place) else { return };
        let changed = !same(before, &after);
        let own = self.own_changes > own_changes;
        if !changed && after.version == before.version || own || self.changes_by_itself() {
            return;
        }
        let text = match changed {
            true => format!("{how}, and the window changed: nothing takes effect then"),
            false => format!(
                "{how}, and the version rose from {} to {}: nothing takes effect then",
                before.version, after.version
            ),
        };
        self.report.add(place, "effect", text);
    }

    /// Returns an answer to a question; none to one that can't be answered without knowing the app.
    fn choice(&mut self, needs: &Needs) -> Option<Choice> {
        Some(match needs.question.kind {
            QuestionKind::Confirm => Choice::Yes,
            QuestionKind::PickOne | QuestionKind::PickMany => {
                Choice::Picked(needs.question.options.first().map(|_| vec![1])?)
            }
            QuestionKind::Text => Choice::Text("check".into()),
            QuestionKind::Form => {
                let mut arguments = Arguments { things: &mut self.things, last: false };
                Choice::Fields(arguments.fields(&needs.question.fields, 0)?)
            }
        })
    }
}
