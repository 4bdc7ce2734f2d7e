//! Measures how costs grow with the number of sessions, anchors and so on, and prints a Markdown
//! table for each.
//!
//! No figure fails the program. A call among 1,000 sessions should cost as much as a call beside
//! none; the last column of the tables shows by how much a figure grows when the size grows
//! tenfold: 1 is constant, 10 is linear, 100 is quadratic. Build it with `--release`, and run it on
//! a quiet machine.

mod fixture;
mod growth_app;
mod sweeps;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use serde_json::json;

/// One table, with a row for each size.
#[derive(Debug)]
pub struct Table {
    /// What grows, such as `sessions` or `anchors`.
    pub subject: &'static str,
    /// What was measured, with the unit.
    pub columns: Vec<&'static str>,
    /// Each size, with a figure for each column.
    pub rows: Vec<(usize, Vec<f64>)>,
}

/// Prints how costs grow with the number of sessions, workspaces, rounds and anchors, and with the
/// size of a window and a document.
#[derive(Debug, Parser)]
#[command(name = "growth")]
struct Arguments {
    /// Measures only these tables.
    subject: Vec<String>,
    /// Measures sizes up to this one.
    #[arg(long, default_value_t = usize::MAX)]
    most: usize,
    /// Also writes the figures to this file as JSON, and keeps the other tables in it.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(growth_app::ROLE) {
        return docui::run::<growth_app::GrowthApp>();
    }
    match measure(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> io::Result<()> {
    for (subject, sweep) in sweeps::ALL {
        if !arguments.subject.is_empty()
            && !arguments.subject.iter().any(|wanted| wanted == subject)
        {
            continue;
        }
        let table = sweep(arguments.most);
        print(&table)?;
        if let Some(path) = &arguments.json {
            write(&table, path)?;
        }
    }
    Ok(())
}

fn print(table: &Table) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let sizes: Vec<String> = table.rows.iter().map(|(size, _)| size.to_string()).collect();
    writeln!(out, "| {} | {} | tenfold |", table.subject, sizes.join(" | "))?;
    writeln!(out, "|---|{}", "---:|".repeat(sizes.len() + 1))?;
    for (index, column) in table.columns.iter().enumerate() {
        let row = table.rows.iter().map(|(size, figures)| (*size, figures[index]));
        let row: Vec<(usize, f64)> = row.collect();
        let figures: Vec<String> = row.iter().map(|(_, figure)| number(*figure)).collect();
        writeln!(out, "| {column} | {} | {} |", figures.join(" | "), number(tenfold(&row)))?;
    }
    writeln!(out)
}

/// Returns by how much a figure grows at most when the size grows tenfold.
fn tenfold(row: &[(usize, f64)]) -> f64 {
    let steps = row.windows(2).map(|pair| {
        let [(small, before), (large, after)] = [pair[0], pair[1]];
        (after / before).powf(1.0 / (large as f64 / small as f64).log10())
    });
    steps.fold(f64::NAN, f64::max)
}

/// Formats a figure with three significant digits.
fn number(figure: f64) -> String {
    let decimals = match figure {
        _ if figure >= 100.0 => 0,
        _ if figure >= 10.0 => 1,
        _ => 2,
    };
    format!("{figure:.decimals$}")
}

fn write(table: &Table, path: &PathBuf) -> io::Result<()> {
    let known = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let mut known: serde_json::Value = known.unwrap_or_else(|| json!({}));
    let rows = table.rows.iter().map(|(size, figures)| json!({ "size": size, "figures": figures }));
    known[table.subject] = json!({ "columns": table.columns, "rows": rows.collect::<Vec<_>>() });
    std::fs::write(path, format!("{known:#}\n"))
}
