//! `click`: carries out a link, or answers the question that it belongs to.

use pipemux_proto::Fault;
use pipemux_proto::refs::{Ref, RefKind};

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::runs::Step;
use crate::runs::origin::Origin;
use crate::scripts::link::{Clicker, LinkTarget, link_target};
use crate::scripts::plan::Planner;
use crate::verbs::require;
use crate::verbs::tasks::RefLookup;

impl Core {
    /// Clicks a link that is given as the argument of the verb.
    pub(crate) fn click_written(&mut self, id: RequestId, link: &str) -> Result<(), Fault> {
        let link = Ref::parse_loose(link, RefKind::Link)
            .map_err(|error| Fault::usage(error.to_string()))?;
        self.click(id, link)
    }

    /// Clicks a link: runs its action, or answers the question that it belongs to.
    pub(crate) fn click(&mut self, id: RequestId, link: Ref) -> Result<(), Fault> {
        if link.prefix.is_some() {
            return self.look_up_refs(id, RefLookup::click(link), true);
        }
        if link.kind != RefKind::Link {
            self.check_object(id, &link)?;
        }
        match self.resolve_link(id, &link)? {
            LinkEffect::Hidden(session) => self.find_hidden_link(id, link, session),
            effect => self.follow_link(id, effect),
        }
    }

    /// Carries out what a link does.
    pub(super) fn follow_link(&mut self, id: RequestId, effect: LinkEffect) -> Result<(), Fault> {
        match effect {
            LinkEffect::Steps(steps) => self.run_steps(id, steps, Origin::Click),
            LinkEffect::Answer(question, answer) => {
                self.answer_question(id, &answer, Some(question), None)
            }
            LinkEffect::CancelJob(job) => self.cancel_job(id, job),
            LinkEffect::Hidden(_) => Err(require::missing_task(&self.clients, id)),
        }
    }

    /// Returns the effect of a link for the reader who clicks it.
    pub(super) fn resolve_link(&self, id: RequestId, link: &Ref) -> Result<LinkEffect, Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let (reader, at) = (&request.call.reader, request.call.at);
        let sessions = self.processes.sessions();
        match link_target(workspace, sessions, Clicker { reader, at }, link)? {
            LinkTarget::Answer(question, answer) => {
                Ok(LinkEffect::Answer(question, answer.to_owned()))
            }
            LinkTarget::CancelJob(job) => Ok(LinkEffect::CancelJob(job)),
            LinkTarget::Hidden(session) => Ok(LinkEffect::Hidden(session.clone())),
            LinkTarget::Action(..) => {
                let planner = Planner::new(workspace, sessions, "").clicked_by(reader, at);
                planner.plan_click(link).map(LinkEffect::Steps)
            }
        }
    }
}

/// The effect of a link.
pub(super) enum LinkEffect {
    /// The link runs these steps.
    Steps(Vec<Step>),
    /// The link answers the question of this number with this text.
    Answer(u64, String),
    /// The link cancels the job of this number.
    CancelJob(u64),
    /// The window of this session, as it was written last, doesn't have the link.
    Hidden(SessionKey),
}
