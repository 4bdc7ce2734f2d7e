//! Answers to forms: valid fields are kept in the open form, and errors are reported by field.

use pipemux_proto::app::QuestionKind;
use pipemux_proto::call::Expr;
use pipemux_proto::call::mask::MASKED;
use pipemux_proto::projection::{Arg, RefArg};
use pipemux_proto::prototype::{Field, Raw, Type};
use pipemux_proto::refs::Ref;
use pipemux_proto::{Fault, Value};

use crate::keys::SessionKey;
use crate::runs::questions::answer_text::TypedAnswer;
use crate::runs::questions::asker::Asker;
use crate::runs::questions::form::described;
use crate::runs::questions::form_text::{self, FieldText};
use crate::runs::questions::missing_argument::names_objects;
use crate::runs::questions::question::OpenQuestion;
use crate::runs::questions::typed_values::TypedValues;
use crate::scripts::context::RunContext;
use crate::scripts::field_rules;
use crate::scripts::resolve_ref::{RefScope, UnresolvedRef};
use crate::scripts::step::{Argument, MissingArgument};

/// The result of an answer to a form.
#[derive(Debug)]
pub struct FilledForm {
    /// The valid fields, including those of earlier answers.
    pub given: Vec<(String, Argument)>,
    /// The error, if a field is invalid or missing.
    pub fault: Option<Fault>,
}

impl OpenQuestion {
    /// True for a question with fields.
    pub fn is_form(&self) -> bool {
        self.needs.question.kind == QuestionKind::Form
    }

    /// The answer as it may be repeated in texts, with secrets masked.
    pub fn told(&self, answer: &str) -> String {
        let fields = &self.needs.question.fields;
        match self.needs.question.secret || fields.iter().any(Field::holds_secret) {
            true => MASKED.to_owned(),
            false => answer.trim().to_owned(),
        }
    }

    /// The value of a field that was already answered.
    pub fn given(&self, field: &str) -> Option<&Argument> {
        self.given.iter().find(|(name, _)| name == field).map(|(_, value)| value)
    }

    /// The required fields that haven't been answered yet.
    pub fn lacking(&self) -> impl Iterator<Item = &Field> {
        let fields = self.needs.question.fields.iter();
        fields.filter(|field| field.is_required() && self.given(&field.name).is_none())
    }

    /// Returns the fields in the order in which unnamed answers fill them: required ones first.
    fn order(&self) -> Vec<&Field> {
        let open = |field: &&Field| self.given(&field.name).is_none();
        let fields = || self.needs.question.fields.iter();
        let needed = fields().filter(open).filter(|field| field.is_required());
        needed.chain(fields().filter(open).filter(|field| !field.is_required())).collect()
    }

    /// Reads an answer to a form.
    ///
    /// # Errors
    /// It can't be told which field is meant by what.
    pub fn fill(
        &self,
        text: &str,
        stdin: Option<&[u8]>,
        context: &RunContext<'_>,
    ) -> Result<FilledForm, Fault> {
        let fields = &self.needs.question.fields;
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let order: Vec<&str> = self.order().iter().map(|field| field.name.as_str()).collect();
        let needed = self.lacking().count();
        let mut given = self.given.clone();
        let mut wrong = Vec::new();
        let texts = form_text::read(text, &names, (&order, needed)).map_err(|fault| {
            // What can't be told apart may be a secret.
            match fields.iter().any(Field::holds_secret) {
                true => Fault::usage(format!("expected name=value, of {}", names.join(", "))),
                false => fault,
            }
        })?;
        for FieldText { name, text } in texts {
            let Some(field) = fields.iter().find(|field| field.name == name) else { continue };
            let value = TypedAnswer::read_field(&name, &text, stdin).and_then(|typed| {
                let value = self.field_value(field, typed, context)?;
                field_rules::check(field, &value).map_err(Fault::usage)?;
                Ok(value)
            });
            match value {
                Ok(value) => {
                    given.retain(|(other, _)| *other != name);
                    given.push((name, value));
                }
                // What is said of a secret doesn't repeat it.
                Err(_) if field.holds_secret() => {
                    wrong.push(format!("{name}: expected {}", described(field)));
                }
                Err(fault) => wrong.push(match last_note(&fault) {
                    note if note.starts_with(&name) => note,
                    note => format!("{name} {note}"),
                }),
            }
        }
        let filled = Self { given, ..self.clone() };
        let lacking: Vec<&str> = filled.lacking().map(|field| field.name.as_str()).collect();
        let fault = match (wrong.is_empty(), lacking.is_empty()) {
            (true, true) => None,
            (true, false) => Some(Fault::usage(format!("still needs {}", lacking.join(", ")))),
            (false, _) => Some(Fault::usage(wrong.join("; "))),
        };
        Ok(FilledForm { given: filled.given, fault })
    }

    /// Reads the value of one field.
    fn field_value(
        &self,
        field: &Field,
        typed: TypedAnswer,
        context: &RunContext<'_>,
    ) -> Result<Argument, Fault> {
        let step = self.step();
        let param = match self.asker {
            Asker::App(_) => None,
            _ => step.prototype.params.iter().find(|param| param.name == field.name),
        };
        let missing = MissingArgument {
            ty: field.value_type().clone(),
            meant: None,
            raw: param.is_some_and(|param| param.raw == Raw::Always),
            secret: field.holds_secret(),
        };
        let optional = matches!(field.ty, Type::Optional(_));
        let values = TypedValues { context, reader: self.reader(), missing: &missing };
        let value = match typed {
            TypedAnswer::Words(words) | TypedAnswer::Text(words)
                if param.is_some_and(|param| param.named) && words.parse::<Ref>().is_err() =>
            {
                Argument::Fixed(Arg::from(Value::Str(words)))
            }
            TypedAnswer::Words(words) if optional && words == "null" => {
                Argument::Fixed(Arg::from(Value::Null))
            }
            TypedAnswer::Words(words) if names_objects(&missing.ty) => {
                values.of_things(&words, &step.session)?
            }
            TypedAnswer::Words(words) | TypedAnswer::Text(words) => values.of_words(&words)?,
            TypedAnswer::Value { argument, code } => match &argument.value {
                Expr::Value(Value::Str(label)) if names_objects(&missing.ty) => {
                    values.of_things(label, &step.session)?
                }
                _ => values.of_call(&argument, &code)?,
            },
        };
        match self.asker {
            // What an app's form gives is sent with the answer itself.
            Asker::App(_) => {
                let scope = RefScope::of(context.workspace, self.reader(), None);
                resolved(value, &step.session, &scope, context).map(Argument::Fixed)
            }
            _ => Ok(value),
        }
    }
}

/// Returns an argument as it is sent: refs become things of the session.
fn resolved(
    argument: Argument,
    session: &SessionKey,
    scope: &RefScope,
    context: &RunContext<'_>,
) -> Result<Arg, Fault> {
    Ok(match argument {
        Argument::Fixed(arg) => arg,
        Argument::List(items) => {
            let items = items.into_iter().map(|item| resolved(item, session, scope, context));
            Arg::List(items.collect::<Result<_, _>>()?)
        }
        Argument::Record(entries) => {
            let entry = |(name, part)| Ok((name, resolved(part, session, scope, context)?));
            Arg::Record(entries.into_iter().map(entry).collect::<Result<_, Fault>>()?)
        }
        Argument::Ref { of, ty } => {
            let object =
                scope.resolve(context, &of, &[]).map_err(|unresolved| match unresolved {
                    UnresolvedRef::Invalid(fault, _) => *fault,
                    UnresolvedRef::NotShown { shown, .. } => {
                        Fault::out_of_view(format!("{shown} isn't shown now"))
                    }
                })?;
            if object.session != *session {
                return Err(Fault::usage(format!("{of} belongs to {}", object.session)));
            }
            match (&ty, &object.ty) {
                (Type::Anchor(Some(wanted)), Some(given)) if **wanted != **given => {
                    return Err(Fault::usage(format!(
                        "{of} is of type {given}, expected {wanted}"
                    )));
                }
                _ => Arg::Ref(RefArg { key: object.key, rev: object.rev, ty: object.ty }),
            }
        }
        Argument::Name { .. } | Argument::Result(_) | Argument::Missing(_) => {
            return Err(Fault::usage("expected a value"));
        }
    })
}

/// The last line of an error's message, which says what was expected; code that it points at is
/// left out.
fn last_note(fault: &Fault) -> String {
    let last = fault.message.lines().last().unwrap_or_default();
    last.trim_start_matches([' ', '^']).to_owned()
}
