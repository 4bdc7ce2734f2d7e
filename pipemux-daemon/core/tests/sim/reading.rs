//! Readers: they read answers and confirm them at once, late or never.

use crate::action::{Confirmation, Pick};
use crate::answer_content::{self};
use crate::law::{LawResult, law};
use crate::process::frame;
use crate::sessions::READERS;
use crate::sim::Sim;
use crate::store::FOR_READER;
use pipemux_proto::client::{Answer, Body, DeliveryAck, Verb};
use pipemux_proto::{Envelope, Incarnation, Method};

impl Sim {
    /// Of an app that shows each reader something else, nobody is shown what is another's.
    fn check_whose(&mut self, index: usize, answer: &Answer) -> LawResult {
        let Body::Text(said) = &answer.body else { return Ok(()) };
        let reader = READERS[self.requests[index].who].1;
        for whose in said.lines().filter_map(|line| line.split_once(FOR_READER)) {
            law!(whose.1 == reader, "nobody is shown another reader's page", "{reader}: {said}");
            self.statistics.count("own page");
        }
        Ok(())
    }

    /// Reads an answer as its reader does, and confirms it as the request says.
    pub fn read_answer(&mut self, index: usize, answer: &Answer) -> LawResult {
        let request = &self.requests[index];
        self.knowledge.deliver(request.who, answer.delivery);
        self.check_jobs(index, answer)?;
        self.check_whose(index, answer)?;
        let request = &self.requests[index];
        let shows_windows =
            request.acts() || matches!(request.call.verb, Verb::Open(_) | Verb::View(_));
        // A repeated answer is as old as the first one.
        if !shows_windows || request.repeats.is_some() {
            return Ok(());
        }
        // A delta since an epoch leaves out what didn't change, so it is not taken as a view of the
        // window.
        let since = matches!(&request.call.verb, Verb::View(view) if view.since.is_some());
        let confirm = if since { Confirmation::Never } else { request.confirm };
        let (who, client) = (request.who, request.client);
        let workspace = READERS[who].0;
        let shows = answer_content::read(answer);
        let asked = match &answer.body {
            Body::Text(said) => answer_content::question(said).map(str::to_owned),
            Body::Report(report) => report.question.as_ref().and_then(|asked| {
                answer_content::question(&format!("needs an answer · {}", asked.text))
                    .map(str::to_owned)
            }),
            _ => None,
        };
        let asked = asked.unwrap_or_else(|| request.call.run_id.clone());
        // Of several questions nothing tells which an option belongs to.
        let several =
            matches!(&answer.body, Body::Text(said) if answer_content::questions(said) > 1);
        self.knowledge.learn(workspace, &shows, (!several).then_some(asked.as_str()))?;
        self.check_windows(index, answer)?;
        self.check_shown(index, &shows)?;
        self.check_claims(index, answer, &shows)?;
        for (_, id, label) in &shows.anchors {
            let epoch = shows.epoch.unwrap_or(0);
            self.knowledge.shown.insert((who, *id), (label.clone(), epoch));
        }
        if answer.delivery == 0 {
            return Ok(());
        }
        let daemon = self.daemon.nth;
        match confirm {
            Confirmation::Now => {
                self.knowledge.confirming.push((who, answer.delivery, shows, true));
                self.confirm_on(client, answer.delivery);
            }
            Confirmation::Late => {
                self.knowledge.waiting.push((who, answer.delivery, shows, daemon))
            }
            Confirmation::Never => {}
        }
        Ok(())
    }

    fn confirm_on(&mut self, client: pipemux_core::ClientId, delivery: u64) {
        let Some(conn) = self.clients.get_mut(&client) else { return };
        conn.next += 1;
        let envelope = Envelope::request(Method::Seen, conn.next, Incarnation(0));
        let frame = frame(&envelope, &DeliveryAck { delivery });
        self.queue.push_back(pipemux_core::Event::ClientFrame { client, frame });
    }

    /// Confirms an answer late, on another connection.
    pub fn confirm_late(&mut self, pick: Pick) -> LawResult<bool> {
        let count = self.knowledge.waiting.len();
        let Some(at) = usize::from(pick).checked_rem(count) else { return Ok(false) };
        let (who, delivery, shows, daemon) = self.knowledge.waiting.remove(at);
        let client = self.connect()?;
        if self.daemon.nth != daemon {
            return Ok(true);
        }
        self.knowledge.confirming.push((who, delivery, shows, false));
        self.confirm_on(client, delivery);
        self.drain()?;
        if self.daemon.nth == daemon {
            self.handle_event(pipemux_core::Event::ClientClosed { client })?;
        }
        Ok(true)
    }
}
