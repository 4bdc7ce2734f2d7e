//! Every bound is either listed by `status --limits` or declared internal with a reason.

use pipemux_core::bounds::{BOUNDS, INTERNAL};

const SOURCES: [&str; 2] =
    [include_str!("../src/limits.rs"), include_str!("../../../pipemux-proto/src/limits.rs")];

fn declared() -> Vec<&'static str> {
    let lines = SOURCES.iter().flat_map(|source| source.lines());
    let rest = lines.filter_map(|line| line.strip_prefix("pub const "));
    rest.filter_map(|rest| rest.split(':').next()).collect()
}

#[test]
fn every_bound_is_listed_or_internal_with_a_reason() {
    let listed: Vec<&str> = BOUNDS.iter().map(|bound| bound.name).collect();
    let declared = declared();
    assert!(declared.len() > 70, "only {} bounds were found", declared.len());
    for name in &declared {
        let internal = INTERNAL.iter().any(|(known, why)| known == name && !why.is_empty());
        assert!(
            listed.contains(name) != internal,
            "{name}: list it in core's bounds.rs, under BOUNDS or, with the reason, under INTERNAL"
        );
    }
    for name in listed.iter().chain(INTERNAL.iter().map(|(name, _)| name)) {
        assert!(declared.contains(name), "{name} is no bound any more");
    }
}

#[test]
fn bounds_of_a_group_have_distinct_descriptions() {
    for (at, bound) in BOUNDS.iter().enumerate() {
        for other in &BOUNDS[at + 1..] {
            let alike = bound.group == other.group && bound.what == other.what;
            assert!(!alike || bound.unit != other.unit, "{} and {}", bound.name, other.name);
        }
    }
}
