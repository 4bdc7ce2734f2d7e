//! Plans a call as a step: its action, and an argument for each parameter.

use pipemux_proto::Fault;
use pipemux_proto::call::{self, Call, Expr, nearest, shorten};
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::{Param, Prototype, Type};

use crate::scripts::coerce::takes_empty_text;
use crate::scripts::plan::Planner;
use crate::scripts::quoting::{given_flag, raw_texts, unquoted};
use crate::scripts::step::{Argument, MissingArgument, Step, StepOrigin};

/// The longest call that an answer repeats, in characters.
const CALL_SHOWN: usize = 80;

impl Planner<'_> {
    /// Plans a call, and the calls in its arguments before it. Returns the index of its step.
    ///
    /// # Errors
    /// The call doesn't fit its action's prototype.
    pub(super) fn call(&mut self, call: &Call, nested: bool) -> Result<usize, Fault> {
        let (session, candidates, prototype) = self.find(call)?;
        let targets =
            if candidates.is_empty() { vec![session.clone()] } else { candidates.clone() };
        let outer = std::mem::replace(&mut self.targets, targets);
        let mut args = Vec::new();
        let mut positional = 0;
        for argument in &call.args {
            let param = self.param_of(&prototype, argument, &mut positional)?;
            if args.iter().any(|(name, _)| *name == param.name) {
                let note = format!("{} is given already", param.name);
                return Err(self.error("parameter given twice", argument.span, note));
            }
            let Some(value) = self.call_argument(call, &prototype, param, argument)? else {
                continue;
            };
            // Only a whole argument of a step that the reader wrote can be asked for.
            if let Some(meant) = value.first_meant(nested) {
                let note = format!("{} is {}, did you mean {meant}?", param.name, param.ty);
                return Err(self.error("wrong type", argument.span, note));
            }
            args.push((param.name.clone(), value));
        }
        self.targets = outer;
        for param in &prototype.params {
            let given = args.iter().any(|(name, _)| *name == param.name);
            let optional = param.default.is_some() || matches!(param.ty, Type::Optional(_));
            if given || optional {
                continue;
            }
            if nested {
                let note = format!("needs {}: {}", param.name, param.ty);
                return Err(self.error("missing argument", call.name, note));
            }
            let raw = param.raw.holds(|flag| given_flag(call, &prototype, flag));
            args.push((param.name.clone(), Argument::Missing(MissingArgument::of(param, raw))));
        }
        if nested && prototype.returns.is_none() {
            let note = format!("{} returns no value", prototype.written_name());
            return Err(self.error("no value", call.name, note));
        }
        let call = shorten(self.code, call.span, CALL_SHOWN);
        let origin = StepOrigin::Call;
        self.push(Step { session, candidates, prototype, args, call, origin, nested })
    }

    /// Returns the parameter that an argument is for: by its name or, among those without one, by
    /// its place.
    fn param_of<'p>(
        &self,
        prototype: &'p Prototype,
        argument: &call::Argument,
        positional: &mut usize,
    ) -> Result<&'p Param, Fault> {
        let Some((name, span)) = &argument.name else {
            *positional += 1;
            return prototype.params.get(*positional - 1).ok_or_else(|| {
                let note = format!("it is {}", prototype.compact());
                self.error("too many arguments", argument.span, note)
            });
        };
        prototype.params.iter().find(|param| param.name == *name).ok_or_else(|| {
            let action = prototype.written_name();
            let names = || prototype.params.iter().map(|param| param.name.as_str());
            let guess = nearest(name, names())
                .map_or(String::new(), |guess| format!(": did you mean {guess}?"));
            let has = match names().collect::<Vec<&str>>().as_slice() {
                [] => format!("{action} takes no parameters"),
                names => format!("{action} has {}{guess}", names.join(", ")),
            };
            self.error("unknown parameter", *span, has)
        })
    }

    /// Checks an argument against its parameter. Returns nothing for a text that stands for none.
    fn call_argument(
        &mut self,
        call: &Call,
        prototype: &Prototype,
        param: &Param,
        argument: &call::Argument,
    ) -> Result<Option<Argument>, Fault> {
        let raw = param.raw.holds(|flag| given_flag(call, prototype, flag));
        let value = match (raw, param.path) {
            (true, _) => Some(raw_texts(&argument.value)),
            (false, true) => unquoted(&argument.value),
            (false, false) => None,
        };
        let value = value.as_ref().unwrap_or(&argument.value);
        // Callers who spell every option out write '' for none.
        let optional = param.default.is_some() || matches!(param.ty, Type::Optional(_));
        if optional && *value == Expr::Value("".into()) && !takes_empty_text(&param.ty) {
            return Ok(None);
        }
        let value = match param.named {
            true => self.named_argument(value, &param.ty, argument.span, &param.name),
            false => self.argument(value, &param.ty, argument.span, &param.name),
        };
        if !param.holds_secret() {
            return value.map(Some);
        }
        Ok(Some(match value {
            // A secret isn't repeated in a question: what was obviously meant is taken.
            Ok(Argument::Missing(MissingArgument { meant: Some(meant), .. })) => {
                Argument::Fixed(Arg::from(meant))
            }
            Ok(value) => value,
            // What is said of a secret doesn't repeat it.
            Err(_) => {
                let note = format!("{} is {}", param.name, param.ty);
                return Err(self.error("wrong type", argument.span, note));
            }
        }))
    }
}
