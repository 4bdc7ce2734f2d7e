//! The verbs: one file where one has substance.

mod abandon_pending_views;
pub(crate) mod bounds;
mod click;
pub(crate) mod deliver;
mod history;
mod list;
pub(crate) mod logs;
mod long_answer;
mod open;
pub(crate) mod prefetch;
pub(crate) mod providers;
pub(crate) mod read;
mod run;
mod run_driver;
mod run_questions;
mod session_updates;
mod set;
pub(crate) mod show;
mod stop;
pub(crate) mod wait;

pub(crate) use open::lod_name;
pub(crate) use run::exit_status as run_exit_status;

use pipemux_proto::client::Verb;

use crate::Core;
use crate::keys::RequestId;

impl Core {
    /// Begins what a request asks for.
    pub(crate) fn begin(&mut self, job: RequestId, verb: Verb) {
        match verb {
            Verb::Open(open) => self.open(job, open),
            Verb::View(view) => self.view_or_wait(job, view),
            Verb::Click { link } => self.click(job, &link),
            Verb::Run { code, stdin } => self.run(job, &code, stdin),
            Verb::Answer { text, to } => self.answer_question(job, &text, to),
            Verb::Read { target } => self.read(job, &target),
            Verb::Help { provider } => self.help(job, &provider),
            Verb::Close { session, end } => self.close(job, &session, end),
            Verb::Apps => self.apps(job),
            Verb::Sessions => self.list_sessions(job),
            Verb::Logs { session, lines, after, wait_ms } => {
                self.logs(job, &session, lines, after, wait_ms);
            }
            Verb::Restart { session } => self.restart(job, &session),
            Verb::End { session } => self.end(job, &session),
            Verb::History { detail, rounds } => self.history(job, detail, rounds),
            Verb::Set { option, value } => self.set(job, option.as_deref(), value.as_deref()),
            Verb::Status => self.status(job),
            Verb::Limits => self.limits(job),
            Verb::Watch(watch) => self.watch(job, watch),
            Verb::Providers(change) => self.change_providers(job, change),
            Verb::Down => self.down(job),
        }
    }
}
