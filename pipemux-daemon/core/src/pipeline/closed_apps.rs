//! Opens built-in apps for a run that calls them or a view that asks for them, without a word about
//! it: a first call needs no `open`, and neither does a first look.
//!
//! An app of the user's own is opened by the user only, because opening it may do anything.

use pipemux_proto::call::{Argument, Call, CallError, Expr, Owner, Script, Step, nearest};
use pipemux_proto::client::ViewArgs;
use pipemux_proto::prototype::Prototype;
use pipemux_proto::{Code, Fault, Level, ProviderId, SessionAddr};

use crate::providers::Providers;
use crate::scripts::neighbours::{meant_by_neighbours, ownerless_calls};
use crate::scripts::resolve_target::{meant_action, takes, without_aliases};
use crate::workspaces::Workspace;

/// Finds the built-in apps that have no window in a workspace.
pub(crate) struct ClosedApps<'a> {
    pub(crate) providers: &'a Providers,
    pub(crate) workspace: &'a Workspace,
}

impl ClosedApps<'_> {
    /// Returns the first built-in app that the scripts call and that has no window. Each script
    /// comes with its text.
    ///
    /// # Errors
    /// A call doesn't name its app, no open window has its action, and several built-in apps have
    /// it. The error contains the index of the call's step.
    pub(crate) fn called_by(
        &self,
        parts: &[(&str, &Script)],
    ) -> Result<Option<ProviderId>, (usize, Fault)> {
        let neighbours = ownerless_calls(parts.iter().map(|(_, script)| *script));
        for (step, code, call) in calls(parts) {
            let app = match &call.owner {
                Some(owner) => self.closed_owner(owner),
                None => {
                    let found = self.closed_app_with(call, &neighbours);
                    found.map_err(|error| {
                        (step, Fault { level: Level::Choice, ..error.to_fault(code) })
                    })?
                }
            };
            if let Some(error) = call.owner.as_ref().and_then(|owner| self.misspelt(owner, call)) {
                return Err((step, Fault { code: Code::NotFound, ..error.to_fault(code) }));
            }
            if app.is_some() {
                return Ok(app);
            }
        }
        Ok(None)
    }

    /// Returns the built-in app that a view is of and is to open: it has no window. A session of
    /// another name is what only an `open` makes.
    pub(crate) fn viewed(&self, view: &ViewArgs) -> Option<ProviderId> {
        let addr = view.session.as_ref().filter(|_| view.open && view.since.is_none())?;
        let is_first = self.workspace.windows.count_of_app(&addr.provider) == 0;
        let is_built_in = self.providers.get(&addr.provider)?.built_in.is_some();
        let is_main = addr.session.as_str() == SessionAddr::DEFAULT_SESSION;
        (is_first && is_built_in && is_main).then(|| addr.provider.clone())
    }

    /// Returns the error for the name of an app that there isn't, if another app is called nearly
    /// alike.
    fn misspelt(&self, owner: &Owner, call: &Call) -> Option<CallError> {
        let given = &owner.provider;
        let is_known = self.providers.contains_key(given);
        let guess = nearest(given.as_str(), self.providers.keys().map(|id| id.as_str()));
        let guess = guess.filter(|_| !is_known)?;
        let note = format!("no app {given}: did you mean {guess}?");
        Some(CallError::new("no such app", call.name, note))
    }

    /// Returns the built-in app that a call names, if the call means its session `main` and that
    /// isn't open.
    fn closed_owner(&self, owner: &Owner) -> Option<ProviderId> {
        self.providers.get(&owner.provider)?.built_in.as_ref()?;
        let is_open = match &owner.session {
            None => self.workspace.windows.count_of_app(&owner.provider) > 0,
            Some(session) if session.as_str() != SessionAddr::DEFAULT_SESSION => true,
            Some(session) => {
                let (provider, session) = (owner.provider.clone(), session.clone());
                self.workspace.windows.named(&SessionAddr { provider, session }).next().is_some()
            }
        };
        (!is_open).then(|| owner.provider.clone())
    }

    /// Returns the only built-in app that has the action of a call that names no app, unless an
    /// open window may have the action.
    fn closed_app_with(
        &self,
        call: &Call,
        neighbours: &[&Call],
    ) -> Result<Option<ProviderId>, CallError> {
        if !self.workspace.windows.with_action(&call.action).is_empty() {
            return Ok(None);
        }
        let apps =
            || self.providers.iter().filter_map(|(id, app)| Some((id, app.built_in.as_ref()?)));
        let built_in = apps().filter_map(|(provider, app)| {
            Some((provider, meant_action(|| app.prototypes.iter(), call)?))
        });
        let all: Vec<(&ProviderId, &Prototype)> = built_in.collect();
        let mut having = without_aliases(all.clone(), call);
        if having.iter().any(|(app, _)| self.workspace.windows.count_of_app(app) > 0) {
            return Ok(None);
        }
        // The arguments may tell which one is meant.
        if having.iter().any(|(_, action)| takes(action, call, true)) {
            having.retain(|(_, action)| takes(action, call, true));
        }
        let having: Vec<&ProviderId> = having.into_iter().map(|(provider, _)| provider).collect();
        let takes_it = |provider: &ProviderId, call: &Call| {
            let app = self.providers.get(provider).and_then(|app| app.built_in.as_ref());
            let found = app.and_then(|app| meant_action(|| app.prototypes.iter(), call));
            found.is_some_and(|action| takes(action, call, true))
        };
        let elsewhere = |call: &Call| {
            let mut others = apps().filter(|(app, _)| !having.contains(app));
            others.any(|(app, _)| takes_it(app, call))
                || !self.workspace.windows.with_action(&call.action).is_empty()
        };
        let has = |at: usize, call: &Call| takes_it(having[at], call);
        let meant = (having.len() > 1)
            .then(|| meant_by_neighbours(having.len(), neighbours, has, elsewhere))
            .flatten();
        if let Some(meant) = meant {
            return Ok(Some(having[meant].clone()));
        }
        match having.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some((*only).clone())),
            _ => {
                // Those, too, that have it under a name of another tool: one of them may be what
                // was meant.
                let calls = all.iter().map(|(app, action)| format!("{app}.{}", action.least()));
                let note = format!("say whose: {}", calls.collect::<Vec<_>>().join(" · "));
                Err(CallError::new("ambiguous action", call.name, note))
            }
        }
    }
}

/// Returns the calls of scripts in their order, an outer one before those in its arguments, each
/// with the index of its step and the text of its script.
fn calls<'s>(parts: &[(&'s str, &'s Script)]) -> Vec<(usize, &'s str, &'s Call)> {
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
    let steps =
        parts.iter().flat_map(|(code, script)| script.steps.iter().map(|step| (*code, step)));
    let mut indexed = Vec::new();
    for (index, (code, step)) in steps.enumerate() {
        if let Step::Call(call) = step {
            let mut all = Vec::new();
            add(call, &mut all);
            indexed.extend(all.into_iter().map(|call| (index, code, call)));
        }
    }
    indexed
}
