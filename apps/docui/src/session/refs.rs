//! The refs in an action's arguments: names become refs, and refs to what is gone or has changed
//! are refused.

use pipemux_proto::projection::{Arg, Args, RefArg};
use pipemux_proto::prototype::Type;
use pipemux_proto::{Fault, Value};

use crate::app::Found;
use crate::args::value_of;
use crate::run_changes::RunChanges;
use crate::served::Served;

/// Returns an object's rev; `None` if there is no such object.
pub(super) fn rev(app: &dyn Served, key: &str) -> Option<u64> {
    match app.find(key) {
        Found::Here(rev) | Found::Hidden { rev, .. } => Some(rev),
        Found::Gone(_) | Found::Unreadable(_) => None,
    }
}

/// What the refs of a run's step are checked against.
pub(super) struct Refs<'a> {
    pub(super) app: &'a dyn Served,
    /// What the run itself has changed: a ref to that stays good.
    pub(super) run_changes: &'a RunChanges,
    pub(super) run_id: &'a str,
}

impl Refs<'_> {
    /// Puts refs in place of the names of objects.
    pub(super) fn resolve_names(
        &self,
        args: &mut Args,
        named_kind: impl Fn(&str) -> Option<Type>,
    ) -> Result<(), Fault> {
        for (param, arg) in args {
            if let Some(ty) = named_kind(param) {
                self.resolve_name(arg, &ty)?;
            }
        }
        Ok(())
    }

    fn resolve_name(&self, arg: &mut Arg, ty: &Type) -> Result<(), Fault> {
        let (Type::List(ty) | Type::Optional(ty)) = ty else {
            return self.resolve_one_name(arg, ty);
        };
        // A list that was copied has its items in its value.
        if let Arg::Value(_) | Arg::Copied(_) = arg
            && let Value::List(items) = value_of(arg)?
        {
            *arg = Arg::List(items.into_iter().map(Into::into).collect());
        }
        match arg {
            Arg::List(items) => items.iter_mut().try_for_each(|item| self.resolve_name(item, ty)),
            one => self.resolve_name(one, ty),
        }
    }

    fn resolve_one_name(&self, arg: &mut Arg, ty: &Type) -> Result<(), Fault> {
        let (Arg::Value(_) | Arg::Copied(_)) = arg else { return Ok(()) };
        let Value::Str(name) = value_of(arg)? else { return Ok(()) };
        let ty = if let Type::Anchor(of) = ty { of.clone() } else { None };
        let key = self.app.named(ty.as_deref(), &name)?;
        let rev = match self.app.find(&key) {
            Found::Here(rev) | Found::Hidden { rev, .. } => rev,
            Found::Gone(_) => return Err(Fault::not_found("gone").about(key)),
            Found::Unreadable(fault) => return Err(fault),
        };
        *arg = Arg::Ref(RefArg { key, rev, ty });
        Ok(())
    }

    /// Refuses refs to objects that are gone or have changed since the reader saw them.
    pub(super) fn check<'b>(
        &self,
        args: impl IntoIterator<Item = &'b mut Arg>,
    ) -> Result<(), Fault> {
        for arg in args {
            match arg {
                Arg::List(items) => self.check(items)?,
                Arg::Record(fields) => self.check(fields.values_mut())?,
                // What the run changed itself is passed on with its current rev.
                Arg::Ref(found) => found.rev = self.check_rev(&found.key, found.rev)?,
                Arg::Value(_) | Arg::Copied(_) => {}
            }
        }
        Ok(())
    }

    /// Returns an object's current rev, unless somebody else changed the object since it was seen.
    pub(super) fn check_rev(&self, key: &str, seen: u64) -> Result<u64, Fault> {
        match self.app.find(key) {
            Found::Here(rev) | Found::Hidden { rev, .. }
                if rev == seen || self.run_changes.explain(self.run_id, key, seen, rev) =>
            {
                Ok(rev)
            }
            Found::Here(_) | Found::Hidden { .. } => {
                Err(Fault::stale("changed since it was seen").about(key))
            }
            Found::Gone(why) => {
                let fault = Fault::not_found("gone").about(key);
                Err(why.into_iter().fold(fault, Fault::hint))
            }
            Found::Unreadable(fault) => Err(fault),
        }
    }
}
