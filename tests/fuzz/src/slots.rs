//! Slots to Markdown: whatever an app shows and answers, only what the daemon minted acts.
//!
//! A core in memory has one app, which sends what the bytes say. Ids begin at [`FIRST_ID`], so an
//! anchor that a text forges has another one.

mod app;
mod stage;

use std::collections::BTreeSet;

use arbitrary::Unstructured;
use pipemux_core::limits::{BUDGET_MAX, BUDGET_MIN};
use pipemux_proto::client::{Body, Format, Open, Verb, View};
use pipemux_proto::projection::{Lod, Projection};
use pipemux_proto::tokens;
use pipemux_tests::Markdown;

use app::Script;
use stage::{FIRST_ID, Stage};

/// Bytes from which an app's projections and outcomes are made.
pub fn check(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let Ok(script) = Script::from_bytes(&mut bytes) else { return };
    let budget = bytes.int_in_range(BUDGET_MIN..=400).unwrap_or(BUDGET_MIN);
    let mut stage = Stage::new(script);
    let opened = stage.ask(
        Verb::Open(Open {
            provider: "fz".parse().expect("a provider"),
            session: None,
            args: Vec::new(),
            cwd: "/".into(),
            env: Default::default(),
            pin: None,
        }),
        Format::Markdown,
        None,
    );
    stage.inert(&opened, Some(1));

    let view = || Verb::View(View { session: "fz/main".parse().ok(), ..View::default() });
    let seen = stage.ask(view(), Format::Markdown, Some(budget));
    stage.inert(&seen, Some(1));
    if stage.shows_whole_window(&seen) {
        within(&seen, stage.projection(), budget.min(BUDGET_MAX));
    }
    let data = stage.ask_report(view());
    for context in data.map(|report| report.windows).into_iter().flatten() {
        let ids: BTreeSet<&str> = context.anchors.keys().map(String::as_str).collect();
        let read = Markdown::read(&context.content);
        for (id, label) in &read.anchors {
            assert!(ids.contains(id.as_str()), "[{label}]({id}) of {:?}", context.content);
        }
        assert_eq!(read.open, None, "{:?}", context.content);
        assert_eq!(context.state.current_lod, Lod::Summary.into());
    }

    for code in ["fz.act()", "fz.act(); fz.look('x', 3)", "fz.act(obj:nothing)"] {
        let ran = stage.ask(Verb::Run { code: code.into(), stdin: None }, Format::Markdown, None);
        stage.inert(&ran, None);
    }
    let first = Verb::Click { link: format!("link:{FIRST_ID}") };
    let clicked = stage.ask(first, Format::Markdown, None);
    stage.inert(&clicked, None);
    let answered = stage.ask(Verb::Answer { text: "1".into(), to: None }, Format::Markdown, None);
    stage.inert(&answered, None);
    let since = Verb::View(View { since: Some(1), ..View::default() });
    let since = stage.ask(since, Format::Markdown, Some(budget));
    stage.inert(&since, None);
    for verb in [Verb::History { detail: true, rounds: None }, Verb::Sessions, Verb::Status] {
        let told = stage.ask(verb, Format::Markdown, None);
        stage.inert(&told, None);
    }
}

/// A window's content, without what is required or says what was cut, takes no more than its budget.
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
    // The prototypes' fence has its room apart; parts may differ from the whole by a token a seam.
    let allowed = u64::from(budget) + PROTOTYPES + rest.len() as u64;
    let found = tokens::estimate(&counted);
    assert!(found <= allowed, "{found} of {budget} tokens:\n{seen}");
}

/// Most tokens that the app's prototypes take in a window.
const PROTOTYPES: u64 = 60;

/// The text of an answer.
fn text(body: Body) -> String {
    match body {
        Body::Text(text) => text,
        Body::Data(value) => value.to_string(),
        Body::Raw(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        other => format!("{other:?}"),
    }
}
