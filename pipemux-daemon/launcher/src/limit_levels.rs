//! Describes which mechanism enforces which limit on this system.

use std::fs;

use crate::cgroup::CgroupTree;

/// Says who holds an app to which limit here, for `status` and `doctor`.
pub fn describe_limits() -> String {
    let group = CgroupTree::find();
    let controllers =
        group.and_then(|group| fs::read_to_string(group.join("cgroup.controllers")).ok());
    describe(controllers.as_deref())
}

/// Describes the limits for a control group with these controllers, or without a group.
fn describe(controllers: Option<&str>) -> String {
    if !cfg!(target_os = "linux") {
        return "each process: memory, cpu and files, by the kernel".to_owned();
    }
    let there: Vec<&str> = controllers.unwrap_or_default().split_ascii_whitespace().collect();
    let (mut kernel, mut launcher) = (Vec::new(), Vec::new());
    for (limit, controller) in [("memory", "memory"), ("threads", "pids")] {
        let level = if there.contains(&controller) { &mut kernel } else { &mut launcher };
        level.push(limit);
    }
    launcher.extend(["processes", "disk"]);
    let shares = ["cpu", "io"].into_iter().filter(|name| there.contains(name));
    kernel.extend(shares);
    let group = match kernel.as_slice() {
        [] => "no delegated cgroup".to_owned(),
        held => format!("{} by cgroup", held.join(", ")),
    };
    format!(
        "each process: memory, cpu and files, by the kernel; each app: {} counted by the launcher ({group})",
        launcher.join(", ")
    )
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn each_limit_has_a_level() {
        assert_eq!(
            describe(None),
            "each process: memory, cpu and files, by the kernel; each app: memory, threads, processes, disk \
             counted by the launcher (no delegated cgroup)"
        );
        assert_eq!(
            describe(Some("cpuset cpu io memory pids")),
            "each process: memory, cpu and files, by the kernel; each app: processes, disk counted by the launcher \
             (memory, threads, cpu, io by cgroup)"
        );
    }
}
