//! Shows the changes of a run in files, for a reader whose windows don't show them.

use pipemux_proto::command::with_options;
use pipemux_proto::report::StepStatus;
use pipemux_tokens::estimate;

use crate::foreign::data;
use crate::keys::SessionKey;
use crate::runs::Run;
use crate::views::inert::{self, Writer};
use crate::views::truncate::cut_lines_with;

/// Writes the differences that the steps of a run made in files, in about so many tokens; empty if
/// there are none. Steps are left out that an earlier answer told of, whose outcome shows the text
/// that they changed, or whose window the reader has, as `is_shown` says. Commands repeat
/// `hint_options`.
pub fn file_diff(
    run: &Run,
    tokens: u32,
    hint_options: &str,
    is_shown: impl Fn(&SessionKey) -> bool,
) -> String {
    let ended = run.progress.done.iter().zip(&run.progress.steps);
    let untold = ended.filter(|(outcome, step)| {
        let shows_text = outcome.complete && !outcome.content.is_empty();
        outcome.status == StepStatus::Done
            && !(outcome.told || shows_text || is_shown(&step.session))
    });
    let all: String =
        untold.filter_map(|(outcome, _)| data::exact_option(outcome.diff.as_ref())).collect();
    if all.trim().is_empty() || tokens == 0 {
        return String::new();
    }
    let mut cut = 0;
    let shown = match estimate(&all) > tokens.into() {
        true => cut_lines_with(&all, tokens.into(), |lines| {
            cut = lines;
            String::new()
        }),
        false => all,
    };
    let mut writer = Writer::default();
    let fence = writer.fence("diff", &shown);
    for line in shown.lines() {
        writer.raw(&inert::printable(line));
        writer.raw("\n");
    }
    writer.raw(&fence);
    writer.raw("\n");
    let more = match cut {
        0 => String::new(),
        cut => format!("… {cut} more lines: pipemux history --diff --rounds 1\n"),
    };
    format!("{}{}", writer.finish(), with_options(&more, hint_options))
}
