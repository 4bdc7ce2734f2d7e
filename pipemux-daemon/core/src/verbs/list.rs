//! `help`: what apps can do; and which session an address means.

use pipemux_proto::call::nearest;
use pipemux_proto::projection::Lod;
use pipemux_proto::prototype::{Prominence, Prototype};
use pipemux_proto::{Fault, ProviderId, SessionAddr, Value};

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::providers::find_manifest;
use crate::verbs::require;
use crate::views::inert::line;
use crate::views::prototypes::{declarations, described, short_lines};

/// An action as data.
fn row(one: &Prototype) -> Value {
    Value::Map(vec![
        ("name".into(), one.name.as_str().into()),
        ("declaration".into(), one.declaration().into()),
        ("compact".into(), one.compact().into()),
        ("short".into(), one.short().into()),
    ])
}

impl Core {
    /// Describes the actions of an app. Those of a built-in app are known before it ever ran.
    pub(super) fn help(
        &mut self,
        id: RequestId,
        provider: &ProviderId,
        aliases: bool,
        action: Option<&str>,
    ) -> Result<(), Fault> {
        let manifest = match find_manifest(&self.providers, provider) {
            Err(unknown) => {
                return self.help_of_action(id, provider.as_str()).map_err(|()| unknown);
            }
            Ok(manifest) => manifest,
        };
        let built_in = manifest.built_in.as_deref();
        let learned = self.processes.prototypes(provider).map(|learned| learned.as_slice());
        let Some(prototypes) = built_in.map(|app| app.prototypes.as_slice()).or(learned) else {
            // The daemon learns the actions of an app when the app first runs.
            return Err(Fault::not_found(format!("{provider} has not run yet"))
                .hint(format!("pipemux open {provider}")));
        };
        let lod = require::request(&self.clients, id)?.call.lod;
        let full = lod == Some(Lod::Full) || action.is_some();
        let is_shown = |one: &&Prototype| match action {
            Some(action) => one.written_name() == action,
            None => aliases == (one.prominence == Prominence::Alias),
        };
        let shown: Vec<&Prototype> = prototypes.iter().filter(is_shown).collect();
        if let Some(action) = action.filter(|_| shown.is_empty()) {
            let message = format!("{provider} has no action {}", line(action));
            return Err(Fault::not_found(message).hint(format!("pipemux help {provider}")));
        }
        let heading = format!("## {provider} · {}\n", line(&manifest.description));
        let more = format!("whole declarations: pipemux help {provider} --full\n");
        let text = match built_in {
            _ if action.is_some() => described(&shown),
            _ if full => heading + &declarations(&shown) + "how to call one: pipemux run --help\n",
            Some(app) if !aliases => app.help.clone(),
            _ if shown.is_empty() => heading + if aliases { "0 aliases\n" } else { "0 actions\n" },
            _ => heading + &short_lines(&shown) + &more,
        };
        let data = Value::List(shown.iter().map(|one| row(one)).collect());
        self.answer_data(id, text, data);
        Ok(())
    }

    /// Describes an action that was asked for without its app, in each built-in app that has it. Does nothing if none has.
    fn help_of_action(&mut self, id: RequestId, action: &str) -> Result<(), ()> {
        let (mut text, mut rows) = (String::new(), Vec::new());
        for (provider, manifest) in &self.providers {
            let built_in = manifest.built_in.as_deref();
            let all = built_in.map_or(&[][..], |app| app.prototypes.as_slice());
            let is_it = |one: &&Prototype| {
                one.written_name() == action && one.prominence != Prominence::Alias
            };
            let found: Vec<&Prototype> = all.iter().filter(is_it).collect();
            if !found.is_empty() {
                text += &format!("## {provider}.{action}\n{}", described(&found));
                rows.extend(found.into_iter().map(row));
            }
        }
        if rows.is_empty() {
            return Err(());
        }
        self.answer_data(id, text, Value::List(rows));
        Ok(())
    }

    /// Returns the session that an address means in the caller's workspace.
    ///
    /// # Errors
    /// There is no such session.
    pub(super) fn resolve_session(
        &self,
        id: RequestId,
        addr: &SessionAddr,
    ) -> Result<SessionKey, Fault> {
        let at = &require::request(&self.clients, id)?.workspace;
        let visible: Vec<&SessionKey> = self
            .processes
            .sessions()
            .keys()
            .filter(|key| key.workspace.as_ref().is_none_or(|owner| owner == at))
            .collect();
        if let Some(key) = visible.iter().find(|key| key.addr == *addr) {
            return Ok((*key).clone());
        }
        let same_app = visible.iter().filter(|key| key.addr.provider == addr.provider);
        let names: Vec<String> = same_app.map(|key| key.to_string()).collect();
        let guess = nearest(&addr.to_string(), names.iter().map(String::as_str))
            .map_or(String::new(), |guess| format!(": did you mean {guess}?"));
        let fault = Fault::not_found(format!("no session {addr} here{guess}"));
        Err(if names.is_empty() && self.providers.contains_key(&addr.provider) {
            fault.hint(format!("pipemux open {addr}"))
        } else {
            fault.hint("pipemux sessions")
        })
    }
}
