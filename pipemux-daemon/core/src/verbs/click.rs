//! `click`: carries out a link, or answers the question that it belongs to.

use pipemux_proto::Fault;
use pipemux_proto::refs::{Ref, RefKind};

use crate::clients::client_request::ClientRequest;
use crate::keys::SessionKey;
use crate::processes::Processes;
use crate::runs::origin::Origin;
use crate::runs::{RunContext, Step};
use crate::scripts::link::{Clicker, LinkTarget, link_target};
use crate::scripts::plan::Planner;
use crate::scripts::resolve_ref::{RefScope, UnresolvedRef};
use crate::verbs::next::{Next, RunWork, SessionStart, Work};
use crate::verbs::tasks::RefLookup;
use crate::workspaces::Workspace;

/// Clicks a link that is given as the argument of the verb.
///
/// # Errors
/// It is no link.
pub(crate) fn click_written(link: &str) -> Result<Next, Fault> {
    let link =
        Ref::parse_loose(link, RefKind::Link).map_err(|error| Fault::usage(error.to_string()))?;
    Ok(Next::Work(Work::Click(link)))
}

/// Clicks a link: runs its action, or answers the question that it belongs to.
///
/// # Errors
/// The link is unknown, stale or out of view.
pub(crate) fn click(
    workspace: &Workspace,
    processes: &Processes,
    request: &ClientRequest,
    link: Ref,
) -> Result<Next, Fault> {
    if link.prefix.is_some() {
        return Ok(Next::Work(Work::LookUp(RefLookup::click(link), SessionStart::Allowed)));
    }
    if link.kind != RefKind::Link {
        check_object(workspace, processes, request, &link)?;
    }
    Ok(resolve_link(workspace, processes, request, &link)?.follow(link))
}

/// Checks that a ref leads to an object, so that its value can be read.
///
/// # Errors
/// It doesn't.
fn check_object(
    workspace: &Workspace,
    processes: &Processes,
    request: &ClientRequest,
    target: &Ref,
) -> Result<(), Fault> {
    let context = RunContext { workspace, sessions: processes.sessions() };
    let refs = RefScope::of(workspace, &request.call.reader, request.call.at);
    match refs.resolve(&context, target, &[]) {
        Err(UnresolvedRef::Invalid(fault, _)) => Err(*fault),
        // Where it is, is asked when it is read.
        Ok(_) | Err(UnresolvedRef::NotShown { .. }) => Ok(()),
    }
}

/// Returns the effect of a link for the reader who clicks it.
///
/// # Errors
/// The link is unknown, stale or out of view.
pub(super) fn resolve_link(
    workspace: &Workspace,
    processes: &Processes,
    request: &ClientRequest,
    link: &Ref,
) -> Result<LinkEffect, Fault> {
    let (reader, at) = (&request.call.reader, request.call.at);
    let sessions = processes.sessions();
    match link_target(workspace, sessions, Clicker { reader, at }, link)? {
        LinkTarget::Answer(question, answer) => Ok(LinkEffect::Answer(question, answer.to_owned())),
        LinkTarget::CancelJob(job) => Ok(LinkEffect::CancelJob(job)),
        LinkTarget::Hidden(session) => Ok(LinkEffect::Hidden(session.clone())),
        LinkTarget::Action(..) => {
            let planner = Planner::new(workspace, sessions, "").clicked_by(reader, at);
            planner.plan_click(link).map(LinkEffect::Steps)
        }
    }
}

pub(super) enum LinkEffect {
    /// The link runs these steps.
    Steps(Vec<Step>),
    /// The link answers the question with this number with this text.
    Answer(u64, String),
    /// The link cancels the job with this number.
    CancelJob(u64),
    /// The last written window of this session doesn't have the link.
    Hidden(SessionKey),
}

impl LinkEffect {
    /// Carries out what `link` does.
    pub(super) fn follow(self, link: Ref) -> Next {
        match self {
            Self::Steps(steps) => Next::Run(RunWork::Steps(steps, Origin::Click)),
            Self::Answer(question, answer) => Next::Run(RunWork::AnswerQuestion(question, answer)),
            Self::CancelJob(job) => Next::Work(Work::CancelJob(job)),
            Self::Hidden(session) => Next::Work(Work::FindLink(link, session)),
        }
    }
}
