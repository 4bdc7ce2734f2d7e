//! Finds the paths that a source file names.

use std::collections::BTreeMap;

/// Returns the paths, from the root of the crate on, that the file of a module names.
pub fn paths(module: &[String], text: &str) -> Vec<Vec<String>> {
    let tokens = without_test_items(&tokens(text));
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let starts = matches!(tokens[at].as_str(), "crate" | "super")
            && tokens.get(at + 1).is_some_and(|next| next == "::")
            && at.checked_sub(1).is_none_or(|before| tokens[before] != "::");
        if starts {
            let mut prefix = Vec::new();
            if tokens[at] == "super" {
                let mut depth = 1;
                while tokens.get(at + 2).is_some_and(|next| next == "super") {
                    depth += 1;
                    at += 2;
                }
                prefix = module[..module.len().saturating_sub(depth)].to_vec();
            }
            at = tree(&tokens, at + 2, &prefix, &mut |path, _| found.push(path));
        } else {
            at += 1;
        }
    }
    found
}

/// Returns the names that the root of a crate re-exports, with the paths where they come from.
pub fn exports(root: &str) -> BTreeMap<String, Vec<String>> {
    let tokens = without_test_items(&tokens(root));
    let mut found = BTreeMap::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == "use" {
            let start =
                at + 1 + if tokens.get(at + 1).is_some_and(|t| t == "crate") { 2 } else { 0 };
            at = tree(&tokens, start, &[], &mut |path, name| drop(found.insert(name, path)));
        } else {
            at += 1;
        }
    }
    found
}

/// Walks a path, or a tree of imports in braces, and reports each path with the name that it introduces.
/// Returns the index behind it.
fn tree(
    tokens: &[String],
    mut at: usize,
    prefix: &[String],
    report: &mut impl FnMut(Vec<String>, String),
) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("{") => {
                at += 1;
                while tokens.get(at).is_some_and(|token| token != "}") {
                    let next = tree(tokens, at, &path, report);
                    // Whatever is no path is passed over, so that every step makes progress.
                    at = next.max(at + 1);
                    if tokens.get(at).is_some_and(|token| token == ",") {
                        at += 1;
                    }
                }
                return at + 1;
            }
            Some("self") => at += 1,
            Some(name) if is_name(name) => {
                path.push(name.to_owned());
                at += 1;
            }
            _ => break,
        }
        if tokens.get(at).is_some_and(|token| token == "::") {
            at += 1;
        } else {
            break;
        }
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if tokens.get(at).is_some_and(|token| token == "as") {
        name = tokens.get(at + 1).cloned().unwrap_or_default();
        at += 2;
    }
    report(path, name);
    at
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_') && token != "as"
}

/// Drops every item under `#[cfg(test)]`, up to its semicolon or its closing brace.
fn without_test_items(tokens: &[String]) -> Vec<String> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].iter().take(MARK.len()).eq(MARK.iter()) {
            at = end_of_item(tokens, at + MARK.len());
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

fn end_of_item(tokens: &[String], mut at: usize) -> usize {
    let (mut depth, is_import) = (0_usize, tokens.get(at).is_some_and(|token| token == "use"));
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token.as_str() {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && !is_import {
                    return at;
                }
            }
            ";" if depth == 0 => return at,
            _ => {}
        }
    }
    at
}

/// Splits a source text into names, `::` and single characters, without comments, strings and characters.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(behind) = skipped(rest) {
            rest = behind;
            continue;
        }
        let length = match c {
            _ if c.is_alphanumeric() || c == '_' => {
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())
            }
            ':' if rest.starts_with("::") => 2,
            _ => c.len_utf8(),
        };
        if !c.is_whitespace() {
            tokens.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    tokens
}

/// Returns the text behind a comment, a string or a character literal that the text starts with.
fn skipped(text: &str) -> Option<&str> {
    if text.starts_with("//") {
        return Some(text.split_once('\n').map_or("", |(_, behind)| behind));
    }
    if text.starts_with("/*") {
        return Some(behind_block_comment(text));
    }
    if let Some(raw) = text.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if let Some(inner) = raw[hashes..].strip_prefix('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            return Some(inner.split_once(&end).map_or("", |(_, behind)| behind));
        }
    }
    if let Some(inner) = text.strip_prefix('"') {
        return Some(behind_quote(inner, '"'));
    }
    let inner = text.strip_prefix('\'')?;
    // A quote begins a lifetime unless a character and another quote follow.
    let is_character = inner.starts_with('\\') || inner.chars().nth(1) == Some('\'');
    is_character.then(|| behind_quote(inner, '\''))
}

fn behind_quote(text: &str, quote: char) -> &str {
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            _ if c == quote => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}

fn behind_block_comment(text: &str) -> &str {
    let (mut depth, mut at) = (0_usize, 0);
    let bytes = text.as_bytes();
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return &text[at..];
        }
    }
    ""
}
