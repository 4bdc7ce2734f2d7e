//! The circumstances of an action, and which line numbers its reader has seen.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pipemux_proto::app::{ChangedBeside, Choice};
use pipemux_proto::{Fault, LineNumbers, deadline};

use crate::args::Record;
use crate::limits::ANSWER_MARGIN;

/// The circumstances of an action: who requested it, and which state they had seen.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The reader who requested the action.
    pub reader: String,
    /// Identifies the run. All steps of one run share it, and so does the answer that resumes the
    /// run. It is a pseudonym that the daemon makes: no other run has it, and the client's own id
    /// can't be told from it.
    pub run_id: String,
    /// The version of the state that the reader saw last. 0: the reader has seen none. Line numbers
    /// in the action refer to what [`Context::seen_numbers`] says.
    pub seen_version: u64,
    /// True when the reader saw only an earlier process of this session. Line numbers in the action
    /// then refer to a state that this process never showed.
    pub seen_lost: bool,
    /// The numbers that the reader was shown, where they don't all count in `seen_version`:
    /// [`Context::seen_numbers`] reads them.
    pub numbers: Vec<LineNumbers>,
    /// True when the reader may have been shown numbers that aren't known any more.
    pub forgotten: bool,
    /// The caller's working directory; empty when it isn't known.
    pub cwd: PathBuf,
    /// The current version of the state.
    pub version: u64,
    /// True when the action is a query, which leaves the state in its version.
    pub query: bool,
    /// True if the call only asks what the action would do. It is then a query, and its work is
    /// cancelled before its [`crate::blocking::CommitPoint`]: the app answers with what would have
    /// followed. A question is shown without being asked.
    pub preview: bool,
    /// The approximate number of tokens that the outcome's content may take.
    pub budget: u32,
    /// When the request is answered at the latest, with an error if its work isn't done; `None` if
    /// it has no deadline. [`Context::wait_until`] keeps to it.
    pub answer_by: Option<Instant>,
    /// True when another call takes the result, which is then not shown.
    pub nested: bool,
    /// The keys of what a person has allowed this app in the workspace: those of the
    /// [`ConsentRequest`](crate::ConsentRequest)s with which earlier actions failed. A key that is
    /// missing isn't allowed.
    pub consents: Vec<String>,
    /// For an action that undoes an earlier one: the files that other runs changed while the
    /// earlier action ran.
    pub changed_beside: Vec<ChangedBeside>,
    /// The answer to the question that this action asked before: the token that was given with the
    /// question, and the reader's choice. `None` when the action has not asked yet.
    pub answer: Option<(Vec<u8>, Choice)>,
}

impl Context {
    /// Returns the answer to a form that this action asked before ([`crate::Ask::form`]); `None`
    /// when it hasn't asked one yet.
    ///
    /// # Errors
    /// A field is missing or of another type, which only a daemon could send that doesn't check.
    pub fn form<T: Record>(&self) -> Result<Option<T>, Fault> {
        match &self.answer {
            Some((_, Choice::Fields(fields))) => T::from_fields(fields.clone()).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns how long work of this action that begins now may be waited for if it can outlast the
    /// action: `patience` from now, or less if the request's deadline leaves no time to report that
    /// the work continues.
    pub fn wait_until(answer_by: Option<Instant>, patience: Duration) -> Instant {
        let latest = answer_by.and_then(|by| by.checked_sub(ANSWER_MARGIN));
        let wanted = deadline::after(patience);
        latest.map_or(wanted, |latest| latest.min(wanted))
    }

    /// Resolves a path against the caller's working directory, if that is known.
    pub fn path(&self, argument: &str) -> PathBuf {
        self.cwd.join(Path::new(argument))
    }

    /// Returns what line numbers of a document refer to, in order and without gaps. A reader whose
    /// window was shown as a difference has seen some numbers in a later version than others.
    pub fn seen_numbers(&self, document: &str, numbers: Range<u64>) -> Vec<SeenNumbers> {
        let mut listed: Vec<&LineNumbers> =
            self.numbers.iter().filter(|listed| listed.document == document).collect();
        listed.sort_by_key(|listed| listed.first);
        let unlisted = match self.seen_lost || self.forgotten {
            true => NumbersSeen::Lost,
            false => NumbersSeen::In(self.seen_version),
        };
        let (mut all, mut from) = (Vec::new(), numbers.start);
        for LineNumbers { first, last, version, .. } in listed {
            let (start, end) = ((*first).max(from), last.saturating_add(1).min(numbers.end));
            if start >= end {
                continue;
            }
            if from < start {
                all.push(SeenNumbers { numbers: from..start, seen: unlisted, listed: false });
            }
            let seen = match version {
                None => NumbersSeen::Retired,
                Some(0) => NumbersSeen::Lost,
                Some(version) => NumbersSeen::In(*version),
            };
            all.push(SeenNumbers { numbers: start..end, seen, listed: true });
            from = end;
        }
        if from < numbers.end {
            all.push(SeenNumbers { numbers: from..numbers.end, seen: unlisted, listed: false });
        }
        all
    }

    /// Returns the version that the state will have once this action has taken effect: a query
    /// leaves it as it is.
    pub fn next_version(&self) -> u64 {
        self.version + u64::from(!self.query)
    }
}

/// Line numbers of a document, and where the reader saw them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenNumbers {
    /// The numbers.
    pub numbers: Range<u64>,
    /// Where the reader saw them.
    pub seen: NumbersSeen,
    /// True when the reader was shown exactly these numbers of this document, false when they count
    /// like everything that the reader wasn't shown.
    pub listed: bool,
}

/// Where a reader saw line numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumbersSeen {
    /// In this version of this process's state; 0: nowhere.
    In(u64),
    /// In an earlier process, or in a version that isn't known any more.
    Lost,
    /// The reader was told that they don't count any more: refuse them as stale.
    Retired,
}
