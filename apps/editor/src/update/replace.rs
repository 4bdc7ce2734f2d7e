//! Replacing an exact text, after a question if it has several matches.

use std::ops::Range;

use docui::{Ask, Choice, Context, Done, Fault, Reply};

use crate::display::lines::{excerpt, excerpt_lines, match_row};
use crate::display::wording::{count, shown_lines};
use crate::limits::MATCHES_ASKED;
use crate::model::Editor;
use crate::model::history::EditKind;
use crate::model::line_log::Baseline;
use crate::model::splice::Splice;

use super::edit::Work;
use super::question::{AskedMatches, Token, chosen_matches};
use super::text_search::{closest_match, match_end, matches, with_endings_of};

/// How many matches a question lists; it counts the others.
const MATCHES_LISTED: usize = 20;

impl Editor {
    pub(super) fn replace(
        &mut self,
        old: &str,
        new: &str,
        all: bool,
        context: &Context,
    ) -> Result<Work, Fault> {
        if old.is_empty() {
            return Err(Fault::usage("old is empty: expected the text to replace")
                .hint("insert(at, text) adds lines"));
        }
        if old == new {
            return Err(Fault::usage("old and new are the same"));
        }
        if let Some((token, choice)) = Token::answered(context)? {
            return match token {
                Token::Matches(asked) => self.replace_chosen(old, new, &asked, choice, context),
                _ => {
                    Err(Fault::stale("the answer is to another question")
                        .hint("run the call again"))
                }
            };
        }
        let index = self.seen_file_index(context)?;
        let text = self.files[index].buffer().text();
        let found = matches(&text, old);
        match found.len() {
            0 => {
                let fault = Fault::failed(format!("no match in {}", self.display_name(index)));
                Err(fault.hint(closest_match(&text, old).unwrap_or_else(|| {
                    "there is no similar text; find(text) searches for a part of it".into()
                })))
            }
            1 => self.replace_matches(index, &text, &found, 1, new, context),
            total if all => self.replace_matches(index, &text, &found, total, new, context),
            total if total > MATCHES_ASKED => {
                Err(Fault::refused(format!("{total} matches are too many to choose from"))
                    .hint("all=true replaces all of them; a longer old has fewer matches"))
            }
            _ => Ok(self.ask_which(index, &found, context)?.into()),
        }
    }

    fn ask_which(
        &self,
        index: usize,
        found: &[Range<usize>],
        context: &Context,
    ) -> Result<Reply, Fault> {
        let file = &self.files[index];
        let buffer = file.buffer();
        let position = |found: &Range<usize>| {
            let line = buffer.line_at(found.start);
            (line, found.start - buffer.line_start(line))
        };
        let positions: Vec<_> = found.iter().map(position).collect();
        let mut ask = Ask::pick_many(count(found.len(), "match"));
        for (at, found) in found.iter().enumerate().take(MATCHES_LISTED) {
            let line = positions[at].0;
            let shared = at.checked_sub(1).is_some_and(|before| positions[before].0 == line)
                || positions.get(at + 1).is_some_and(|next| next.0 == line);
            ask = ask.option(format!("line {}", line + 1), match_row(buffer, found, shared));
        }
        ask = ask.unlisted(found.len().saturating_sub(MATCHES_LISTED) as u64);
        let listed = positions.iter().take(MATCHES_LISTED).map(|(line, _)| *line..*line + 1);
        let shown = listed.map(|line| shown_lines(file, &line, context.version));
        let ask = ask.shows(shown);
        let token = Token::Matches(AskedMatches {
            path: file.path().to_owned(),
            launch_id: self.ids.launch_id().to_owned(),
            version: context.version,
            text_digest: buffer.digest(),
            positions,
        });
        token.attach_to(ask)
    }

    fn replace_chosen(
        &mut self,
        old: &str,
        new: &str,
        asked: &AskedMatches,
        choice: &Choice,
        context: &Context,
    ) -> Result<Work, Fault> {
        let index = self.file_index(&asked.path).ok_or_else(|| {
            let shown = self.display_path(&asked.path);
            Fault::stale(format!("{shown} was closed in the meantime"))
                .hint("open it and run the call again")
        })?;
        let chosen = chosen_matches(choice, asked.positions.len())?;
        let file = &self.files[index];
        let text = file.buffer().text();
        let same_process = asked.launch_id == self.ids.launch_id();
        if !same_process && file.buffer().digest() != asked.text_digest {
            return Err(Fault::stale("the editor was restarted and the text has changed")
                .hint("run the call again"));
        }
        let baseline =
            Baseline { version: asked.version, from_earlier_process: false, run: &context.run_id };
        let further_lines = old.matches('\n').count();
        let mut found = Vec::new();
        for (line, offset) in chosen.iter().map(|chosen| asked.positions[*chosen]) {
            let seen = line..line + further_lines + 1;
            let now = match same_process {
                true => file.line_log().map_range(seen, baseline).ok(),
                false => Some(seen),
            };
            let bytes = now.and_then(|now| {
                let at = file.buffer().line_start(now.start) + offset;
                Some(at..match_end(&text, at, old)?)
            });
            found.push(bytes.ok_or_else(|| {
                let nearest = file.line_log().nearest_line(line, baseline);
                let around = nearest..nearest + 1;
                let lines = excerpt(file, &around);
                let shown = shown_lines(file, &excerpt_lines(file, &around), context.version);
                let line = line + 1;
                Fault::stale(format!("line {line} changed since you were asked; now:\n{lines}"))
                    .numbers([shown])
                    .hint("nothing was changed: run the call again")
            })?);
        }
        found.sort_by_key(|found| found.start);
        self.replace_matches(index, &text, &found, asked.positions.len(), new, context)
    }

    fn replace_matches(
        &mut self,
        index: usize,
        text: &str,
        found: &[Range<usize>],
        total: usize,
        new: &str,
        context: &Context,
    ) -> Result<Work, Fault> {
        let buffer = self.files[index].buffer();
        let splice = |found: &Range<usize>| {
            let old = text[found.clone()].to_owned();
            Splice { at: found.start, new: with_endings_of(new, &old, buffer.line_ending()), old }
        };
        let splices: Vec<_> = found.iter().map(splice).collect();
        let mut lines: Vec<_> = found.iter().map(|found| buffer.line_at(found.start)).collect();
        lines.dedup();
        let brief = match (found.len(), total) {
            (0, _) => return Ok(Done::new(format!("0 of {}", count(total, "match"))).into()),
            (1, 1) => format!("1 match, line {}", lines[0] + 1),
            (some, total) if some < total => format!("{some} of {}", count(total, "match")),
            _ => count(total, "match"),
        };
        let brief = match lines.len() == found.len() {
            true => brief,
            false => format!("{brief} on {}", count(lines.len(), "line")),
        };
        let shown = if (found.len(), total) == (1, 1) { lines[0]..lines[0] + 1 } else { 0..0 };
        let change = (splices, None);
        self.edit_file(index, EditKind::Replace, change, context, |_, _, _| (brief, vec![shown]))
    }
}
