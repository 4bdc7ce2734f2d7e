//! `click` and `answer`: what a link does, and what an open question is told.

use pipemux_proto::Fault;
use pipemux_proto::refs::{Local, Ref, RefKind};

use crate::Core;
use crate::event::Effect;
use crate::feed::Audience;
use crate::keys::{RequestId, SessionKey};
use crate::persist::records::Record;
use crate::runs::{Argument, MissingArgument, Run, RunInput, Step, StepOrigin, fixed, ref_errors};
use crate::views::minter::open_params;
use crate::workspaces::anchors::{AnchorError, Target};
use pipemux_proto::watch::EventKind;

impl Core {
    pub(super) fn click(&mut self, job: RequestId, link: &str) {
        let of = match Ref::parse_loose(link, RefKind::Link) {
            Ok(of) if of.kind == RefKind::Link => of,
            Ok(of) => {
                let fault = Fault::usage(format!("{of} is a thing, not a link"))
                    .hint(format!("its value: pipemux read {of}"));
                return self.fail_request(job, fault);
            }
            Err(error) => return self.fail_request(job, Fault::usage(error.to_string())),
        };
        match self.linked(job, &of) {
            Ok(LinkEffect::Step(step)) => match self.check_no_question(job) {
                Ok(()) => self.begin_run(job, vec![*step]),
                Err(fault) => self.fail_request(job, fault),
            },
            Ok(LinkEffect::Answer(question, answer)) => {
                self.answer_question(job, &answer, Some(question));
            }
            Err(fault) => self.fail_request(job, fault),
        }
    }

    /// What a link does for the reader who clicks it.
    fn linked(&self, job: RequestId, of: &Ref) -> Result<LinkEffect, Fault> {
        let shown = ref_errors::name(of);
        let missing = || ref_errors::not_found(&shown, None);
        let found = self.clients.request(job).ok_or_else(missing)?;
        let workspace = self.workspaces.get(&found.workspace).ok_or_else(missing)?;
        let Local::Id(id) = of.local else {
            return Err(Fault::usage(format!("{shown}: a link is named by its number: link:15")));
        };
        let anchor = workspace.anchors.get(RefKind::Link, id).ok_or_else(missing)?;
        let session: &SessionKey = &anchor.session;
        let reader = &found.call.reader;
        let seen = of.epoch.or(found.call.at).unwrap_or_else(|| workspace.known_epoch(reader, id));
        let strict = workspace.options.strict && seen < workspace.epoch;
        let checked = workspace.anchors.check(RefKind::Link, id, seen, workspace.epoch);
        if let Err(why) = checked.and(if strict { Err(AnchorError::Stale) } else { Ok(()) }) {
            return Err(match why {
                AnchorError::NotFound => missing(),
                AnchorError::Stale => ref_errors::stale(&shown),
            });
        }
        let (action, args) = match &anchor.target {
            Target::Answer { question, answer } => {
                return Ok(LinkEffect::Answer(*question, answer.to_string()));
            }
            Target::Action(bound) => (&bound.action, &bound.args),
            Target::Object { .. } => return Err(missing()),
        };
        if workspace.window(session).is_none() {
            return Err(ref_errors::out_of_view(&shown, Some(format!("pipemux open {session}"))));
        }
        // Another reader's look at less of the window takes nothing away from this one.
        if !anchor.shown && !workspace.in_view(reader, session, id) {
            return Err(ref_errors::out_of_view(&shown, Some(format!("pipemux view {session}"))));
        }
        let prototypes = self.processes.get(session).map(|session| &session.prototypes);
        let prototype = prototypes
            .and_then(|all| all.iter().find(|prototype| prototype.name == *action))
            .ok_or_else(|| {
                ref_errors::out_of_view(&shown, Some(format!("pipemux view {session}")))
            })?;
        // What the link leaves open is asked for.
        let mut bound = fixed(args);
        for param in open_params(prototype, args) {
            let missing = MissingArgument { ty: param.ty.clone(), meant: None };
            bound.push((param.name.clone(), Argument::Missing(missing)));
        }
        Ok(LinkEffect::Step(Box::new(Step {
            session: session.clone(),
            prototype: prototype.clone(),
            candidates: Vec::new(),
            args: bound,
            call: shown,
            origin: StepOrigin::Link,
            nested: false,
        })))
    }

    pub(super) fn answer_question(&mut self, job: RequestId, text: &str, to: Option<u64>) {
        // A link that answers may be given as the answer.
        if let Ok(of) = text.trim().parse::<Ref>()
            && of.kind == RefKind::Link
        {
            return match self.linked(job, &of) {
                Ok(LinkEffect::Answer(question, answer)) => {
                    self.answer_question(job, &answer, Some(question));
                }
                Ok(LinkEffect::Step(_)) => {
                    let fault = Fault::usage(format!("{of} is no answer"))
                        .hint(format!("pipemux click {of}"));
                    self.fail_request(job, fault);
                }
                Err(fault) => self.fail_request(job, fault),
            };
        }
        let Some(found) = self.clients.request(job) else { return };
        let reader = found.call.reader.clone();
        if let Some(kept) = self.kept(job, text, to) {
            return self.start_run(job, kept, RunInput::Begin);
        }
        let Some(found) = self.clients.request(job) else { return };
        let at = found.workspace.clone();
        let open: Vec<u64> =
            self.runs.questions_of(&at, &reader).map(|(number, _)| number).collect();
        if let (None, [_, _, ..]) = (to, open.as_slice()) {
            let ways = open.iter().map(|number| format!("pipemux answer --to {number} …"));
            let fault = Fault::usage(format!("{} questions are open: say which", open.len()));
            return self.fail_request(job, ways.fold(fault, Fault::hint));
        }
        let number = to.or_else(|| open.first().copied());
        let question = number.and_then(|number| self.runs.question(&at, number));
        let Some((number, question)) = number.zip(question) else {
            let message = match to {
                Some(number) => format!("question {number} was answered, or has expired"),
                None => "no question is open".to_owned(),
            };
            return self.fail_request(job, Fault::not_found(message).hint("pipemux view"));
        };
        if question.reader() != reader {
            let fault = Fault::refused(format!(
                "question {number} was asked of {}, not of {reader}",
                question.reader()
            ));
            return self.fail_request(job, fault);
        }
        let answer = match question.read(text) {
            Ok(answer) => answer,
            Err(fault) => return self.fail_request(job, fault),
        };
        let Some(question) = self.runs.remove_question(&at, number) else { return };
        let at = question.run.workspace.to_string();
        self.turn.effects.push(Effect::Persist(Record::QuestionClosed { workspace: at, number }));
        let told = format!("question {number} was answered: {}", text.trim());
        let place = Audience::Workspace(question.run.workspace.clone(), None);
        self.tell(EventKind::Answered, place, Some(&reader), &told);
        let (run, input) = question.answer(answer);
        self.start_run(job, run, input);
    }

    /// The run that `answer go` sends again, when no question is open.
    fn kept(&mut self, job: RequestId, text: &str, to: Option<u64>) -> Option<Run> {
        if to.is_some() || text.trim() != "go" {
            return None;
        }
        let found = self.clients.request(job)?;
        let (at, reader) = (&found.workspace, &found.call.reader);
        let workspace = self.workspaces.get(at)?;
        if self.runs.questions_of(at, reader).next().is_some() {
            return None;
        }
        let mut kept = self.runs.take_kept(at, reader)?;
        kept.run_id = found.call.run_id.clone();
        kept.take_baseline(workspace, None);
        Some(kept)
    }
}

enum LinkEffect {
    Step(Box<Step>),
    Answer(u64, String),
}
