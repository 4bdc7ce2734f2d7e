//! Grants the folders that a caller names in an `open` or in a call to a session whose sandbox
//! doesn't reach them.

use pipemux_proto::Fault;
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Risk;
use pipemux_proto::value::Value;

use crate::clients::Clients;
use crate::keys::{RequestId, SessionKey};
use crate::persist::records::SavedOpen;
use crate::processes::Processes;
use crate::processes::granted_paths::normalized;
use crate::processes::wider_grants::{Widening, widen};
use crate::runs::Step;
use crate::scripts::step::{Argument, StepOrigin};
use crate::turn::Turn;

/// Grants a running session the folders named by a further open. Returns true if `request` must
/// wait until the session's process has been replaced.
///
/// # Errors
/// The session can't be granted more.
pub(crate) fn grant_for_open(
    turn: &mut Turn,
    (clients, processes): (&Clients, &mut Processes),
    request: RequestId,
    key: &SessionKey,
    open: &SavedOpen,
) -> Result<bool, Fault> {
    let forbidden = processes.forbidden();
    let missing = processes.get(key).map(|session| session.missing_grants(forbidden, open));
    let missing = missing.unwrap_or_default();
    grant(turn, (clients, processes), request, key, missing)
}

/// Grants built-in apps the files that the caller of these steps names, where a parameter is
/// declared as the path of one. Returns the sessions whose processes are replaced for that, for
/// which `request` waits.
///
/// An app of the user's own declares its parameters itself, so for it naming a path grants nothing;
/// nor does a link, or a token, whose arguments its app chose. Nor does a query: whatever may be
/// allowed without a question changes nothing, the session's reach least of all.
///
/// # Errors
/// A session can't be granted more.
pub(crate) fn grant_for_steps(
    turn: &mut Turn,
    (clients, processes): (&Clients, &mut Processes),
    request: RequestId,
    cwd: &str,
    steps: &[Step],
) -> Result<Vec<SessionKey>, Fault> {
    let mut wanted: Vec<(SessionKey, Vec<String>)> = Vec::new();
    let acts = |step: &&Step| step.origin == StepOrigin::Call && step.prototype.risk != Risk::Query;
    for step in steps.iter().filter(acts) {
        let session = processes.get(&step.session);
        let Some(session) = session.filter(|session| session.manifest.built_in.is_some()) else {
            continue;
        };
        let paths = paths_in(step).iter().map(|path| normalized(cwd, path)).collect();
        let missing = session.not_granted(processes.forbidden(), paths);
        if !missing.is_empty() {
            wanted.push((step.session.clone(), missing));
        }
    }
    let mut pending = Vec::new();
    for (key, missing) in wanted {
        if grant(turn, (clients, processes), request, &key, missing)? {
            pending.push(key);
        }
    }
    Ok(pending)
}

fn grant(
    turn: &mut Turn,
    (clients, processes): (&Clients, &mut Processes),
    request: RequestId,
    key: &SessionKey,
    missing: Vec<String>,
) -> Result<bool, Fault> {
    let Some(first) = missing.first() else { return Ok(false) };
    processes.forbidden().check_paths(&missing)?;
    let app = processes.get(key).and_then(|session| session.app());
    if app.and_then(|app| clients.exchanges.quota(app)).is_some_and(|quota| quota.open > 0) {
        let why = format!("{key} can't be given {first} while an exchange with it is open");
        return Err(Fault::refused(why).hint("try again once the exchange has ended"));
    }
    Ok(widen(turn, processes, key, missing, request)? == Widening::Pending)
}

/// The texts that a step passes as file paths.
fn paths_in(step: &Step) -> Vec<String> {
    let is_path =
        |name: &str| step.prototype.params.iter().any(|param| param.name == name && param.path);
    let mut paths = Vec::new();
    for (_, argument) in step.args.iter().filter(|(name, _)| is_path(name)) {
        add_texts(argument, &mut paths);
    }
    paths
}

fn add_texts(argument: &Argument, texts: &mut Vec<String>) {
    match argument {
        Argument::Fixed(Arg::Value(blob)) => match blob.to_value() {
            Ok(Value::Str(text)) => texts.push(text),
            Ok(Value::List(items)) => {
                texts.extend(items.iter().filter_map(|item| item.as_str().map(str::to_owned)));
            }
            _ => {}
        },
        Argument::List(items) => items.iter().for_each(|item| add_texts(item, texts)),
        _ => {}
    }
}
