//! Arguments of actions, made from their prototypes.

use pipemux_proto::Value;
use pipemux_proto::projection::{Arg, Args, Copied, RefArg};
use pipemux_proto::prototype::{Param, Prototype, Type};

use crate::run::FILES;
use crate::things::{Things, quoted};

/// Makes valid arguments.
pub struct Arguments<'a> {
    pub things: &'a Things,
    /// Makes each text another one.
    pub texts: &'a mut u64,
    /// True to name the last thing of a type, false for the first one.
    pub last: bool,
}

/// What of an action's parameters is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// Those without a default.
    Required,
    /// All of them.
    All,
}

impl Arguments<'_> {
    /// Makes arguments of an action; none when there is no thing of a type that it needs.
    pub fn of(&mut self, action: &Prototype, given: Given, union_at: usize) -> Option<Args> {
        let mut args = Args::new();
        for param in &action.params {
            if given == Given::Required && !param.is_required() {
                continue;
            }
            match self.value(param, &param.ty, union_at) {
                Some(arg) => drop(args.insert(param.name.clone(), arg)),
                None if !param.is_required() => {}
                None => return None,
            }
        }
        Some(args)
    }

    fn value(&mut self, param: &Param, ty: &Type, union_at: usize) -> Option<Arg> {
        Some(match ty {
            Type::String if param.path => FILES[0].0.into_arg(),
            Type::String | Type::Any => {
                *self.texts += 1;
                format!("check {}", self.texts).into_arg()
            }
            Type::Int => match &param.default {
                Some(default @ Value::Int(_)) => default.clone().into(),
                _ => Value::Int(1).into(),
            },
            Type::Float => Value::Float(1.5).into(),
            Type::Bool => Value::Bool(true).into(),
            Type::Null => Value::Null.into(),
            Type::Line => Value::Int(1).into(),
            Type::Union(options) => {
                options.get(union_at % options.len().max(1))?.clone().into_arg()
            }
            Type::Anchor(of) => {
                let object = self.things.pick(of.as_deref(), self.last)?;
                Arg::Ref(RefArg { key: object.key.clone(), rev: object.rev, ty: object.ty.clone() })
            }
            Type::List(of) => Arg::List(vec![self.value(param, of, union_at)?]),
            Type::Optional(of) => self.value(param, of, union_at)?,
        })
    }
}

trait IntoArg {
    fn into_arg(self) -> Arg;
}

impl<T: Into<Value>> IntoArg for T {
    fn into_arg(self) -> Arg {
        self.into().into()
    }
}

/// Makes an argument of another type than the parameter's; none when every value is of that type.
pub fn of_another_type(ty: &Type) -> Option<Arg> {
    Some(match ty {
        Type::Any | Type::Optional(_) => return None,
        Type::String | Type::Union(_) | Type::Line => Value::List(vec![Value::Bool(true)]).into(),
        Type::Int | Type::Float | Type::Bool | Type::Null => "not a number".into_arg(),
        Type::Anchor(_) | Type::List(_) => Value::Int(7).into(),
    })
}

/// Returns the things that arguments name, in order.
pub fn refs(args: &Args) -> Vec<&RefArg> {
    fn of(arg: &Arg) -> Vec<&RefArg> {
        match arg {
            Arg::Ref(of) => vec![of],
            Arg::List(items) => items.iter().flat_map(of).collect(),
            Arg::Value(_) | Arg::Copied(_) => Vec::new(),
        }
    }
    args.values().flat_map(of).collect()
}

/// Returns the arguments with each ref changed.
pub fn with_refs(args: &Args, change: &dyn Fn(&RefArg) -> RefArg) -> Args {
    fn of(arg: &Arg, change: &dyn Fn(&RefArg) -> RefArg) -> Arg {
        match arg {
            Arg::Ref(of) => Arg::Ref(change(of)),
            Arg::List(items) => Arg::List(items.iter().map(|item| of(item, change)).collect()),
            other => other.clone(),
        }
    }
    args.iter().map(|(name, arg)| (name.clone(), of(arg, change))).collect()
}

/// Returns the arguments as another session's things would be passed: values with their provenance.
pub fn as_copies(args: &Args) -> Option<Args> {
    let copied = |arg: &Arg| match arg {
        Arg::Value(value) if matches!(value.to_value(), Ok(Value::Str(_))) => {
            let (from, label) = ("notebook/main".to_owned(), "an entry".to_owned());
            Some(Arg::Copied(Copied { value: value.clone(), from, label }))
        }
        _ => None,
    };
    let mut found = false;
    let args = args.iter().map(|(name, arg)| {
        let copy = copied(arg);
        found |= copy.is_some();
        (name.clone(), copy.unwrap_or_else(|| arg.clone()))
    });
    let args = args.collect();
    found.then_some(args)
}

/// Writes a call for a finding's place.
pub fn written(action: &str, args: &Args) -> String {
    fn arg(of: &Arg) -> String {
        match of {
            Arg::Value(value) | Arg::Copied(Copied { value, .. }) => match value.to_value() {
                Ok(Value::Str(text)) => quoted(&text),
                Ok(value) => value.to_string(),
                Err(_) => "?".to_owned(),
            },
            Arg::Ref(of) => format!("obj:{}", of.key),
            Arg::List(items) => {
                format!("[{}]", items.iter().map(arg).collect::<Vec<_>>().join(", "))
            }
        }
    }
    let args: Vec<String> = args.iter().map(|(name, of)| format!("{name}={}", arg(of))).collect();
    format!("{action}({})", args.join(", "))
}
