//! `set`: the options of a workspace, which say how refs are treated.

use pipemux_proto::{Fault, Value};

use crate::clients::client_request::ClientRequest;
use crate::persist::records::{Record, SavedPanels};
use crate::turn::Turn;
use crate::verbs::next::Next;
use crate::verbs::require;
use crate::workspaces::{Panel, Workspaces};

/// Sets an option of the workspace, or only reports the options.
pub(crate) fn set(
    turn: &mut Turn,
    workspaces: &mut Workspaces,
    request: &ClientRequest,
    option: Option<&str>,
    value: Option<&str>,
) -> Result<Next, Fault> {
    let workspace = require::workspace_mut(workspaces, request)?;
    let mut options = workspace.options;
    match (option, value) {
        (None, _) => {}
        (Some("epoch"), Some("strict")) => options.strict = true,
        (Some("epoch"), Some("meaning")) => options.strict = false,
        (Some("rebase"), Some("on")) => options.rebase = true,
        (Some("rebase"), Some("off")) => options.rebase = false,
        (Some("titles"), Some("on")) => options.titles = true,
        (Some("titles"), Some("off")) => options.titles = false,
        (Some("panels"), Some(names)) => {
            options.panels = SavedPanels::parse(names).map_err(|name| {
                let all = Panel::ALL.map(Panel::name).join(", ");
                Fault::usage(format!("`{name}` is no panel: expected off, or some of {all}"))
                    .hint("pipemux set panels views,environment")
            })?;
        }
        (Some(option), value) => {
            let given = value.map_or(option.to_owned(), |value| format!("{option} {value}"));
            let expected =
                "epoch strict|meaning, rebase on|off, titles on|off, or panels NAME,NAME|off";
            return Err(Fault::usage(format!("`{given}` can't be set: expected {expected}"))
                .hint("pipemux set --help"));
        }
    }
    if options != workspace.options {
        workspace.options = options;
        let workspace = request.workspace.to_string();
        turn.persist(Record::Options { workspace, options });
    }
    let epoch = if options.strict { "strict" } else { "meaning" };
    let rebase = if options.rebase { "on" } else { "off" };
    let titles = if options.titles { "on" } else { "off" };
    let panels = options.panels.written();
    let text = format!(
        "epoch {epoch} · a ref is stale {}\nrebase {rebase} · safe actions {}\n\
         titles {titles} · links show their calls{}\npanels {panels} · parts of view and inject besides windows\n",
        if options.strict { "in every later epoch" } else { "once its meaning changed" },
        if options.rebase { "take a changed thing as it is" } else { "refuse a changed thing" },
        if options.titles { "" } else { " where the app asks for it" },
    );
    let data = ["epoch", "rebase", "titles", "panels"]
        .into_iter()
        .map(String::from)
        .zip([epoch, rebase, titles, &panels].map(Value::from))
        .collect();
    Ok(Next::Data(text, Value::Map(data)))
}
