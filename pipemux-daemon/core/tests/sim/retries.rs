//! Requests that are repeated, cancelled or abandoned by their clients.

use pipemux_core::Event;
use pipemux_proto::{Envelope, Incarnation, Kind, Method};

use crate::action::{Confirmation, Pick, RequestOptions};
use crate::law::LawResult;
use crate::misbehaving_clients::BELOW_APP;
use crate::process::frame;
use crate::requests::Request;
use crate::sessions::CALM_READER;
use crate::sim::{InFlight, Sim};

impl Sim {
    /// Chooses a recent request of a reader other than the calm one.
    fn some_request(&self, pick: Pick, wanted: impl Fn(&Request) -> bool) -> Option<usize> {
        let fits = |request: &Request| request.who != CALM_READER && wanted(request);
        let recent = self.requests.iter().enumerate().rev().filter(|(_, r)| fits(r)).take(12);
        let all: Vec<usize> = recent.map(|(index, _)| index).collect();
        (!all.is_empty()).then(|| all[usize::from(pick) % all.len()])
    }

    pub fn repeat_request(&mut self, pick: Pick) -> LawResult<bool> {
        let own = |request: &Request| request.acts() && request.call.cwd != BELOW_APP;
        // A client is most likely to repeat the requests that were lost with a daemon.
        let lost = self.some_request(pick / 2, |r| own(r) && r.lost && r.exit.is_none());
        let lost = lost.filter(|_| pick.is_multiple_of(2));
        let index = lost.or_else(|| self.some_request(pick, own));
        let Some(index) = index else { return Ok(false) };
        let of = &self.requests[index];
        let (who, call, marks) = (of.who, of.call.clone(), of.marks.clone());
        let (clicked, first) = (of.clicked.clone(), of.repeats.unwrap_or(index));
        let client = self.connect()?;
        if let Some(conn) = self.clients.get_mut(&client) {
            conn.once = true;
        }
        let options =
            RequestOptions { json: false, deadline: 0, confirm: Confirmation::Never, kept: false };
        self.request(client, who, call, options, (marks, clicked, Some(first)))?;
        Ok(true)
    }

    pub fn cancel(&mut self, pick: Pick) -> LawResult<bool> {
        let open = |request: &Request| request.is_open() && !request.abandoned;
        let Some(index) = self.some_request(pick, open) else { return Ok(false) };
        let request = &mut self.requests[index];
        request.abandoned = true;
        let (client, id) = (request.client, request.id);
        let envelope =
            Envelope { kind: Kind::Cancel, ..Envelope::request(Method::Verb, id, Incarnation(0)) };
        let frame = frame(&envelope, &pipemux_proto::app::Empty {});
        self.handle_event(Event::ClientFrame { client, frame })?;
        Ok(true)
    }

    pub fn vanish(&mut self, pick: Pick, late: u64) -> LawResult<bool> {
        let open = |request: &Request| request.is_open() && !request.abandoned;
        let Some(index) = self.some_request(pick, open) else { return Ok(false) };
        let client = self.requests[index].client;
        let Some(conn) = self.clients.get_mut(&client) else { return Ok(false) };
        if std::mem::replace(&mut conn.deaf, true) {
            return Ok(false);
        }
        self.statistics.count(if late > 0 { "client half-open" } else { "client gone" });
        self.send(late, InFlight::ClientGone(client));
        Ok(true)
    }
}
