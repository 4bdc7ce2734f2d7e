//! The processes that belong to a command.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::orphans;
use crate::process::{Status, all};

/// The variable by which a process is known that left its command's session and whose parent has
/// ended.
pub const MARK: &str = "PIPEMUX_TERMINAL_COMMAND";

/// Returns the processes that belong to a run: those of the terminal's session that `leader` began,
/// those that were adopted from it, and all that they started. Without `/proc` it is the leader
/// alone.
pub fn members(leader: i32, mark: &str) -> Vec<i32> {
    let Some(all) = all() else { return vec![leader] };
    let this = i32::try_from(std::process::id()).unwrap_or(0);
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for one in &all {
        children.entry(one.parent).or_default().push(one.pid);
    }
    let mut found: BTreeSet<i32> = BTreeSet::new();
    let own = |one: &&Status| {
        one.pid == leader
            || one.session == leader
            || (one.parent == this && !orphans::is_leader(one.pid) && is_marked(one.pid, mark))
    };
    let mut open: Vec<i32> = all.iter().filter(own).map(|one| one.pid).collect();
    while let Some(pid) = open.pop() {
        if found.insert(pid) {
            open.extend(children.get(&pid).into_iter().flatten());
        }
    }
    let ended: BTreeSet<i32> = all.iter().filter(|one| one.ended).map(|one| one.pid).collect();
    found.difference(&ended).copied().collect()
}

/// Returns true if a process was started with a mark in its environment.
fn is_marked(pid: i32, mark: &str) -> bool {
    let wanted = format!("{MARK}={mark}");
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_process_is_a_member_of_its_tree() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(members(own, "x").contains(&own));
    }
}
