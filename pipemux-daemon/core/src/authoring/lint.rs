//! Checks a message for what its author should mend: what the daemon would cut, drop or show otherwise than it was
//! meant, and what contradicts the app's own prototypes.
//!
//! A message with such a flaw is valid: [`intake`](crate::intake) takes it in and makes the best of it, and readers are
//! told nothing. Its author wants to know. `pipemux app check` reports what is found here, and so does the daemon for an
//! app whose manifest says `dev = true`.
//!
//! | module | looks at |
//! |---|---|
//! | `greeting` | what an app can do |
//! | `outcome` | what became of an action |
//! | `window` | what a window shows |

mod greeting;
mod outcome;
mod window;

use pipemux_proto::Value;
use pipemux_proto::app::Opened;
use pipemux_proto::job::JobReport;
use pipemux_proto::limits::KEY_MAX;
use pipemux_proto::prototype::Type;

use crate::limits::{BRIEF_CHARS, JOBS_RUNNING_MAX, NOTES_MAX, NOTICE_CHARS, PROGRESS_CHARS};

pub use greeting::hello;
pub use outcome::{fault, outcome};
pub use window::projection;

/// A flaw of a message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lint {
    /// Where in the message, as a path: `content[17].object.key`.
    pub path: String,
    /// The name of the rule.
    pub rule: &'static str,
    /// What is wrong, and what to do.
    pub text: String,
}

/// The flaws that were found so far.
#[derive(Debug, Default)]
struct Lints(Vec<Lint>);

impl Lints {
    fn add(&mut self, rule: &'static str, path: impl Into<String>, text: impl Into<String>) {
        self.0.push(Lint { path: path.into(), rule, text: text.into() });
    }

    /// Checks a text of one line.
    fn line(&mut self, path: &str, text: &str, chars: usize) {
        if text.contains(['\n', '\r']) {
            self.add(
                "one-line",
                path,
                "has a line break, which becomes a space; keep it to one line",
            );
        }
        self.text(path, text, chars);
    }

    /// Checks a text of several lines.
    fn text(&mut self, path: &str, text: &str, chars: usize) {
        // No character is shorter than a byte, so most texts aren't counted.
        if text.len() > chars {
            let count = text.chars().count();
            if count > chars {
                self.add("too-long", path, format!("has {count} characters and is cut to {chars}"));
            }
        }
    }

    /// Checks how many items there are.
    fn count(&mut self, path: &str, count: usize, most: usize) {
        if count > most {
            self.add("too-many", path, format!("has {count} items, of which {most} are used"));
        }
    }
}

/// Returns the flaws of a reply to an `AppOpen`.
pub fn opened(opened: &Opened) -> Vec<Lint> {
    let mut lints = Lints::default();
    lints.count("notes", opened.notes.len(), NOTES_MAX);
    for (at, note) in opened.notes.iter().enumerate() {
        lints.line(&format!("notes[{at}]"), note, NOTICE_CHARS);
    }
    lints.count("jobs", opened.jobs.len(), JOBS_RUNNING_MAX);
    lints.0
}

/// Returns the flaws of what a job reports.
pub fn job_report(report: &JobReport) -> Vec<Lint> {
    let mut lints = Lints::default();
    check_job_key(&mut lints, "job", &report.job);
    lints.line("text", report.text.as_deref().unwrap_or_default(), PROGRESS_CHARS);
    lints.line("brief", &report.brief, BRIEF_CHARS);
    if !report.brief.is_empty() && report.state.is_none() {
        lints.add(
            "brief",
            "brief",
            "is the result, which comes with `state`: use `text` until then",
        );
    }
    lints.0
}

/// Checks the key of a job; one that can't be kept isn't followed.
fn check_job_key(lints: &mut Lints, path: &str, key: &str) {
    if !(1..=KEY_MAX).contains(&key.len()) {
        let text =
            format!("has {} bytes, expected 1 to {KEY_MAX}: the job isn't followed", key.len());
        lints.add("key", path, text);
    }
}

/// Returns true when a value is of a type. What only a daemon can know, such as a ref, counts as fitting.
fn fits(value: &Value, ty: &Type) -> bool {
    match (ty, value) {
        (Type::Any | Type::Anchor(_), _)
        | (Type::String, Value::Str(_))
        | (Type::Int, Value::Int(_))
        | (Type::Float, Value::Float(_) | Value::Int(_))
        | (Type::Bool, Value::Bool(_))
        | (Type::Null | Type::Optional(_), Value::Null)
        | (Type::Line, Value::Int(_) | Value::Str(_)) => true,
        (Type::Union(options), Value::Str(text)) => options.contains(text),
        (Type::List(of), Value::List(items)) => items.iter().all(|item| fits(item, of)),
        (Type::Map(of), Value::Map(values)) => values.iter().all(|(_, value)| fits(value, of)),
        (Type::Record(fields), Value::Map(values)) => {
            let declared = |name: &str| fields.iter().find(|field| field.name == name);
            let is_given = |name: &str| values.iter().any(|(given, _)| given == name);
            let fitting = |(name, value): &(String, Value)| {
                declared(name).is_some_and(|field| fits(value, &field.ty))
            };
            values.iter().all(fitting)
                && fields.iter().all(|field| !field.is_required() || is_given(&field.name))
        }
        (Type::Optional(of), value) => fits(value, of),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
