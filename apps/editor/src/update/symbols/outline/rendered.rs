//! Outlines as they are shown.

use docui::tokens;
use pipemux_syntax::SymbolKind;
use pipemux_syntax::outline::Lead;

use super::entries::{OutlineEntry, counts};
use super::outlines::{OutlinedFile, Outlines};
use crate::display::lines::readable;
use crate::display::wording::count;
use crate::limits::NAMED_WITHOUT_SYMBOLS;

/// Returns the outcome in one line, and the outlines as far as they fit.
pub(super) fn render(outlines: &Outlines, budget: u32) -> (String, String) {
    let mut brief = brief(outlines);
    let several = outlines.files.len() > 1;
    let rows: Vec<String> = match outlines.only_counts {
        true => {
            let files = outlines.files.iter();
            files.map(|file| format!("{}: {}", file.shown, counts(&file.entries))).collect()
        }
        false => outlines.files.iter().flat_map(|file| file.rows(several)).collect(),
    };
    let (mut text, mut cost, mut shown) = (String::new(), 0u64, 0);
    for row in &rows {
        cost += tokens::estimate(row) + 1;
        if cost > u64::from(budget) && shown > 0 {
            break;
        }
        text += row;
        text.push('\n');
        shown += 1;
    }
    if shown < rows.len() {
        let left = count(rows.len() - shown, "line");
        brief += &format!("; {left} cut: narrow it with in, name, kinds, depth=1, or count=true");
    }
    (brief, text)
}

/// Counts the symbols, and says of which files there are none and why.
fn brief(outlines: &Outlines) -> String {
    let Outlines { filter, files, empty, unmatched, others, unknown, .. } = outlines;
    let total: usize = files.iter().map(|file| file.entries.len()).sum();
    let leads = files.iter().any(|file| file.lead.is_some());
    let mut brief = match files.as_slice() {
        [] if unmatched.is_empty() && empty.is_empty() && !unknown.is_empty() => {
            format!("no symbols: no parser for {}", named(unknown))
        }
        [] if !unmatched.is_empty() => {
            let others = count(*others, "other");
            format!("no symbol with {}; {others} in {}", filter.written(), named(unmatched))
        }
        [] if !empty.is_empty() => format!("no symbols in {}", named(empty)),
        [] => "no symbols".to_owned(),
        [file] => format!("{}, {}, {}", file.shown, count(file.lines, "line"), symbols(total)),
        _ if leads => {
            let all = format!("{}, {}", count(files.len(), "file"), symbols(total));
            format!("{all}; of Markdown only what each is about: depth=2 lists headings")
        }
        files => format!("{}, {}", count(files.len(), "file"), symbols(total)),
    };
    let mut note = |names: &[String], what: &str| {
        if !names.is_empty() {
            brief += &format!("; {what} {}", named(names));
        }
    };
    if !files.is_empty() {
        note(unmatched, "no match in");
        note(empty, "none in");
    }
    let is_told = files.is_empty() && unmatched.is_empty() && empty.is_empty();
    if !is_told && unknown.len() <= NAMED_WITHOUT_SYMBOLS {
        note(unknown, "no parser for");
    }
    let macros = &outlines.macros;
    if !macros.is_empty() && filter.may_be_function() {
        brief += "; not listed: functions in macros (";
        brief += &match macros.len() {
            few if few <= NAMED_WITHOUT_SYMBOLS => macros.join(", "),
            many => format!("{many} of them"),
        };
        brief.push(')');
    }
    brief
}

fn symbols(number: usize) -> String {
    count(number, "symbol")
}

/// Names files, or counts them if they are many, with the endings of their names.
fn named(names: &[String]) -> String {
    if names.len() <= NAMED_WITHOUT_SYMBOLS {
        return names.join(", ");
    }
    let mut endings: Vec<String> = Vec::new();
    for name in names {
        let base = name.rsplit('/').next().unwrap_or(name);
        let ending = match base.rsplit_once('.') {
            Some((_, ending)) => format!(".{ending}"),
            None => base.to_owned(),
        };
        if !endings.contains(&ending) {
            endings.push(ending);
        }
    }
    let all = count(names.len(), "file");
    match endings.len() {
        few if few <= NAMED_WITHOUT_SYMBOLS => format!("{all} ({})", endings.join(", ")),
        _ => all,
    }
}

impl OutlinedFile {
    /// Returns the lines that stand for the file: of code in one line if there are several files.
    fn rows(&self, several: bool) -> Vec<String> {
        let Self { shown, entries, .. } = self;
        if let Some(lead) = &self.lead {
            return vec![self.lead_row(lead)];
        }
        if !several || entries.iter().any(|entry| entry.kind == SymbolKind::Heading) {
            let heading = several.then(|| format!("{shown}:"));
            return heading.into_iter().chain(entries.iter().map(OutlineEntry::row)).collect();
        }
        // The members of an `impl` say what they are of.
        let named = entries.iter().filter(|entry| {
            entry.kind != SymbolKind::Impl || entries.iter().all(|one| one.kind == SymbolKind::Impl)
        });
        let row: Vec<_> = named.map(|entry| format!("{} {}", entry.label, entry.lines)).collect();
        vec![format!("{shown}: {}", row.join(" · "))]
    }

    /// `docs/a.md: Title 1-160 – First sentence.`
    fn lead_row(&self, lead: &Lead) -> String {
        let title = lead.title.as_ref().map(|title| readable(title) + " ").unwrap_or_default();
        let prose = lead.prose.as_ref().map(|prose| format!(" – {}", readable(prose)));
        format!("{}: {title}1-{}{}", self.shown, self.lines.max(1), prose.unwrap_or_default())
    }
}

impl OutlineEntry {
    fn row(&self) -> String {
        let indent = "  ".repeat(self.depth);
        let summary = self.summary.as_ref().map(|text| format!(" – {text}")).unwrap_or_default();
        let mark = if self.kind == SymbolKind::Heading { "# " } else { "" };
        format!("{indent}{mark}{} {}{summary}", self.label, self.lines)
    }
}
