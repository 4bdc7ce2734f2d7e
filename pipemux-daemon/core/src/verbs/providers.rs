//! `apps`, `app add`, `app remove`: manifests are read again whenever somebody asks for them, so that one
//! that was just written counts at once.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::client::{OpenArgs, ProvidersArgs};
use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, ProviderId, Value};

use crate::Core;
use crate::event::{Effect, Manifests};
use crate::feed::Audience;
use crate::keys::RequestId;
use crate::manifest::{Idle, Isolation, Limits, Manifest, Restart, Scope, State, Transport};
use crate::verbs::tasks::Task;
use crate::views::inert::whole_line;

/// What goes on once the manifests were read.
#[derive(Debug)]
pub enum AfterLoading {
    /// They are listed.
    List,
    /// It is said what was done to them.
    Tell,
    /// An app that wasn't known before may be now.
    Open(Box<OpenArgs>),
}

impl Core {
    pub(super) fn apps(&mut self, job: RequestId) {
        self.load_providers(job, ProvidersArgs::default(), AfterLoading::List);
    }

    pub(super) fn change_providers(&mut self, job: RequestId, change: ProvidersArgs) {
        self.load_providers(job, change, AfterLoading::Tell);
    }

    /// Has the manifests read, changed before if `change` says so.
    pub(super) fn load_providers(
        &mut self,
        id: RequestId,
        change: ProvidersArgs,
        then: AfterLoading,
    ) {
        self.set_task(id, Task::Loading(then));
        self.turn.effects.push(Effect::LoadProviders { request: id.0, change });
    }

    /// The manifests were read, or a change to them was refused.
    pub(crate) fn providers_loaded(&mut self, id: RequestId, read: Result<Manifests, Fault>) {
        let then = self.tasks.take_if(id, |task| matches!(task, Task::Loading(_)));
        let found = match read {
            Ok(found) => found,
            Err(fault) => return self.fail_request(id, fault),
        };
        let others = self.take_providers(found.manifests);
        match then {
            Some(Task::Loading(AfterLoading::List)) => self.list_providers(id, &found.problems),
            Some(Task::Loading(AfterLoading::Tell)) => {
                let mut text = found.said.clone();
                text += &self.running_on(&others);
                for problem in &found.problems {
                    text += &format!("not registered · {}\n", whole_line(problem));
                }
                let row = |(name, value)| (String::from(name), value);
                let problems = found.problems.into_iter().map(Value::from).collect();
                let said = found.said.trim_end().into();
                let rows = [("said", said), ("problems", Value::List(problems))];
                self.answer_data(id, text, Value::Map(rows.map(row).into()));
            }
            Some(Task::Loading(AfterLoading::Open(open))) => {
                let file = format!("/{}.toml", open.provider);
                let known = self.providers.contains_key(&open.provider);
                let problem = found.problems.iter().find(|problem| problem.contains(&file));
                match problem.filter(|_| !known) {
                    Some(problem) => {
                        let why = format!("no app {}: {}", open.provider, whole_line(problem));
                        self.fail_request(
                            id,
                            Fault::not_found(why).hint("correct it, then open it again"),
                        );
                    }
                    None => self.open_known(id, *open),
                }
            }
            _ => {}
        }
    }

    /// Takes the registered providers; returns those that came, went or are others now. What runs goes on
    /// as it was started.
    fn take_providers(&mut self, manifests: Vec<Manifest>) -> BTreeMap<ProviderId, Change> {
        let before = std::mem::take(&mut self.providers);
        let keep = |manifest: Manifest| {
            let same = before.get(&manifest.id).filter(|had| ***had == manifest).cloned();
            (manifest.id.clone(), same.unwrap_or_else(|| Rc::new(manifest)))
        };
        self.providers = manifests.into_iter().map(keep).collect();
        // Their next processes are of the new manifests.
        self.processes.take_manifests(&self.providers);
        let others = difference(&before, &self.providers);
        if !others.is_empty() {
            let word = |(id, change): (&ProviderId, &Change)| match change {
                Change::Added => format!("{id} was added"),
                Change::Changed => format!("{id} was changed"),
                Change::Removed => format!("{id} was removed"),
            };
            let words: Vec<String> = others.iter().map(word).collect();
            let text = format!("apps: {}", words.join(", "));
            self.tell(EventKind::Providers, Audience::Everywhere, None, &text);
        }
        others
    }

    /// What still runs as it was started, and how that is changed.
    fn running_on(&self, others: &BTreeMap<ProviderId, Change>) -> String {
        let mut text = String::new();
        for (key, _) in
            self.processes.sessions().iter().filter(|(_, session)| session.app().is_some())
        {
            text += &match others.get(&key.addr.provider) {
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

    fn list_providers(&mut self, job: RequestId, problems: &[String]) {
        let mut text = String::new();
        let mut data = Vec::new();
        for manifest in self.providers.values() {
            let mut parts = vec![manifest.id.to_string()];
            parts.extend(Some(&manifest.description).filter(|d| !d.is_empty()).cloned());
            let unusual = unusual(manifest);
            parts.extend(unusual.iter().map(|(name, value)| format!("{name} {value}")));
            text += &format!("{}\n", parts.join(" · "));
            let mut row: Vec<(String, Value)> = vec![
                ("id".into(), manifest.id.as_str().into()),
                ("description".into(), manifest.description.as_str().into()),
                ("command".into(), manifest.command.as_str().into()),
                ("scope".into(), scope_word(manifest.scope).into()),
            ];
            let as_words =
                |(name, _): &(&str, String)| !matches!(*name, "scope" | "idle" | "limits");
            let rest = unusual.into_iter().filter(as_words);
            row.extend(rest.map(|(name, value)| (name.to_owned(), value.into())));
            row.push(("idle_ms".into(), idle_ms(manifest.idle).into()));
            row.push(("limits".into(), limits_data(manifest.limits)));
            data.push(Value::Map(row));
        }
        for problem in problems {
            text += &format!("not registered · {}\n", whole_line(problem));
            data.push(Value::Map(vec![("problem".into(), problem.as_str().into())]));
        }
        text += match self.providers.is_empty() {
            true => "0 apps · pipemux app add <manifest.toml>\n",
            false => "open one: pipemux open <app>\n",
        };
        self.answer_data(job, text, Value::List(data));
    }
}

/// What of a manifest isn't as it is when nothing is said, in words.
fn unusual(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if manifest.scope != Scope::default() {
        found.push(("scope", scope_word(manifest.scope).to_owned()));
    }
    if manifest.transport != Transport::default() {
        found.push(("transport", "stdio".to_owned()));
    }
    if manifest.isolation != Isolation::default() {
        found.push(("isolation", "provider".to_owned()));
    }
    if manifest.restart != Restart::default() {
        found.push(("restart", "never".to_owned()));
    }
    if manifest.state != State::default() {
        found.push(("state", "discard".to_owned()));
    }
    if manifest.idle != Idle::default() {
        found.push((
            "idle",
            match manifest.idle {
                Idle::Never => "never".to_owned(),
                Idle::After(ms) => format!("{} s", ms as f64 / 1000.0),
            },
        ));
    }
    let Limits { memory, cpu, files, processes, log } = manifest.limits;
    let limits = [
        memory.map(|size| format!("memory {}", crate::verbs::bounds::bytes(size.0))),
        cpu.map(|seconds| format!("cpu {seconds} s")),
        files.map(|files| format!("files {files}")),
        processes.map(|processes| format!("processes {processes}")),
        log.map(|size| format!("log {}", crate::verbs::bounds::bytes(size.0))),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if !limits.is_empty() {
        found.push(("limits", limits.join(", ")));
    }
    found
}

/// After how long without a request it is put to sleep, in milliseconds; none: never.
fn idle_ms(idle: Idle) -> Option<u64> {
    match idle {
        Idle::Never => None,
        Idle::After(ms) => Some(ms),
    }
}

/// A manifest's limits as numbers; null where it says nothing.
fn limits_data(limits: Limits) -> Value {
    let Limits { memory, cpu, files, processes, log } = limits;
    let rows = [
        ("memory_bytes", memory.map(|size| size.0)),
        ("cpu_s", cpu),
        ("files", files),
        ("processes", processes),
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

/// What became of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Added,
    Changed,
    Removed,
}

/// Which providers came, went or are others now.
fn difference(
    before: &BTreeMap<ProviderId, Rc<Manifest>>,
    after: &BTreeMap<ProviderId, Rc<Manifest>>,
) -> BTreeMap<ProviderId, Change> {
    let changed = |(id, manifest): (&ProviderId, &Rc<Manifest>)| match before.get(id) {
        None => Some((id.clone(), Change::Added)),
        Some(had) if had != manifest => Some((id.clone(), Change::Changed)),
        Some(_) => None,
    };
    let gone = before.keys().filter(|id| !after.contains_key(*id));
    let gone = gone.map(|id| (id.clone(), Change::Removed));
    after.iter().filter_map(changed).chain(gone).collect()
}
