//! Runs the core's effects in order.

use std::path::Path;

use pipemux_core::{Effect, Event, Manifests};

use super::Driver;
use crate::app_output::LogWatch;
use crate::directories;
use crate::manifests::{Applied, LoadedManifests};
use crate::value_files;

impl Driver {
    /// Runs the effects that are there; what follows from them is queued as events.
    pub(super) fn run_effects(&mut self) {
        let mut effects = std::mem::take(&mut self.effects);
        for effect in effects.drain(..) {
            if is_irrevocable(&effect) {
                self.records.write(&mut self.turn);
            }
            self.run_effect(effect);
        }
        // Put back for its capacity, so that a turn allocates nothing.
        self.effects = effects;
    }

    fn run_effect(&mut self, effect: Effect) {
        let Self { turn, connections, apps, records, .. } = self;
        match effect {
            Effect::ToClient { client, bytes } => {
                connections.send_to_client(client, [bytes], turn);
            }
            Effect::ToClientInParts { client, parts } => {
                connections.send_to_client(client, parts, turn);
            }
            Effect::CloseClient { client } => {
                connections.close_client_when_written(client, turn.now_ms())
            }
            Effect::IdentifyClient { client } => {
                // The core waits for that before it takes anything else. A client that is gone by
                // now needs no identity.
                let peer = connections.identify(client, apps.processes.origin());
                if let Some(peer) = peer {
                    turn.events.push_front(Event::ClientIdentified { client, peer });
                }
            }
            Effect::Audit(entry) => records.audit_log.append(&entry),
            Effect::ToApp { app, bytes } => connections.send_to_app(app, bytes, turn),
            Effect::Start(start) => apps.start(&start, connections, turn),
            Effect::Signal { app, signal } => apps.processes.signal(app, signal),
            Effect::StoreValue { request, path, offset, data } => {
                let base = records.directory();
                let stored = value_files::append(base, Path::new(&path), offset, &data);
                let stored = stored.map(|()| path).map_err(|error| error.to_string());
                turn.push(Event::ValueStored { request, stored });
            }
            Effect::RemoveValues { paths } => {
                for path in paths {
                    value_files::remove(records.directory(), Path::new(&path));
                }
            }
            Effect::ReadLog { request, log, lines, after } => {
                let read = apps.output.read_log(Path::new(&log), lines, after);
                turn.push(Event::LogRead { request, read });
            }
            Effect::WatchLog { request, log, lines, after } => {
                apps.output.watch(Path::new(&log), LogWatch { request, lines, after });
                apps.queue_log_updates(turn);
            }
            Effect::UnwatchLog { request } => apps.output.unwatch(request),
            Effect::ReadUsage { request, sessions } => self.usage.ask(request, sessions),
            Effect::LoadProviders { request, change } => {
                let read = self.manifests.apply(&change).map(|Applied { added, message }| {
                    let LoadedManifests { manifests, problems } = self.manifests.load();
                    Manifests { manifests, problems, added, said: message }
                });
                turn.push(Event::Providers { request, read });
            }
            Effect::Persist(record) => records.append(&record, turn),
            Effect::Prepare { state_dir } => {
                directories::prepare_session(records.directory(), &state_dir);
            }
            Effect::Discard { state_dir } => {
                directories::remove_session(records.directory(), &state_dir, turn.now.unix_ms);
            }
            Effect::NoteLog { app, line } => {
                apps.output.note(app, &line, turn.now_ms());
                apps.queue_log_updates(turn);
            }
            Effect::EndLog { log, kept } => apps.output.end_log(Path::new(&log), kept),
            Effect::Stopped => self.lifecycle.core_stopped(turn.now_ms()),
        }
    }
}

/// True for effects that can't be taken back, unlike bytes that stay queued until the end of the
/// turn.
fn is_irrevocable(effect: &Effect) -> bool {
    match effect {
        Effect::Start(_)
        | Effect::Signal { .. }
        | Effect::LoadProviders { .. }
        | Effect::Prepare { .. }
        | Effect::Discard { .. }
        | Effect::EndLog { .. }
        | Effect::RemoveValues { .. }
        | Effect::Stopped => true,
        Effect::ToClient { .. }
        | Effect::ToClientInParts { .. }
        | Effect::CloseClient { .. }
        | Effect::IdentifyClient { .. }
        | Effect::Audit(_)
        | Effect::ToApp { .. }
        | Effect::StoreValue { .. }
        | Effect::ReadLog { .. }
        | Effect::ReadUsage { .. }
        | Effect::WatchLog { .. }
        | Effect::UnwatchLog { .. }
        | Effect::NoteLog { .. }
        | Effect::Persist(_) => false,
    }
}
