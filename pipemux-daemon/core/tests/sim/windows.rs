//! Windows in reports: the invariants of Contexts.
//!
//! | law | why it must hold |
//! |---|---|
//! | an unchanged window keeps its bytes | an agent's prompt cache depends on it |
//! | context versions never go back | a reader takes the higher version for the newer one |
//! | a context version has one content | a reader with the same version doesn't read it again |
//! | a context version has one time | a frozen header doesn't change by being looked at |
//! | a session id is one session's | a reader of several workspaces tells their sessions apart by it |
//! | the focus is an anchor | a reader acts on what is in focus |
//! | what the content refers to is an anchor | a reader finds in `anchors` what can be acted on |
//! | an error is named by its context | a reader must not take a diagnosis for content |

use std::collections::BTreeMap;

use pipemux_core::limits::VANISHED_EPOCHS;
use pipemux_proto::client::{Answer, Body, Verb};
use pipemux_proto::context::Context;

use crate::law::{LawResult, law};
use crate::requests::Request;
use crate::sessions::READERS;
use crate::sim::Sim;
use crate::store::FOR_READER;

/// The version of a Context: major, minor, patch.
type Version = (u64, u64, u64);

/// What a window's Context was when it was last shown.
#[derive(Debug)]
struct Newest {
    version: Version,
    timestamp: String,
    /// The content at the window's own level of detail and budget, in views and in answers of acts.
    contents: [Option<String>; 2],
}

/// What determines the bytes of a window: workspace, window, heading, level of detail, tokens.
type WindowKey = (usize, String, String, String, String);

#[derive(Debug, Default)]
pub struct Windows {
    bytes: BTreeMap<WindowKey, (u64, String)>,
    /// How often a window's budget may have been changed.
    pub fixed: u32,
    /// The newest version of each window, by workspace and window.
    versions: BTreeMap<(usize, String), Newest>,
    /// The session that each session id is of: workspace and address.
    session_ids: BTreeMap<String, (usize, String)>,
}

impl Windows {
    /// Records may be lost, so numbers may come again.
    pub fn forget_all(&mut self) {
        self.bytes.clear();
        self.versions.clear();
    }

    /// A session ended for good.
    pub fn forget(&mut self, addr: &str) {
        self.bytes.retain(|(_, window, ..), _| window != addr);
    }
}

impl Sim {
    pub fn check_windows(&mut self, index: usize, answer: &Answer) -> LawResult {
        let Body::Report(report) = &answer.body else { return Ok(()) };
        let request = &self.requests[index];
        let workspace = READERS[request.who].0;
        let whole = matches!(&request.call.verb, Verb::View(view) if view.session.is_none());
        // The share of a window in the budget depends on the number of windows.
        let shared = if whole { report.windows.len() } else { 0 };
        // A budget that `open` sets lasts until the window is opened again. When that happens can't
        // be seen from here.
        let fixed = self.windows.fixed;
        let certain = request.fixed == fixed && !self.fixes();
        // In a budget that the request names, a question and notices come before windows.
        let told = report.question.is_some() || !report.notices.is_empty();
        let certain = certain && !(told && request.call.budget.is_some());
        let tokens = format!("{:?} of {shared}, {fixed}", request.call.budget);
        let acts = request.call.verb.acts();
        // A share of a workspace's budget is another budget than a window's own.
        let injects = matches!(&request.call.verb, Verb::View(view) if view.inject.is_some());
        let peeks =
            request.call.lod.is_some() || request.call.budget.is_some() || (whole && !injects);
        let own = !peeks || matches!(request.call.verb, Verb::Open(_));
        for window in &report.windows {
            let addr = self.windows.check_session(workspace, window)?;
            self.windows.check_version(workspace, &addr, window, (own, acts))?;
            let heading = window.content.lines().next();
            let Some(heading) = heading.filter(|line| line.starts_with("## ")) else {
                law!(
                    !window.errors.is_empty() && window.anchors.is_empty(),
                    "an error is named by its context",
                    "{window:?}"
                );
                continue;
            };
            check_anchors(window)?;
            if heading.ends_with(" · busy, as it was before") {
                // A busy window is shown as it was, whatever was requested.
                continue;
            }
            if !certain {
                continue;
            }
            let lod = format!("{:?} {acts}", window.state.current_lod);
            // Some apps show each reader something else, and say so.
            let whose = window.content.lines().find(|line| line.starts_with(FOR_READER));
            let heading = format!("{heading} {}", whose.unwrap_or_default());
            let key = (workspace, addr, heading, lod, tokens.clone());
            let now = report.epoch;
            let (epoch, before) =
                self.windows.bytes.entry(key).or_insert_with(|| (now, window.content.clone()));
            // The ids of links are remembered for a limited number of epochs.
            let remembered = now < *epoch + VANISHED_EPOCHS / 2;
            law!(
                *before == window.content || !remembered,
                "an unchanged window keeps its bytes",
                "in e{epoch}:\n{before}\nin e{now}:\n{}",
                window.content
            );
            (*epoch, *before) = (now, window.content.clone());
        }
        Ok(())
    }

    /// True while a request is open that may change the budget of a window.
    fn fixes(&self) -> bool {
        let recent = self.requests.iter().rev().take(600);
        recent.filter(|request| request.is_open()).any(Request::fixes)
    }
}

impl Request {
    /// True when it sets the budget of a window or closes it.
    pub fn fixes(&self) -> bool {
        match self.call.verb {
            Verb::Open(_) => self.call.budget.is_some(),
            Verb::Close { .. } | Verb::End { .. } => true,
            _ => false,
        }
    }
}

impl Windows {
    /// Returns the address of a Context's session.
    fn check_session(&mut self, workspace: usize, window: &Context) -> LawResult<String> {
        let (app, id) = (&window.header.app_id, &window.header.session_id);
        let name = id.rsplit_once('-').map_or(id.as_str(), |(name, _)| name);
        let addr = format!("{app}/{name}");
        let of = (workspace, addr.clone());
        let known = self.session_ids.entry(id.clone()).or_insert_with(|| of.clone());
        law!(*known == of, "a session id is one session's", "{id} is of {known:?} and {of:?}");
        Ok(addr)
    }

    /// Checks the version of a Context. `own` is true at the window's own level of detail and
    /// budget, `acts` in the answer of an act, whose Contexts have no prototypes.
    fn check_version(
        &mut self,
        workspace: usize,
        addr: &str,
        window: &Context,
        (own, acts): (bool, bool),
    ) -> LawResult {
        let version = window.header.version;
        let version = (version.major, version.minor, version.patch);
        let timestamp = &window.header.timestamp;
        let first = || Newest { version, timestamp: timestamp.clone(), contents: [None, None] };
        let newest = self.versions.entry((workspace, addr.to_owned())).or_insert_with(first);
        law!(
            version >= newest.version,
            "context versions never go back",
            "{addr}: {version:?} after {:?}",
            newest.version
        );
        if version > newest.version {
            *newest = first();
        }
        law!(
            *timestamp == newest.timestamp,
            "a context version has one time",
            "{addr} {version:?}: {} and {timestamp}",
            newest.timestamp
        );
        if own {
            let content = newest.contents[usize::from(acts)].get_or_insert(window.content.clone());
            law!(
                *content == window.content,
                "a context version has one content",
                "{addr} {version:?}:\n{content}\nand\n{}",
                window.content
            );
        }
        Ok(())
    }
}

fn check_anchors(window: &Context) -> LawResult {
    let focus = window.state.focus_id.as_ref();
    law!(
        focus.is_none_or(|focus| window.anchors.contains_key(focus)),
        "the focus is an anchor",
        "{focus:?} of {:?}",
        window.anchors
    );
    for (at, _) in window.content.match_indices("](") {
        let after = &window.content[at + 2..];
        let id = &after[..after.find([')', ' ']).unwrap_or(after.len())];
        law!(
            window.anchors.contains_key(id),
            "what the content refers to is an anchor",
            "{id} in {}",
            window.content
        );
    }
    Ok(())
}
