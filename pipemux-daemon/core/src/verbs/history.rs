//! `history`: the rounds of runs in the workspace, newest last.

use pipemux_proto::command::with_options;
use pipemux_proto::{Fault, Value};

use crate::Core;
use crate::event::Now;
use crate::keys::RequestId;
use crate::limits::HISTORY_SHOWN;
use crate::verbs::require;
use crate::views::answer::plain;
use crate::views::inert::{line, whole_line};
use crate::views::round_line::round_line;
use crate::views::timestamp;

impl Core {
    /// Lists the last rounds of the workspace.
    pub(super) fn history(
        &mut self,
        id: RequestId,
        detail: bool,
        rounds: Option<u32>,
    ) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let all = &workspace.history.rounds;
        let wanted = rounds.unwrap_or(HISTORY_SHOWN) as usize;
        let skipped = all.len().saturating_sub(wanted);
        let today = timestamp(self.turn.now);
        let mut text = String::new();
        let mut data = Vec::new();
        if skipped > 0 {
            let line = format!("… {skipped} earlier: pipemux history --rounds {}\n", all.len());
            text.push_str(&with_options(&line, &request.call.hint_options));
        }
        for round in all.iter().skip(skipped) {
            let at = timestamp(Now { mono_ms: 0, unix_ms: round.unix_ms });
            text += &round_line(round, (&at, &today), detail);
            if detail {
                // A result of several lines is joined, so that none of its lines can pass for a round.
                text += &format!("   {}\n", whole_line(&round.result));
            }
            if let Some((_, question)) = self.undo_question(&request.workspace, round.number) {
                let answer = format!("pipemux answer {}", question.ways().join(" · "));
                text += &format!("   its undo waits for an answer: {}\n", line(&answer));
            }
            if round.undo.iter().any(|undo| undo.unsure) {
                text += &format!("   its undo has no known end: pipemux undo {}\n", round.number);
            }
            for more in [&round.detail, &round.diff].into_iter().flatten().filter(|_| detail) {
                for more in plain(more).lines() {
                    text += &format!("   {more}\n");
                }
            }
            let mut row = vec![
                ("round".to_owned(), round.number.into()),
                ("action".to_owned(), round.action.as_str().into()),
                ("result".to_owned(), round.result.as_str().into()),
                ("timestamp".to_owned(), at.into()),
                ("reader".to_owned(), round.reader.as_str().into()),
                ("exit".to_owned(), Value::Int(round.exit.into())),
            ];
            if detail {
                row.push(("detail".to_owned(), round.detail.clone().into()));
                row.push(("diff".to_owned(), round.diff.clone().into()));
            }
            data.push(Value::Map(row));
        }
        if all.is_empty() {
            text += "0 rounds\n";
        }
        self.answer_data(id, text, Value::List(data));
        Ok(())
    }
}
