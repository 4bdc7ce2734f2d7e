//! `status --limits`: the bounds that a user can reach, and how much of each is used.

use pipemux_proto::Value;

use crate::Config;
use crate::bounds::{BOUNDS, Unit};
use crate::clients::Clients;
use crate::clients::client_request::ClientRequest;
use crate::processes::Processes;
use crate::runs::open_runs::OpenRuns;
use crate::verbs::next::Next;
use crate::views::amounts::size;
use crate::workspaces::{Workspace, Workspaces};

/// Lists all bounds.
pub(crate) fn limits(
    config: &Config,
    (clients, processes): (&Clients, &Processes),
    (workspaces, runs): (&Workspaces, &OpenRuns),
    request: &ClientRequest,
) -> Next {
    let open_requests = clients.connections.open_requests(request.client);
    let workspace = workspaces.get(&request.workspace);
    let mut text = String::new();
    let mut data = Vec::new();
    let mut group = "";
    for bound in BOUNDS.iter().chain(config.bounds) {
        if bound.group != group {
            group = bound.group;
            text += &format!("{}## {group}\n", if text.is_empty() { "" } else { "\n" });
        }
        let used = match bound.name {
            "CLIENT_REQUESTS_MAX" => Some(open_requests as u64),
            name => workspace.and_then(|workspace| {
                used(name, (clients, processes), (workspaces, runs), workspace)
            }),
        };
        let value = match bound.name {
            "HISTORY_MAX" => config.history_rounds() as u64,
            _ => bound.value,
        };
        let amount = amount_text(value, bound.unit);
        text += &match used {
            Some(used) if bound.unit == Unit::Bytes => {
                format!("{}: {} of {amount}\n", bound.what, size(used))
            }
            Some(used) => format!("{}: {used} of {amount}\n", bound.what),
            None => format!("{}: {amount}\n", bound.what),
        };
        let mut row: Vec<(String, Value)> = vec![
            ("group".into(), bound.group.into()),
            ("name".into(), bound.name.into()),
            ("what".into(), bound.what.into()),
            ("value".into(), value.into()),
            ("unit".into(), unit_word(bound.unit).into()),
        ];
        row.extend(used.map(|used| ("used".to_owned(), used.into())));
        data.push(Value::Map(row));
    }
    Next::Data(text, Value::List(data))
}

/// Returns how much of a bound is used, by the whole daemon or by the caller's workspace; none for
/// a bound whose use is not one number.
fn used(
    name: &str,
    (clients, processes): (&Clients, &Processes),
    (workspaces, runs): (&Workspaces, &OpenRuns),
    workspace: &Workspace,
) -> Option<u64> {
    let used = match name {
        "CLIENTS_MAX" => clients.connections.len(),
        "SESSIONS_MAX" => processes.sessions().len(),
        "WORKSPACES_MAX" => workspaces.len(),
        "RETIRED_MAX" => workspaces.retired_count(),
        "WINDOWS_MAX" => workspace.windows.len(),
        "READERS_MAX" => workspace.readers.len(),
        "HISTORY_MAX" => workspace.history.rounds.len(),
        "UNCONFIRMED_BYTES" => workspaces.unconfirmed_bytes(),
        "KEPT_VIEWS_BYTES" => workspaces.kept_bytes(),
        "OPEN_RUNS_BYTES" => runs.bytes(),
        "ANCHORS_MAX" => workspace.anchors.len(),
        _ => return None,
    };
    Some(used as u64)
}

fn amount_text(value: u64, unit: Unit) -> String {
    match unit {
        Unit::Bytes => bytes(value),
        Unit::Milliseconds if value.is_multiple_of(3_600_000) => format!("{} h", value / 3_600_000),
        Unit::Milliseconds if value.is_multiple_of(60_000) => format!("{} min", value / 60_000),
        Unit::Milliseconds if value.is_multiple_of(1_000) => format!("{} s", value / 1_000),
        Unit::Milliseconds => format!("{value} ms"),
        Unit::Seconds => format!("{value} s"),
        Unit::Count => value.to_string(),
        Unit::Tokens => format!("{value} tokens"),
        Unit::Lines => format!("{value} lines"),
        Unit::Characters => format!("{value} characters"),
    }
}

fn unit_word(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "bytes",
        Unit::Milliseconds => "ms",
        Unit::Seconds => "s",
        Unit::Count => "count",
        Unit::Tokens => "tokens",
        Unit::Lines => "lines",
        Unit::Characters => "characters",
    }
}

/// Writes a number of bytes in the largest unit of which it is a whole multiple.
pub(crate) fn bytes(value: u64) -> String {
    for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if value > 0 && value.trailing_zeros() >= shift {
            return format!("{} {unit}", value >> shift);
        }
    }
    format!("{value} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_in_the_unit_that_reads_best() {
        assert_eq!(bytes(4 << 30), "4 GiB");
        assert_eq!(bytes(640 << 10), "640 KiB");
        assert_eq!(bytes(1_000), "1000 bytes");
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(amount_text(3_600_000, Unit::Milliseconds), "1 h");
        assert_eq!(amount_text(1_800_000, Unit::Milliseconds), "30 min");
        assert_eq!(amount_text(30_000, Unit::Milliseconds), "30 s");
        assert_eq!(amount_text(500, Unit::Milliseconds), "500 ms");
        assert_eq!(amount_text(1_024, Unit::Count), "1024");
    }
}
