//! Rules for the effect of actions: the version that they lead to, and what they changed or
//! removed.

use pipemux_proto::Code;
use pipemux_proto::app::KeyLocation;
use pipemux_proto::projection::{Args, Projection};
use pipemux_proto::prototype::{Prototype, Risk};

use crate::actions::ActionChecks;
use crate::arguments::{call_text, refs};
use crate::observer::same_content;

impl ActionChecks<'_> {
    /// Checks the version of a done action against the window, and refs to what it changed.
    pub fn check_done(
        &mut self,
        place: &str,
        action: &Prototype,
        args: &Args,
        before: &Projection,
        is: u64,
    ) {
        let own = self.observer.told_own_change(before, is);
        let Some(after) = self.observer.look(place) else { return };
        self.note_gone();
        let (was, shown) = (before.version, after.version);
        let query = action.risk == Risk::Query;
        let changed = !same_content(before, &after);
        let text = if is < was || shown < was {
            format!("the version went back from {was} to {}: it only grows", is.min(shown))
        } else if changed && shown == was {
            format!("the window changed and its version stayed {was}: each change adds 1")
        } else if shown < is {
            format!(
                "the window has version {shown}, the outcome {is}: a window that is asked for after the outcome is as new"
            )
        } else if query && is != was && !own && !self.observer.changes_by_itself() {
            format!("a query raised the version from {was} to {is}: it changes nothing")
        } else if !query && is == was {
            format!(
                "it is done and the version stayed {was}: each successful action adds exactly 1, unless it is a query"
            )
        } else if !query && is != was + 1 && !own && !self.observer.changes_by_itself() {
            format!("the version rose from {was} to {is}: each successful action adds exactly 1")
        } else {
            String::new()
        };
        if !text.is_empty() {
            self.observer.session.report.add(place, "version", text);
        }
        self.refs_to_what_changed(action, args);
    }

    /// Sends an action on a thing again that it changed or removed: the thing isn't what the reader
    /// saw.
    fn refs_to_what_changed(&mut self, action: &Prototype, args: &Args) {
        if action.risk == Risk::Query || self.observer.session.restless {
            return;
        }
        let Some(of) = refs(args).first().map(|of| (*of).clone()) else { return };
        let code = match self.observer.session.objects.find(&of.key) {
            Some(now) if now.rev != of.rev => Code::Stale,
            None if self.observer.session.objects.is_gone(&of.key) => Code::NotFound,
            _ => return,
        };
        let what = if code == Code::Stale { "what changed" } else { "what is gone" };
        let place = format!("invoke {} on {what}", call_text(&action.name, args));
        self.refused(&place, action, args, code, &of.key);
    }

    /// Asks where things are that aren't shown any more.
    fn note_gone(&mut self) {
        let missing = self.observer.session.objects.missing();
        if missing.is_empty() {
            return;
        }
        let Some(places) = self.observer.locate(missing.clone()) else { return };
        for (key, place) in missing.iter().zip(places) {
            if matches!(place, KeyLocation::Gone(_)) {
                self.observer.session.objects.set_gone(key);
            }
        }
    }
}
