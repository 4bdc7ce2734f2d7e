//! Text of apps, which nobody may take for PipeMux's own.
//!
//! **Invariant: behind [`intake`](crate::intake) no text that an app wrote for people or models is
//! a plain string.** It is a [`ForeignText`], or a [`ForeignStr`] where it is borrowed from the
//! bytes that came. Neither can be printed, dereferenced or written into another text: only the
//! modules here read them, each for the place where the text goes.
//!
//! | module | for |
//! |---|---|
//! | [`inert`] | Markdown: a line, several lines, a label, exact text in a fence |
//! | [`data`] | a field of its own: JSON, a record, the text of a value |
//! | [`quote`] | a sentence of the daemon that tells what an app said |
//! | [`bounds`] | nothing: it cuts a text to its bound |
//!
//! A text of the daemon's own may become foreign (`From<String>`), since that makes it only safer.
//! The other way there is none:
//!
//! ```compile_fail
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! let markdown = format!("{text}");
//! ```
//! ```compile_fail
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! let markdown: &str = &text;
//! ```
//! ```compile_fail
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! let markdown: &str = text.as_ref();
//! ```
//! ```compile_fail
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! let markdown = String::from(text);
//! ```
//! ```compile_fail
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! let markdown = ["a", "b"].concat() + &text;
//! ```
//! ```compile_fail
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! let markdown = text.to_string();
//! ```
//! What is left can be compared with what a reader wrote, and that is all:
//!
//! ```
//! let text = pipemux_core::ForeignText::from("[x](obj:1)");
//! assert!(text == "[x](obj:1)" && !text.is_empty());
//! ```

pub mod bounds;
pub mod data;
pub mod inert;
pub mod masked_paths;
pub mod quote;
mod text;

pub use quote::Speaker;
pub use text::{ForeignRc, ForeignStr, ForeignText};

use pipemux_proto::{app, job, projection};

// What apps send, as the daemon decodes it.
pub type Opened = app::OpenedOf<ForeignText>;
pub type Outcome = app::OutcomeOf<ForeignText>;
pub type Done = app::DoneOf<ForeignText>;
pub type Needs = app::NeedsOf<ForeignText>;
pub type Question = app::QuestionOf<ForeignText>;
pub type OptionItem = app::OptionItemOf<ForeignText>;
pub type Located = app::LocatedOf<ForeignText>;
pub type KeyLocation = app::KeyLocationOf<ForeignText>;
pub type Notify = app::NotifyOf<ForeignText>;
pub type Busy = app::BusyOf<ForeignText>;
pub type Progress = app::ProgressOf<ForeignText>;
pub type Started = job::StartedOf<ForeignText>;
pub type JobReport = job::JobReportOf<ForeignText>;
pub type ObjectSlot = projection::ObjectSlotOf<ForeignText>;
pub type LinkSlot = projection::LinkSlotOf<ForeignText>;
pub type Piece = projection::PieceOf<ForeignText>;
pub type Projection = projection::ProjectionOf<ForeignText>;
