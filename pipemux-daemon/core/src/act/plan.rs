//! Checking a whole run before anything of it is carried out.

use pipemux_proto::call::{Call, CallError, Expr, Owner, Script, Span, nearest, shorten};
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::{Prototype, Type};
use pipemux_proto::refs::{Local, Ref, RefKind};
use pipemux_proto::{Code, Fault, SessionAddr, Value};

use super::{Argument, Gap, Prototypes, Step};
use crate::keys::SessionKey;
use crate::workspace::Workspace;

/// Longest call that an answer repeats, in characters.
const CALL_SHOWN: usize = 80;

/// What a plan is made from.
pub struct Planner<'a> {
    /// Where it is carried out.
    pub workspace: &'a Workspace,
    /// The prototypes that make sense now, by open window.
    pub windows: Vec<(SessionKey, Prototypes)>,
    /// What was submitted.
    pub code: &'a str,
    steps: Vec<Step>,
}

impl<'a> Planner<'a> {
    /// For one submitted code.
    pub fn new(
        workspace: &'a Workspace,
        windows: Vec<(SessionKey, Prototypes)>,
        code: &'a str,
    ) -> Self {
        Self { workspace, windows, code, steps: Vec::new() }
    }

    /// Checks every call: owner, action, parameters, types, kinds of refs.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place; nothing is carried out then.
    pub fn plan(mut self, script: &Script) -> Result<Vec<Step>, Fault> {
        for step in &script.steps {
            match step {
                pipemux_proto::call::Step::Call(call) => {
                    self.call(call, false)?;
                }
                pipemux_proto::call::Step::Ref(link, span) => {
                    let fault = CallError::new(
                        "a link is clicked on its own",
                        *span,
                        format!("pipemux click {link}, or write its call"),
                    );
                    return Err(fault.to_fault(self.code));
                }
            }
        }
        Ok(self.steps)
    }

    fn call(&mut self, call: &Call, nested: bool) -> Result<usize, Fault> {
        let (session, owners, prototype) = self.find(call)?;
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
                            format!("{} takes no parameters", prototype.name)
                        } else {
                            format!("{} has {}{guess}", prototype.name, names.join(", "))
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
            let value = self.argument(&argument.value, &param.ty, argument.span, &param.name)?;
            args.push((param.name.clone(), value));
        }
        for param in &prototype.params {
            let given = args.iter().any(|(name, _)| *name == param.name);
            let spare = param.default.is_some() || matches!(param.ty, Type::Optional(_));
            if given || spare {
                continue;
            }
            if nested {
                let note = format!("needs {}: {}", param.name, param.ty);
                return Err(self.error("missing argument", call.name, note));
            }
            let gap = Gap { ty: param.ty.clone(), meant: None };
            args.push((param.name.clone(), Argument::Gap(gap)));
        }
        if nested && prototype.returns.is_none() {
            let note = format!("{} gives no value that could be passed on", prototype.name);
            return Err(self.error("no value", call.name, note));
        }
        let written = shorten(self.code, call.span, CALL_SHOWN);
        self.steps.push(Step { session, owners, prototype, args, call: written, nested });
        if self.steps.len() > pipemux_proto::limits::STEPS_MAX {
            let most = pipemux_proto::limits::STEPS_MAX;
            return Err(Fault::usage(format!("too many steps: at most {most}")));
        }
        Ok(self.steps.len() - 1)
    }

    /// Whose action a call means.
    fn find(&self, call: &Call) -> Result<(SessionKey, Vec<SessionKey>, Prototype), Fault> {
        let candidates = self.candidates(call.owner.as_ref(), call.name)?;
        let mut having = candidates.iter().filter_map(|(session, prototypes)| {
            let found = prototypes.iter().find(|prototype| prototype.name == call.action)?;
            Some((session, found))
        });
        let Some((session, prototype)) = having.next() else {
            return Err(self.unknown_action(call, &candidates));
        };
        let others: Vec<(&SessionKey, &Prototype)> = having.collect();
        if others.is_empty() {
            return Ok((session.clone(), Vec::new(), prototype.clone()));
        }
        // What it is done to says whose it is.
        let all = || std::iter::once((session, prototype)).chain(others.iter().copied());
        let owners = self.owners_of_refs(call);
        let mut meant = all().filter(|(session, _)| owners.contains(session));
        if let (Some((session, prototype)), None) = (meant.next(), meant.next()) {
            return Ok((session.clone(), Vec::new(), prototype.clone()));
        }
        if others.iter().all(|(_, other)| *other == prototype) {
            let rest = others.iter().map(|(session, _)| (*session).clone());
            let owners = std::iter::once(session.clone()).chain(rest).collect();
            return Ok((session.clone(), owners, prototype.clone()));
        }
        let calls: Vec<String> = std::iter::once(session)
            .chain(others.iter().map(|(session, _)| *session))
            .map(|session| format!("{session}.{}(…)", call.action))
            .collect();
        let note = format!("say whose: {}", calls.join(" · "));
        let mut fault = self.error("ambiguous action", call.name, note);
        fault.level = pipemux_proto::Level::Choice;
        Err(fault)
    }

    /// The sessions whose things a call's arguments refer to.
    fn owners_of_refs(&self, call: &Call) -> Vec<&SessionKey> {
        let mut refs = Vec::new();
        for argument in &call.args {
            match &argument.value {
                Expr::Ref(of) => refs.push(of.clone()),
                Expr::Value(Value::Str(text)) => refs.extend(text.parse::<Ref>().ok()),
                Expr::List(items) => {
                    refs.extend(items.iter().filter_map(|(item, _)| match item {
                        Expr::Ref(of) => Some(of.clone()),
                        _ => None,
                    }));
                }
                Expr::Value(_) | Expr::Call(_) | Expr::Name { .. } => {}
            }
        }
        let owner = |of: &Ref| match of.local {
            Local::Id(id) => self.workspace.anchors.get(RefKind::Obj, id).map(|a| &a.session),
            Local::Key(_) => None,
        };
        refs.iter().filter_map(owner).collect()
    }

    fn unknown_action(&self, call: &Call, candidates: &[(SessionKey, Prototypes)]) -> Fault {
        let names: Vec<&str> =
            candidates.iter().flat_map(|(_, all)| all.iter().map(|p| p.name.as_str())).collect();
        let whose = match &call.owner {
            Some(owner) => format!("{} has no {}", owner.provider, call.action),
            None if candidates.is_empty() => "no window is open".to_owned(),
            None => format!("no open window has {}", call.action),
        };
        let note = match nearest(&call.action, names) {
            Some(guess) => format!("{whose}: did you mean {guess}?"),
            None => whose,
        };
        let fault = self.error("unknown action", call.name, note);
        match &call.owner {
            Some(owner) => fault.hint(format!("pipemux help {}", owner.provider)),
            None if candidates.is_empty() => fault.hint("pipemux apps, then: pipemux open <app>"),
            None => fault,
        }
    }

    /// The open windows that an owner before the dot may mean.
    fn candidates(
        &self,
        owner: Option<&Owner>,
        span: Span,
    ) -> Result<Vec<(SessionKey, Prototypes)>, Fault> {
        let Some(owner) = owner else { return Ok(self.windows.clone()) };
        let of_provider: Vec<_> = self
            .windows
            .iter()
            .filter(|(session, _)| session.addr.provider == owner.provider)
            .cloned()
            .collect();
        let wanted = match &owner.session {
            Some(session) => session.as_str(),
            None if of_provider.len() == 1 => return Ok(of_provider),
            None => SessionAddr::DEFAULT_SESSION,
        };
        let exact: Vec<_> = of_provider
            .iter()
            .filter(|(session, _)| session.addr.session.as_str() == wanted)
            .cloned()
            .collect();
        if !exact.is_empty() {
            return Ok(exact);
        }
        if !of_provider.is_empty() && owner.session.is_none() {
            let open: Vec<String> =
                of_provider.iter().map(|(session, _)| format!("{session}.…")).collect();
            let note = format!("say which session: {}", open.join(" · "));
            let mut fault = self.error("ambiguous session", span, note);
            fault.level = pipemux_proto::Level::Choice;
            return Err(fault);
        }
        let address = match &owner.session {
            Some(session) => format!("{}/{session}", owner.provider),
            None => owner.provider.to_string(),
        };
        let providers = self.windows.iter().map(|(session, _)| session.addr.provider.as_str());
        let guess = nearest(owner.provider.as_str(), providers)
            .map_or(String::new(), |guess| format!(": did you mean {guess}?"));
        let note = format!("no window of {address} is open here{guess}");
        let mut fault = self.error("no such window", span, note);
        fault.code = Code::NotFound;
        Err(fault.hint(format!("pipemux open {address}")))
    }

    fn argument(
        &mut self,
        value: &Expr,
        ty: &Type,
        span: Span,
        param: &str,
    ) -> Result<Argument, Fault> {
        match (value, ty) {
            (_, Type::Optional(inner)) if *value != Expr::Value(Value::Null) => {
                self.argument(value, inner, span, param)
            }
            (Expr::List(items), Type::List(item_type)) => {
                let mut all = Vec::with_capacity(items.len());
                for (item, span) in items {
                    all.push(self.argument(item, item_type, *span, param)?);
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
            // What a call gives may be the list already; its type says so.
            (Expr::Call(call), Type::List(_)) => {
                let index = self.call(call, true)?;
                let result = Argument::Result(index);
                Ok(match self.steps[index].prototype.returns {
                    Some(Type::List(_) | Type::Any) => result,
                    _ => Argument::List(vec![result]),
                })
            }
            // One thing stands for a list of one.
            (_, Type::List(item_type)) => {
                Ok(Argument::List(vec![self.argument(value, item_type, span, param)?]))
            }
            (Expr::Ref(of), _) => self.reference(of, ty, span, param),
            (Expr::Value(Value::Str(text)), Type::Anchor(_)) => {
                let of = Ref::parse_loose(text, RefKind::Obj).map_err(|error| {
                    self.error("not a ref", span, format!("{param} is {ty}: {error}"))
                })?;
                self.reference(&of, ty, span, param)
            }
            (Expr::Value(Value::Int(id)), Type::Anchor(_)) if *id >= 0 => {
                self.reference(&Ref::obj(id.unsigned_abs()), ty, span, param)
            }
            (Expr::Value(value), _) => match fit(value, ty) {
                Ok(value) => Ok(Argument::Fixed(Arg::from(value))),
                Err(Misfit { meant: Some(meant), .. }) => {
                    Ok(Argument::Gap(Gap { ty: ty.clone(), meant: Some(meant) }))
                }
                Err(Misfit { note, .. }) => {
                    Err(self.error("wrong type", span, format!("{param} is {ty}{note}")))
                }
            },
            (Expr::Call(call), _) => self.call(call, true).map(Argument::Result),
            (Expr::Name { owner, name }, _) => self.name(owner.as_ref(), name, ty, span),
            (Expr::List(_), _) => {
                Err(self.error("wrong type", span, format!("{param} is {ty}, not a list")))
            }
        }
    }

    /// A ref's kind and type can be checked at once; whether it leads anywhere is known when its step
    /// runs.
    fn reference(&self, of: &Ref, ty: &Type, span: Span, param: &str) -> Result<Argument, Fault> {
        if of.kind == RefKind::Link {
            let note = format!("{param} is {ty}: a link is clicked, not passed");
            return Err(self.error("wrong kind of ref", span, note));
        }
        let known = match of.local {
            Local::Id(id) => self.workspace.anchors.get(RefKind::Obj, id),
            Local::Key(_) => None,
        };
        if let (Type::Anchor(Some(wanted)), Some(known)) = (ty, known)
            && known.ty.as_ref().is_some_and(|given| given != wanted)
        {
            let given = known.ty.as_deref().unwrap_or_default();
            let note = format!("{param} is {ty}, {of} is a {given}");
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
        let candidates = self.candidates(owner, span)?;
        let mut bound = Vec::new();
        let mut names = Vec::new();
        for (session, _) in &candidates {
            let held = self.workspace.window(session).and_then(|w| w.projection.as_ref());
            for known in held.iter().flat_map(|held| held.projection.names.keys()) {
                names.push(format!("{session}.{known}"));
                if known == name {
                    bound.push(session.clone());
                }
            }
        }
        match bound.as_slice() {
            [session] => {
                Ok(Argument::Name { session: session.clone(), name: name.into(), ty: ty.clone() })
            }
            [] => {
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

    fn error(&self, title: &str, span: Span, note: impl Into<String>) -> Fault {
        CallError::new(title, span, note.into()).to_fault(self.code)
    }
}

/// A literal that its parameter doesn't take.
struct Misfit {
    /// What to say behind the type.
    note: String,
    /// What was obviously meant.
    meant: Option<Value>,
}

/// A literal as the type takes it.
fn fit(value: &Value, ty: &Type) -> Result<Value, Misfit> {
    let note = |note: String| Misfit { note, meant: None };
    let meant = |meant: Value| Misfit { note: String::new(), meant: Some(meant) };
    match (ty, value) {
        (Type::Any, _)
        | (Type::String, Value::Str(_))
        | (Type::Int, Value::Int(_))
        | (Type::Float, Value::Float(_))
        | (Type::Bool, Value::Bool(_))
        | (Type::Null | Type::Optional(_), Value::Null)
        | (Type::Line, Value::Int(_) | Value::Str(_)) => Ok(value.clone()),
        (Type::Float, Value::Int(number)) => Ok(Value::Float(*number as f64)),
        (Type::Int, Value::Float(number)) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Ok(Value::Int(*number as i64))
        }
        (Type::Union(options), Value::Str(text)) if options.contains(text) => Ok(value.clone()),
        (Type::Union(options), Value::Str(text)) => {
            match nearest(text, options.iter().map(String::as_str)) {
                Some(guess) => Err(meant(guess.into())),
                None => Err(note(format!(", not '{text}'"))),
            }
        }
        (Type::String, Value::Int(_) | Value::Float(_) | Value::Bool(_)) => {
            Err(meant(value.to_string().into()))
        }
        (Type::Int | Type::Float | Type::Bool, Value::Str(text)) => match literal(text, ty) {
            Some(value) => Err(meant(value)),
            None => Err(note(format!(", not '{}'", clip(text)))),
        },
        (Type::Anchor(_), _) => Err(note(": write a ref as shown, for example obj:23".into())),
        _ => Err(note(format!(", not {}", value.kind()))),
    }
}

/// What a text says as a value of a simple type.
pub fn literal(text: &str, ty: &Type) -> Option<Value> {
    let text = text.trim();
    match ty {
        Type::Int => text.parse().ok().map(Value::Int),
        Type::Float => text.parse().ok().filter(|n: &f64| n.is_finite()).map(Value::Float),
        Type::Bool => text.to_lowercase().parse().ok().map(Value::Bool),
        _ => None,
    }
}

fn clip(text: &str) -> String {
    let clipped: String = text.chars().take(30).collect();
    if clipped.len() < text.len() { format!("{clipped}…") } else { clipped }
}
