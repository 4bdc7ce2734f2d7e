//! Describes the machine and its resources in words: in one line, and in detail.

use std::cmp::Ordering;
use std::time::Duration;

use crate::action::By;
use crate::format::{
    duration, load, percent, period_suffix, ratio, size, used_of_total, used_of_total_up,
};
use crate::resource::Resource;
use crate::sample::{Disk, DiskSample, Period, Process, Sample};

/// Describes the machine in one line: `CPU 38% · mem 5.1/24 GB · disk 61% · load 0.8 · top: rustc
/// 71%`. The disk is the one that the session's directory is on.
pub fn gist(sample: &Sample) -> String {
    let mut parts = vec![
        format!("CPU {}{}", percent(sample.cpu.total), period_suffix(sample.cpu.over)),
        format!("mem {}", used_of_total(sample.memory.used, sample.memory.total)),
    ];
    parts.extend(own_or_fullest(sample).map(|disk| format!("disk {}%", disk.percent())));
    parts.extend(sample.load.map(|averages| format!("load {}", load(averages[0]))));
    parts.extend(
        top(sample, By::Cpu, 1)
            .first()
            .map(|process| format!("top: {} {}", process.name, percent(process.cpu))),
    );
    parts.join(" · ")
}

/// Describes a resource in one line.
pub fn line(resource: Resource, sample: &Sample) -> String {
    match resource {
        Resource::Cpu => {
            let cpu = &sample.cpu;
            let cores = if cpu.count == 1 { "core" } else { "cores" };
            format!("{}{} · {} {cores}", percent(cpu.total), period_suffix(cpu.over), cpu.count)
        }
        Resource::Memory => {
            let memory = sample.memory;
            format!(
                "{} ({})",
                used_of_total(memory.used, memory.total),
                ratio(memory.used, memory.total)
            )
        }
        Resource::Swap => match sample.swap {
            (_, 0) => "none".into(),
            (used, total) => format!("{} ({})", used_of_total(used, total), ratio(used, total)),
        },
        Resource::Disks => {
            let DiskSample { disks, silent } = &sample.disks;
            let own = disks.iter().find(|disk| disk.own);
            let fuller =
                fullest(sample).filter(|disk| own.is_none_or(|own| own.percent() < disk.percent()));
            let mut parts = match disks.len() {
                0 if *silent => Vec::new(),
                0 => vec!["none".to_owned()],
                1 => Vec::new(),
                number if own.or(fuller).is_none() => vec![format!("{number}, all read-only")],
                number => vec![number.to_string()],
            };
            match &disks[..] {
                [only] => parts.push(disk_line(only)),
                _ => {
                    parts.extend(own.map(disk_line));
                    parts.extend(fuller.map(|disk| format!("fullest: {}", disk_line(disk))));
                }
            }
            if *silent {
                parts.push("a disk does not answer, so these figures are old".to_owned());
            }
            parts.join(" · ")
        }
        Resource::Load => match sample.load {
            None => "not available on this system".into(),
            Some(averages) => averages.map(load).join(" "),
        },
        Resource::Processes => {
            let busiest = top(sample, By::Cpu, 3);
            let names: Vec<_> = busiest
                .iter()
                // Idle processes are not busiest; naming some of them would mislead.
                .filter(|process| process.cpu >= 0.5)
                .map(|process| format!("{} {}", process.name, percent(process.cpu)))
                .collect();
            let lead = if names.is_empty() { "" } else { " · top: " };
            format!("{}{lead}{}", sample.processes.len(), names.join(", "))
        }
    }
}

/// Returns the lines that describe a resource beyond [`line()`]. Processes have none: the view
/// shows them as a table.
pub fn lines(resource: Resource, sample: &Sample) -> Vec<String> {
    match resource {
        Resource::Cpu => {
            let mut lines = vec![match sample.cpu.over {
                Period::Boot => {
                    "since boot; figures of each core follow with the next sample".to_owned()
                }
                Period::Last(last) => format!("over the last {:.1} s", last.as_secs_f64()),
            }];
            lines.extend(sample.cpu.cores.chunks(8).enumerate().map(|(row, cores)| {
                let core = |(index, share): (usize, &f32)| {
                    format!("core {} {}", row * 8 + index + 1, percent(*share))
                };
                cores.iter().enumerate().map(core).collect::<Vec<_>>().join(" · ")
            }));
            lines
        }
        Resource::Memory => {
            let memory = sample.memory;
            let sizes = [memory.used, memory.available, memory.total].map(size);
            vec![format!("used {} · available {} · total {}", sizes[0], sizes[1], sizes[2])]
        }
        Resource::Swap if sample.swap.1 == 0 => Vec::new(),
        Resource::Swap => {
            let (used, total) = sample.swap;
            let sizes = [used, total.saturating_sub(used), total].map(size);
            vec![format!("used {} · free {} · total {}", sizes[0], sizes[1], sizes[2])]
        }
        // `line` already describes a single disk.
        Resource::Disks if sample.disks.disks.len() == 1 => Vec::new(),
        Resource::Disks => sample.disks.disks.iter().map(disk_line).collect(),
        Resource::Load => {
            let mut lines = Vec::new();
            if let Some(averages) = sample.load {
                let [one, five, fifteen] = averages.map(load);
                lines.push(format!("1 min {one} · 5 min {five} · 15 min {fifteen}"));
            }
            lines.extend(
                sample
                    .uptime
                    .map(|seconds| format!("up {}", duration(Duration::from_secs(seconds)))),
            );
            lines
        }
        Resource::Processes => Vec::new(),
    }
}

/// Returns the first `number` processes in an order. Equal ones are in the order of their pids, so
/// that the same sample gives the same list.
pub fn top(sample: &Sample, by: By, number: usize) -> Vec<&Process> {
    let mut processes: Vec<_> = sample.processes.iter().collect();
    let order = |a: &&Process, b: &&Process| -> Ordering {
        let busier = match by {
            By::Cpu => b.cpu.total_cmp(&a.cpu).then(b.memory.cmp(&a.memory)),
            By::Mem => b.memory.cmp(&a.memory),
        };
        busier.then(a.pid.cmp(&b.pid))
    };
    processes.sort_unstable_by(order);
    processes.truncate(number);
    processes
}

/// Returns the cells after a process's name: pid, CPU, memory.
pub fn cells(process: &Process) -> [String; 3] {
    [process.pid.to_string(), percent(process.cpu), size(process.memory)]
}

/// Describes a resource in full as plain text, for `pipemux read` and for another app.
pub fn text(resource: Resource, sample: &Sample, by: By, number: usize) -> String {
    let mut text = format!("{} {}\n", resource.label(), line(resource, sample));
    for line in lines(resource, sample) {
        text += &format!("{line}\n");
    }
    if resource == Resource::Processes {
        for process in top(sample, by, number) {
            text += &format!("{} {}\n", process.name, cells(process).join(" "));
        }
    }
    text
}

/// Returns the writable disk with the largest share used. A read-only disk can't fill up.
fn fullest(sample: &Sample) -> Option<&Disk> {
    let disks = sample.disks.disks.iter().filter(|disk| !disk.read_only);
    // Of equal ones, `max_by_key` returns the last, so that reversing gives the first.
    disks.rev().max_by_key(|disk| disk.percent())
}

/// Returns the disk that the session's directory is on, or else the fullest one.
fn own_or_fullest(sample: &Sample) -> Option<&Disk> {
    sample.disks.disks.iter().find(|disk| disk.own).or_else(|| fullest(sample))
}

fn disk_line(disk: &Disk) -> String {
    let read_only = if disk.read_only { " read-only" } else { "" };
    let kind = if disk.kind.is_empty() { String::new() } else { format!(" {}", disk.kind) };
    let size = used_of_total_up(disk.used, disk.total);
    format!("{} {size} ({}%){kind}{read_only}", disk.mount, disk.percent())
}
