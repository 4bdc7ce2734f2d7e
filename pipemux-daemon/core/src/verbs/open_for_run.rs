//! Opens built-in apps for a run that calls them, without a word about it: a first call needs no `open`.
//!
//! An app of the user's own is opened by the user only, because opening it may do anything.

use pipemux_proto::call::{Argument, Call, CallError, Expr, Owner, Script, Step, nearest};
use pipemux_proto::client::{OpenArgs, Verb};
use pipemux_proto::{Code, Fault, Level, ProviderId, SessionAddr};

use crate::Core;
use crate::keys::RequestId;
use crate::runs::resolve_target::{meant_action, takes, without_aliases};
use crate::verbs::require;
use crate::workspaces::Workspace;

impl Core {
    /// Returns the first built-in app that a script calls and that has no window in the caller's workspace.
    ///
    /// # Errors
    /// A call names no app, no open window has its action, and several built-in apps have it.
    pub(super) fn closed_app(
        &self,
        id: RequestId,
        script: &Script,
    ) -> Result<Option<ProviderId>, Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let Verb::Run { code, .. } = &request.call.verb else { return Ok(None) };
        for call in calls(script) {
            let app = match &call.owner {
                Some(owner) => self.closed_owner(workspace, owner),
                None => self
                    .closed_app_with(workspace, call)
                    .map_err(|error| Fault { level: Level::Choice, ..error.to_fault(code) })?,
            };
            if let Some(error) = call.owner.as_ref().and_then(|owner| self.misspelt(owner, call)) {
                return Err(Fault { code: Code::NotFound, ..error.to_fault(code) });
            }
            if app.is_some() {
                return Ok(app);
            }
        }
        Ok(None)
    }

    /// Opens an app with nothing, where and as its caller runs. The run goes on once it is open.
    pub(super) fn open_for_run(
        &mut self,
        id: RequestId,
        provider: ProviderId,
    ) -> Result<(), Fault> {
        let call = &require::request(&self.clients, id)?.call;
        let (cwd, env) = (call.cwd.clone(), call.env.clone());
        let (session, args) = (None, Vec::new());
        let (pin, priority, weight) = (None, None, None);
        let open = OpenArgs { provider, session, args, cwd, env, pin, priority, weight };
        self.open_registered(id, open)
    }

    /// Returns the error for the name of an app that there isn't, if another app is called nearly alike.
    fn misspelt(&self, owner: &Owner, call: &Call) -> Option<CallError> {
        let given = &owner.provider;
        let is_known = self.providers.contains_key(given);
        let guess = nearest(given.as_str(), self.providers.keys().map(|id| id.as_str()));
        let guess = guess.filter(|_| !is_known)?;
        let note = format!("no app {given}: did you mean {guess}?");
        Some(CallError::new("no such app", call.name, note))
    }

    /// Returns the app of a call that names it, if it is built in and its session `main` is meant and not open.
    fn closed_owner(&self, workspace: &Workspace, owner: &Owner) -> Option<ProviderId> {
        self.providers.get(&owner.provider)?.built_in.as_ref()?;
        let is_open = match &owner.session {
            None => workspace.windows.count_of_app(&owner.provider) > 0,
            Some(session) if session.as_str() != SessionAddr::DEFAULT_SESSION => true,
            Some(session) => {
                let (provider, session) = (owner.provider.clone(), session.clone());
                workspace.windows.named(&SessionAddr { provider, session }).next().is_some()
            }
        };
        (!is_open).then(|| owner.provider.clone())
    }

    /// Returns the one built-in app that has the action of a call without an owner, unless an open window may have it.
    fn closed_app_with(
        &self,
        workspace: &Workspace,
        call: &Call,
    ) -> Result<Option<ProviderId>, CallError> {
        if !workspace.windows.with_action(&call.action).is_empty() {
            return Ok(None);
        }
        let built_in = self.providers.iter().filter_map(|(provider, manifest)| {
            let app = manifest.built_in.as_ref()?;
            Some((provider, meant_action(|| app.prototypes.iter(), call)?))
        });
        let mut having = without_aliases(built_in.collect(), call);
        if having.iter().any(|(app, _)| workspace.windows.count_of_app(app) > 0) {
            return Ok(None);
        }
        // The arguments may tell which one is meant.
        if having.iter().any(|(_, action)| takes(action, call, true)) {
            having.retain(|(_, action)| takes(action, call, true));
        }
        let having: Vec<&ProviderId> = having.into_iter().map(|(provider, _)| provider).collect();
        match having.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some((*only).clone())),
            several => {
                let calls = several.iter().map(|app| format!("{app}.{}(…)", call.action));
                let note = format!("say whose: {}", calls.collect::<Vec<_>>().join(" · "));
                Err(CallError::new("ambiguous action", call.name, note))
            }
        }
    }
}

/// Returns the calls of a script in their order, an outer one before those in its arguments.
fn calls(script: &Script) -> Vec<&Call> {
    fn add<'a>(call: &'a Call, all: &mut Vec<&'a Call>) {
        all.push(call);
        call.args.iter().for_each(|argument: &Argument| add_in(&argument.value, all));
    }
    fn add_in<'a>(value: &'a Expr, all: &mut Vec<&'a Call>) {
        match value {
            Expr::Call(call) => add(call, all),
            Expr::List(items) => items.iter().for_each(|(item, _)| add_in(item, all)),
            Expr::Record(entries) => entries.iter().for_each(|entry| add_in(&entry.value, all)),
            Expr::Name { .. } | Expr::Quoted(_) | Expr::Value(_) | Expr::Ref(_) => {}
        }
    }
    let mut all = Vec::new();
    for step in &script.steps {
        if let Step::Call(call) = step {
            add(call, &mut all);
        }
    }
    all
}
