//! Arguments when their step runs: refs are resolved then, not before.

use std::collections::BTreeMap;

use pipemux_proto::projection::{Arg, Copied, RefArg};
use pipemux_proto::prototype::Type;
use pipemux_proto::refs::{Local, Ref, RefKind};
use pipemux_proto::{Fault, Value};

use crate::keys::SessionKey;
use crate::processes::session::Session;
use crate::runs::{Argument, Lookup, Run, Step, ref_errors};
use crate::workspaces::Workspace;
use crate::workspaces::anchors::{Anchor, AnchorError, Target};

/// All sessions, by their keys.
pub type Sessions = BTreeMap<SessionKey, Session>;

/// What an argument comes to.
#[derive(Debug)]
pub enum Unresolved {
    /// Something must be looked up first.
    NeedsLookup(Box<Lookup>),
    /// It leads nowhere; the session whose window shows why, if one does.
    Invalid(Box<Fault>, Option<SessionKey>),
}

/// A thing that a ref leads to.
#[derive(Debug, Clone)]
pub struct ResolvedObject {
    /// The owner.
    pub session: SessionKey,
    /// The app's own name of it.
    pub key: String,
    /// The meaning that the reader saw.
    pub rev: u64,
    /// Its type.
    pub ty: Option<String>,
    /// What is shown for it.
    pub label: String,
}

impl Run {
    /// All arguments of a step.
    ///
    /// # Errors
    /// What must be looked up first, or why the step can't run.
    pub fn arguments(
        &self,
        sessions: &Sessions,
        workspace: &Workspace,
        step: &Step,
    ) -> Result<Vec<(String, Arg)>, Unresolved> {
        let settle = |(name, argument): &(String, Argument)| {
            Ok((name.clone(), self.argument(sessions, workspace, &step.session, argument)?))
        };
        step.args.iter().map(settle).collect()
    }

    fn argument(
        &self,
        sessions: &Sessions,
        workspace: &Workspace,
        session: &SessionKey,
        argument: &Argument,
    ) -> Result<Arg, Unresolved> {
        match argument {
            Argument::Fixed(arg) => Ok(arg.clone()),
            Argument::List(items) => items
                .iter()
                .map(|item| self.argument(sessions, workspace, session, item))
                .collect::<Result<_, _>>()
                .map(Arg::List),
            // Asked for before the step runs.
            Argument::Missing(gap) => {
                Err(miss(Fault::usage(format!("an argument of type {} is missing", gap.ty))))
            }
            Argument::Result(index) => {
                let step = &self.steps[*index];
                let ended = self.done.get(*index);
                let value = ended.and_then(|ended| ended.value.clone()).unwrap_or_else(|| {
                    // Planned only for actions that return something; an app that gives nothing
                    // gives null.
                    Value::Null.to_blob()
                });
                let label = ended.and_then(|ended| ended.label.clone());
                let label = label.unwrap_or_else(|| step.call.clone());
                Ok(Arg::Copied(Copied { value, from: step.session.to_string(), label }))
            }
            Argument::Ref { of, ty } => {
                let thing = self.resolve(sessions, workspace, of)?;
                self.pass(session, thing, ty, &ref_errors::name(of))
            }
            Argument::Name { session: owner, name, ty } => {
                if self.touched.contains(owner) && !self.looked_up.windows.contains(owner) {
                    let session = owner.clone();
                    return Err(Unresolved::NeedsLookup(Box::new(Lookup::Window { session })));
                }
                let thing = named(workspace, owner, name)?;
                let restored = sessions.get(owner).is_some_and(|session| session.restored);
                self.check_name(workspace, owner, name, (&thing, restored))?;
                self.pass(session, thing, ty, name)
            }
        }
    }

    /// A name means what it stood for when the reader saw it, or what this run made it stand for.
    fn check_name(
        &self,
        workspace: &Workspace,
        owner: &SessionKey,
        name: &str,
        (thing, restored): (&ResolvedObject, bool),
    ) -> Result<(), Unresolved> {
        if self.only_own_changes && self.touched.contains(owner) {
            return Ok(());
        }
        let meant = match workspace.seen(&self.reader, owner) {
            Some(seen) => seen.names.names.get(name),
            // It may mean what an earlier daemon showed.
            None if restored => None,
            None => return Ok(()),
        };
        match meant {
            Some((key, rev)) if *key == thing.key && *rev == thing.rev => Ok(()),
            _ => {
                let fault = ref_errors::stale(&format!("{owner}.{name}"));
                Err(Unresolved::Invalid(Box::new(fault), Some(owner.clone())))
            }
        }
    }

    /// The thing itself for the app that owns it, its value for another app or a text parameter.
    fn pass(
        &self,
        session: &SessionKey,
        thing: ResolvedObject,
        ty: &Type,
        shown: &str,
    ) -> Result<Arg, Unresolved> {
        let own = thing.session == *session;
        if matches!(ty, Type::Anchor(_)) && !own {
            let message = format!(
                "{shown} belongs to {}; {session} expects a thing of its own",
                thing.session
            );
            return Err(miss(Fault::usage(message)));
        }
        if let (Type::Anchor(Some(wanted)), Some(given)) = (ty, &thing.ty)
            && **wanted != **given
        {
            return Err(miss(Fault::usage(format!("{shown} is a {given}, expected a {wanted}"))));
        }
        if own && !matches!(ty, Type::String) {
            return Ok(Arg::Ref(RefArg { key: thing.key, rev: thing.rev, ty: thing.ty }));
        }
        match self.looked_up.copies.get(&(thing.session.clone(), thing.key.clone())) {
            Some(copied) => Ok(Arg::Copied(copied.clone())),
            None => Err(Unresolved::NeedsLookup(Box::new(Lookup::Value {
                session: thing.session,
                key: thing.key,
                rev: thing.rev,
                label: thing.label,
                shown: shown.to_owned(),
                data: Vec::new(),
            }))),
        }
    }

    /// The thing that a ref means to this run's reader.
    ///
    /// # Errors
    /// A soft landing, or where to ask.
    pub fn resolve(
        &self,
        sessions: &Sessions,
        workspace: &Workspace,
        of: &Ref,
    ) -> Result<ResolvedObject, Unresolved> {
        let shown = ref_errors::name(of);
        let id = match &of.local {
            Local::Id(id) => *id,
            Local::Key(key) => keyed(sessions, workspace, of, key, &shown)?,
        };
        let not_found = || miss(ref_errors::not_found(&shown, None));
        let anchor = workspace.anchors.get(RefKind::Obj, id).ok_or_else(not_found)?;
        check_owner(of, anchor, &shown)?;
        let session: &SessionKey = &anchor.session;
        let seen = of.epoch.or(self.at).or_else(|| self.known.get(&id).copied()).unwrap_or(0);
        let strict = workspace.options.strict && seen < workspace.epoch;
        let checked = workspace.anchors.check(RefKind::Obj, id, seen, workspace.epoch);
        let checked = checked.and(if strict { Err(AnchorError::Stale) } else { Ok(()) });
        if let Err(why) = checked {
            return Err(match why {
                AnchorError::NotFound => not_found(),
                AnchorError::Stale => {
                    Unresolved::Invalid(Box::new(ref_errors::stale(&shown)), Some(session.clone()))
                }
            });
        }
        let Target::Object { key } = &anchor.target else { return Err(not_found()) };
        if workspace.window(session).is_none() {
            let how = format!("pipemux open {session}");
            return Err(miss(ref_errors::out_of_view(&shown, Some(how))));
        }
        let known = self.looked_up.found.iter().any(|(s, k)| s == session && **k == **key);
        if !anchor.shown && !known {
            let (session, key) = (session.clone(), key.to_string());
            return Err(Unresolved::NeedsLookup(Box::new(Lookup::Place { session, key, shown })));
        }
        Ok(ResolvedObject {
            session: session.clone(),
            key: key.to_string(),
            rev: anchor.rev,
            ty: anchor.ty.as_deref().map(Into::into),
            label: anchor.label.to_string(),
        })
    }
}

/// The id of a thing that is named by its app's own key.
fn keyed(
    sessions: &Sessions,
    workspace: &Workspace,
    of: &Ref,
    key: &str,
    shown: &str,
) -> Result<u64, Unresolved> {
    let of_type = |anchor: &Anchor| match &of.prefix {
        Some(_) => fits_token(of, anchor),
        None => of.ty.is_none() || of.ty.as_deref() == anchor.ty.as_deref(),
    };
    let owned = |anchor: &Anchor| match &of.prefix {
        Some(_) => {
            let session = sessions.get(&*anchor.session);
            session.is_some_and(|session| session.token_prefix == of.prefix)
        }
        None => of.owner.as_ref().is_none_or(|o| *o == anchor.session.addr),
    };
    let mut found: Vec<_> = workspace
        .anchors
        .by_key(key)
        .into_iter()
        .filter(|(_, anchor)| of_type(anchor) && owned(anchor))
        .collect();
    let open = |anchor: &Anchor| workspace.window(&anchor.session).is_some();
    if of.prefix.is_some() && found.iter().any(|(_, anchor)| open(anchor)) {
        found.retain(|(_, anchor)| open(anchor));
    }
    match found.as_slice() {
        [] => Err(miss(ref_errors::not_found(shown, None))),
        [(id, _)] => Ok(*id),
        several => {
            let all: Vec<String> =
                several.iter().map(|(id, a)| format!("obj:{id} ({})", a.session)).collect();
            let message = format!("{shown} is ambiguous: {}", all.join(" · "));
            Err(miss(Fault::usage(message)))
        }
    }
}

/// Whether a token's type is the thing's. Tokens write types with capitals, `Node`, where refs and
/// prototypes have `node`.
fn fits_token(of: &Ref, anchor: &Anchor) -> bool {
    match (&of.ty, &anchor.ty) {
        (Some(wanted), Some(given)) => wanted.eq_ignore_ascii_case(given),
        _ => true,
    }
}

fn check_owner(of: &Ref, anchor: &Anchor, shown: &str) -> Result<(), Unresolved> {
    if of.prefix.is_some() {
        // It was found by both.
        return Ok(());
    }
    if of.owner.as_ref().is_some_and(|owner| *owner != anchor.session.addr) {
        return Err(miss(ref_errors::not_found(
            shown,
            Some(format!("It belongs to {}", anchor.session)),
        )));
    }
    if let (Some(wanted), Some(given)) = (&of.ty, &anchor.ty)
        && **wanted != **given
    {
        return Err(miss(ref_errors::not_found(shown, Some(format!("That id is a {given}")))));
    }
    Ok(())
}

/// The thing that an app binds a name to.
fn named(
    workspace: &Workspace,
    session: &SessionKey,
    name: &str,
) -> Result<ResolvedObject, Unresolved> {
    let held = workspace.window(session).and_then(|window| window.projection.as_ref());
    let slot = held.and_then(|held| held.projection.names.get(name));
    let slot =
        slot.ok_or_else(|| miss(Fault::not_found(format!("{session} binds no {name} now"))))?;
    Ok(ResolvedObject {
        session: session.clone(),
        key: slot.key.clone(),
        rev: slot.rev,
        ty: slot.ty.clone(),
        label: slot.label.clone(),
    })
}

fn miss(fault: Fault) -> Unresolved {
    Unresolved::Invalid(Box::new(fault), None)
}
