//! The baseline of a run: what its reader had seen when it wrote the steps, which defines the
//! meaning of their line numbers and refs.

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;
use std::rc::Rc;

use pipemux_proto::app::Invoke;
use pipemux_proto::{Incarnation, LineNumbers};

use crate::keys::SessionKey;
use crate::runs::protocol::ArrivedWindow;
use crate::scripts::context::RunContext;
use crate::scripts::resolve_ref::RefScope;
use crate::scripts::step::Step;
use crate::workspaces::{Rendered, SeenLines, Workspace};

/// By session: the process that showed a reader its window, and the version that it showed.
pub type SeenVersions = BTreeMap<SessionKey, (Incarnation, u64)>;

/// For each session, the line numbers that a reader was shown, and their version.
pub type KnownLines = BTreeMap<SessionKey, Rc<SeenLines>>;

/// For each session, the objects that bound names stood for.
pub type SeenNames = BTreeMap<SessionKey, Rc<Rendered>>;

/// The information on line numbers in a message of a session's process.
pub type ToldLines = (SessionKey, Incarnation, LineNumbers);

/// Makes what was told of lines by one process of a session count as told by the next one.
pub(super) fn hand_over_told(
    told_lines: &mut [ToldLines],
    session: &SessionKey,
    (from, to): (Incarnation, Incarnation),
) {
    let told = told_lines.iter_mut().filter(|(told, ..)| told == session);
    for (_, app, _) in told.filter(|(_, app, _)| *app == from) {
        *app = to;
    }
}

/// The state that a reader had seen.
#[derive(Debug, Clone, Default)]
pub struct SeenBaseline {
    /// The seen versions, to which line numbers refer, except for those in `lines`.
    pub versions: SeenVersions,
    /// The line numbers that the reader had been shown.
    pub lines: KnownLines,
    /// The meaning of refs to the reader.
    pub refs: RefScope,
    /// True when an epoch was given for all numbers and refs.
    pub pinned: bool,
    /// The meanings of names; `None` if they mean what the reader has seen by the time their step
    /// runs.
    pub names: Option<Rc<SeenNames>>,
}

impl SeenBaseline {
    /// Returns what a reader has seen of sessions so far or, with an epoch, what there was to see
    /// then.
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
            // Numbers mean what this reader was shown by then; what a forgotten epoch showed isn't
            // known.
            Some(epoch) if versions.contains_key(session) => {
                reader.map_or_else(Rc::default, |reader| reader.lines_at(session, epoch))
            }
            Some(_) => Rc::new(SeenLines::forgotten()),
            None => reader.map_or_else(Rc::default, |reader| reader.lines_of(session)),
        };
        let lines = sessions.iter().map(|key| ((*key).clone(), lines(key))).collect();
        Self { versions, lines, refs, pinned: epoch.is_some(), names: None }
    }

    /// Returns what a reader has seen of the sessions that steps may be sent to.
    pub(super) fn of_steps(
        steps: &[Step],
        workspace: &Workspace,
        reader: &str,
        epoch: Option<u64>,
    ) -> Self {
        let sessions =
            steps.iter().flat_map(|step| [&step.session].into_iter().chain(&step.candidates));
        let sessions: Vec<&SessionKey> = sessions.collect();
        Self::of(workspace, reader, &sessions, epoch)
    }

    /// Returns a baseline for steps that an earlier daemon accepted. The line numbers that their
    /// reader had been shown are unknown, so line numbers in the steps are invalid.
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

    /// Makes what was seen of one process of a session count as seen of the next one, which has the
    /// same state.
    pub fn hand_over(&mut self, session: &SessionKey, from: Incarnation, to: Incarnation) {
        if let Some((app, _)) = self.versions.get_mut(session).filter(|(app, _)| *app == from) {
            *app = to;
        }
        if let Some(lines) = self.lines.get_mut(session) {
            Rc::make_mut(lines).hand_over(from, to);
        }
    }
}

/// What line numbers and refs mean in the steps of a run, which may have been written at different
/// times.
#[derive(Debug, Clone, Default)]
pub struct RunBaseline {
    /// The meanings in the next step.
    pub now: SeenBaseline,
    /// The meanings after a rebased step, which used the present state.
    saved: Option<SeenBaseline>,
    /// Steps that the reader wrote later to replace a failed one, with their own baseline.
    later: Option<Box<LaterSteps>>,
    /// For a retried run, the versions that its bare line numbers referred to originally.
    first_versions: Option<SeenVersions>,
}

impl RunBaseline {
    /// Updates the baseline of the steps to what the reader has seen by now. Bare line numbers of a
    /// retried run keep their meaning.
    pub(super) fn renew(&mut self, fresh: SeenBaseline) {
        let before = mem::replace(&mut self.now, fresh);
        self.saved = None;
        if self.first_versions.is_some() {
            self.now.lines = before.lines;
        }
    }

    /// Updates the baseline of a range of steps to what the reader has seen by now, including bare
    /// line numbers, which a refusal has just shown. Other steps keep their meaning.
    pub(super) fn renew_shown(&mut self, fresh: SeenBaseline, shown: Range<usize>) {
        let SeenBaseline { versions, lines, .. } = self.lasting();
        self.now = fresh.clone();
        (self.saved, self.first_versions) = (None, None);
        self.split(SeenBaseline { versions, lines, ..fresh }, shown);
    }

    /// Sets the baseline of the steps, except for those of a range, which keep the current one:
    /// what the reader has seen by now.
    pub fn split(&mut self, baseline: SeenBaseline, later: Range<usize>) {
        let unused = mem::replace(&mut self.now, baseline);
        self.later = Some(Box::new(LaterSteps { steps: later, unused, active: false }));
    }

    /// Appends steps that were written later, with another baseline. Returns false and adds nothing
    /// if the run already has later steps with a different baseline.
    pub(super) fn extend(&mut self, steps: Range<usize>, meaning: SeenBaseline) -> bool {
        match &mut self.later {
            Some(before) => before.extend(steps, &meaning),
            None => {
                let later = LaterSteps { steps, unused: meaning, active: false };
                self.later = Some(Box::new(later));
                true
            }
        }
    }

    /// Returns true if any step from `index` on was written later than the others and has another
    /// baseline.
    pub(super) fn is_mixed_behind(&self, index: usize) -> bool {
        self.later.as_ref().is_some_and(|later| {
            let behind = later.steps.end > index;
            behind && later.unused.versions != self.now.versions
        })
    }

    /// Makes numbers and refs mean what they do in the step with an index.
    pub(super) fn choose_for(&mut self, step: usize) {
        let Some(later) = &mut self.later else { return };
        if later.steps.contains(&step) != later.active {
            later.active = !later.active;
            mem::swap(&mut later.unused, &mut self.now);
        }
    }

    /// Returns what the steps behind the next one mean, wherever the run is.
    pub(super) fn lasting(&self) -> SeenBaseline {
        match (&self.later, &self.saved) {
            (Some(later), _) if later.active => later.unused.clone(),
            (_, Some(saved)) => saved.clone(),
            _ => {
                let seen = self.now.clone();
                // Bare numbers of a run that is sent again mean what they did at first.
                let versions = self.first_versions.clone().unwrap_or(seen.versions);
                SeenBaseline { versions, ..seen }
            }
        }
    }

    /// Makes the next step mean what a window shows now. Later steps mean what the reader saw.
    pub(super) fn take_window_as_seen(&mut self, session: SessionKey, window: ArrivedWindow) {
        if self.saved.is_none() {
            self.saved = Some(self.now.clone());
        }
        let ids = window.ids.into_iter().map(|id| (id, window.epoch));
        Rc::make_mut(&mut self.now.refs.known).extend(ids);
        self.now.lines.remove(&session);
        self.now.versions.insert(session, (window.app, window.version));
    }

    /// Makes the steps behind a rebased one mean what the reader saw.
    pub(super) fn restore(&mut self) {
        if let Some(saved) = self.saved.take() {
            self.now = saved;
        }
    }

    /// Keeps what bare line numbers mean, for steps that are sent when the reader may have seen
    /// more.
    pub(super) fn keep_first_versions(&mut self) {
        self.first_versions.get_or_insert_with(|| self.now.versions.clone());
    }

    /// Makes what was seen of one process of a session count as seen of the next one, which has the
    /// same state.
    pub(super) fn hand_over(&mut self, session: &SessionKey, from: Incarnation, to: Incarnation) {
        let later = self.later.as_mut().map(|later| &mut later.unused);
        let all = [Some(&mut self.now), self.saved.as_mut(), later];
        all.into_iter().flatten().for_each(|seen| seen.hand_over(session, from, to));
        let first = self.first_versions.as_mut().and_then(|seen| seen.get_mut(session));
        if let Some((app, _)) = first.filter(|(app, _)| *app == from) {
            *app = to;
        }
    }

    /// Returns what the line numbers of a session mean when an epoch was given for them.
    pub fn pinned_lines(&self, session: &SessionKey) -> Option<&SeenLines> {
        self.now.lines.get(session).map(|lines| &**lines).filter(|_| self.now.pinned)
    }

    /// Says in the request for a step what the reader had seen: the version, whether another
    /// process showed it, whose versions mean nothing to the one that gets the request, and what
    /// line numbers mean.
    pub(super) fn write_seen(&self, invoke: &mut Invoke, step: &Step, context: &RunContext<'_>) {
        let session = &step.session;
        let first = self.first_versions.as_ref().filter(|_| step.has_line_numbers());
        let current = context.current_incarnation(session);
        (invoke.seen_version, invoke.seen_lost) =
            match first.unwrap_or(&self.now.versions).get(session) {
                Some((app, version)) if Some(*app) == current => (Some(*version), false),
                Some(_) => (None, true),
                // The reader may have seen what an earlier daemon showed.
                None => (None, context.is_restored(session)),
            };
        self.write_lines(invoke, session, current);
        // A reader may have been shown numbers by an earlier daemon, too, also before the epoch
        // that it names.
        invoke.forgotten |= context.is_restored(session);
    }

    /// Marks in a retried request that the process whose version the reader saw no longer exists.
    pub(super) fn write_lost(&self, invoke: &mut Invoke, session: &SessionKey) {
        (invoke.seen_version, invoke.seen_lost) = match self.now.versions.get(session) {
            Some(_) => (None, true),
            None => (None, invoke.seen_lost),
        };
        self.write_lines(invoke, session, None);
    }

    fn write_lines(&self, invoke: &mut Invoke, session: &SessionKey, app: Option<Incarnation>) {
        match self.now.lines.get(session) {
            Some(lines) => lines.write_to(invoke, app),
            None => (invoke.numbers, invoke.forgotten) = (Vec::new(), false),
        }
    }
}

/// Steps of a run that their reader wrote later than the others.
#[derive(Debug, Clone)]
struct LaterSteps {
    /// Their indices.
    steps: Range<usize>,
    /// The inactive baseline: that of the later steps or, while one of these is next, that of the
    /// others.
    unused: SeenBaseline,
    /// True while one of them is next.
    active: bool,
}

impl LaterSteps {
    /// Appends steps that directly follow the current ones. Returns false and adds nothing if they
    /// have another baseline.
    fn extend(&mut self, steps: Range<usize>, meaning: &SeenBaseline) -> bool {
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
}
