//! Prototypes as windows and `help` show them.

use pipemux_proto::ProviderId;
use pipemux_proto::prototype::{Prominence, Prototype, comment_line};

use crate::views::inert;

/// Returns the prototypes that are possible now: those that are named, or all of them.
pub fn possible<'a>(
    prototypes: &'a [Prototype],
    names: Option<&'a [String]>,
) -> impl Iterator<Item = &'a Prototype> {
    prototypes.iter().filter(move |known| names.is_none_or(|names| names.contains(&known.name)))
}

/// Writes the compact block of a window: featured actions with their documentation, listed ones on
/// one line, the number of the rest. Returns an empty text when there are none.
pub fn compact(provider: &ProviderId, prototypes: &[&Prototype]) -> String {
    let mut out = String::new();
    let of_prominence = |prominence: Prominence| {
        prototypes.iter().filter(move |prototype| prototype.prominence == prominence)
    };
    for prototype in of_prominence(Prominence::Featured) {
        if !prototype.doc.is_empty() {
            out += &format!("/** {} */\n", comment_line(&prototype.doc));
        }
        out += &prototype.compact();
        out.push('\n');
    }
    let mut line: Vec<String> = of_prominence(Prominence::Listed).map(|p| p.compact()).collect();
    match of_prominence(Prominence::Help).count() {
        0 => {}
        more => line.push(format!("{more} more: pipemux help {provider}")),
    }
    if !line.is_empty() {
        out += &line.join(" · ");
        out.push('\n');
    }
    fenced(&out)
}

/// Writes a line for each action: its signature and its documentation.
pub fn short_lines(prototypes: &[&Prototype]) -> String {
    let line = |prototype: &&Prototype| {
        let doc = comment_line(&prototype.doc);
        inert::whole_line(&format!("{}   {doc}", prototype.short())) + "\n"
    };
    prototypes.iter().map(line).collect()
}

/// Writes what a caller of one action needs: its signature in short, what it does, and what its
/// parameters mean. That it can be previewed goes without saying.
pub fn described(prototypes: &[&Prototype]) -> String {
    let is_preview = |one: &&&Prototype| one.called.is_some() && one.name.starts_with("preview_");
    let described = prototypes.iter().filter(|one| !is_preview(one)).map(|prototype| {
        let params = prototype.params.iter().filter(|param| !param.doc.is_empty());
        let params = params.map(|param| format!("{}: {}", param.name, comment_line(&param.doc)));
        let doc = comment_line(&prototype.doc);
        let told: Vec<String> = std::iter::once(doc).chain(params).collect();
        let told: Vec<&str> = told.iter().map(|one| one.trim_end_matches('.')).collect();
        let told: Vec<&str> = told.into_iter().filter(|one| !one.is_empty()).collect();
        let signature = format!("{}{}", prototype.query_mark(), prototype.compact());
        inert::whole_line(&format!("{signature}   {}", told.join(" · "))).trim_end().to_owned()
            + "\n"
    });
    described.collect()
}

/// Writes complete declarations, for `help` and the level of detail `Full`.
pub fn declarations(prototypes: &[&Prototype]) -> String {
    let declaration = |prototype: &&Prototype| format!("{}\n", prototype.declaration());
    fenced(&prototypes.iter().map(declaration).collect::<String>())
}

fn fenced(body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    let body = inert::printable(body);
    let fence = "`".repeat(inert::longest_run(&body, '`').max(2) + 1);
    format!("{fence}ts\n{body}{fence}\n")
}
