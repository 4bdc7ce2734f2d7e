//! Windows and answers of an app become Markdown in which only anchors of the daemon work.
//!
//! A core in memory has one app, whose messages are made from the input. The daemon's ids begin at
//! [`FIRST_ID`], so an anchor that a text forges has a smaller id.

mod app_script;
mod core_harness;

use std::collections::BTreeSet;

use arbitrary::Unstructured;
use pipemux_core::limits::{BUDGET_MAX, BUDGET_MIN};
use pipemux_proto::client::{Body, Format, HistoryArgs, OpenArgs, Verb, ViewArgs};
use pipemux_proto::projection::{Lod, Projection};
use pipemux_tests::Markdown;

use app_script::AppScript;
use core_harness::{CoreHarness, FIRST_ID};

/// The input determines the projections and outcomes of the app.
pub fn check(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let Ok(script) = AppScript::from_bytes(&mut bytes) else { return };
    let budget = bytes.int_in_range(BUDGET_MIN..=400).unwrap_or(BUDGET_MIN);
    let mut harness = CoreHarness::new(script);
    let opened = harness.ask(
        Verb::Open(OpenArgs {
            provider: "fz".parse().expect("a provider"),
            session: None,
            args: Vec::new(),
            cwd: "/".into(),
            env: Default::default(),
            pin: None,
            priority: None,
            weight: None,
        }),
        Format::Markdown,
        None,
    );
    harness.assert_inert(&opened, Some(1));

    let view = || Verb::View(ViewArgs { session: "fz/main".parse().ok(), ..ViewArgs::default() });
    let seen = harness.ask(view(), Format::Markdown, Some(budget));
    harness.assert_inert(&seen, Some(1));
    if harness.shows_whole_window(&seen) {
        within(&seen, harness.projection(), budget.min(BUDGET_MAX));
    }
    let data = harness.ask_report(view());
    for context in data.map(|report| report.windows).into_iter().flatten() {
        let ids: BTreeSet<&str> = context.anchors.keys().map(String::as_str).collect();
        let read = Markdown::read(&context.content);
        for (id, label) in &read.anchors {
            assert!(ids.contains(id.as_str()), "[{label}]({id}) of {:?}", context.content);
        }
        assert_eq!(read.open_fence, None, "{:?}", context.content);
        assert_eq!(context.state.current_lod, Lod::Summary.into());
    }

    for code in ["fz.act()", "fz.act(); fz.look('x', 3)", "fz.act(obj:nothing)"] {
        let ran = harness.ask(
            Verb::Run { code: code.into(), stdin: None, only_queries: false },
            Format::Markdown,
            None,
        );
        harness.assert_inert(&ran, None);
    }
    let first = Verb::Click { link: format!("link:{FIRST_ID}") };
    let clicked = harness.ask(first, Format::Markdown, None);
    harness.assert_inert(&clicked, None);
    let answered = harness.ask(
        Verb::Answer { text: "1".into(), to: None, stdin: None },
        Format::Markdown,
        None,
    );
    harness.assert_inert(&answered, None);
    let since = Verb::View(ViewArgs { since: Some(1), ..ViewArgs::default() });
    let since = harness.ask(since, Format::Markdown, Some(budget));
    harness.assert_inert(&since, None);
    for verb in [
        Verb::History(HistoryArgs { detail: true, ..HistoryArgs::default() }),
        Verb::Sessions,
        Verb::Status,
    ] {
        let told = harness.ask(verb, Format::Markdown, None);
        harness.assert_inert(&told, None);
    }
}

/// Asserts that the content of a window fits its budget, without required lines and notes about
/// cuts.
fn within(seen: &str, shown: &Projection, budget: u32) {
    let mut lines = seen.lines().skip_while(|line| !line.starts_with("## fz/main"));
    lines.next();
    if !shown.nav.is_empty() {
        lines.next();
    }
    let mut rest: Vec<&str> = lines.collect();
    rest.pop();
    let said = |line: &&&str| {
        !["cut to fit", "less detail", "actions: pipemux", "… "].iter().any(|s| line.starts_with(s))
    };
    let counted: String = rest.iter().filter(said).flat_map(|line| [*line, "\n"]).collect();
    // Prototypes have a budget of their own, and estimates of parts may differ by one token for
    // each part.
    let allowed = u64::from(budget) + PROTOTYPES + rest.len() as u64;
    let found = pipemux_tokens::estimate(&counted);
    assert!(found <= allowed, "{found} of {budget} tokens:\n{seen}");
}

/// Tokens that the prototypes of the app take at most.
const PROTOTYPES: u64 = 60;

/// Returns the text of an answer.
fn text(body: Body) -> String {
    match body {
        Body::Text(text) => text,
        Body::Data(value) => value.to_string(),
        Body::Raw(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        other => format!("{other:?}"),
    }
}
