//! Measures how costs grow with what there is, and prints a Markdown table for each kind of growth.
//!
//! Nothing is judged here: a call among 1,000 sessions should cost what it costs beside none, and whoever
//! reads the tables sees whether it does. Build with `--release`, and run on a quiet machine.

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

/// Prints how costs grow with sessions, workspaces, anchors, a document and the history.
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
    writeln!(out, "| {} | {} |", table.grows, table.columns.join(" | "))?;
    writeln!(out, "|---:|{}", "---:|".repeat(table.columns.len()))?;
    for (size, figures) in &table.rows {
        let figures: Vec<String> = figures.iter().map(|figure| number(*figure)).collect();
        writeln!(out, "| {size} | {} |", figures.join(" | "))?;
    }
    writeln!(out)
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
