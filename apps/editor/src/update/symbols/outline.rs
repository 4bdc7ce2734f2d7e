//! Queries about symbols: the outline of files, the lines of one symbol.

use std::collections::BTreeMap;
use std::path::PathBuf;

use docui::{Blocking, Context, Done, Fault, Line, View, tokens};
use pipemux_syntax::{Language, Source, Symbol, SymbolKind};

use crate::display::lines::visible_line;
use crate::display::wording::{count, line_numbers, range_name, shown_lines};
use crate::limits::{DISK_DEADLINE, VALUE_MAX};
use crate::model::Editor;
use crate::model::open_file::ReadFile;

use super::resolver::{Resolved, Resolver, Stop};
use super::target::Target;

/// How many files without a symbol are named.
const EMPTY_FILES_NAMED: usize = 5;
/// What a query may take if its caller doesn't say.
const BUDGET: u32 = 4_000;

/// What an outline is to have.
#[derive(Debug, Clone)]
pub(in crate::update) struct OutlineRequest {
    pub files: Vec<String>,
    pub public: bool,
    pub count: bool,
    pub kinds: Vec<String>,
    /// 0: any.
    pub depth: i64,
    pub name: String,
}

/// Which symbols are wanted.
struct Filter {
    public: bool,
    kinds: Vec<String>,
    depth: usize,
    name: String,
}

impl Filter {
    fn new(request: &OutlineRequest) -> Result<Self, Fault> {
        let known = SymbolKind::ALL.iter().flat_map(|kind| [kind.word(), kind.plural()]);
        let words = [
            "fn",
            "def",
            "func",
            "struct",
            "record",
            "union",
            "trait",
            "mod",
            "namespace",
            "const",
            "static",
        ];
        let known: Vec<_> = known.chain(words).collect();
        for kind in &request.kinds {
            if !known.contains(&kind.as_str()) {
                let kinds: Vec<_> = SymbolKind::ALL.iter().map(|kind| kind.word()).collect();
                return Err(Fault::usage(format!("kinds: {kind} is none of {}", kinds.join(", "))));
            }
        }
        let depth = usize::try_from(request.depth).unwrap_or(0);
        let depth = if depth == 0 { usize::MAX } else { depth };
        let name = request.name.to_lowercase();
        Ok(Self { public: request.public, kinds: request.kinds.clone(), depth, name })
    }

    fn wants(&self, symbol: &Symbol, depth: usize) -> bool {
        let kind = self.kinds.iter().any(|kind| {
            kind == symbol.kind.word()
                || kind == symbol.kind.plural()
                || (!symbol.keyword.is_empty() && kind == symbol.keyword)
        });
        let kind = if self.kinds.is_empty() { !symbol.kind.is_part() } else { kind };
        kind && depth < self.depth
            && (!self.public || symbol.public)
            && (self.name.is_empty() || symbol.name.to_lowercase().contains(&self.name))
    }
}

/// A symbol of an outline.
struct Entry {
    kind: SymbolKind,
    /// With the word that declares it and what is around it.
    label: String,
    depth: usize,
    lines: String,
    summary: Option<String>,
}

impl Editor {
    /// Lists the symbols of files.
    pub(in crate::update) fn outline(
        &mut self,
        request: OutlineRequest,
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        let filter = Filter::new(&request)?;
        let mut documents = self.documents();
        let scope = self.scope(context)?;
        let budget = if context.budget == 0 { BUDGET } else { context.budget };
        let work = move |_: &docui::blocking::CommitPoint| -> Result<(String, String), Fault> {
            let mut resolver = Resolver::new(&mut documents, scope);
            let files = resolver.files(&request.files)?;
            let named = files.len() <= EMPTY_FILES_NAMED;
            let (mut outlines, mut empty, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
            for path in files {
                let shown = resolver.documents.display(&path);
                if Language::of_path(&path).is_none() {
                    unknown.push(shown);
                    continue;
                }
                // Files that can't be read are left out, unless they are named.
                let source = match resolver.source(&path) {
                    Ok(source) => source,
                    Err(fault) if named => return Err(fault),
                    Err(_) => continue,
                };
                let entries = entries_of(&source, &filter);
                match entries.is_empty() {
                    true => empty.push(shown),
                    false => outlines.push((shown, source.text().lines().count(), entries)),
                }
            }
            Ok(written(&outlines, &empty, &unknown, request.count, budget))
        };
        let waits_for = "the project's disk".to_owned();
        Ok(self.disk_task(waits_for, DISK_DEADLINE, context, work, |_, found, _, _| {
            let (brief, text) = found?;
            let mut view = View::new("");
            if !text.is_empty() {
                view.code("", text);
            }
            Ok(Done::new(brief).content(view).complete().into())
        }))
    }

    /// Shows the lines of an item or a range. As an argument they are the bare text.
    pub(in crate::update) fn lines_of(
        &mut self,
        range: &Line,
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        self.show_range(range, false, context)
    }

    /// Shows what stands between the braces of a symbol. As an argument it means these lines.
    pub(in crate::update) fn body(
        &mut self,
        symbol: &Line,
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        self.show_range(symbol, true, context)
    }

    fn show_range(
        &mut self,
        range: &Line,
        body: bool,
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        let mut target = self.target(range, context)?;
        match &mut target {
            Target::Written { body: wanted, .. } => *wanted = body,
            Target::Lines { .. } if body => {
                return Err(Fault::usage("body takes a symbol: body('foo')"));
            }
            Target::Lines { .. } => {}
        }
        let mut documents = self.documents();
        let scope = self.scope(context)?;
        let state_dir = self.state_dir.clone();
        type Shown = (PathBuf, Option<ReadFile>, std::ops::Range<usize>, String, String);
        let work = move |_: &docui::blocking::CommitPoint| -> Result<Shown, Stop> {
            let mut resolver = Resolver::new(&mut documents, scope);
            let found: Resolved = resolver.resolve(&target)?;
            let text = found.source.text()[found.bytes.clone()].to_owned();
            let lines = found.lines();
            let shown = resolver.documents.display(&found.path);
            let value = match (&found.symbol, body) {
                (Some(one), true) => format!("body({shown}#{})", one.qualified),
                _ => text,
            };
            if value.len() > VALUE_MAX {
                let length = value.len();
                let message = format!("these lines have {length} bytes; the limit is {VALUE_MAX}");
                return Err(Fault::refused(message).hint("ask for fewer lines").into());
            }
            let read = match resolver.documents.open_file(&found.path) {
                Some(_) => None,
                None => Some(ReadFile::read(found.path.clone(), state_dir)),
            };
            Ok((found.path, read, lines, value, shown))
        };
        let waits_for = "the project's disk".to_owned();
        let task =
            self.disk_task(waits_for, DISK_DEADLINE, context, work, |editor, found, context, _| {
                let (path, read, lines, value, shown) = match found {
                    Ok(found) => found,
                    Err(Stop::Ask(reply)) => return Ok(*reply),
                    Err(Stop::Fault(fault)) => return Err(fault),
                };
                let opened = read
                    .map(|read| editor.open_silently(read, context.next_version()))
                    .transpose()?;
                let index = opened.or_else(|| editor.file_index(&path));
                let index = index.ok_or_else(|| Fault::stale(format!("{shown} was closed")))?;
                let file = &editor.files[index];
                let budget = if context.budget == 0 { BUDGET } else { context.budget };
                let (mut text, mut cost, mut end) = (String::new(), 0u64, lines.start);
                for line in lines.clone() {
                    let row = format!("{}\t{}\n", line + 1, visible_line(file, line));
                    cost += tokens::estimate(&row);
                    if cost > u64::from(budget) && end > lines.start {
                        break;
                    }
                    text += &row;
                    end = line + 1;
                }
                let name = range_name(&shown, &lines);
                let mut brief = name.clone();
                if end < lines.end {
                    let rest = end..lines.end;
                    let call = format!("lines({:?})", range_name(&shown, &rest));
                    brief += &format!("; cut, the rest: {}", editor.run_command(&call));
                }
                let mut view = View::new("");
                view.code("", text);
                let numbers = shown_lines(file, &(lines.start..end), context.next_version());
                Ok(Done::new(brief)
                    .content(view)
                    .value(value)
                    .label(name)
                    .shows([numbers])
                    .complete()
                    .into())
            });
        Ok(task)
    }
}

fn entries_of(source: &Source, filter: &Filter) -> Vec<Entry> {
    let mut entries = Vec::new();
    let parts =
        filter.kinds.iter().any(|kind| kind.starts_with("field") || kind.starts_with("variant"));
    let symbols = if parts { source.declarations() } else { source.outline() };
    collect(source, &symbols, filter, "", 0, &mut entries);
    entries
}

fn collect(
    source: &Source,
    symbols: &[Symbol],
    filter: &Filter,
    around: &str,
    depth: usize,
    entries: &mut Vec<Entry>,
) {
    let separator = match source.language() {
        Language::Rust | Language::Cpp => "::",
        _ => ".",
    };
    for symbol in symbols {
        let owner = symbol.owner.as_deref();
        let prefix = match owner {
            Some(owner) => format!("{owner}{separator}"),
            None => around.to_owned(),
        };
        let public = symbol.public && source.language() == Language::Rust;
        let words = if public { "pub " } else { "" };
        let flags: String = symbol.flags.iter().map(|flag| format!("{flag} ")).collect();
        let label = match symbol.kind {
            SymbolKind::Heading => symbol.name.clone(),
            SymbolKind::Impl => format!("impl {}", symbol.name),
            _ if depth > 0 || owner.is_some() => format!("{words}{flags}{prefix}{}", symbol.name),
            _ if symbol.keyword.is_empty() => format!("{words}{flags}{}", symbol.name),
            _ => format!("{words}{flags}{} {}", symbol.keyword, symbol.name),
        };
        let last = symbol.whole.end.saturating_sub(1).max(symbol.whole.start);
        let lines = source.line_of(symbol.whole.start)..source.line_of(last) + 1;
        if filter.wants(symbol, depth) {
            entries.push(Entry {
                kind: symbol.kind,
                label,
                depth,
                lines: line_numbers(&lines),
                summary: symbol.summary.clone(),
            });
        }
        let inner = match symbol.kind {
            SymbolKind::Heading => String::new(),
            SymbolKind::Impl => {
                let name =
                    symbol.name.rsplit_once(" for ").map_or(symbol.name.as_str(), |(_, ty)| ty);
                let name = name.split('<').next().unwrap_or(name);
                format!("{name}{separator}")
            }
            _ => format!("{prefix}{}{separator}", symbol.name),
        };
        collect(source, &symbol.children, filter, &inner, depth + 1, entries);
    }
}

/// Returns the outcome in one line, and the outlines as far as they fit.
fn written(
    outlines: &[(String, usize, Vec<Entry>)],
    empty: &[String],
    unknown: &[String],
    only_counts: bool,
    budget: u32,
) -> (String, String) {
    let total: usize = outlines.iter().map(|(.., entries)| entries.len()).sum();
    let mut brief = match outlines.len() {
        0 => "no symbols".to_owned(),
        1 => {
            let (shown, lines, _) = &outlines[0];
            format!("{shown}, {}, {}", count(*lines, "line"), count(total, "symbol"))
        }
        files => format!("{}, {}", count(files, "file"), count(total, "symbol")),
    };
    let note = |names: &[String], what: &str| match names {
        [] => String::new(),
        names if names.len() <= EMPTY_FILES_NAMED => format!("; {what} {}", names.join(", ")),
        names => format!("; {what} {}", count(names.len(), "file")),
    };
    brief += &note(empty, "none in");
    if outlines.is_empty() || unknown.len() <= EMPTY_FILES_NAMED {
        brief += &note(unknown, "no parser for");
    }
    let mut rows = Vec::new();
    for (shown, _, entries) in outlines {
        let headings = entries.iter().any(|entry| entry.kind == SymbolKind::Heading);
        if only_counts {
            rows.push(format!("{shown}: {}", counts(entries)));
        } else if outlines.len() == 1 || headings {
            if outlines.len() > 1 {
                rows.push(format!("{shown}:"));
            }
            rows.extend(entries.iter().map(|entry| {
                let indent = "  ".repeat(entry.depth);
                let summary =
                    entry.summary.as_ref().map(|text| format!(" – {text}")).unwrap_or_default();
                let mark = if entry.kind == SymbolKind::Heading { "# " } else { "" };
                format!("{indent}{mark}{} {}{summary}", entry.label, entry.lines)
            }));
        } else {
            // The members of an `impl` say what they are of.
            let named = entries.iter().filter(|entry| {
                entry.kind != SymbolKind::Impl
                    || entries.iter().all(|one| one.kind == SymbolKind::Impl)
            });
            let row: Vec<_> =
                named.map(|entry| format!("{} {}", entry.label, entry.lines)).collect();
            rows.push(format!("{shown}: {}", row.join(" · ")));
        }
    }
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

/// `3 functions, 2 methods`
fn counts(entries: &[Entry]) -> String {
    let mut numbers: BTreeMap<SymbolKind, usize> = BTreeMap::new();
    for entry in entries {
        *numbers.entry(entry.kind).or_default() += 1;
    }
    let all = numbers.into_iter().map(|(kind, number)| match number {
        1 => format!("1 {}", kind.word()),
        several => format!("{several} {}", kind.plural()),
    });
    all.collect::<Vec<_>>().join(", ")
}
