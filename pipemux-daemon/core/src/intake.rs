//! Decodes everything that apps send, and enforces its bounds.
//!
//! **Invariant: this is the only place where a body of an app is decoded.** So no text of an app is
//! longer anywhere in the daemon than its bound in [`limits`](crate::limits) says. A text that is
//! read by people and models is cut, and says by how much; what has a meaning that can't be cut (a
//! key, a name, a value) is refused, and the refusal says why. A test reads the sources and finds
//! other places that decode.
//!
//! | module | holds |
//! |---|---|
//! | `decode` | the decoding itself |
//! | `checks` | what must stay as it is |
//! | `greeting` | what an app can do |
//! | `outcome` | what became of an action: outcomes, questions, errors |
//! | [`pattern`] | the patterns of fields |
//! | `window` | what a window shows |

mod checks;
mod decode;
mod greeting;
mod outcome;
pub mod pattern;
mod window;

use checks::check_name;
pub use decode::{FromApp, SaidByApp, any, as_sent, read, read_said};
pub use greeting::bound_fields;

use pipemux_proto::Fault;
use pipemux_proto::app::{Changed, Chunk, Saved};
use pipemux_proto::limits::KEY_MAX;

use crate::foreign::Speaker;
use crate::limits::{
    BRIEF_CHARS, BUSY_CHARS, JOBS_RUNNING_MAX, LABEL_CHARS, LINK_CODE_MAX, NOTES_MAX, NOTICE_CHARS,
    PATH_MAX, PROGRESS_CHARS, REASON_CHARS,
};

use crate::foreign::bounds::{cut_list, line};
use crate::foreign::{
    Busy, ForeignText, JobReport, KeyLocation, Located, Notify, Opened, Progress,
};
pub use window::{WindowTexts, bound_head, bound_link};

/// Decodes an error of an app. With `names`, its message names the app, since nothing else does
/// where it is shown.
///
/// # Errors
/// The bytes are no error; in words.
pub fn read_error(body: &[u8], by: Speaker<'_>, names: bool) -> Result<Fault, String> {
    let mut fault: Fault = as_sent(body)?;
    outcome::bound_fault(&mut fault);
    by.mark_fault(&mut fault, names);
    Ok(fault)
}

impl FromApp for Changed {
    fn bound(&mut self) -> Result<(), String> {
        Ok(())
    }
}

impl FromApp for Saved {
    fn bound(&mut self) -> Result<(), String> {
        Ok(())
    }
}

impl FromApp for Busy {
    fn bound(&mut self) -> Result<(), String> {
        line(&mut self.what, BUSY_CHARS);
        Ok(())
    }
}

impl FromApp for Progress {
    fn bound(&mut self) -> Result<(), String> {
        line(&mut self.text, PROGRESS_CHARS);
        Ok(())
    }
}

impl FromApp for JobReport {
    fn bound(&mut self) -> Result<(), String> {
        check_name("a job's key", &self.job, KEY_MAX)?;
        if let Some(text) = &mut self.text {
            line(text, PROGRESS_CHARS);
        }
        line(&mut self.brief, BRIEF_CHARS);
        Ok(())
    }
}

impl FromApp for Notify {
    fn bound(&mut self) -> Result<(), String> {
        line(&mut self.text, NOTICE_CHARS);
        Ok(())
    }
}

impl SaidByApp for Opened {
    fn bound(&mut self, by: Speaker<'_>) -> Result<(), String> {
        bound_notes(&mut self.notes);
        self.notes.iter_mut().for_each(|note| by.mark_foreign(note));
        cut_list(&mut self.jobs, JOBS_RUNNING_MAX);
        Ok(())
    }
}

impl SaidByApp for Located {
    fn bound(&mut self, by: Speaker<'_>) -> Result<(), String> {
        self.places.iter_mut().for_each(|place| bound_place(place, by));
        for token in &mut self.tokens {
            bound_place(&mut token.place, by);
            line(&mut token.title, LABEL_CHARS);
            token.at.iter_mut().for_each(|at| line(at, REASON_CHARS));
            // A call that is cut would be another one.
            token.click = token.click.take().filter(|code| code.len() <= LINK_CODE_MAX);
        }
        Ok(())
    }
}

fn bound_place(place: &mut KeyLocation, by: Speaker<'_>) {
    match place {
        KeyLocation::Hidden(how) => {
            line(how, REASON_CHARS);
            by.mark_foreign(how);
        }
        // It follows the daemon's sentence, in its line.
        KeyLocation::Gone(Some(why)) => line(why, REASON_CHARS),
        KeyLocation::Gone(None) | KeyLocation::Shown => {}
    }
}

impl FromApp for Chunk {
    fn bound(&mut self) -> Result<(), String> {
        match &self.path {
            Some(path) if path.len() > PATH_MAX => {
                Err(format!("a path of {} bytes (limit {PATH_MAX})", path.len()))
            }
            _ => Ok(()),
        }
    }
}

/// Makes each note one line, and the notes few.
fn bound_notes(notes: &mut Vec<ForeignText>) {
    let more = cut_list(notes, NOTES_MAX);
    notes.iter_mut().for_each(|note| line(note, NOTICE_CHARS));
    if more > 0 {
        notes.push(format!("… {more} more notes").into());
    }
}

#[cfg(test)]
mod tests;
