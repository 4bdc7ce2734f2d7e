//! The next step of a reader, with the call that carries it out.

use pipemux_planner_course::lang::Lang;

use crate::frame::say;
use crate::model::Planner;
use crate::reader::Reader;

/// The owner of the current turn, from a reader's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The turn of the reader who gets the answer.
    Yours,
    /// Somebody else's: the reader waits.
    Others,
    /// Nobody's: it is over.
    Nobody,
}

/// The next expected step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextStep {
    pub whose: Whose,
    /// A sentence that names who should do what.
    pub sentence: String,
    /// The full command for the reader to run, or the one to wait with.
    pub call: String,
    /// Alternative steps, one line each.
    pub also: Vec<String>,
}

impl NextStep {
    /// Returns what stands before the sentence.
    pub fn heading(&self, lang: Lang) -> &'static str {
        match self.whose {
            Whose::Yours => lang.pick("Expected of you now", "现在请你"),
            Whose::Others => lang.pick("Wait", "请等待"),
            Whose::Nobody => lang.pick("Done", "完成"),
        }
    }

    /// Returns what is expected, in a line.
    pub fn line(&self, lang: Lang) -> String {
        format!("{}: {}", self.heading(lang).to_lowercase(), self.sentence)
    }

    /// Has the reader wait.
    pub fn wait(planner: &Planner, sentence: String) -> Self {
        Self { whose: Whose::Others, sentence, call: waiting(planner), also: Vec::new() }
    }

    /// Adds what else could be done.
    pub fn also(mut self, line: impl Into<String>) -> Self {
        self.also.push(line.into());
        self
    }
}

/// Returns what the user is to do: for a reader who speaks for the user with the call, and for
/// others to wait for.
pub fn of_user(
    planner: &Planner,
    reader: &Reader<'_>,
    what: &str,
    call: &str,
    also: &[&str],
) -> NextStep {
    let lang = planner.course.lang();
    let user = lang.pick("the user ", "由用户");
    let (sentence, call) = (format!("{user}{}", say(lang, what)), planner.run(call));
    if reader.speaks_for_the_user(planner) {
        let also = also.iter().map(|one| say(lang, one)).collect();
        return NextStep { whose: Whose::Yours, sentence, call, also };
    }
    let waits = NextStep::wait(planner, sentence);
    match reader.may_speak_for_the_user(planner) {
        true => waits.also(lang.pick(
            format!("if you speak for the user: `{call}`"),
            format!("如果你代表用户：`{call}`"),
        )),
        false => waits,
    }
}

/// Returns the command that waits until something is expected of whoever gives it.
pub fn waiting(planner: &Planner) -> String {
    planner.run("turn()").replacen("run ", "run --wait 300 ", 1)
}
