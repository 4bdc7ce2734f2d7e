//! `apps`, `app add`, `app remove`: the registered apps. Manifests are read again for each of these
//! verbs, so that one that was just written counts at once.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::client::ProvidersArgs;
use pipemux_proto::command::with_options;
use pipemux_proto::environment::looks_secret;
use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, ProviderId, Value};

use crate::clients::client_request::ClientRequest;
use crate::event::{Effect, ManifestProblem, Manifests, Now};
use crate::feed::{Audience, Feed, Happening};
use crate::keys::RequestId;
use crate::manifest::{
    Idle, Isolation, Limits, Manifest, Restart, SandboxLevel, Scope, State, Transport,
};
use crate::processes::Processes;
use crate::providers::Providers;
use crate::turn::Turn;
use crate::verbs::next::{Next, Work};
use crate::verbs::tasks::{AfterLoading, AfterOpen, Task};
use crate::views::inert::whole_line;

/// Has the manifests read, after the change that `change` asks for.
pub(crate) fn load_providers(
    turn: &mut Turn,
    id: RequestId,
    change: ProvidersArgs,
    then: AfterLoading,
) -> Next {
    turn.effects.push(Effect::LoadProviders { request: id.0, change });
    Next::Wait(Task::Loading(then))
}

/// Registers the manifests that were read, and goes on with what they were read for.
///
/// # Errors
/// The change was refused, the manifest of the app that is to be opened is wrong, or the request
/// has its answer already.
pub(crate) fn providers_loaded(
    (now, feed): (Now, &mut Feed),
    (providers, processes): (&mut Providers, &mut Processes),
    task: Option<Task>,
    request: Option<&ClientRequest>,
    read: Result<Manifests, Fault>,
) -> Result<Next, Fault> {
    let Manifests { manifests, problems, added, said } = read?;
    // The change holds even if the request has its answer already.
    let changes = replace_providers((now, feed), (providers, processes), manifests);
    match task {
        Some(Task::Loading(AfterLoading::List)) => {
            let options = request.map_or("", |request| &*request.call.hint_options);
            Ok(list_providers(providers, &problems, options))
        }
        Some(Task::Loading(AfterLoading::Report)) => {
            let mut text = said.clone();
            let added = added.and_then(|id| providers.get(&id));
            text += &added.map_or(String::new(), |manifest| asks_for(manifest));
            text += &outdated_sessions(processes, &changes);
            for problem in &problems {
                text += &format!("not registered · {}\n", whole_line(&problem.text));
            }
            let row = |(name, value)| (String::from(name), value);
            let problems = problems.into_iter().map(|problem| Value::from(problem.text)).collect();
            let said = said.trim_end().into();
            let rows = [("said", said), ("problems", Value::List(problems))];
            Ok(Next::Data(text, Value::Map(rows.map(row).into())))
        }
        Some(Task::Loading(AfterLoading::Open(open))) => {
            let problem = problems.iter().find(|problem| {
                problem.provider.as_ref() == Some(&open.provider)
                    && !providers.contains_key(&open.provider)
            });
            match problem {
                Some(problem) => {
                    let text = whole_line(&problem.text);
                    Err(Fault::not_found(format!("no app {}: {text}", open.provider))
                        .hint("correct it, then open it again"))
                }
                None => Ok(Next::Work(Work::Open(open, AfterOpen::Show))),
            }
        }
        _ => Err(Fault::unknown("the request was answered already")),
    }
}

/// Replaces the registered providers. Returns those that were added, changed or removed. Running
/// processes go on as they were started.
fn replace_providers(
    (now, feed): (Now, &mut Feed),
    (providers, processes): (&mut Providers, &mut Processes),
    manifests: Vec<Manifest>,
) -> BTreeMap<ProviderId, Change> {
    let before = std::mem::take(providers);
    let keep = |manifest: Manifest| {
        let same = before.get(&manifest.id).filter(|known| ***known == manifest).cloned();
        (manifest.id.clone(), same.unwrap_or_else(|| Rc::new(manifest)))
    };
    *providers = manifests.into_iter().map(keep).collect();
    // The next process of each session is started from the new manifest.
    processes.take_manifests(providers);
    let changes = provider_changes(&before, providers);
    if !changes.is_empty() {
        let word = |(id, change): (&ProviderId, &Change)| match change {
            Change::Added => format!("{id} was added"),
            Change::Changed => format!("{id} was changed"),
            Change::Removed => format!("{id} was removed"),
        };
        let words: Vec<String> = changes.iter().map(word).collect();
        let text = format!("apps: {}", words.join(", "));
        feed.tell(now, Happening::new(EventKind::Providers, Audience::Everywhere, &text));
    }
    changes
}

/// Lists the running sessions whose apps were changed or removed, and how to bring each up to date.
fn outdated_sessions(processes: &Processes, changes: &BTreeMap<ProviderId, Change>) -> String {
    let mut text = String::new();
    for (key, _) in processes.sessions().iter().filter(|(_, session)| session.app().is_some()) {
        text += &match changes.get(&key.addr.provider) {
            Some(Change::Changed) => {
                format!("{key} runs on as it was started · pipemux restart {key}\n")
            }
            Some(Change::Removed) => {
                format!("{key} runs on until it is ended · pipemux end {key}\n")
            }
            Some(Change::Added) | None => String::new(),
        };
    }
    text
}

/// Answers with the list of apps, and the manifests that are not registered.
fn list_providers(providers: &Providers, problems: &[ManifestProblem], options: &str) -> Next {
    let mut text = String::new();
    let mut data = Vec::new();
    for manifest in providers.values() {
        let mut parts = vec![manifest.id.to_string()];
        parts.extend(Some(&manifest.description).filter(|d| !d.is_empty()).cloned());
        let fields = non_default_fields(manifest);
        parts.extend(fields.iter().map(|(name, value)| format!("{name} {value}")));
        if manifest.shadows {
            parts.push(format!("replaces the app that comes with PipeMux: {}", manifest.file));
        }
        text += &format!("{}\n", whole_line(&parts.join(" · ")));
        let mut row: Vec<(String, Value)> = vec![
            ("id".into(), manifest.id.as_str().into()),
            ("description".into(), manifest.description.as_str().into()),
            ("command".into(), manifest.command.as_str().into()),
            ("scope".into(), scope_word(manifest.scope).into()),
        ];
        let as_words = |(name, _): &(&str, String)| !matches!(*name, "scope" | "idle" | "limits");
        let rest = fields.into_iter().filter(as_words);
        row.extend(rest.map(|(name, value)| (name.to_owned(), value.into())));
        row.push(("idle_ms".into(), idle_ms(manifest.idle).into()));
        row.push(("limits".into(), limits_data(manifest.limits)));
        data.push(Value::Map(row));
    }
    for problem in problems {
        text += &format!("not registered · {}\n", whole_line(&problem.text));
        data.push(Value::Map(vec![("problem".into(), problem.text.as_str().into())]));
    }
    text += &match providers.keys().next() {
        None => "0 apps · register one: pipemux app add --help\n".to_owned(),
        Some(first) => {
            let line = format!("open one: pipemux open {first}\n");
            with_options(&line, options).into_owned()
        }
    };
    Next::Data(text, Value::List(data))
}

/// Fields of a manifest with which it asks for something that not every app has.
const ASKS: [&str; 10] =
    ["pass", "sandbox", "folder", "read", "write", "network", "exec", "signals", "watch", "limits"];

/// Returns the line that says what an app asks for.
fn asks_for(manifest: &Manifest) -> String {
    let fields = non_default_fields(manifest);
    let asked = fields.iter().filter(|(name, _)| ASKS.contains(name));
    let asked: Vec<String> = asked.map(|(name, value)| format!("{name} {value}")).collect();
    match asked.is_empty() {
        true => "asks for: nothing\n".to_owned(),
        false => whole_line(&format!("asks for: {}", asked.join(" · "))) + "\n",
    }
}

/// Returns the fields of a manifest that differ from the defaults, in words.
fn non_default_fields(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    if manifest.scope != Scope::default() {
        fields.push(("scope", scope_word(manifest.scope).to_owned()));
    }
    if manifest.transport != Transport::default() {
        fields.push(("transport", "stdio".to_owned()));
    }
    if manifest.isolation != Isolation::default() {
        fields.push(("isolation", "provider".to_owned()));
    }
    if manifest.restart != Restart::default() {
        fields.push(("restart", "never".to_owned()));
    }
    if manifest.state != State::default() {
        fields.push(("state", "discard".to_owned()));
    }
    if manifest.idle != Idle::default() {
        fields.push((
            "idle",
            match manifest.idle {
                Idle::Never => "never".to_owned(),
                Idle::After(ms) => format!("{} s", ms as f64 / 1000.0),
            },
        ));
    }
    if !manifest.pass.is_empty() {
        let word = |name: &String| match looks_secret(name) {
            true => format!("{name} (looks like a secret)"),
            false => name.clone(),
        };
        fields.push(("pass", manifest.pass.iter().map(word).collect::<Vec<_>>().join(", ")));
    }
    if manifest.dev {
        fields.push(("dev", "its program may change".to_owned()));
    }
    // A built-in app has what it needs, which nobody has to check.
    if manifest.built_in.is_none() {
        fields.extend(sandbox_fields(manifest));
    }
    let Limits { memory, cpu, files, processes, threads, disk, log } = manifest.limits;
    let limits = [
        memory.map(|size| format!("memory {}", crate::verbs::bounds::bytes(size.0))),
        cpu.map(|seconds| format!("cpu {seconds} s")),
        files.map(|files| format!("files {files}")),
        processes.map(|processes| format!("processes {processes}")),
        threads.map(|threads| format!("threads {threads}")),
        disk.map(|size| format!("disk {}", crate::verbs::bounds::bytes(size.0))),
        log.map(|size| format!("log {}", crate::verbs::bounds::bytes(size.0))),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if !limits.is_empty() {
        fields.push(("limits", limits.join(", ")));
    }
    fields
}

/// Returns what a manifest asks for beyond what each app gets, in words.
fn sandbox_fields(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    if manifest.sandbox != SandboxLevel::default() {
        fields.push(("sandbox", manifest.sandbox.word().to_owned()));
    }
    if let Some(folder) = manifest.folder {
        fields.push(("folder", folder.word().to_owned()));
    }
    let lists = [("read", &manifest.read), ("write", &manifest.write)];
    let asked = lists.into_iter().filter(|(_, paths)| !paths.is_empty());
    fields.extend(asked.map(|(name, paths)| (name, paths.join(", "))));
    let switches = [
        ("network", manifest.network),
        ("exec", manifest.exec),
        ("signals", manifest.signals),
        ("watch", manifest.watch),
    ];
    let on = switches.into_iter().filter(|(_, on)| *on);
    fields.extend(on.map(|(name, _)| (name, "yes".to_owned())));
    fields
}

/// Returns the time in milliseconds after which an idle session is put to sleep; none for never.
fn idle_ms(idle: Idle) -> Option<u64> {
    match idle {
        Idle::Never => None,
        Idle::After(ms) => Some(ms),
    }
}

/// Returns a manifest's limits as numbers, null for those that it doesn't set.
fn limits_data(limits: Limits) -> Value {
    let Limits { memory, cpu, files, processes, threads, disk, log } = limits;
    let rows = [
        ("memory_bytes", memory.map(|size| size.0)),
        ("cpu_s", cpu),
        ("files", files),
        ("processes", processes),
        ("threads", threads),
        ("disk_bytes", disk.map(|size| size.0)),
        ("log_bytes", log.map(|size| size.0)),
    ];
    Value::Map(rows.map(|(name, value)| (name.to_owned(), value.into())).into())
}

fn scope_word(scope: Scope) -> &'static str {
    match scope {
        Scope::Workspace => "workspace",
        Scope::User => "user",
    }
}

/// A change to a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Added,
    Changed,
    Removed,
}

/// Compares the providers of two points in time.
fn provider_changes(before: &Providers, after: &Providers) -> BTreeMap<ProviderId, Change> {
    let changed = |(id, manifest): (&ProviderId, &Rc<Manifest>)| match before.get(id) {
        None => Some((id.clone(), Change::Added)),
        Some(known) if known != manifest => Some((id.clone(), Change::Changed)),
        Some(_) => None,
    };
    let gone = before.keys().filter(|id| !after.contains_key(*id));
    let gone = gone.map(|id| (id.clone(), Change::Removed));
    after.iter().filter_map(changed).chain(gone).collect()
}
