//! The import style of a file.

use std::path::Path;

use crate::language::Language;
use crate::source::Source;

use super::specifiers::{extension, is_relative};
use super::statements::{Kind, Statement};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ImportStyle {
    pub quote: char,
    pub semicolon: bool,
    /// True for `{ a }`, not for `{a}`.
    pub spaces: bool,
}

impl ImportStyle {
    /// Returns how a statement is written.
    pub(super) fn of(source: &Source, statement: &Statement) -> Self {
        let text = source.text();
        let quote = text[..statement.specifier_range.start].chars().next_back();
        let list = statement.list.as_ref().map(|list| &text[list.clone()]);
        Self {
            quote: quote.filter(|quote| matches!(quote, '"' | '\'')).unwrap_or('\''),
            semicolon: text[statement.range.clone()].trim_end().ends_with(';'),
            spaces: list.is_none_or(|list| {
                list.starts_with(['{', '(']) && !list[1..].starts_with(|c: char| !c.is_whitespace())
            }),
        }
    }

    /// Returns how files write statements, of which the first that has any counts.
    pub(super) fn of_files<'f>(
        files: impl Iterator<Item = (&'f Source, &'f [Statement])> + Clone,
    ) -> Self {
        for (source, statements) in files.clone() {
            let with_list = statements.iter().find(|one| one.list.is_some());
            if let Some(statement) = with_list.or(statements.first()) {
                return Self::of(source, statement);
            }
        }
        let texts: Vec<&str> = files.map(|(source, _)| source.text()).collect();
        let lines = |end: &str| {
            texts
                .iter()
                .flat_map(|text| text.lines())
                .filter(|line| line.trim_end().ends_with(end))
                .count()
        };
        let quotes =
            |quote: char| texts.iter().map(|text| text.matches(quote).count()).sum::<usize>();
        Self {
            quote: if quotes('"') > quotes('\'') { '"' } else { '\'' },
            semicolon: lines(";") > 0 || lines(")") == 0,
            spaces: true,
        }
    }

    /// Returns a statement that imports or exports names of a module.
    pub(super) fn names(
        &self,
        language: Language,
        kind: Kind,
        is_type: bool,
        names: &[String],
        specifier: &str,
    ) -> String {
        let names = names.join(", ");
        if language == Language::Python {
            return format!("from {specifier} import {names}");
        }
        let word = if kind == Kind::Import { "import" } else { "export" };
        let word = if is_type { format!("{word} type") } else { word.to_owned() };
        let names = if self.spaces { format!("{{ {names} }}") } else { format!("{{{names}}}") };
        self.from(&word, &names, specifier)
    }

    /// Returns a statement such as `import * as a from 'a';`.
    pub(super) fn from(&self, word: &str, what: &str, specifier: &str) -> String {
        let (quote, end) = (self.quote, if self.semicolon { ";" } else { "" });
        format!("{word} {what} from {quote}{specifier}{quote}{end}")
    }
}

/// Returns the extension with which files write relative paths, `None` within if they leave it out;
/// the first that has a relative path counts. Without any, it is left out in TypeScript.
pub(super) fn extension_habit<'f>(
    mut all: impl Iterator<Item = &'f Statement>,
    file: &Path,
) -> Option<String> {
    let told = all.find_map(|statement| {
        let specifier = statement.specifier.as_str();
        let name = specifier.rsplit('/').next().unwrap_or_default();
        match extension(specifier) {
            _ if !is_relative(specifier) || matches!(name, "." | "..") => None,
            Some(extension) => Some(Some(extension.to_owned())),
            // Of a file of another kind, such as a style sheet, nothing is learnt.
            None if name.contains('.') => None,
            None => Some(None),
        }
    });
    told.unwrap_or_else(|| match Language::of_path(file) {
        Some(Language::JavaScript) => Some("js".to_owned()),
        _ => None,
    })
}
