//! Which processes `kill` ends, and what it asks before.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};

use docui::{Anchor, Choice};
use pipemux_monitor::sampler::Sampler;
use pipemux_monitor::{Action, kill};
use pipemux_proto::app::Outcome;
use pipemux_proto::fault::Code;

use crate::{disks, fault, open};

/// A child process that does nothing. It is killed at the end of the test.
pub struct Sleep(pub Child);

impl Sleep {
    pub fn spawn(command: &mut Command) -> Self {
        Self(command.arg("1000").spawn().unwrap())
    }

    fn key(&self) -> String {
        Sampler::new(disks()).unwrap().inspect(self.0.id()).unwrap().process.key()
    }

    pub fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn kill_of(key: &str) -> Action {
    Action::Kill { process: Anchor::new(key, 0) }
}

#[test]
fn kill_shows_the_process_and_asks_first() {
    let dir = tempfile::tempdir().unwrap();
    let mut sleep = Sleep::spawn(&mut Command::new("sleep"));
    let (mut host, pid) = (open(&dir), sleep.0.id());
    let Outcome::Needs(asked) = host.invoke(&kill_of(&sleep.key())) else { panic!("should ask") };
    let question = asked.question;
    assert_eq!(question.text, format!("SIGTERM to sleep (pid {pid}), cannot be undone"));
    assert_eq!(question.options[0].text, "sleep 1000");
    let figures = &question.options[1].text;
    for part in ["user ", " · CPU 0% · memory ", " · started "] {
        assert!(figures.contains(part), "{figures}");
    }
    assert!(sleep.is_alive());
    let Outcome::Done(done) = host.answer(Choice::Yes) else { panic!("should be done") };
    assert_eq!(done.brief, format!("SIGTERM sent to sleep (pid {pid})"));
    assert_eq!(sleep.0.wait().unwrap().signal(), Some(15));
}

#[test]
fn process_with_a_reused_pid_is_not_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut sleep = Sleep::spawn(&mut Command::new("sleep"));
    let mut host = open(&dir);
    let key = sleep.key();
    let (pid, start) = key.split_once('-').unwrap();
    let earlier = format!("{pid}-{}", start.parse::<u64>().unwrap() - 1);
    assert_eq!(fault(&mut host, kill_of(&earlier)).code, Code::NotFound);
    // The same holds if the pid is reused after the last sample: the signal checks the start time
    // too.
    let mut sampler = Sampler::new(disks()).unwrap();
    for wrong in [&earlier, "p0-0", "p-1-1", "cpu", "p4294967295-1", "p99999999999-1"] {
        let refused = kill::terminate(&mut sampler, wrong).unwrap_err();
        assert_eq!(refused.code, Code::NotFound, "{wrong}: {refused}");
    }
    assert!(sleep.is_alive());
}

#[test]
fn monitor_and_its_ancestors_are_not_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = open(&dir);
    let mut sampler = Sampler::new(disks()).unwrap();
    let mut key = |pid| sampler.inspect(pid).unwrap().process.key();
    let (own, parent, first) =
        (key(std::process::id()), key(std::os::unix::process::parent_id()), key(1));
    for (key, part) in
        [(own, "this monitor itself"), (parent, "runs under"), (first, "first process")]
    {
        let fault = fault(&mut host, kill_of(&key));
        assert_eq!(fault.code, Code::Refused);
        assert!(fault.message.contains(part), "{fault}");
    }
}

#[test]
fn process_of_another_user_is_not_killed() {
    // Only root can start one.
    if !rustix::process::getuid().is_root() {
        return;
    }
    let mut sleep = Sleep::spawn(Command::new("sleep").uid(54321));
    let dir = tempfile::tempdir().unwrap();
    let fault = fault(&mut open(&dir), kill_of(&sleep.key()));
    assert_eq!(fault.code, Code::Refused);
    assert!(fault.message.ends_with("belongs to uid 54321, not to you"), "{fault}");
    assert!(sleep.is_alive());
}

#[test]
fn process_that_ended_after_the_question_gets_no_signal() {
    let dir = tempfile::tempdir().unwrap();
    let mut sleep = Sleep::spawn(&mut Command::new("sleep"));
    let mut host = open(&dir);
    let key = sleep.key();
    let Outcome::Needs(_) = host.invoke(&kill_of(&key)) else { panic!("should ask") };
    sleep.0.kill().unwrap();
    sleep.0.wait().unwrap();
    let Outcome::Failed(gone) = host.answer(Choice::Yes) else { panic!("it is gone") };
    assert_eq!((gone.code, gone.hints), (Code::NotFound, vec!["The process ended".to_owned()]));
}
