//! Runs the attacks and prints what they did as a table.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use pipemux_tests::chaos::{self, P99_RATIO_MAX, RETAINED_MEMORY_MAX, SCENARIOS, ScenarioReport};
use serde_json::json;

/// Attacks a daemon in many ways and prints the results as a Markdown table, one row for each
/// attack.
///
/// Each attack has a daemon of its own, with an editor, a notebook, the monitor and a well-behaved
/// app beside the attacker. Their answers are compared with those from before the attack; the
/// daemon's memory and descriptors, processes and files are checked as well. The exit status is 1
/// if a check fails. Times are reported and never fail a check.
#[derive(Debug, Parser)]
#[command(name = "chaos")]
struct Arguments {
    /// Runs only the attacks whose names contain one of these texts.
    scenarios: Vec<String>,
    /// The least time that each attack lasts, in seconds; the baseline is measured for half of it.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Prints JSON, one object for each attack.
    #[arg(long)]
    json: bool,
    /// Prints the names of the attacks and runs none.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match table(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) | Err(_) => ExitCode::FAILURE,
    }
}

/// Returns true when every attack passes.
fn table(arguments: &Arguments) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    let wanted = |name: &str| {
        arguments.scenarios.is_empty()
            || arguments.scenarios.iter().any(|part| name.contains(part.as_str()))
    };
    let scenarios = SCENARIOS.iter().filter(|scenario| wanted(scenario.name));
    if arguments.list {
        scenarios.into_iter().try_for_each(|scenario| writeln!(out, "{}", scenario.name))?;
        return Ok(true);
    }
    if !arguments.json {
        writeln!(
            out,
            "Each attack lasted {} s or more. Checks: the siblings' answers are those from before the attack, \
             apart from epochs, receipts and the ids of links; the daemon's memory grows by at most {} MiB; \
             it has no more descriptors than before; no process or file is left. A p99 ratio above \
             {P99_RATIO_MAX} is marked as slow and fails no check.\n",
            arguments.seconds,
            RETAINED_MEMORY_MAX / 1024
        )?;
        writeln!(
            out,
            "| attack | siblings' answers | p50, p99 before → during | p99 ratio | memory before/peak/after, \
             MiB | descriptors before/after | left behind | answers to the attacker | verdict |\n\
             |---|---|---|--:|--:|--:|---|---|---|"
        )?;
    }
    let mut failed = Vec::new();
    for scenario in scenarios {
        let report = chaos::run(&[scenario], Duration::from_secs_f64(arguments.seconds));
        let line = if arguments.json { data(&report) } else { markdown(&report) };
        writeln!(out, "{line}")?;
        out.flush()?;
        if !report.failures().is_empty() {
            failed.push(report);
        }
    }
    if !arguments.json {
        for report in &failed {
            writeln!(out, "\n{} failed:", report.name)?;
            report.failures().iter().try_for_each(|what| writeln!(out, "- {what}"))?;
        }
    }
    Ok(failed.is_empty())
}

fn markdown(report: &ScenarioReport) -> String {
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let mib = |kib: u64| kib as f64 / 1024.0;
    let (baseline, during) = (&report.baseline, &report.during);
    let unexpected =
        baseline.unexpected.len() + during.unexpected.len() + report.after.unexpected.len();
    let answers = match unexpected {
        0 => format!("unchanged ({})", during.times.len()),
        _ => format!("{unexpected} changed of {}", during.times.len()),
    };
    let leftovers: Vec<String> =
        report.survivors.iter().chain(&report.leftovers).cloned().collect();
    format!(
        "| {} | {answers} | {:.1}, {:.1} → {:.1}, {:.1} ms | {:.1}{} | {:.1}/{:.1}/{:.1} | {}/{} | {} | {} | {} |",
        report.name,
        ms(baseline.percentile(0.5)),
        ms(baseline.percentile(0.99)),
        ms(during.percentile(0.5)),
        ms(during.percentile(0.99)),
        report.p99_ratio(),
        if report.is_quick() { "" } else { " slow" },
        mib(report.memory_before),
        mib(report.memory_peak),
        mib(report.memory_after),
        report.descriptors_before,
        report.descriptors_after,
        if leftovers.is_empty() { "nothing".to_owned() } else { leftovers.join(", ") },
        report.answers,
        if report.failures().is_empty() { "pass" } else { "FAIL" },
    )
}

fn data(report: &ScenarioReport) -> String {
    let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    json!({
        "attack": report.name,
        "answers": report.during.times.len(),
        "before_us": { "p50": us(report.baseline.percentile(0.5)), "p99": us(report.baseline.percentile(0.99)) },
        "during_us": {
            "p50": us(report.during.percentile(0.5)),
            "p99": us(report.during.percentile(0.99)),
        },
        "p99_ratio": report.p99_ratio(),
        "within_ratio": report.is_quick(),
        "memory_kib": {
            "before": report.memory_before,
            "peak": report.memory_peak,
            "after": report.memory_after,
        },
        "descriptors": { "before": report.descriptors_before, "after": report.descriptors_after },
        "left": report.leftovers,
        "answers": report.answers,
        "failures": report.failures(),
    })
    .to_string()
}
