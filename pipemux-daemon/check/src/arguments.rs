//! Arguments of actions, made from their prototypes.

use pipemux_proto::Value;
use pipemux_proto::projection::{Arg, Args, Copied, RefArg};
use pipemux_proto::prototype::{Field, Prototype, Type};

use crate::shown_objects::{ShownObjects, quoted};
use crate::subject::FILES;

/// Makes valid arguments.
pub struct Arguments<'a> {
    pub objects: &'a mut ShownObjects,
    /// True to name the last thing of a type, false for the first one.
    pub last: bool,
}

/// Which of an action's parameters arguments are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamSet {
    /// The parameters without a default.
    Required,
    /// All parameters.
    All,
}

impl Arguments<'_> {
    /// Makes arguments of an action; none when there is no thing of a type that it needs.
    pub fn of(&mut self, action: &Prototype, params: ParamSet, union_at: usize) -> Option<Args> {
        let mut args = Args::new();
        for param in &action.params {
            if params == ParamSet::Required && !param.is_required() {
                continue;
            }
            let declared = Declared { default: param.default.as_ref(), path: param.path };
            match self.value(&declared, &param.ty, union_at) {
                Some(arg) => drop(args.insert(param.name.clone(), arg)),
                None if !param.is_required() => {}
                None => return None,
            }
        }
        Some(args)
    }

    /// Makes the fields of a form or a record: those that are required, and all others that can be
    /// made.
    pub fn fields(&mut self, fields: &[Field], union_at: usize) -> Option<Args> {
        let mut args = Args::new();
        for field in fields {
            match self.field(field, union_at) {
                Some(arg) => drop(args.insert(field.name.clone(), arg)),
                None if !field.is_required() => {}
                None => return None,
            }
        }
        Some(args)
    }

    /// Makes the value of a field within its bounds; none if that takes more than its declaration
    /// says.
    fn field(&mut self, field: &Field, union_at: usize) -> Option<Arg> {
        if let Some(default) = &field.default {
            return Some(default.clone().into());
        }
        if field.pattern.is_some() {
            return None;
        }
        let declared = Declared { default: None, path: false };
        let arg = self.value(&declared, &field.ty, union_at)?;
        // Too few and too many are as the declaration says; a bound beyond these lengths is rare.
        let (min, max) = (field.min.unwrap_or(f64::MIN), field.max.unwrap_or(f64::MAX));
        match field.value_type() {
            Type::Int => Some(Value::Int(1.0_f64.max(min.ceil()).min(max.floor()) as i64).into()),
            Type::Float => Some(Value::Float(1.5_f64.max(min).min(max)).into()),
            Type::String => {
                let text = match &arg {
                    Arg::Value(value) => value.to_value().ok()?.as_str()?.to_owned(),
                    _ => return Some(arg),
                };
                let (fewest, most) = (min.clamp(0.0, 1000.0) as usize, max.clamp(0.0, 1000.0));
                let padded = format!("{text:x<fewest$}");
                let text: String = padded.chars().take(most as usize).collect();
                Some(text.into_arg())
            }
            Type::List(_) => match arg {
                Arg::List(items) if max < 1.0 => {
                    Some(Arg::List(items.into_iter().take(0).collect()))
                }
                Arg::List(items) => {
                    let fewest = min.clamp(1.0, 100.0).ceil() as usize;
                    Some(Arg::List(items.into_iter().cycle().take(fewest).collect()))
                }
                arg => Some(arg),
            },
            _ => Some(arg),
        }
    }

    fn value(&mut self, declared: &Declared<'_>, ty: &Type, union_at: usize) -> Option<Arg> {
        Some(match ty {
            Type::String if declared.path => FILES[0].0.into_arg(),
            Type::String | Type::Any => self.objects.next_text().into_arg(),
            Type::Int => match declared.default {
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
                let object = self.objects.pick(of.as_deref(), self.last)?;
                Arg::Ref(RefArg { key: object.key.clone(), rev: object.rev, ty: object.ty.clone() })
            }
            Type::List(of) => Arg::List(vec![self.value(declared, of, union_at)?]),
            Type::Optional(of) => self.value(declared, of, union_at)?,
            Type::Record(fields) => record(self.fields(fields, union_at)?),
            Type::Map(of) => {
                let arg = self.value(declared, of, union_at)?;
                record([("check".to_owned(), arg)].into())
            }
        })
    }
}

/// The declaration of a value besides its type.
struct Declared<'a> {
    default: Option<&'a Value>,
    path: bool,
}

/// Makes a record. One without refs and copied values is a value.
fn record(fields: Args) -> Arg {
    let values: Option<Vec<(String, Value)>> =
        fields.iter().map(|(name, arg)| Some((name.clone(), plain(arg)?))).collect();
    match values {
        Some(values) => Value::Map(values).into(),
        None => Arg::Record(fields),
    }
}

fn plain(arg: &Arg) -> Option<Value> {
    match arg {
        Arg::Value(value) => value.to_value().ok(),
        Arg::List(items) => items.iter().map(plain).collect::<Option<_>>().map(Value::List),
        _ => None,
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
        Type::Anchor(_) | Type::List(_) | Type::Record(_) | Type::Map(_) => Value::Int(7).into(),
    })
}

/// Returns the things that arguments name, in order.
pub fn refs(args: &Args) -> Vec<&RefArg> {
    fn of(arg: &Arg) -> Vec<&RefArg> {
        match arg {
            Arg::Ref(of) => vec![of],
            Arg::List(items) => items.iter().flat_map(of).collect(),
            Arg::Record(fields) => fields.values().flat_map(of).collect(),
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
            Arg::Record(fields) => {
                let changed = fields.iter().map(|(name, arg)| (name.clone(), of(arg, change)));
                Arg::Record(changed.collect())
            }
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
            Some(Arg::Copied(Copied { value: value.clone(), from, label, file: None }))
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
pub fn call_text(action: &str, args: &Args) -> String {
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
            Arg::Record(fields) => {
                let fields = fields.iter().map(|(name, of)| format!("{name}: {}", arg(of)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }
    let args: Vec<String> = args.iter().map(|(name, of)| format!("{name}={}", arg(of))).collect();
    format!("{action}({})", args.join(", "))
}
