//! Checks a whole script before any of it is carried out.

use pipemux_proto::Fault;
use pipemux_proto::call::{self, Call, CallError, Script, Span};
use pipemux_proto::refs::Ref;

use crate::keys::SessionKey;
use crate::processes::Sessions;
use crate::scripts::link::{Clicker, clicked_link};
use crate::scripts::neighbours::ownerless_calls;
use crate::scripts::quoting::raw_texts;
use crate::scripts::step::{Argument, MissingArgument, Step};
use crate::workspaces::Workspace;

/// Turns a script into steps.
pub struct Planner<'a> {
    pub workspace: &'a Workspace,
    pub sessions: &'a Sessions,
    /// The script's text, for error messages.
    pub code: &'a str,
    pub steps: Vec<Step>,
    /// The possible target sessions of the call whose arguments are checked.
    pub targets: Vec<SessionKey>,
    /// The reader who clicks the script's links.
    pub clicker: Option<Clicker<'a>>,
    /// True while the script is a single step, so that a hint may repeat it corrected.
    pub is_single: bool,
    /// The calls in all parts that don't name an app.
    pub neighbours: Vec<Call>,
}

impl<'a> Planner<'a> {
    pub fn new(workspace: &'a Workspace, sessions: &'a Sessions, code: &'a str) -> Self {
        Self {
            workspace,
            sessions,
            code,
            steps: Vec::new(),
            targets: Vec::new(),
            clicker: None,
            is_single: false,
            neighbours: Vec::new(),
        }
    }

    /// Says who clicks the script's links.
    #[must_use]
    pub fn clicked_by(self, reader: &'a str, at: Option<u64>) -> Self {
        Self { clicker: Some(Clicker { reader, at }), ..self }
    }

    /// Checks the scripts of a run that consists of several parts, each with its own code.
    ///
    /// # Errors
    /// The first error, with the index of its step among those of all parts.
    pub fn plan_parts(mut self, parts: &[(&'a str, &Script)]) -> Result<Vec<Step>, (usize, Fault)> {
        let neighbours = ownerless_calls(parts.iter().map(|(_, script)| *script));
        self.neighbours = neighbours.into_iter().cloned().collect();
        self.is_single = matches!(parts, [(_, script)] if script.steps.len() == 1);
        let steps = parts
            .iter()
            .flat_map(|(code, script)| script.steps.iter().map(move |step| (*code, step)));
        for (index, (code, step)) in steps.enumerate() {
            self.code = code;
            self.step(step).map_err(|fault| (index, fault))?;
        }
        Ok(self.steps)
    }

    fn step(&mut self, step: &call::Step) -> Result<(), Fault> {
        let link = match step {
            call::Step::Call(call) => clicked_link(call).transpose()?,
            call::Step::Ref(link, _) => Some(link.clone()),
        };
        match (link, step) {
            (Some(link), _) => self.click(&link),
            (None, call::Step::Call(call)) => self.call(call, false).map(drop),
            (None, call::Step::Ref(..)) => Ok(()),
        }
    }

    /// Plans the click of one link.
    ///
    /// # Errors
    /// The link leads nowhere, or answers a question.
    pub fn plan_click(mut self, link: &Ref) -> Result<Vec<Step>, Fault> {
        self.click(link)?;
        Ok(self.steps)
    }

    fn click(&mut self, link: &Ref) -> Result<(), Fault> {
        match self.clicker {
            Some(clicker) => self.link(clicker, link),
            None => Err(Fault::usage(format!("{link} can't be clicked here"))),
        }
    }

    /// Checks a value that is given in answer to a question.
    ///
    /// # Errors
    /// It isn't of the type, or has a call in it, which would be another step.
    pub fn answer(
        mut self,
        argument: &call::Argument,
        missing: &MissingArgument,
    ) -> Result<Argument, Fault> {
        fn is_whole(argument: &Argument) -> bool {
            match argument {
                Argument::Missing(_) | Argument::Result(_) => false,
                Argument::List(_) | Argument::Record(_) => argument.parts().all(is_whole),
                Argument::Fixed(_) | Argument::Ref { .. } | Argument::Name { .. } => true,
            }
        }
        let name = argument.name.as_ref().map_or("it", |(name, _)| name.as_str());
        let ty = &missing.ty;
        let raw = missing.raw.then(|| raw_texts(&argument.value));
        let given = raw.as_ref().unwrap_or(&argument.value);
        let value = self.argument(given, ty, argument.span, name)?;
        if self.steps.is_empty() && is_whole(&value) {
            return Ok(value);
        }
        Err(self.error("wrong type", argument.span, format!("{name} is {ty}: expected its value")))
    }

    /// Adds a step. Returns its index.
    pub fn push(&mut self, step: Step) -> Result<usize, Fault> {
        self.steps.push(step);
        if self.steps.len() > pipemux_proto::limits::STEPS_MAX {
            let most = pipemux_proto::limits::STEPS_MAX;
            return Err(Fault::usage(format!("too many steps: at most {most}")));
        }
        Ok(self.steps.len() - 1)
    }

    pub fn error(&self, title: &str, span: Span, note: impl Into<String>) -> Fault {
        CallError::new(title, span, note.into()).to_fault(self.code)
    }
}
