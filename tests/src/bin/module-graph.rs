//! Prints which module of a crate names which other, and counts the circles among them.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use pipemux_tests::structure::ModuleGraph;

/// Prints which module of a crate names which other, and counts the circles among them.
///
/// A circle is a group of modules each of which reaches every other one.
#[derive(Debug, Parser)]
#[command(name = "module-graph")]
struct Arguments {
    /// The directory that contains the crate's `lib.rs`.
    #[arg(default_value = "pipemux-daemon/core/src")]
    src: PathBuf,
    /// Prints top-level modules only, each with all that is below it.
    #[arg(long)]
    components: bool,
    /// Leaves out a top-level module, such as the one that holds the others together.
    #[arg(long, value_name = "MODULE")]
    except: Vec<String>,
}

fn main() -> ExitCode {
    match print(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "module-graph: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print(arguments: &Arguments) -> io::Result<()> {
    let mut graph = ModuleGraph::read(&arguments.src)?;
    if arguments.components {
        let except: Vec<&str> = arguments.except.iter().map(String::as_str).collect();
        graph = graph.components(&except);
    }
    let mut out = io::stdout().lock();
    let mut count = 0;
    for (from, edges) in graph.edges() {
        count += edges.len();
        let edges: Vec<&str> = edges.iter().map(String::as_str).collect();
        writeln!(out, "{from} → {}", edges.join(", "))?;
    }
    let circles = graph.circles();
    writeln!(out, "\n{} modules, {count} edges, {} circles", graph.edges().count(), circles.len())?;
    for circle in circles {
        let modules: Vec<&str> = circle.into_iter().collect();
        writeln!(out, "circle of {}: {}", modules.len(), modules.join(", "))?;
    }
    Ok(())
}
