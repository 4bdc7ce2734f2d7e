//! The windows of a workspace, and where they are: what has to do with one of them looks at no other.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use pipemux_proto::table::Table;
use pipemux_proto::{ProviderId, SessionAddr};

use crate::keys::SessionKey;
use crate::processes::Prototypes;
use crate::workspaces::Window;

/// Windows, in the order they were opened; found by their sessions, and by what these can do.
#[derive(Debug, Default)]
pub struct Windows {
    all: BTreeMap<Rank, Box<Window>>,
    next: Rank,
    /// By what is shown of the session: its own one, one that the user's workspaces share, or both. They
    /// are so few that names which are chosen to collide gain nothing.
    by_addr: Table<SessionAddr, Vec<Rank>>,
    /// By app: those whose sessions can do the same. Most often there is one such group an app.
    by_app: BTreeMap<ProviderId, Vec<ActionGroup>>,
    /// Those of sessions that other workspaces may show, too.
    shared: BTreeSet<Rank>,
}

/// Where a window stands among those of its workspace: a later one's is higher, and none is used again.
pub type Rank = u64;

/// Windows of an app whose sessions can do the same.
#[derive(Debug)]
struct ActionGroup {
    /// What they can do; nothing while that isn't known.
    actions: Prototypes,
    windows: BTreeSet<Rank>,
}

impl Windows {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Window> {
        self.all.values().map(AsRef::as_ref)
    }

    /// All of them, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Window> {
        self.all.values_mut().map(AsMut::as_mut)
    }

    /// Where the window of a session stands.
    pub fn rank(&self, session: &SessionKey) -> Option<Rank> {
        self.find(session).map(|(rank, _)| rank)
    }

    /// The window that stands there, unless it was closed.
    pub fn at(&self, rank: Rank) -> Option<&Window> {
        self.all.get(&rank).map(AsRef::as_ref)
    }

    /// The window of a session.
    pub fn get(&self, session: &SessionKey) -> Option<&Window> {
        self.find(session).map(|(_, window)| window)
    }

    /// The window of a session, to change.
    pub fn get_mut(&mut self, session: &SessionKey) -> Option<&mut Window> {
        self.all.get_mut(&self.rank(session)?).map(AsMut::as_mut)
    }

    /// The windows of an address: of the workspace's own session, of a shared one, or of both.
    pub fn named(&self, addr: &SessionAddr) -> impl Iterator<Item = &Window> {
        self.by_addr.get(addr).into_iter().flatten().filter_map(|rank| self.at(*rank))
    }

    /// Adds a window behind the others.
    pub fn push(&mut self, window: Window) -> Rank {
        let rank = self.next;
        self.next += 1;
        self.by_addr.entry(window.session.addr.clone()).or_default().push(rank);
        if window.session.workspace.is_none() {
            self.shared.insert(rank);
        }
        self.all.insert(rank, Box::new(window));
        rank
    }

    /// Removes the window of a session.
    pub fn remove(&mut self, session: &SessionKey) {
        let Some(rank) = self.rank(session) else { return };
        self.set_actions(session, None);
        self.shared.remove(&rank);
        if let Some(ranks) = self.by_addr.get_mut(&session.addr) {
            ranks.retain(|other| *other != rank);
            if ranks.is_empty() {
                self.by_addr.remove(&session.addr);
            }
        }
        self.all.remove(&rank);
    }

    /// The windows of sessions that other workspaces may show, too.
    pub fn shared(&self) -> impl Iterator<Item = Rank> {
        self.shared.iter().copied()
    }

    fn find(&self, session: &SessionKey) -> Option<(Rank, &Window)> {
        let ranks = self.by_addr.get(&session.addr)?.iter();
        let mut found = ranks.filter_map(|rank| Some((*rank, self.at(*rank)?)));
        found.find(|(_, window)| window.session == *session)
    }
}

/// Windows by what their sessions can do.
impl Windows {
    /// Notes what the session of a window can do; none: there is no such session.
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
            None => groups.push(ActionGroup { actions, windows: BTreeSet::from([rank]) }),
        }
    }

    /// The windows whose sessions can do something of that name, whether or not it makes sense now.
    pub fn with_action(&self, name: &str) -> Vec<&Window> {
        let has = |group: &&ActionGroup| group.actions.iter().any(|action| action.name == name);
        self.of_groups(self.by_app.values().flatten().filter(has))
    }

    /// The windows of the apps that are `wanted` of which isn't known what their sessions can do.
    pub fn unknown(&self, wanted: impl Fn(&ProviderId) -> bool) -> Vec<&Window> {
        let unknown = |group: &&ActionGroup| group.actions.is_empty();
        let unknown = self.by_app.iter().flat_map(|(app, groups)| {
            let groups = groups.iter().filter(unknown);
            groups.filter(|_| wanted(app))
        });
        self.of_groups(unknown)
    }

    /// How many windows of an app have a session.
    pub fn count_of(&self, app: &ProviderId) -> usize {
        self.by_app.get(app).into_iter().flatten().map(|group| group.windows.len()).sum()
    }

    /// The windows of an app that have a session.
    pub fn of(&self, app: &ProviderId) -> Vec<&Window> {
        self.of_groups(self.by_app.get(app).into_iter().flatten())
    }

    fn of_groups<'a>(&self, groups: impl Iterator<Item = &'a ActionGroup>) -> Vec<&Window> {
        let ranks: BTreeSet<Rank> = groups.flat_map(|group| &group.windows).copied().collect();
        ranks.into_iter().filter_map(|rank| self.at(rank)).collect()
    }
}

#[cfg(test)]
mod tests;
