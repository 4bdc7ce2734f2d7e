//! Looks at the mounted disks, on another thread: a network disk whose server is down doesn't
//! answer.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use docui::Handle;
use docui::blocking::Task;
use sysinfo::{DiskRefreshKind, Disks};

use crate::format::printable;
use crate::sample::{Disk, DiskSample};

/// The longest wait of a sample for the disks; then it reuses the previous figures.
const PATIENCE: Duration = Duration::from_millis(300);

/// Looks at the disks, each time it is asked to.
pub struct DiskSampler {
    /// A directory on the session's own disk.
    directory: PathBuf,
    handle: Handle,
    running: Option<Task<Vec<Disk>>>,
    last: DiskSample,
}

impl DiskSampler {
    /// Prepares sampling.
    pub fn new(directory: PathBuf, handle: Handle) -> Self {
        Self { directory, handle, running: None, last: DiskSample::default() }
    }

    /// Returns the figures of the disks, or the last ones if the disks don't answer.
    pub fn sample(&mut self) -> DiskSample {
        let directory = self.directory.clone();
        let start = || Task::start(&self.handle, move || look(&directory)).ok();
        let mut running = self.running.take().or_else(start);
        match running.as_mut().and_then(|task| task.wait(PATIENCE)) {
            Some(disks) => self.last = DiskSample { disks, silent: false },
            None => {
                self.last.silent = true;
                self.running = running;
            }
        }
        self.last.clone()
    }
}

/// A disk, with the data that distinguishes it from others.
struct Found {
    name: String,
    device: Option<u64>,
    disk: Disk,
}

fn look(directory: &Path) -> Vec<Disk> {
    let mut listed: Vec<Found> = Vec::new();
    if let Ok(mut disks) = Disks::new() {
        disks.refresh_specifics(true, DiskRefreshKind::nothing().with_storage());
        listed.extend(disks.iter().filter_map(found));
    }
    // A device that is mounted several times is listed once, at its shortest path.
    listed.sort_by(|a, b| {
        let key = |found: &Found| {
            let Disk { total, mount, .. } = &found.disk;
            (found.name.clone(), *total, mount.len(), mount.clone())
        };
        key(a).cmp(&key(b))
    });
    listed.dedup_by(|b, a| a.name == b.name && a.disk.total == b.disk.total);
    let own = directory.metadata().ok().map(|metadata| metadata.dev());
    match listed.iter_mut().find(|found| own.is_some() && found.device == own) {
        Some(found) => found.disk.own = true,
        None => listed.extend(space(directory).map(|(total, used, available)| Found {
            name: String::new(),
            device: own,
            disk: Disk {
                mount: printable(&directory.to_string_lossy()),
                total,
                used,
                available,
                own: true,
                ..Disk::default()
            },
        })),
    }
    let mut disks: Vec<_> = listed.into_iter().map(|found| found.disk).collect();
    disks.sort_by(|a, b| a.mount.cmp(&b.mount));
    disks
}

fn found(disk: &sysinfo::Disk) -> Option<Found> {
    let mount = disk.mount_point();
    let (total, used, available) = space(mount)?;
    Some(Found {
        name: disk.name().to_string_lossy().into_owned(),
        device: mount.metadata().ok().map(|metadata| metadata.dev()),
        disk: Disk {
            mount: printable(&mount.to_string_lossy()),
            kind: printable(&disk.file_system().to_string_lossy()),
            total,
            used,
            available,
            read_only: disk.is_read_only(),
            own: false,
        },
    })
}

/// Returns the size of a file system, the space in use and the space that is free for ordinary
/// users, as `df` does. `None` if it has no size.
fn space(path: &Path) -> Option<(u64, u64, u64)> {
    let space = rustix::fs::statvfs(path).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(space.f_frsize);
    let used = space.f_blocks.saturating_sub(space.f_bfree);
    (space.f_blocks > 0).then(|| (bytes(space.f_blocks), bytes(used), bytes(space.f_bavail)))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Compares with what `df` prints.
    #[test]
    fn figures_of_the_own_disk_are_those_of_df() {
        let directory = std::env::current_dir().unwrap();
        let sample = DiskSampler::new(directory.clone(), Handle::default()).sample();
        let own: Vec<_> = sample.disks.iter().filter(|disk| disk.own).collect();
        let [own] = own[..] else { panic!("{sample:?}") };
        let printed = Command::new("df").arg("-Pk").arg(&directory).output().unwrap().stdout;
        let printed = String::from_utf8(printed).unwrap();
        let fields: Vec<_> = printed.lines().nth(1).unwrap().split_whitespace().collect();
        let number = |index: usize| fields[index].trim_end_matches('%').parse::<u64>().unwrap();
        assert_eq!(own.total / 1024, number(1), "{printed}");
        // Other programs write meanwhile.
        assert!(own.used.abs_diff(number(2) * 1024) < 1 << 30, "{own:?}\n{printed}");
        assert!(own.available.abs_diff(number(3) * 1024) < 1 << 30, "{own:?}\n{printed}");
        assert!(own.percent().abs_diff(number(4)) <= 1, "{own:?}\n{printed}");
    }

    #[test]
    fn silent_disk_keeps_its_last_figures() {
        let mut sampler = DiskSampler::new("/".into(), Handle::default());
        let first = sampler.sample();
        assert!(!first.silent && !first.disks.is_empty(), "{first:?}");
        let (release, released) = std::sync::mpsc::channel::<()>();
        let disks = first.disks.clone();
        let hanging = Task::start(&Handle::default(), move || {
            let _ = released.recv();
            disks
        });
        sampler.running = Some(hanging.unwrap());
        for _ in 0..2 {
            let silent = sampler.sample();
            assert!(silent.silent && silent.disks == first.disks, "{silent:?}");
        }
        drop(release);
        while sampler.sample().silent {}
    }
}
