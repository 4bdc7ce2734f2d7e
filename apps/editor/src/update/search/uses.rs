//! Finds the uses of a name: each line of code that has it, with the symbol around it.

use std::path::Path;

use docui::{Blocking, Context, Fault, FilePath};
use pipemux_search::Match;
use pipemux_syntax::{FoundSymbol, Language, Source};

use super::budget::Budget;
use super::listing::Listing;
use super::repeat_call::quoted;
use super::scope::Numbers;
use super::shown_lines::{ShownLines, to_usize};
use super::words::{left_out, named_files};
use super::{SearchScope, Wanted, search};
use crate::action::Only;
use crate::display::lines::{match_row, readable};
use crate::display::wording::{count, line_numbers};
use crate::limits::{FOUND_LINES_SHOWN, REST_NAMED};
use crate::model::Editor;
use crate::model::buffer::Buffer;
use crate::model::documents::Documents;
use crate::model::open_files::OpenFiles;
use crate::update::search::listing::listing;
use crate::update::search::scope::search_scope;

/// The options of an answer to `uses`.
struct Manner {
    name: String,
    /// True if every line is shown, even of a file with many.
    all: bool,
    budget: u64,
    /// The prefix of calls on this session.
    callee: String,
}

/// A line that uses a name.
struct Use {
    /// The line, counted from 0.
    line: usize,
    row: String,
    is_definition: bool,
}

/// Shows each use of a name in code, by file. Of a qualified name the last part counts.
pub(crate) fn uses(
    open_files: &OpenFiles,
    name: &str,
    files: &[FilePath],
    all: bool,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let name = name.trim().trim_end_matches("()");
    let name = name.rsplit([':', '.', '#']).next().unwrap_or_default().to_owned();
    if name.is_empty() {
        return Err(Fault::usage("expected a name: uses('foo')"));
    }
    let scope = search_scope(open_files, &named_files(files), Numbers::Present, context)?;
    let budget = u64::from(context.budget);
    let manner = Manner { name, all, budget, callee: open_files.paths.callee().to_owned() };
    listing(open_files, context, move |documents| manner.listing(&scope, documents))
}

impl Manner {
    fn listing(self, scope: &SearchScope, mut documents: Documents) -> Result<Listing, Fault> {
        let wanted = Wanted {
            text: self.name.clone(),
            regex: false,
            word: true,
            case: true,
            only: Some(Only::Code),
            not: None,
            with: None,
        };
        let searched = search(&wanted, scope, &mut documents)?;
        let root = documents.root.clone();
        let display =
            |path: &Path| readable(&path.strip_prefix(&root).unwrap_or(path).display().to_string());
        let (mut text, mut shown, mut budget) =
            (String::new(), ShownLines::default(), Budget::new(self.budget));
        let (mut uses, mut definitions, mut files, mut left) = (0, 0, 0, 0);
        let mut unshown: Vec<String> = Vec::new();
        for file in searched.found.files.iter().filter(|file| file.counts.matches > 0) {
            files += 1;
            if !unshown.is_empty() {
                // Its lines are counted without being parsed.
                (uses, left) =
                    (uses + to_usize(file.counts.lines), left + to_usize(file.counts.lines));
                unshown.push(display(&file.path));
                continue;
            }
            let Ok(buffer) = documents.text(&file.path).cloned() else { continue };
            let matches = searched.pattern.search(&file.path, &buffer.text());
            let found = uses_in(&file.path, &buffer, &matches.found);
            definitions += found.iter().filter(|one| one.is_definition).count();
            uses += found.len();
            let most = if self.all { usize::MAX } else { FOUND_LINES_SHOWN };
            let heading = format!("{}:\n", display(&file.path));
            for (index, Use { line, row, .. }) in found.iter().enumerate() {
                let row = if index == 0 { heading.clone() + row } else { row.clone() };
                if index == most || !budget.take(&row) {
                    left += found.len() - index;
                    let rest = *line..buffer.line_count();
                    unshown.push(format!("{}:{}", display(&file.path), line_numbers(&rest)));
                    break;
                }
                text += &row;
                shown.add(&file.path, *line..line + 1);
            }
        }
        let mut brief = format!("{} in {}", count(uses, "line"), count(files, "file"));
        if definitions > 0 {
            brief += &format!(", {}", count(definitions, "definition"));
        }
        if files == 0 {
            brief = format!("0 uses of {} in {}", self.name, count(searched.files.len(), "file"));
            let words = left_out(&searched, &display).text;
            brief += &if words.is_empty() { words } else { format!("; {words}") };
        }
        let rest = searched.missing + &self.call_for(&unshown, left);
        Ok(Listing { brief, text, rest, shown, documents, value: None })
    }

    /// Returns the line with the call for the omitted rest; empty if everything is shown.
    fn call_for(&self, unshown: &[String], left: usize) -> String {
        let named = unshown.iter().take(REST_NAMED).map(|file| quoted(file));
        let (Some(named), Some(name)) = (named.collect::<Option<Vec<_>>>(), quoted(&self.name))
        else {
            return String::new();
        };
        if named.is_empty() {
            return String::new();
        }
        let more = unshown.len().saturating_sub(REST_NAMED);
        let some = if more > 0 {
            format!(", without the last {}", count(more, "file"))
        } else {
            String::new()
        };
        let all = if self.all { ", all=true" } else { "" };
        let call = format!("{}.uses({name}, in=[{}]{all})", self.callee, named.join(", "));
        format!("… {}{some}: {}\n", count(left, "more line"), docui::command::run(&call))
    }
}

/// Returns the lines of a file that use a name.
fn uses_in(path: &Path, buffer: &Buffer, matches: &[Match]) -> Vec<Use> {
    let language = Language::of_path(path);
    let source = language.and_then(|language| Source::parse(language, buffer.text()).ok());
    let symbols = source.map(|source| source.named_symbols()).unwrap_or_default();
    let mut uses: Vec<Use> = Vec::new();
    for one in matches {
        let line = to_usize(one.line).saturating_sub(1);
        let is_definition = symbols.iter().any(|found| found.symbol.name_range == one.bytes);
        if let Some(last) = uses.last_mut().filter(|last| last.line == line) {
            last.is_definition |= is_definition;
            continue;
        }
        let holds = |found: &&FoundSymbol| {
            let range = &found.symbol.range;
            range.start <= one.bytes.start && one.bytes.end <= range.end
        };
        let around = symbols.iter().filter(holds).min_by_key(|found| found.symbol.range.len());
        let place = match around {
            _ if is_definition => "def: ".to_owned(),
            Some(found) => format!("{}: ", readable(&found.qualified)),
            None => String::new(),
        };
        let row = format!("{}\t{place}{}\n", line + 1, match_row(buffer, &one.bytes, false));
        uses.push(Use { line, row, is_definition });
    }
    uses
}
