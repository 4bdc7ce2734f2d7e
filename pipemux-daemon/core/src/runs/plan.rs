//! Checks a whole script before any of it is carried out.

use std::borrow::Cow;

use pipemux_proto::call::{
    self, Call, CallError, Expr, Owner, Quoted, Script, Span, markdown_link, nearest, shorten,
};
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Type;
use pipemux_proto::refs::{Local, Ref, RefKind};
use pipemux_proto::{Fault, Value};

use crate::keys::SessionKey;
use crate::processes::Sessions;
use crate::runs::bare_number::digits;
use crate::runs::coerce::{TypeMismatch, coerce, takes_empty_text};
use crate::runs::link::{Clicker, clicked_link};
use crate::runs::neighbours::ownerless_calls;
use crate::runs::quoting::{given_flag, raw_texts, unquoted};
use crate::runs::{Argument, MissingArgument, Step, StepOrigin};
use crate::workspaces::{Window, Workspace};

/// The longest call that an answer repeats, in characters.
const CALL_SHOWN: usize = 80;

/// Turns a script into steps.
pub struct Planner<'a> {
    /// The workspace that the script runs in.
    pub workspace: &'a Workspace,
    /// All sessions.
    pub sessions: &'a Sessions,
    /// The script's text, for errors.
    pub code: &'a str,
    pub(super) steps: Vec<Step>,
    /// The sessions that the call may mean whose arguments are checked.
    pub(super) targets: Vec<SessionKey>,
    /// Who clicks the script's links.
    pub(super) clicker: Option<Clicker<'a>>,
    /// True while the script is a single step, so that a hint may repeat it corrected.
    pub(super) is_single: bool,
    /// The calls of all parts that name no app.
    pub(super) neighbours: Vec<Call>,
}

impl<'a> Planner<'a> {
    /// A planner for one script.
    pub fn new(workspace: &'a Workspace, sessions: &'a Sessions, code: &'a str) -> Self {
        Self {
            workspace,
            sessions,
            code,
            steps: Vec::new(),
            targets: Vec::new(),
            clicker: None,
            is_single: false,
            neighbours: Vec::new(),
        }
    }

    /// Says who clicks the script's links.
    #[must_use]
    pub fn clicked_by(self, reader: &'a str, at: Option<u64>) -> Self {
        Self { clicker: Some(Clicker { reader, at }), ..self }
    }

    /// Checks the scripts of a run that consists of several parts, each with its own code.
    ///
    /// # Errors
    /// The first error, with the index of its step among those of all parts.
    pub fn plan_parts(mut self, parts: &[(&'a str, &Script)]) -> Result<Vec<Step>, (usize, Fault)> {
        let neighbours = ownerless_calls(parts.iter().map(|(_, script)| *script));
        self.neighbours = neighbours.into_iter().cloned().collect();
        self.is_single = matches!(parts, [(_, script)] if script.steps.len() == 1);
        let steps = parts
            .iter()
            .flat_map(|(code, script)| script.steps.iter().map(move |step| (*code, step)));
        for (index, (code, step)) in steps.enumerate() {
            self.code = code;
            self.step(step).map_err(|fault| (index, fault))?;
        }
        Ok(self.steps)
    }

    fn step(&mut self, step: &call::Step) -> Result<(), Fault> {
        let link = match step {
            call::Step::Call(call) => clicked_link(call).transpose()?,
            call::Step::Ref(link, _) => Some(link.clone()),
        };
        match (link, step) {
            (Some(link), _) => self.click(&link),
            (None, call::Step::Call(call)) => self.call(call, false).map(drop),
            (None, call::Step::Ref(..)) => Ok(()),
        }
    }

    /// Plans the click of one link.
    ///
    /// # Errors
    /// The link leads nowhere, or answers a question.
    pub fn plan_click(mut self, link: &Ref) -> Result<Vec<Step>, Fault> {
        self.click(link)?;
        Ok(self.steps)
    }

    fn click(&mut self, link: &Ref) -> Result<(), Fault> {
        match self.clicker {
            Some(clicker) => self.link(clicker, link),
            None => Err(Fault::usage(format!("{link} can't be clicked here"))),
        }
    }

    /// Checks a value that is given in answer to a question.
    ///
    /// # Errors
    /// It isn't of the type, or has a call in it, which would be another step.
    pub(super) fn answer(
        mut self,
        argument: &call::Argument,
        missing: &MissingArgument,
    ) -> Result<Argument, Fault> {
        fn is_whole(argument: &Argument) -> bool {
            match argument {
                Argument::Missing(_) | Argument::Result(_) => false,
                Argument::List(_) | Argument::Record(_) => argument.parts().all(is_whole),
                Argument::Fixed(_) | Argument::Ref { .. } | Argument::Name { .. } => true,
            }
        }
        let name = argument.name.as_ref().map_or("it", |(name, _)| name.as_str());
        let ty = &missing.ty;
        let raw = missing.raw.then(|| raw_texts(&argument.value));
        let given = raw.as_ref().unwrap_or(&argument.value);
        let value = self.argument(given, ty, argument.span, name)?;
        if self.steps.is_empty() && is_whole(&value) {
            return Ok(value);
        }
        Err(self.error("wrong type", argument.span, format!("{name} is {ty}: expected its value")))
    }

    pub(super) fn call(&mut self, call: &Call, nested: bool) -> Result<usize, Fault> {
        let (session, candidates, prototype) = self.find(call)?;
        let targets =
            if candidates.is_empty() { vec![session.clone()] } else { candidates.clone() };
        let outer = std::mem::replace(&mut self.targets, targets);
        let mut args = Vec::new();
        let mut positional = 0;
        for argument in &call.args {
            let param = match &argument.name {
                Some((name, span)) => {
                    prototype.params.iter().find(|param| param.name == *name).ok_or_else(|| {
                        let names = prototype.params.iter().map(|param| param.name.as_str());
                        let guess = nearest(name, names.clone())
                            .map_or(String::new(), |guess| format!(": did you mean {guess}?"));
                        let names: Vec<&str> = names.collect();
                        let has = if names.is_empty() {
                            format!("{} takes no parameters", prototype.written_name())
                        } else {
                            format!("{} has {}{guess}", prototype.written_name(), names.join(", "))
                        };
                        self.error("unknown parameter", *span, has)
                    })?
                }
                None => {
                    positional += 1;
                    prototype.params.get(positional - 1).ok_or_else(|| {
                        let note = format!("it is {}", prototype.compact());
                        self.error("too many arguments", argument.span, note)
                    })?
                }
            };
            if args.iter().any(|(name, _)| *name == param.name) {
                let note = format!("{} is given already", param.name);
                return Err(self.error("parameter given twice", argument.span, note));
            }
            let raw = param.raw.holds(|flag| given_flag(call, &prototype, flag));
            let value = match (raw, param.path) {
                (true, _) => Some(raw_texts(&argument.value)),
                (false, true) => unquoted(&argument.value),
                (false, false) => None,
            };
            let value = value.as_ref().unwrap_or(&argument.value);
            // Callers who spell every option out write '' for none.
            let optional = param.default.is_some() || matches!(param.ty, Type::Optional(_));
            if optional && *value == Expr::Value("".into()) && !takes_empty_text(&param.ty) {
                continue;
            }
            let value = match param.named {
                true => self.named_argument(value, &param.ty, argument.span, &param.name),
                false => self.argument(value, &param.ty, argument.span, &param.name),
            };
            let value = value.map_err(|fault| match param.holds_secret() {
                // What is said of a secret doesn't repeat it.
                true => {
                    let note = format!("{} is {}", param.name, param.ty);
                    self.error("wrong type", argument.span, note)
                }
                false => fault,
            })?;
            // A secret isn't repeated in a question: what was obviously meant is taken.
            let value = match value {
                Argument::Missing(MissingArgument { meant: Some(meant), .. })
                    if param.holds_secret() =>
                {
                    Argument::Fixed(Arg::from(meant))
                }
                value => value,
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

    /// Adds a step. Returns its index.
    pub(super) fn push(&mut self, step: Step) -> Result<usize, Fault> {
        self.steps.push(step);
        if self.steps.len() > pipemux_proto::limits::STEPS_MAX {
            let most = pipemux_proto::limits::STEPS_MAX;
            return Err(Fault::usage(format!("too many steps: at most {most}")));
        }
        Ok(self.steps.len() - 1)
    }

    /// Returns a quoted text as a value, for a parameter that takes no text as it is written.
    pub(super) fn resolve_escapes(&self, text: &Quoted) -> Result<Expr, Fault> {
        let text = text.text.clone().map_err(|error| error.to_fault(self.code))?;
        Ok(Expr::Value(Value::Str(text)))
    }

    pub(super) fn argument(
        &mut self,
        value: &Expr,
        ty: &Type,
        span: Span,
        param: &str,
    ) -> Result<Argument, Fault> {
        match (value, ty) {
            (Expr::Quoted(text), _) => {
                let text = self.resolve_escapes(text)?;
                self.argument(&text, ty, span, param)
            }
            (_, Type::Optional(inner)) if *value != Expr::Value(Value::Null) => {
                self.argument(value, inner, span, param)
            }
            (Expr::List(items), Type::List(item_type)) => {
                let mut all = Vec::with_capacity(items.len());
                for (index, (item, span)) in items.iter().enumerate() {
                    // Of records, the place in the list tells which one is meant.
                    let place = match item {
                        Expr::Record(_) => Cow::Owned(format!("{param}[{index}]")),
                        _ => Cow::Borrowed(param),
                    };
                    all.push(self.argument(item, item_type, *span, &place)?);
                }
                Ok(Argument::List(all))
            }
            (Expr::List(items), Type::Any) => {
                let mut all = Vec::with_capacity(items.len());
                for (item, span) in items {
                    all.push(self.argument(item, &Type::Any, *span, param)?);
                }
                Ok(Argument::List(all))
            }
            (Expr::Record(entries), Type::Record(fields)) => {
                self.record(entries, fields, span, param)
            }
            (Expr::Record(entries), Type::Map(of)) => self.map(entries, of, param),
            (Expr::Record(entries), Type::Any) => self.any_record(entries, span, param),
            // A call may give the list itself: its type tells.
            (Expr::Call(call), Type::List(_)) => {
                let index = self.call(call, true)?;
                let result = Argument::Result(index);
                Ok(match self.steps[index].prototype.returns {
                    Some(Type::List(_) | Type::Any) => result,
                    _ => Argument::List(vec![result]),
                })
            }
            // A single value stands for a list of one.
            (_, Type::List(item_type)) => {
                Ok(Argument::List(vec![self.argument(value, item_type, span, param)?]))
            }
            (Expr::Ref(of), _) => self.reference(of, ty, span, param),
            (Expr::Value(Value::Str(text)), Type::Anchor(_)) => {
                if let Some(id) = digits(text) {
                    return self.numeral(id, text, ty, (param, span));
                }
                let link = markdown_link(text).map_or(text.as_str(), |(target, _)| target);
                let of = match Ref::parse_loose(link, RefKind::Obj) {
                    Ok(of) => of,
                    Err(error) => self.labelled(text, ty, (param, span, &error.to_string()))?,
                };
                self.reference(&of, ty, span, param)
            }
            (Expr::Value(Value::Int(id)), Type::Anchor(_)) if *id >= 0 => {
                Err(self.bare_number(id.unsigned_abs(), None, (param, ty, span)))
            }
            (Expr::Value(value), _) => match coerce(value, ty) {
                Ok(value) => Ok(Argument::Fixed(Arg::from(value))),
                Err(TypeMismatch { meant: Some(meant), .. }) => {
                    Ok(Argument::Missing(MissingArgument {
                        ty: ty.clone(),
                        meant: Some(meant),
                        raw: false,
                        secret: false,
                    }))
                }
                Err(TypeMismatch { note, .. }) => {
                    Err(self.error("wrong type", span, format!("{param} is {ty}{note}")))
                }
            },
            (Expr::Call(call), _) => self.call(call, true).map(Argument::Result),
            (Expr::Name { owner, name }, _) => self.name(owner.as_ref(), name, ty, span),
            (Expr::List(_), _) => {
                Err(self.error("wrong type", span, format!("{param} is {ty}, not a list")))
            }
            (Expr::Record(_), _) => {
                Err(self.error("wrong type", span, format!("{param} is {ty}, not a record")))
            }
        }
    }

    /// Checks a ref's kind and type. Whether it leads anywhere is only known when its step runs.
    pub(super) fn reference(
        &self,
        of: &Ref,
        ty: &Type,
        span: Span,
        param: &str,
    ) -> Result<Argument, Fault> {
        if of.kind == RefKind::Link {
            let note = format!("{param} is {ty}: a link is clicked, not passed");
            return Err(self.error("wrong kind of ref", span, note));
        }
        let known = match of.local {
            Local::Id(id) => self.workspace.anchors.get(RefKind::Obj, id),
            Local::Key(_) => None,
        };
        if let (Type::Anchor(Some(wanted)), Some(known)) = (ty, known)
            && known.ty.as_deref().is_some_and(|given| given != wanted)
        {
            let given = known.ty.as_deref().unwrap_or_default();
            let note = format!("{param} is {ty}, {of} is of type {given}");
            return Err(self.error("wrong type of thing", span, note));
        }
        if matches!(ty, Type::Int | Type::Float | Type::Bool | Type::Union(_)) {
            return Err(self.error("wrong type", span, format!("{param} is {ty}, not a ref")));
        }
        Ok(Argument::Ref { of: of.clone(), ty: ty.clone() })
    }

    fn name(
        &self,
        owner: Option<&Owner>,
        name: &str,
        ty: &Type,
        span: Span,
    ) -> Result<Argument, Fault> {
        let candidates: Vec<&Window> = match owner {
            Some(owner) => self.owned(owner, span)?,
            None => self.workspace.windows.iter().collect(),
        };
        let binds = |window: &Window| {
            let held = window.projection.as_ref();
            held.is_some_and(|held| held.projection.names.contains_key(name))
        };
        let known = |window: &&Window| self.has_session(window);
        let of = |window: &Window| window.session.clone();
        let binding = candidates.iter().copied().filter(|window| binds(window)).filter(known);
        let mut bound: Vec<SessionKey> = binding.map(of).collect();
        if bound.is_empty() {
            // An earlier step of the same run may bind the name: it is looked up when its step runs.
            let acts = |window: &&Window| self.steps.iter().any(|s| s.session == window.session);
            bound.extend(candidates.iter().copied().filter(acts).filter(known).map(of));
        }
        match bound.as_slice() {
            [session] => {
                Ok(Argument::Name { session: session.clone(), name: name.into(), ty: ty.clone() })
            }
            [] => {
                let mut names = Vec::new();
                for window in candidates.into_iter().filter(known) {
                    let held = window.projection.as_ref();
                    let held = held.into_iter().flat_map(|held| held.projection.names.keys());
                    names.extend(held.map(|known| format!("{}.{known}", window.session)));
                }
                let known = if names.is_empty() {
                    "text goes in quotes".to_owned()
                } else {
                    format!("bound now: {}; text goes in quotes", names.join(", "))
                };
                Err(self.error("unknown name", span, known))
            }
            several => {
                let note: Vec<String> = several.iter().map(|s| format!("{s}.{name}")).collect();
                Err(self.error("ambiguous name", span, format!("say whose: {}", note.join(" · "))))
            }
        }
    }

    pub(super) fn error(&self, title: &str, span: Span, note: impl Into<String>) -> Fault {
        CallError::new(title, span, note.into()).to_fault(self.code)
    }
}
