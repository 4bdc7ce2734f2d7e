//! `help`: what apps can do.

use pipemux_proto::projection::Lod;
use pipemux_proto::prototype::{Prominence, Prototype};
use pipemux_proto::{Fault, ProviderId, Value};

use crate::processes::Processes;
use crate::providers::{Providers, find_manifest};
use crate::verbs::next::Next;
use crate::views::inert::line;
use crate::views::prototypes::{declarations, described, short_lines};

/// The data row of an action.
fn row(one: &Prototype) -> Value {
    Value::Map(vec![
        ("name".into(), one.name.as_str().into()),
        ("declaration".into(), one.declaration().into()),
        ("compact".into(), one.compact().into()),
        ("short".into(), one.short().into()),
    ])
}

/// Describes the actions of an app. Those of a built-in app are known before it ever ran.
pub(crate) fn help(
    providers: &Providers,
    processes: &Processes,
    lod: Option<Lod>,
    provider: &ProviderId,
    aliases: bool,
    action: Option<&str>,
) -> Result<Next, Fault> {
    let manifest = match find_manifest(providers, provider) {
        Err(unknown) => {
            return help_of_action(providers, provider.as_str()).ok_or(unknown);
        }
        Ok(manifest) => manifest,
    };
    let built_in = manifest.built_in.as_deref();
    let learned = processes.learned().get(provider).map(|learned| learned.as_slice());
    let Some(prototypes) = built_in.map(|app| app.prototypes.as_slice()).or(learned) else {
        // The daemon learns the actions of an app when the app first runs.
        return Err(Fault::not_found(format!("{provider} has not run yet"))
            .hint(format!("pipemux open {provider}")));
    };
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
    Ok(Next::Data(text, data))
}

/// Describes an action that was asked for without its app, in each built-in app that has it. None
/// if none has.
fn help_of_action(providers: &Providers, action: &str) -> Option<Next> {
    let (mut text, mut rows) = (String::new(), Vec::new());
    for (provider, manifest) in providers {
        let built_in = manifest.built_in.as_deref();
        let all = built_in.map_or(&[][..], |app| app.prototypes.as_slice());
        let is_it =
            |one: &&Prototype| one.written_name() == action && one.prominence != Prominence::Alias;
        let found: Vec<&Prototype> = all.iter().filter(is_it).collect();
        if !found.is_empty() {
            text += &format!("## {provider}.{action}\n{}", described(&found));
            rows.extend(found.into_iter().map(row));
        }
    }
    (!rows.is_empty()).then(|| Next::Data(text, Value::List(rows)))
}
