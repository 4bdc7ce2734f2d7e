//! `set`: how a workspace treats refs.

use pipemux_proto::{Fault, Value};

use crate::Core;
use crate::event::Effect;
use crate::keys::RequestId;
use crate::persist::records::Record;

impl Core {
    pub(super) fn set(&mut self, job: RequestId, option: Option<&str>, value: Option<&str>) {
        let Some(at) = self.clients.request(job).map(|job| job.workspace.clone()) else { return };
        let Some(workspace) = self.workspaces.get_mut(&at) else { return };
        let mut options = workspace.options;
        match (option, value) {
            (None, _) => {}
            (Some("epoch"), Some("strict")) => options.strict = true,
            (Some("epoch"), Some("meaning")) => options.strict = false,
            (Some("rebase"), Some("on")) => options.rebase = true,
            (Some("rebase"), Some("off")) => options.rebase = false,
            (Some(option), value) => {
                let given = value.map_or(option.to_owned(), |value| format!("{option} {value}"));
                let fault = Fault::usage(format!("`{given}` can't be set"))
                    .hint("pipemux set epoch strict|meaning · pipemux set rebase on|off");
                return self.fail_request(job, fault);
            }
        }
        if options != workspace.options {
            workspace.options = options;
            let record = Record::Options { workspace: at.to_string(), options };
            self.turn.effects.push(Effect::Persist(record));
        }
        let epoch = if options.strict { "strict" } else { "meaning" };
        let rebase = if options.rebase { "on" } else { "off" };
        let text = format!(
            "epoch {epoch} · a ref is stale {}\nrebase {rebase} · safe actions {}\n",
            if options.strict { "in every later epoch" } else { "once its meaning changed" },
            if options.rebase { "take a changed thing as it is" } else { "refuse a changed thing" },
        );
        let data = vec![("epoch".into(), epoch.into()), ("rebase".into(), rebase.into())];
        self.answer_data(job, text, Value::Map(data));
    }
}
