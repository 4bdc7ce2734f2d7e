//! Carries out actions.

use docui::{Anchor, Ask, Done, Fault};

use crate::action::{self, Action, Level};
use crate::model::Monitor;
use crate::resource::{Resource, unknown_resource};
use crate::{detail, kill, top};

/// Carries out one action.
///
/// # Errors
/// The action can't be carried out; nothing took effect.
pub fn update(monitor: &mut Monitor, action: Action) -> Result<Done, Fault> {
    match action {
        Action::Top { n, by } => top::top(&monitor.sample, n, by),
        // Watching waits: it is begun as blocking work.
        Action::Watch { .. } => Err(Fault::refused("watching can't be done here")),
        Action::Expand { items, level } => set_level(monitor, &items, level.unwrap_or(Level::Full)),
        Action::ExpandOne { resource } => set_level(monitor, &[resource], Level::Full),
        Action::Collapse { items } => set_level(monitor, &items, Level::Gist),
        Action::Fold { resource } => set_level(monitor, &[resource], Level::Gist),
        Action::Kill { process } => {
            kill::terminate(monitor.sampler.get_mut(), &process.key).map(Done::new)
        }
        Action::Refresh {} => {
            monitor.resample();
            Ok(Done::new(detail::gist(&monitor.sample)))
        }
    }
}

/// Builds the question that is asked before an action: which process would be terminated.
///
/// # Errors
/// The process must not be terminated from here.
pub fn confirm(monitor: &Monitor, action: &Action) -> Result<Ask, Fault> {
    match action {
        Action::Kill { process } => kill::question(&mut monitor.sampler.borrow_mut(), &process.key),
        _ => Ok(Ask::confirm("cannot be undone")),
    }
}

/// Shows resources in detail, or in one line.
fn set_level(
    monitor: &mut Monitor,
    items: &[Anchor<action::Resource>],
    level: Level,
) -> Result<Done, Fault> {
    let resources = items.iter().map(known).collect::<Result<Vec<_>, _>>()?;
    if resources.is_empty() {
        return Err(unknown_resource("items: expected at least one resource"));
    }
    monitor.change_settings(|settings| {
        for resource in &resources {
            match level {
                Level::Full => settings.expanded.insert(*resource),
                Level::Gist | Level::Summary => settings.expanded.remove(resource),
            };
        }
    })?;
    let labels: Vec<_> = resources.iter().map(|resource| resource.label()).collect();
    let how = if level == Level::Full { "in detail" } else { "in one line" };
    Ok(Done::new(format!("{} {how}", labels.join(", "))))
}

fn known(anchor: &Anchor<action::Resource>) -> Result<Resource, Fault> {
    Resource::from_key(&anchor.key).ok_or_else(|| unknown_resource("not a resource"))
}
