//! The same lines of many files, and lists of files.

use std::path::Path;

use docui::{Blocking, Context, Fault, FilePath};

use super::find::{Budget, Listing};
use super::seen::ShownLines;
use super::{Scope, fault};
use crate::display::lines::readable;
use crate::display::wording::count;
use crate::limits::{COLUMNS_MAX, HEADS_MAX};
use crate::model::Editor;
use crate::model::documents::Documents;

impl Editor {
    pub(in crate::update) fn heads_of(
        &mut self,
        files: &[FilePath],
        (first, last): (i64, i64),
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        let number = |name: &str, number: i64| match usize::try_from(number) {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(Fault::usage(format!("{name} is {number}: lines count from 1"))),
        };
        let (first, last) = (number("first", first)?, number("last", last)?);
        if first > last {
            return Err(Fault::usage(format!("first is {first}, after last, which is {last}")));
        }
        let (scope, budget) = (self.search_scope(files, context), u64::from(context.budget));
        self.listing(context, move |documents| heads(&scope, first - 1, last, budget, documents))
    }

    pub(in crate::update) fn glob(
        &mut self,
        patterns: &[FilePath],
        path: Option<&FilePath>,
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        let mut scope = self.search_scope(patterns, context);
        if let Some(path) = path {
            scope.base = self.caller_path(&path.0, context);
        }
        let budget = u64::from(context.budget);
        self.listing(context, move |documents| list(&scope, budget, documents))
    }
}

fn heads(
    scope: &Scope,
    first: usize,
    last: usize,
    budget: u64,
    mut documents: Documents,
) -> Result<Listing, Fault> {
    let chosen = scope.files(&documents)?;
    let files = chosen.list().map_err(fault)?;
    let root = documents.root.clone();
    let display =
        |path: &Path| readable(&path.strip_prefix(&root).unwrap_or(path).display().to_string());
    let (mut text, mut shown) = (String::new(), ShownLines::default());
    let (mut lines, mut listed, mut unread, mut rest) = (0, 0, Vec::new(), String::new());
    let mut budget = Budget::new(budget);
    for (index, path) in files.iter().enumerate() {
        let buffer = match documents.text(path) {
            Ok(buffer) => buffer,
            // A folder may have anything; what was named is missed.
            Err(fault) => {
                if chosen.named().contains(path) {
                    unread.push(fault.message);
                }
                continue;
            }
        };
        let all = buffer.line_count();
        let mut piece = match last < all {
            true => format!("{} ({}):\n", display(path), count(all, "line")),
            false => format!("{}:\n", display(path)),
        };
        let range = first.min(all)..last.min(all);
        for line in range.clone() {
            let (head, more) = buffer.line_head(line, COLUMNS_MAX);
            let ellipsis = if more > 0 { "…" } else { "" };
            piece += &format!("{}\t{}{ellipsis}\n", line + 1, readable(&head));
        }
        if listed == HEADS_MAX || !budget.take(&piece) {
            let more = count(files.len() - index, "more file");
            rest = format!("… {more}, from {} on\n", display(path));
            break;
        }
        text += &piece;
        lines += range.len();
        listed += 1;
        if !range.is_empty() {
            shown.add(path, range);
        }
    }
    let mut brief = format!("{} of {}", count(lines, "line"), count(listed, "file"));
    if !unread.is_empty() {
        brief += &format!("; left: {}", unread.join(", "));
    }
    Ok(Listing { brief, text, rest, shown, documents })
}

fn list(scope: &Scope, budget: u64, documents: Documents) -> Result<Listing, Fault> {
    let files = scope.files(&documents)?.list().map_err(fault)?;
    let mut budget = Budget::new(budget);
    let mut text = String::new();
    let mut listed = 0;
    for path in &files {
        let row = readable(&documents.display(path)) + "\n";
        if !budget.take(&row) {
            break;
        }
        text += &row;
        listed += 1;
    }
    let rest = match files.len() - listed {
        0 => String::new(),
        more => format!("… {}\n", count(more, "more file")),
    };
    let (brief, shown) = (count(files.len(), "file"), ShownLines::default());
    Ok(Listing { brief, text, rest, shown, documents })
}
