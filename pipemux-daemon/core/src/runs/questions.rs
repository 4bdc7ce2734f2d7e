//! Questions to readers, of apps and of the daemon itself, and their answers.
//!
//! | module | decides |
//! |---|---|
//! | [`question`], [`asker`], [`saved_question`] | an open question, who asks it, its saved form |
//! | `next_question`, [`missing_argument`] | what is asked before anything runs |
//! | [`answer_text`], [`selection`], [`typed_values`] | what a typed answer is, what it chooses, which value it gives |
//! | [`form`], [`form_answer`], `form_text`, `form_example` | several arguments in one question |

pub mod answer_text;
pub mod asker;
pub mod form;
pub mod form_answer;
mod form_example;
mod form_text;
pub mod missing_argument;
pub(super) mod next_question;
pub mod question;
pub mod saved_question;
pub mod selection;
pub mod typed_values;
