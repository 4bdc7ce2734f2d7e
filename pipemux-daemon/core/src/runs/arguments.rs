//! Arguments when their step runs: refs and names are resolved then, not before.

use pipemux_proto::projection::{Arg, Copied, RefArg};
use pipemux_proto::prototype::{Param, Type};
use pipemux_proto::{Fault, Value};

use crate::foreign::data;
use crate::keys::SessionKey;
use crate::runs::baseline::SeenBaseline;
use crate::runs::own_changes::OwnChanges;
use crate::runs::phase::{LookedUp, Lookup, ValueLookup};
use crate::runs::progress::Progress;
use crate::scripts::context::RunContext;
use crate::scripts::ref_errors;
use crate::scripts::resolve_ref::{ResolvedObject, UnresolvedRef};
use crate::scripts::step::{Argument, Step};
use crate::workspaces::Workspace;

/// The reason why a step has no arguments yet.
#[derive(Debug)]
pub enum Unresolved {
    /// Something must be looked up first.
    NeedsLookup(Box<Lookup>),
    /// An argument can't be passed; with the session whose window shows why, if one does.
    Invalid(Box<Fault>, Option<SessionKey>),
}

impl Unresolved {
    fn invalid(fault: Fault) -> Self {
        Self::Invalid(Box::new(fault), None)
    }
}

impl From<UnresolvedRef> for Unresolved {
    fn from(unresolved: UnresolvedRef) -> Self {
        match unresolved {
            UnresolvedRef::NotShown { session, key, shown } => {
                Self::NeedsLookup(Box::new(Lookup::Location { session, key, shown }))
            }
            UnresolvedRef::Invalid(fault, shows) => Self::Invalid(fault, shows),
        }
    }
}

/// The destination of an argument.
#[derive(Debug, Clone, Copy)]
struct Receiver<'a> {
    /// The session that carries out the step.
    session: &'a SessionKey,
    /// True for a parameter that takes a path.
    path: bool,
}

/// Resolves the arguments of a run's next step.
pub(super) struct Resolver<'a> {
    /// The context in which refs and names are looked up.
    pub(super) context: &'a RunContext<'a>,
    /// The steps, and the outcomes of those that ran.
    pub(super) progress: &'a Progress,
    /// The baseline that determines the meaning of refs and names.
    pub(super) baseline: &'a SeenBaseline,
    /// The changes that the run made itself.
    pub(super) own_changes: &'a OwnChanges,
    /// The results of lookups for the step.
    pub(super) looked_up: &'a LookedUp,
    /// The reader, who may have seen in the meantime what names stand for.
    pub(super) reader: &'a str,
}

impl Resolver<'_> {
    /// All arguments of a step.
    ///
    /// # Errors
    /// What must be looked up first, or why the step can't run.
    pub(super) fn arguments(&self, step: &Step) -> Result<Vec<(String, Arg)>, Unresolved> {
        let resolve = |(name, argument): &(String, Argument)| {
            let takes_path = |param: &Param| param.name == *name && param.path;
            let path = step.prototype.params.iter().any(takes_path);
            let receiver = Receiver { session: &step.session, path };
            Ok((name.clone(), self.argument(receiver, argument)?))
        };
        step.args.iter().map(resolve).collect()
    }

    /// Checks the refs of a step that lacks an argument: nobody is asked for the text of an act on
    /// a thing that is gone.
    ///
    /// # Errors
    /// What must be looked up first, or why the step can't run.
    pub(super) fn check_refs(&self, step: &Step) -> Result<(), Unresolved> {
        let lacks = |(_, argument): &(String, Argument)| matches!(argument, Argument::Missing(_));
        if !step.args.iter().any(lacks) {
            return Ok(());
        }
        for (_, argument) in &step.args {
            if let Argument::Ref { of, .. } = argument {
                self.baseline.refs.resolve(self.context, of, &self.looked_up.located)?;
            }
        }
        Ok(())
    }

    fn argument(&self, receiver: Receiver<'_>, argument: &Argument) -> Result<Arg, Unresolved> {
        match argument {
            Argument::Fixed(arg) => Ok(arg.clone()),
            Argument::List(items) => items
                .iter()
                .map(|item| self.argument(receiver, item))
                .collect::<Result<_, _>>()
                .map(Arg::List),
            Argument::Record(entries) => entries
                .iter()
                .map(|(name, part)| Ok((name.clone(), self.argument(receiver, part)?)))
                .collect::<Result<_, _>>()
                .map(Arg::Record),
            // The reader was asked for it before the step began.
            Argument::Missing(missing) => {
                let message = format!("an argument of type {} is missing", missing.ty);
                Err(Unresolved::invalid(Fault::usage(message)))
            }
            Argument::Result(index) => Ok(Arg::Copied(self.result_of(*index))),
            Argument::Ref { of, ty } => {
                let located = &self.looked_up.located;
                let object = self.baseline.refs.resolve(self.context, of, located)?;
                self.pass(receiver, object, ty, &ref_errors::name(of))
            }
            Argument::Name { session: owner, name, ty } => {
                if self.own_changes.touched.contains(owner)
                    && !self.looked_up.windows.contains(owner)
                {
                    let session = owner.clone();
                    return Err(Unresolved::NeedsLookup(Box::new(Lookup::Window { session })));
                }
                let object = bound_object(self.context.workspace, owner, name)?;
                self.check_name(owner, name, &object)?;
                self.pass(receiver, object, ty, name)
            }
        }
    }

    /// The result of an earlier step.
    fn result_of(&self, index: usize) -> Copied {
        let step = &self.progress.steps[index];
        let outcome = self.progress.done.get(index);
        // Planned only for actions that return something; an app that gives nothing gives null.
        let value = outcome.and_then(|outcome| outcome.value.clone());
        let value = value.unwrap_or_else(|| Value::Null.to_blob());
        let label = outcome.and_then(|outcome| data::exact_option(outcome.label.as_ref()));
        let label = label.unwrap_or_else(|| step.call.clone());
        Copied { value, from: step.session.to_string(), label, file: None }
    }

    /// A name means what it stood for when the reader saw it, or what this run made it stand for.
    fn check_name(
        &self,
        owner: &SessionKey,
        name: &str,
        object: &ResolvedObject,
    ) -> Result<(), Unresolved> {
        if self.own_changes.only_own && self.own_changes.touched.contains(owner) {
            return Ok(());
        }
        let seen = match &self.baseline.names {
            Some(names) => names.get(owner),
            None => self.context.workspace.seen(self.reader, owner).map(|seen| &seen.names),
        };
        let meant = match seen {
            Some(seen) => seen.names.get(name),
            // It may mean what an earlier daemon showed, or what nobody had seen when it was
            // written.
            None if self.context.is_restored(owner) || self.baseline.names.is_some() => None,
            None => return Ok(()),
        };
        match meant {
            Some((key, rev)) if *key == object.key && *rev == object.rev => Ok(()),
            _ => {
                let fault = ref_errors::stale(&format!("{owner}.{name}"));
                Err(Unresolved::Invalid(Box::new(fault), Some(owner.clone())))
            }
        }
    }

    /// Passes the object itself to the app that owns it, and its value or path to another app or as
    /// text.
    fn pass(
        &self,
        Receiver { session, path }: Receiver<'_>,
        object: ResolvedObject,
        ty: &Type,
        shown: &str,
    ) -> Result<Arg, Unresolved> {
        let own = object.session == *session;
        if matches!(ty, Type::Anchor(_)) && !own {
            let message = format!(
                "{shown} belongs to {}; {session} expects a thing of its own",
                object.session
            );
            return Err(Unresolved::invalid(Fault::usage(message)));
        }
        if let (Type::Anchor(Some(wanted)), Some(given)) = (ty, &object.ty)
            && **wanted != **given
        {
            let message = format!("{shown} is of type {given}, expected {wanted}");
            return Err(Unresolved::invalid(Fault::usage(message)));
        }
        if own && !matches!(ty, Type::String) {
            return Ok(Arg::Ref(RefArg { key: object.key, rev: object.rev, ty: object.ty }));
        }
        match self.looked_up.copies.get(&(object.session.clone(), object.key.clone(), path)) {
            Some(copied) => Ok(Arg::Copied(copied.clone())),
            None => {
                let shown = shown.to_owned();
                let (receiver, data, object) = (session.clone(), Vec::new(), Box::new(object));
                let lookup = ValueLookup { object, shown, path, receiver, data, file: None };
                Err(Unresolved::NeedsLookup(Box::new(Lookup::Value(lookup))))
            }
        }
    }
}

/// The object to which an app binds a name.
fn bound_object(
    workspace: &Workspace,
    session: &SessionKey,
    name: &str,
) -> Result<ResolvedObject, Unresolved> {
    let held = workspace.window(session).and_then(|window| window.projection.as_ref());
    let slot = held.and_then(|held| held.projection.names.get(name));
    let slot = slot.ok_or_else(|| {
        Unresolved::invalid(Fault::not_found(format!("{session} binds no {name} now")))
    })?;
    Ok(ResolvedObject {
        session: session.clone(),
        key: slot.key.clone(),
        rev: slot.rev,
        ty: slot.ty.clone(),
        label: slot.label.clone(),
    })
}
