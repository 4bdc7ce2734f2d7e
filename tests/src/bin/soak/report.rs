//! The report: counters, latencies and memory over time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;
use std::{fs, io};

use crate::Soak;
use crate::sampler::Sample;

/// The counters of all clients.
#[derive(Debug, Default)]
pub struct Counters {
    /// Answers by request and exit status.
    answers: BTreeMap<&'static str, BTreeMap<u8, u64>>,
    /// How many answers took each number of milliseconds.
    took: BTreeMap<u64, u64>,
    /// Requests whose daemon was lost before it answered.
    pub lost: u64,
    /// Client processes that were killed during a call.
    pub killed_clients: u64,
    /// Kills by program.
    pub kills: BTreeMap<&'static str, u64>,
    /// Apps that were stopped for a moment.
    pub stopped: u64,
    /// Markers that were checked.
    pub checked: u64,
    /// Markers that had to be there at the end.
    pub promised: u64,
    /// Failed checks.
    pub failures: Vec<String>,
}

impl Counters {
    /// Counts an answer.
    pub fn record_answer(&mut self, name: &'static str, exit: u8, took: Duration) {
        *self.answers.entry(name).or_default().entry(exit).or_default() += 1;
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        if !took.is_zero() {
            *self.took.entry(ms).or_default() += 1;
        }
    }

    /// Answers so far.
    pub fn acts(&self) -> u64 {
        self.answers.values().flat_map(BTreeMap::values).sum()
    }

    /// Returns the time within which this share of the answers came, in milliseconds.
    fn percentile_ms(&self, share: f64) -> u64 {
        let all: u64 = self.took.values().sum();
        let mut left = (all as f64 * share).ceil();
        for (ms, count) in &self.took {
            left -= *count as f64;
            if left <= 0.0 {
                return *ms;
            }
        }
        0
    }
}

/// Prints the report and writes the files; returns true when no check failed.
///
/// # Errors
/// Something can't be written.
pub fn write(soak: &Soak, samples: &[Sample]) -> io::Result<bool> {
    if let Some(path) = &soak.plan.csv {
        fs::write(path, csv(samples))?;
    }
    if let Some(path) = &soak.plan.svg {
        fs::write(path, svg(samples))?;
    }
    let mut text = String::new();
    let mut fine = true;
    soak.count(|counters| {
        let _ = figures(&mut text, soak, counters);
        fine = counters.failures.is_empty();
    });
    let _ = memory(&mut text, samples);
    io::stdout().write_all(text.as_bytes())?;
    Ok(fine)
}

fn figures(out: &mut String, soak: &Soak, counters: &Counters) -> std::fmt::Result {
    let plan = &soak.plan;
    let seconds = soak.started.elapsed().as_secs_f64();
    writeln!(
        out,
        "# Soak\n\n{} sessions, {} clients in {} workspaces, {:.1} minutes, seed {}\n",
        plan.sessions,
        plan.clients,
        plan.workspaces(),
        seconds / 60.0,
        plan.seed
    )?;
    let exits: Vec<u8> = (0..=9).chain([137]).collect();
    let head: Vec<String> = exits.iter().map(|exit| format!("exit {exit}")).collect();
    writeln!(
        out,
        "| asked | all | {} |\n|---|{}",
        head.join(" | "),
        "--:|".repeat(exits.len() + 1)
    )?;
    let mut sums: BTreeMap<u8, u64> = BTreeMap::new();
    for (name, answers) in &counters.answers {
        answers.iter().for_each(|(exit, count)| *sums.entry(*exit).or_default() += count);
        writeln!(out, "{}", row(name, answers, &exits))?;
    }
    writeln!(out, "{}\n", row("together", &sums, &exits))?;
    let kills: Vec<String> =
        counters.kills.iter().map(|(name, count)| format!("{name} {count}")).collect();
    writeln!(
        out,
        "{} requests, {:.0} a second; half of the answers within {} ms, 99 of 100 within {} ms",
        counters.acts(),
        counters.acts() as f64 / seconds,
        counters.percentile_ms(0.5),
        counters.percentile_ms(0.99)
    )?;
    writeln!(
        out,
        "killed with SIGKILL: {}, client processes {}; apps stopped for a moment: {}",
        kills.join(", "),
        counters.killed_clients,
        counters.stopped
    )?;
    writeln!(out, "requests whose daemon was lost before its answer: {}", counters.lost)?;
    writeln!(
        out,
        "markers checked for: {}; at the end {} had to be there",
        counters.checked, counters.promised
    )?;
    writeln!(out, "failures: {}", counters.failures.len())?;
    counters.failures.iter().take(50).try_for_each(|what| writeln!(out, "- {what}"))
}

fn row(name: &str, answers: &BTreeMap<u8, u64>, exits: &[u8]) -> String {
    let count = |exit: &u8| answers.get(exit).map_or(String::new(), u64::to_string);
    let cells: Vec<String> = exits.iter().map(count).collect();
    format!("| {name} | {} | {} |", answers.values().sum::<u64>(), cells.join(" | "))
}

/// Prints the memory of each daemon process.
fn memory(out: &mut String, samples: &[Sample]) -> std::fmt::Result {
    writeln!(
        out,
        "\n| daemon process | seconds | requests | memory first | median | last | most | growth, KiB a minute | descriptors first | last | most | processor |"
    )?;
    writeln!(out, "|---|{}", "--:|".repeat(11))?;
    let lives: Vec<&[Sample]> =
        samples.chunk_by(|one, next| one.daemon == next.daemon).filter(|l| l.len() > 1).collect();
    for (number, life) in lives.iter().enumerate() {
        let (Some(first), Some(last)) = (life.first(), life.last()) else { continue };
        let mut sizes: Vec<u64> = life.iter().map(|sample| sample.resident).collect();
        sizes.sort_unstable();
        let median = sizes[sizes.len() / 2];
        let most = sizes.last().copied().unwrap_or_default();
        let descriptors = life.iter().map(|sample| sample.descriptors).max().unwrap_or_default();
        writeln!(
            out,
            "| {} | {:.0}–{:.0} | {} | {} | {} | {} | {} | {:+.1} | {} | {} | {} | {:.1} s |",
            number + 1,
            first.seconds,
            last.seconds,
            last.acts - first.acts,
            mib(first.resident),
            mib(median),
            mib(last.resident),
            mib(most),
            growth(life),
            first.descriptors,
            last.descriptors,
            descriptors,
            last.processor - first.processor,
        )?;
    }
    if let (Some(first), Some(last)) = (samples.first(), samples.last()) {
        writeln!(
            out,
            "\napps: {} with {} together at first, {} with {} at the end; saved state {} KiB at the end",
            first.apps,
            mib(first.apps_resident),
            last.apps,
            mib(last.apps_resident),
            last.state / 1024
        )?;
    }
    Ok(())
}

fn mib(kib: u64) -> String {
    format!("{:.1} MiB", kib as f64 / 1024.0)
}

/// Returns the slope of memory over time by least squares, over the later half of a daemon's run,
/// so that warming up doesn't count.
fn growth(life: &[Sample]) -> f64 {
    let life = &life[life.len() / 2..];
    let count = life.len() as f64;
    let mean = |value: &dyn Fn(&Sample) -> f64| life.iter().map(value).sum::<f64>() / count;
    let minutes = |sample: &Sample| sample.seconds / 60.0;
    let kib = |sample: &Sample| sample.resident as f64;
    let (mean_x, mean_y) = (mean(&minutes), mean(&kib));
    let together: f64 = life.iter().map(|s| (minutes(s) - mean_x) * (kib(s) - mean_y)).sum();
    let spread: f64 = life.iter().map(|s| (minutes(s) - mean_x).powi(2)).sum();
    if spread > 0.0 { together / spread } else { 0.0 }
}

fn csv(samples: &[Sample]) -> String {
    let mut text = String::from(
        "seconds,daemon_pid,daemon_rss_kib,daemon_fds,daemon_cpu_s,apps,apps_rss_kib,state_bytes,requests\n",
    );
    for s in samples {
        text += &format!(
            "{:.1},{},{},{},{:.2},{},{},{},{}\n",
            s.seconds,
            s.daemon,
            s.resident,
            s.descriptors,
            s.processor,
            s.apps,
            s.apps_resident,
            s.state,
            s.acts
        );
    }
    text
}

/// Draws the memory of the daemon over time, one line for each process.
fn svg(samples: &[Sample]) -> String {
    let (width, height, margin) = (900.0, 300.0, 50.0);
    let end = samples.last().map_or(1.0, |last| last.seconds.max(1.0));
    let most = samples.iter().map(|s| s.resident).max().unwrap_or(1).max(1) as f64 * 1.1;
    let x = |seconds: f64| margin + seconds / end * (width - 2.0 * margin);
    let y = |kib: f64| height - margin - kib / most * (height - 2.0 * margin);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"{margin}\" y=\"20\">resident memory of pipemuxd; a line ends where it was killed</text>\n"
    );
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (kib, seconds) = (most * share, end * share);
        text += &format!(
            "<line x1=\"{margin}\" x2=\"{}\" y1=\"{2}\" y2=\"{2}\" stroke=\"#ddd\"/>\
             <text x=\"2\" y=\"{2}\">{1:.1} MiB</text><text x=\"{3}\" y=\"{4}\">{5:.0} s</text>\n",
            width - margin,
            kib / 1024.0,
            y(kib),
            x(seconds),
            height - margin / 2.0,
            seconds
        );
    }
    for life in samples.chunk_by(|one, next| one.daemon == next.daemon) {
        let points: Vec<String> = life
            .iter()
            .map(|s| format!("{:.1},{:.1}", x(s.seconds), y(s.resident as f64)))
            .collect();
        text += &format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#246\" stroke-width=\"1.5\"/>\n",
            points.join(" ")
        );
    }
    text + "</svg>\n"
}
