//! Secrets in scripts: arguments that are never printed, logged or kept.
//!
//! A run keeps them as long as its steps need them. What is told of a step is its call with `'***'`
//! in place of each, and nothing that holds one is written down: no script, no question.

use pipemux_proto::call::mask::{ArgumentName, Secrets, masked, masked_in_place, secret_spans};
use pipemux_proto::call::{Step, parse};
use pipemux_proto::prototype::Prototype;

use crate::workspaces::Workspace;

/// The secret arguments of the actions that a script may call.
pub struct SecretActions<'a> {
    actions: Vec<&'a Prototype>,
}

impl<'a> SecretActions<'a> {
    /// Finds those of a workspace's windows whose names are in the code.
    pub fn in_code(workspace: &'a Workspace, code: &str) -> Self {
        let actions = workspace.windows.secret_actions();
        Self { actions: actions.filter(|one| code.contains(one.written_name())).collect() }
    }

    /// True when a window of the workspace has an action with a secret argument. A call that isn't
    /// known may have been meant for it.
    pub fn are_known(workspace: &Workspace) -> bool {
        workspace.windows.secret_actions().next().is_some()
    }

    /// Returns true if the standard input of refused code may have been meant for a secret
    /// argument: the code can't be read, names an action that takes one, or calls something unknown
    /// of an app that has one.
    pub fn may_take_stdin(workspace: &'a Workspace, code: &str) -> bool {
        if !Self::are_known(workspace) {
            return false;
        }
        let Ok(script) = parse(code, Some("-")) else { return true };
        let may = |step: &Step| match step {
            Step::Call(call) => {
                let app = call.owner.as_ref().map(|owner| &owner.provider);
                workspace.windows.may_mean_secret(app, &call.action)
            }
            Step::Ref(..) => false,
        };
        !Self::in_code(workspace, code).actions.is_empty() || script.steps.iter().any(may)
    }

    /// True when the code holds the value of a secret argument, or can't be read far enough to
    /// tell.
    pub fn are_given(&self, code: &str) -> bool {
        !self.actions.is_empty()
            && secret_spans(code, self).iter().any(|span| span.start < span.end)
    }

    /// The code for errors, with secrets masked in place; `None` if nothing is secret.
    pub fn hidden_in_place(&self, code: &str) -> Option<String> {
        self.are_given(code).then(|| masked_in_place(code, self))
    }

    /// The code with secrets masked; `None` if nothing in it is secret.
    pub fn hidden(&self, code: &str) -> Option<String> {
        self.are_given(code).then(|| masked(code, self))
    }
}

impl Secrets for SecretActions<'_> {
    fn is_secret(&self, action: &str, argument: ArgumentName<'_>) -> bool {
        let mut called = self.actions.iter().filter(|one| one.written_name() == action);
        called.any(|one| {
            let param = match argument {
                ArgumentName::Named(name) => one.params.iter().find(|param| param.name == name),
                ArgumentName::At(position) => one.params.get(position),
            };
            param.is_some_and(|param| param.holds_secret())
        })
    }
}
