//! Prototypes as a window and `help` show them.

use pipemux_proto::ProviderId;
use pipemux_proto::prototype::{Prominence, Prototype};

/// The compact block of a window: featured actions with their documentation, the others on one line,
/// the rest counted. Empty when there are none.
pub fn compact(provider: &ProviderId, prototypes: &[&Prototype]) -> String {
    let mut out = String::new();
    let of = |wanted: Prominence| {
        prototypes.iter().filter(move |prototype| prototype.prominence == wanted)
    };
    for prototype in of(Prominence::Featured) {
        if !prototype.doc.is_empty() {
            out += &format!("/** {} */\n", one_line(&prototype.doc));
        }
        out += &prototype.compact();
        out.push('\n');
    }
    let mut line: Vec<String> = of(Prominence::Listed).map(|p| p.compact()).collect();
    match of(Prominence::Help).count() {
        0 => {}
        more => line.push(format!("{more} more: pipemux help {provider}")),
    }
    if !line.is_empty() {
        out += &line.join(" · ");
        out.push('\n');
    }
    fenced(&out)
}

/// The whole declarations, for `help` and level of detail `Full`.
pub fn declarations(prototypes: &[&Prototype]) -> String {
    let whole: Vec<String> = prototypes.iter().map(|prototype| prototype.declaration()).collect();
    fenced(&whole.iter().map(|text| format!("{text}\n")).collect::<String>())
}

fn fenced(body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(crate::views::inert::longest_run(body, '`').max(2) + 1);
    format!("{fence}ts\n{body}{fence}\n")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "* /")
}
