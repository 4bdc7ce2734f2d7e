//! Renders a sample as a window.

use docui::{Anchor, Lod, Object, View, tokens};

use crate::action::{Action, By};
use crate::detail;
use crate::resource::Resource;
use crate::sample::Sample;
use crate::settings::Settings;

/// About how many tokens an anchor takes besides its label.
const ANCHOR_COST: u64 = 8;
/// Tokens reserved for the line that says what was cut.
const CUT_NOTE_TOKENS: u64 = 20;

/// Renders a sample at a level of detail, in about `budget` tokens. `address` is the session's, for
/// the hint that shows more.
pub fn view(sample: &Sample, settings: &Settings, lod: Lod, budget: u64, address: &str) -> View {
    let mut view = View::new("");
    let folded = folded_cost(sample);
    if lod == Lod::Gist || budget < folded {
        view.text(detail::gist(sample) + "\n");
        view.hidden(folded);
        return view;
    }
    view.nav("refresh", &Action::Refresh {});
    let mut details =
        DetailBudget { left: budget.saturating_sub(folded + CUT_NOTE_TOKENS), cut: 0 };
    for resource in Resource::ALL {
        let items = vec![Anchor::new(resource.key(), 0)];
        let expanded = settings.expanded.contains(&resource);
        // `CPU [38%](obj:state:cpu_load) · 2 cores`
        let line = detail::line(resource, sample);
        let ends = [" · ", " since "].into_iter().filter_map(|end| line.find(end));
        let (value, rest) = line.split_at(ends.min().unwrap_or(line.len()));
        view.text(format!("{} ", resource.label()));
        view.object(Object::new(resource.key(), value).ty("state").show_key()).text(rest);
        match (lod, expanded) {
            (Lod::Full, false) => &mut view,
            (_, true) => view.text(" ").link("collapse", &Action::Collapse { items }),
            (_, false) => view.text(" ").link("expand", &Action::Expand { items, level: None }),
        };
        view.text("\n");
        if lod == Lod::Full || expanded {
            details.add_lines(&mut view, resource, sample);
            if resource == Resource::Processes {
                details.add_processes(&mut view, sample, settings);
            }
        }
    }
    if details.cut > 0 {
        let more = budget.saturating_mul(2).max(budget.saturating_add(details.cut * 2));
        view.text(format!("… cut to fit: pipemux view {address} --budget {more}\n"));
    }
    view.hidden(details.cut);
    view
}

/// Returns about how many tokens the window takes with all resources folded.
fn folded_cost(sample: &Sample) -> u64 {
    let lines = Resource::ALL.iter().map(|resource| detail::line(*resource, sample));
    lines.map(|line| tokens::estimate(&line) + 2 * ANCHOR_COST + 2).sum()
}

/// The remaining budget for details, in tokens.
struct DetailBudget {
    left: u64,
    /// The cost of the omitted details, in tokens.
    cut: u64,
}

impl DetailBudget {
    /// Spends `cost` if it is left, and returns whether it was.
    fn spend(&mut self, cost: u64) -> bool {
        // After one line was cut, so are all that follow: a list without its middle would mislead.
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
            if self.spend(tokens::estimate(&line)) {
                view.text(line);
            }
        }
    }

    fn add_processes(&mut self, view: &mut View, sample: &Sample, settings: &Settings) {
        let by = if settings.by == By::Mem { "memory" } else { "CPU" };
        let head = format!("\n| top {} by {by} | pid | CPU | memory |\n|-|-|-|-|\n", settings.top);
        if !self.spend(tokens::estimate(&head)) {
            return;
        }
        view.text(head);
        for process in detail::top(sample, settings.by, settings.top) {
            let cells = format!(" | {} |\n", detail::cells(process).join(" | "));
            if self.spend(tokens::estimate(&process.name) + tokens::estimate(&cells) + ANCHOR_COST)
            {
                view.text("| ");
                let pid = format!("pid {}", process.pid);
                view.object(Object::new(process.key(), &process.name).ty("process").detail(pid));
                view.text(cells);
            }
        }
    }
}
