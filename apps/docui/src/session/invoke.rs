//! Carries out actions: checks the refs in their arguments, asks before what can't be undone, calls
//! the app, and makes the outcome of its reply.

use pipemux_proto::app::{Choice, Done, Invoke, Needs, Outcome, QuestionKind, Resume};
use pipemux_proto::job;
use pipemux_proto::prototype::Risk;
use pipemux_proto::{Blob, Code, Envelope, Fault};

use crate::actions::previewed;
use crate::app::Context;
use crate::blocking::Completion;
use crate::limits::CONTENT_BUDGET;
use crate::reply::{Ask, Reply};
use crate::run_changes::ref_keys;

use super::Session;
use super::pending::{ParkedWork, PendingInvoke, answer_by};
use super::refs::rev;
use super::value_files;

/// The token of the question that [`App::confirm`] makes.
const CONFIRM: &[u8] = b"docui confirm";

impl Session {
    /// Carries out an action. Returns `None` when the request waits for work on another thread.
    pub(crate) fn invoke(&mut self, request: &Envelope, message: Invoke) -> Option<Outcome> {
        self.try_invoke(request, message).unwrap_or_else(|fault| Some(Outcome::Failed(fault)))
    }

    fn try_invoke(
        &mut self,
        request: &Envelope,
        mut message: Invoke,
    ) -> Result<Option<Outcome>, Fault> {
        self.refresh()?;
        value_files::take(message.args.values_mut(), &self.state_dir)?;
        let previewed = previewed(self.app_type.has_preview, &message.action, &mut message.args)?;
        let preview = previewed.is_some();
        if let Some(action) = previewed {
            message.action = action.to_owned();
        }
        let refs = self.refs(&message.run_id)?;
        let named_kind = |param: &str| (self.app_type.named_kind)(&message.action, param);
        refs.resolve_names(&mut message.args, named_kind)?;
        refs.check(message.args.values_mut())?;
        if let Some(Resume { choice: Choice::Fields(fields), .. }) = &mut message.resume {
            refs.check(fields.values_mut())?;
        }
        let keys = ref_keys(message.args.values());
        let action = self.app_type.decode(&message.action, message.args)?;
        let is_destructive = action.risk == Risk::Destructive;
        let query = preview || action.risk == Risk::Query;
        if is_destructive && !preview && !message.confirmed {
            let Ask(needs) = self.app()?.confirm(&action)?;
            let needs = Needs { token: Blob(CONFIRM.into()), ..needs };
            return Ok(Some(Outcome::Needs(needs)));
        }
        let context = Context {
            reader: message.reader,
            run_id: message.run_id,
            // Versions of this SDK begin with 1.
            seen_version: message.seen_version.unwrap_or(0),
            seen_lost: message.seen_lost,
            numbers: message.numbers,
            forgotten: message.forgotten,
            cwd: message.cwd.into(),
            version: self.version,
            query,
            preview,
            answer_by: answer_by(request, self.received),
            nested: message.nested,
            consents: message.consents,
            changed_beside: message.changed_beside,
            budget: if message.budget > 0 { message.budget } else { CONTENT_BUDGET },
            // The question of `App::confirm` was asked by the SDK, so its answer ends here. Answers
            // to the app's own questions are passed on, also to those of an action that was
            // confirmed before.
            answer: message
                .resume
                .filter(|resume| !is_destructive || resume.token.0 != CONFIRM)
                .map(|resume| (resume.token.0.to_vec(), resume.choice)),
        };
        let app = self.app()?;
        let before: Vec<_> = keys.into_iter().map(|key| (key.clone(), rev(app, &key))).collect();
        let run_id = context.run_id.clone();
        let pending = PendingInvoke { name: action.name, query, preview, run_id, before };
        let reply = match self.app_mut()?.blocking(&action, &context)? {
            None if preview => {
                let message = format!("what {} would do can't be told", action.name);
                return Err(Fault::refused(message).hint("leave preview out to carry it out"));
            }
            None => self.app_mut()?.update(action, &context)?,
            Some(blocking) => {
                let blocking = if preview { blocking.only_plans() } else { blocking };
                let park = |started| ParkedWork::Invoke(started, pending.clone());
                let Some(finish) = self.park(request, blocking, park)? else { return Ok(None) };
                let completion = Completion { version: self.version, late: false };
                finish(self.app_mut()?, completion)?
            }
        };
        Ok(Some(self.replied(reply, &pending)))
    }

    /// Turns the app's reply to an action into the outcome.
    pub(super) fn replied(&mut self, reply: Reply, pending: &PendingInvoke) -> Outcome {
        if let Some(app) = &self.app {
            let after = |key: &str| rev(&**app, key);
            self.run_changes.record(&pending.run_id, &pending.before, after);
        }
        match reply {
            Reply::Ask(ask) if pending.preview => self.replied(ask.as_shown().into(), pending),
            Reply::Ask(ask) if ask.0.question.kind == QuestionKind::Form && !self.takes_forms => {
                let message = "the daemon is too old for a question with several fields";
                Outcome::Failed(Fault::new(Code::Version, message).hint("update it: pipemux down"))
            }
            Reply::Ask(ask) => Outcome::Needs(ask.0),
            Reply::Started(started) => {
                let mut started = started.0;
                self.version += u64::from(!pending.query);
                started.version = self.version;
                self.untold = false;
                if self.handle.has_jobs() {
                    return Outcome::Started(started);
                }
                let job::Started { brief, version, links, ended_jobs, no_undo, .. } = started;
                Outcome::Done(Done {
                    brief,
                    version,
                    links,
                    ended_jobs,
                    no_undo,
                    ..Done::default()
                })
            }
            Reply::Done(mut done) => {
                self.version += u64::from(!pending.query);
                done.0.version = self.version;
                self.untold = false;
                Outcome::Done(done.0)
            }
        }
    }
}
