//! A click on a link that its window doesn't show: is it back, out of view, stale, or gone?
//!
//! The window as the daemon knows it may be outdated, so its app is asked for it first. A link that
//! is there again is followed. Of any other, the things tell that it binds: one that is gone is
//! named with how it vanished, one that is hidden with the way to it. A link without things is gone
//! once its window doesn't offer it: no view brings it back.

use pipemux_proto::Fault;
use pipemux_proto::app::Locate;
use pipemux_proto::envelope::Method;
use pipemux_proto::projection::Arg;
use pipemux_proto::refs::{Local, Ref, RefKind};

use crate::clients::client_request::ClientRequest;
use crate::foreign::{KeyLocation, Located, quote};
use crate::intake;
use crate::keys::SessionKey;
use crate::limits::{LOCATE_MS, PROJECT_MS};
use crate::processes::Processes;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::scripts::ref_errors;
use crate::turn::Turn;
use crate::verbs::click::{LinkEffect, resolve_link};
use crate::verbs::next::Next;
use crate::verbs::tasks::{HiddenLink, Task};
use crate::workspaces::Workspace;
use crate::workspaces::anchors::Target;

/// Asks for the window of a link that was clicked, to look for the link in it.
///
/// # Errors
/// The window was closed.
pub(crate) fn find_hidden_link(
    turn: &mut Turn,
    processes: &mut Processes,
    workspace: &Workspace,
    request: &ClientRequest,
    link: Ref,
    session: SessionKey,
) -> Result<Next, Fault> {
    let Some(window) = workspace.window(&session) else {
        return Err(out_of_view(&link, format!("pipemux open {session}")));
    };
    let (key, project) = window.whole(&request.call.reader);
    let deadline = request.deadline.min(turn.now.mono_ms + PROJECT_MS);
    let to = ReplyTo::Refresh(request.id, key);
    processes.request(turn, &session, Method::Project, &project, deadline, to);
    Ok(Next::Wait(Task::Finding(Box::new(HiddenLink { link, session }))))
}

/// Follows a link that was clicked if its window, which has arrived, shows it. Asks its app for the
/// things otherwise that it binds.
///
/// # Errors
/// The link is stale, or gone.
pub(crate) fn link_window_arrived(
    turn: &mut Turn,
    processes: &mut Processes,
    workspace: &Workspace,
    request: &ClientRequest,
    HiddenLink { link, session }: HiddenLink,
) -> Result<Next, Fault> {
    match resolve_link(workspace, processes, request, &link)? {
        LinkEffect::Hidden(_) => {}
        effect => return Ok(effect.follow(link)),
    }
    let keys = unseen_things(workspace, &link, &session)?;
    if keys.is_empty() {
        return Err(gone(workspace, &link, &session));
    }
    let deadline = request.deadline.min(turn.now.mono_ms + LOCATE_MS);
    let locate = Locate { keys, reader: request.call.reader.clone(), ..Locate::default() };
    let to = ReplyTo::Locate(request.id);
    processes.request(turn, &session, Method::Locate, &locate, deadline, to);
    Ok(Next::Wait(Task::Finding(Box::new(HiddenLink { link, session }))))
}

/// Says what became of a link that was clicked, by where the things are that it binds.
pub(crate) fn link_located(
    processes: &Processes,
    workspace: &Workspace,
    HiddenLink { link, session }: HiddenLink,
    reply: AppReply,
) -> Fault {
    let located = match reply {
        AppReply::Reply(body) => {
            intake::read_said::<Located>(&body, processes.speaker(&session)).ok()
        }
        AppReply::Fault(_) | AppReply::Lost { .. } => None,
    };
    let Some(located) = located else { return not_looked_at(&link, &session) };
    let mut hidden = None;
    for place in located.places {
        match place {
            KeyLocation::Gone(why) => {
                return ref_errors::not_found_in(
                    &session,
                    &ref_errors::name(&link),
                    why.as_ref().map(quote::in_hint),
                );
            }
            KeyLocation::Hidden(how) => hidden = hidden.or(Some(how)),
            KeyLocation::Shown => {}
        }
    }
    match hidden {
        Some(how) => out_of_view(&link, quote::in_hint(&how)),
        None => gone(workspace, &link, &session),
    }
}

/// Returns the keys of the things that a link binds and that its window doesn't show.
///
/// # Errors
/// One of the things means something else by now: the link is stale.
fn unseen_things(
    workspace: &Workspace,
    link: &Ref,
    session: &SessionKey,
) -> Result<Vec<String>, Fault> {
    let anchors = &workspace.anchors;
    let Local::Id(number) = link.local else { return Ok(Vec::new()) };
    let anchor = anchors.get(RefKind::Link, number);
    let Some(Target::Action(bound)) = anchor.map(|anchor| &anchor.target) else {
        return Ok(Vec::new());
    };
    let mut refs = Vec::new();
    bound.args.values().for_each(|arg| collect_refs(arg, &mut refs));
    let mut keys = Vec::new();
    for (key, rev) in refs {
        let known = anchors.id_of(session, key);
        match known.and_then(|id| anchors.get(RefKind::Obj, id)) {
            Some(thing) if thing.is_shown() && thing.rev != rev => {
                return Err(ref_errors::stale(&ref_errors::name(link)));
            }
            Some(thing) if thing.is_shown() => {}
            _ => keys.push(key.to_owned()),
        }
    }
    Ok(keys)
}

/// The error of a link that its window doesn't offer any more although its things are there, or
/// that binds none.
fn gone(workspace: &Workspace, link: &Ref, session: &SessionKey) -> Fault {
    let anchor = match link.local {
        Local::Id(number) => workspace.anchors.get(RefKind::Link, number),
        Local::Key(_) => None,
    };
    let label = anchor.map_or("link".to_owned(), |anchor| {
        format!("\"{}\"", quote::in_sentence(anchor.label.borrow()))
    });
    let why = format!("{session} no longer offers this {label}");
    ref_errors::not_found_in(session, &ref_errors::name(link), Some(why))
}

/// The error of a link whose app didn't say enough: nobody knows whether it is gone.
pub(crate) fn not_looked_at(link: &Ref, session: &SessionKey) -> Fault {
    out_of_view(link, format!("pipemux view {session}"))
}

fn out_of_view(link: &Ref, how: String) -> Fault {
    ref_errors::out_of_view(&ref_errors::name(link), Some(how))
}

fn collect_refs<'a>(arg: &'a Arg, refs: &mut Vec<(&'a str, u64)>) {
    match arg {
        Arg::Ref(found) => refs.push((&found.key, found.rev)),
        Arg::List(items) => items.iter().for_each(|item| collect_refs(item, refs)),
        Arg::Record(entries) => entries.values().for_each(|part| collect_refs(part, refs)),
        Arg::Value(_) | Arg::Copied(_) => {}
    }
}
