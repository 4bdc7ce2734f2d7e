//! The record as a window shows it: the newest words of each speaker whole, what came before as
//! gists, and earlier stages in a line each.

use std::collections::BTreeSet;
use std::sync::Arc;

use docui::{Object, tokens};
use pipemux_planner_course::Course;
use pipemux_planner_course::lang::Lang;
use pipemux_planner_course::record::Statement;
use pipemux_planner_course::text::{count, plain, quoted, shown_name};

use crate::frame::{say, say_first};
use crate::limits::{RECORD_LINES, WORDS_MAX};
use crate::model::Planner;
use crate::page::Page;

/// About what the anchor of a line takes, in tokens.
const ANCHOR: u64 = 8;

/// A line of the displayed record.
struct Line {
    /// The text before the line: the heading of the stage that begins here.
    stage: String,
    /// The number of the statement; `None` for a folded stage.
    said: Option<usize>,
    /// The text after the speaker's name.
    text: String,
}

impl Line {
    fn tokens(&self) -> u64 {
        let anchor = if self.said.is_some() { ANCHOR } else { 0 };
        tokens::estimate(&self.stage) + tokens::estimate(&self.text) + anchor
    }
}

/// Writes what was said. Earlier stages are a line each if `folds`, or if the reader said itself
/// all that was said there.
pub fn record(page: &mut Page<'_>, folds: bool) {
    let planner = page.planner;
    let course = &planner.course;
    if course.record.statements.is_empty() {
        return;
    }
    let callee = planner.session.callee.clone();
    let lang = course.lang();
    page.text(format!("\n### {}\n", lang.pick("Said", "讨论记录")));
    let lines = lines(page, folds);
    let mut first = lines.len();
    let mut left = page.left.saturating_sub(60);
    while first > 0 && (page.is_full() || lines.len() - first < RECORD_LINES) {
        let tokens = lines[first - 1].tokens();
        if !page.is_full() && tokens > left {
            break;
        }
        left = left.saturating_sub(tokens);
        first -= 1;
    }
    let hidden: u64 = lines[..first].iter().map(Line::tokens).sum();
    if first > 0 {
        page.hide(hidden);
        let earlier = lang.pick(count(first, "earlier line"), format!("更早的 {first} 行"));
        page.text(format!("{earlier}: `pipemux ask '{callee}.record()'`\n"));
        // The stage in which the first line stands.
        if lines[first..].first().is_some_and(|line| line.stage.is_empty()) {
            let stage = lines[..first].iter().rev().find(|line| !line.stage.is_empty());
            page.text(stage.map_or_else(String::new, |line| line.stage.clone()));
        }
    }
    for line in &lines[first..] {
        page.text(line.stage.clone());
        if let Some((number, one)) =
            line.said.and_then(|at| Some((at, course.record.statements.get(at)?)))
        {
            let key = key(planner, number);
            page.text("- ");
            page.took(ANCHOR);
            let object = Object::new(key, one.who.clone()).ty("said").detail(one.ts.clone());
            page.view.object(object);
        }
        page.text(line.text.clone());
    }
    let newest = course.record.statements.len();
    let since = newest.saturating_sub(9).max(1);
    let call = format!("`pipemux ask '{callee}.record(since={since})'`");
    page.text(lang.pick(
        format!("word for word: {call} ({newest} entries)\n"),
        format!("逐字记录：{call}（{newest} 条）\n"),
    ));
}

/// Returns all lines.
fn lines(page: &Page<'_>, folds: bool) -> Vec<Line> {
    let course = &page.planner.course;
    let (now, lang) = (course.stage.shown(), course.lang());
    let mut lines = Vec::new();
    let mut folded = BTreeSet::new();
    let mut runs = Vec::new();
    let mut at = 0;
    // A stage that runs again is told apart from when it ran before.
    for run in course.record.statements.chunk_by(|one, next| one.place == next.place) {
        let range = at..at + run.len();
        at = range.end;
        // What was decided, and what was handed over, is of the present.
        let is_past = !matches!(run[0].place.as_str(), "decision" | "hand-over");
        let is_known = (folds && is_past) || is_own(run, &page.request.reader) || is_confirmed(run);
        let is_folded = is_known
            && !page.is_full()
            && !(range.end == course.record.statements.len() && run[0].place == now);
        if is_folded {
            folded.extend(range.clone());
        }
        runs.push((range, is_folded));
    }
    let whole = newest_words(page, &folded);
    let mut origin = "";
    for (range, is_folded) in runs {
        let run = &course.record.statements[range.clone()];
        let place = &run[0].place;
        let shown = say(lang, place);
        let mut stage = match is_folded {
            true => format!("{shown}: {}\n", tally(run, lang)),
            false => format!("{shown}:\n"),
        };
        for (number, one) in range.clone().zip(run) {
            let is_expanded = page.is_full() || page.planner.expanded.contains(&number);
            if is_folded && !is_expanded {
                continue;
            }
            // Said once, until somebody else speaks.
            let by = typed_by(one).filter(|by| *by != origin);
            origin = by.unwrap_or(origin);
            let by = by.map_or_else(String::new, |by| format!(" (by {})", shown_name(by)));
            let text = match (is_expanded, whole.contains(&number)) {
                (true, _) => {
                    format!(" {}{by}\n{}\n", say_first(lang, &one.gist), quoted(&one.text))
                }
                (false, true) => words(page.planner, number, one, &by),
                (false, false) => format!(" {}{by}\n", say_first(lang, &one.gist)),
            };
            lines.push(Line { stage: std::mem::take(&mut stage), said: Some(number), text });
        }
        if !stage.is_empty() {
            lines.push(Line { stage, said: None, text: String::new() });
        }
    }
    lines
}

/// Returns what is shown whole: the newest words of each speaker, as far as gists cut them and
/// there is room.
fn newest_words(page: &Page<'_>, folded: &BTreeSet<usize>) -> BTreeSet<usize> {
    let (mut heard, mut whole) = (BTreeSet::new(), BTreeSet::new());
    let mut left = page.left / 2;
    for (number, one) in page.planner.course.record.statements.iter().enumerate().rev() {
        let is_in_brief =
            page.planner.course.brief.additions.iter().any(|part| part.text == one.text);
        if is_in_brief || !heard.insert(&one.who) || folded.contains(&number) || !is_cut(one) {
            continue;
        }
        let tokens = tokens::estimate(&words(page.planner, number, one, ""));
        if tokens <= left {
            left -= tokens;
            whole.insert(number);
        }
    }
    whole
}

/// Returns true if the gist leaves out something that was said.
fn is_cut(one: &Statement) -> bool {
    match verdict(one) {
        Some(verdict) => verdict != one.gist,
        None => one.gist.ends_with('…'),
    }
}

/// Writes what was said whole, up to a bound.
fn words(planner: &Planner, number: usize, one: &Statement, by: &str) -> String {
    let verdict = verdict(one);
    let plainly = plain(one.text.trim());
    let text = verdict.as_deref().unwrap_or(&plainly);
    let (text, rest) = match text.char_indices().nth(WORDS_MAX) {
        Some((at, _)) => {
            let call = format!("{}.record(since={})", planner.session.callee, number + 1);
            (&text[..at], format!("…\nall of it: `pipemux ask '{call}'`"))
        }
        None => (text, String::new()),
    };
    let (head, body) = text.split_once('\n').unwrap_or((text, ""));
    let body = if body.is_empty() { String::new() } else { format!("\n{}", quoted(body)) };
    let before = if verdict.is_some() { "" } else { before(one, text) };
    let head = match verdict.is_some() && planner.course.lang() == Lang::Chinese {
        true => say_first(Lang::Chinese, head)
            .replace(" · suggests: ", " · 建议：")
            .replace(" · asks: ", " · 提问："),
        false => head.to_owned(),
    };
    format!(" {before}{head}{by}{body}{rest}\n")
}

/// Writes a verdict of the record on one line: `concern · who needs it isn't said · suggests: … ·
/// asks: …`.
fn verdict(one: &Statement) -> Option<String> {
    let text = plain(&one.text);
    let mut lines = text.lines();
    let word = lines.next().filter(|word| matches!(*word, "agree" | "block" | "concern"))?;
    let (mut text, mut between) = (word.to_owned(), " · ");
    for line in lines {
        match line {
            "reasons:" => between = " · ",
            "suggestions:" => between = " · suggests: ",
            "open questions:" => between = " · asks: ",
            "cites what doesn't exist:" => between = " · cites what doesn't exist: ",
            line => {
                text += between;
                text += line.strip_prefix("- ").unwrap_or(line);
                between = " ";
            }
        }
    }
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns what a gist says before the text itself: `adjusts: `.
fn before<'a>(one: &'a Statement, text: &str) -> &'a str {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let gist = one.gist.trim_end_matches('…');
    let begins = |at: &usize| flat.starts_with(&gist[*at..]);
    let at = gist.char_indices().map(|(at, _)| at).find(begins);
    at.map_or("", |at| &gist[..at])
}

/// Returns true if all that was said in a round came from this reader.
fn is_own(run: &[Arc<Statement>], reader: &str) -> bool {
    run[0].place.starts_with("round ") && run.iter().all(|said| said.by.reader == reader)
}

/// Returns true for an extraction that all whom it cites have confirmed as it is.
fn is_confirmed(run: &[Arc<Statement>]) -> bool {
    let is_plain =
        |said: &Arc<Statement>| said.gist.starts_with("confirms") && !said.gist.contains('·');
    run[0].place == "extraction" && run.len() > 1 && run[1..].iter().all(is_plain)
}

/// Sums up a stage that is folded: `2 agree, 3 concern`.
fn tally(run: &[Arc<Statement>], lang: Lang) -> String {
    if is_confirmed(run) {
        let (gist, roles) = (&run[0].gist, run.len() - 1);
        return lang.pick(
            format!("{gist}, confirmed by {}", count(roles, "role")),
            format!("{gist}，{roles} 个角色已确认"),
        );
    }
    let of = |word: &str| run.iter().filter(|said| said.gist.starts_with(word)).count();
    let counts = ["agree", "block", "concern"].map(|word| (of(word), word));
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {}", say(lang, word)))
        .collect();
    match parts.is_empty() {
        true => lang.pick(count(run.len(), "line"), format!("{} 行", run.len())),
        false => parts.join(lang.pick(", ", "，")),
    }
}

/// Returns the key of something that was said.
pub fn key(planner: &Planner, number: usize) -> String {
    format!("said:{}:{number}", planner.course.topic)
}

/// Returns who typed something, where that isn't plain.
fn typed_by(said: &Statement) -> Option<&str> {
    match (said.by.reader.as_str(), said.who.as_str()) {
        ("", _) | (_, "user" | "Coach") => None,
        (reader, who) => Some(reader).filter(|reader| *reader != who),
    }
}

/// Writes what was said word for word, from the entry with a number on, and the last ones of these;
/// 0 stands for all. Returns how many entries that are, too.
pub fn word_for_word(course: &Course, since: i64, last: i64) -> (usize, String) {
    let count = |number: i64| usize::try_from(number).unwrap_or(0);
    let all = course.record.statements.len();
    let first = count(since).saturating_sub(1).max(match count(last) {
        0 => 0,
        last => all.saturating_sub(last),
    });
    let mut text = String::new();
    if course.cycle.roles_shared_context() {
        text += "roles shared one context\n";
    }
    for (number, said) in course.record.statements.iter().enumerate().skip(first) {
        text += &format!("{} · {} · {} · {}", number + 1, said.ts, said.place, said.who);
        // The gist says more than the text where it names what was done.
        let words = plain(said.text.trim());
        let words = words.as_str();
        let before = before(said, words);
        match words.is_empty() {
            true => text += &format!(" · {}\n", said.gist),
            false => {
                text += "\n";
                let words = format!("{before}{words}");
                words.lines().for_each(|line| text += &format!("    {line}\n"));
            }
        }
    }
    (all.saturating_sub(first), text)
}
