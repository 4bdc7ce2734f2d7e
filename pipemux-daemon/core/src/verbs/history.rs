//! `history`: the rounds of runs in the workspace or in all of them, newest last; of a file, newest
//! first.

use std::cmp::Reverse;

use pipemux_proto::client::HistoryArgs;
use pipemux_proto::command::{self, with_options};
use pipemux_proto::{Fault, Value};

use crate::clients::client_request::ClientRequest;
use crate::event::Now;
use crate::limits::{HISTORY_SHOWN, LINE_RESULT_MAX};
use crate::persist::records::SavedRound;
use crate::runs::history_round::history_round;
use crate::runs::open_runs::OpenRuns;
use crate::runs::questions::question::OpenQuestion;
use crate::text::clip;
use crate::verbs::next::Next;
use crate::verbs::require;
use crate::verbs::undo::undo_question;
use crate::views::answer::plain;
use crate::views::inert::{line, whole_line};
use crate::views::round_line::{RoundHead, round_line};
use crate::views::{LocalTime, timestamp};
use crate::workspaces::{Workspace, Workspaces};

/// Lists the last rounds of the workspace, of all workspaces, or those that changed a file.
pub(crate) fn history(
    workspaces: &Workspaces,
    runs: &OpenRuns,
    request: &ClientRequest,
    args: &HistoryArgs,
    unix_ms: u64,
) -> Result<Next, Fault> {
    let here = require::workspace(workspaces, request)?;
    let everywhere = is_everywhere(args);
    let rounds = selected(workspaces, here, args);
    let unasked = args.since_ms.map_or(HISTORY_SHOWN, |_| u32::MAX);
    let earlier = rounds.len().saturating_sub(args.rounds.unwrap_or(unasked) as usize);
    let shown = match args.file {
        Some(_) => rounds.get(..rounds.len().saturating_sub(earlier)),
        None => rounds.get(earlier..),
    };
    // Of an answer that is cut to a budget, a line may be left that stands alone.
    let repeats_day = request.call.budget.is_some() || args.file.is_some();
    let mut day = LocalTime::of(unix_ms, &args.clock).day;
    let today = day.clone();
    let (mut text, mut data) = (String::new(), Vec::new());
    for (workspace, round) in shown.unwrap_or_default() {
        let mut at = LocalTime::of(round.unix_ms, &args.clock);
        if repeats_day && at.day != today {
            at.time = format!("{} {}", at.day, at.time);
        } else if !repeats_day && at.day != day {
            text += &format!("{}\n", at.day);
            day = at.day;
        }
        let is_here = std::ptr::eq(*workspace, here);
        let head = RoundHead {
            workspace: (args.all || !is_here).then_some(&*workspace.name),
            time: &at.time,
            tells_client: everywhere || args.detail,
        };
        // Of a file it is told who changed it; what else its rounds did, their own history tells.
        text += &round_line(round, &head, args.detail);
        if args.detail {
            text += &detail_lines(round);
        }
        let asked = undo_question(runs, &request.workspace, round.number);
        text += &undo_lines(round, asked.filter(|_| is_here).map(|(_, question)| question));
        data.push(row(round, args.detail, everywhere.then_some(workspace)));
    }
    let earlier = earlier_line(args, earlier, rounds.len());
    let earlier = with_options(&earlier, &request.call.hint_options);
    match args.file {
        Some(_) => text.push_str(&earlier),
        None => text.insert_str(0, &earlier),
    }
    if args.file.is_none() {
        let waiting = runs.questions(&request.workspace);
        text.extend(waiting.filter_map(|(number, open)| waiting_line(number, open, here)));
    }
    if rounds.is_empty() {
        text += match args {
            HistoryArgs { file: Some(_), .. } => "no round that is kept changed it\n",
            HistoryArgs { since_ms: Some(_), .. } => "0 rounds since then\n",
            _ => "0 rounds\n",
        };
    }
    Ok(Next::Data(text, Value::List(data)))
}

/// Returns true if rounds of all workspaces are requested: a file may change from several.
fn is_everywhere(args: &HistoryArgs) -> bool {
    args.all || args.file.is_some()
}

/// The rounds that are asked for, with their workspaces: of a file newest first, else newest last.
fn selected<'a>(
    workspaces: &'a Workspaces,
    here: &'a Workspace,
    args: &HistoryArgs,
) -> Vec<(&'a Workspace, &'a SavedRound)> {
    let everywhere = is_everywhere(args);
    let is_wanted = |workspace: &&Workspace| everywhere || std::ptr::eq(*workspace, here);
    let is_meant = |round: &SavedRound| {
        args.since_ms.is_none_or(|since| round.unix_ms >= since)
            && args.file.as_ref().is_none_or(|file| round.changed(file))
    };
    let mut rounds: Vec<(&Workspace, &SavedRound)> = workspaces
        .values()
        .filter(is_wanted)
        .flat_map(|workspace| workspace.history.rounds.iter().map(move |one| (workspace, one)))
        .filter(|(_, round)| is_meant(round))
        .collect();
    match args.file {
        Some(_) => rounds.sort_by_key(|(_, round)| Reverse((round.unix_ms, round.number))),
        None if everywhere => rounds.sort_by_key(|(_, round)| round.unix_ms),
        None => {}
    }
    rounds
}

/// The line that says how to see the omitted rounds; empty if all are shown.
fn earlier_line(args: &HistoryArgs, earlier: usize, all: usize) -> String {
    if earlier == 0 {
        return String::new();
    }
    let mut words = vec!["history"];
    words.extend(args.all.then_some("--all"));
    words.extend(args.file.as_deref());
    format!("… {earlier} earlier: pipemux {} --rounds {all}\n", command::join(&words))
}

/// The lines about the unfinished undo of a round.
fn undo_lines(round: &SavedRound, asked: Option<&OpenQuestion>) -> String {
    let mut text = String::new();
    if let Some(question) = asked {
        let answer = format!("pipemux answer {}", question.ways().join(" · "));
        text += &format!("   its undo waits for an answer: {}\n", line(&answer));
    }
    if round.undo.iter().any(|undo| undo.unsure) {
        text += &format!("   its undo has no known end: pipemux undo {}\n", round.number);
    }
    text
}

/// Tells what a run has done that waits for an answer: `waits · replace done: a.rs · question 3:
/// pipemux answer 1 · none`. Nothing if it has changed nothing.
fn waiting_line(number: u64, open: &OpenQuestion, workspace: &Workspace) -> Option<String> {
    let round = history_round(&open.suspended.clone().into_run(), workspace, 0);
    if round.undo.is_empty() && round.lasting.is_empty() {
        return None;
    }
    let by = match open.reader() {
        "default" => String::new(),
        reader => format!(" · {}", line(reader)),
    };
    let (result, ways) = (whole_line(&round.result), open.ways().join(" · "));
    let result = clip(&result, LINE_RESULT_MAX);
    Some(format!("waits{by} · {result} · question {number}: pipemux answer {}\n", line(&ways)))
}

/// Writes what `--detail` tells of a round besides. A result of several lines is joined, so that
/// none of its lines can pass for a round.
fn detail_lines(round: &SavedRound) -> String {
    let mut text = format!("   {}\n", whole_line(&round.result));
    for more in [&round.detail, &round.diff].into_iter().flatten() {
        for line in plain(more).lines() {
            text += &format!("   {line}\n");
        }
    }
    text
}

fn row(round: &SavedRound, detail: bool, workspace: Option<&Workspace>) -> Value {
    let at = timestamp(Now { mono_ms: 0, unix_ms: round.unix_ms });
    let mut row = vec![
        ("round".to_owned(), round.number.into()),
        ("action".to_owned(), round.action.as_str().into()),
        ("result".to_owned(), round.result.as_str().into()),
        ("timestamp".to_owned(), at.into()),
        ("reader".to_owned(), round.reader.as_str().into()),
        ("client".to_owned(), Some(&round.client).filter(|name| !name.is_empty()).cloned().into()),
        ("exit".to_owned(), Value::Int(round.exit.into())),
    ];
    if let Some(workspace) = workspace {
        row.push(("workspace".to_owned(), workspace.name.as_str().into()));
    }
    if detail {
        row.push(("detail".to_owned(), round.detail.clone().into()));
        row.push(("diff".to_owned(), round.diff.clone().into()));
        let files = round.files.iter().map(|file| file.as_str().into()).collect();
        row.push(("files".to_owned(), Value::List(files)));
        row.push(("more_files".to_owned(), round.more_files.into()));
    }
    Value::Map(row)
}
