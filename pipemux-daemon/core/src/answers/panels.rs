//! The texts of panels: what the daemon itself adds to the workspace document, when the workspace
//! has it switched on.
//!
//! **Invariant: a panel's bytes depend on nothing but what it tells of.** None has a time, an
//! absolute path, a user's name or a value of the environment, so that a prompt that holds it stays
//! the same as long as nothing happened.
//!
//! A panel that has nothing to tell isn't there. In the context of a prompt a panel is whole the
//! first time; after that it tells only what its reader can't know from elsewhere: notices, for
//! one, are told to each reader anyway.

use std::rc::Rc;

use pipemux_tokens::estimate;

use crate::answers::collect::AnswerInput;
use crate::answers::document::{panel_shares, windows_in_order};
use crate::keys::WorkspaceKey;
use crate::limits::PANEL_LINES;
use crate::persist::records::SavedRound;
use crate::processes::Processes;
use crate::runs::open_runs::OpenRuns;
use crate::text::clip;
use crate::views::inert;
use crate::views::masked_paths::without_paths;
use crate::views::requested_window::AnswerKind;
use crate::workspaces::{Panel, Panels, Reader, Window, Workspace};

/// Tokens of the line that tells how many lines of a panel aren't shown.
const MORE_TOKENS: u64 = 16;

/// Characters of a round's action, and of its result.
const ROUND_CHARS: usize = 80;

/// The inputs from which panels are written.
struct PanelInput<'a> {
    workspace: &'a Workspace,
    runs: &'a OpenRuns,
    processes: &'a Processes,
    reader: &'a str,
    budget: Option<u32>,
    /// The reader, if the panels contain only what is new to that reader.
    known: Option<&'a Reader>,
    /// True for the context of a prompt, which should begin with the same text as the previous one:
    /// windows are only named in it.
    names_only: bool,
    /// True when the answer has the open questions with all that can be answered.
    has_questions: bool,
}

/// Writes the panels of an answer that is a workspace document; of the context of a prompt only
/// what its reader doesn't know of them. `questions` are the open questions that the answer shows.
pub(super) fn write_panels(
    answer: &AnswerInput,
    questions: &[u64],
    workspace: &Workspace,
    runs: &OpenRuns,
    processes: &Processes,
) -> Panels {
    let reset = match answer.kind {
        AnswerKind::Workspace(None) => true,
        AnswerKind::Injection { reset } => reset,
        _ => return Panels::default(),
    };
    let reader = &answer.request.reader;
    let input = PanelInput {
        workspace,
        runs,
        processes,
        reader,
        budget: answer.request.budget,
        known: workspace.reader(reader).filter(|_| !reset),
        names_only: matches!(answer.kind, AnswerKind::Injection { .. }),
        has_questions: !questions.is_empty(),
    };
    input.write()
}

/// The lines of a panel.
struct Lines {
    lines: Vec<String>,
    /// A record of what a reader who saw the panel knows.
    key: String,
}

impl PanelInput<'_> {
    /// Writes the panels of a workspace, each within its share of the budget.
    fn write(&self) -> Panels {
        let mut panels = Panels::default();
        for (panel, tokens) in panel_shares(self.workspace, self.budget) {
            let known = self.known.and_then(|reader| reader.panels.get(&panel));
            let Lines { lines, key } = self.lines(panel, known.map(|known| &**known));
            let keeps_newest = matches!(panel, Panel::Notices | Panel::History);
            let kept = kept_lines(panel, &lines, tokens);
            let first = if keeps_newest { lines.len() - kept } else { 0 };
            if panel == Panel::Notices && known.is_none() && kept > 0 {
                panels.notices = kept;
            }
            panels.known.push((panel, key.into()));
            if lines.is_empty() {
                continue;
            }
            if kept == 0 {
                panels.no_room.push(panel);
                continue;
            }
            let hidden = lines.len() - kept;
            let shown: String =
                lines[first..first + kept].iter().map(|line| format!("{line}\n")).collect();
            let heading = heading(panel);
            let call = panel.call();
            let text = match (hidden, keeps_newest) {
                (0, _) => format!("{heading}{shown}"),
                (_, true) => format!("{heading}… {hidden} earlier: {call}\n{shown}"),
                (_, false) => format!("{heading}{shown}… {hidden} more: {call}\n"),
            };
            panels.shown.push((panel, Rc::from(text)));
        }
        panels
    }

    /// Returns what a panel tells a reader who knows so much of it.
    fn lines(&self, panel: Panel, known: Option<&str>) -> Lines {
        let all = match panel {
            Panel::Views => self.views(),
            Panel::Environment => environment(self.workspace),
            Panel::Notices => self.notices(),
            Panel::History => return self.history(known),
            Panel::Questions => return self.questions(known),
        };
        if known == Some(&*all.key) { Lines { lines: Vec::new(), ..all } } else { all }
    }

    /// Each open window, in the order of the document. What one shows is told where it is shown.
    fn views(&self) -> Lines {
        let windows: Vec<&Window> = windows_in_order(self.workspace).collect();
        let names: Vec<String> = windows.iter().map(|window| window.session.to_string()).collect();
        let line = |window: &&Window| match self.names_only {
            true => format!("- {}", window.session),
            false => view_line(window, self.processes),
        };
        let lines = windows.iter().map(line).collect();
        Lines { lines, key: names.join(" ") }
    }

    /// The newest notices. New ones go to each reader, whatever panels there are.
    fn notices(&self) -> Lines {
        let newest = self.workspace.notices.newest(PANEL_LINES);
        let line = |notice: &String| format!("- {}", without_paths(&inert::line(&**notice)));
        Lines { lines: newest.iter().map(line).collect(), key: String::new() }
    }

    /// Returns the newest rounds or, for a reader who knows the rounds up to a number, the later
    /// rounds of other readers.
    fn history(&self, known: Option<&str>) -> Lines {
        let known: Option<u64> = known.and_then(|known| known.parse().ok());
        let rounds = &self.workspace.history.rounds;
        let is_told = |round: &&SavedRound| {
            known.is_none_or(|known| round.number > known && round.reader != self.reader)
        };
        let mut lines: Vec<String> =
            rounds.iter().rev().filter(is_told).take(PANEL_LINES).map(round_line).collect();
        lines.reverse();
        Lines { lines, key: self.workspace.history.count.to_string() }
    }

    /// The reader's open questions, except for those that the reader already knows.
    fn questions(&self, known: Option<&str>) -> Lines {
        let open = self.runs.questions_of(&self.workspace.key, self.reader);
        let open: Vec<_> = open.take(PANEL_LINES).collect();
        let numbers: Vec<String> = open.iter().map(|(number, _)| number.to_string()).collect();
        let is_known = |number: &u64| {
            known.is_some_and(|known| known.split(' ').any(|known| known == number.to_string()))
        };
        let told = open.iter().filter(|(number, _)| !self.has_questions && !is_known(number));
        let lines = told.map(|(number, question)| {
            let title = inert::line(&*question.title());
            format!("- {} · pipemux answer --to {number}", without_paths(&title))
        });
        Lines { lines: lines.collect(), key: numbers.join(" ") }
    }
}

fn heading(panel: Panel) -> String {
    format!("## pipemux/{}\n", panel.name())
}

/// Returns how many lines fit in a number of tokens, including the heading and a line that counts
/// the rest. Panels whose newest lines come last keep their last lines.
fn kept_lines(panel: Panel, lines: &[String], tokens: u64) -> usize {
    let cost = |line: &String| estimate(line) + 1;
    let heading = estimate(&heading(panel));
    if heading + lines.iter().map(cost).sum::<u64>() <= tokens {
        return lines.len();
    }
    let mut left = tokens.saturating_sub(heading + MORE_TOKENS);
    let fits = |line: &&String| {
        let cost = cost(line);
        let fits = cost <= left;
        left = left.saturating_sub(cost);
        fits
    };
    match panel {
        Panel::Notices | Panel::History => lines.iter().rev().take_while(fits).count(),
        _ => lines.iter().take_while(fits).count(),
    }
}

/// Says what the workspace is, and how its refs act where that isn't as usual.
fn environment(workspace: &Workspace) -> Lines {
    let options = &workspace.options;
    let mut line = match project_name(&workspace.key, &workspace.name) {
        Some(name) => format!("workspace {} · ", inert::line(name)),
        None => String::new(),
    };
    line += &format!("context {}", pipemux_context::VERSION);
    if options.strict {
        line += " · epoch strict: a ref is stale in every later epoch";
    }
    if options.rebase {
        line += " · rebase on: safe actions take a changed thing as it is";
    }
    Lines { key: line.clone(), lines: vec![line] }
}

/// Returns the last part of a workspace's name; none for a home directory, whose name is its
/// user's.
fn project_name<'a>(key: &WorkspaceKey, name: &'a str) -> Option<&'a str> {
    let parent = key.trim_end_matches('/').rsplit_once('/').map(|(parent, _)| parent);
    let is_home = matches!(parent, Some("/home" | "/Users"));
    name.rsplit('/').find(|part| !part.is_empty()).filter(|_| !is_home)
}

fn round_line(round: &SavedRound) -> String {
    let by = match round.reader.as_str() {
        "default" => String::new(),
        reader => format!(" · {}", inert::line(reader)),
    };
    // What it did is shown by its windows, and all of it by its call.
    let (action, result) = (inert::line(&*round.action), inert::line(&*round.result));
    let (action, result) = (without_paths(&action), without_paths(&result));
    let (action, result) = (clip(&action, ROUND_CHARS), clip(&result, ROUND_CHARS));
    format!("- {}{by} · {action} · {result}", round.number)
}

/// Writes what a window shows in one line: its heading, or what its session does.
fn view_line(window: &Window, processes: &Processes) -> String {
    let session = &window.session;
    match &window.rendered {
        Some((_, rendered)) => {
            format!("- {}", without_paths(rendered.heading.trim_start_matches("## ")))
        }
        None => {
            let state = processes.get(session).map_or("not started", |session| session.state());
            format!("- {session} · {state}")
        }
    }
}
