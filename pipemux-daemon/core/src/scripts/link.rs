//! Resolves a link for the reader who clicks it.

use pipemux_proto::Fault;
use pipemux_proto::Value;
use pipemux_proto::call::{Call, Expr};
use pipemux_proto::prototype::Prototype;
use pipemux_proto::refs::{Local, Ref, RefKind};

use crate::keys::SessionKey;
use crate::processes::Sessions;
use crate::scripts::ref_errors;
use crate::workspaces::Workspace;
use crate::workspaces::anchors::{AnchorError, BoundAction, Target};

/// The reader who clicks a link.
#[derive(Debug, Clone, Copy)]
pub struct Clicker<'a> {
    pub reader: &'a str,
    /// The epoch to which the whole call is pinned.
    pub at: Option<u64>,
}

/// The target of a link.
#[derive(Debug)]
pub enum LinkTarget<'a> {
    Action(&'a SessionKey, &'a BoundAction, &'a Prototype),
    /// An answer to the question with this number.
    Answer(u64, &'a str),
    /// The cancellation of the job with this number.
    CancelJob(u64),
    /// The last written window of this session doesn't have the link.
    Hidden(&'a SessionKey),
}

/// Returns what a link leads to.
///
/// # Errors
/// A ref error.
pub fn link_target<'a>(
    workspace: &'a Workspace,
    sessions: &'a Sessions,
    clicker: Clicker<'_>,
    link: &Ref,
) -> Result<LinkTarget<'a>, Fault> {
    let name = ref_errors::name(link);
    if link.kind != RefKind::Link {
        let written = link.to_string();
        let fault = Fault::usage(format!("{written} is a thing, not a link")).naming(&written);
        return Err(match link.prefix {
            None => fault.hint(format!("its value: pipemux read {written}")),
            // In a hint it would be escaped, as tokens in apps' texts are.
            Some(_) => fault.hint("its value: pipemux read with the token in quotes"),
        });
    }
    let missing = || ref_errors::not_found(&name, None);
    let Local::Id(number) = link.local else {
        return Err(Fault::usage(format!("{name}: a link is named by its number: link:15")));
    };
    let anchor = workspace.anchors.get(RefKind::Link, number).ok_or_else(missing)?;
    let session: &SessionKey = &anchor.session;
    let seen = link.epoch.or(clicker.at);
    let seen = seen.unwrap_or_else(|| workspace.known_epoch(clicker.reader, number));
    if seen > workspace.epoch {
        let why = ref_errors::why_unissued(seen, workspace.epoch);
        return Err(ref_errors::not_found(&name, Some(why)));
    }
    let strict = workspace.options.strict && seen < workspace.epoch;
    let checked = workspace.anchors.check(RefKind::Link, number, seen, workspace.epoch);
    if let Err(why) = checked.and(if strict { Err(AnchorError::Stale) } else { Ok(()) }) {
        return Err(match why {
            AnchorError::NotFound => missing(),
            AnchorError::Stale => ref_errors::stale_since(workspace, session, seen, &name)
                .hint(format!("pipemux view {session}")),
        });
    }
    let bound = match &anchor.target {
        Target::Answer { question, answer } => return Ok(LinkTarget::Answer(*question, answer)),
        Target::CancelJob { job } => return Ok(LinkTarget::CancelJob(*job)),
        Target::Action(bound) => bound,
        Target::Object { .. } => return Err(missing()),
    };
    let Some(window) = workspace.window(session) else {
        return Err(ref_errors::out_of_view(&name, Some(format!("pipemux open {session}"))));
    };
    if let Some(state) = anchor.target.state() {
        // A window may show a newer state than the app has told of.
        let shown = window.projection.as_ref().map(|held| (held.app, held.projection.version));
        let told = sessions.get(session).and_then(|session| session.state_version());
        if told.max(shown) != Some(state) {
            let how = format!("it belongs to an earlier state: pipemux view {session}");
            return Err(ref_errors::stale(&name).hint(how));
        }
    }
    // Another reader's view of less of the window doesn't hide the link from this one.
    if !anchor.is_shown() && !workspace.in_view(clicker.reader, session, number) {
        return Ok(LinkTarget::Hidden(session));
    }
    let prototypes = sessions.get(session).map(|session| &session.prototypes);
    let prototype = prototypes
        .and_then(|all| all.iter().find(|prototype| prototype.name == bound.action))
        .ok_or_else(|| {
            let why = format!("{session} has no action {} any more", bound.action);
            ref_errors::not_found_in(session, &name, Some(why))
        })?;
    Ok(LinkTarget::Action(session, bound, prototype))
}

/// Returns the link of `click(link:42)`.
///
/// # Errors
/// The argument is no ref to a link.
pub fn clicked_link(call: &Call) -> Option<Result<Ref, Fault>> {
    let (None, "click", [argument]) = (&call.owner, call.action.as_str(), call.args.as_slice())
    else {
        return None;
    };
    let link = match &argument.value {
        Expr::Ref(link) => Ok(link.clone()),
        Expr::Value(Value::Str(text)) => {
            Ref::parse_loose(text, RefKind::Link).map_err(|error| Fault::usage(error.to_string()))
        }
        Expr::Value(Value::Int(id)) if *id >= 0 => Ok(Ref::link(id.unsigned_abs())),
        _ => return None,
    };
    Some(link)
}
