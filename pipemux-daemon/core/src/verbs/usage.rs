//! `sessions` and `status`: what there is and what it uses. It is read when one of them asks, never
//! in the background.

use std::collections::BTreeSet;

use pipemux_proto::Value;

use crate::Config;
use crate::event::Effect;
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::persist::Persist;
use crate::processes::Processes;
use crate::processes::session::Session;
use crate::rules::Rules;
use crate::turn::Turn;
use crate::usage::{Usage, UsageQuery};
use crate::verbs::next::Next;
use crate::verbs::tasks::Task;
use crate::views::amounts::{processor_time, size, time};
use crate::views::inert::line;
use crate::workspaces::Workspaces;

/// The placeholder for an amount that the system doesn't provide.
const UNKNOWN: &str = "–";

/// The columns of `sessions`.
const COLUMNS: [&str; 8] = ["session", "state", "pid", "age", "memory", "cpu", "disk", "tokens"];

/// The number of leading text columns; the others are amounts.
const TEXT_COLUMNS: usize = 2;

/// The total usage of several sessions.
#[derive(Debug, Default)]
struct Sums {
    usage: Usage,
    tokens: u64,
}

/// Has read what the sessions and the daemon use, for the request's answer.
pub(crate) fn read_usage(turn: &mut Turn, processes: &Processes, id: RequestId) -> Next {
    let sessions: Vec<SessionKey> = processes.sessions().keys().cloned().collect();
    let incarnations = processes.incarnations();
    let query = |key: &SessionKey| UsageQuery {
        process: processes.get(key).and_then(Session::app).map(|app| incarnations.process_of(app)),
        state_dir: processes.state_dir_of(key),
    };
    let queries = sessions.iter().map(query).collect();
    turn.effects.push(Effect::ReadUsage { request: id.0, sessions: queries });
    Next::Wait(Task::ReadingUsage(sessions))
}

/// Sums up what sessions use. A process that several of them share counts once.
fn sums(processes: &Processes, rows: &[(SessionKey, Usage)]) -> Sums {
    let mut sums = Sums::default();
    let incarnations = processes.incarnations();
    let mut counted = BTreeSet::new();
    let add = |sum: &mut Option<u64>, one: Option<u64>| {
        *sum = sum.map_or(one, |sum| Some(sum.saturating_add(one.unwrap_or_default())));
    };
    for (key, usage) in rows {
        add(&mut sums.usage.disk, usage.disk);
        let Some(session) = processes.get(key) else { continue };
        sums.tokens += session.tokens.get();
        let process = session.app().map(|app| incarnations.process_of(app));
        if process.is_none_or(|process| counted.insert(process)) {
            add(&mut sums.usage.memory, usage.memory);
            add(&mut sums.usage.cpu_ms, usage.cpu_ms);
        }
    }
    sums
}

/// Lists the sessions of all workspaces.
pub(crate) fn list_sessions(
    processes: &Processes,
    workspaces: &Workspaces,
    at: &WorkspaceKey,
    mono_ms: u64,
    rows: &[(SessionKey, Usage)],
) -> Next {
    let sums = sums(processes, rows);
    let mut table = vec![(COLUMNS.map(str::to_owned), String::new())];
    let mut data = Vec::new();
    for (key, usage) in rows {
        let Some(session) = processes.get(key) else { continue };
        let owner = match &key.workspace {
            None => "every workspace".to_owned(),
            Some(owner) => workspaces.get(owner).map_or("?".into(), |w| w.name.clone()),
        };
        let here = key.workspace.as_ref().is_none_or(|owner| owner == at);
        let pid = session.app().and_then(|app| processes.incarnations().pid(app));
        let owned = if here { String::new() } else { format!(" · workspace {owner}") };
        let failed = session.failed.as_ref().map_or(String::new(), |why| format!(" · {why}"));
        let more = session.doing(mono_ms).map_or(String::new(), |is| format!(" · {is}"));
        let tokens = session.tokens.get();
        let pid_text = pid.map_or(UNKNOWN.to_owned(), |pid| pid.to_string());
        let first = [key.to_string(), session.state().to_owned(), pid_text];
        table.push((cells(first, *usage, tokens), line(&format!("{more}{owned}{failed}"))));
        data.push(Value::Map(vec![
            ("session".into(), key.to_string().into()),
            ("workspace".into(), owner.into()),
            ("state".into(), session.state().into()),
            ("pid".into(), pid.into()),
            ("crashes".into(), session.crashes.len().into()),
            ("failed".into(), session.failed.clone().into()),
            ("age_s".into(), usage.age_s.into()),
            ("memory_bytes".into(), usage.memory.into()),
            ("cpu_ms".into(), usage.cpu_ms.into()),
            ("disk_bytes".into(), usage.disk.into()),
            ("tokens".into(), tokens.into()),
        ]));
    }
    if data.len() > 1 {
        let first = [format!("{} sessions", data.len()), String::new(), String::new()];
        let mut sum = cells(first, sums.usage, sums.tokens);
        // Ages have no sum.
        sum[3].clear();
        table.push((sum, String::new()));
    }
    let text = match data.is_empty() {
        true => "0 sessions · see what can be opened: pipemux apps\n".to_owned(),
        false => aligned(&table),
    };
    Next::Data(text, Value::List(data))
}

/// The counts in `status` other than those of the sessions.
pub(crate) struct DaemonCounts {
    pub apps: usize,
    pub workspaces: usize,
    pub clients: usize,
    pub up_s: u64,
}

/// The notes on the daemon other than its figures, by name.
pub(crate) fn daemon_notes(
    config: &Config,
    rules: &Rules,
    persist: &Persist,
    paused: Option<String>,
) -> Vec<(&'static str, Value)> {
    let mut notes: Vec<(&str, Value)> = vec![("rules", rules.source().into())];
    if !config.confines.is_empty() {
        notes.push(("sandbox", config.confines.as_str().into()));
    }
    if !config.limit_levels.is_empty() {
        notes.push(("limits", config.limit_levels.as_str().into()));
    }
    notes.extend(persist.losses.damage().map(|text| ("damage", text.into())));
    let failing = persist.failing.as_ref().map(|failing| failing.why.as_str());
    let failing = failing.or(rules.broken.as_deref());
    notes.extend(failing.map(|why| ("acts_refused", why.into())));
    notes.extend(paused.map(|held| ("paused", held.into())));
    notes
}

/// Reports the state of the daemon, which itself uses `own`.
pub(crate) fn status(
    (config, rules_file): (&Config, &str),
    processes: &Processes,
    counts: &DaemonCounts,
    notes: Vec<(&'static str, Value)>,
    own: Usage,
    rows: &[(SessionKey, Usage)],
) -> Next {
    let sums = sums(processes, rows);
    let sessions = processes.sessions();
    let ready = sessions.values().filter(|session| session.ready().is_some()).count();

    let mut text = format!(
        "daemon {} · pid {} · up {}\nmemory {} · cpu {} · disk {}\napps {}\nsessions {} · {ready} ready · memory {} · cpu {} · disk {} · {} tokens\nworkspaces {} · clients {}\nat {} · state {}\n",
        config.software,
        config.pid,
        time(counts.up_s),
        amount(own.memory, size),
        amount(own.cpu_ms, processor_time),
        amount(own.disk, size),
        counts.apps,
        sessions.len(),
        amount(sums.usage.memory, size),
        amount(sums.usage.cpu_ms, processor_time),
        amount(sums.usage.disk, size),
        sums.tokens,
        counts.workspaces,
        counts.clients,
        config.socket,
        config.state_dir,
    );
    let show = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
    text.extend(notes.iter().map(|(name, value)| format!("{name} {}\n", show(value))));
    let rows: [(&str, Value); 18] = [
        ("daemon", config.software.as_str().into()),
        ("pid", config.pid.into()),
        ("socket", config.socket.as_str().into()),
        ("state", config.state_dir.as_str().into()),
        ("rules_file", rules_file.into()),
        ("uptime_s", counts.up_s.into()),
        ("memory_bytes", own.memory.into()),
        ("cpu_ms", own.cpu_ms.into()),
        ("disk_bytes", own.disk.into()),
        ("apps", counts.apps.into()),
        ("sessions", sessions.len().into()),
        ("ready", ready.into()),
        ("sessions_memory_bytes", sums.usage.memory.into()),
        ("sessions_cpu_ms", sums.usage.cpu_ms.into()),
        ("sessions_disk_bytes", sums.usage.disk.into()),
        ("sessions_tokens", sums.tokens.into()),
        ("workspaces", counts.workspaces.into()),
        ("clients", counts.clients.into()),
    ];
    let rows = rows.into_iter().chain(notes);
    let data = rows.map(|(name, value)| (name.to_owned(), value)).collect();
    Next::Data(text, Value::Map(data))
}

fn amount(amount: Option<u64>, in_words: fn(u64) -> String) -> String {
    amount.map_or(UNKNOWN.to_owned(), in_words)
}

/// Returns the cells of a row, in the order of [`COLUMNS`].
fn cells(first: [String; 3], usage: Usage, tokens: u64) -> [String; 8] {
    let [session, state, pid] = first;
    let age = amount(usage.age_s, time);
    let memory = amount(usage.memory, size);
    let cpu = amount(usage.cpu_ms, processor_time);
    [session, state, pid, age, memory, cpu, amount(usage.disk, size), tokens.to_string()]
}

/// Writes rows with aligned columns: texts to the left, amounts to the right. What is said of a row
/// stands behind it.
fn aligned(rows: &[([String; 8], String)]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|(cells, _)| cells.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    let mut text = String::new();
    for (cells, about) in rows {
        let padded = cells.iter().zip(&widths).enumerate().map(|(at, (cell, width))| match at {
            0..TEXT_COLUMNS => format!("{cell:width$}"),
            _ => format!("{cell:>width$}"),
        });
        text += &format!("{}{about}\n", padded.collect::<Vec<_>>().join("  "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_unknown_amounts_are_a_dash() {
        let row = |name: &str, memory| {
            let usage = Usage { memory, ..Usage::default() };
            (cells([name.into(), "ready".into(), "7".into()], usage, 12), String::new())
        };
        let mut table = vec![(COLUMNS.map(str::to_owned), String::new())];
        table.push(row("notebook/main", Some(112)));
        table.push((row("a/b", None).0, " · 1 job".into()));
        assert_eq!(
            aligned(&table),
            "session        state  pid  age  memory  cpu  disk  tokens\n\
             notebook/main  ready    7    –   112 B    –     –      12\n\
             a/b            ready    7    –       –    –     –      12 · 1 job\n"
        );
    }
}
