//! The windows of a workspace, with indexes: finding one window visits no other.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use pipemux_proto::prototype::Prototype;
use pipemux_proto::{ProviderId, SessionAddr};
use rustc_hash::FxHashMap;

use crate::keys::SessionKey;
use crate::persist::records::Record;
use crate::processes::Prototypes;
use crate::workspaces::Window;

/// Windows in the order they were opened, found by their sessions and by what these can do.
#[derive(Debug, Default)]
pub struct Windows {
    /// All windows, in ascending order of rank.
    all: Vec<(Rank, Box<Window>)>,
    next: Rank,
    /// The number of times that readers opened or closed a window: a reader who has seen this
    /// revision knows the set of windows.
    pub(super) set_revision: u64,
    /// By the session's address: the workspace's own session, a shared one, or both. Hashing needs
    /// no protection from addresses that are chosen to collide: a workspace has few windows.
    by_addr: FxHashMap<SessionAddr, Vec<Rank>>,
    /// The windows with the same actions, by app. Most apps have one such group.
    by_app: BTreeMap<ProviderId, Vec<ActionGroup>>,
    /// The windows of shared sessions, which other workspaces may show, too.
    shared: BTreeSet<Rank>,
    /// The windows that embed other sessions' windows.
    embedding: BTreeSet<Rank>,
}

/// A window's position in the order in which the workspace's windows were opened. Ranks are never
/// reused.
pub type Rank = u64;

/// Windows of an app whose sessions can do the same.
#[derive(Debug)]
struct ActionGroup {
    /// The actions of the group; empty while they aren't known.
    actions: Prototypes,
    /// True when an action has a secret argument. Hardly any app has one, and each script asks.
    holds_secret: bool,
    windows: BTreeSet<Rank>,
}

impl Windows {
    /// Returns how often readers opened or closed a window.
    pub fn set_revision(&self) -> u64 {
        self.set_revision
    }

    /// Returns the number of windows.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns true when there is no window.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the records that restore all windows, in the order in which they were opened.
    pub fn snapshot(&self, workspace: &str) -> impl Iterator<Item = Record> {
        self.iter().map(move |window| window.to_record(workspace))
    }

    /// Iterates over all windows.
    pub fn iter(&self) -> impl Iterator<Item = &Window> {
        self.all.iter().map(|(_, window)| &**window)
    }

    /// Iterates over all windows, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Window> {
        self.all.iter_mut().map(|(_, window)| &mut **window)
    }

    /// Returns the rank of a session's window.
    pub fn rank(&self, session: &SessionKey) -> Option<Rank> {
        self.find(session).map(|(rank, _)| rank)
    }

    /// Returns the window of a rank, unless it was closed.
    pub fn at(&self, rank: Rank) -> Option<&Window> {
        self.place(rank).map(|at| &*self.all[at].1)
    }

    /// Returns the window of a session.
    pub fn get(&self, session: &SessionKey) -> Option<&Window> {
        self.find(session).map(|(_, window)| window)
    }

    /// Returns the window of a session, to change it.
    pub fn get_mut(&mut self, session: &SessionKey) -> Option<&mut Window> {
        let at = self.place(self.rank(session)?)?;
        Some(&mut self.all[at].1)
    }

    /// Iterates over the windows of an address: of the workspace's own session, of a shared one, or
    /// both.
    pub fn named(&self, addr: &SessionAddr) -> impl Iterator<Item = &Window> {
        self.by_addr.get(addr).into_iter().flatten().filter_map(|rank| self.at(*rank))
    }

    /// Adds a window after all others.
    pub fn push(&mut self, window: Window) -> Rank {
        let rank = self.next;
        self.next += 1;
        self.by_addr.entry(window.session.addr.clone()).or_default().push(rank);
        if window.session.workspace.is_none() {
            self.shared.insert(rank);
        }
        self.all.push((rank, Box::new(window)));
        rank
    }

    /// Removes the window of a session.
    pub fn remove(&mut self, session: &SessionKey) {
        let Some(rank) = self.rank(session) else { return };
        self.set_actions(session, None);
        self.shared.remove(&rank);
        self.embedding.remove(&rank);
        if let Some(ranks) = self.by_addr.get_mut(&session.addr) {
            ranks.retain(|other| *other != rank);
            if ranks.is_empty() {
                self.by_addr.remove(&session.addr);
            }
        }
        if let Some(at) = self.place(rank) {
            self.all.remove(at);
        }
    }

    /// Iterates over the windows of shared sessions, which other workspaces may show, too.
    pub fn shared(&self) -> impl Iterator<Item = Rank> {
        self.shared.iter().copied()
    }

    /// Iterates over the windows that show other sessions' windows.
    pub fn embedding(&self) -> impl Iterator<Item = Rank> {
        self.embedding.iter().copied()
    }

    /// Notes whether the window of a session shows other sessions' windows.
    pub fn set_embedding(&mut self, session: &SessionKey, embeds: bool) {
        let Some(rank) = self.rank(session) else { return };
        match embeds {
            true => self.embedding.insert(rank),
            false => self.embedding.remove(&rank),
        };
    }

    fn place(&self, rank: Rank) -> Option<usize> {
        self.all.binary_search_by_key(&rank, |(rank, _)| *rank).ok()
    }

    fn find(&self, session: &SessionKey) -> Option<(Rank, &Window)> {
        let ranks = self.by_addr.get(&session.addr)?.iter();
        let mut found = ranks.filter_map(|rank| Some((*rank, self.at(*rank)?)));
        found.find(|(_, window)| window.session == *session)
    }
}

/// Windows by what their sessions can do.
impl Windows {
    /// Notes what the session of a window can do; none when there is no such session.
    pub fn set_actions(&mut self, session: &SessionKey, actions: Option<Prototypes>) {
        let Some(rank) = self.rank(session) else { return };
        if let Some(groups) = self.by_app.get_mut(&session.addr.provider) {
            groups.retain_mut(|group| {
                group.windows.remove(&rank);
                !group.windows.is_empty()
            });
            if groups.is_empty() {
                self.by_app.remove(&session.addr.provider);
            }
        }
        let Some(actions) = actions else { return };
        let groups = self.by_app.entry(session.addr.provider.clone()).or_default();
        let same =
            |group: &ActionGroup| Rc::ptr_eq(&group.actions, &actions) || group.actions == actions;
        match groups.iter_mut().find(|group| same(group)) {
            Some(group) => drop(group.windows.insert(rank)),
            None => {
                let holds_secret = actions.iter().any(Prototype::holds_secret);
                let windows = BTreeSet::from([rank]);
                groups.push(ActionGroup { actions, holds_secret, windows });
            }
        }
    }

    /// Iterates over the actions with a secret argument, each once for all windows that have the
    /// same actions.
    pub fn secret_actions(&self) -> impl Iterator<Item = &Prototype> {
        let groups = self.by_app.values().flatten().filter(|group| group.holds_secret);
        groups.flat_map(|group| group.actions.iter()).filter(|action| action.holds_secret())
    }

    /// True for an action that no window has if the call may have been meant for an app with a
    /// secret argument: the named app or, without a name, any app.
    pub fn may_mean_secret(&self, app: Option<&ProviderId>, action: &str) -> bool {
        let of_app = self.by_app.iter().filter(|(id, _)| app.is_none_or(|app| app == *id));
        let groups: Vec<&ActionGroup> = of_app.flat_map(|(_, groups)| groups).collect();
        let is_it = |one: &Prototype| one.name == action || one.written_name() == action;
        let is_known = groups.iter().any(|group| group.actions.iter().any(is_it));
        !is_known && groups.iter().any(|group| group.holds_secret)
    }

    /// Returns the windows whose sessions have an action of that name, whether or not it is
    /// possible now.
    pub fn with_action(&self, name: &str) -> Vec<&Window> {
        self.of_groups(self.groups_with_action(name))
    }

    /// Returns the windows of `wanted` apps whose sessions' actions aren't known.
    pub fn with_unknown_actions(&self, wanted: impl Fn(&ProviderId) -> bool) -> Vec<&Window> {
        let unknown = |group: &&ActionGroup| group.actions.is_empty();
        let unknown = self.by_app.iter().flat_map(|(app, groups)| {
            let groups = groups.iter().filter(unknown);
            groups.filter(|_| wanted(app))
        });
        self.of_groups(unknown)
    }

    /// Returns the number of an app's windows that have a session.
    pub fn count_of_app(&self, app: &ProviderId) -> usize {
        self.by_app.get(app).into_iter().flatten().map(|group| group.windows.len()).sum()
    }

    /// Returns the windows of an app that have a session.
    pub fn of_app(&self, app: &ProviderId) -> Vec<&Window> {
        self.of_groups(self.by_app.get(app).into_iter().flatten())
    }

    /// Returns true when the sessions of several windows have an action of that name.
    pub fn share_action(&self, name: &str) -> bool {
        let mut windows = self.groups_with_action(name).map(|group| group.windows.len());
        windows.next().is_some_and(|first| first > 1 || windows.next().is_some())
    }

    fn groups_with_action(&self, name: &str) -> impl Iterator<Item = &ActionGroup> {
        let has = move |group: &&ActionGroup| {
            group.actions.iter().any(|action| action.written_name() == name)
        };
        self.by_app.values().flatten().filter(has)
    }

    fn of_groups<'a>(&self, groups: impl Iterator<Item = &'a ActionGroup>) -> Vec<&Window> {
        let ranks: BTreeSet<Rank> = groups.flat_map(|group| &group.windows).copied().collect();
        ranks.into_iter().filter_map(|rank| self.at(rank)).collect()
    }
}

#[cfg(test)]
mod tests;
