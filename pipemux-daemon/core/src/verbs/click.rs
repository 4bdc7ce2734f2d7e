//! `click` and `answer`: what a link does, and what an open question is told.

use pipemux_proto::Fault;
use pipemux_proto::refs::{Local, Ref, RefKind};

use crate::Core;
use crate::act::question::{Answering, From};
use crate::act::{Acting, Argument, Ended, Gap, Step, fixed, gap, soft};
use crate::anchors::{Miss, Target};
use crate::event::Effect;
use crate::feed::Place;
use crate::keys::{JobId, SessionKey};
use crate::render::window::open_params;
use crate::saved::Record;
use pipemux_proto::app::Choice;
use pipemux_proto::report::Status;
use pipemux_proto::watch::What;

impl Core {
    pub(super) fn click(&mut self, job: JobId, link: &str) {
        let of = match Ref::parse_loose(link, RefKind::Link) {
            Ok(of) if of.kind == RefKind::Link => of,
            Ok(of) => {
                let fault = Fault::usage(format!("{of} is a thing, not a link"))
                    .hint(format!("its value: pipemux read {of}"));
                return self.fail_job(job, fault);
            }
            Err(error) => return self.fail_job(job, Fault::usage(error.to_string())),
        };
        match self.linked(job, &of) {
            Ok(Clicked::Step(step)) => match self.check_no_question(job) {
                Ok(()) => self.begin_acting(job, vec![*step]),
                Err(fault) => self.fail_job(job, fault),
            },
            Ok(Clicked::Answer(question, answer)) => {
                self.answer_question(job, &answer, Some(question));
            }
            Err(fault) => self.fail_job(job, fault),
        }
    }

    /// What a link does for the reader who clicks it.
    fn linked(&self, job: JobId, of: &Ref) -> Result<Clicked, Fault> {
        let shown = soft::name(of);
        let missing = || soft::not_found(&shown, None);
        let found = self.jobs.get(&job).ok_or_else(missing)?;
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
        if let Err(why) = checked.and(if strict { Err(Miss::Stale) } else { Ok(()) }) {
            return Err(match why {
                Miss::NotFound => missing(),
                Miss::Stale => soft::stale(&shown),
            });
        }
        let (action, args) = match &anchor.target {
            Target::Answer { question, answer } => {
                return Ok(Clicked::Answer(*question, answer.to_string()));
            }
            Target::Action(bound) => (&bound.action, &bound.args),
            Target::Object { .. } => return Err(missing()),
        };
        if workspace.window(session).is_none() {
            return Err(soft::out_of_view(&shown, Some(format!("pipemux open {session}"))));
        }
        // Another reader's look at less of the window takes nothing away from this one.
        if !anchor.shown && !workspace.in_view(reader, session, id) {
            return Err(soft::out_of_view(&shown, Some(format!("pipemux view {session}"))));
        }
        let prototypes = self.sessions.get(session).map(|session| &session.prototypes);
        let prototype = prototypes
            .and_then(|all| all.iter().find(|prototype| prototype.name == *action))
            .ok_or_else(|| soft::out_of_view(&shown, Some(format!("pipemux view {session}"))))?;
        // What the link leaves open is asked for.
        let mut bound = fixed(args);
        for param in open_params(prototype, args) {
            let gap = Gap { ty: param.ty.clone(), meant: None };
            bound.push((param.name.clone(), Argument::Gap(gap)));
        }
        Ok(Clicked::Step(Box::new(Step {
            session: session.clone(),
            prototype: prototype.clone(),
            owners: Vec::new(),
            args: bound,
            call: shown,
            nested: false,
        })))
    }

    pub(super) fn answer_question(&mut self, job: JobId, text: &str, to: Option<u64>) {
        // A link that answers may be given as the answer.
        if let Ok(of) = text.trim().parse::<Ref>()
            && of.kind == RefKind::Link
        {
            return match self.linked(job, &of) {
                Ok(Clicked::Answer(question, answer)) => {
                    self.answer_question(job, &answer, Some(question));
                }
                Ok(Clicked::Step(_)) => {
                    let fault = Fault::usage(format!("{of} is no answer"))
                        .hint(format!("pipemux click {of}"));
                    self.fail_job(job, fault);
                }
                Err(fault) => self.fail_job(job, fault),
            };
        }
        let Some(found) = self.jobs.get(&job) else { return };
        let reader = found.call.reader.clone();
        if let Some(kept) = self.kept(job, text, to) {
            return self.resume_kept(job, kept);
        }
        let Some(found) = self.jobs.get(&job) else { return };
        let Some(workspace) = self.workspaces.get_mut(&found.workspace) else { return };
        let open = workspace.questions_of(&reader);
        if let (None, [_, _, ..]) = (to, open.as_slice()) {
            let ways = open.iter().map(|number| format!("pipemux answer --to {number} …"));
            let fault = Fault::usage(format!("{} questions are open: say which", open.len()));
            return self.fail_job(job, ways.fold(fault, Fault::hint));
        }
        let number = to.or_else(|| open.first().copied());
        let question = number.and_then(|number| workspace.questions.get(&number));
        let Some((number, question)) = number.zip(question) else {
            let message = match to {
                Some(number) => format!("question {number} was answered, or has expired"),
                None => "no question is open".to_owned(),
            };
            return self.fail_job(job, Fault::not_found(message).hint("pipemux view"));
        };
        if question.reader() != reader {
            let fault = Fault::refused(format!(
                "question {number} was asked of {}, not of {reader}",
                question.reader()
            ));
            return self.fail_job(job, fault);
        }
        let answering = match question.read(text) {
            Ok(answering) => answering,
            Err(fault) => return self.fail_job(job, fault),
        };
        let filled = match (&question.from, &answering) {
            (From::Gap(asked), Answering::Choice(choice)) => {
                let of = &question.acting.steps[asked.step];
                let Argument::Gap(gap) = &of.args[asked.index].1 else { return };
                match gap::fill(gap, &asked.options, choice) {
                    Ok(argument) => Some((asked.step, asked.index, argument)),
                    Err(fault) => return self.fail_job(job, fault),
                }
            }
            _ => None,
        };
        let Some(question) = workspace.questions.remove(&number) else { return };
        let at = question.acting.workspace.to_string();
        self.out.push(Effect::Persist(Record::QuestionClosed { workspace: at, number }));
        let told = format!("question {number} was answered: {}", text.trim());
        let place = Place::Workspace(question.acting.workspace.clone(), None);
        self.tell(What::Answered, place, Some(&reader), &told);
        let mut acting = question.acting;
        acting.answers += 1;
        match answering {
            Answering::Choice(choice) => {
                match (question.from, filled) {
                    (_, Some((step, index, argument))) => {
                        acting.steps[step].args[index].1 = argument;
                    }
                    (From::App(invoke), None) => {
                        acting.answered = Some((*invoke, question.needs.token, choice));
                    }
                    (From::Owner(step), None) => {
                        let of = &mut acting.steps[step];
                        let owners = std::mem::take(&mut of.owners);
                        let picked = match &choice {
                            Choice::Picked(picked) => picked.first().map(|n| *n as usize - 1),
                            _ => None,
                        };
                        if let Some(owner) = picked.and_then(|index| owners.get(index)) {
                            of.session = owner.clone();
                        }
                    }
                    (From::Gap(_), None) => {}
                }
                self.put_acting(job, acting);
                self.advance(job);
            }
            Answering::Cancel => {
                let said = "cancelled, nothing was changed by it";
                if acting.was_sent() {
                    acting.fail(Status::Failed, Fault::refused(said));
                } else {
                    acting.done.push(Ended::skipped(said));
                }
                self.acted(job, acting);
            }
        }
    }

    /// The run that `answer go` sends again, when no question is open.
    fn kept(&mut self, job: JobId, text: &str, to: Option<u64>) -> Option<Acting> {
        if to.is_some() || text.trim() != "go" {
            return None;
        }
        let found = self.jobs.get(&job)?;
        let workspace = self.workspaces.get_mut(&found.workspace)?;
        if workspace.question_of(&found.call.reader).is_some() {
            return None;
        }
        let mut kept = *workspace.readers.get_mut(&found.call.reader)?.kept.take()?;
        kept.run_id = found.call.run_id.clone();
        Some(kept)
    }
}

enum Clicked {
    Step(Box<Step>),
    Answer(u64, String),
}
