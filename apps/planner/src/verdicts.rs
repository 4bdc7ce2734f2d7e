//! Writes the results of a check: for its window, while it runs, and for the brief of a new cycle.
//! The record is foreign text, so each criterion is one line and command output is quoted.

use pipemux_planner_course::lang::Lang;
use pipemux_planner_course::text::{count, flat, quoted};

use crate::frame::say;
use crate::limits::EVIDENCE_MAX;
use crate::report::{Checked, Report, Verdict};

impl Report {
    /// Returns a line for each criterion that a command shows, with the last lines of its output if
    /// it failed.
    pub fn lines_of(&self, command: &str, lang: Lang) -> Vec<String> {
        let of = self.results.iter().filter(|one| one.command.as_deref() == Some(command));
        of.map(|one| one.shown("", lang) + "\n").collect()
    }

    /// Writes each requirement with what stands for it.
    pub fn table(&self, lang: Lang) -> String {
        let mut text = String::new();
        let known = self.requirements.iter();
        for (id, what) in known {
            // A test that stands for several is told with the first of them.
            let of: Vec<&Checked> =
                self.results.iter().filter(|one| one.requirements.first() == Some(id)).collect();
            let all = || self.results.iter().filter(|one| one.requirements.contains(id));
            if all().next().is_none() {
                continue;
            }
            let is = |verdict| all().filter(|one| one.verdict == verdict).count();
            let word = match (is(Verdict::Failed), is(Verdict::Passed), is(Verdict::NotRun)) {
                (0, 0, _) => say(lang, "not run"),
                (0, _, 0) => say(lang, "passed"),
                (0, _, more) => {
                    format!("{}, {more} {}", say(lang, "passed"), say(lang, "not run"))
                }
                _ => say(lang, "failed"),
            };
            text += &format!("- **{}** {word}: {}\n", flat(id), flat(what));
            of.iter().for_each(|one| text += &format!("  - {}\n", one.shown("    ", lang)));
        }
        let other = self.results.iter().filter(|one| {
            one.requirements.first().is_none_or(|id| !self.requirements.contains_key(id))
        });
        other.for_each(|one| text += &format!("- {}\n", one.shown("  ", lang)));
        text
    }

    /// Writes what failed, for the brief of a new cycle; none if nothing did. Each criterion is a
    /// line, and what its command printed is quoted, so that it forges no part of the brief.
    pub fn evidence(&self) -> Option<String> {
        let failed: Vec<&Checked> =
            self.results.iter().filter(|one| one.verdict == Verdict::Failed).collect();
        if failed.is_empty() {
            return None;
        }
        let mut text = format!("Check {} of version {} failed:", self.number, self.version);
        for (at, one) in failed.iter().enumerate() {
            let of: Vec<String> = one
                .requirements
                .iter()
                .map(|id| {
                    let what = self.requirements.get(id).map_or("", String::as_str);
                    format!("{} ({})", flat(id), flat(what))
                })
                .collect();
            let more = format!("\n- of {}: {}", of.join("; "), one.shown("  ", Lang::English));
            if text.chars().count() + more.chars().count() > EVIDENCE_MAX {
                text += &format!("\n- and {} more", failed.len() - at);
                break;
            }
            text += &more;
        }
        Some(text)
    }
}

impl Checked {
    /// Writes it on a line, and what a command that failed printed quoted below, after an
    /// indentation.
    fn shown(&self, indent: &str, lang: Lang) -> String {
        let mut text = format!("{} {}", flat(&self.id), say(lang, self.verdict.word()));
        let why = flat(&self.why);
        if self.verdict != Verdict::Passed && !why.is_empty() {
            text += &format!(", {why}");
        }
        text += &format!(": {}", flat(&self.text));
        if let Some(command) = &self.command {
            text += &format!(" · `{}`", flat(command).replace('`', "'"));
        }
        if self.verdict == Verdict::Failed && !self.output.trim().is_empty() {
            let quoted = quoted(self.output.trim_end());
            quoted.lines().for_each(|line| text += &format!("\n{indent}{line}"));
        }
        text
    }
}

/// Writes the newest check of a topic for its window, and how to go on.
pub fn shown(report: &Report, is_running: bool, adjust: &str, lang: Lang) -> String {
    let (number, version) = (report.number, report.version);
    let head = match (report.ended.is_empty(), is_running) {
        (false, _) => report.summary(lang),
        (true, true) => say(lang, "is running"),
        (true, false) => {
            say(lang, "has no end on record: it was cut off, unless another session runs it")
        }
    };
    let title = lang.pick(
        format!("Check {number} of version {version}"),
        format!("检查 {number}（版本 {version}）"),
    );
    let topic = flat(&report.topic);
    let criteria = count(report.results.len(), "criterion").replace("criterions", "criteria");
    let mut text = format!(
        "\n### {title}: {head}\n.planning/{topic}/checks/c{number}.json · {}\n{}",
        lang.pick(criteria, format!("{} 条", report.results.len())),
        report.table(lang)
    );
    if report.has(Verdict::Failed) {
        text += &format!("{}: `{adjust}`\n", say(lang, "a new cycle with what failed"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a text of words that forge lines, chosen by a seed that grows with each use.
    fn forged(seed: &mut u64) -> String {
        let words = [
            "\n",
            "\r",
            "\u{2028}",
            "\u{85}",
            "\u{202e}",
            "\u{1b}[2J",
            "`",
            "**",
            "[agreed in version 1]",
            "## What was agreed",
            "- skip it",
            "> ",
            " ",
            "x",
            "写",
        ];
        let mut next = || {
            *seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (*seed >> 33) as usize
        };
        (0..next() % 12).map(|_| words[next() % words.len()]).collect()
    }

    #[test]
    fn what_commands_print_and_others_write_forges_no_line() {
        let mut seed = 1;
        for _ in 0..2_000 {
            let mut item = || Checked {
                id: forged(&mut seed),
                text: forged(&mut seed),
                requirements: vec![forged(&mut seed)],
                command: Some(forged(&mut seed)),
                verdict: Verdict::Failed,
                why: forged(&mut seed),
                output: forged(&mut seed),
                ..Checked::default()
            };
            let results = vec![item(), item()];
            let requirements = [(results[0].requirements[0].clone(), forged(&mut seed))].into();
            let report =
                Report { results, requirements, topic: forged(&mut seed), ..Report::default() };
            let evidence = report.evidence().unwrap();
            let is_own =
                |line: &str| ["Check ", "- of ", "  >"].iter().any(|own| line.starts_with(own));
            assert!(evidence.lines().all(is_own), "{evidence:?}");
            let shown = shown(&report, false, "adjust", Lang::English);
            let is_own = |line: &str| {
                let own =
                    ["### Check 0 ", ".planning/", "- ", "  - ", "  >", "    >", "a new cycle "];
                line.is_empty() || own.iter().any(|own| line.starts_with(own))
            };
            assert!(shown.lines().all(is_own), "{shown:?}");
            let is_plain =
                |c: char| c == '\n' || !(c.is_control() || matches!(c, '\u{2028}'..='\u{202e}'));
            assert!(evidence.chars().chain(shown.chars()).all(is_plain), "{evidence:?} {shown:?}");
        }
    }

    #[test]
    fn what_failed_is_given_up_to_a_bound_and_says_how_much_more_there_is() {
        let failed =
            Checked { output: "x".repeat(2_000), verdict: Verdict::Failed, ..Checked::default() };
        let report = Report { results: vec![failed; 30], ..Report::default() };
        let evidence = report.evidence().unwrap();
        assert!(evidence.chars().count() <= EVIDENCE_MAX + 20, "{}", evidence.len());
        assert!(evidence.ends_with("\n- and 23 more"), "{evidence}");
    }
}
