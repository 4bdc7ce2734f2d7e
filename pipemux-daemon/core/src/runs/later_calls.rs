//! What an action is told of later calls of it in the same run, so that its question can be about all of them.

use pipemux_proto::projection::{Arg, Args};

use crate::limits::{LATER_BYTES_MAX, LATER_CALLS_MAX};
use crate::runs::{Argument, Run, Step};

impl Run {
    /// Returns the arguments of the steps behind the next one that call the same action of the same session and are known
    /// already, in order, as far as they fit; none for an action that doesn't ask together.
    pub(super) fn later_calls(&self) -> Vec<Args> {
        let Some(step) = self.steps.get(self.next) else { return Vec::new() };
        if !step.prototype.asks_together || step.nested {
            return Vec::new();
        }
        let same = |other: &&Step| {
            let is_one = other.candidates.is_empty() && !other.nested;
            is_one && other.session == step.session && other.prototype.name == step.prototype.name
        };
        let mut left = LATER_BYTES_MAX;
        let fits = |args: &Args| {
            let bytes = pipemux_proto::encode(args).map_or(usize::MAX, |bytes| bytes.len());
            left.checked_sub(bytes).map(|rest| left = rest).is_some()
        };
        let later = self.steps.iter().skip(self.next + 1).filter(same);
        later.filter_map(known).take_while(fits).take(LATER_CALLS_MAX).collect()
    }
}

/// Returns a step's arguments if nothing has to be looked up or carried out for them.
fn known(step: &Step) -> Option<Args> {
    let arg = |(name, argument): &(String, Argument)| Some((name.clone(), known_arg(argument)?));
    step.args.iter().map(arg).collect()
}

fn known_arg(argument: &Argument) -> Option<Arg> {
    match argument {
        Argument::Fixed(arg) => Some(arg.clone()),
        Argument::List(items) => items.iter().map(known_arg).collect::<Option<_>>().map(Arg::List),
        Argument::Record(entries) => {
            let entry = |(name, part): &(String, Argument)| Some((name.clone(), known_arg(part)?));
            entries.iter().map(entry).collect::<Option<_>>().map(Arg::Record)
        }
        Argument::Ref { .. }
        | Argument::Name { .. }
        | Argument::Result(_)
        | Argument::Missing(_) => None,
    }
}
