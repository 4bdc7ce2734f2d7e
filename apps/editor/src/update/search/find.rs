//! Finding: the matches by file, or how many each file has.

use std::path::Path;

use docui::{Blocking, Context, Fault};
use pipemux_search::{FileCounts, Files, Ignored};
use pipemux_syntax::outline::flatten;
use pipemux_syntax::{Language, Source};

use super::budget::Budget;
use super::found_lines::{SameLines, fold_row, numbers_of, same_lines};
use super::listing::Listing;
use super::repeat_call::written_again;
use super::scope::Numbers;
use super::shown_lines::{ShownLines, to_usize};
use super::words::{found, given, left_out, named_files};
use super::{SearchScope, Searched, Wanted, search};
use crate::action::Action;
use crate::display::lines::readable;
use crate::display::wording::{count, line_numbers};
use crate::limits::{
    DEFINITIONS_BYTES, DEFINITIONS_NAMED, FILES_WITHOUT_MATCH_NAMED, FOUND_LINES_HEAD,
    FOUND_LINES_SCANNED, FOUND_LINES_SHOWN, FOUND_LINES_TAIL,
};
use crate::model::Editor;
use crate::model::buffer::Buffer;
use crate::model::documents::Documents;
use crate::model::open_files::OpenFiles;
use crate::update::search::listing::listing;
use crate::update::search::scope::search_scope;

/// The options of an answer to `find`.
struct Manner {
    wanted: Wanted,
    counts_only: bool,
    min: u64,
    /// True if every line is shown, even of a file with many.
    all: bool,
    budget: u64,
    /// The command that repeats the query.
    again: Option<String>,
}

pub(crate) fn find(
    open_files: &OpenFiles,
    action: &Action,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let (wanted, scope, counts_only, min, all) = match action {
        Action::Find { text, r#in, word, regex, case, only, not, with, count, min, all } => {
            let wanted = Wanted {
                text: text.0.clone(),
                regex: *regex,
                word: *word,
                case: *case,
                only: *only,
                not: not.as_ref().and_then(|not| given(&not.0)),
                with: with.as_ref().and_then(|with| given(&with.0)),
            };
            (
                wanted,
                search_scope(open_files, &named_files(r#in), Numbers::Present, context)?,
                *count,
                *min,
                *all,
            )
        }
        Action::Grep { pattern, path, glob, ignore_case } => {
            let wanted = Wanted {
                text: pattern.0.clone(),
                regex: true,
                word: false,
                case: !ignore_case,
                only: None,
                not: None,
                with: None,
            };
            let mut scope = search_scope(open_files, path, Numbers::Present, context)?;
            if let Some(glob) = glob {
                scope.narrow(glob);
            }
            (wanted, scope, false, 0, false)
        }
        _ => return Err(Fault::failed("this finds nothing")),
    };
    let manner = Manner {
        wanted,
        counts_only,
        min: u64::try_from(min).unwrap_or(0),
        all,
        budget: u64::from(context.budget),
        again: written_again(action).map(|call| open_files.paths.run_command(&call)),
    };
    listing(open_files, context, move |documents| manner.listing(&scope, documents))
}

impl SearchScope {
    /// Searches only those files that match a glob.
    fn narrow(&mut self, glob: &str) {
        let below = |entry: &str| match glob.contains('/') {
            true => format!("{}/{glob}", entry.trim_end_matches('/')),
            false => format!("{}/**/{glob}", entry.trim_end_matches('/')),
        };
        if self.is_parts() {
            return;
        }
        self.set_entries(match self.entries.as_slice() {
            [] => vec![below(&self.root.to_string_lossy())],
            some => some.iter().map(|entry| below(entry)).collect(),
        });
    }
}

impl Manner {
    fn listing(self, scope: &SearchScope, mut documents: Documents) -> Result<Listing, Fault> {
        let searched = search(&self.wanted, scope, &mut documents)?;
        let root = documents.root.clone();
        let display =
            |path: &Path| readable(&path.strip_prefix(&root).unwrap_or(path).display().to_string());
        let counts = searched.found.counts();
        let files: Vec<&FileCounts> =
            searched.found.files.iter().filter(|file| file.counts.matches > 0).collect();
        let left = left_out(&searched, &display);
        let mut brief = match (files.len(), searched.files.as_slice()) {
            (0, _) if !searched.parts.is_empty() => {
                format!("0 matches in {}", searched.parts.join(", "))
            }
            (0, [one]) => format!("0 matches in {}", display(one)),
            (0, all) => {
                let with = self.wanted.with.as_ref().map(|with| format!(" with {with:?}"));
                let files = count(all.len(), "file");
                format!("0 matches in {files}{}", with.unwrap_or_default())
            }
            (some, _) => found(counts, some),
        };
        if !left.text.is_empty() {
            brief += &format!("; {}", left.text);
        }
        if files.is_empty()
            && let Some(ignored) = searched.listed_by.as_ref().map(Files::ignored)
        {
            brief += &not_searched(ignored);
        }
        if files.is_empty() && self.wanted.case {
            let folded = Wanted { case: false, ..self.wanted.clone() };
            let folded = search(&folded, scope, &mut documents)?;
            match folded.found.counts().matches {
                0 => {}
                some => brief += &format!("; case=false has {some}"),
            }
        }
        if counts.matches < self.min {
            return Err(Fault::failed(format!("{brief}: expected at least {}", self.min)));
        }
        let mut shown = ShownLines::default();
        for (path, line) in &left.places {
            // Files that can't be read were not searched.
            if documents.text(path).is_ok() {
                let line = to_usize(*line);
                shown.add(path, line - 1..line);
            }
        }
        let mut listing = Listing {
            brief,
            text: String::new(),
            rest: String::new(),
            shown,
            documents,
            value: None,
        };
        if self.counts_only {
            self.list_counts(&mut listing, &searched, &display);
        } else {
            self.list_lines(&mut listing, &searched, &files, &display);
        }
        listing.rest.insert_str(0, &searched.missing);
        Ok(listing)
    }

    /// Lists one line per file, including those without a match if few files were requested.
    fn list_counts(
        &self,
        listing: &mut Listing,
        searched: &Searched,
        display: &dyn Fn(&Path) -> String,
    ) {
        let few = searched.files.len() <= FILES_WITHOUT_MATCH_NAMED;
        let mut budget = Budget::new(self.budget);
        let mut left = 0;
        for path in &searched.files {
            let file = searched.found.files.iter().find(|file| file.path == *path);
            let counts = file.map(|file| file.counts).unwrap_or_default();
            let skipped = searched.found.skipped.iter().any(|skipped| skipped.path == *path);
            if (counts.matches == 0 && !few) || skipped {
                continue;
            }
            let mut row = format!("{}: {}", display(path), counts.matches);
            if counts.lines != counts.matches {
                row += &format!(" in {}", count(to_usize(counts.lines), "line"));
            }
            match left == 0 && budget.take(&row) {
                true => listing.text += &(row + "\n"),
                false => left += 1,
            }
        }
        if left > 0 {
            listing.rest = self.rest(&count(left, "more file"), budget.all_of(left, &listing.text));
        }
    }

    /// Lists the lines with matches, by file.
    fn list_lines(
        &self,
        listing: &mut Listing,
        searched: &Searched,
        files: &[&FileCounts],
        display: &dyn Fn(&Path) -> String,
    ) {
        let mut budget = Budget::new(self.budget);
        let mut unshown: Vec<(String, u64)> = Vec::new();
        self.list_definitions(listing, files, &mut budget, display);
        for file in files {
            let mut left = file.counts.lines;
            if unshown.is_empty() {
                let text = listing.documents.text(&file.path).cloned();
                left = match text {
                    Ok(buffer) => {
                        self.list_file(listing, searched, file, &buffer, &mut budget, display)
                    }
                    Err(fault) => {
                        listing.text += &format!("{}: {fault}\n", display(&file.path));
                        0
                    }
                };
            }
            if left > 0 {
                unshown.push((display(&file.path), left));
            }
        }
        let lines: u64 = unshown.iter().map(|(_, lines)| lines).sum();
        if lines > 0 {
            let named = unshown.iter().take(4).map(|(name, lines)| format!("{name} {lines}"));
            let mut named = named.collect::<Vec<_>>().join(", ");
            if unshown.len() > 4 {
                named += &format!(", {}", count(unshown.len() - 4, "more file"));
            }
            let what = format!("{}: {named}", count(to_usize(lines), "more line"));
            let all = budget.all_of(to_usize(lines), &listing.text);
            listing.rest = self.rest(&what, all);
        }
    }

    /// Lists the lines of one file as far as the budget goes. Returns how many are left.
    fn list_file(
        &self,
        listing: &mut Listing,
        searched: &Searched,
        file: &FileCounts,
        buffer: &Buffer,
        budget: &mut Budget,
        display: &dyn Fn(&Path) -> String,
    ) -> u64 {
        let folds = !self.all && file.counts.matches <= FOUND_LINES_SCANNED;
        let scanned = if folds { usize::MAX } else { budget.rows_max() };
        let matches = searched.pattern.search_first(&file.path, &buffer.text(), scanned);
        let entries = same_lines(&matches, buffer);
        let folded = match folds && entries.len() > FOUND_LINES_SHOWN {
            true => FOUND_LINES_HEAD..entries.len() - FOUND_LINES_TAIL,
            false => 0..0,
        };
        let mut left = file.counts.lines;
        for (index, SameLines { lines, text }) in entries.iter().enumerate() {
            if folded.contains(&index) && index > folded.start {
                continue;
            }
            let is_fold = folded.contains(&index);
            let mut row = match is_fold {
                true => fold_row(&entries[folded.clone()]),
                false => format!("{}\t{text}\n", numbers_of(lines)),
            };
            if index == 0 {
                row.insert_str(0, &format!("{}:\n", display(&file.path)));
            }
            if !budget.take(&row) {
                // It may have changed since it was counted.
                return left.max(1);
            }
            listing.text += &row;
            if is_fold {
                let hidden: usize =
                    entries[folded.clone()].iter().map(|same| same.lines.len()).sum();
                left = left.saturating_sub(hidden as u64);
                continue;
            }
            lines.iter().for_each(|line| listing.shown.add(&file.path, *line..line + 1));
            left = left.saturating_sub(lines.len() as u64);
        }
        0
    }

    /// Names where a name that was searched for is defined.
    fn list_definitions(
        &self,
        listing: &mut Listing,
        files: &[&FileCounts],
        budget: &mut Budget,
        display: &dyn Fn(&Path) -> String,
    ) {
        let name = self.wanted.text.as_str();
        if self.wanted.regex || files.iter().map(|file| file.counts.matches).sum::<u64>() < 2 {
            return;
        }
        let (mut parsed, mut named) = (0, 0);
        for file in files {
            let Some(language) = Language::of_path(&file.path) else { continue };
            if language == Language::Markdown || !language.is_name(name) {
                continue;
            }
            // A long file isn't even read for that.
            let length = listing.documents.length(&file.path);
            if length.is_none_or(|length| parsed + length > DEFINITIONS_BYTES) {
                continue;
            }
            let Ok(buffer) = listing.documents.text(&file.path).cloned() else { continue };
            parsed += buffer.len();
            let Ok(source) = Source::parse(language, buffer.text()) else { continue };
            let symbols = source.outline();
            for symbol in flatten(&symbols) {
                if symbol.name != name || symbol.kind.is_part() {
                    continue;
                }
                let lines = buffer.lines_of(&symbol.range);
                let word = match symbol.keyword {
                    "" => symbol.kind.word(),
                    keyword => keyword,
                };
                let row = format!(
                    "defined: {}:{} {word} {name}\n",
                    display(&file.path),
                    line_numbers(&lines)
                );
                if named == DEFINITIONS_NAMED || !budget.take(&row) {
                    return;
                }
                named += 1;
                listing.text += &row;
                listing.shown.add(&file.path, lines);
            }
        }
    }

    fn rest(&self, what: &str, budget: u64) -> String {
        match &self.again {
            Some(again) => format!("… {what}; {again} --budget {budget}\n"),
            None => format!("… {what}\n"),
        }
    }
}

/// `; not searched: 12 files that .gitignore lists, 3 hidden ones (a file or folder that `in` names
/// is)`
fn not_searched(ignored: Ignored) -> String {
    let Ignored { by_rules, hidden, more } = ignored;
    let at_least = if more { "at least " } else { "" };
    let listed = match by_rules {
        0 => None,
        number => Some(format!("{} that .gitignore lists", count(number, "file"))),
    };
    let dotted = match hidden {
        0 => None,
        number => Some(count(number, "hidden file")),
    };
    let all: Vec<String> = listed.into_iter().chain(dotted).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(
            "; not searched: {at_least}{} (a file or folder that `in` names is)",
            all.join(", ")
        ),
    }
}
