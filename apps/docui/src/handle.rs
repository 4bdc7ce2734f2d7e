//! Lets an app send events from any thread: the serving loop sends them in order with its answers.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use pipemux_proto::ids::Incarnation;

use crate::job_report::{CancelFlag, PendingReport};
use crate::limits::{HANDLE_TEXT_MAX, NOTICES_QUEUED_MAX};

/// Lets a session tell the daemon something outside of requests: that the state changed, a notice
/// for readers, or that work is in progress. Cheap to clone; any thread may use it, also while the
/// app handles a request.
///
/// Nothing here waits. The serving loop sends what was asked for once it has finished the request
/// that it is handling, and what is asked for while `App` methods run follows their answer. After
/// the session has ended, and in the default value, calls do nothing.
///
/// ```no_run
/// # fn open(opening: &docui::Opening) {
/// let handle = opening.handle.clone();
/// std::thread::spawn(move || {
///     std::thread::sleep(std::time::Duration::from_secs(240));
///     handle.notify("The tea is ready.");
/// });
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Handle(Option<(Arc<Shared>, Incarnation)>);

#[derive(Debug)]
struct Shared {
    stream: UnixStream,
    /// What the serving loop is to do, by session.
    asked: Mutex<BTreeMap<Incarnation, Asked>>,
    /// The jobs that are under way, by session and key.
    jobs: Mutex<BTreeMap<(Incarnation, String), Weak<CancelFlag>>>,
    /// True if the daemon knows jobs.
    has_jobs: AtomicBool,
}

/// What the serving loop is to do for a session.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// True when a watched path changed.
    pub watched: bool,
    /// True when the state changed, whatever [`crate::App::refresh`] says.
    pub changed: bool,
    /// Lines for every reader, oldest first.
    pub notices: VecDeque<String>,
    /// How many lines found no room.
    pub left_out: u64,
    /// The newest word about work outside of requests.
    pub busy: Option<BusyState>,
    /// What is to be reported of jobs, by their keys.
    pub jobs: BTreeMap<String, PendingReport>,
}

/// What an app says of its work outside of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BusyState {
    /// It does this until then at most.
    Busy(String, Instant),
    /// It does nothing.
    Idle,
}

impl Handle {
    /// Says that the state changed, so that readers who wait are told and the next view is a fresh
    /// one. Put the change where [`crate::App::view`] finds it first. [`crate::App::refresh`] is
    /// called before.
    pub fn changed(&self) {
        self.ask(|asked| asked.changed = true);
    }

    /// Has the serving loop call [`crate::App::refresh`]; readers are told only if that returns
    /// true.
    pub fn refresh(&self) {
        self.ask(|_| ());
    }

    /// Gives every reader a line with their next answer, and ends their waits. The daemon shows at
    /// most 20 lines in 10 seconds and counts the rest.
    pub fn notify(&self, text: impl Into<String>) {
        let text = shortened(text.into());
        self.ask(|asked| match asked.notices.len() < NOTICES_QUEUED_MAX {
            true => asked.notices.push_back(text),
            false => asked.left_out += 1,
        });
    }

    /// Reports that the app works outside of requests, for at most this long. Until then or until
    /// [`Handle::idle`], the session isn't hibernated, and `pipemux sessions` shows what it does.
    pub fn busy(&self, what: impl Into<String>, at_most: Duration) {
        let what = shortened(what.into());
        // What lies too far ahead for the clock is bounded by the daemon anyway.
        let until = Instant::now().checked_add(at_most).unwrap_or_else(Instant::now);
        self.ask(|asked| asked.busy = Some(BusyState::Busy(what, until)));
    }

    /// Takes [`Handle::busy`] back: the work is done.
    pub fn idle(&self) {
        self.ask(|asked| asked.busy = Some(BusyState::Idle));
    }

    /// Has the serving loop report on a job, unless the daemon knows none.
    pub(crate) fn ask_job(&self, key: &str, add: impl FnOnce(&mut PendingReport)) {
        if self.has_jobs() {
            self.ask(|asked| add(asked.jobs.entry(key.to_owned()).or_default()));
        }
    }

    /// Returns true if the daemon knows jobs.
    pub(crate) fn has_jobs(&self) -> bool {
        self.0.as_ref().is_some_and(|(shared, _)| shared.has_jobs.load(Ordering::Relaxed))
    }

    /// Notes that a job is under way.
    pub(crate) fn add_job(&self, key: &str, cancel: &Arc<CancelFlag>) {
        if let Some((shared, session)) = &self.0 {
            shared.jobs().insert((*session, key.to_owned()), Arc::downgrade(cancel));
        }
    }

    /// Notes that a job has ended.
    pub(crate) fn remove_job(&self, key: &str) {
        if let Some((shared, session)) = &self.0 {
            shared.jobs().remove(&(*session, key.to_owned()));
        }
    }

    /// Returns whether a job is to be cancelled; none if it isn't under way.
    pub(crate) fn cancel_flag(&self, key: &str) -> Option<Arc<CancelFlag>> {
        let (shared, session) = self.0.as_ref()?;
        shared.jobs().get(&(*session, key.to_owned()))?.upgrade()
    }

    fn ask(&self, add: impl FnOnce(&mut Asked)) {
        let Some((shared, session)) = &self.0 else { return };
        let mut asked = shared.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let wake = !asked.contains_key(session);
        add(asked.entry(*session).or_default());
        if wake {
            // The socket is full only while the loop has been woken already.
            let _ = (&shared.stream).write(&[0]);
        }
    }
}

impl Shared {
    fn jobs(&self) -> MutexGuard<'_, BTreeMap<(Incarnation, String), Weak<CancelFlag>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cuts a text that the daemon would cut anyway, so that it never fills a frame.
fn shortened(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(HANDLE_TEXT_MAX));
    text
}

/// The end of the serving loop.
#[derive(Debug)]
pub(crate) struct HandleReceiver {
    stream: UnixStream,
    shared: Arc<Shared>,
}

impl HandleReceiver {
    /// Makes a receiver.
    ///
    /// # Errors
    /// The system gives no more descriptors.
    pub(crate) fn new() -> io::Result<Self> {
        let (stream, sender) = UnixStream::pair()?;
        stream.set_nonblocking(true)?;
        sender.set_nonblocking(true)?;
        let (asked, jobs) = (Mutex::default(), Mutex::default());
        let has_jobs = AtomicBool::new(true);
        let shared = Arc::new(Shared { stream: sender, asked, jobs, has_jobs });
        Ok(Self { stream, shared })
    }

    /// Notes whether the daemon knows jobs.
    pub(crate) fn set_has_jobs(&self, has_jobs: bool) {
        self.shared.has_jobs.store(has_jobs, Ordering::Relaxed);
    }

    /// Returns a session's handle.
    pub(crate) fn handle(&self, session: Incarnation) -> Handle {
        Handle(Some((self.shared.clone(), session)))
    }

    /// Returns what is to be done, by session, and forgets it.
    pub(crate) fn take(&self) -> BTreeMap<Incarnation, Asked> {
        let mut bytes = [0; 64];
        // First the bytes: what is asked for after this leaves a byte again.
        while matches!((&self.stream).read(&mut bytes), Ok(length) if length == bytes.len()) {}
        std::mem::take(&mut *self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl AsFd for HandleReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_session_is_woken_once_for_many_calls() {
        let receiver = HandleReceiver::new().unwrap();
        let (one, two) = (receiver.handle(Incarnation(1)), receiver.handle(Incarnation(2)));
        for _ in 0..100_000 {
            one.refresh();
        }
        two.changed();
        let changed = Asked { changed: true, ..Asked::default() };
        assert_eq!(
            receiver.take(),
            [(Incarnation(1), Asked::default()), (Incarnation(2), changed)].into()
        );
        assert_eq!(receiver.take(), BTreeMap::new());
        one.refresh();
        assert_eq!(receiver.take().len(), 1);
        Handle::default().changed();
    }

    #[test]
    fn notices_that_find_no_room_are_counted_and_long_ones_cut() {
        let receiver = HandleReceiver::new().unwrap();
        let handle = receiver.handle(Incarnation(1));
        for number in 0..NOTICES_QUEUED_MAX + 3 {
            handle.notify(format!("{number} {}", "é".repeat(HANDLE_TEXT_MAX)));
        }
        let asked = receiver.take().remove(&Incarnation(1)).unwrap();
        assert_eq!((asked.notices.len(), asked.left_out), (NOTICES_QUEUED_MAX, 3));
        assert!(asked.notices.iter().all(|notice| notice.len() <= HANDLE_TEXT_MAX));
        assert!(asked.notices[0].starts_with("0 é"));
    }

    #[test]
    fn newest_word_about_work_counts() {
        let receiver = HandleReceiver::new().unwrap();
        let handle = receiver.handle(Incarnation(1));
        handle.busy("counting", Duration::MAX);
        handle.idle();
        let asked = receiver.take().remove(&Incarnation(1)).unwrap();
        assert_eq!(asked.busy, Some(BusyState::Idle));
    }
}
