//! A query that shows several ranges and symbols: `lines(['foo', 'a.rs:10-20'])`.

use std::ops::Range;
use std::path::PathBuf;

use docui::{Blocking, Context, Fault, FilePath, Pattern};
use pipemux_search::LineMatcher;

use super::resolver::{Resolver, Stop};
use super::target::{Scope, Target, numbered};
use crate::display::lines::readable;
use crate::display::wording::count;
use crate::limits::VALUE_MAX;
use crate::model::Editor;
use crate::model::documents::Documents;
use crate::update::search::{
    Blocks, Budget, Listing, ShownLines, left_out, line_matcher, lines_without, pieces,
};

impl Editor {
    /// True if one of several names is a range or a symbol rather than a file, a folder or a glob.
    pub(in crate::update) fn names_a_range(&self, names: &[FilePath], context: &Context) -> bool {
        // What looks like a path and isn't there is a missing file.
        let is_range = |name: &FilePath| {
            let looks_like_range = name.0.contains('#')
                || numbered(&name.0).is_some()
                || !name.0.contains(['*', '?', '{', '/', '.']);
            looks_like_range && !self.caller_path(&name.0, context).exists()
        };
        names.iter().any(is_range)
    }

    /// Shows several ranges, symbols and files, in the order in which they were named. As an argument they are the
    /// bare text.
    pub(in crate::update) fn several_ranges(
        &mut self,
        names: &[FilePath],
        not: Option<&Pattern>,
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        let not = line_matcher(not)?;
        let names: Vec<String> = names.iter().map(|name| name.0.clone()).collect();
        let scope = self.scope(context)?;
        let (budget, nested) = (u64::from(context.budget), context.nested);
        self.listing(context, move |mut documents| {
            let found = find_all(&names, &mut documents, scope, !nested)?;
            list((&names, &found), not.as_ref(), documents, budget, nested)
        })
    }
}

fn find_all(
    names: &[String],
    documents: &mut Documents,
    scope: Scope,
    clamps: bool,
) -> Result<Vec<(PathBuf, Range<usize>)>, Fault> {
    let mut resolver = Resolver::new(documents, scope);
    resolver.clamps = clamps;
    let find = |name: &String| {
        let target = Target::Written { text: name.trim().to_owned(), body: false };
        match resolver.resolve(&target) {
            Ok(found) => {
                let lines = if found.bytes.is_empty() { 0..0 } else { found.lines() };
                Ok((found.path, lines))
            }
            Err(Stop::Fault(fault)) => Err(fault),
            Err(Stop::Ask(_, ambiguous)) => Err(ambiguous.fault("")),
        }
    };
    names.iter().map(find).collect()
}

fn list(
    (names, found): (&[String], &[(PathBuf, Range<usize>)]),
    not: Option<&LineMatcher>,
    mut documents: Documents,
    budget: u64,
    nested: bool,
) -> Result<Listing, Fault> {
    let paths: Vec<String> =
        found.iter().map(|(path, _)| readable(&documents.display(path))).collect();
    // With a heading for each range no line needs a number, also where all are of one file: the second name, which
    // no path has, says that there are several.
    let blocks = Blocks::new(paths.iter().cloned().chain(["\0".to_owned()]));
    let mut budget = Budget::new(budget);
    let (mut text, mut bare, mut rest) = (String::new(), String::new(), String::new());
    let (mut lines, mut excluded) = (0, 0);
    let (mut shown, mut listed) = (ShownLines::default(), 0);
    for ((path, range), display) in found.iter().zip(&paths) {
        let buffer = documents.text(path)?;
        let (wanted, left) = lines_without(buffer, range.clone(), not);
        if nested {
            for piece in pieces(&wanted) {
                bare += &buffer.slice(buffer.byte_range(&piece));
            }
            if bare.len() > VALUE_MAX {
                let message = format!("these lines have more than {VALUE_MAX} bytes");
                return Err(Fault::refused(message).hint("ask for fewer lines"));
            }
            if !bare.is_empty() && !bare.ends_with('\n') {
                bare.push('\n');
            }
        }
        let block = blocks.block(display, buffer, &wanted);
        if !budget.take(&block) && !nested {
            let more = count(found.len() - listed, "more range");
            rest = format!("… {more}, from {} on: ask for each by itself\n", names[listed]);
            break;
        }
        text += &block;
        lines += wanted.len();
        excluded += left;
        listed += 1;
        pieces(&wanted).into_iter().for_each(|piece| shown.add(path, piece));
    }
    let brief = format!("{} of {}", count(lines, "line"), count(listed, "range"));
    let brief = brief + &left_out(excluded);
    let value = nested.then_some(bare);
    Ok(Listing { brief, text, rest, shown, documents, value })
}
