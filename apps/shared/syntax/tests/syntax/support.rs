//! What the tests share.

use std::collections::BTreeMap;

pub use pipemux_syntax::*;

/// Extracts what stands between `«` and `»` as `name`, and returns the text after it or why it is
/// refused.
pub fn extract(language: Language, marked: &str, name: &str, types: &[(&str, &str)]) -> String {
    let (source, range) = unmark(language, marked);
    let types: BTreeMap<_, _> =
        types.iter().map(|(name, ty)| ((*name).to_owned(), (*ty).to_owned())).collect();
    match plan_extraction(&source, &Request { range, name, types }) {
        Ok(extraction) => extraction.apply(source.text()),
        Err(refusal) => refused(&source, &refusal),
    }
}

/// Returns a source and the range that is marked in it.
pub fn unmark(language: Language, marked: &str) -> (Source, std::ops::Range<usize>) {
    let start = marked.find('«').unwrap();
    let end = marked.find('»').unwrap() - '«'.len_utf8();
    let text = marked.replace(['«', '»'], "");
    (Source::parse(language, text).unwrap(), start..end)
}

/// Returns a refusal as one line.
pub fn refused(source: &Source, refusal: &Refusal) -> String {
    match refusal {
        Refusal::Unsafe(reason) => format!("refused: {reason}\n"),
        Refusal::NotWholeStatements { nearest: None } => {
            "refused: no whole statements\n".to_owned()
        }
        Refusal::NotWholeStatements { nearest: Some(nearest) } => {
            let lines = (source.line_of(nearest.start) + 1, source.line_of(nearest.end) + 1);
            format!("refused: no whole statements; nearest: lines {}-{}\n", lines.0, lines.1)
        }
        Refusal::NeedsTypes(untyped) => {
            let names: Vec<_> =
                untyped.iter().map(|one| format!("{} (line {})", one.name, one.line + 1)).collect();
            format!("needs the types of {}\n", names.join(", "))
        }
    }
}

/// Returns the cases of a text: each begins with `=== title`. `∎` stands for the end of a text
/// without a newline.
pub fn cases(text: &str) -> Vec<(String, String)> {
    let all = text.split("=== ").filter(|case| !case.is_empty());
    let pairs = all.map(|case| case.split_once('\n').unwrap());
    pairs.map(|(title, code)| (title.to_owned(), code.replace("∎\n", ""))).collect()
}

/// Extracts each case, and returns all of them before and after.
pub fn table(language: Language, text: &str) -> String {
    let mut all = String::new();
    for (title, marked) in cases(text) {
        let after = extract(language, &marked, "extracted", &[]);
        all += &format!("=== {title}\n{marked}--- becomes\n{after}\n");
    }
    all
}
