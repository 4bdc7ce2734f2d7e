//! What line numbers and refs of a run's steps mean: what its reader had seen when it wrote them.

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;
use std::rc::Rc;

use pipemux_proto::Incarnation;

use crate::keys::SessionKey;
use crate::runs::Run;
use crate::runs::resolve_ref::RefScope;
use crate::workspaces::{Rendered, SeenLines, Workspace};

/// By session: the process that showed a reader its window, and the version that it showed.
pub type SeenVersions = BTreeMap<SessionKey, (Incarnation, u64)>;

/// By session: which line numbers a reader was shown, and in which version.
pub type KnownLines = BTreeMap<SessionKey, Rc<SeenLines>>;

/// By session: what bound names stood for.
pub type SeenNames = BTreeMap<SessionKey, Rc<Rendered>>;

/// What a reader had seen.
#[derive(Debug, Clone, Default)]
pub struct SeenBaseline {
    /// The versions that it had seen: line numbers mean these, but for those in `lines`.
    pub versions: SeenVersions,
    /// The line numbers that it had been shown.
    pub lines: KnownLines,
    /// What refs meant to it.
    pub refs: RefScope,
    /// True when an epoch was given for all numbers and refs.
    pub pinned: bool,
    /// What names stood for; absent when they mean what the reader has seen by the time at which their step runs.
    pub names: Option<Rc<SeenNames>>,
}

impl SeenBaseline {
    /// Returns what a reader has seen of sessions so far or, with an epoch, what there was to see then.
    pub fn of(
        workspace: &Workspace,
        reader: &str,
        sessions: &[&SessionKey],
        epoch: Option<u64>,
    ) -> Self {
        let refs = RefScope::of(workspace, reader, epoch);
        let reader = workspace.reader(reader);
        let seen = |session: &SessionKey| match epoch {
            Some(epoch) => Some(workspace.window(session)?.at(epoch)?.seen),
            None => reader?.seen.get(session).map(|seen| (seen.app, seen.version)),
        };
        let versions = sessions.iter().filter_map(|key| Some(((*key).clone(), seen(key)?)));
        let versions: SeenVersions = versions.collect();
        let lines = |session: &SessionKey| match epoch {
            // Numbers mean what this reader was shown by then; what a forgotten epoch showed isn't known.
            Some(epoch) if versions.contains_key(session) => {
                reader.map_or_else(Rc::default, |reader| reader.lines_at(session, epoch))
            }
            Some(_) => Rc::new(SeenLines::forgotten()),
            None => reader.map_or_else(Rc::default, |reader| reader.lines_of(session)),
        };
        let lines = sessions.iter().map(|key| ((*key).clone(), lines(key))).collect();
        Self { versions, lines, refs, pinned: epoch.is_some(), names: None }
    }

    /// Returns the baseline of steps that an earlier daemon was given: which numbers their reader had been shown isn't
    /// known any more, so that none of them means anything.
    pub fn forgotten<'a>(sessions: impl Iterator<Item = &'a SessionKey>) -> Self {
        let lines = sessions.map(|key| (key.clone(), Rc::new(SeenLines::forgotten()))).collect();
        Self { lines, names: Some(Rc::default()), ..Self::default() }
    }

    /// Makes names mean what a reader has seen by now, whatever it sees later.
    #[must_use]
    pub fn with_names(self, workspace: &Workspace, reader: &str) -> Self {
        let seen = workspace.reader(reader).into_iter().flat_map(|reader| &reader.seen);
        let names = seen.map(|(session, seen)| (session.clone(), seen.names.clone())).collect();
        Self { names: self.names.or(Some(Rc::new(names))), ..self }
    }

    /// Makes what was seen of one process of a session count as seen of the next one, which has the same state.
    pub fn hand_over(&mut self, session: &SessionKey, from: Incarnation, to: Incarnation) {
        if let Some((app, _)) = self.versions.get_mut(session).filter(|(app, _)| *app == from) {
            *app = to;
        }
        if let Some(lines) = self.lines.get_mut(session) {
            Rc::make_mut(lines).hand_over(from, to);
        }
    }
}

/// Steps of a run that their reader wrote later than the others.
#[derive(Debug, Clone)]
pub(super) struct LaterSteps {
    /// Their indices.
    steps: Range<usize>,
    /// What the steps mean that aren't in use: these ones or, while one of these is next, the others.
    unused: SeenBaseline,
    /// True while one of them is next.
    active: bool,
}

impl LaterSteps {
    /// Steps with these indices, none of which is next, and what they mean.
    pub(super) fn new(steps: Range<usize>, meaning: SeenBaseline) -> Self {
        Self { steps, unused: meaning, active: false }
    }

    /// Adds the steps that follow them. Returns false when these mean something else, and leaves them out.
    pub(super) fn extend(&mut self, steps: Range<usize>, meaning: &SeenBaseline) -> bool {
        let own = &self.unused;
        // Refs that were shown in between are unknown to them, and refused.
        let same = (&own.versions, &own.lines, own.pinned, own.refs.at)
            == (&meaning.versions, &meaning.lines, meaning.pinned, meaning.refs.at);
        let follows = !self.active && self.steps.end == steps.start && same;
        if follows {
            self.steps.end = steps.end;
        }
        follows
    }

    pub(super) fn baseline_mut(&mut self) -> &mut SeenBaseline {
        &mut self.unused
    }
}

impl Run {
    /// Makes the steps mean what a baseline says, but those of a range what the reader has seen by now.
    pub fn mean(&mut self, baseline: SeenBaseline, later: Range<usize>) {
        let unused = self.replace_baseline(baseline);
        self.later = Some(Box::new(LaterSteps { steps: later, unused, active: false }));
    }

    /// Returns true when steps from an index on were written later than the others, when their reader had seen
    /// something else.
    pub fn mixes_baselines_behind(&self, index: usize) -> bool {
        self.later.as_ref().is_some_and(|later| {
            let behind = later.steps.end > index;
            behind && later.unused.versions != self.baseline().versions
        })
    }

    /// Makes numbers and refs mean what they do in the next step.
    pub(super) fn choose_baseline(&mut self) {
        let Some(mut later) = self.later.take() else { return };
        if later.steps.contains(&self.next) != later.active {
            later.active = !later.active;
            later.unused = self.replace_baseline(later.unused);
        }
        self.later = Some(later);
    }

    /// Returns what the steps behind the next one mean, wherever the run is.
    pub fn lasting_baseline(&self) -> SeenBaseline {
        match (&self.later, &self.saved_baseline) {
            (Some(later), _) if later.active => later.unused.clone(),
            (_, Some(saved)) => saved.clone(),
            _ => {
                let seen = self.baseline();
                // Bare numbers of a run that is sent again mean what they did at first.
                let versions = self.lines_seen.clone().unwrap_or(seen.versions);
                SeenBaseline { versions, ..seen }
            }
        }
    }

    /// Returns what numbers and refs mean in the next step.
    pub(super) fn baseline(&self) -> SeenBaseline {
        SeenBaseline {
            versions: self.seen.clone(),
            lines: self.lines.clone(),
            refs: self.refs.clone(),
            pinned: self.pinned,
            names: self.names.clone(),
        }
    }

    pub(super) fn replace_baseline(&mut self, by: SeenBaseline) -> SeenBaseline {
        SeenBaseline {
            versions: mem::replace(&mut self.seen, by.versions),
            lines: mem::replace(&mut self.lines, by.lines),
            refs: mem::replace(&mut self.refs, by.refs),
            pinned: mem::replace(&mut self.pinned, by.pinned),
            names: mem::replace(&mut self.names, by.names),
        }
    }
}
