//! Labels as names: a quoted label stands for the one visible thing that has it.

use pipemux_proto::call::{Span, nearest};
use pipemux_proto::prototype::{Risk, Type};
use pipemux_proto::refs::Ref;
use pipemux_proto::{Fault, Level};

use crate::foreign::quote;
use crate::scripts::plan::Planner;
use crate::scripts::step::Step;
use crate::workspaces::anchors::{Anchor, Target};

/// Most things that an error names.
const NAMED: usize = 5;

impl Planner<'_> {
    /// Returns the ref to the thing of a type that has a label, among those that the call's
    /// sessions show.
    ///
    /// # Errors
    /// Several things have the label, or none; `why` says why it is no ref.
    pub(super) fn labelled(
        &self,
        label: &str,
        ty: &Type,
        (param, span, why): (&str, Span, &str),
    ) -> Result<Ref, Fault> {
        let shown = self.shown_of_type(ty);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted = words(label);
        let having = |fits: &dyn Fn(&str) -> bool| -> Vec<&(u64, &Anchor, String)> {
            shown
                .iter()
                .filter(|(_, anchor, _)| anchor.label.borrow().fits(|label| fits(&words(label))))
                .collect()
        };
        let mut found = having(&|other| other == wanted);
        let folded = wanted.to_lowercase();
        if found.is_empty() {
            found = having(&|other| other.to_lowercase() == folded);
        }
        if let ([(id, ..)], false) = (found.as_slice(), wanted.is_empty()) {
            return Ok(Ref::obj(*id));
        }
        let named = |(id, anchor, detail): &&(u64, &Anchor, String)| {
            let space = if detail.is_empty() { "" } else { " " };
            format!(
                "{} · {}{space}{detail}",
                words(quote::in_sentence(anchor.label.borrow())),
                anchor.written(*id)
            )
        };
        if !found.is_empty() && !wanted.is_empty() {
            let all: Vec<String> = found.iter().take(NAMED).map(named).collect();
            let note = format!("{} things have this label: {}", found.len(), all.join("; "));
            let fault = self.error("ambiguous label", span, note);
            return Err(Fault { level: Level::Choice, ..fault });
        }
        // What the reader was shown before keeps its label: its app tells where it is now.
        match self.hidden_of_type(ty, &|label| words(label) == wanted).as_slice() {
            [] => {}
            [(id, _)] => return Ok(Ref::obj(*id)),
            several => {
                let written = |(id, anchor): &(u64, &Anchor)| anchor.written(*id).to_string();
                let all: Vec<String> = several.iter().take(NAMED).map(written).collect();
                let note = format!(
                    "{label} isn't shown now; {} things that were shown had this label: {}",
                    several.len(),
                    all.join(", ")
                );
                return Err(self.error("ambiguous label", span, note));
            }
        }
        let is_made = |step: &Step| {
            step.prototype.risk != Risk::Query && self.targets.contains(&step.session)
        };
        if self.steps.iter().any(is_made) {
            let note = format!(
                "{param} is {ty}: nothing that is shown has this label. What an earlier step makes can be named once \
                 it is shown: send this call after the others"
            );
            return Err(self.error("not a ref or a label", span, note));
        }
        let mut near =
            having(&|other| !folded.is_empty() && other.to_lowercase().contains(&folded));
        if near.is_empty() {
            let labels =
                shown.iter().map(|(_, anchor, _)| quote::in_sentence(anchor.label.borrow()));
            let nearest = nearest(label, labels).map(words);
            near = having(&|other| nearest.as_deref() == Some(other));
        }
        let near: Vec<String> = near.iter().take(NAMED).map(named).collect();
        let note = match near.as_slice() {
            [] => why.to_owned(),
            some => format!("did you mean {}?", some.join("; or ")),
        };
        Err(self.error("not a ref or a label", span, format!("{param} is {ty}: {note}")))
    }

    /// Returns the things of a type with a label that the reader was shown and that aren't shown
    /// now.
    fn hidden_of_type(&self, ty: &Type, has: &dyn Fn(&str) -> bool) -> Vec<(u64, &Anchor)> {
        let Some(reader) = self.clicker.map(|clicker| clicker.reader) else { return Vec::new() };
        let hidden = self.targets.iter().flat_map(|of| self.workspace.anchors.hidden_objects(of));
        let fits = |anchor: &Anchor| match ty {
            Type::Anchor(Some(of)) => anchor.ty.as_deref() == Some(of.as_str()),
            _ => true,
        };
        hidden
            .filter(|(id, anchor)| {
                let known = self.workspace.known_epoch(reader, *id);
                known > 0 && known >= anchor.since
            })
            .filter(|(_, anchor)| fits(anchor) && anchor.label.borrow().fits(has))
            .collect()
    }

    /// Returns the things of a type that the sessions of the call show, each with what tells it
    /// from others.
    fn shown_of_type(&self, ty: &Type) -> Vec<(u64, &Anchor, String)> {
        let mut shown = Vec::new();
        for session in &self.targets {
            let Some(window) = self.workspace.window(session) else { continue };
            let held = window.projection.as_ref();
            let details = held.map(|held| held.projection.object_details()).unwrap_or_default();
            for (id, anchor) in self.workspace.anchors.shown_objects(session) {
                let fits = match ty {
                    Type::Anchor(Some(of)) => anchor.ty.as_deref() == Some(of.as_str()),
                    _ => true,
                };
                let Target::Object { key } = &anchor.target else { continue };
                if fits {
                    let detail =
                        details.get(&**key).map(|detail| quote::in_sentence(detail).to_owned());
                    shown.push((id, anchor, detail.unwrap_or_default()));
                }
            }
        }
        shown
    }
}
