//! Reads the source files of a project. What is known of a file holds as long as its size and its
//! time stay.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use docui::regular_file;
use pipemux_search::Files;
use pipemux_syntax::{Language, Regions, Source, SymbolKind, regions};
use serde::{Deserialize, Serialize};

use super::limits::{
    CACHE_BYTES_MAX, FILE_BYTES_MAX, FILE_SYMBOLS_MAX, FILE_WORDS_MAX, FILES_MAX, FOUND_BYTES_MAX,
    PARSED_BYTES_MAX, SYMBOLS_MAX, TOP_MAX,
};

/// The version of the cache format. A cache of another version is ignored.
const VERSION: u32 = 1;

/// The result of scanning a project's code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Codebase {
    /// The source files, sorted by path.
    pub files: Vec<SourceFile>,
    /// The most referenced symbols, in descending order.
    pub top: Vec<TopSymbol>,
    /// True when there are files that weren't read.
    pub is_partial: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// The path relative to the project's folder.
    pub path: String,
    pub symbols: Vec<SymbolName>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolName {
    /// The name with its enclosing names: `Rope::len`.
    pub name: String,
    /// The keyword that declares the symbol: `struct`, `fn`, `def`.
    pub kind: String,
    /// True if it can be used from outside, as its own declaration says.
    pub is_public: bool,
    /// True for a function or a method.
    pub is_function: bool,
    /// The number of enclosing names.
    pub depth: u32,
}

/// A symbol that other files mention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopSymbol {
    /// `src/a.rs#Rope`, as the editor takes it.
    pub target: String,
    /// The word for the symbol's kind.
    pub kind: String,
    /// The number of other files that mention the symbol's name.
    pub files: usize,
}

/// The cached scan of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct CachedFile {
    path: String,
    size: u64,
    modified: i128,
    symbols: Vec<SymbolName>,
    /// The sorted hashes of the file's words.
    words: Vec<u32>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Cache {
    version: u32,
    files: Vec<CachedFile>,
}

/// Reads what changed since the cache was written, and writes it again. What can't be read is left
/// out.
pub fn scan(root: &Path, cache: &Path) -> Codebase {
    let mut known: HashMap<String, CachedFile> =
        read_cache(cache).into_iter().map(|file| (file.path.clone(), file)).collect();
    let known_count = known.len();
    let Ok(listed) = Files::new(&[], root, root, &[]).and_then(|files| files.list()) else {
        return Codebase::default();
    };
    let sources = listed.iter().filter(|path| language(path).is_some());
    let (mut files, mut parsed, mut is_changed) = (Vec::new(), 0_u64, false);
    let mut is_partial = sources.clone().count() > FILES_MAX;
    for path in sources.take(FILES_MAX) {
        let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) else { continue };
        let Ok(metadata) = fs::metadata(path) else { continue };
        if metadata.len() > FILE_BYTES_MAX {
            is_partial = true;
            continue;
        }
        let modified =
            i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
        let old = known.remove(name);
        if let Some(old) = &old
            && (old.size, old.modified) == (metadata.len(), modified)
        {
            files.push(old.clone());
            continue;
        }
        is_changed = true;
        parsed += metadata.len();
        if parsed > PARSED_BYTES_MAX {
            is_partial = true;
            continue;
        }
        let Ok(text) = regular_file::read_to_string(path) else { continue };
        let (symbols, words) = read(path, text);
        let (path, size) = (name.to_owned(), metadata.len());
        files.push(CachedFile { path, size, modified, symbols, words });
    }
    if is_changed || files.len() != known_count {
        // Without it the next scan reads all files again.
        let _ = write_cache(cache, &files);
    }
    let found = ranked(files, is_partial);
    let shown = cache.with_extension(FOUND);
    if is_changed || found.files.len() != known_count || !shown.exists() {
        let _ = rmp_serde::to_vec(&(VERSION, &found))
            .map_err(std::io::Error::other)
            .and_then(|bytes| write(&shown, &bytes));
    }
    found
}

/// The extension of the file that holds the result of a scan.
const FOUND: &str = "found";

/// Returns what the last scan found, so that a session that wakes shows it at once. Of a very large
/// project it is none: reading it would take longer than a window may.
pub fn last_found(cache: &Path) -> Codebase {
    let path = cache.with_extension(FOUND);
    let is_short = fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= FOUND_BYTES_MAX);
    let bytes = if is_short { fs::read(&path).unwrap_or_default() } else { Vec::new() };
    match rmp_serde::from_slice::<(u32, Codebase)>(&bytes) {
        Ok((VERSION, found)) => found,
        _ => Codebase::default(),
    }
}

/// Returns the language of a file with symbols; Markdown has headings.
fn language(path: &Path) -> Option<Language> {
    Language::of_path(path).filter(|language| *language != Language::Markdown)
}

/// Returns the symbols of a file, and the hashes of the names in its code.
fn read(path: &Path, text: String) -> (Vec<SymbolName>, Vec<u32>) {
    let Some(language) = language(path) else { return Default::default() };
    let Ok(source) = Source::parse(language, text) else { return Default::default() };
    (symbols(&source), words(&source))
}

fn symbols(source: &Source) -> Vec<SymbolName> {
    let is_wanted = |kind: SymbolKind| !kind.is_part() && kind != SymbolKind::Impl;
    let mut seen = HashSet::new();
    let named = source.named_symbols().into_iter().filter(|found| is_wanted(found.symbol.kind));
    let one_line = |name: &str| !name.chars().any(|c| c.is_control() || c.is_whitespace());
    named
        .filter(|found| one_line(&found.qualified) && seen.insert(found.qualified.clone()))
        .take(FILE_SYMBOLS_MAX)
        .map(|found| SymbolName {
            depth: u32::try_from(found.path.len().saturating_sub(1)).unwrap_or(u32::MAX),
            kind: match found.symbol.keyword {
                "" => found.symbol.kind.word().to_owned(),
                keyword => keyword.to_owned(),
            },
            is_public: found.symbol.public,
            is_function: matches!(found.symbol.kind, SymbolKind::Function | SymbolKind::Method),
            name: found.qualified,
        })
        .collect()
}

/// Returns the hashes of the names that the code of a file has, outside of comments and strings:
/// each once, in order.
fn words(source: &Source) -> Vec<u32> {
    let Regions { comments, strings } = regions(source);
    let mut prose: Vec<Range<usize>> = comments.into_iter().chain(strings).collect();
    prose.sort_by_key(|range| range.start);
    let (text, family) = (source.text(), family(source.language()));
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut hashes: Vec<u32> = Vec::new();
    let mut at = 0;
    for range in prose.into_iter().chain(std::iter::once(text.len()..text.len())) {
        let code = text.get(at..range.start.max(at)).unwrap_or_default();
        // What stands behind a dot is a member there, and only what stands outside of types is
        // ranked. Elsewhere it may be a module's.
        let has_members = !matches!(family, "Python" | "Go" | "ecmascript");
        let is_member = |word: &str| {
            let start = word.as_ptr().addr() - code.as_ptr().addr();
            has_members && code[..start].ends_with('.')
        };
        let words = code.split(|c| !is_part(c)).filter(|word| word.len() > 2);
        let words = words.filter(|word| !is_member(word));
        hashes.extend(words.map(|word| hash(family, word)));
        at = at.max(range.end);
    }
    hashes.sort_unstable();
    hashes.dedup();
    hashes.truncate(FILE_WORDS_MAX);
    hashes
}

/// Returns the same text for languages whose files use each other's names.
fn family(language: Language) -> &'static str {
    match language {
        Language::JavaScript | Language::TypeScript | Language::Tsx => "ecmascript",
        Language::C | Language::Cpp => "c",
        other => other.name(),
    }
}

fn hash(family: &str, word: &str) -> u32 {
    (pipemux_stable_hash::hash_with_length(format!("{family} {word}").as_bytes()) >> 32) as u32
}

/// Returns the last of a symbol's names.
fn own_name(name: &str) -> &str {
    name.rsplit(['.', ':', '#']).next().unwrap_or(name)
}

/// Finds the symbols that most other files of their language mention: those that stand in no other
/// one and can be used from outside. A name that several symbols have says little of each of them.
fn ranked(files: Vec<CachedFile>, is_partial: bool) -> Codebase {
    let mut defined: HashMap<u32, usize> = HashMap::new();
    let mut kept = 0;
    let family_of = |path: &str| language(Path::new(path)).map_or("", family);
    for file in &files {
        let family = family_of(&file.path);
        for symbol in &file.symbols {
            *defined.entry(hash(family, own_name(&symbol.name))).or_default() += 1;
        }
    }
    let mut mentioned: HashMap<u32, usize> = HashMap::new();
    for word in files.iter().flat_map(|file| &file.words) {
        if defined.contains_key(word) {
            *mentioned.entry(*word).or_default() += 1;
        }
    }
    let mut top: BTreeMap<(std::cmp::Reverse<usize>, String), TopSymbol> = BTreeMap::new();
    for file in &files {
        let family = family_of(&file.path);
        for symbol in file.symbols.iter().filter(|symbol| symbol.is_public && symbol.depth == 0) {
            let word = hash(family, own_name(&symbol.name));
            let others = mentioned.get(&word).copied().unwrap_or_default().saturating_sub(1);
            let count = defined.get(&word).copied().unwrap_or(1);
            if others < 2
                || count > 1
                || matches!(symbol.kind.as_str(), "mod" | "module" | "namespace")
            {
                continue;
            }
            let target = format!("{}#{}", file.path, symbol.name);
            let key = (std::cmp::Reverse(others), target.clone());
            top.insert(key, TopSymbol { target, kind: symbol.kind.clone(), files: others });
            if top.len() > TOP_MAX {
                top.pop_last();
            }
        }
    }
    let files = files.into_iter().map(|mut file| {
        file.symbols.truncate(SYMBOLS_MAX.saturating_sub(kept));
        kept += file.symbols.len();
        SourceFile { path: file.path, symbols: file.symbols }
    });
    Codebase { files: files.collect(), top: top.into_values().collect(), is_partial }
}

fn read_cache(path: &Path) -> Vec<CachedFile> {
    let is_short = fs::metadata(path).is_ok_and(|metadata| metadata.len() <= CACHE_BYTES_MAX);
    let bytes = if is_short { fs::read(path).unwrap_or_default() } else { Vec::new() };
    match rmp_serde::from_slice::<Cache>(&bytes) {
        Ok(cache) if cache.version == VERSION => cache.files,
        _ => Vec::new(),
    }
}

fn write_cache(path: &Path, files: &[CachedFile]) -> std::io::Result<()> {
    let cache = Cache { version: VERSION, files: files.to_vec() };
    write(path, &rmp_serde::to_vec(&cache).map_err(std::io::Error::other)?)
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let temporary = path.with_extension("new");
    fs::File::create(&temporary)?.write_all(bytes)?;
    fs::rename(&temporary, path)
}
