//! `pause`: a person holds what agents do, or lets them go on.

use pipemux_proto::pause::PauseArgs;
use pipemux_proto::{Fault, Value};

use crate::keys::WorkspaceKey;
use crate::pauses::{Held, Pauses};
use crate::persist::records::{Record, SavedRound};
use crate::turn::Turn;
use crate::verbs::next::Next;
use crate::workspaces::Workspaces;

/// Begins or ends a pause, and writes that into the history of the workspace in which a person
/// asked for it.
pub(crate) fn pause(
    turn: &mut Turn,
    pauses: &mut Pauses,
    (workspaces, at): (&mut Workspaces, &WorkspaceKey),
    history_rounds: usize,
    args: PauseArgs,
) -> Result<Next, Fault> {
    let held = Held::of(&args.scope, at);
    let Some(by) = args.by else {
        let why = "only a person begins or ends a pause";
        return Err(Fault::refused(why).hint("tell your user to type it at a terminal"));
    };
    let ahead_s = args.clock.first().map(|one| one.ahead_s);
    let (what, text) = if args.on {
        let text = match pauses.begin(turn, held.clone(), ahead_s)? {
            true => "paused",
            false => "paused already",
        };
        let more = "acts are refused, reading goes on, and so do jobs that run";
        (held.words(), format!("{text}: {}; {more}\n", held.words()))
    } else {
        let ended = pauses.end(turn, &held);
        if ended.is_empty() {
            let lasting = pauses.listed(turn.now.unix_ms);
            let why = match &lasting {
                Some(held) => format!("not paused; held: {held}"),
                None => "nothing is paused".to_owned(),
            };
            let fault = Fault::not_found(why);
            return Err(if lasting.is_some() { fault.hint("pipemux resume --all") } else { fault });
        }
        let ended: Vec<String> = ended.iter().map(Held::words).collect();
        let ended = ended.join(", ");
        let left = pauses.listed(turn.now.unix_ms);
        let left = left.map_or(String::new(), |held| format!("; still paused: {held}"));
        (ended.clone(), format!("resumed: {ended}{left}\n"))
    };
    let verb = if args.on { "pause" } else { "resume" };
    if let Some(workspace) = workspaces.get_mut(at) {
        let round = SavedRound {
            number: workspace.history.count + 1,
            unix_ms: turn.now.unix_ms,
            reader: "a person".to_owned(),
            action: format!("{verb} {what}"),
            result: text.trim_end().to_owned(),
            client: by.name().to_owned(),
            epoch: Some(workspace.epoch),
            ..SavedRound::default()
        };
        workspace.history.add(round.clone(), history_rounds);
        turn.persist(Record::Round { workspace: at.to_string(), round });
    }
    let data = Value::Map([(verb.to_owned(), Value::from(what))].into());
    Ok(Next::Data(text, data))
}
