//! Watches the machine's load and CPU, and the processes that take most: a line for each, with its
//! figures of all samples.

use std::collections::HashMap;
use std::thread;

use docui::Fault;
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};

use crate::action::By;
use crate::format::printable;
use crate::limits::{FIRST_SHARE, WATCHED_LISTED};
use crate::samples::{Figure, Samples, Schedule, Told};
use crate::top::is_own;

/// A process's figures at one moment: memory in MB, and share of one core in percent.
type Figures = (u64, f32);

/// The processes to report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Most {
    /// The number of processes of each sample.
    pub n: usize,
    /// The figure that processes are sorted by.
    pub by: By,
}

impl Most {
    /// Returns the sort key of a process: the memory, or the CPU share in tenths of a percent.
    fn of(self, (memory, share): Figures) -> u64 {
        match self.by {
            By::Mem => memory,
            By::Cpu => (share.max(0.0) * 10.0) as u64,
        }
    }
}

/// The samples of all processes.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// The load average over a minute at each sample; empty if the system has none.
    load: Vec<f64>,
    /// The CPU share of all cores together at each sample.
    cpu: Vec<f32>,
    /// The figures by sample number, for each pid and name.
    processes: HashMap<(u32, String), HashMap<usize, Figures>>,
}

/// Takes the samples and tells them.
pub(crate) fn watch(schedule: Schedule, most: Most) -> Result<Told, Fault> {
    let unknown = |error| Fault::failed(format!("this system provides no figures: {error}"));
    let mut system = System::new().map_err(unknown)?;
    let kind = ProcessRefreshKind::nothing().with_memory().with_cpu().without_tasks();
    // A share is taken over a period.
    system.refresh_cpu_usage();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, kind);
    thread::sleep(FIRST_SHARE);
    let mut watched = Watched::default();
    schedule.each(|| {
        system.refresh_cpu_usage();
        system.refresh_processes_specifics(ProcessesToUpdate::All, true, kind);
        let processes = system.processes().values().map(|process| {
            let name = printable(&process.name().to_string_lossy());
            (process.pid().as_u32(), name, (process.memory() >> 20, process.cpu_usage()))
        });
        let load = System::load_average().ok().map(|load| load.one);
        watched.add(load, system.global_cpu_usage(), processes);
        Ok(())
    })?;
    Ok(watched.tell(schedule.every.as_secs(), most))
}

impl Watched {
    /// Takes in one sample.
    fn add(
        &mut self,
        load: Option<f64>,
        cpu: f32,
        processes: impl Iterator<Item = (u32, String, Figures)>,
    ) {
        let sample = self.cpu.len();
        self.load.extend(load);
        self.cpu.push(cpu);
        for (pid, name, figures) in processes.filter(|(_, name, _)| !is_own(name)) {
            self.processes.entry((pid, name)).or_default().insert(sample, figures);
        }
    }

    /// Returns the processes that were among the largest of any sample, with the most that each
    /// had, the largest first.
    fn largest(&self, most: Most) -> Vec<(u64, &(u32, String))> {
        let mut largest: Vec<(u64, &(u32, String))> = Vec::new();
        for sample in 0..self.cpu.len() {
            let mut now: Vec<(u64, &(u32, String))> = self
                .processes
                .iter()
                .filter_map(|(process, figures)| Some((most.of(*figures.get(&sample)?), process)))
                .collect();
            now.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
            for (figure, process) in now.into_iter().take(most.n) {
                match largest.iter_mut().find(|(_, known)| *known == process) {
                    Some((known, _)) => *known = figure.max(*known),
                    None => largest.push((figure, process)),
                }
            }
        }
        largest.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
        largest
    }

    /// Tells the samples: a line for the machine, and one for each process. `-` stands where a
    /// process didn't run.
    fn tell(&self, every: u64, most: Most) -> Told {
        let cpu: Vec<String> = self.cpu.iter().map(|share| format!("{share:.0}")).collect();
        let load = match self.load.as_slice() {
            [] => String::new(),
            values => {
                let samples = Samples { values: values.to_vec(), whole: 0.0 };
                format!("load {} · ", samples.figures_and_trend(Figure::Load))
            }
        };
        let cpu = cpu.join(" ");
        let by = match most.by {
            By::Mem => "memory",
            By::Cpu => "CPU",
        };
        let brief = format!("every {every} s · {load}CPU of all cores {cpu}% · by {by}:");

        let mut rows = String::new();
        let largest = self.largest(most);
        let listed = most.n.max(WATCHED_LISTED);
        for (_, process) in largest.iter().take(listed) {
            let figures = &self.processes[*process];
            let row = |of: fn(&Figures) -> String| {
                let all = (0..self.cpu.len()).map(|at| figures.get(&at).map_or("-".into(), of));
                series(&all.collect::<Vec<_>>())
            };
            let memory = row(|(memory, _)| memory.to_string());
            let share = row(|(_, share)| format!("{share:.0}"));
            let (pid, name) = process;
            rows += &format!("{name} {memory} MB · CPU {share}% · pid {pid}\n");
        }
        if largest.len() > listed {
            rows += &format!("… {} more\n", largest.len() - listed);
        }
        Told { brief, rows }
    }
}

/// Writes figures one behind the other; where all are the same, one.
fn series(figures: &[String]) -> String {
    match figures {
        [first, rest @ ..] if rest.iter().all(|other| other == first) => first.clone(),
        all => all.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(by: By) -> Most {
        Most { n: 3, by }
    }

    fn of(pid: u32, name: &str, memory: u64, share: f32) -> (u32, String, Figures) {
        (pid, name.to_owned(), (memory, share))
    }

    #[test]
    fn each_process_is_one_line_with_all_samples() {
        let mut watched = Watched::default();
        let small = || (10..14).map(|pid| of(pid, "small", 1, 0.0));
        watched.add(
            Some(0.5),
            12.4,
            small().chain([of(1, "init", 19, 0.0), of(9, "pipemuxd", 99, 1.0)]),
        );
        watched.add(
            Some(0.6),
            80.0,
            small().chain([of(1, "init", 19, 0.0), of(2, "rustc", 136, 52.3)]),
        );
        watched.add(
            Some(0.71),
            99.6,
            small().chain([of(1, "init", 19, 0.0), of(2, "rustc", 203, 99.8)]),
        );
        let told = watched.tell(1, by(By::Mem));
        assert_eq!(
            told.brief,
            "every 1 s · load 0.50 0.60 0.71 · rising · CPU of all cores 12 80 100% · by memory:"
        );
        assert_eq!(
            told.rows,
            "rustc - 136 203 MB · CPU - 52 100% · pid 2\ninit 19 MB · CPU 0% · pid 1\n\
             small 1 MB · CPU 0% · pid 10\nsmall 1 MB · CPU 0% · pid 11\n"
        );
        let told = watched.tell(1, Most { n: 1, by: By::Cpu });
        assert!(told.brief.ends_with(" · by CPU:"), "{}", told.brief);
        assert_eq!(
            told.rows,
            "rustc - 136 203 MB · CPU - 52 100% · pid 2\ninit 19 MB · CPU 0% · pid 1\n"
        );
    }

    #[test]
    fn many_processes_are_counted() {
        let mut watched = Watched::default();
        for sample in 0..8 {
            watched.add(None, 0.0, (0..3).map(|pid| of(sample * 3 + pid, "brief", 5, 0.0)));
        }
        let told = watched.tell(2, by(By::Mem));
        assert!(told.brief.starts_with("every 2 s · CPU of all cores 0 "), "{}", told.brief);
        let told = told.rows;
        assert!(told.ends_with(&format!("\n… {} more\n", 24 - WATCHED_LISTED)), "{told}");
        assert_eq!(Watched::default().tell(1, by(By::Mem)).rows, "");
    }
}
