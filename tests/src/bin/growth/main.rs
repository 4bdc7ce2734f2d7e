//! Measures how costs grow with what there is, and prints a Markdown table for each kind of growth.
//!
//! Nothing is judged here: a call among 1,000 sessions should cost what it costs beside none, and whoever
//! reads the tables sees whether it does: the last column says how much a figure grows with a tenfold size,
//! 1 being flat, 10 linear and 100 quadratic. Build with `--release`, and run on a quiet machine.

mod app;
mod desk;
mod sweeps;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use serde_json::json;

/// One table: its columns, and a row a size.
#[derive(Debug)]
pub struct Table {
    /// `sessions`, `anchors`…
    pub grows: &'static str,
    /// What was measured, with its unit.
    pub columns: Vec<&'static str>,
    /// A size, and a figure for each column.
    pub rows: Vec<(usize, Vec<f64>)>,
}

/// Prints how costs grow with sessions, workspaces, the history, anchors, a window and a document.
#[derive(Debug, Parser)]
#[command(name = "growth")]
struct Asked {
    /// Only what grows by these names.
    grows: Vec<String>,
    /// No more than this size.
    #[arg(long, default_value_t = usize::MAX)]
    most: usize,
    /// Writes the figures as JSON, too; what the file says of other tables stays.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(app::ROLE) {
        return docui::run::<app::Grower>();
    }
    match measure(&Asked::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(asked: &Asked) -> io::Result<()> {
    for (grows, sweep) in sweeps::ALL {
        if !asked.grows.is_empty() && !asked.grows.iter().any(|wanted| wanted == grows) {
            continue;
        }
        let table = sweep(asked.most);
        print(&table)?;
        if let Some(path) = &asked.json {
            write(&table, path)?;
        }
    }
    Ok(())
}

fn print(table: &Table) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let sizes: Vec<String> = table.rows.iter().map(|(size, _)| size.to_string()).collect();
    writeln!(out, "| {} | {} | tenfold |", table.grows, sizes.join(" | "))?;
    writeln!(out, "|---|{}", "---:|".repeat(sizes.len() + 1))?;
    for (index, column) in table.columns.iter().enumerate() {
        let row = table.rows.iter().map(|(size, figures)| (*size, figures[index]));
        let row: Vec<(usize, f64)> = row.collect();
        let figures: Vec<String> = row.iter().map(|(_, figure)| number(*figure)).collect();
        writeln!(out, "| {column} | {} | {} |", figures.join(" | "), number(tenfold(&row)))?;
    }
    writeln!(out)
}

/// By how much a figure grows, at most, where the size grows tenfold: 1 is flat, 10 linear, 100 quadratic.
fn tenfold(row: &[(usize, f64)]) -> f64 {
    let steps = row.windows(2).map(|pair| {
        let [(small, before), (large, after)] = [pair[0], pair[1]];
        (after / before).powf(1.0 / (large as f64 / small as f64).log10())
    });
    steps.fold(f64::NAN, f64::max)
}

/// Three digits that count.
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
    known[table.grows] = json!({ "columns": table.columns, "rows": rows.collect::<Vec<_>>() });
    std::fs::write(path, format!("{known:#}\n"))
}
