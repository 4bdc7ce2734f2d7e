//! Replacing text, and asking which.

use std::ops::Range;

use docui::{Ask, Choice, Context, Fault, Reply};

use crate::limits::MATCHES_ASKED;
use crate::model::Editor;
use crate::model::buffer::Splice;
use crate::model::changes::line_change;
use crate::model::linemap::Seen;
use crate::view::match_row;

use super::ask::{Matches, Token, many};
use super::count;
use super::matching::{end_at, matches, near, shaped};
use super::place::Span;

/// Options that a question is given; it counts the others.
const LISTED: usize = 20;

impl Editor {
    pub(super) fn replace(
        &mut self,
        old: &str,
        new: &str,
        all: bool,
        context: &Context,
    ) -> Result<Reply, Fault> {
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
                _ => Err(Fault::stale("the answer is to another question").hint("run it again")),
            };
        }
        let index = self.seen_current(context)?;
        let file = &self.files[index];
        let text = file.buffer().text();
        let found = matches(&text, old);
        match found.len() {
            0 => {
                let fault = Fault::failed(format!("no match in {}", self.shown(file.path())));
                Err(fault.hint(near(&text, old).unwrap_or_else(|| {
                    "nothing like it; find(text) looks for a part of it".into()
                })))
            }
            1 => self.replace_at(index, &text, &found, 1, new, context),
            total if all => self.replace_at(index, &text, &found, total, new, context),
            total if total > MATCHES_ASKED => {
                Err(Fault::refused(format!("{total} matches are too many to choose from"))
                    .hint("all=true takes all of them; a longer old has fewer matches"))
            }
            _ => self.ask_which(index, &found, context),
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
        let place = |found: &Range<usize>| {
            let line = buffer.line_at(found.start);
            (line, found.start - buffer.start(line))
        };
        let places: Vec<_> = found.iter().map(place).collect();
        let mut ask = Ask::pick_many(count(found.len(), "match"));
        for (at, found) in found.iter().enumerate().take(LISTED) {
            let line = places[at].0;
            let shared = at.checked_sub(1).is_some_and(|before| places[before].0 == line)
                || places.get(at + 1).is_some_and(|next| next.0 == line);
            ask = ask.option(format!("line {}", line + 1), match_row(buffer, found, shared));
        }
        ask = ask.unlisted(found.len().saturating_sub(LISTED) as u64);
        let token = Token::Matches(Matches {
            path: file.path().to_owned(),
            launch: self.names.launch().to_owned(),
            version: context.version,
            text: buffer.hash(),
            places,
        });
        token.with(ask).map(Reply::from)
    }

    fn replace_chosen(
        &mut self,
        old: &str,
        new: &str,
        asked: &Matches,
        choice: &Choice,
        context: &Context,
    ) -> Result<Reply, Fault> {
        let index = self.index(&asked.path).ok_or_else(|| {
            Fault::stale(format!("{} was closed meanwhile", self.shown(&asked.path)))
                .hint("open it and run the call again")
        })?;
        let chosen = many(choice, asked.places.len())?;
        let file = &self.files[index];
        let text = file.buffer().text();
        let same = asked.launch == self.names.launch();
        let then = Seen { version: asked.version, lost: false, run: &context.run_id };
        if !same && file.buffer().hash() != asked.text {
            return Err(Fault::stale("the editor was restarted and the text is another one")
                .hint("run the call again"));
        }
        let further = old.matches('\n').count();
        let mut found = Vec::new();
        for (line, offset) in chosen.iter().map(|chosen| asked.places[*chosen]) {
            let seen = line..line + further + 1;
            let now = match same {
                true => file.log().map(seen.clone(), then),
                false => Ok(seen.clone()),
            };
            let here = now.ok().and_then(|now| {
                let at = file.buffer().start(now.start) + offset;
                Some(at..end_at(&text, at, old)?)
            });
            found.push(here.ok_or_else(|| {
                let about = file.log().drift(line, then);
                let lines = self.excerpt(index, &(about..about + 1));
                Fault::stale(format!(
                    "line {} changed since you were asked; now:\n{lines}",
                    line + 1
                ))
                .hint("nothing was changed: run the call again")
            })?);
        }
        found.sort_by_key(|found| found.start);
        self.replace_at(index, &text, &found, asked.places.len(), new, context)
    }

    fn replace_at(
        &mut self,
        index: usize,
        text: &str,
        found: &[Range<usize>],
        total: usize,
        new: &str,
        context: &Context,
    ) -> Result<Reply, Fault> {
        let buffer = self.files[index].buffer();
        let splice = |found: &Range<usize>| {
            let old = text[found.clone()].to_owned();
            Splice { at: found.start, new: shaped(new, &old, buffer.ending()), old }
        };
        let splices: Vec<_> = found.iter().map(splice).collect();
        let lines = line_change(buffer, &splices);
        let mut on: Vec<_> = found.iter().map(|found| buffer.line_at(found.start)).collect();
        on.dedup();
        let brief = match (found.len(), total) {
            (0, _) => return Ok(docui::Done::new(format!("0 of {}", count(total, "match"))).into()),
            (1, 1) => format!("1 match, line {}", on[0] + 1),
            (some, total) if some < total => format!("{some} of {}", count(total, "match")),
            _ => count(total, "match"),
        };
        let brief = match on.len() == found.len() {
            true => brief,
            false => format!("{brief} on {}", count(on.len(), "line")),
        };
        let span = Span { file: index, lines: on[0]..on[0] + 1 };
        self.edit(&span, "replace", splices, lines, context)?;
        Ok(self.edited(&span, brief, context))
    }
}
