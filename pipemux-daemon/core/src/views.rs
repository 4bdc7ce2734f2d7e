//! Writes what readers see: projections as Markdown, changes, Contexts, answers.
//!
//! Everything here is a function of its arguments. Rendering also mints ids in the anchor table
//! that it is given; whoever calls keeps the result.
//!
//! | module | writes |
//! |---|---|
//! | [`minter`] | links, and the ids that are minted for them |
//! | [`amounts`] | sizes and times for people |
//! | [`media`] | what the value of a thing is, when that is no text |
//! | [`window_renderer`], [`content_writer`], [`trim`] | a window: projection and anchor table in, Markdown and ids out |
//! | [`truncate`] | texts that keep to a budget |
//! | [`delta`], [`shown_lines`] | the changes of a window; which line numbers an answer shows or maps |
//! | [`quoted_refs`] | which refs in exact text are no anchors |
//! | [`prototypes`] | what an app can do |
//! | [`requested_window`], [`answer_window`] | a window on its way into an answer |
//! | [`answer`], [`outcome`], `outcome_content` | errors, results of steps, questions |
//! | [`answer_text`], [`unseen_changes`], `held_windows`, [`answer_buffer`], [`report`] | the answer as Markdown or as data |
//! | [`link_title`] | the calls that links show |
//! | [`context`] | the Context of a window |

pub mod amounts;
pub mod answer;
pub mod answer_buffer;
pub mod answer_text;
pub mod answer_window;
pub mod content_writer;
pub mod context;
pub mod delta;
pub mod file_diff;
pub mod form;
pub mod held_claim;
mod held_windows;
pub mod line_changes;
pub mod link_title;
pub mod media;
pub mod minter;
pub mod outcome;
mod outcome_content;
pub mod prototypes;
pub mod quoted_refs;
pub mod report;
pub mod requested_window;
pub mod resolved;
pub mod round_line;
mod run_answer;
pub mod shown_lines;
mod timestamp;
pub mod trim;
pub mod truncate;
pub mod unseen_changes;
pub mod window_renderer;

pub use crate::foreign::{inert, masked_paths};
pub use timestamp::{LocalTime, timestamp};
