//! Writes a codebase as far as a share goes: the most referenced symbols, then folders, their
//! files, types and functions.

use std::convert::Infallible;

use pipemux_context::outline::{Outline, fill};
use pipemux_context::slots::SlotLine;
use pipemux_context::{Line, RenderSection, Share, Size};
use pipemux_memotree_store::token::inert;
use pipemux_proto::projection::Piece;

use super::scan::{Codebase, SourceFile};
use pipemux_notes::text::count;

#[derive(Debug, Clone, PartialEq, Eq)]
enum CodeLine {
    Counts,
    Top(usize),
    /// A folder by its path, with the range of positions of its files.
    Folder {
        path: String,
        from: usize,
        to: usize,
    },
    File(usize),
    Symbol {
        file: usize,
        symbol: usize,
    },
}

struct CodeOutline<'a>(&'a Codebase);

/// Writes what is known of the code.
pub fn section(codebase: &Codebase, share: &Share) -> RenderSection<SlotLine> {
    let mut outline = CodeOutline(codebase);
    let Ok(filled) = fill(&mut outline, share);
    let counted = |line: &CodeLine| matches!(line, CodeLine::File(_) | CodeLine::Symbol { .. });
    let shown = filled.lines.iter().filter(|line| counted(&line.content)).count();
    let all = codebase.files.iter().fold(0, |sum, file| sum + 1 + file.symbols.len());
    let hidden = if filled.is_cut { all.saturating_sub(shown).max(1) as u64 } else { 0 };
    let lines = filled.lines.into_iter().map(|line| {
        let text = outline.written(&line.content, line.depth);
        Line::new(SlotLine::Pieces(vec![Piece::Text(text)]), line.size).at(line.depth)
    });
    RenderSection::new("codebase", "Codebase", lines.collect()).hiding(hidden)
}

impl CodeOutline<'_> {
    /// Returns the folders and files right below a folder, whose files stand between two positions.
    fn below(&self, path: &str, from: usize, to: usize) -> Vec<CodeLine> {
        let (mut lines, mut at) = (Vec::new(), from);
        while at < to {
            let rest = &self.0.files[at].path[path.len()..];
            let Some((name, _)) = rest.split_once('/') else {
                lines.push(CodeLine::File(at));
                at += 1;
                continue;
            };
            let folder = format!("{path}{name}/");
            let end = at
                + self.0.files[at..to]
                    .iter()
                    .take_while(|file| file.path.starts_with(&folder))
                    .count();
            lines.push(self.folder(folder, at, end));
            at = end;
        }
        // Folders first, as they say more.
        lines.sort_by_key(|line| !matches!(line, CodeLine::Folder { .. }));
        lines
    }

    /// Returns a folder; one that has nothing but another folder is shown as that.
    fn folder(&self, path: String, from: usize, to: usize) -> CodeLine {
        match self.below_one(&path, from, to) {
            Some(only) => self.folder(only, from, to),
            None => CodeLine::Folder { path, from, to },
        }
    }

    fn below_one(&self, path: &str, from: usize, to: usize) -> Option<String> {
        let files = &self.0.files[from..to];
        let (name, _) = files.first()?.path[path.len()..].split_once('/')?;
        let folder = format!("{path}{name}/");
        files.last()?.path.starts_with(&folder).then_some(folder)
    }

    fn symbols_below(&self, file: usize, of: Option<usize>) -> Vec<CodeLine> {
        let symbols = &self.0.files[file].symbols;
        let parent = of.map(|at| &symbols[at]);
        let is_below = |at: &usize| match parent {
            None => symbols[*at].depth == 0,
            Some(parent) => {
                let rest = symbols[*at].name.strip_prefix(&parent.name);
                symbols[*at].depth == parent.depth + 1
                    && rest.is_some_and(|rest| rest.starts_with([':', '.', '#']))
            }
        };
        let mut found: Vec<usize> = (0..symbols.len()).filter(is_below).collect();
        // Types first, as they say more.
        found.sort_by_key(|at| symbols[*at].is_function);
        found.into_iter().map(|symbol| CodeLine::Symbol { file, symbol }).collect()
    }

    fn written(&self, line: &CodeLine, depth: u32) -> String {
        let indent = "  ".repeat(depth as usize);
        let Codebase { files, top, is_partial } = self.0;
        match line {
            CodeLine::Counts => {
                let symbols: usize = files.iter().map(|file| file.symbols.len()).sum();
                let partial = if *is_partial { ", not all read" } else { "" };
                let mentioned = match top.as_slice() {
                    [] => "",
                    _ => "; those that most other files mention:",
                };
                let files = count(files.len() as u64, "source file");
                format!("{files}{partial}, {}{mentioned}\n", count(symbols as u64, "symbol"))
            }
            CodeLine::Top(at) => {
                let symbol = &top[*at];
                let files = count(symbol.files as u64, "file");
                format!("- {} · {} · {files}\n", inert(&symbol.target), symbol.kind)
            }
            CodeLine::Folder { path, from, to } => {
                format!("{indent}- {} · {}\n", inert(path), count((to - from) as u64, "file"))
            }
            CodeLine::File(at) => {
                let SourceFile { path, symbols } = &files[*at];
                format!("{indent}- {} · {}\n", inert(path), count(symbols.len() as u64, "symbol"))
            }
            CodeLine::Symbol { file, symbol } => {
                let file = &files[*file];
                let symbol = &file.symbols[*symbol];
                format!(
                    "{indent}- {}#{} · {}\n",
                    inert(&file.path),
                    inert(&symbol.name),
                    symbol.kind
                )
            }
        }
    }
}

impl Outline for CodeOutline<'_> {
    type Node = CodeLine;
    type Error = Infallible;

    fn children(
        &mut self,
        of: Option<&CodeLine>,
        from: usize,
        max: usize,
    ) -> Result<Vec<CodeLine>, Infallible> {
        let all = match of {
            None => {
                let mut all = vec![CodeLine::Counts];
                all.extend((0..self.0.top.len()).map(CodeLine::Top));
                all.extend(self.below("", 0, self.0.files.len()));
                all
            }
            Some(CodeLine::Counts | CodeLine::Top(_)) => Vec::new(),
            Some(CodeLine::Folder { path, from, to }) => self.below(path, *from, *to),
            Some(CodeLine::File(file)) => self.symbols_below(*file, None),
            Some(CodeLine::Symbol { file, symbol }) => self.symbols_below(*file, Some(*symbol)),
        };
        Ok(all.into_iter().skip(from).take(max).collect())
    }

    fn size(&mut self, line: &CodeLine, depth: u32) -> Size {
        Size::of_lines(&self.written(line, depth))
    }
}
