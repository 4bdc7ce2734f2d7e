//! Windows as data: the bytes of one that didn't change are the same, and its Context's version goes on.

use std::collections::BTreeMap;

use pipemux_core::limits::VANISHED_EPOCHS;
use pipemux_proto::client::{Answer, Body, Verb};
use pipemux_proto::context::Context;

use crate::clients::Request;
use crate::law::{LawResult, law};
use crate::sessions::READERS;
use crate::sim::Sim;

/// Major, minor, patch.
type Version = (u64, u64, u64);

/// Which look at which state: workspace, window, heading, level of detail, tokens.
type WindowKey = (usize, String, String, String, String);

#[derive(Debug, Default)]
pub struct Windows {
    bytes: BTreeMap<WindowKey, (u64, String)>,
    /// How often a window was given another budget.
    pub fixed: u32,
    /// By workspace and window: its newest version, and what it showed.
    versions: BTreeMap<(usize, String), (Version, String)>,
}

impl Windows {
    /// Numbers may come again.
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
        // A window's share depends on how many there are.
        let shared = if whole { report.windows.len() } else { 0 };
        // What `open` fixes of a window holds until it is opened again; when, is not seen from here.
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
                // Another look at it is shown again, whatever is asked for.
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
            // Links are remembered for so long.
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

    /// True while an `open` is under way that gives its window another budget.
    fn fixes(&self) -> bool {
        let recent = self.requests.iter().rev().take(600);
        recent.filter(|request| request.is_open()).any(Request::fixes)
    }
}

impl Request {
    /// True when it gives a window another budget, or forgets it: from its end on that surely holds.
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
