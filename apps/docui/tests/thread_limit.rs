//! The bound of threads for work that may wait. It counts the threads of the process, so it has a
//! program of its own.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use docui::Handle;
use docui::blocking::Task;
use pipemux_proto::fault::Code;

/// As `limits::THREADS_MAX`.
const THREADS_MAX: usize = 160;

#[test]
fn work_is_refused_while_all_threads_hang_and_taken_when_they_go_on() {
    let handle = Handle::default();
    let mut hanging = Vec::new();
    let mut releases = Vec::new();
    for _ in 0..THREADS_MAX {
        let (release, released) = channel::<()>();
        hanging.push(Task::start(&handle, move || released.recv().is_err()).unwrap());
        releases.push(release);
    }
    let refused = Task::start(&handle, || ()).unwrap_err();
    assert_eq!(refused.code, Code::Refused);
    assert!(refused.to_string().contains("160 requests wait"), "{refused}");

    releases.clear();
    for task in &mut hanging {
        assert_eq!(task.wait(Duration::from_secs(60)), Some(true));
    }
    let end = Instant::now() + Duration::from_secs(60);
    while Task::start(&handle, || ()).is_err() {
        assert!(Instant::now() < end, "no more work is taken");
        thread::yield_now();
    }
}
