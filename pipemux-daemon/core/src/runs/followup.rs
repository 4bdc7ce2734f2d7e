//! What a run leaves behind for its reader: a run that is kept to be sent again, and advice.

use pipemux_proto::Code;
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Type;
use pipemux_proto::refs::Ref;
use pipemux_proto::report::StepStatus;

use crate::keys::SessionKey;
use crate::runs::open_questions::OpenRuns;
use crate::runs::phase::Phase;
use crate::runs::{Argument, Run, Step, StepOrigin};
use crate::workspaces::anchors::AnchorTable;
use crate::workspaces::{Reader, Workspace};

/// Keeps a run that can be sent again and counts failures. Returns the lines that tell the reader.
pub fn follow_up(workspace: &mut Workspace, runs: &mut OpenRuns, run: &Run) -> String {
    let mut out = String::new();
    let was_applied =
        |index: &&usize| run.done.get(**index).is_none_or(|outcome| outcome.fault.is_none());
    for index in run.rebased.iter().filter(was_applied) {
        let name = run.steps.get(*index).map_or("", |step| step.prototype.written_name());
        out += &format!(
            "{name}: what it refers to had changed; it was applied to what is there now\n"
        );
    }
    runs.forget_kept(&run.workspace, &run.reader);
    if workspace.reader(&run.reader).is_none() {
        return out;
    }
    // Queries go on after one that failed.
    let failed = run.done.iter().enumerate().rfind(|(_, outcome)| outcome.fault.is_some());
    let Some((index, outcome)) = failed else {
        workspace.reader_mut(&run.reader).into_iter().for_each(Reader::forget_failures);
        return out;
    };
    let is_last = index + 1 == run.done.len();
    let step = &run.steps[index];
    let stale = outcome.fault.as_ref().is_some_and(|fault| fault.code == Code::Stale);
    let unknown = outcome.status == StepStatus::Unknown;
    // Bare numbers don't follow what they mean, unless their app says that they do.
    let repeatable = outcome.fault.as_ref().and_then(|fault| fault.repeatable).filter(|_| stale);
    // A link binds its arguments: sent again it is as stale as before.
    let follows =
        step.origin != StepOrigin::Link && repeatable.unwrap_or_else(|| !has_line_numbers(step));
    if (stale || unknown) && is_last && !step.nested && follows {
        let mut kept = run.restart_at(index, &workspace.anchors);
        kept.repeated = (repeatable == Some(true)).then_some(kept.next..index + 1);
        runs.keep(kept);
        out += if stale {
            "it changed nothing, your arguments are kept; send them to what is now shown: pipemux answer go\n"
        } else {
            "if it did not take effect, send it again: pipemux answer go\n"
        };
    }
    let reader = workspace.reader_mut(&run.reader);
    if let Some(failures) = reader.and_then(|reader| reader.count_failure(&step.call)) {
        out += &format!(
            "step back: this call has failed {} times in a row. Look first (pipemux view {}), then try another way\n",
            failures, step.session
        );
    }
    out
}

/// True when a step names lines by bare numbers. Unlike refs they don't follow what they mean, so the step
/// can't be sent against another state.
pub(super) fn has_line_numbers(step: &Step) -> bool {
    fn are_lines(ty: &Type) -> bool {
        match ty {
            Type::Line => true,
            Type::List(item) | Type::Optional(item) | Type::Map(item) => are_lines(item),
            Type::Record(fields) => fields.iter().any(|field| are_lines(&field.ty)),
            _ => false,
        }
    }
    fn is_bare(argument: &Argument) -> bool {
        match argument {
            Argument::Ref { .. } | Argument::Name { .. } => false,
            Argument::List(_) | Argument::Record(_) => argument.parts().any(is_bare),
            Argument::Fixed(_) | Argument::Result(_) | Argument::Missing(_) => true,
        }
    }
    step.args.iter().any(|(name, argument)| {
        let param = step.prototype.params.iter().find(|param| param.name == *name);
        param.is_some_and(|param| are_lines(&param.ty)) && is_bare(argument)
    })
}

/// Makes an argument mean what its reader sees when it is sent again: a pinned ref, or a thing that was chosen in
/// the state in which a question listed it, could never lead anywhere else than to the same refusal.
fn unpin(argument: &mut Argument, session: &SessionKey, anchors: &AnchorTable) {
    match argument {
        Argument::Ref { of, .. } => of.epoch = None,
        Argument::Fixed(Arg::Ref(object)) => {
            if let Some(id) = anchors.id_of(session, &object.key) {
                let ty = Type::Anchor(object.ty.clone());
                *argument = Argument::Ref { of: Ref::obj(id), ty };
            }
        }
        Argument::List(items) => {
            items.iter_mut().for_each(|item| unpin(item, session, anchors));
        }
        Argument::Record(entries) => {
            entries.iter_mut().for_each(|(_, part)| unpin(part, session, anchors));
        }
        Argument::Fixed(_) | Argument::Name { .. } | Argument::Result(_) | Argument::Missing(_) => {
        }
    }
}

impl Run {
    /// The same run, to be carried out from a step that was refused or whose outcome is unknown.
    fn restart_at(&self, index: usize, anchors: &AnchorTable) -> Self {
        let mut run = self.clone();
        // The nested calls of the step run again with it.
        let nested = self.steps[..index].iter().rev().take_while(|step| step.nested).count();
        run.next = index - nested;
        run.begins_at = run.next;
        run.done.truncate(run.next);
        run.phase = Phase::Ready;
        run.looked_up = Default::default();
        run.value_files.clear();
        run.touched.clear();
        run.rebased.clear();
        (run.unknown, run.cancelled) = (false, false);
        (run.answered, run.wrong_answer) = (None, None);
        run.forget_told();
        // Later steps are sent when the reader may have seen more: their bare numbers still mean what it saw first.
        run.lines_seen.get_or_insert_with(|| self.seen.clone());
        for step in &mut run.steps[index - nested..=index] {
            let session = &step.session;
            step.args.iter_mut().for_each(|(_, argument)| unpin(argument, session, anchors));
        }
        // What it did when it was sent stays unknown, however it ends now.
        if self.done.get(index).is_some_and(|outcome| outcome.status == StepStatus::Unknown) {
            run.sent_before.push(index);
        }
        run
    }
}
