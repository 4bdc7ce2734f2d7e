//! Takes an app's reply to a request for a window: keeps the projection, and decides whether to
//! request another.

use std::rc::Rc;

use pipemux_proto::projection::Lod;
use pipemux_proto::{Fault, Incarnation};

use crate::keys::SessionKey;
use crate::processes::reply::AppReply;
use crate::views::requested_window::{RequestedWindow, WindowStatus};
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{HeldProjection, Window};

/// The next step after an app's reply was processed.
pub(super) enum AfterReply {
    /// No further reply is needed for the window.
    Settled,
    /// Request the window once more, as the pending window now says.
    RequestAgain,
    /// The version of this process decreased, from the first number to the second. The whole window
    /// is to be requested again.
    WentBack(Incarnation, (u64, u64)),
    /// End this process, because of this: it sent something that can't be right.
    EndApp(Incarnation, String),
}

/// Takes an app's reply into the window and into the answer that waits for it. `app` is the
/// session's process, if it has one, and `newest` the newest version that it is known to have.
pub(super) fn take_reply(
    session: &SessionKey,
    pending: &mut RequestedWindow,
    window: &mut Window,
    (app, newest): (Option<Incarnation>, u64),
    reply: AppReply,
) -> AfterReply {
    match reply {
        // The window was closed and opened again meanwhile: the projection is of the closed one.
        AppReply::Reply(_) if pending.number != window.number => AfterReply::RequestAgain,
        AppReply::Reply(body) => match (RawProjection::read(&body), app) {
            // The projection was made before the step took effect, by an app that does several
            // things at once.
            (Ok(projection), Some(_)) if pending.ahead && projection.version < newest => {
                AfterReply::RequestAgain
            }
            (Ok(projection), Some(app)) => match went_back(pending, app, &projection) {
                Some(from) => AfterReply::WentBack(app, (from, projection.version)),
                None => take_projection(session, pending, window, app, projection),
            },
            (Ok(_), None) => {
                pending.state = WindowStatus::Busy;
                AfterReply::Settled
            }
            (Err(why), app) => {
                let fault = Fault::unavailable(format!("{session} sent no window: {why}"));
                pending.state = WindowStatus::Broken(Box::new(fault));
                app.map_or(AfterReply::Settled, |app| AfterReply::EndApp(app, why))
            }
        },
        // An app that does several things at once got the prefetch before it was open or done with
        // the step.
        AppReply::Fault(_) if pending.ahead => AfterReply::RequestAgain,
        AppReply::Fault(fault) => {
            pending.state = WindowStatus::Broken(Box::new(fault));
            AfterReply::Settled
        }
        // Projecting changes nothing, so the next process can be asked the same.
        AppReply::Lost { died: true, .. } if !std::mem::replace(&mut pending.again, true) => {
            AfterReply::RequestAgain
        }
        AppReply::Lost { why, hints, delivered, .. } => {
            let alive = app.is_some() && delivered;
            pending.state = if alive && window.can_be_shown_as_it_was() {
                WindowStatus::Busy
            } else {
                let mut fault = Fault::unavailable(why);
                fault.hints = hints;
                WindowStatus::Broken(Box::new(fault))
            };
            AfterReply::Settled
        }
    }
}

/// Returns the version that an app had when it was asked for a projection, if the projection is
/// older. A process's versions should only increase.
fn went_back(
    pending: &mut RequestedWindow,
    app: Incarnation,
    projection: &RawProjection,
) -> Option<u64> {
    let (asked, least) = pending.least?;
    let older = asked == app && projection.version < least;
    // An app whose version goes back each time is told of once an answer.
    (older && !std::mem::replace(&mut pending.again_after_going_back, true)).then_some(least)
}

/// Takes a projection that an app sent, unless it is older than the one that the daemon holds.
fn take_projection(
    session: &SessionKey,
    pending: &mut RequestedWindow,
    window: &mut Window,
    app: Incarnation,
    projection: RawProjection,
) -> AfterReply {
    // A projection at another level of detail or budget is not comparable.
    let held = window
        .projection
        .as_ref()
        .filter(|held| held.app == app && held.lod == pending.lod && held.budget == pending.budget);
    let held = held.map(|held| held.projection.version);
    if projection.unchanged && held != Some(projection.version) {
        if window.projection.is_none() && !pending.known {
            let why = "it says unchanged of a window that it never sent";
            let fault = Fault::unavailable(format!("{session} sent no window: {why}"));
            pending.state = WindowStatus::Broken(Box::new(fault));
            return AfterReply::EndApp(app, why.into());
        }
        // The daemon holds another version: the window is requested in full.
        window.projection = None;
        return AfterReply::RequestAgain;
    }
    pending.state = WindowStatus::Fresh;
    // Versions only grow during the life of a process, so an older projection was overtaken on its
    // way.
    let overtaken = held.is_some_and(|version| projection.version < version);
    let mut before = None;
    if !projection.unchanged && !overtaken {
        before = window.projection.replace(HeldProjection {
            app,
            lod: pending.lod,
            budget: pending.budget,
            projection: Rc::new(projection),
        });
    }
    pending.held = window.projection.clone();
    let lower = match pending.lod {
        Lod::Full => Some(Lod::Summary),
        Lod::Summary => Some(Lod::Gist),
        Lod::Gist => None,
    };
    if let Some((lower, tokens)) = lower.zip(excessive_tokens(window, pending.budget, before)) {
        // The window is too large for its budget: it is requested with less detail.
        pending.lod = lower;
        pending.lowered = pending.lowered.or(Some(tokens));
        pending.state = WindowStatus::Waiting;
        return AfterReply::RequestAgain;
    }
    AfterReply::Settled
}

/// Returns the tokens of a window that exceeds its budget by so much that it is worth requesting at
/// a lower level of detail. A smaller excess is cut when the answer is written (`views::trim`).
fn excessive_tokens(window: &Window, budget: u32, before: Option<HeldProjection>) -> Option<u64> {
    let held = window.projection.as_ref()?;
    let before = before.as_ref().map(|before| &*before.projection);
    let tokens = held.projection.tokens_beyond(u64::from(budget) * 3 / 2 + 20, before)?;
    Some(tokens.saturating_add(held.projection.hidden_tokens))
}
