//! What a window of a budget shows: the views, then the environment, then the tree's first levels,
//! then the rest.

use std::collections::BTreeMap;
use std::fs;

use docui::Lod;
use docui::tokens::estimate as tokens;
use pipemux_proto::Value;
use proptest::prelude::*;

use crate::common::{Fixture, text, texts};

/// The lines of each part of a printed window, by its heading.
fn parts(window: &str) -> BTreeMap<String, Vec<String>> {
    let (mut parts, mut at) = (BTreeMap::<String, Vec<String>>::new(), None);
    for line in window.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            at = Some(heading.to_owned());
            parts.entry(heading.to_owned()).or_default();
        } else if is_note(line) {
            at = None;
        } else if let Some(at) = &at {
            parts.get_mut(at).unwrap().push(line.to_owned());
        }
    }
    parts
}

fn is_note(line: &str) -> bool {
    ["cut: ", "no room for ", "… and "].iter().any(|note| line.starts_with(note))
}

fn is_mark(line: &str) -> bool {
    line.starts_with("… ") && line.ends_with(" more lines")
}

fn content(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).filter(|line| !is_mark(line)).collect()
}

fn depth(line: &str) -> usize {
    line.chars().take_while(|c| *c == ' ').count() / 2
}

#[derive(Debug, Clone)]
struct Case {
    views: Vec<String>,
    nodes: Vec<(usize, String)>,
    expanded: Vec<usize>,
    files: usize,
    sources: usize,
    quotas: Vec<(&'static str, i64)>,
    budgets: Vec<u32>,
}

fn cases() -> impl Strategy<Value = Case> {
    let quotas = prop::sample::subsequence(vec!["views", "environment", "tree", "codebase"], 0..3);
    let quotas = quotas.prop_flat_map(|parts| {
        let of = |part| (Just(part), 40..600_i64);
        parts.into_iter().map(of).collect::<Vec<_>>()
    });
    (
        prop::collection::vec("[a-z 视图]{0,90}", 0..9),
        prop::collection::vec((1..4_usize, "[a-z 数\n#]{0,60}"), 0..24),
        prop::collection::vec(0..24_usize, 0..12),
        0..6_usize,
        0..3_usize,
        prop_oneof![2 => Just(Vec::new()), 1 => quotas],
        prop::collection::vec(100..1_500_u32, 8),
    )
        .prop_map(|(views, nodes, expanded, files, sources, quotas, budgets)| Case {
            views,
            nodes,
            expanded,
            files,
            sources,
            quotas,
            budgets,
        })
}

fn make(case: &Case) -> Fixture {
    let mut tree = Fixture::new();
    let rows: String = case
        .nodes
        .iter()
        .enumerate()
        .map(|(at, (level, body))| {
            // A heading would be a node of its own, and an indent would look like depth.
            let body: String = body.lines().map(|line| format!("{}\n", line.trim())).collect();
            format!("{} N{at}\n{}\n", "#".repeat(*level), body.replace('#', "·"))
        })
        .collect();
    if !case.nodes.is_empty() {
        tree.call("add_many", [("rows", text(&rows))]);
    }
    for (at, description) in case.views.iter().enumerate() {
        let name = format!("v{at}");
        tree.call("create", [("name", text(&name)), ("description", text(description))]);
    }
    for at in &case.expanded {
        tree.try_call("expand", [("nodes", texts(&[&format!("n{at}")]))]);
    }
    for at in 0..case.sources {
        tree.call("source_add", [("session", text(&format!("monitor/m{at}")))]);
    }
    for (part, quota) in &case.quotas {
        tree.call("quota", [("source", text(part)), ("tokens", Value::from(*quota).into())]);
    }
    for at in 0..case.files {
        let file = tree.root().join(format!("m{at}.rs"));
        let code: String = (0..20).map(|n| format!("pub fn f{at}_{n}() {{}}\n")).collect();
        fs::write(file, code).unwrap();
    }
    tree
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn views_then_environment_then_first_levels_then_the_rest(case in cases()) {
        let mut tree = make(&case);
        let whole = parts(&tree.host.text(Lod::Full, 200_000).unwrap());
        for budget in &case.budgets {
            core_comes_first(&case, &whole, &tree.host.text(Lod::Summary, *budget).unwrap(), *budget)?;
        }
    }

    #[test]
    fn room_that_nobody_needs_flows_to_what_was_cut(case in cases()) {
        let mut tree = make(&Case { quotas: Vec::new(), sources: 0, ..case.clone() });
        let whole = parts(&tree.host.text(Lod::Full, 200_000).unwrap());
        let every = content(&whole["Workspace tree"]);
        let longest = every.iter().map(|line| tokens(line) + 1).max().unwrap_or_default();
        for budget in &case.budgets {
            let window = tree.host.text(Lod::Summary, *budget).unwrap();
            let shown = parts(&window);
            let is_cut = |some: &Vec<String>| content(some).len() < every.len();
            if shown.get("Workspace tree").is_some_and(is_cut) {
                let free = u64::from(*budget).saturating_sub(tokens(&window));
                // The end's lines, and for each part a mark, a step of its grant and the line that
                // didn't fit.
                let kept = u64::from(*budget) / 8 + 4 * (24 + 16 + longest) + 16;
                prop_assert!(free <= kept, "{free} of {kept} are free: {window}");
            }
        }
    }
}

/// Checks a window of a budget against what there is in each part.
fn core_comes_first(
    case: &Case,
    whole: &BTreeMap<String, Vec<String>>,
    window: &str,
    budget: u32,
) -> Result<(), TestCaseError> {
    let shown = parts(window);
    let part = |name: &str| shown.get(name).map(|lines| content(lines)).unwrap_or_default();
    let all = |name: &str| whole.get(name).map(|lines| content(lines)).unwrap_or_default();
    let has_quota = |name: &str| case.quotas.iter().any(|(part, _)| *part == name);
    // What stands before the parts is the window's heading.
    let taken: String = window.split_inclusive('\n').skip(1).collect();
    prop_assert!(tokens(&taken) <= u64::from(budget), "{budget}: {window}");
    let after = ["Environment", "Workspace tree", "Codebase"];
    for (at, (name, id)) in
        [("Views", "views"), ("Environment", "environment")].into_iter().enumerate()
    {
        let (some, every) = (part(name), all(name));
        prop_assert_eq!(&every[..some.len()], &some[..], "{}: {}", budget, window);
        let later = after[at..].iter().any(|name| !part(name).is_empty());
        if later && !has_quota(id) {
            prop_assert_eq!(some.len(), every.len(), "{}: {}", budget, window);
        }
    }
    // Of the tree no line stands before one of a smaller depth that was cut.
    let (some, mut every) = (part("Workspace tree"), all("Workspace tree"));
    for line in &some {
        let at = every.iter().position(|other| other == line);
        prop_assert!(at.is_some(), "{line} in {window}");
        every.remove(at.unwrap());
    }
    let deepest = some.iter().map(|line| depth(line)).max();
    // An empty line of a text has no indent that tells its depth.
    let cut = every.iter().filter(|line| !line.is_empty()).map(|line| depth(line)).min();
    if let (Some(deepest), Some(cut)) = (deepest, cut) {
        prop_assert!(deepest <= cut, "{budget}: {window}");
    }
    // What was cut is told at the place, and at the end with what shows it.
    for name in ["Views", "Environment", "Workspace tree"] {
        if part(name).len() == all(name).len() {
            continue;
        }
        let marked = shown.get(name).is_none_or(|lines| lines.iter().any(|line| is_mark(line)));
        prop_assert!(marked, "{name}: {budget}: {window}");
        let told = |note: &str| note.contains(name) && note.contains(": pipemux ");
        let counted = |note: &str| note.starts_with("… and ");
        let mut notes = window.lines().filter(|line| is_note(line));
        prop_assert!(notes.any(|note| told(note) || counted(note)), "{budget}: {window}");
    }
    Ok(())
}

#[test]
fn quota_of_a_part_is_set_told_kept_to_and_taken_back() {
    let mut tree = Fixture::with_nodes();
    for name in ["beta", "gamma", "delta"] {
        let about = text("what to look at before a release of all parts");
        tree.call("create", [("name", text(name)), ("description", about)]);
    }
    let before = tree.view();
    let quota = |tokens: i64| [("source", text("views")), ("tokens", Value::from(tokens).into())];
    let done = tree.call("quota", quota(60));
    assert_eq!(done.brief, "views: 60 tokens");
    assert_eq!(tree.file("memotree.toml"), "quotas.views = 60\n");
    let cut = tree.view();
    let views = &parts(&cut)["Views"];
    assert!(is_mark(views.last().unwrap()), "{cut}");
    assert!(tokens(&views.join("\n")) <= 60, "{cut}");
    assert!(cut.contains("lines of Views: pipemux ask 'memotree.list()'\n"), "{cut}");
    // The level that leaves nothing out knows no quota.
    assert!(tree.host.text(Lod::Full, 9_000).unwrap().contains("memotree.delete("));
    let list = tree.ask("source_list", []);
    assert!(list.contains("- views: always · quota 60 tokens\n"), "{list}");
    let fault = tree.fault("quota", [("source", text("veiws")), ("tokens", Value::from(9).into())]);
    assert_eq!(fault.message, "there is no source `veiws`; near: views");
    let fault = tree.fault("quota", quota(3));
    assert_eq!(fault.message, "tokens: expected 32 to 1000000, or 0 for none, got 3");
    tree.call("source_add", [("session", text("monitor/main"))]);
    tree.call("quota", [("source", text("monitor/main")), ("tokens", Value::from(90).into())]);
    assert!(tree.file("memotree.toml").contains("quotas.\"monitor/main\" = 90\n"));
    assert!(tree.ask("source_list", []).contains("· summary · quota 90 tokens\n"));
    tree.call("source_remove", [("session", text("monitor/main"))]);
    tree.call("quota", quota(0));
    assert_eq!(tree.file("memotree.toml").trim(), "");
    assert_eq!(tree.view(), before);
}
