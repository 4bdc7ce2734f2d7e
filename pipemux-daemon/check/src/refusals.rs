//! Rules for what an action must refuse.

use pipemux_proto::app::Outcome;
use pipemux_proto::projection::{Args, RefArg};
use pipemux_proto::prototype::{Prototype, Risk};
use pipemux_proto::{Code, Value};

use crate::actions::ActionChecks;
use crate::arguments::{as_copies, call_text, of_another_type, refs, with_refs};
use crate::lookups::NO_KEY;

impl ActionChecks<'_> {
    /// Sends arguments that are no longer or never valid: nothing may take effect.
    pub fn invalid(&mut self, action: &Prototype, args: &Args) {
        if action.risk == Risk::Destructive && !self.may_confirm(action, args) {
            return;
        }
        if let Some(of) = refs(args).first().map(|of| (*of).clone()) {
            let place = format!("invoke {} of another revision", call_text(&action.name, args));
            let stale =
                with_refs(args, &|of| RefArg { rev: of.rev.wrapping_add(1000), ..of.clone() });
            self.refused(&place, action, &stale, Code::Stale, &of.key);
            let gone = with_refs(args, &|of| RefArg { key: NO_KEY.into(), ..of.clone() });
            let place = format!("invoke {}", call_text(&action.name, &gone));
            self.refused(&place, action, &gone, Code::NotFound, NO_KEY);
        }
        let mut odd = Vec::new();
        for param in &action.params {
            if let Some(arg) = of_another_type(&param.ty) {
                let mut args = args.clone();
                args.insert(param.name.clone(), arg);
                odd.push(args);
            }
            if args.contains_key(&param.name) {
                let mut args = args.clone();
                args.remove(&param.name);
                odd.push(args);
            }
        }
        let mut more = args.clone();
        more.insert("no_such_parameter".into(), Value::Int(1).into());
        odd.push(more);
        for args in odd {
            let place = format!("invoke {}", call_text(&action.name, &args));
            let Some(before) = self.observer.look(&place) else { return };
            let mut invoke = self.invoke(action, &args, &before);
            invoke.confirmed = action.risk == Risk::Destructive && !action.previews;
            // An app may make something of it. If it refuses, nothing took effect.
            self.send(&place, Some(action), &invoke, &before);
        }
    }

    /// Sends an action that must be refused with a code that names the thing.
    pub fn refused(&mut self, place: &str, action: &Prototype, args: &Args, code: Code, key: &str) {
        let Some(before) = self.observer.look(place) else { return };
        let mut invoke = self.invoke(action, args, &before);
        invoke.confirmed = action.risk == Risk::Destructive && !action.previews;
        match self.send(place, Some(action), &invoke, &before) {
            Some(Outcome::Failed(fault)) => {
                self.observer.expect_refusal(place, Some(Err(fault)), code, key);
            }
            Some(Outcome::Done(_) | Outcome::Started(_)) => {
                self.observer.expect_refusal(place, Some(Ok(())), code, key)
            }
            // The answer to its question is refused then.
            Some(Outcome::Needs(_)) | None => {}
        }
    }

    /// Passes texts as another session's things would be passed.
    pub fn copies(&mut self, action: &Prototype, args: &Args) {
        let copied_texts = as_copies(args).filter(|_| refs(args).is_empty());
        let Some(copies) = copied_texts.filter(|_| action.risk != Risk::Destructive) else {
            return;
        };
        let place = format!("invoke {} with copied values", call_text(&action.name, args));
        let Some(before) = self.observer.look(&place) else { return };
        let copied = self.invoke(action, &copies, &before);
        let copied = self.send(&place, Some(action), &copied, &before);
        let Some(Outcome::Failed(fault)) = copied else { return };
        let plain = self.invoke(action, args, &before);
        if let Some(Outcome::Done(_) | Outcome::Started(_)) =
            self.send(&place, Some(action), &plain, &before)
        {
            let text = format!(
                "refused ({}) what it takes as `value`: an argument may be {{\"copied\": {{value, from, label}}}}",
                fault.message
            );
            self.observer.session.report.add(&place, "copied", text);
        }
    }

    /// Invokes an action that isn't there.
    pub fn no_such_action(&mut self) {
        let place = "invoke no_such_action()";
        let Some(before) = self.observer.look(place) else { return };
        let action = Prototype { name: "no_such_action".into(), ..Prototype::default() };
        let invoke = self.invoke(&action, &Args::new(), &before);
        let outcome = self.send(place, None, &invoke, &before);
        if outcome.is_some_and(|outcome| !matches!(outcome, Outcome::Failed(_))) {
            self.observer.session.report.add(
                place,
                "no-action",
                "was carried out: refuse actions that aren't there",
            );
        }
    }
}
