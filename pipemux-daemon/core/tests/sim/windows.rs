//! Windows in reports.
//!
//! | law | why it must hold |
//! |---|---|
//! | an unchanged window keeps its bytes | an agent's prompt cache depends on it |
//! | context versions never go back | a reader takes the higher version for the newer one |
//! | a context version has one content | a reader with the same version doesn't read it again |

use std::collections::BTreeMap;

use pipemux_core::limits::VANISHED_EPOCHS;
use pipemux_proto::client::{Answer, Body, Verb};
use pipemux_proto::context::Context;

use crate::law::{LawResult, law};
use crate::requests::Request;
use crate::sessions::READERS;
use crate::sim::Sim;

/// The version of a Context: major, minor, patch.
type Version = (u64, u64, u64);

/// What determines the bytes of a window: workspace, window, heading, level of detail, tokens.
type WindowKey = (usize, String, String, String, String);

#[derive(Debug, Default)]
pub struct Windows {
    bytes: BTreeMap<WindowKey, (u64, String)>,
    /// How often a window's budget may have been changed.
    pub fixed: u32,
    /// The newest version of each window and its content, by workspace and window.
    versions: BTreeMap<(usize, String), (Version, String)>,
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
        // A budget that `open` sets lasts until the window is opened again. When that happens can't be seen from here.
        let fixed = self.windows.fixed;
        let certain = request.fixed == fixed && !self.fixes();
        let tokens = format!("{:?} of {shared}, {fixed}", request.call.budget);
        for window in &report.windows {
            let addr = format!("{}/{}", window.header.app_id, window.header.session_id);
            let Some(heading) =
                window.content.lines().next().filter(|line| line.starts_with("## "))
            else {
                continue;
            };
            if heading.ends_with(" · busy, as it was before") {
                // A busy window is shown as it was, whatever was requested.
                continue;
            }
            self.windows.check_version(workspace, &addr, window)?;
            if !certain {
                continue;
            }
            let lod = format!("{:?}", window.state.current_lod);
            let key = (workspace, addr, heading.to_owned(), lod, tokens.clone());
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
    fn check_version(&mut self, workspace: usize, addr: &str, window: &Context) -> LawResult {
        let version = window.header.version;
        let now = (version.major, version.minor, version.patch);
        let content = window.content.clone();
        let (newest, shown) =
            self.versions.entry((workspace, addr.to_owned())).or_insert((now, content.clone()));
        law!(now >= *newest, "context versions never go back", "{addr}: {now:?} after {newest:?}");
        law!(
            now > *newest || *shown == content,
            "a context version has one content",
            "{addr} {now:?}:\n{shown}\nand\n{content}"
        );
        (*newest, *shown) = (now, content);
        Ok(())
    }
}
