//! Prototypes: an action's signature, shown as a TypeScript declaration.

mod check;
mod types;

use serde::{Deserialize, Serialize};

use crate::value::Value;

use types::secret_type;

pub use check::{PrototypeError, check_fields};
pub use types::{Field, Type, comment_line};

/// The damage that an action can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// The action changes nothing, and its result is the whole answer.
    Query,
    /// The action changes nothing but the view.
    Safe,
    /// The action changes data in a way that can be undone or repeated.
    #[default]
    Changes,
    /// The action removes data irrecoverably, so it always needs confirmation.
    Destructive,
}

/// The space that an action gets in a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prominence {
    /// The action has a line of its own with its documentation.
    Featured,
    /// The action is on the shared line of signatures.
    #[default]
    Listed,
    /// The action is only counted; `pipemux help` and the level of detail `Full` show it.
    Help,
    /// Shown by `pipemux help --aliases` only: another name for what an action of the app does,
    /// with the parameters that callers know from elsewhere.
    Alias,
}

/// A parameter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// The name, `[A-Za-z_][A-Za-z0-9_]*`, of at most 64 bytes; by convention in snake case.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// The value of an absent argument; a parameter without a default is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The meaning of the argument, in one sentence; empty if the name is enough.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// True for the path of a file: a thing of another session is then passed as its path, which is
    /// absolute, instead of its value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub path: bool,
    /// True for a thing that may also be named: a string that is no ref is passed to the app as it
    /// is, which knows its things by their names, also those that no window shows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub named: bool,
    /// Whether quoted texts are taken literally, as for a regular expression.
    #[serde(default, skip_serializing_if = "Raw::is_never")]
    pub raw: Raw,
    /// True for an argument that is never printed, logged or kept, such as a password.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
}

impl Param {
    /// Returns the type as a declaration shows it.
    fn declared_type(&self) -> String {
        match &self.ty {
            ty if self.secret => secret_type(ty),
            ty if !self.named => ty.to_string(),
            Type::List(item) => format!("({item}|string)[]"),
            ty => format!("{ty}|string"),
        }
    }

    /// Returns the parameter as the short form of a signature shows it.
    fn compact(&self) -> String {
        match (&self.ty, &self.default) {
            (ty, None) if self.secret => format!("{}: {}", self.name, secret_type(ty)),
            (Type::String, None) => self.name.clone(),
            // A name is a string.
            (Type::Anchor(_), None) if self.named => self.name.clone(),
            (Type::List(_), None) if self.named => format!("{}: string[]", self.name),
            // A `?` says that it may be left out, and stands for no value.
            (Type::Optional(ty), None | Some(Value::Null)) => match &**ty {
                Type::String => format!("{}?", self.name),
                Type::Anchor(_) if self.named => format!("{}?", self.name),
                ty => format!("{}?: {ty}", self.name),
            },
            (Type::Union(_), Some(default)) => format!("{}: {} = {default}", self.name, self.ty),
            (_, Some(default)) => format!("{} = {default}", self.name),
            (ty, None) => format!("{}: {ty}", self.name),
        }
    }
}

/// Determines whether a parameter takes quoted texts raw: backslashes are kept, except before the
/// text's own quotes, and `\\` stands for one backslash. So `'\bfn\s'` is this regular expression,
/// and `"\\bfn\\s"` is the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Raw {
    /// The text's escapes are resolved.
    #[default]
    Never,
    /// The parameter is a regular expression.
    Always,
    /// The parameter is a regular expression in calls that give this parameter as `true`.
    If(String),
}

impl Raw {
    /// True for parameters whose escapes are resolved.
    pub fn is_never(&self) -> bool {
        *self == Self::Never
    }

    /// Decides it for one call. `flag` returns the value that the call gives to a boolean
    /// parameter, if any.
    pub fn holds(&self, flag: impl FnOnce(&str) -> Option<bool>) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::If(name) => flag(name).unwrap_or(false),
        }
    }
}

/// An action's signature.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Prototype {
    /// The name, `[A-Za-z_][A-Za-z0-9_]*`, of at most 64 bytes, which no other action of the app
    /// has; by convention in snake case.
    pub name: String,
    /// The name that callers write, where it differs from `name`. Several prototypes may have the
    /// same one: a call means the first of them that takes its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// The effect of the action, in one or two sentences.
    #[serde(default)]
    pub doc: String,
    /// The parameters, in the order in which positional arguments fill them.
    #[serde(default)]
    pub params: Vec<Param>,
    /// The type of the return value, which a nested call gets; `None` for `void`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Type>,
    /// The damage that the action can do.
    #[serde(default)]
    pub risk: Risk,
    /// True when carrying out the action twice has the same effect as once, so that it may be sent
    /// again after a crash.
    #[serde(default)]
    pub idempotent: bool,
    /// The space that the action gets in a window.
    #[serde(default)]
    pub prominence: Prominence,
    /// True when a destructive action that isn't confirmed replies with a question that shows what
    /// it will affect. Otherwise the daemon asks before it sends the action.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub previews: bool,
    /// True for the action that receives the lines that a person types below the window (`pipemux
    /// attach`). The line is its first argument, a text; all other parameters have defaults. An app
    /// has at most one such action.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub input: bool,
}

impl Param {
    /// Returns true when a call has to give the argument.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && !matches!(self.ty, Type::Optional(_))
    }

    /// Returns true when the argument, or a part of it, is never printed, logged or kept.
    pub fn holds_secret(&self) -> bool {
        self.secret || self.ty.holds_secret()
    }

    /// Returns the short form for help: `text` must be given, `count=false` may be, and so may
    /// `in=`, whose default is nothing.
    pub fn short(&self) -> String {
        let name = &self.name;
        match &self.default {
            _ if self.is_required() => name.clone(),
            None | Some(Value::Null) => format!("{name}="),
            Some(Value::Str(text)) if text.is_empty() => format!("{name}="),
            Some(Value::List(items)) if items.is_empty() => format!("{name}="),
            Some(default) => format!("{name}={default}"),
        }
    }
}

impl Risk {
    /// True for an action that changes nothing but, at most, the view.
    pub fn only_looks(self) -> bool {
        matches!(self, Self::Query | Self::Safe)
    }
}

impl Prototype {
    /// Returns the name that callers write.
    pub fn written_name(&self) -> &str {
        self.called.as_deref().unwrap_or(&self.name)
    }

    /// Returns the short form for windows: `move(nodes: string[], parent?, before?)`. A parameter
    /// without a type is a string or a thing by its name, a default implies the type, and `?` marks
    /// what may be left out.
    pub fn compact(&self) -> String {
        let params = self.params.iter().map(Param::compact).collect::<Vec<_>>().join(", ");
        match &self.returns {
            Some(ty) => format!("{}({params}): {ty}", self.written_name()),
            None => format!("{}({params})", self.written_name()),
        }
    }

    /// Returns the signature for help, in as few words as a caller needs:
    /// `?find(text, in=, count=false)`. A `?` marks a query.
    pub fn short(&self) -> String {
        let params = self.params.iter().map(Param::short).collect::<Vec<_>>().join(", ");
        format!("{}{}({params})", self.query_mark(), self.written_name())
    }

    /// Returns the shortest valid form of a call: `append(path, text)`; `…` stands for optional
    /// arguments.
    pub fn least(&self) -> String {
        let required = self.params.iter().filter(|param| param.default.is_none());
        let mut args: Vec<&str> = required.map(|param| param.name.as_str()).collect();
        if args.len() < self.params.len() {
            args.push("…");
        }
        format!("{}({})", self.written_name(), args.join(", "))
    }

    /// True for an action that is declared as its app's input and can be called with a line alone.
    pub fn is_input(&self) -> bool {
        let mut params = self.params.iter();
        let takes_text = params.next().is_some_and(|first| {
            let ty = match &first.ty {
                Type::Optional(ty) => ty.as_ref(),
                ty => ty,
            };
            matches!(ty, Type::String | Type::Any) && !first.secret
        });
        self.input && takes_text && !params.any(Param::is_required)
    }

    /// Returns `?` for a query, else nothing.
    pub fn query_mark(&self) -> &'static str {
        if self.risk == Risk::Query { "?" } else { "" }
    }

    /// Returns the whole declaration with its doc comment, for `help` and the level of detail
    /// `Full`: `/** Magic. @param mana What it costs. */` and
    /// `function cast_fireball(target: Anchor<enemy>, mana: int = 10): void;`
    pub fn declaration(&self) -> String {
        let params = self.params.iter().map(|param| match &param.default {
            Some(default) => format!("{}: {} = {default}", param.name, param.declared_type()),
            None => format!("{}: {}", param.name, param.declared_type()),
        });
        let params = params.collect::<Vec<_>>().join(", ");
        let returns = self.returns.as_ref().map_or("void".to_owned(), Type::to_string);
        let risk = (self.risk == Risk::Destructive).then_some("Asks first.".to_owned());
        let documented = self.params.iter().filter(|param| !param.doc.is_empty());
        let documented = documented.map(|param| format!("@param {} {}", param.name, param.doc));
        let parts = [self.doc.clone()].into_iter().chain(risk).chain(documented);
        let parts: Vec<String> =
            parts.map(|part| comment_line(&part)).filter(|part| !part.is_empty()).collect();
        let doc = match parts.is_empty() {
            true => String::new(),
            false => format!("/** {} */\n", parts.join(" ")),
        };
        format!("{doc}function {}({params}): {returns};", self.written_name())
    }
}

impl Prototype {
    /// Returns true when an argument, or a part of one, is never printed, logged or kept.
    pub fn holds_secret(&self) -> bool {
        self.params.iter().any(Param::holds_secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prototype(doc: &str, risk: Risk, docs: &[&str]) -> Prototype {
        let param = |(at, doc): (usize, &&str)| Param {
            name: format!("p{at}"),
            ty: Type::Int,
            doc: (*doc).to_owned(),
            ..Param::default()
        };
        Prototype {
            name: "act".into(),
            doc: doc.into(),
            params: docs.iter().enumerate().map(param).collect(),
            risk,
            ..Prototype::default()
        }
    }

    #[test]
    fn thing_that_may_be_named_is_shown_as_one() {
        let mut prototype = prototype("", Risk::Safe, &["", ""]);
        let entry = Type::Anchor(Some("entry".into()));
        let params = [("entry", entry.clone()), ("entries", Type::List(Box::new(entry)))];
        for (param, (name, ty)) in prototype.params.iter_mut().zip(params) {
            *param = Param { name: name.into(), ty, named: true, ..Param::default() };
        }
        assert_eq!(prototype.compact(), "act(entry, entries: string[])");
        let mut optional = prototype.clone();
        for (param, ty) in optional.params.iter_mut().zip([None, Some(Type::Int)]) {
            let ty = ty.unwrap_or_else(|| param.ty.clone());
            param.ty = Type::Optional(Box::new(ty));
            param.default = Some(Value::Null);
        }
        assert_eq!(optional.compact(), "act(entry?, entries?: int)");
        assert_eq!(
            prototype.declaration(),
            "function act(entry: Anchor<entry>|string, entries: (Anchor<entry>|string)[]): void;"
        );
    }

    #[test]
    fn doc_comment_has_the_documented_parameters() {
        let comment = |doc: &str, risk, docs: &[&str]| {
            let text = prototype(doc, risk, docs).declaration();
            text.split_once("function").unwrap().0.to_owned()
        };
        assert_eq!(comment("", Risk::Safe, &["", ""]), "");
        assert_eq!(comment("Does it.", Risk::Safe, &["", ""]), "/** Does it. */\n");
        assert_eq!(
            comment("Does it.", Risk::Destructive, &["", "How\n often */."]),
            "/** Does it. Asks first. @param p1 How often * /. */\n"
        );
        assert_eq!(comment("", Risk::Changes, &["How often."]), "/** @param p0 How often. */\n");
    }
}
