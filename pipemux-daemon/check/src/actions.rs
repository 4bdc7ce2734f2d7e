//! Rules for actions: their outcomes and questions.

use std::collections::{BTreeMap, BTreeSet};

use pipemux_core::lint;
use pipemux_proto::Method;
use pipemux_proto::app::{Choice, Done, Invoke, Needs, Outcome, QuestionKind, Resume};
use pipemux_proto::job::Started;
use pipemux_proto::projection::{Args, LinkSlot, Piece, Projection};
use pipemux_proto::prototype::{Prototype, Risk, Type};

use crate::arguments::{Arguments, ParamSet, call_text, refs};
use crate::jobs::job_started;
use crate::limits::{CLICKS, LONG_ACTION, QUESTIONS};
use crate::observer::Observer;

/// Invokes the app's actions.
pub struct ActionChecks<'a> {
    pub observer: Observer<'a>,
    runs: u64,
    /// Actions that took long, and are tried once only.
    long: BTreeSet<String>,
    /// Each destructive action, and whether there was something to try it on.
    pub tried: BTreeMap<String, bool>,
    /// Each action that was called as its prototype has it: why it failed last, or `None` once it
    /// was done.
    pub failing: BTreeMap<String, Option<String>>,
}

impl<'a> ActionChecks<'a> {
    pub fn new(observer: Observer<'a>) -> Self {
        let (tried, failing) = (BTreeMap::new(), BTreeMap::new());
        Self { observer, runs: 0, long: BTreeSet::new(), tried, failing }
    }

    /// Invokes all actions. Invalid arguments, and all ways to give valid ones, are tried in the
    /// first round only.
    pub fn all_actions(&mut self, round: usize) {
        let actions = self.observer.session.actions.clone();
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
                self.observer
                    .session
                    .report
                    .note(format!("{name}, since no thing is shown that it needs"));
            }
        }
        if round == 0 {
            self.no_such_action();
            self.click_links();
        }
        if self.observer.look("project full").is_some() {
            self.observer.lookups();
        }
    }

    /// Invokes an action in the ways of a round. Returns false when there are no arguments for it.
    fn action_in_round(&mut self, action: &Prototype, round: usize) -> bool {
        if self.observer.session.process.is_none() || self.long.contains(&action.name) {
            return true;
        }
        let Some(shown) = self.observer.look("project full") else { return true };
        if shown.actions.as_ref().is_some_and(|actions| !actions.contains(&action.name)) {
            return true;
        }
        let unions = action.params.iter().filter_map(|param| match &param.ty {
            Type::Union(options) => Some(options.len()),
            _ => None,
        });
        let ways: Vec<(ParamSet, usize)> = match round {
            0 => {
                let all = (0..unions.max().unwrap_or(1).clamp(1, 3)).map(|at| (ParamSet::All, at));
                [(ParamSet::Required, 0)].into_iter().chain(all).collect()
            }
            _ => vec![(ParamSet::Required, round)],
        };
        if action.risk == Risk::Destructive && !self.observer.session.objects.has_own() {
            self.make_things(round);
        }
        let Some(args) = self.make_arguments(action, ParamSet::Required, 0, round) else {
            return false;
        };
        if round == 0 {
            self.invalid(action, &args);
        }
        for (params, union_at) in ways {
            if self.long.contains(&action.name) {
                break;
            }
            let Some(args) = self.make_arguments(action, params, union_at, round) else { continue };
            let done = self.valid(action, &args);
            if round == 0 && params == ParamSet::Required && done {
                self.copies(action, &args);
            }
        }
        true
    }

    /// Carries out actions that need no thing, until one is shown that the run made.
    fn make_things(&mut self, round: usize) {
        for action in self.observer.session.actions.clone() {
            let needs_thing = action.params.iter().any(|param| {
                param.is_required() && matches!(param.ty, Type::Anchor(_) | Type::List(_))
            });
            if action.risk != Risk::Changes || needs_thing || self.long.contains(&action.name) {
                continue;
            }
            if let Some(args) = self.make_arguments(&action, ParamSet::Required, 0, round) {
                self.valid(&action, &args);
            }
            if self.observer.session.objects.has_own() {
                return;
            }
        }
    }

    fn make_arguments(
        &mut self,
        action: &Prototype,
        params: ParamSet,
        union_at: usize,
        round: usize,
    ) -> Option<Args> {
        let last = round == 1;
        let mut arguments = Arguments { objects: &mut self.observer.session.objects, last };
        arguments.of(action, params, union_at)
    }

    /// Carries out an action. Returns true when it is done.
    fn valid(&mut self, action: &Prototype, args: &Args) -> bool {
        let place = format!("invoke {}", call_text(&action.name, args));
        let Some(before) = self.observer.look(&place) else { return false };
        self.observer.cause = Some(action.risk);
        let done = self.carry_out(&place, action, args, &before);
        self.observer.cause = None;
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
                        self.observer.session.report.add(place, "unconfirmed", text);
                    }
                    let version = match outcome {
                        Outcome::Started(started) => started.version,
                        Outcome::Done(done) => done.version,
                        Outcome::Needs(_) | Outcome::Failed(_) => before.version,
                    };
                    self.check_done(place, action, args, before, version);
                    self.failing.insert(action.written_name().to_owned(), None);
                    return true;
                }
                Some(Outcome::Needs(needs)) => {
                    if destructive
                        && !invoke.confirmed
                        && needs.question.kind != QuestionKind::Confirm
                    {
                        let text = "asks something else before it is confirmed: ask with the kind `confirm` first";
                        self.observer.session.report.add(place, "unconfirmed", text);
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
        self.observer.session.report.add(place, "question", text);
        false
    }

    /// Returns true when a destructive action may be carried out: all that it names, or could mean,
    /// was made by this run. What an app shows may be real, such as the processes of a machine, and
    /// may appear at any time.
    pub fn may_confirm(&mut self, action: &Prototype, args: &Args) -> bool {
        let named = refs(args);
        let keys: Vec<&str> = match named.is_empty() {
            true => self
                .observer
                .session
                .objects
                .shown
                .iter()
                .map(|object| object.key.as_str())
                .collect(),
            false => named.into_iter().map(|of| of.key.as_str()).collect(),
        };
        let may = !keys.is_empty()
            && keys.into_iter().all(|key| self.observer.session.objects.is_own(key));
        let may = may || self.observer.session.subject.destructive;
        self.tried
            .entry(action.written_name().to_owned())
            .and_modify(|tried| *tried |= may)
            .or_insert(may);
        may
    }

    pub fn invoke(&mut self, action: &Prototype, args: &Args, before: &Projection) -> Invoke {
        self.runs += 1;
        Invoke {
            action: action.name.clone(),
            args: args.clone(),
            seen_version: Some(before.version),
            cwd: self.observer.session.subject.root.join("work").to_string_lossy().into_owned(),
            reader: "check".into(),
            run_id: format!("check-{}", self.runs),
            budget: 1000,
            ..Invoke::default()
        }
    }

    /// Sends an action, and checks that it had no effect unless it was done. A fault is a failed
    /// outcome.
    pub fn send(
        &mut self,
        place: &str,
        action: Option<&Prototype>,
        invoke: &Invoke,
        before: &Projection,
    ) -> Option<Outcome> {
        self.observer.sent = true;
        let (answer, took) =
            self.observer.session.ask_timed::<Outcome>(place, Method::Invoke, invoke);
        if took > LONG_ACTION {
            self.long.insert(invoke.action.clone());
        }
        let outcome = match answer? {
            Ok(outcome) => {
                self.observer
                    .session
                    .lints(place, lint::outcome(&outcome, action, &self.observer.session.actions));
                outcome
            }
            Err(fault) => Outcome::Failed(fault),
        };
        if let Outcome::Started(started) = &outcome
            && !job_started(&mut self.observer.session, place, &started.job)
        {
            // Each further job would be waited for as long.
            self.long.insert(invoke.action.clone());
        }
        if let Outcome::Done(Done { version, .. }) | Outcome::Started(Started { version, .. }) =
            &outcome
            && let Some(process) = &mut self.observer.session.process
        {
            process.outcome_version = *version;
        }
        match (&outcome, action) {
            (Outcome::Needs(_), _) => self.observer.had_no_effect(place, before, "asked"),
            (Outcome::Failed(_), _) => self.observer.had_no_effect(place, before, "failed"),
            // Of one whose arguments are odd the effect is looked at here, so that it isn't taken
            // for a change by itself.
            (Outcome::Done(_) | Outcome::Started(_), Some(action))
                if self.observer.cause.is_none() =>
            {
                self.observer.cause = Some(action.risk);
                self.observer.look(place);
                self.observer.cause = None;
            }
            (Outcome::Done(_) | Outcome::Started(_), _) => {}
        }
        Some(outcome)
    }

    /// Clicks the links of the window.
    fn click_links(&mut self) {
        let Some(shown) = self.observer.look("project full") else { return };
        let in_content = shown.content.iter().filter_map(|piece| match piece {
            Piece::Link(link) => Some(link),
            _ => None,
        });
        let links: Vec<LinkSlot> =
            shown.nav.iter().chain(in_content).take(CLICKS).cloned().collect();
        for link in links.into_iter().filter(|link| link.code.is_none()) {
            let Some(action) = self
                .observer
                .session
                .actions
                .iter()
                .find(|action| action.name == link.action)
                .cloned()
            else {
                continue;
            };
            if !self.long.contains(&action.name) {
                self.valid(&action, &link.args);
            }
        }
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
                let mut arguments =
                    Arguments { objects: &mut self.observer.session.objects, last: false };
                Choice::Fields(arguments.fields(&needs.question.fields, 0)?)
            }
        })
    }
}
