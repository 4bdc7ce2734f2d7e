//! Finds the session that a call means.

use pipemux_proto::call::{Call, Expr, Owner, Span, nearest};
use pipemux_proto::prototype::{Param, Prominence, Prototype, Type};
use pipemux_proto::refs::{Local, Ref, RefKind};
use pipemux_proto::{Code, Fault, SessionAddr, Value};

use crate::keys::{SessionKey, plain_address};
use crate::scripts::coerce::coerce;
use crate::scripts::context::RunContext;
use crate::scripts::neighbours::meant_by_neighbours;
use crate::scripts::plan::Planner;
use crate::scripts::ref_errors;
use crate::scripts::resolve_ref::id_of_key;
use crate::workspaces::Window;

impl<'a> Planner<'a> {
    /// The session that a call means, the sessions that it may mean when that is ambiguous, and the
    /// prototype.
    pub(super) fn find(
        &self,
        call: &Call,
    ) -> Result<(SessionKey, Vec<SessionKey>, Prototype), Fault> {
        let candidates = match &call.owner {
            Some(owner) => self
                .owned(owner, call.name)
                .map_err(|fault| self.closed_window(call).unwrap_or(fault))?,
            None => match self.window_of_refs(call) {
                Some((window, prototype)) => {
                    return Ok((window.session.clone(), Vec::new(), prototype.clone()));
                }
                None => self.workspace.windows.with_action(&call.action),
            },
        };
        let candidates = candidates.into_iter();
        let candidates = candidates.filter_map(|w| Some((&w.session, self.action(w, call)?)));
        let candidates: Vec<(&SessionKey, &Prototype)> = candidates.collect();
        let having = without_aliases(candidates.clone(), call);
        let (session, prototype) = match having.as_slice() {
            [] => return Err(self.unknown_action(call)),
            [only] => return Ok((only.0.clone(), Vec::new(), only.1.clone())),
            [first, ..] => *first,
        };
        // The objects in its arguments tell which session is meant.
        let owners = self.owners_of_refs(call);
        let mut meant = having.iter().filter(|(session, _)| owners.contains(session));
        if let (Some((session, prototype)), None) = (meant.next(), meant.next()) {
            return Ok(((*session).clone(), Vec::new(), (*prototype).clone()));
        }
        // `undo()` behind a step of the editor is the editor's.
        let before = self.steps.iter().rev().find(|step| !step.nested).map(|step| &step.session);
        if let Some((session, prototype)) =
            having.iter().find(|(session, _)| Some(*session) == before)
        {
            return Ok(((*session).clone(), Vec::new(), (*prototype).clone()));
        }
        let all = || having.iter().map(|(session, _)| *session);
        if having.iter().all(|(_, other)| *other == prototype) {
            return Ok((session.clone(), all().cloned().collect(), prototype.clone()));
        }
        if let Some(meant) = self.meant_by_neighbours(&having) {
            let (session, prototype) = having[meant];
            return Ok((session.clone(), Vec::new(), prototype.clone()));
        }
        // Those, too, that have it under a name of another tool: one of them may be what was meant.
        let calls: Vec<String> = candidates
            .iter()
            .map(|(session, action)| format!("{session}.{}", action.least()))
            .collect();
        let note = format!("say whose: {}", calls.join(" · "));
        let mut fault = self.error("ambiguous action", call.name, note);
        fault.level = pipemux_proto::Level::Choice;
        Err(fault)
    }

    /// The index of the session that the other calls of the script are for.
    fn meant_by_neighbours(&self, having: &[(&SessionKey, &Prototype)]) -> Option<usize> {
        let takes_it = |window: &'a Window, call: &Call| {
            self.action(window, call).is_some_and(|action| takes(action, call, true))
        };
        let is_candidate = |window: &Window| having.iter().any(|(one, _)| **one == window.session);
        let has = |at: usize, call: &Call| {
            let window = self.workspace.window(having[at].0);
            window.is_some_and(|window| takes_it(window, call))
        };
        let elsewhere = |call: &Call| {
            let windows = self.workspace.windows.with_action(&call.action).into_iter();
            windows.filter(|window| !is_candidate(window)).any(|window| takes_it(window, call))
        };
        let calls: Vec<&Call> = self.neighbours.iter().collect();
        meant_by_neighbours(having.len(), &calls, has, elsewhere)
    }

    /// The one window that owns the objects in a call's arguments, if it has the action: no other
    /// window has to be considered then.
    fn window_of_refs(&self, call: &Call) -> Option<(&'a Window, &'a Prototype)> {
        let mut owners = self.owners_of_refs(call);
        owners.sort_unstable();
        owners.dedup();
        let mut meant = owners.into_iter().filter_map(|session| {
            let window = self.workspace.window(session)?;
            Some((window, self.action(window, call)?))
        });
        meant.next().filter(|_| meant.next().is_none())
    }

    /// The action of a window's session that a call means, if the app offers it now: of several
    /// that are called alike, the first one that takes the call's arguments.
    fn action(&self, window: &'a Window, call: &Call) -> Option<&'a Prototype> {
        meant_action(|| self.actions(window), call)
    }

    fn actions(&self, window: &'a Window) -> impl Iterator<Item = &'a Prototype> + use<'a> {
        let held = window.projection.as_ref();
        let visible = held.and_then(|held| held.projection.actions.as_ref());
        let session = self.sessions.get(&window.session);
        let all = session.into_iter().flat_map(|session| session.prototypes.iter());
        all.filter(move |action| visible.is_none_or(|names| names.contains(&action.name)))
    }

    /// False for a window that is left of a session that is gone.
    pub(super) fn has_session(&self, window: &Window) -> bool {
        self.sessions.contains_key(&window.session)
    }

    /// The sessions that own the objects in a call's arguments.
    fn owners_of_refs(&self, call: &Call) -> Vec<&'a SessionKey> {
        self.refs_with_owners(call).into_iter().map(|(_, session)| session).collect()
    }

    /// The objects in a call's arguments whose sessions are known.
    fn refs_with_owners(&self, call: &Call) -> Vec<(Ref, &'a SessionKey)> {
        let mut refs = Vec::new();
        for argument in &call.args {
            match &argument.value {
                Expr::Ref(of) => refs.push(of.clone()),
                Expr::Value(Value::Str(text)) => refs.extend(text.parse::<Ref>().ok()),
                Expr::List(items) => {
                    refs.extend(items.iter().filter_map(|(item, _)| match item {
                        Expr::Ref(of) => Some(of.clone()),
                        _ => None,
                    }));
                }
                Expr::Record(entries) => {
                    refs.extend(entries.iter().filter_map(|entry| match &entry.value {
                        Expr::Ref(of) => Some(of.clone()),
                        _ => None,
                    }));
                }
                Expr::Value(_) | Expr::Quoted(_) | Expr::Call(_) | Expr::Name { .. } => {}
            }
        }
        let context = RunContext { workspace: self.workspace, sessions: self.sessions };
        let owner = |of: &Ref| {
            let id = match &of.local {
                Local::Id(id) => Some(*id),
                Local::Key(key) => id_of_key(&context, of, key, "").ok(),
            };
            self.workspace.anchors.get(RefKind::Obj, id?).map(|anchor| &*anchor.session)
        };
        refs.into_iter().filter_map(|of| owner(&of).map(|session| (of, session))).collect()
    }

    /// Returns the error for an object in a call's arguments whose window is closed, if there is
    /// one. It is reported before other errors of the call.
    fn closed_window(&self, call: &Call) -> Option<Fault> {
        let closed = self.refs_with_owners(call).into_iter();
        let mut closed = closed.filter(|(_, session)| self.workspace.window(session).is_none());
        let (of, session) = closed.next()?;
        let how = format!("pipemux open {session}");
        Some(ref_errors::out_of_view(&ref_errors::name(&of), Some(how)))
    }

    fn unknown_action(&self, call: &Call) -> Fault {
        if let Some(fault) = self.closed_window(call) {
            return fault;
        }
        let windows = &self.workspace.windows;
        let candidates: Vec<&Window> = match &call.owner {
            Some(owner) => self.owned(owner, call.name).unwrap_or_default(),
            None => windows.iter().filter(|window| self.has_session(window)).collect(),
        };
        let names = candidates.iter().flat_map(|window| self.actions(window));
        let names: Vec<&str> = names.map(|prototype| prototype.written_name()).collect();
        let whose = match &call.owner {
            Some(owner) => format!("{} has no {}", owner.provider, call.action),
            None if candidates.is_empty() => "no window is open".to_owned(),
            None => format!("no open window has {}", call.action),
        };
        let note = match nearest(&call.action, names) {
            Some(guess) => format!("{whose}: did you mean {guess}?"),
            None => whose,
        };
        let fault = self.error("unknown action", call.name, note);
        match &call.owner {
            Some(owner) => fault.hint(format!("pipemux help {}", owner.provider)),
            None if candidates.is_empty() => fault.hint("pipemux apps"),
            None => fault,
        }
    }

    /// The open windows to which the owner of a call or a name may refer.
    pub(super) fn owned(&self, owner: &Owner, span: Span) -> Result<Vec<&'a Window>, Fault> {
        let windows = &self.workspace.windows;
        let session = match &owner.session {
            Some(session) => Ok(session.clone()),
            None if windows.count_of_app(&owner.provider) == 1 => {
                return Ok(windows.of_app(&owner.provider));
            }
            None => SessionAddr::DEFAULT_SESSION.parse(),
        };
        if let Ok(session) = session {
            let addr = SessionAddr { provider: owner.provider.clone(), session };
            let addr = plain_address(&self.workspace.key, &addr);
            let exact = windows.named(&addr).filter(|window| self.has_session(window));
            let exact: Vec<&Window> = exact.collect();
            if !exact.is_empty() {
                return Ok(exact);
            }
        }
        let open = windows.of_app(&owner.provider).into_iter();
        let open: Vec<String> = open.map(|window| format!("{}.…", window.session)).collect();
        if !open.is_empty() && owner.session.is_none() {
            let note = format!("say which session: {}", open.join(" · "));
            let mut fault = self.error("ambiguous session", span, note);
            fault.level = pipemux_proto::Level::Choice;
            return Err(fault);
        }
        let address = match &owner.session {
            Some(session) => format!("{}/{session}", owner.provider),
            None => owner.provider.to_string(),
        };
        let others = windows.iter().filter(|window| self.has_session(window));
        let providers = others.map(|window| window.session.addr.provider.as_str());
        let guess = nearest(owner.provider.as_str(), providers)
            .map_or(String::new(), |guess| format!(": did you mean {guess}?"));
        let note = format!("no window of {address} is open here{guess}");
        let mut fault = self.error("no such window", span, note);
        fault.code = Code::NotFound;
        let known = guess.is_empty();
        Err(if known { fault.hint(format!("pipemux open {address}")) } else { fault })
    }
}

/// Returns the action of an app that a call means. If several have the name, that is the first that
/// accepts the call's arguments or, if none does, the one that knows most of the argument names,
/// because its error is the most helpful.
pub fn meant_action<'p, I>(actions: impl Fn() -> I, call: &Call) -> Option<&'p Prototype>
where
    I: Iterator<Item = &'p Prototype>,
{
    let called = || actions().filter(|one| one.written_name() == call.action);
    let fitting = |complete| called().find(|one| takes(one, call, complete));
    let unknown = |one: &&Prototype| {
        let names = call.args.iter().filter_map(|argument| argument.name.as_ref());
        names.filter(|(name, _)| !one.params.iter().any(|param| param.name == *name)).count()
    };
    fitting(true).or_else(|| fitting(false)).or_else(|| called().min_by_key(unknown))
}

/// Removes the aliases that a call can't mean, so that a name from another tool never makes it
/// ambiguous: an alias counts only if it accepts the call and no app has an action of exactly that
/// name.
pub fn without_aliases<'p, T>(
    having: Vec<(T, &'p Prototype)>,
    call: &Call,
) -> Vec<(T, &'p Prototype)> {
    let is_alias = |one: &Prototype| one.prominence == Prominence::Alias;
    if having.iter().all(|(_, one)| is_alias(one)) {
        return having;
    }
    let taken_by =
        |alias| having.iter().any(|(_, one)| is_alias(one) == alias && takes(one, call, true));
    let meant = !taken_by(false) && taken_by(true);
    let counts = |one: &Prototype| is_alias(one) == meant && (!meant || takes(one, call, true));
    having.into_iter().filter(|(_, one)| counts(one)).collect()
}

/// Returns true if a prototype accepts the arguments of a call, as far as that can be checked
/// before lookups; with `complete`, only if no argument is missing.
pub fn takes(prototype: &Prototype, call: &Call, complete: bool) -> bool {
    let mut positional = prototype.params.iter();
    let mut given = Vec::new();
    for argument in &call.args {
        let param = match &argument.name {
            Some((name, _)) => prototype.params.iter().find(|param| param.name == *name),
            None => positional.next(),
        };
        let Some(param) = param.filter(|param| !given.contains(&param.name.as_str())) else {
            return false;
        };
        given.push(&param.name);
        if !may_be(&argument.value, &param.ty) {
            return false;
        }
    }
    let is_missing = |param: &&Param| param.is_required() && !given.contains(&param.name.as_str());
    !complete || !prototype.params.iter().any(|param| is_missing(&param))
}

/// Returns true unless an argument is a literal of another type.
fn may_be(value: &Expr, ty: &Type) -> bool {
    match (value, ty) {
        (Expr::Value(Value::Null), Type::Optional(_)) => true,
        (_, Type::Optional(inner)) => may_be(value, inner),
        (Expr::List(items), Type::List(item)) => items.iter().all(|(one, _)| may_be(one, item)),
        (_, Type::List(item)) => may_be(value, item),
        (Expr::List(_), _) => *ty == Type::Any,
        (Expr::Record(_), _) => matches!(ty, Type::Record(_) | Type::Map(_) | Type::Any),
        // A label or a number may name a thing.
        (Expr::Value(Value::Str(_) | Value::Int(_)), Type::Anchor(_)) => true,
        (Expr::Quoted(_), Type::Anchor(_)) => true,
        (Expr::Quoted(text), _) => coerce(&Value::Str(text.raw.clone()), ty).is_ok(),
        (Expr::Value(value), _) => coerce(value, ty).is_ok(),
        (Expr::Ref(_), Type::Int | Type::Float | Type::Bool | Type::Union(_)) => false,
        (Expr::Ref(_) | Expr::Call(_) | Expr::Name { .. }, _) => true,
    }
}
