//! Whose action a call means.

use pipemux_proto::call::{Call, Expr, Owner, Span, nearest};
use pipemux_proto::prototype::Prototype;
use pipemux_proto::refs::{Local, Ref, RefKind};
use pipemux_proto::{Code, Fault, SessionAddr, Value};

use super::Prototypes;
use super::plan::Planner;
use crate::keys::SessionKey;

impl Planner<'_> {
    /// Whose action a call means.
    pub(super) fn find(
        &self,
        call: &Call,
    ) -> Result<(SessionKey, Vec<SessionKey>, Prototype), Fault> {
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
            Local::Id(id) => self.workspace.anchors.get(RefKind::Obj, id).map(|a| &*a.session),
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
    pub(super) fn candidates(
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
        let known = guess.is_empty();
        Err(if known { fault.hint(format!("pipemux open {address}")) } else { fault })
    }
}
