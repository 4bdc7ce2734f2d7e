//! Grants the folders that a caller names in an `open` or in a call to a session whose sandbox doesn't reach them.

use pipemux_proto::Fault;
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Risk;
use pipemux_proto::value::Value;

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::persist::records::SavedOpen;
use crate::processes::confinement::{Widening, normalized};
use crate::runs::Step;
use crate::runs::step::{Argument, StepOrigin};
use crate::verbs::require;
use crate::verbs::tasks::Task;

impl Core {
    /// Grants a running session the folders that a further open names. True when the request goes on once the
    /// session's process was replaced for that.
    ///
    /// # Errors
    /// The session can't be granted more.
    pub(super) fn widen_for_open(
        &mut self,
        id: RequestId,
        key: &SessionKey,
        open: &SavedOpen,
    ) -> Result<bool, Fault> {
        let missing = self.processes.missing_grants(key, open);
        self.widen(id, key, missing, Task::Widening)
    }

    /// Grants built-in apps the files that the caller of these steps names, where a parameter is declared as the path of
    /// one. True when the request goes on once the app's process was replaced for that.
    ///
    /// An app of the user's own declares its parameters itself, so for it naming a path grants nothing; nor does a link,
    /// or a token, whose arguments its app chose. Nor does a query: whatever may be allowed without a question changes
    /// nothing, the session's reach least of all.
    ///
    /// # Errors
    /// A session can't be granted more.
    pub(super) fn widen_for_steps(&mut self, id: RequestId, steps: &[Step]) -> Result<bool, Fault> {
        let call = &require::request(&self.clients, id)?.call;
        let mut wanted: Vec<(SessionKey, Vec<String>)> = Vec::new();
        let acts =
            |step: &&Step| step.origin == StepOrigin::Call && step.prototype.risk != Risk::Query;
        for step in steps.iter().filter(acts) {
            let session = self.processes.get(&step.session);
            if session.is_none_or(|session| session.manifest.built_in.is_none()) {
                continue;
            }
            let paths = paths_in(step).iter().map(|path| normalized(&call.cwd, path)).collect();
            let missing = self.processes.not_granted(&step.session, paths);
            if !missing.is_empty() {
                wanted.push((step.session.clone(), missing));
            }
        }
        let mut pending = false;
        for (key, missing) in wanted {
            pending |= self.widen(id, &key, missing, Task::Preparing(vec![key.clone()]))?;
        }
        Ok(pending)
    }

    fn widen(
        &mut self,
        id: RequestId,
        key: &SessionKey,
        missing: Vec<String>,
        task: Task,
    ) -> Result<bool, Fault> {
        if missing.is_empty() {
            return Ok(false);
        }
        self.processes.check_paths(&missing)?;
        let app = self.processes.get(key).and_then(|session| session.app());
        if app.and_then(|app| self.clients.exchange_quota(app)).is_some_and(|quota| quota.open > 0)
        {
            let why =
                format!("{key} can't be given {} while an exchange with it is open", missing[0]);
            return Err(Fault::refused(why).hint("try again once the exchange has ended"));
        }
        let widened = self.processes.widen(&mut self.turn, key, missing, id)?;
        if widened == Widening::Pending {
            self.set_task(id, task);
        }
        Ok(widened == Widening::Pending)
    }
}

/// The texts that a step passes as paths of files.
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
