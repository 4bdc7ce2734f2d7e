//! `set`: the options of a workspace, which say how refs are treated.

use pipemux_proto::{Fault, Value};

use crate::Core;
use crate::keys::RequestId;
use crate::persist::records::Record;
use crate::verbs::require;

impl Core {
    /// Sets an option of the workspace, or only reports the options.
    pub(super) fn set(
        &mut self,
        id: RequestId,
        option: Option<&str>,
        value: Option<&str>,
    ) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace_mut(&mut self.workspaces, request)?;
        let mut options = workspace.options;
        match (option, value) {
            (None, _) => {}
            (Some("epoch"), Some("strict")) => options.strict = true,
            (Some("epoch"), Some("meaning")) => options.strict = false,
            (Some("rebase"), Some("on")) => options.rebase = true,
            (Some("rebase"), Some("off")) => options.rebase = false,
            (Some("titles"), Some("on")) => options.titles = true,
            (Some("titles"), Some("off")) => options.titles = false,
            (Some(option), value) => {
                let given = value.map_or(option.to_owned(), |value| format!("{option} {value}"));
                let expected = "epoch strict|meaning, rebase on|off, or titles on|off";
                return Err(Fault::usage(format!("`{given}` can't be set: expected {expected}"))
                    .hint("pipemux set --help"));
            }
        }
        if options != workspace.options {
            workspace.options = options;
            let workspace = request.workspace.to_string();
            self.turn.persist(Record::Options { workspace, options });
        }
        let epoch = if options.strict { "strict" } else { "meaning" };
        let rebase = if options.rebase { "on" } else { "off" };
        let titles = if options.titles { "on" } else { "off" };
        let text = format!(
            "epoch {epoch} · a ref is stale {}\nrebase {rebase} · safe actions {}\n\
             titles {titles} · links show their calls{}\n",
            if options.strict { "in every later epoch" } else { "once its meaning changed" },
            if options.rebase { "take a changed thing as it is" } else { "refuse a changed thing" },
            if options.titles { "" } else { " where the app asks for it" },
        );
        let data = ["epoch", "rebase", "titles"]
            .into_iter()
            .map(String::from)
            .zip([epoch, rebase, titles].map(Value::from))
            .collect();
        self.answer_data(id, text, Value::Map(data));
        Ok(())
    }
}
