//! Runs the attack table and prints it.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use pipemux_tests::chaos::{self, Finding, KEPT_MAX, RATIO_MAX, ROWS};
use serde_json::json;

/// Attacks a daemon in many ways, one a row, and prints what became of it as a Markdown table.
///
/// For each row there is a daemon of its own with an editor, a notebook, the monitor and a tame app beside
/// the attacker. Their answers are compared with those of a quiet run just before, and so are memory,
/// descriptors, processes and files. Exit status 1 when a check failed; times are told and never fail.
#[derive(Debug, Parser)]
#[command(name = "chaos")]
struct Asked {
    /// Only rows whose names contain one of these.
    rows: Vec<String>,
    /// How long each attack lasts at least; the quiet run takes half of it.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Prints JSON, one object a row.
    #[arg(long)]
    json: bool,
    /// Names the rows and does nothing.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match table(&Asked::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) | Err(_) => ExitCode::FAILURE,
    }
}

/// True when every row passes.
fn table(asked: &Asked) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    let wanted = |name: &str| {
        asked.rows.is_empty() || asked.rows.iter().any(|part| name.contains(part.as_str()))
    };
    let rows = ROWS.iter().filter(|row| wanted(row.name));
    if asked.list {
        rows.into_iter().try_for_each(|row| writeln!(out, "{}", row.name))?;
        return Ok(true);
    }
    if !asked.json {
        writeln!(
            out,
            "Each attack lasted {} s or more. Bounds: siblings' answers are those of the quiet run, byte for \
             byte without epochs, receipts and the ids of links; memory after at most {} MiB above before; \
             no more descriptors than before; nothing left. p99 ratio: at most {RATIO_MAX} (told, no check).\n",
            asked.seconds,
            KEPT_MAX / 1024
        )?;
        writeln!(
            out,
            "| attack | siblings' answers | p50, p99 quiet → attacked | p99 ratio | memory before/most/after, \
             MiB | descriptors before/after | left behind | what became of it | verdict |\n\
             |---|---|---|--:|--:|--:|---|---|---|"
        )?;
    }
    let mut failed = Vec::new();
    for row in rows {
        let finding = chaos::run(&[row], Duration::from_secs_f64(asked.seconds));
        let line = if asked.json { data(&finding) } else { markdown(&finding) };
        writeln!(out, "{line}")?;
        out.flush()?;
        if !finding.complaints().is_empty() {
            failed.push(finding);
        }
    }
    if !asked.json {
        for finding in &failed {
            writeln!(out, "\n{} failed:", finding.name)?;
            finding.complaints().iter().try_for_each(|what| writeln!(out, "- {what}"))?;
        }
    }
    Ok(failed.is_empty())
}

fn markdown(finding: &Finding) -> String {
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let mib = |kib: u64| kib as f64 / 1024.0;
    let (quiet, attacked) = (&finding.quiet, &finding.attacked);
    let strange = quiet.strange.len() + attacked.strange.len() + finding.afterwards.strange.len();
    let answers = match strange {
        0 => format!("same ({})", attacked.times.len()),
        _ => format!("{strange} CHANGED of {}", attacked.times.len()),
    };
    let left: Vec<String> = finding.survivors.iter().chain(&finding.left).cloned().collect();
    format!(
        "| {} | {answers} | {:.1}, {:.1} → {:.1}, {:.1} ms | {:.1}{} | {:.1}/{:.1}/{:.1} | {}/{} | {} | {} | {} |",
        finding.name,
        ms(quiet.within(0.5)),
        ms(quiet.within(0.99)),
        ms(attacked.within(0.5)),
        ms(attacked.within(0.99)),
        finding.ratio(),
        if finding.is_quick() { "" } else { " slow" },
        mib(finding.memory_before),
        mib(finding.memory_peak),
        mib(finding.memory_after),
        finding.descriptors_before,
        finding.descriptors_after,
        if left.is_empty() { "nothing".to_owned() } else { left.join(", ") },
        finding.told,
        if finding.complaints().is_empty() { "pass" } else { "FAIL" },
    )
}

fn data(finding: &Finding) -> String {
    let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    json!({
        "attack": finding.name,
        "answers": finding.attacked.times.len(),
        "quiet_us": { "p50": us(finding.quiet.within(0.5)), "p99": us(finding.quiet.within(0.99)) },
        "attacked_us": {
            "p50": us(finding.attacked.within(0.5)),
            "p99": us(finding.attacked.within(0.99)),
        },
        "p99_ratio": finding.ratio(),
        "within_ratio": finding.is_quick(),
        "memory_kib": {
            "before": finding.memory_before,
            "most": finding.memory_peak,
            "after": finding.memory_after,
        },
        "descriptors": { "before": finding.descriptors_before, "after": finding.descriptors_after },
        "left": finding.left,
        "told": finding.told,
        "complaints": finding.complaints(),
    })
    .to_string()
}
