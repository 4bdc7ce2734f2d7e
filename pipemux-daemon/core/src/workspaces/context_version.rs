//! The version of a window's Context.

use std::rc::Rc;

use pipemux_proto::context::ContextVersion;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::projection::Lod;

use crate::event::Now;
use crate::workspaces::Rendered;

/// Counts the versions of a window's Context.
///
/// **Invariant: a version has one content** at the window's own level of detail. A look at another
/// level or budget has the version that the window has anyway.
#[derive(Debug, Clone, Default)]
pub struct ContextVersionCounter {
    /// Data versions so far.
    pub major: u64,
    /// Changes of the level of detail since the last data version.
    pub minor: u64,
    /// Different texts of the same data at the same level since then.
    pub patch: u64,
    /// The time at which one of the numbers last rose.
    pub at: Now,
    /// The process, data version and level of detail that were counted last.
    pub counted: Option<(Incarnation, u64, Lod)>,
    /// From where to where the data version went back, while what was then shown in full is shown.
    pub mismatch: Option<(u64, u64)>,
    /// The span of `mismatch`, before anything was shown in full again.
    went_back: Option<(u64, u64)>,
    text: CountedText,
}

/// The content of a Context when its version was last counted.
#[derive(Debug, Clone, Default)]
enum CountedText {
    /// No content has been counted yet.
    #[default]
    Nothing,
    /// The present data was only shown at another level of detail.
    Unknown,
    /// A window, and whether its prototypes fit.
    Window(Rc<Rendered>, bool),
    /// An earlier window, marked as busy; `None` if its app never answered.
    Busy(Option<Rc<Rendered>>),
    Diagnosis(String),
}

/// The content that an answer shows for a window.
#[derive(Debug)]
pub enum ShownContent {
    /// The current window.
    Window {
        /// The process that sent the window.
        app: Incarnation,
        /// The version of the data.
        data: u64,
        lod: Lod,
        /// The rendered window.
        rendered: Rc<Rendered>,
        /// True when there is room for its prototypes.
        fits: bool,
    },
    /// The window as last shown to the reader, if it was ever shown.
    Busy(Option<Rc<Rendered>>),
    Diagnosis(String),
}

impl ContextVersionCounter {
    /// Makes a counter that goes on after a data version.
    pub fn after(major: u64) -> Self {
        Self { major, ..Self::default() }
    }

    /// Returns the version.
    pub fn version(&self) -> ContextVersion {
        let Self { major, minor, patch, .. } = *self;
        ContextVersion { major, minor, patch }
    }

    /// Increments the patch number for a text whose version was also used for another form of the
    /// text.
    pub fn count_again(&mut self, now: Now) {
        (self.patch, self.at) = (self.patch + 1, now);
    }

    /// Notes that the app's data version went back: the next content is of new data.
    pub fn note_went_back(&mut self, from: u64, to: u64) {
        self.went_back = Some((from, to));
        self.counted = None;
    }

    /// Counts what an answer shows: a change of the data increments `major`, a change of the level
    /// of detail `minor`, and a different text of the same data at the same level `patch`. With
    /// `peek`, for a level or budget of this answer only, just changes by the app count.
    pub fn count(&mut self, shown: ShownContent, peek: bool, now: Now) {
        let before = (self.major, self.minor, self.patch);
        let text = match &shown {
            ShownContent::Window { .. } if peek => CountedText::Unknown,
            ShownContent::Window { rendered, fits, .. } => {
                CountedText::Window(rendered.clone(), *fits)
            }
            ShownContent::Busy(rendered) => CountedText::Busy(rendered.clone()),
            ShownContent::Diagnosis(text) => CountedText::Diagnosis(text.clone()),
        };
        match shown {
            ShownContent::Window { app, data, lod, .. } => match self.counted {
                Some((known, version, own)) if (known, version) == (app, data) => {
                    if peek {
                        let shows_window =
                            matches!(self.text, CountedText::Unknown | CountedText::Window(..));
                        if shows_window {
                            return;
                        }
                        self.patch += 1;
                    } else if own != lod {
                        (self.minor, self.patch) = (self.minor + 1, 0);
                        self.counted = Some((app, data, lod));
                    } else if self.text.differs(&text) {
                        self.patch += 1;
                    }
                }
                known => {
                    (self.major, self.minor, self.patch) = (self.major + 1, 0, 0);
                    self.mismatch = self.went_back.take();
                    let own = known.map(|(.., own)| own).filter(|_| peek);
                    self.counted = Some((app, data, own.unwrap_or(lod)));
                }
            },
            ShownContent::Busy(_) | ShownContent::Diagnosis(_) => {
                if matches!(self.text, CountedText::Nothing) {
                    (self.major, self.minor, self.patch) = (self.major + 1, 0, 0);
                } else if self.text.differs(&text) {
                    self.patch += 1;
                }
            }
        }
        self.text = text;
        if before != (self.major, self.minor, self.patch) {
            self.at = now;
        }
    }
}

impl CountedText {
    /// Returns true when a text that is shown after this one is another one.
    fn differs(&self, next: &Self) -> bool {
        match (self, next) {
            (CountedText::Window(one, fits), CountedText::Window(other, now_fits)) => {
                fits != now_fits || (!Rc::ptr_eq(one, other) && !one.has_same_text(other))
            }
            // What was not shown at the window's own level yet has this version already.
            (CountedText::Unknown, CountedText::Window(..)) => false,
            (CountedText::Diagnosis(one), CountedText::Diagnosis(other)) => one != other,
            (CountedText::Busy(Some(one)), CountedText::Busy(Some(other))) => {
                !Rc::ptr_eq(one, other) && !one.has_same_text(other)
            }
            (CountedText::Busy(one), CountedText::Busy(other)) => one.is_some() != other.is_some(),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting {
        counter: ContextVersionCounter,
        time: u64,
    }

    impl Counting {
        fn shown(&mut self, shown: ShownContent, peek: bool) -> (u64, u64, u64, u64) {
            self.time += 10;
            let now = Now { mono_ms: 0, unix_ms: self.time };
            self.counter.count(shown, peek, now);
            let ContextVersionCounter { major, minor, patch, at, .. } = &self.counter;
            (*major, *minor, *patch, at.unix_ms)
        }

        fn window(&mut self, app: u64, data: u64, lod: Lod, text: &str) -> (u64, u64, u64, u64) {
            self.shown(window(app, data, lod, text), false)
        }
    }

    fn window(app: u64, data: u64, lod: Lod, text: &str) -> ShownContent {
        let rendered = Rc::new(Rendered { heading: text.into(), ..Rendered::default() });
        ShownContent::Window { app: Incarnation(app), data, lod, rendered, fits: true }
    }

    fn counting() -> Counting {
        Counting { counter: ContextVersionCounter::after(7), time: 0 }
    }

    #[test]
    fn data_lod_and_text_count_major_minor_and_patch() {
        let mut count = counting();
        assert_eq!(count.window(1, 1, Lod::Summary, "a"), (8, 0, 0, 10));
        assert_eq!(count.window(1, 1, Lod::Summary, "a"), (8, 0, 0, 10));
        assert_eq!(count.window(1, 1, Lod::Summary, "b"), (8, 0, 1, 30));
        assert_eq!(count.window(1, 1, Lod::Full, "c"), (8, 1, 0, 40));
        assert_eq!(count.window(1, 2, Lod::Full, "c"), (9, 0, 0, 50));
        // Data of another process is new data, whatever its version is.
        assert_eq!(count.window(2, 2, Lod::Full, "c"), (10, 0, 0, 60));
    }

    #[test]
    fn peek_counts_nothing_but_new_data() {
        let mut count = counting();
        let first = count.window(1, 1, Lod::Summary, "a");
        assert_eq!(count.shown(window(1, 1, Lod::Gist, "g"), true), first);
        assert_eq!(count.window(1, 1, Lod::Summary, "a"), first);
        // The data changed, and a peek is the first to show it.
        let changed = count.shown(window(1, 2, Lod::Gist, "h"), true);
        assert_eq!(changed, (9, 0, 0, 40));
        assert_eq!(count.window(1, 2, Lod::Summary, "b"), changed);
        assert_eq!(count.window(1, 2, Lod::Summary, "c"), (9, 0, 1, 60));
    }

    #[test]
    fn diagnosis_is_a_patch_and_stays_as_it_is_until_it_is_mended() {
        let mut count = counting();
        let diagnosis = |text: &str| ShownContent::Diagnosis(text.into());
        count.window(1, 1, Lod::Summary, "a");
        let broken = count.shown(diagnosis("no file"), false);
        assert_eq!(broken, (8, 0, 1, 20));
        assert_eq!(count.shown(diagnosis("no file"), false), broken);
        assert_eq!(count.shown(diagnosis("no file"), true), broken);
        assert_eq!(count.shown(diagnosis("no disk"), false), (8, 0, 2, 50));
        assert_eq!(count.shown(ShownContent::Busy(None), false), (8, 0, 3, 60));
        assert_eq!(count.shown(ShownContent::Busy(None), false), (8, 0, 3, 60));
        assert_eq!(count.window(1, 1, Lod::Summary, "a"), (8, 0, 4, 80));
        // A diagnosis before anything else was shown is a version of its own.
        let mut count = counting();
        assert_eq!(count.shown(diagnosis("no file"), false), (8, 0, 0, 10));
        assert_eq!(count.window(1, 1, Lod::Summary, "a"), (9, 0, 0, 20));
    }

    #[test]
    fn busy_windows_of_two_readers_are_two_versions() {
        let mut count = counting();
        let page =
            |text: &str| Some(Rc::new(Rendered { heading: text.into(), ..Rendered::default() }));
        count.window(1, 1, Lod::Summary, "a");
        assert_eq!(count.shown(ShownContent::Busy(page("a")), false), (8, 0, 1, 20));
        assert_eq!(count.shown(ShownContent::Busy(page("a")), false), (8, 0, 1, 20));
        assert_eq!(count.shown(ShownContent::Busy(page("b")), false), (8, 0, 2, 40));
    }

    #[test]
    fn data_that_went_back_is_new_data_even_under_the_same_version() {
        let mut count = counting();
        count.window(1, 5, Lod::Summary, "a");
        count.counter.note_went_back(5, 2);
        assert_eq!(count.counter.mismatch, None);
        assert_eq!(count.window(1, 5, Lod::Summary, "b"), (9, 0, 0, 20));
        assert_eq!(count.counter.mismatch, Some((5, 2)));
        count.window(1, 5, Lod::Summary, "b");
        assert_eq!(count.counter.mismatch, Some((5, 2)), "it belongs to the version");
        count.window(1, 6, Lod::Summary, "c");
        assert_eq!(count.counter.mismatch, None);
    }
}
