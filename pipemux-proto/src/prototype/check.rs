//! Checks the names in a prototype. They are shown verbatim, as code, so they must not look like
//! anything else.

use super::{Field, Prototype, Raw, Type};
use crate::call::name::is_name;
use crate::limits::NAME_MAX;
use crate::refs::token::is_type;

/// The reason why a prototype is rejected, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrototypeError {
    /// The name of an action or a parameter can't be used in a call.
    #[error("the name {0:?} is none: expected [A-Za-z_][A-Za-z0-9_]*, at most {NAME_MAX} bytes")]
    Name(String),
    /// The type of an anchor can't be used in a ref.
    #[error("the type {0:?} is none: expected [A-Za-z][A-Za-z0-9_-]*, at most {NAME_MAX} bytes")]
    Type(String),
    /// Two fields of a record or a form have the same name.
    #[error("the field {0:?} is there twice")]
    Field(String),
    /// Two parameters of an action have the same name, or a rule names a parameter that isn't
    /// there.
    #[error("{action} has no parameter {param}, or has it twice")]
    Parameter {
        /// The action's name.
        action: String,
        /// The parameter's name.
        param: String,
    },
}

impl Prototype {
    /// Checks the names of the action, its parameters and their types.
    ///
    /// # Errors
    /// A name has other characters or is too long, or parameters contradict each other.
    pub fn check(&self) -> Result<(), PrototypeError> {
        [self.name.as_str(), self.written_name()].into_iter().try_for_each(check_name)?;
        for (index, param) in self.params.iter().enumerate() {
            check_name(&param.name)?;
            param.ty.check()?;
            let is_twice = self.params[..index].iter().any(|other| other.name == param.name);
            let flag = match &param.raw {
                Raw::If(flag) => Some(flag),
                Raw::Never | Raw::Always => None,
            };
            let lacks = |flag: &&String| !self.params.iter().any(|other| other.name == **flag);
            if let Some(wrong) = is_twice.then_some(&param.name).or(flag.filter(lacks)) {
                let (action, param) = (self.name.clone(), truncated(wrong));
                return Err(PrototypeError::Parameter { action, param });
            }
        }
        self.returns.as_ref().map_or(Ok(()), Type::check)
    }
}

impl Type {
    fn check(&self) -> Result<(), PrototypeError> {
        match self {
            Type::Anchor(Some(of)) if !is_type(of) || of.len() > NAME_MAX => {
                Err(PrototypeError::Type(truncated(of)))
            }
            Type::List(inner) | Type::Optional(inner) | Type::Map(inner) => inner.check(),
            Type::Record(fields) => check_fields(fields),
            _ => Ok(()),
        }
    }
}

/// Checks the names and types of the fields of a record or a form.
///
/// # Errors
/// As [`Prototype::check`].
pub fn check_fields(fields: &[Field]) -> Result<(), PrototypeError> {
    for (index, field) in fields.iter().enumerate() {
        check_name(&field.name)?;
        field.ty.check()?;
        if fields[..index].iter().any(|other| other.name == field.name) {
            return Err(PrototypeError::Field(field.name.clone()));
        }
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), PrototypeError> {
    match is_name(name) && name.len() <= NAME_MAX {
        true => Ok(()),
        false => Err(PrototypeError::Name(truncated(name))),
    }
}

/// Returns the beginning of a name that may be of any length.
fn truncated(name: &str) -> String {
    name.chars().take(NAME_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prototype::Param;

    fn action(name: &str, param: Param) -> Prototype {
        Prototype { name: name.into(), params: vec![param], ..Prototype::default() }
    }

    fn param(name: &str, ty: Type) -> Param {
        Param { name: name.into(), ty, ..Param::default() }
    }

    #[test]
    fn names_that_a_call_can_have_pass() {
        for name in ["a", "cast_fireball", "castFireball", "_x", "r2"] {
            assert_eq!(
                action(name, param(name, Type::Anchor(Some("note-2".into())))).check(),
                Ok(())
            );
        }
    }

    #[test]
    fn names_that_forge_a_declaration_are_refused() {
        for name in [
            "",
            "a b",
            "a\nb",
            "*/ function x()",
            "1a",
            "é",
            "a.b",
            "a\u{1b}[2J",
            "`",
            "[x](obj:1)",
            &"a".repeat(NAME_MAX + 1),
        ] {
            let refused = PrototypeError::Name(truncated(name));
            assert_eq!(action(name, param("a", Type::Any)).check(), Err(refused.clone()));
            assert_eq!(action("a", param(name, Type::Any)).check(), Err(refused.clone()));
            let called =
                Prototype { called: Some(name.into()), ..action("a", param("a", Type::Any)) };
            assert_eq!(called.check(), Err(refused));
        }
    }

    #[test]
    fn types_inside_others_are_checked() {
        let inner = Type::Optional(Box::new(Type::List(Box::new(Type::Anchor(Some("x>".into()))))));
        let refused = Err(PrototypeError::Type("x>".into()));
        assert_eq!(action("a", param("b", inner.clone())).check(), refused);
        let returning = Prototype { returns: Some(inner), ..action("a", param("b", Type::Any)) };
        assert_eq!(returning.check(), refused);
    }

    #[test]
    fn parameters_that_are_twice_there_or_missing_are_refused() {
        let mut twice = action("a", param("b", Type::Any));
        twice.params.push(param("b", Type::Int));
        let named =
            |param: &str| PrototypeError::Parameter { action: "a".into(), param: param.into() };
        assert_eq!(twice.check(), Err(named("b")));
        let raw = Param { raw: Raw::If("regex".into()), ..param("b", Type::String) };
        assert_eq!(action("a", raw).check(), Err(named("regex")));
    }
}
