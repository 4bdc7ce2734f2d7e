//! What a run leaves behind for its reader: arguments that are kept, advice to step back, a round of
//! history.

use pipemux_proto::Code;
use pipemux_proto::prototype::Type;
use pipemux_proto::report::Status;
use pipemux_proto::watch::What;

use crate::Core;
use crate::event::Effect;
use crate::feed::Audience;
use crate::persist::records::Record;
use crate::runs::history_round::saved_round;
use crate::runs::open_questions::OpenRuns;
use crate::runs::{Argument, Run, Step};
use crate::verbs::run_exit_status;
use crate::workspaces::Workspace;

/// Keeps what can be sent again and counts failures. Returns the lines that say so.
pub fn of(workspace: &mut Workspace, runs: &mut OpenRuns, run: &Run) -> String {
    let mut out = String::new();
    for (index, _) in &run.rebased {
        let name = run.steps.get(*index).map_or("", |step| step.prototype.name.as_str());
        out +=
            &format!("{name}: what it refers to had changed, it was done to what is there now\n");
    }
    runs.forget_kept(&run.workspace, &run.reader);
    let Some(reader) = workspace.reader_mut(&run.reader) else { return out };
    let Some(ended) = run.done.last().filter(|ended| ended.fault.is_some()) else {
        reader.forget_failures();
        return out;
    };
    let index = run.done.len() - 1;
    let step = &run.steps[index];
    let stale = ended.fault.as_ref().is_some_and(|fault| fault.code == Code::Stale);
    let unknown = ended.status == Status::Unknown;
    // A link binds what it meant: sent again it is as stale as before.
    if (stale || unknown)
        && !step.nested
        && !step.call.starts_with("link:")
        && !has_line_numbers(step)
    {
        runs.keep(again(run, index));
        out += if stale {
            "it changed nothing, your arguments are kept · pipemux answer go: sends them to what is now shown\n"
        } else {
            "if it did not take effect, send it again: pipemux answer go\n"
        };
    }
    if let Some(failures) = reader.count_failure(&step.call) {
        out += &format!(
            "step back: this call has failed {} times in a row. Look first (pipemux view {}), then try another way\n",
            failures, step.session
        );
    }
    out
}

/// True when a step names lines by bare numbers: refs name things, numbers don't, so it can't be sent
/// against another state.
fn has_line_numbers(step: &Step) -> bool {
    step.args.iter().any(|(name, argument)| {
        let param = step.prototype.params.iter().find(|param| param.name == *name);
        let line = param.is_some_and(|param| param.ty == Type::Line);
        line && !matches!(argument, Argument::Ref { .. } | Argument::Name { .. })
    })
}

/// The same run from the step that was refused.
fn again(run: &Run, from: usize) -> Run {
    let mut again = run.clone();
    // Results of nested calls are taken anew with their outer step.
    let nested = run.steps[..from].iter().rev().take_while(|step| step.nested).count();
    let first = from - nested;
    again.done.truncate(first);
    again.next = first;
    again.looked_up = Default::default();
    again.touched.clear();
    again.rebased.clear();
    (again.unknown, again.cancelled) = (false, false);
    // What it did when it was sent before isn't known, however it ends now.
    if run.done.get(from).is_some_and(|ended| ended.status == Status::Unknown) {
        again.again.push(from);
    }
    again
}

impl Core {
    /// Writes a run down.
    pub(crate) fn record_round(&mut self, run: &Run) {
        let (at, exit, now) = (&run.workspace, run_exit_status(run), self.turn.now);
        let Some(workspace) = self.workspaces.get_mut(at) else { return };
        let round = saved_round(run, workspace.history.count + 1, now.unix_ms, exit);
        workspace.history.add(round.clone());
        let exit = if exit == 0 { String::new() } else { format!(" (exit {exit})") };
        let text = format!("{}{exit} · {}", round.action, round.result);
        let place = Audience::Workspace(at.clone(), None);
        self.tell(What::Act, place, Some(&round.reader), &text);
        self.turn.effects.push(Effect::Persist(Record::Round { workspace: at.to_string(), round }));
    }
}
