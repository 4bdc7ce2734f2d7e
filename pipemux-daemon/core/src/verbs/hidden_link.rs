//! A click on a link that its window doesn't show: is it back, out of view, stale, or gone?
//!
//! The window as the daemon knows it may be outdated, so its app is asked for it first. A link that is there again is
//! followed. Of any other, the things tell that it binds: one that is gone is named with how it vanished, one that is
//! hidden with the way to it. A link without things is gone once its window doesn't offer it: no view brings it back.

use pipemux_proto::Fault;
use pipemux_proto::app::Locate;
use pipemux_proto::envelope::Method;
use pipemux_proto::projection::Arg;
use pipemux_proto::refs::{Local, Ref, RefKind};

use crate::Core;
use crate::answers::delivery::reserve;
use crate::foreign::{KeyLocation, Located, quote};
use crate::intake;
use crate::keys::{ProjectionKey, RequestId, SessionKey};
use crate::limits::{LOCATE_MS, PROJECT_MS};
use crate::processes::reply::{AppReply, ReplyTo};
use crate::scripts::ref_errors;
use crate::verbs::click::LinkEffect;
use crate::verbs::require;
use crate::verbs::tasks::{HiddenLink, Task};
use crate::workspaces::anchors::Target;

impl Core {
    /// Asks for the window of a link that was clicked, to look for the link in it.
    pub(super) fn find_hidden_link(
        &mut self,
        id: RequestId,
        link: Ref,
        session: SessionKey,
    ) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let Some(window) = workspace.window(&session) else {
            return Err(out_of_view(&link, format!("pipemux open {session}")));
        };
        let (key, project) = window.whole(&request.call.reader);
        let deadline = request.deadline.min(self.turn.now.mono_ms + PROJECT_MS);
        let hidden = HiddenLink { link, session: session.clone() };
        self.set_task(id, Task::Finding(Box::new(hidden)));
        let (turn, to) = (&mut self.turn, ReplyTo::Refresh(id, key));
        self.processes.request(turn, &session, Method::Project, &project, deadline, to);
        Ok(())
    }

    /// Returns true for a click whose link is being looked for.
    pub(crate) fn is_finding_link(&self, id: RequestId) -> bool {
        matches!(self.tasks.get(id), Some(Task::Finding(_)))
    }

    /// Goes on with the window of a link that was clicked.
    pub(crate) fn link_window_arrived(
        &mut self,
        id: RequestId,
        key: ProjectionKey,
        reply: AppReply,
    ) -> Result<(), Fault> {
        let HiddenLink { link, session } = self.take_hidden_link(id)?;
        let at = require::request(&self.clients, id)?.workspace.clone();
        if self.store_window(&at, &session, key, true, reply).is_err() {
            // Without the window nobody knows whether the link is gone.
            return Err(out_of_view(&link, format!("pipemux view {session}")));
        }
        reserve(&mut self.workspaces, &mut self.turn, &at);
        match self.resolve_link(id, &link)? {
            LinkEffect::Hidden(_) => {}
            effect => return self.follow_link(id, effect),
        }
        let keys = self.unseen_things(id, &link, &session)?;
        if keys.is_empty() {
            return Err(self.link_is_gone(id, &link, &session));
        }
        let request = require::request(&self.clients, id)?;
        let deadline = request.deadline.min(self.turn.now.mono_ms + LOCATE_MS);
        let locate = Locate { keys, reader: request.call.reader.clone(), ..Locate::default() };
        let hidden = HiddenLink { link, session: session.clone() };
        self.set_task(id, Task::Finding(Box::new(hidden)));
        let (turn, to) = (&mut self.turn, ReplyTo::Locate(id));
        self.processes.request(turn, &session, Method::Locate, &locate, deadline, to);
        Ok(())
    }

    /// Says what became of a link that was clicked, by where the things are that it binds.
    pub(crate) fn link_located(&mut self, id: RequestId, reply: AppReply) -> Result<(), Fault> {
        let HiddenLink { link, session } = self.take_hidden_link(id)?;
        let located = match reply {
            AppReply::Reply(body) => {
                intake::read_said::<Located>(&body, self.processes.speaker(&session)).ok()
            }
            AppReply::Fault(_) | AppReply::Lost { .. } => None,
        };
        let Some(located) = located else {
            return Err(out_of_view(&link, format!("pipemux view {session}")));
        };
        let mut hidden = None;
        for place in located.places {
            match place {
                KeyLocation::Gone(why) => {
                    return Err(ref_errors::not_found_in(
                        &session,
                        &ref_errors::name(&link),
                        why.as_ref().map(quote::in_hint),
                    ));
                }
                KeyLocation::Hidden(how) => hidden = hidden.or(Some(how)),
                KeyLocation::Shown => {}
            }
        }
        Err(match hidden {
            Some(how) => out_of_view(&link, quote::in_hint(&how)),
            None => self.link_is_gone(id, &link, &session),
        })
    }

    /// Returns the keys of the things that a link binds and that its window doesn't show.
    ///
    /// # Errors
    /// One of the things means something else by now: the link is stale.
    fn unseen_things(
        &self,
        id: RequestId,
        link: &Ref,
        session: &SessionKey,
    ) -> Result<Vec<String>, Fault> {
        let request = require::request(&self.clients, id)?;
        let anchors = &require::workspace(&self.workspaces, request)?.anchors;
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

    /// A link that its window doesn't offer any more although its things are there, or that binds none.
    fn link_is_gone(&self, id: RequestId, link: &Ref, session: &SessionKey) -> Fault {
        let request = self.clients.request(id);
        let workspace = request.and_then(|request| self.workspaces.get(&request.workspace));
        let anchor = workspace.and_then(|workspace| match link.local {
            Local::Id(number) => workspace.anchors.get(RefKind::Link, number),
            Local::Key(_) => None,
        });
        let label = anchor.map_or("link".to_owned(), |anchor| {
            format!("\"{}\"", quote::in_sentence(anchor.label.borrow()))
        });
        let why = format!("{session} no longer offers this {label}");
        ref_errors::not_found_in(session, &ref_errors::name(link), Some(why))
    }

    fn take_hidden_link(&mut self, id: RequestId) -> Result<HiddenLink, Fault> {
        match self.tasks.take_if(id, |task| matches!(task, Task::Finding(_))) {
            Some(Task::Finding(hidden)) => Ok(*hidden),
            _ => Err(require::missing_task(&self.clients, id)),
        }
    }
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
