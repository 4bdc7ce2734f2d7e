//! Selects the symbols of a file's outline, and the text for each.

use std::collections::BTreeMap;

use docui::Fault;
use pipemux_syntax::outline::flatten;
use pipemux_syntax::{Language, Source, Symbol, SymbolKind};

use crate::display::wording::line_numbers;

#[derive(Debug, Clone)]
pub(crate) struct OutlineRequest {
    pub files: Vec<String>,
    pub public: bool,
    pub count: bool,
    pub kinds: Vec<String>,
    /// 0: any.
    pub depth: i64,
    pub name: String,
}

/// Words of declarations that a kind may name besides those of [`SymbolKind`].
const KEYWORDS: [&str; 11] = [
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
/// Words in front of declarations that a kind may name, alone or before another: `unsafe`,
/// `async fn`.
const FLAGS: [&str; 8] =
    ["abstract", "async", "const", "extern", "override", "static", "unsafe", "virtual"];

/// The filter for the symbols of an outline.
pub(crate) struct Filter {
    public: bool,
    kinds: Vec<String>,
    depth: usize,
    name: String,
}

impl Filter {
    pub(super) fn new(request: &OutlineRequest) -> Result<Self, Fault> {
        let is_known = |word: &str| {
            let kinds = SymbolKind::ALL.iter().flat_map(|kind| [kind.word(), kind.plural()]);
            kinds.chain(KEYWORDS).chain(FLAGS).any(|known| known == word)
        };
        for kind in &request.kinds {
            let mut words = kind.split_whitespace();
            if kind.trim().is_empty() || !words.all(is_known) {
                let kinds: Vec<_> = SymbolKind::ALL.iter().map(|kind| kind.word()).collect();
                let message = format!("kinds: {kind:?} is none of {}", kinds.join(", "));
                let flags = format!("also with a word before it: {}", FLAGS.join(", "));
                return Err(Fault::usage(message).hint(flags));
            }
        }
        let depth = usize::try_from(request.depth).unwrap_or(0);
        let depth = if depth == 0 { usize::MAX } else { depth };
        let name = request.name.to_lowercase();
        Ok(Self { public: request.public, kinds: request.kinds.clone(), depth, name })
    }

    /// True if it leaves out nothing.
    pub(super) fn is_open(&self) -> bool {
        !self.public && self.kinds.is_empty() && self.depth == usize::MAX && self.name.is_empty()
    }

    /// True if it may leave functions in.
    pub(super) fn may_be_function(&self) -> bool {
        let words = |kind: &String| {
            let mut words = kind.split_whitespace();
            words.any(|word| {
                matches!(word, "fn" | "function" | "functions" | "method" | "methods" | "unsafe")
            })
        };
        self.name.is_empty() && (self.kinds.is_empty() || self.kinds.iter().any(words))
    }

    /// Returns it as it is written in a call.
    pub(super) fn written(&self) -> String {
        let kinds: Vec<_> = self.kinds.iter().map(|kind| format!("'{kind}'")).collect();
        let parts = [
            self.public.then(|| "public=true".to_owned()),
            (!kinds.is_empty()).then(|| format!("kinds=[{}]", kinds.join(", "))),
            (self.depth != usize::MAX).then(|| format!("depth={}", self.depth)),
            (!self.name.is_empty()).then(|| format!("name='{}'", self.name)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn wants(&self, symbol: &Symbol, depth: usize) -> bool {
        let kind = match self.kinds.as_slice() {
            [] => !symbol.kind.is_part(),
            kinds => kinds.iter().any(|kind| kind.split_whitespace().all(|word| is(symbol, word))),
        };
        kind && depth < self.depth
            && (!self.public || symbol.public)
            && (self.name.is_empty() || symbol.name.to_lowercase().contains(&self.name))
    }
}

/// True if a word tells a symbol's kind, or stands in its declaration.
fn is(symbol: &Symbol, word: &str) -> bool {
    word == symbol.kind.word()
        || word == symbol.kind.plural()
        || word == symbol.keyword
        || symbol.flags.contains(&word)
}

/// A symbol of an outline.
pub(crate) struct OutlineEntry {
    pub kind: SymbolKind,
    /// The keyword that declares the symbol.
    keyword: &'static str,
    /// The name with its keyword and the enclosing symbols.
    pub label: String,
    pub depth: usize,
    pub lines: String,
    pub summary: Option<String>,
}

/// Returns the symbols that are wanted, and how many others there are.
pub(super) fn entries_of(source: &Source, filter: &Filter) -> (Vec<OutlineEntry>, usize) {
    let mut entries = Vec::new();
    let parts = filter.kinds.iter().any(|kind| kind.contains("field") || kind.contains("variant"));
    let symbols = if parts { source.declarations() } else { source.outline() };
    collect(source, &symbols, filter, "", 0, &mut entries);
    let all = flatten(&symbols).len();
    let others = all - entries.len();
    (entries, others)
}

fn collect(
    source: &Source,
    symbols: &[Symbol],
    filter: &Filter,
    around: &str,
    depth: usize,
    entries: &mut Vec<OutlineEntry>,
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
            entries.push(OutlineEntry {
                keyword: symbol.keyword,
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

/// `3 functions, 2 methods`
pub(super) fn counts(entries: &[OutlineEntry]) -> String {
    let mut numbers: BTreeMap<(SymbolKind, &str), usize> = BTreeMap::new();
    for entry in entries {
        // Where the language has a word of its own for the kind, that is the one that readers know.
        let own = match entry.kind {
            SymbolKind::Class | SymbolKind::Interface => entry.keyword,
            _ => "",
        };
        *numbers.entry((entry.kind, own)).or_default() += 1;
    }
    let all = numbers.into_iter().map(|((kind, own), number)| match (own, number) {
        ("", 1) => format!("1 {}", kind.word()),
        ("", several) => format!("{several} {}", kind.plural()),
        ("class", several) if several != 1 => format!("{several} classes"),
        (own, 1) => format!("1 {own}"),
        (own, several) => format!("{several} {own}s"),
    });
    all.collect::<Vec<_>>().join(", ")
}
