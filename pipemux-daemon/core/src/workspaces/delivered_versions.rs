//! The newest states of a window as they were delivered, for `--since` and `--at`.
//!
//! **Invariant: at most [`PAST_MAX`], and beyond the newest one at most [`PAST_BYTES`]; their
//! epochs ascend.**

use std::collections::VecDeque;
use std::rc::Rc;

use pipemux_proto::context::ContextVersion;
use pipemux_proto::ids::Incarnation;

use crate::limits::{PAST_BYTES, PAST_MAX};
use crate::workspaces::Rendered;

/// A version of a window that was delivered.
#[derive(Debug, Clone)]
pub struct DeliveredVersion {
    /// The first epoch in which the window had this version.
    pub epoch: u64,
    /// The process and version that the window showed.
    pub seen: (Incarnation, u64),
    /// The rendered window.
    pub rendered: Rc<Rendered>,
    /// The version of the window's Context.
    pub context: ContextVersion,
    /// True while a reader who has that version can only have this text.
    pub is_exact: bool,
}

/// The deliveries of a window to one reader, or to all where all are shown the same; oldest first.
#[derive(Debug, Default)]
pub(super) struct DeliveredVersions(VecDeque<DeliveredVersion>);

impl DeliveredVersions {
    /// Returns the window as it was in an epoch, if that is remembered.
    pub fn at(&self, epoch: u64) -> Option<&DeliveredVersion> {
        self.0.iter().rev().find(|past| past.epoch <= epoch)
    }

    /// Returns the newest delivery.
    pub fn newest(&self) -> Option<&DeliveredVersion> {
        self.0.back()
    }

    /// Returns the delivery with a version of the window's Context whose text is known.
    pub fn exact(&self, version: ContextVersion) -> Option<&DeliveredVersion> {
        self.0.iter().rev().find(|past| past.context == version && past.is_exact)
    }

    /// Notes that a version of the Context was delivered with several texts.
    pub fn mark_inexact(&mut self, version: ContextVersion) {
        for past in self.0.iter_mut().filter(|past| past.context == version) {
            past.is_exact = false;
        }
    }

    /// Adds a delivery, unless it is the newest one once more; the oldest make room.
    pub fn push(&mut self, new: DeliveredVersion) {
        let same = |newest: &DeliveredVersion| {
            Rc::ptr_eq(&newest.rendered, &new.rendered)
                && (newest.seen, newest.context) == (new.seen, new.context)
        };
        if self.newest().is_some_and(same) {
            return;
        }
        self.0.push_back(new);
        let mut bytes: usize = self.0.iter().map(|past| past.rendered.bytes()).sum();
        while self.0.len() > PAST_MAX || (bytes > PAST_BYTES && self.0.len() > 1) {
            let oldest = self.0.pop_front();
            bytes -= oldest.map_or(bytes, |oldest| oldest.rendered.bytes());
        }
    }

    /// Forgets all but the newest delivery.
    pub fn keep_newest(&mut self) {
        let older = self.0.len().saturating_sub(1);
        self.0.drain(..older);
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn iter(&self) -> impl Iterator<Item = &DeliveredVersion> {
        self.0.iter()
    }

    /// Makes what was delivered of one process count as delivered of the next one.
    pub fn hand_over(&mut self, from: Incarnation, to: Incarnation) {
        for past in self.0.iter_mut().filter(|past| past.seen.0 == from) {
            past.seen.0 = to;
        }
    }
}
