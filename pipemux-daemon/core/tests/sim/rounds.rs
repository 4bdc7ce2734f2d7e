//! The rounds that `history` shows.
//!
//! | law | why it must hold |
//! |---|---|
//! | history rounds never change | history is the record of what was done, also after daemon loss |
//! | history is in the order of outcomes | a reader takes the order for the order of effects |
//! | each run has one round with its exit status | nothing that was done may be missing or told twice |
//! | a run whose daemon was lost has its round | what was done stays known, and can be taken back |

use std::collections::BTreeMap;

use pipemux_core::Event;
use pipemux_proto::app::Invoke;
use pipemux_proto::client::{Answer, Body, HistoryArgs, Verb};
use pipemux_proto::{Envelope, Fault, Incarnation, Kind, Value};

use crate::action::{Ask, Confirmation, RequestOptions};
use crate::law::{LawResult, law};
use crate::requests::Request;
use crate::sessions::READERS;
use crate::sim::Sim;

/// The longest call, and the longest code, that a round shows in full.
const CALL: usize = 78;
const CODE: usize = 190;

/// A round as an answer showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Round {
    number: i64,
    action: String,
    result: String,
    exit: i64,
}

#[derive(Debug, Default)]
pub struct Rounds {
    /// The rounds that were shown, by workspace and number.
    told: BTreeMap<(usize, i64), Round>,
    /// The run of each step without an outcome, by incarnation and request id.
    open: BTreeMap<(Incarnation, u64), String>,
    /// The clock of outcomes when the last outcome of each run arrived.
    heard: BTreeMap<String, u64>,
    clock: u64,
    /// The rounds of requests before this index may be lost.
    lost_before: usize,
}

impl Rounds {
    /// Rounds that were shown may not be on disk.
    pub fn forget_all(&mut self, requests: usize) {
        self.told.clear();
        self.lost_before = requests;
    }

    /// A step is being sent.
    pub fn sent(&mut self, envelope: Envelope, invoke: &Invoke) {
        self.open.insert((envelope.incarnation, envelope.id), invoke.run_id.clone());
    }

    /// Notes the outcome of a step that the daemon is about to get.
    pub fn note_event(&mut self, event: &Event) {
        let Event::AppFrame { frame, .. } = event else { return };
        let envelope = frame.envelope;
        if !matches!(envelope.kind, Kind::Reply | Kind::Fault) {
            return;
        }
        if let Some(run) = self.open.remove(&(envelope.incarnation, envelope.id)) {
            self.clock += 1;
            self.heard.insert(run, self.clock);
        }
    }
}

impl Sim {
    /// Asks for the history of both workspaces at the end.
    pub fn request_history(&mut self) -> LawResult {
        let options =
            RequestOptions { json: true, deadline: 0, confirm: Confirmation::Never, kept: false };
        for who in [0, 2] {
            self.ask(who, &Ask::History(false), options)?;
        }
        Ok(())
    }

    pub fn check_rounds(&mut self, index: usize, answer: &Result<Answer, Fault>) -> LawResult {
        let request = &self.requests[index];
        let (
            Verb::History(HistoryArgs { rounds: None, .. }),
            Ok(Answer { body: Body::Data(data), .. }),
        ) = (&request.call.verb, answer)
        else {
            return Ok(());
        };
        let workspace = READERS[request.who].0;
        let rounds = read(data);
        for (at, round) in rounds.iter().enumerate() {
            self.statistics.count("round told");
            let follows = at == 0 || rounds[at - 1].number + 1 == round.number;
            law!(follows && round.exit != 5, "history rounds never change", "{rounds:?}");
            let told = self.rounds.told.entry((workspace, round.number));
            let told = told.or_insert_with(|| round.clone());
            law!(told == round, "history rounds never change", "{told:?}, then {round:?}");
        }
        let of_it = (workspace, i64::MIN)..=(workspace, i64::MAX);
        let newest = self.rounds.told.range(of_it).next_back().map(|((_, number), _)| *number);
        let last = rounds.last().map(|round| round.number);
        law!(last >= newest, "history rounds never change", "{newest:?} was told, now {last:?}");
        self.check_told(workspace, &rounds)
    }

    /// Checks that each run has its round, with its exit status, in the order of outcomes.
    fn check_told(&mut self, workspace: usize, rounds: &[Round]) -> LawResult {
        let full = rounds.len() >= pipemux_core::limits::HISTORY_SHOWN as usize;
        let of_it = |request: &&Request| {
            READERS[request.who].0 == workspace && request.repeats.is_none() && !request.refused
        };
        let mut before: Option<(usize, u64)> = None;
        let mut done = Vec::new();
        let requests = self.requests.iter().enumerate().skip(self.rounds.lost_before);
        for (index, request) in requests.filter(|(_, request)| of_it(request)) {
            let Verb::Run { code, .. } = &request.call.verb else { continue };
            let whole = code.len() <= CODE && code.split("; ").all(|call| call.len() <= CALL);
            let run = request.call.run_id.as_str();
            let sent = request.marks.iter().any(|mark| self.runs.kept.was_sent(*mark, run));
            // Queries leave no round.
            let queries = code.split("; ").all(|call| call.contains("list("));
            if !whole || !sent || queries {
                continue;
            }
            let mine = |round: &Round| {
                // The round of an undo shows the calls that it took back.
                let mut marks =
                    request.marks.iter().filter(|_| !round.action.starts_with("undo of round"));
                marks.any(|mark| round.action.contains(&format!("mark='t{mark}'")))
            };
            let Some(exit) = request.exit else {
                let times = rounds.iter().filter(|round| mine(round)).count();
                // It may have asked, and be left with its question open. One whose client went away
                // may be under way.
                let under_way = request.daemon == self.daemon.nth;
                let asks = ["drop(", "pick(", "name("].iter().any(|call| code.contains(call));
                // What only looked so far leaves none.
                let looks = |mark: &u64| {
                    let mark = format!("mark='t{mark}'");
                    code.split("; ").any(|call| call.contains("list(") && call.contains(&mark))
                };
                let mut sent =
                    request.marks.iter().filter(|mark| self.runs.kept.was_sent(**mark, run));
                let looked = sent.all(looks);
                law!(
                    !request.lost || under_way || times > 0 || full || asks || looked,
                    "a run whose daemon was lost has its round",
                    "{code}: {rounds:?}"
                );
                self.statistics.count("round of a lost run");
                continue;
            };
            let Some(at) = rounds.iter().position(mine) else {
                // A run with an open question gets its round once it is answered.
                law!(
                    full || matches!(exit, 5 | 9) || self.runs.kept.rests.contains(&index),
                    "each run has one round with its exit status",
                    "{code} ended {exit}, {rounds:?}"
                );
                continue;
            };
            let times = rounds.iter().filter(|round| mine(round)).count();
            match exit {
                3 | 6 if self.runs.kept.rests.contains(&index) => continue,
                0 | 3 | 6 => law!(
                    times == 1 && rounds[at].exit == i64::from(exit),
                    "each run has one round with its exit status",
                    "{code} ended {exit}, {rounds:?}"
                ),
                // The rest of the run has a round of its own, after `go` or the answer to its
                // question; a refused run may have been repeated.
                _ => continue,
            }
            if exit == 0
                && let Some(heard) = self.rounds.heard.get(run)
            {
                done.push((at, *heard));
            }
        }
        done.sort_unstable();
        for (at, heard) in done {
            let later = before.is_none_or(|(_, before)| before < heard);
            law!(later, "history is in the order of outcomes", "{at} of {rounds:?}");
            before = Some((at, heard));
        }
        Ok(())
    }
}

fn read(data: &Value) -> Vec<Round> {
    let Value::List(rows) = data else { return Vec::new() };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |value: Option<&Value>| match value {
        Some(Value::Int(number)) => *number,
        _ => -1,
    };
    let round = |row: &Value| {
        let Value::Map(row) = row else { return None };
        let of = |name: &str| row.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        Some(Round {
            number: number(of("round")),
            action: text(of("action")),
            result: text(of("result")),
            exit: number(of("exit")),
        })
    };
    rows.iter().filter_map(round).collect()
}
