//! Reads answers as an agent does: finds the anchors and the windows that a text shows.

use pipemux_proto::client::{Answer, Body};

#[path = "../world/text.rs"]
#[allow(dead_code)]
mod text;

/// The anchors, windows and epoch of an answer.
#[derive(Debug, Clone, Default)]
pub struct ShownContent {
    /// Anchors of the present state: kind, id and label.
    pub anchors: Vec<(String, u64, String)>,
    /// Anchors in removed lines of a delta.
    pub gone: Vec<(String, u64, String)>,
    pub headings: Vec<Heading>,
    pub epoch: Option<u64>,
}

/// A window's heading: `## notes/main · c1 v3.7 sel c1k3 r2`
#[derive(Debug, Clone, PartialEq)]
pub struct Heading {
    pub addr: String,
    /// The name of the session's store: `c1`.
    pub name: String,
    /// The version that its incarnation reports, and the number of changes ever made.
    pub version: u64,
    pub total: u64,
    /// The label of the selected thing: `c1k3 r2`.
    pub selection: Option<String>,
    pub busy: bool,
}

/// The anchors, windows and epoch of an answer.
pub fn read(answer: &Answer) -> ShownContent {
    let mut shows = ShownContent::default();
    match &answer.body {
        Body::Text(said) => {
            shows.lines(said);
            shows.epoch = text::epoch(said);
        }
        Body::Report(report) => {
            for window in &report.windows {
                shows.lines(&window.content);
                shows.focus(window.state.focus_id.as_deref());
            }
            for step in &report.steps {
                shows.lines(&step.content);
            }
            for option in report.question.iter().flat_map(|question| &question.options) {
                if let Some(id) = option.link.strip_prefix("link:").and_then(|id| id.parse().ok()) {
                    shows.anchors.push(("link".into(), id, option.label.clone()));
                }
            }
            shows.epoch = Some(report.epoch);
        }
        _ => {}
    }
    shows
}

impl ShownContent {
    /// Takes in the focus of a Context, which it names even where the content has no room for it:
    /// the heading says what it is.
    fn focus(&mut self, focus: Option<&str>) {
        let id = focus.and_then(|focus| focus.rsplit(':').next()?.parse::<u64>().ok());
        let label = self.headings.last().and_then(|heading| heading.selection.clone());
        if let (Some(id), Some(label)) = (id, label)
            && !self.anchors.iter().any(|(kind, shown, _)| kind == "obj" && *shown == id)
        {
            self.anchors.push(("obj".into(), id, label));
        }
    }

    fn lines(&mut self, said: &str) {
        for line in said.lines() {
            self.headings.extend(heading(line));
            for anchor in text::anchors(line) {
                let gone = line.starts_with("- ");
                let of = if gone { &mut self.gone } else { &mut self.anchors };
                let label = match job_of(line).filter(|_| anchor.label == "cancel") {
                    Some(job) => format!("cancel job {job}"),
                    None => anchor.label,
                };
                of.push((anchor.kind, anchor.id, label));
            }
        }
    }
}

/// Returns the name of the job that a line is about, if it is: `job 3 · build · [cancel](link:9)`.
/// The name of a job of another session than the main one begins with that session.
fn job_of(line: &str) -> Option<&str> {
    let name = line.split(" · ").find_map(|part| part.strip_prefix("job "))?;
    Some(name.rsplit(':').next().unwrap_or(name))
}

pub fn heading(line: &str) -> Option<Heading> {
    let mut parts = line.strip_prefix("## ")?.split(" · ");
    let addr = parts.next()?.to_owned();
    let mut words = parts.next()?.split(' ');
    let busy = parts.next().is_some_and(|part| part.starts_with("busy"));
    let name = words.next()?.to_owned();
    let (version, total) = words.next()?.strip_prefix('v')?.split_once('.')?;
    let rest: Vec<&str> = words.collect();
    let selection = match rest.as_slice() {
        ["sel", thing, rev] => Some(format!("{thing} {rev}")),
        _ => None,
    };
    let (version, total) = (version.parse().ok()?, total.parse().ok()?);
    Some(Heading { addr, name, version, total, selection, busy })
}

/// Splits the label of a thing into its name and its revision: `c1k3`, `r2`.
pub fn thing(label: &str) -> Option<(&str, &str)> {
    let (thing, rev) = label.split_once(' ')?;
    let number = rev.strip_prefix('r')?;
    number.parse::<u64>().ok()?;
    Some((thing, rev))
}

/// Returns how many questions a text asks.
pub fn questions(said: &str) -> usize {
    said.lines().filter(|line| line.starts_with("needs an answer")).count()
}

/// Returns the number of the question that a text asks: `c1q4`; its title when the daemon asks it.
pub fn question(said: &str) -> Option<&str> {
    let line = said.lines().find(|line| line.starts_with("needs an answer"))?;
    let title = line.strip_prefix("needs an answer · ").unwrap_or(line);
    number(line).or(title.split("; then ").next())
}

fn number(line: &str) -> Option<&str> {
    line.split([' ', ';']).find(|variant_name| {
        let Some((name, number)) = variant_name.split_once('q') else { return false };
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        name.strip_prefix(|c: char| c.is_ascii_lowercase()).is_some_and(digits) && digits(number)
    })
}

/// Removes the numbers of questions, because they count over all workspaces.
pub fn unnumbered(said: &str) -> String {
    let mut said = said.to_owned();
    for before in [
        "question ",
        "--to ",
        "kept as ",
        "job ",
        "job:",
        "dropped ",
        "KeptReport { id: ",
        "QuestionReport { id: ",
    ] {
        let mut parts = said.split(before);
        let first = parts.next().unwrap_or_default().to_owned();
        said = parts.fold(first, |all, part| {
            all + before + part.trim_start_matches(|c: char| c.is_ascii_digit())
        });
    }
    said
}
