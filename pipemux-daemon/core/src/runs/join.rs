//! A run that comes while a question of its reader is open: it waits behind the run that asks, and goes on with its answer.
//! So harnesses that send several calls at once, and agents that overlook a question, lose nothing.

use std::rc::Rc;

use pipemux_proto::limits::STEPS_MAX;

use crate::runs::baseline::LaterSteps;
use crate::runs::source::{Code, Source};
use crate::runs::{Argument, Run};
use crate::workspaces::Workspace;

impl Run {
    /// Puts the steps of a run that was written later behind this one's, where they go on to mean what its reader had seen
    /// when it wrote them. Returns false, and leaves both as they were, when that can't be done: the later run is a click or
    /// takes back a round, has to ask before anything runs, runs in another folder, or was written after yet another state
    /// had been shown.
    pub fn join(&mut self, later: &Run, workspace: &Workspace) -> bool {
        let Some((own, others)) = self.source.clone().zip(later.source.clone()) else {
            return false;
        };
        let asks = later.ambiguous_target().is_some() || later.missing_argument().is_some();
        let undoes = self.undoes.is_some() || later.undoes.is_some();
        let elsewhere = self.cwd != later.cwd;
        let both_read_stdin = own.stdin.is_some() && others.stdin.is_some();
        let steps = self.steps.len() + later.steps.len();
        if asks || undoes || elsewhere || both_read_stdin || steps > STEPS_MAX {
            return false;
        }
        let first = self.steps.len();
        let meaning = later.baseline().with_names(workspace, &self.reader);
        match &mut self.later {
            None => self.later = Some(Box::new(LaterSteps::new(first..steps, meaning))),
            Some(before) => {
                if !before.extend(first..steps, &meaning) {
                    return false;
                }
            }
        }
        self.steps.extend(later.steps.iter().cloned().map(|mut step| {
            step.args.iter_mut().for_each(|(_, argument)| argument.shift_results(first));
            step
        }));
        for (session, version) in &later.expected {
            self.expected.entry(session.clone()).or_insert(*version);
        }
        self.budget = self.budget.max(later.budget);
        let code = Code::Steps([own.steps(), others.steps()].concat());
        let stdin = own.stdin.clone().or_else(|| others.stdin.clone());
        self.source = Some(Rc::new(Source { code, stdin, earlier: own.earlier }));
        true
    }
}

impl Argument {
    /// Makes results of earlier steps count from a step that is so many further on.
    fn shift_results(&mut self, by: usize) {
        match self {
            Self::Result(index) => *index += by,
            Self::List(items) => items.iter_mut().for_each(|item| item.shift_results(by)),
            Self::Record(entries) => {
                entries.iter_mut().for_each(|(_, item)| item.shift_results(by));
            }
            Self::Fixed(_) | Self::Ref { .. } | Self::Name { .. } | Self::Missing(_) => {}
        }
    }
}
