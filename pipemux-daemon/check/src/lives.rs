//! Rules for sleep, waking, kills and ends.

use std::time::{SystemTime, UNIX_EPOCH};

use pipemux_proto::app::{Empty, OpenRequest, Opened, Saved, meant_version};
use pipemux_proto::projection::Lod;
use pipemux_proto::{Envelope, Incarnation, Method};

use crate::checker::Checker;
use crate::limits::{ANSWER, END, END_WAIT, WAKE_FUTURE, WAKE_PAST};
use crate::process::Answer;
use crate::windows::same;

impl Checker<'_> {
    /// Sends a further open, and opens a second session in a process that sessions share.
    pub fn further_opens(&mut self) {
        let mut open = self.subject.open_request(&self.subject.main, false, None);
        open.attach = true;
        // It may be refused, but it is answered.
        let _ = self.ask::<Opened>("open again", Method::AppOpen, &open);
        if self.subject.shares_process {
            self.second_session();
        }
        self.look("project full");
    }

    fn second_session(&mut self) {
        let place = "second session";
        let Ok(address) = format!("{}/second", self.subject.main.provider).parse() else { return };
        let Some(process) = self.process.as_mut() else { return };
        let main = process.life;
        process.life = Incarnation(main.0 + 1_000_000);
        let open: OpenRequest = self.subject.open_request(&address, false, None);
        let opened = self.ask::<Opened>(place, Method::AppOpen, &open);
        if matches!(opened, Some(Ok(_))) {
            let project = self.subject.project(2, Lod::Full, 1000, None);
            let shown =
                self.ask::<pipemux_proto::projection::Projection>(place, Method::Project, &project);
            let closed = self.ask::<Empty>(place, Method::AppClose, &Empty {});
            drop((shown, closed));
        }
        // A lost process was started again, with lives of its own.
        if let Some(process) = self.process.as_mut()
            && process.life.0 == main.0 + 1_000_000
        {
            process.life = main;
        }
    }

    /// Has the app save its state and end, and wakes it.
    pub fn sleep_and_wake(&mut self) {
        let Some(before) = self.look("project full") else { return };
        let saved = match self.ask::<Saved>("save", Method::Save, &Empty {}) {
            Some(Ok(saved)) => {
                self.check_wake_time(&saved);
                meant_version(saved.version, self.minor)
            }
            Some(Err(fault)) => {
                return self
                    .report
                    .note(format!("sleep, since the app refuses it: {}", fault.message));
            }
            None => return,
        };
        if let Some(version) = saved.filter(|version| *version != before.version)
            && !self.changes_by_itself()
        {
            let text = format!(
                "names version {version}, the window showed {}: name the version of the state",
                before.version
            );
            self.report.add("save", "saved-version", text);
        }
        self.close();
        let Some(opened) = self.start("wake", true, saved) else { return };
        let resumed = meant_version(opened.resumed, self.minor);
        let Some(version) = saved else {
            self.look("wake");
            return;
        };
        if resumed != Some(version) {
            let what = resumed.map_or("nothing".to_owned(), |resumed| resumed.to_string());
            let text = format!(
                "`Saved` named version {version} and `Opened` resumed {what}: answer `resumed: {version}` with the same state, or save without a version"
            );
            self.report.add("wake", "not-resumed", text);
            self.look("wake");
            return;
        }
        let Some(after) = self.look("wake") else { return };
        if after.version == version && same(&before, &after) || self.changes_by_itself() {
            return;
        }
        if after.version != version {
            let text = format!(
                "resumed version {version} and shows version {}: go on from the version that was saved",
                after.version
            );
            self.report.add("wake", "version", text);
        }
        if !same(&before, &after) {
            let text = "resumed, and the window differs from the one before the sleep: readers are told nothing of it";
            self.report.add("wake", "resumed", text);
        }
    }

    /// Checks when a session wants to be woken.
    fn check_wake_time(&mut self, saved: &Saved) {
        let Some(at) = saved.wake_at else { return };
        self.names_wake_time = true;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let text = if at.saturating_add(WAKE_PAST) < now {
            "is past, so the session is never put to sleep: do what is due, then name the next time, or none"
        } else if at > now.saturating_add(WAKE_FUTURE) {
            "is more than a hundred years ahead: name none if nothing is to come"
        } else {
            return;
        };
        let text =
            format!("`wake_at` {at} {text}; it counts milliseconds since 1970 in UTC (now {now})");
        self.report.add("save", "wake-at", text);
    }

    /// Starts a session as if the time had come for which it wants to be woken.
    pub fn wake_when_due(&mut self) {
        if !self.names_wake_time || self.process.is_none() {
            return;
        }
        let saved = self.ask::<Saved>("save", Method::Save, &Empty {});
        let Some(Ok(saved)) = saved else { return };
        let version = meant_version(saved.version, self.minor);
        self.close();
        let place = "wake when due";
        self.due = true;
        let opened = self.start(place, true, version);
        self.due = false;
        if opened.is_some() {
            self.look(place);
        }
    }

    /// Kills the process, and starts it again.
    pub fn kill_and_restart(&mut self) {
        if self.process.is_none() {
            return;
        }
        self.end_process();
        if self.start("start after a kill", true, None).is_some() {
            self.look("start after a kill");
        }
    }

    /// Ends the session in an orderly way.
    pub fn close(&mut self) {
        let Some(process) = self.process.as_mut() else { return };
        let place = "close";
        process.life = process.process;
        let request = process.envelope(Method::AppClose, ANSWER);
        process.send(&request, &Empty {});
        self.report.requests += 1;
        let answer = process.answer(&request, END_WAIT);
        let number = process.process.0;
        match answer {
            Answer::Reply(_) | Answer::Fault(_) => {}
            Answer::Late => {
                self.report.add(place, "no-answer", "AppClose got no answer: save, reply and exit");
            }
            Answer::Lost(why) => {
                let text = why
                    .unwrap_or_else(|| "it ended without an answer: save, reply and exit".into());
                self.report.add(place, "close", text);
            }
        }
        self.expect_end(place, number, "after its reply to AppClose");
    }

    /// Takes the connection away, as a daemon that is lost does.
    pub fn lose_daemon(&mut self) {
        let place = "lose the daemon";
        if self.start(place, true, None).is_none() {
            return;
        }
        let Some(mut process) = self.process.take() else { return };
        let number = process.process.0;
        // Half a frame is the last that comes.
        process.write(&[0, 0, 0, 9, 0x95, 0]);
        process.close();
        self.expect_end(place, number, "after its connection was closed");
    }

    /// Waits for the end of a process that should end by itself.
    fn expect_end(&mut self, place: &str, process: u64, when: &str) {
        if self.launch.wait(process, END_WAIT).is_none() {
            let text =
                format!("runs on {when}: a process that does after {} s is killed", END.as_secs());
            self.report.add(place, "end", text);
        }
        self.end_process();
        self.launch.kill(process);
    }

    /// Makes an envelope of the process that no request has.
    pub(crate) fn stray_envelope(&mut self, kind: pipemux_proto::Kind) -> Option<Envelope> {
        let process = self.process.as_ref()?;
        let request = Envelope::request(Method::Ping, 9_999_999, process.life);
        Some(Envelope { kind, ..request })
    }
}
