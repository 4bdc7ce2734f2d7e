//! What was found, as text and as data.

use serde::Serialize;

use crate::limits::FINDINGS;

/// Something to mend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The place of the finding: a request, and the path of the field if there is one.
    pub place: String,
    /// The name of the rule.
    pub rule: String,
    /// The description of the problem, and the remedy.
    pub text: String,
    /// The number of occurrences.
    pub count: usize,
}

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The name of the app.
    pub app: String,
    /// The number of requests that were sent to the app.
    pub requests: usize,
    /// The problems to be fixed, in the order in which they were found.
    pub findings: Vec<Finding>,
    /// The checks that were left out, with the reasons.
    pub notes: Vec<String>,
}

impl Report {
    /// Adds a finding. The same flaw at a place that differs only in its numbers is counted.
    pub fn add(&mut self, place: &str, rule: &str, text: impl Into<String>) {
        let same = |finding: &&mut Finding| {
            finding.rule == rule && without_numbers(&finding.place) == without_numbers(place)
        };
        if let Some(finding) = self.findings.iter_mut().find(same) {
            finding.count += 1;
            return;
        }
        let (place, rule) = (place.to_owned(), rule.to_owned());
        self.findings.push(Finding { place, rule, text: text.into(), count: 1 });
    }

    /// Adds a remark about what wasn't checked.
    pub fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Returns the report in lines: one for each finding, and the sum.
    pub fn lines(&self) -> String {
        let mut out = String::new();
        for finding in self.findings.iter().take(FINDINGS) {
            let Finding { place, rule, text, count } = finding;
            let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
            out += &format!("{place} · {rule}: {text}{times}\n");
        }
        if self.findings.len() > FINDINGS {
            out += &format!("… {} more, with --json\n", self.findings.len() - FINDINGS);
        }
        for note in &self.notes {
            out += &format!("not checked: {note}\n");
        }
        let Self { app, requests, .. } = self;
        out + &match self.findings.len() {
            0 => format!("{app}: nothing to mend ({requests} requests)\n"),
            1 => format!("{app}: 1 thing to mend ({requests} requests)\n"),
            n => format!("{app}: {n} things to mend ({requests} requests)\n"),
        }
    }

    /// Returns the report as JSON, in one line.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

/// Returns a place without its numbers and arguments, so that `content[3]` and `content[4]` are
/// one.
fn without_numbers(place: &str) -> String {
    let call = place.split_once('(').map_or(place, |(before, _)| before);
    let field = place.rsplit_once(" · ").map_or("", |(_, field)| field);
    let kept = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    format!("{} {}", kept(call), kept(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_flaw_at_many_places_is_one_line() {
        let mut report = Report { app: "todo".into(), requests: 9, ..Report::default() };
        for at in 0..3 {
            report.add(&format!("project full · content[{at}].object.key"), "key", "has 0 bytes");
        }
        report.add("invoke add(text=\"a\")", "version", "stayed");
        report.add("invoke add(text=\"b\")", "version", "stayed");
        report.add("invoke edit(text=\"b\")", "version", "stayed");
        assert_eq!(
            report.lines(),
            "project full · content[0].object.key · key: has 0 bytes (3 times)\n\
             invoke add(text=\"a\") · version: stayed (2 times)\n\
             invoke edit(text=\"b\") · version: stayed\n\
             todo: 3 things to mend (9 requests)\n"
        );
    }

    #[test]
    fn report_without_findings_says_so() {
        let mut report = Report { app: "todo".into(), requests: 1, ..Report::default() };
        report.note("it can't sleep");
        let expected = "not checked: it can't sleep\ntodo: nothing to mend (1 requests)\n";
        assert_eq!(report.lines(), expected);
        assert!(report.json().contains(r#""findings":[]"#));
    }
}
