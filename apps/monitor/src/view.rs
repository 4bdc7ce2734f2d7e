//! The window.

use docui::{Anchor, Lod, Object, View, tokens};

use crate::action::{Action, By};
use crate::detail::{self, Resource};
use crate::sample::Sample;
use crate::settings::Settings;

/// About what an anchor costs beside its label.
const ANCHOR: u64 = 8;
/// Tokens kept for saying what was cut.
const RESERVE: u64 = 20;

/// Shows a sample at a level of detail, within about so many tokens. `address` is the session's.
pub fn view(sample: &Sample, settings: &Settings, lod: Lod, budget: u64, address: &str) -> View {
    let mut view = View::new("");
    let plain = least(sample);
    if lod == Lod::Gist || budget < plain {
        view.text(detail::gist(sample) + "\n");
        view.hidden(plain);
        return view;
    }
    view.nav("refresh", &Action::Refresh {});
    let mut room = Room { left: budget.saturating_sub(plain + RESERVE), cut: 0 };
    for resource in Resource::ALL {
        let anchor = Anchor::new(resource.key(), 0);
        let expanded = settings.expanded.contains(&resource);
        view.object(Object::new(resource.key(), resource.label()).ty("resource"));
        view.text(format!(" {}", detail::line(resource, sample)));
        match (lod, expanded) {
            (Lod::Full, false) => &mut view,
            (_, true) => view.text(" ").link("fold", &Action::Fold { resource: anchor }),
            (_, false) => view.text(" ").link("expand", &Action::Expand { resource: anchor }),
        };
        view.text("\n");
        if lod == Lod::Full || expanded {
            room.add_lines(&mut view, resource, sample);
            if resource == Resource::Processes {
                room.add_processes(&mut view, sample, settings);
            }
        }
    }
    if room.cut > 0 {
        let more = budget.saturating_mul(2).max(budget.saturating_add(room.cut * 2));
        view.text(format!("… cut to fit: pipemux view {address} --budget {more}\n"));
    }
    view.hidden(room.cut);
    view
}

/// About what the window costs with everything folded.
fn least(sample: &Sample) -> u64 {
    let lines = Resource::ALL.iter().map(|resource| detail::line(*resource, sample));
    lines.map(|line| tokens::estimate(&line) + 2 * ANCHOR + 2).sum()
}

/// Room for details, and what didn't find any.
struct Room {
    left: u64,
    cut: u64,
}

impl Room {
    fn takes(&mut self, cost: u64) -> bool {
        // What follows a line that was cut is cut too: a list without its middle would mislead.
        let fits = self.cut == 0 && cost <= self.left;
        if fits {
            self.left -= cost;
        } else {
            self.cut += cost;
        }
        fits
    }

    fn add_lines(&mut self, view: &mut View, resource: Resource, sample: &Sample) {
        for line in detail::lines(resource, sample) {
            let line = format!("  {line}\n");
            if self.takes(tokens::estimate(&line)) {
                view.text(line);
            }
        }
    }

    fn add_processes(&mut self, view: &mut View, sample: &Sample, settings: &Settings) {
        let by = if settings.by == By::Mem { "memory" } else { "CPU" };
        let head = format!("\n| top {} by {by} | pid | CPU | memory |\n|-|-|-|-|\n", settings.top);
        if !self.takes(tokens::estimate(&head)) {
            return;
        }
        view.text(head);
        for process in detail::top(sample, settings.by, settings.top) {
            let cells = format!(" | {} |\n", detail::cells(process).join(" | "));
            if self.takes(tokens::estimate(&process.name) + tokens::estimate(&cells) + ANCHOR) {
                view.text("| ");
                view.object(Object::new(process.key(), &process.name).ty("process"));
                view.text(cells);
            }
        }
    }
}
