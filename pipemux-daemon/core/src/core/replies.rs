//! Hands each reply of an app to the request of a client that it is for.

use pipemux_proto::Fault;

use crate::Core;
use crate::answers::per_reader::turn_windows_for;
use crate::keys::SessionKey;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::verbs::jobs::cancel_replied;
use crate::verbs::next::Next;

impl Core {
    /// Hands a reply of an app to the client's request that it is for. A request that has its
    /// answer already needs no reply.
    pub(super) fn replied(&mut self, session: &SessionKey, to: ReplyTo, reply: AppReply) {
        let id = to.request();
        turn_windows_for(&self.clients, &mut self.workspaces, &self.processes, id);
        let shown = |result: Result<(), Fault>| result.map(|()| Next::Nothing);
        let next = match to {
            ReplyTo::Attach(_) => opens!(self).take_reply(id, reply),
            ReplyTo::Project(_) => shown(window_answers!(self).take_reply(id, session, reply)),
            ReplyTo::Embed(_, key) => {
                shown(window_answers!(self).take_embed_reply(id, session, key, reply))
            }
            ReplyTo::Prefetch(_) => return self.tasks.prefetches.forget(id),
            ReplyTo::WaitCheck(_, key) => {
                match waits!(self).take_check_reply(id, session, key, reply) {
                    true => waits!(self).finish(id, true),
                    false => return,
                }
            }
            ReplyTo::Refresh(_, key) => {
                lookups!(self).window_arrived(&mut self.workspaces, id, (session, key), reply)
            }
            ReplyTo::Invoke(_) => Ok(self.step_replied(id, reply)),
            ReplyTo::Locate(_) => lookups!(self).located(&self.workspaces, id, reply),
            ReplyTo::Resolve(_) => lookups!(self).resolved(id, session, reply),
            ReplyTo::Read(_) => lookups!(self).value_read(id, reply),
            ReplyTo::CancelJob(_) => cancel_replied(&self.tasks, id, reply),
        };
        self.follow(id, next);
    }
}
