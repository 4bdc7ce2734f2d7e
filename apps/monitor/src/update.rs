//! Carries out actions.

use docui::{Anchor, Ask, Done, Fault};

use crate::action::{self, Action, By};
use crate::model::Monitor;
use crate::resource::Resource;
use crate::{detail, kill, settings};

/// Carries out one action.
///
/// # Errors
/// The action can't be carried out; nothing took effect.
pub fn update(monitor: &mut Monitor, action: Action) -> Result<Done, Fault> {
    match action {
        Action::Top { n, by } => {
            let number = settings::top(n)?;
            monitor.change_settings(|settings| {
                settings.expanded.insert(Resource::Processes);
                (settings.top, settings.by) = (number, by);
            })?;
            let order = if by == By::Mem { "memory" } else { "CPU" };
            Ok(Done::new(format!("{number} by {order}")))
        }
        Action::Expand { resource } => {
            let resource = known(&resource)?;
            monitor.change_settings(|settings| {
                settings.expanded.insert(resource);
            })?;
            Ok(Done::new(resource.label()))
        }
        Action::Fold { resource } => {
            let resource = known(&resource)?;
            monitor.change_settings(|settings| {
                settings.expanded.remove(&resource);
            })?;
            Ok(Done::new(resource.label()))
        }
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

fn known(anchor: &Anchor<action::Resource>) -> Result<Resource, Fault> {
    Resource::from_key(&anchor.key).ok_or_else(|| {
        let keys = Resource::ALL.map(Resource::key).join(", ");
        Fault::usage("resource: not a resource").hint(format!("the resources are {keys}"))
    })
}
