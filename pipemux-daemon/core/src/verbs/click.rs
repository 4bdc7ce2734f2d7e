//! `click` and `answer`: carry out a link, or answer an open question.

use pipemux_proto::Fault;
use pipemux_proto::refs::{Local, Ref, RefKind};
use pipemux_proto::watch::EventKind;

use crate::Core;
use crate::feed::Audience;
use crate::keys::{RequestId, SessionKey};
use crate::persist::records::Record;
use crate::runs::{Argument, MissingArgument, Run, RunInput, Step, StepOrigin, fixed, ref_errors};
use crate::verbs::require;
use crate::views::minter::open_params;
use crate::workspaces::anchors::{AnchorError, Target};

impl Core {
    /// Clicks a link: runs its action, or answers the question that it belongs to.
    pub(super) fn click(&mut self, id: RequestId, link: &str) -> Result<(), Fault> {
        let link = Ref::parse_loose(link, RefKind::Link)
            .map_err(|error| Fault::usage(error.to_string()))?;
        if link.kind != RefKind::Link {
            self.check_object(id, &link)?;
            return Err(Fault::usage(format!("{link} is a thing, not a link"))
                .hint(format!("its value: pipemux read {link}")));
        }
        match self.resolve_link(id, &link)? {
            LinkEffect::Step(step) => {
                self.check_no_question(id)?;
                self.run_steps(id, vec![*step])
            }
            LinkEffect::Answer(question, answer) => {
                self.answer_question(id, &answer, Some(question))
            }
        }
    }

    /// Returns the effect of a link for the reader who clicks it.
    pub(super) fn resolve_link(&self, id: RequestId, link: &Ref) -> Result<LinkEffect, Fault> {
        let name = ref_errors::name(link);
        let missing = || ref_errors::not_found(&name, None);
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let Local::Id(number) = link.local else {
            return Err(Fault::usage(format!("{name}: a link is named by its number: link:15")));
        };
        let anchor = workspace.anchors.get(RefKind::Link, number).ok_or_else(missing)?;
        let session: &SessionKey = &anchor.session;
        let reader = &request.call.reader;
        let seen = link.epoch.or(request.call.at);
        let seen = seen.unwrap_or_else(|| workspace.known_epoch(reader, number));
        let strict = workspace.options.strict && seen < workspace.epoch;
        let checked = workspace.anchors.check(RefKind::Link, number, seen, workspace.epoch);
        if let Err(why) = checked.and(if strict { Err(AnchorError::Stale) } else { Ok(()) }) {
            return Err(match why {
                AnchorError::NotFound => missing(),
                AnchorError::Stale => {
                    ref_errors::stale(&name).hint(format!("pipemux view {session}"))
                }
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
            return Err(ref_errors::out_of_view(&name, Some(format!("pipemux open {session}"))));
        }
        // Another reader's view of less of the window doesn't hide the link from this one.
        if !anchor.shown && !workspace.in_view(reader, session, number) {
            return Err(ref_errors::out_of_view(&name, Some(format!("pipemux view {session}"))));
        }
        let prototypes = self.processes.get(session).map(|session| &session.prototypes);
        let prototype = prototypes
            .and_then(|all| all.iter().find(|prototype| prototype.name == *action))
            .ok_or_else(|| {
                ref_errors::out_of_view(&name, Some(format!("pipemux view {session}")))
            })?;
        // The reader is asked for the parameters that the link leaves open.
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
            call: name,
            origin: StepOrigin::Link,
            nested: false,
        })))
    }

    /// Answers an open question, or sends a kept run again.
    pub(super) fn answer_question(
        &mut self,
        id: RequestId,
        text: &str,
        to: Option<u64>,
    ) -> Result<(), Fault> {
        // A link that answers may be given as the answer.
        if let Ok(link) = text.trim().parse::<Ref>()
            && link.kind == RefKind::Link
        {
            return match self.resolve_link(id, &link)? {
                LinkEffect::Answer(question, answer) => {
                    self.answer_question(id, &answer, Some(question))
                }
                LinkEffect::Step(_) => Err(Fault::usage(format!("{link} is no answer"))
                    .hint(format!("pipemux click {link}"))),
            };
        }
        if let Some(kept) = self.take_kept_run(id, text, to)? {
            return self.start_run(id, kept, RunInput::Begin);
        }
        let request = require::request(&self.clients, id)?;
        let (at, reader) = (&request.workspace, request.call.reader.clone());
        let open: Vec<u64> =
            self.runs.questions_of(at, &reader).map(|(number, _)| number).collect();
        if let (None, [_, _, ..]) = (to, open.as_slice()) {
            let way = |number: &u64| {
                let ways = self.runs.question(at, *number)?.ways();
                Some(format!("pipemux answer --to {number} {}", ways.last()?))
            };
            let ways = open.iter().filter_map(way);
            let fault = Fault::usage(format!("{} questions are open: say which", open.len()));
            return Err(ways.fold(fault, Fault::hint));
        }
        let closed = || {
            let message = match to {
                Some(number) => format!("question {number} was answered, or has expired"),
                None => "no question is open".to_owned(),
            };
            Fault::not_found(message).hint("pipemux view")
        };
        let number = to.or_else(|| open.first().copied()).ok_or_else(closed)?;
        let question = self.runs.question(at, number).ok_or_else(closed)?;
        if question.reader() != reader {
            return Err(Fault::refused(format!(
                "question {number} was asked of {}, not of {reader}",
                question.reader()
            )));
        }
        let answer = question.read(text)?;
        let question = self.runs.remove_question(at, number).ok_or_else(closed)?;
        let at = question.run.workspace.clone();
        self.turn.persist(Record::QuestionClosed { workspace: at.to_string(), number });
        let text = format!("question {number} was answered: {}", text.trim());
        let audience = Audience::Workspace(at, None);
        self.publish(EventKind::Answered, audience, Some(&reader), &text);
        let (run, input) = question.answer(answer);
        self.start_run(id, run, input)
    }

    /// Takes the kept run that `answer go` sends again, unless a question is open.
    fn take_kept_run(
        &mut self,
        id: RequestId,
        text: &str,
        to: Option<u64>,
    ) -> Result<Option<Run>, Fault> {
        if to.is_some() || text.trim() != "go" {
            return Ok(None);
        }
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let (at, reader) = (&request.workspace, &request.call.reader);
        if self.runs.questions_of(at, reader).next().is_some() {
            return Ok(None);
        }
        let Some(mut kept) = self.runs.take_kept(at, reader) else { return Ok(None) };
        kept.run_id = request.call.run_id.clone();
        kept.take_baseline(workspace, None);
        Ok(Some(kept))
    }
}

/// The effect of a link.
pub(super) enum LinkEffect {
    /// The link runs this step.
    Step(Box<Step>),
    /// The link answers the question of this number with this text.
    Answer(u64, String),
}
