//! Declares the actions that an app offers.

use pipemux_proto::projection::Args;
use pipemux_proto::prototype::{Param, Prominence, Prototype, Risk, Type};
use pipemux_proto::{Fault, Value};

use crate::args::value_of;

/// A closed set of actions. Don't implement it by hand: [`crate::actions!`] does.
pub trait Actions: Sized {
    /// Returns the signatures of all actions, in the order they were declared.
    fn prototypes() -> Vec<Prototype>;

    /// Makes an action from its name and arguments. Parameters with a default may be missing.
    ///
    /// # Errors
    /// The action or a parameter is unknown, an argument is missing or has another type. The
    /// message names the parameter and the expected type.
    fn decode(name: &str, args: Args) -> Result<Self, Fault>;

    /// Returns the name and arguments from which [`Actions::decode`] makes this action.
    fn encode(&self) -> (&'static str, Args);

    /// Returns true when an argument names the change that the action is about: see
    /// [`crate::Change`].
    fn names_change(&self) -> bool;

    /// Returns whether the action only looks, changes something, or destroys something.
    fn risk(&self) -> Risk;

    /// Returns the type of the objects that strings name in a parameter of an action, or `None` if
    /// they name none.
    fn named_kind(action: &str, param: &str) -> Option<Type>;

    /// Returns whether an action is declared as `preview`: calls may then ask for what it would do.
    fn has_preview(action: &str) -> bool;

    /// Returns the action's name.
    fn name(&self) -> &'static str {
        self.encode().0
    }
}

/// The parameter by which a call asks for what an action would do.
const PREVIEW: &str = "preview";

/// Adds, for each action that has a preview, the query that shows it. It is called like the action
/// and takes one more argument, so that a call without that means the action.
pub fn with_previews(mut actions: Vec<Prototype>, have: &[bool]) -> Vec<Prototype> {
    let own = actions.iter().zip(have).filter(|(_, has)| **has);
    let previews = own.map(|(action, _)| {
        let mut preview = Prototype {
            name: format!("{PREVIEW}_{}", action.name),
            called: Some(action.written_name().to_owned()),
            doc: "Shows what the same call without preview would do now; changes nothing."
                .to_owned(),
            params: action.params.clone(),
            risk: Risk::Query,
            idempotent: true,
            prominence: Prominence::Alias,
            ..Prototype::default()
        };
        let ty = Type::Bool;
        preview.params.push(Param { name: PREVIEW.to_owned(), ty, ..Param::default() });
        preview
    });
    let previews: Vec<Prototype> = previews.collect();
    actions.extend(previews);
    actions
}

/// Returns the action whose preview a request asks for, and takes the argument that asks for it
/// out; `None` for any other request.
///
/// # Errors
/// The argument says no.
pub(crate) fn previewed<'a>(
    has_preview: fn(&str) -> bool,
    name: &'a str,
    args: &mut Args,
) -> Result<Option<&'a str>, Fault> {
    let action = name.strip_prefix(PREVIEW).and_then(|rest| rest.strip_prefix('_'));
    let Some(action) = action.filter(|action| has_preview(action)) else { return Ok(None) };
    let wanted = args.remove(PREVIEW);
    match wanted.map(|wanted| value_of(&wanted)).transpose()? {
        Some(Value::Bool(true)) => Ok(Some(action)),
        _ => Err(Fault::usage("preview is true, or left out to carry the call out")),
    }
}

/// Declares an app's actions: an enum with one variant per action, whose fields are the parameters.
///
/// Each action is written as `risk prominence Variant = name(parameters) -> result;`. A parameter
/// that is a keyword of Rust is written with `r#`: `r#in`. The result is optional, and so are `,
/// idempotent`, `, input` and `, preview` before the semicolon. The doc comment is shown to
/// readers.
///
/// | part | values |
/// |---|---|
/// | risk | `query` changes nothing, and its result is the whole answer; `safe` changes nothing but views; `changes` can be undone or redone; `destructive` can't, so the reader must confirm it first |
/// | prominence | `featured` has a line of its own with its doc comment; `listed` is named on a line shared with others; `help` is only counted, and shown by `pipemux help`; `alias` is shown by `pipemux help --aliases` only |
/// | name | what callers write; `insert_beside as insert` has a name of its own and is written `insert`: of several such actions a call means the first one that takes its arguments |
/// | parameter | `name: Type` or `name: Type = default`, where the type implements [`crate::ArgType`]; a doc comment before it says what the argument means |
/// | `idempotent` | carrying out the action twice has the same effect as once, so that it may be repeated after a crash |
/// | `input` | what a person types at `pipemux attach` goes to this action as its first argument; one action of an app at most |
/// | `preview` | a call with `preview=true` is a query that shows what the action would do ([`crate::Context::preview`]); the action does its work in [`crate::App::blocking`] |
///
/// ```
/// use docui::{Actions, Anchor};
/// docui::kind!(pub Enemy = "enemy");
/// docui::actions! {
///     /// The actions in the arena.
///     pub enum Action {
///         /// Magic; costs mana.
///         changes featured CastFireball = cast_fireball(
///             target: Anchor<Enemy>,
///             /// What it costs.
///             mana: i64 = 10,
///         );
///         safe listed Look = look() -> String, idempotent;
///     }
/// }
/// assert_eq!(
///     Action::prototypes()[0].declaration(),
///     "/** Magic; costs mana. @param mana What it costs. */\n\
///      function cast_fireball(target: Anchor<enemy>, mana: int = 10): void;",
/// );
/// ```
#[macro_export]
macro_rules! actions {
    (
        $(#[$meta:meta])* $vis:vis enum $Name:ident {
            $(
                $(#[doc = $doc:literal])*
                $risk:ident $prominence:ident $Variant:ident = $name:ident $(as $called:ident)? (
                    $($(#[doc = $param_doc:literal])* $param:ident: $ty:ty $(= $default:expr)?),* $(,)?
                ) $(-> $ret:ty)? $(, $flag:ident)*;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        $vis enum $Name {
            $(
                $(#[doc = $doc])*
                #[allow(missing_docs)]
                $Variant { $($param: $ty),* },
            )*
        }

        impl $crate::Actions for $Name {
            fn prototypes() -> Vec<$crate::private::Prototype> {
                let own = vec![$($crate::private::Prototype {
                    name: stringify!($name).to_owned(),
                    called: $crate::actions!(@called $($called)?),
                    doc: <[&str]>::join(&[$($doc.trim()),*], " "),
                    params: vec![$($crate::private::Param {
                        name: $crate::private::param_name(stringify!($param)).to_owned(),
                        ty: <$ty as $crate::ArgType>::ty(),
                        default: $crate::record!(@default $ty $(, $default)?),
                        doc: <[&str]>::join(&[$($param_doc.trim()),*], " "),
                        path: <$ty as $crate::ArgType>::IS_PATH,
                        named: <$ty as $crate::ArgType>::IS_NAMED,
                        raw: <$ty as $crate::ArgType>::RAW.to_wire(),
                        secret: <$ty as $crate::ArgType>::IS_SECRET,
                    }),*],
                    returns: $crate::actions!(@returns $($ret)?),
                    risk: $crate::actions!(@risk $risk),
                    idempotent: <[bool]>::contains(&[$($crate::actions!(@is idempotent $flag)),*], &true),
                    prominence: $crate::actions!(@prominence $prominence),
                    // The SDK asks with what `App::confirm` shows.
                    previews: $crate::actions!(@risk $risk) == $crate::private::Risk::Destructive,
                    input: <[bool]>::contains(&[$($crate::actions!(@is input $flag)),*], &true),
                }),*];
                let previews =
                    [$(<[bool]>::contains(&[$($crate::actions!(@is preview $flag)),*], &true)),*];
                $crate::private::with_previews(own, &previews)
            }

            fn has_preview(action: &str) -> bool {
                match action {
                    $(stringify!($name) => {
                        <[bool]>::contains(&[$($crate::actions!(@is preview $flag)),*], &true)
                    })*
                    _ => false,
                }
            }

            fn decode(name: &str, args: $crate::private::Args) -> Result<Self, $crate::Fault> {
                #[allow(unused_mut)]
                let mut args = args;
                let action = match name {
                    $(stringify!($name) => $Name::$Variant {
                        $($param: match args.remove($crate::private::param_name(stringify!($param))) {
                            Some(arg) => <$ty as $crate::ArgType>::from_arg(arg).map_err(|mut fault| {
                                fault.message = format!(
                                    "{}: {}",
                                    $crate::private::param_name(stringify!($param)),
                                    fault.message
                                );
                                fault.field($crate::private::param_name(stringify!($param)))
                            })?,
                            None => $crate::actions!(@missing $name $param $ty $(, $default)?),
                        },)*
                    },)*
                    other => return Err($crate::Fault::usage(format!("unknown action {other}"))),
                };
                match args.into_keys().next() {
                    None => Ok(action),
                    Some(extra) => {
                        Err($crate::Fault::usage(format!("{name} has no parameter {extra}")))
                    }
                }
            }

            fn named_kind(action: &str, param: &str) -> Option<$crate::private::Type> {
                match action {
                    $(stringify!($name) => {
                        $(if param == $crate::private::param_name(stringify!($param)) && <$ty as $crate::ArgType>::IS_NAMED {
                            return Some(<$ty as $crate::ArgType>::ty());
                        })*
                        None
                    })*
                    _ => None,
                }
            }

            fn risk(&self) -> $crate::private::Risk {
                match self {
                    $($Name::$Variant { .. } => $crate::actions!(@risk $risk),)*
                }
            }

            fn names_change(&self) -> bool {
                match self {
                    $($Name::$Variant { $($param),* } => {
                        false $(|| $crate::ArgType::names_change($param))*
                    })*
                }
            }

            fn encode(&self) -> (&'static str, $crate::private::Args) {
                match self {
                    $($Name::$Variant { $($param),* } => {
                        #[allow(unused_mut)]
                        let mut args = $crate::private::Args::new();
                        $(args.insert(
                            $crate::private::param_name(stringify!($param)).to_owned(),
                            $crate::ArgType::to_arg($param),
                        );)*
                        (stringify!($name), args)
                    })*
                }
            }
        }
    };

    (@missing $name:ident $param:ident $ty:ty) => {
        return Err($crate::Fault::usage(format!(
            "{} needs {}: {}",
            stringify!($name),
            $crate::private::param_name(stringify!($param)),
            <$ty as $crate::ArgType>::ty(),
        )))
    };
    (@missing $name:ident $param:ident $ty:ty, $default:expr) => { <$ty>::from($default) };
    (@returns) => { None };
    (@returns $ret:ty) => { Some(<$ret as $crate::ArgType>::ty()) };
    (@is idempotent idempotent) => { true };
    (@is input input) => { true };
    (@is preview preview) => { true };
    (@is $wanted:ident idempotent) => { false };
    (@is $wanted:ident input) => { false };
    (@is $wanted:ident preview) => { false };
    (@called) => { None };
    (@called $called:ident) => { Some(stringify!($called).to_owned()) };
    (@risk query) => { $crate::private::Risk::Query };
    (@risk safe) => { $crate::private::Risk::Safe };
    (@risk changes) => { $crate::private::Risk::Changes };
    (@risk destructive) => { $crate::private::Risk::Destructive };
    (@prominence featured) => { $crate::private::Prominence::Featured };
    (@prominence listed) => { $crate::private::Prominence::Listed };
    (@prominence help) => { $crate::private::Prominence::Help };
    (@prominence alias) => { $crate::private::Prominence::Alias };
}
