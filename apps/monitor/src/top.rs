//! Lists the processes that use the most memory or CPU time. PipeMux's own processes are listed
//! separately, so that the measurement doesn't report itself.

use docui::{Done, Fault, View};

use crate::action::By;
use crate::detail;
use crate::format::{percent, period_suffix, size};
use crate::sample::{Process, Sample};
use crate::settings;

/// The prefix of the names of PipeMux's programs, including apps and clients.
const OWN: &str = "pipemux";

/// Answers the query.
///
/// # Errors
/// The number is out of its bounds.
pub fn top(sample: &Sample, n: i64, by: By) -> Result<Done, Fault> {
    let (brief, text) = told(sample, n, by)?;
    let mut view = View::default();
    view.text(text.as_str());
    Ok(Done::new(brief).content(view).value(text))
}

/// Returns the list, and what it is a list of.
///
/// # Errors
/// As [`top`].
pub fn told(sample: &Sample, n: i64, by: By) -> Result<(String, String), Fault> {
    let number = settings::top(n)?;
    let sorted = detail::top(sample, by, usize::MAX);
    let mut own = Vec::new();
    let mut lines = Vec::new();
    for process in sorted {
        if lines.len() == number {
            break;
        }
        match is_own(&process.name) {
            true => own.push(process),
            false => lines.push(line(process, by)),
        }
    }
    let mut text = lines.join("\n") + "\n";
    if !own.is_empty() {
        let sum = match by {
            By::Mem => size(own.iter().map(|process| process.memory).sum()),
            By::Cpu => percent(own.iter().map(|process| process.cpu).sum()),
        };
        let sum = if own.len() == 1 { sum } else { format!("{sum} together") };
        text += &format!("left out: {} of PipeMux's own, {sum}\n", own.len());
    }
    let order = match by {
        By::Mem => "memory".to_owned(),
        By::Cpu => format!("CPU{}", period_suffix(sample.cpu.over)),
    };
    Ok((format!("{} of {} processes by {order}", lines.len(), sample.processes.len()), text))
}

/// True for PipeMux's own programs.
pub(crate) fn is_own(name: &str) -> bool {
    name.starts_with(OWN)
}

/// Returns a line with what it is sorted by first: `browser 3 GB · pid 30 · CPU 5%`.
fn line(process: &Process, by: By) -> String {
    let other = match by {
        By::Mem => format!("CPU {}", percent(process.cpu)),
        By::Cpu => size(process.memory),
    };
    format!("{} {} · pid {} · {other}", process.name, figure(process, by), process.pid)
}

fn figure(process: &Process, by: By) -> String {
    match by {
        By::Mem => size(process.memory),
        By::Cpu => percent(process.cpu),
    }
}
