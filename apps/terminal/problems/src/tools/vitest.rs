//! vitest.

use crate::collector::Collector;
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{is_file_name, is_foreign, number, place_start};
use crate::tools::jest::add;
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Vitest;

impl Recogniser for Vitest {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if text.starts_with('⎯') {
            found.close();
            return Claim::more(Class::Progress);
        }
        let trimmed = text.trim_start();
        if let Some(name) = text.strip_prefix(" FAIL  ").filter(|name| {
            name.split(" > ")
                .next()
                .and_then(|file| file.split(" [").next())
                .is_some_and(is_file_name)
        }) {
            found.failure(name.split(" [ ").next().unwrap_or(name));
            return Claim::more(Class::Problem);
        }
        if let Some(counts) = text.strip_prefix("      Tests  ") {
            for part in counts.split(" (").next().unwrap_or(counts).split(" | ") {
                let Some((count, word)) = number(part) else { continue };
                add(word.trim(), count.into(), found);
            }
            return Claim::one(Class::Progress);
        }
        // A file that has failures, which are told below.
        if text.starts_with(" ❯ ") && text.contains(" test") && text.contains(" (") && !within {
            return Claim::one(Class::Progress);
        }
        if text.starts_with(' ') && (trimmed.starts_with("✓ ") || trimmed.starts_with("↓ ")) {
            return Claim::one(Class::Progress);
        }
        if !within {
            return None;
        }
        let Some(failure) = found.open_failure() else {
            return if text.is_empty() { Claim::more(Class::Progress) } else { None };
        };
        if let Some(frame) = text.strip_prefix(" ❯ ") {
            // With a name of a function before the place, or without.
            let file = failure.name.split(" > ").next().unwrap_or_default();
            let start = match file.is_empty() {
                true => None,
                false => frame.find(file),
            };
            let place = match start {
                Some(start) => place_start(&frame[start..]),
                None => frame.rsplit(' ').next().and_then(place_start),
            };
            if let Some((place, _)) = place
                && failure.place.is_none()
                && !is_foreign(&place.file)
            {
                failure.place = Some(place);
            }
            return Claim::more(Class::Detail);
        }
        if failure.assertion.is_empty() && !text.is_empty() {
            text.trim().clone_into(&mut failure.assertion);
            return Claim::more(Class::Problem);
        }
        // Of the excerpt from the file, nothing: the place says where it is.
        let excerpt = text.starts_with("    ")
            && trimmed.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('|');
        if !excerpt && !text.is_empty() && failure.place.is_none() {
            found.detail(text);
        }
        Claim::more(Class::Detail)
    }
}
