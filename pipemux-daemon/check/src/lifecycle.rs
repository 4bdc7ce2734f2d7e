//! Rules for sleep, waking, kills and ends.

use std::time::{SystemTime, UNIX_EPOCH};

use pipemux_proto::app::{Empty, Opened, Saved, meant_version};
use pipemux_proto::projection::{Lod, Projection};
use pipemux_proto::{Incarnation, Method};

use crate::limits::{ANSWER, END_WAIT, WAKE_FUTURE, WAKE_PAST};
use crate::observer::{Observer, same_content};
use crate::process::Answer;
use crate::session::Session;
use crate::subject::Opening;

/// Sends a further open, and opens a second session in a process that sessions share.
pub fn further_opens(observer: &mut Observer<'_>) {
    let session = &mut observer.session;
    let mut open = session.subject.open_request(&session.subject.main, Opening::default());
    open.attach = true;
    // It may be refused, but it is answered.
    let _ = session.ask::<Opened>("open again", Method::AppOpen, &open);
    if session.subject.shares_process {
        second_session(session);
    }
    observer.look("project full");
}

fn second_session(session: &mut Session<'_>) {
    let place = "second session";
    let Ok(address) = format!("{}/second", session.subject.main.provider).parse() else { return };
    let Some(process) = session.process.as_mut() else { return };
    let main = process.session;
    process.session = Incarnation(main.0 + 1_000_000);
    let open = session.subject.open_request(&address, Opening::default());
    let opened = session.ask::<Opened>(place, Method::AppOpen, &open);
    if matches!(opened, Some(Ok(_))) {
        let project = session.subject.project(2, Lod::Full, 1000, None);
        let _ = session.ask::<Projection>(place, Method::Project, &project);
        let _ = session.ask::<Empty>(place, Method::AppClose, &Empty {});
    }
    // A lost process was started again, with lives of its own.
    if let Some(process) = session.process.as_mut()
        && process.session.0 == main.0 + 1_000_000
    {
        process.session = main;
    }
}

/// Has the app save its state and end, and wakes it. Returns true when it named a time to be woken.
pub fn sleep_and_wake(observer: &mut Observer<'_>) -> bool {
    let Some(before) = observer.look("project full") else { return false };
    let saved = match observer.session.ask::<Saved>("save", Method::Save, &Empty {}) {
        Some(Ok(saved)) => saved,
        Some(Err(fault)) => {
            let text = format!("sleep, since the app refuses it: {}", fault.message);
            observer.session.report.note(text);
            return false;
        }
        None => return false,
    };
    check_wake_time(&mut observer.session, &saved);
    let version = meant_version(saved.version, observer.session.minor);
    if let Some(version) = version.filter(|version| *version != before.version)
        && !observer.changes_by_itself()
    {
        let text = format!(
            "names version {version}, the window showed {}: name the version of the state",
            before.version
        );
        observer.session.report.add("save", "saved-version", text);
    }
    close(&mut observer.session);
    wake(observer, &before, version);
    saved.wake_at.is_some()
}

/// Wakes a session that has saved its state at a version, and checks that it goes on from there.
fn wake(observer: &mut Observer<'_>, before: &Projection, saved: Option<u64>) {
    let opening = Opening { woken: saved, ..Opening::AGAIN };
    let Some(opened) = observer.session.start("wake", opening) else { return };
    let resumed = meant_version(opened.resumed, observer.session.minor);
    let Some(version) = saved else {
        observer.look("wake");
        return;
    };
    if resumed != Some(version) {
        let what = resumed.map_or("nothing".to_owned(), |resumed| resumed.to_string());
        let text = format!(
            "`Saved` named version {version} and `Opened` resumed {what}: answer `resumed: {version}` with the same state, or save without a version"
        );
        observer.session.report.add("wake", "not-resumed", text);
        observer.look("wake");
        return;
    }
    let Some(after) = observer.look("wake") else { return };
    if after.version == version && same_content(before, &after) || observer.changes_by_itself() {
        return;
    }
    if after.version != version {
        let text = format!(
            "resumed version {version} and shows version {}: go on from the version that was saved",
            after.version
        );
        observer.session.report.add("wake", "version", text);
    }
    if !same_content(before, &after) {
        let text = "resumed, and the window differs from the one before the sleep: readers are told nothing of it";
        observer.session.report.add("wake", "resumed", text);
    }
}

/// Checks when a session wants to be woken.
fn check_wake_time(session: &mut Session<'_>, saved: &Saved) {
    let Some(at) = saved.wake_at else { return };
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
    session.report.add("save", "wake-at", text);
}

/// Starts a session as if the time had come for which it wants to be woken.
pub fn wake_when_due(observer: &mut Observer<'_>) {
    let session = &mut observer.session;
    let Some(Ok(saved)) = session.ask::<Saved>("save", Method::Save, &Empty {}) else { return };
    let woken = meant_version(saved.version, session.minor);
    close(session);
    let place = "wake when due";
    if session.start(place, Opening { again: true, woken, due: true }).is_some() {
        observer.look(place);
    }
}

/// Kills the process, and starts it again.
pub fn kill_and_restart(observer: &mut Observer<'_>) {
    if observer.session.process.is_none() {
        return;
    }
    observer.session.end_process();
    if observer.session.start("start after a kill", Opening::AGAIN).is_some() {
        observer.look("start after a kill");
    }
}

/// Ends the session in an orderly way.
pub fn close(session: &mut Session<'_>) {
    let Some(process) = session.process.as_mut() else { return };
    let place = "close";
    process.session = process.incarnation;
    let request = process.envelope(Method::AppClose, ANSWER);
    process.send(&request, &Empty {});
    session.report.requests += 1;
    let answer = process.answer(&request, END_WAIT);
    let number = process.incarnation.0;
    match answer {
        Answer::Reply(_) | Answer::Fault(_) => {}
        Answer::Late => {
            session.report.add(place, "no-answer", "AppClose got no answer: save, reply and exit");
        }
        Answer::Lost(why) => {
            let text =
                why.unwrap_or_else(|| "it ended without an answer: save, reply and exit".into());
            session.report.add(place, "close", text);
        }
    }
    session.expect_end(place, number, "after its reply to AppClose");
}

/// Takes the connection away, as a daemon that is lost does.
pub fn lose_daemon(session: &mut Session<'_>) {
    let place = "lose the daemon";
    if session.start(place, Opening::AGAIN).is_none() {
        return;
    }
    let Some(mut process) = session.process.take() else { return };
    let number = process.incarnation.0;
    // Half a frame is the last that comes.
    process.write(&[0, 0, 0, 9, 0x95, 0]);
    process.close();
    session.expect_end(place, number, "after its connection was closed");
}
