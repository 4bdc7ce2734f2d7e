//! Carries out effects in their order, as a driver does, and queues the events that follow.

use pipemux_core::{ClientId, Effect, Event, Exit, LogText, Manifests, Signal, Usage, UsageReport};
use pipemux_proto::app::OpenRequest;
use pipemux_proto::client::{Answer, Attached};
use pipemux_proto::{Incarnation, Kind, Method, decode};

use super::wire::frames;
use super::{App, Behaviour, Output, RequestEnd, World, text};

impl World {
    pub fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.effects.push(format!("{effect:?}"));
            match effect {
                Effect::ToClient { client, bytes } => self.send_client(client, &bytes),
                Effect::ToClientInParts { client, parts } => {
                    self.send_client(client, &parts.concat());
                }
                Effect::CloseClient { client } => {
                    if let Some(found) = self.clients.get_mut(&client) {
                        found.closed = true;
                        self.queue.push_back(Event::ClientClosed { client });
                    }
                }
                Effect::IdentifyClient { client } => {
                    let peer = self.peers.get(&client).cloned().unwrap_or_default();
                    self.queue.push_front(Event::ClientIdentified { client, peer });
                }
                Effect::Audit(entry) => self.audited.push(*entry),
                Effect::ToApp { app, bytes } => self.send_app(app, &bytes),
                Effect::Start(start) => self.start(&start),
                Effect::Signal { app, signal } => {
                    let exit = Exit::Signal(if signal == Signal::Kill { 9 } else { 15 });
                    let stubborn = self.apps.get(&app).is_some_and(|app| app.stubborn);
                    if signal == Signal::Kill || !stubborn {
                        self.end_process(app, exit, &[]);
                    }
                }
                Effect::StoreValue { request, path, offset, data } => {
                    let stored = match (&self.value_refusal, self.values.entry(path.clone())) {
                        (Some(why), _) => Err(why.clone()),
                        (None, at) => {
                            let file = at.or_default();
                            assert_eq!(file.len() as u64, offset, "parts come in order");
                            file.extend_from_slice(&data);
                            Ok(path)
                        }
                    };
                    self.queue.push_back(Event::ValueStored { request, stored });
                }
                Effect::RemoveValues { paths } => {
                    paths.iter().for_each(|path| drop(self.values.remove(path)));
                    self.removed_values.extend(paths);
                }
                Effect::ReadLog { request, log, .. } => {
                    let text = format!("log of {log}");
                    let read = Ok(LogText { next: text.len() as u64, text, missed: 0 });
                    self.queue.push_back(Event::LogRead { request, read });
                }
                Effect::WatchLog { .. } | Effect::UnwatchLog { .. } => {}
                Effect::ReadUsage { request, sessions } => {
                    let usage = Usage { memory: Some(112), ..Usage::default() };
                    let sessions = vec![usage; sessions.len()];
                    let report = UsageReport { own: usage, sessions };
                    self.queue.push_back(Event::UsageRead { request, report });
                }
                Effect::LoadProviders { request, .. } => {
                    let manifests = self.config.providers.clone();
                    let problems = self.manifest_problems.clone();
                    let read = Ok(Manifests { manifests, problems, ..Manifests::default() });
                    self.queue.push_back(Event::Providers { request, read });
                }
                Effect::Persist(record) => {
                    self.shown.push(Output::Saved(Box::new(record.clone())));
                    self.records.push(record);
                }
                Effect::Prepare { .. } | Effect::EndLog { .. } | Effect::NoteLog { .. } => {}
                Effect::Discard { state_dir } => self.discarded.push(state_dir),
                Effect::Stopped => self.stopped = true,
            }
        }
    }

    fn start(&mut self, start: &pipemux_core::Start) {
        self.shown.push(Output::Started(start.app));
        for behaviour in self.behaviours.values_mut().filter(|m| **m == Behaviour::DiesOnInvokeOnce)
        {
            *behaviour = Behaviour::Normal;
        }
        let parts: Vec<&str> = start.state_dir.rsplit('/').take(2).collect();
        let session = format!("{}/{}", parts[1], parts[0]);
        if self.behaviours.get(&session) == Some(&Behaviour::Unstartable) {
            let why = "no such program".to_owned();
            return self.queue.push_back(Event::StartFailed { app: start.app, why });
        }
        self.place_model(&start.state_dir, &session);
        let app = App::new(session, start.state_dir.clone());
        self.apps.insert(start.app, App { stubborn: self.stubborn, ..app });
        self.queue.push_back(Event::Started {
            app: start.app,
            pid: 1_000 + start.app.0 as u32,
            left_out: Vec::new(),
        });
    }

    /// Moves the model that a test prepared for a session to the session's directory.
    fn place_model(&mut self, dir: &str, session: &str) {
        if !self.models.contains_key(dir) {
            let prepared = self.models.remove(&format!("/{session}")).unwrap_or_default();
            self.models.insert(dir.to_owned(), prepared);
        }
    }

    fn send_app(&mut self, incarnation: Incarnation, bytes: &[u8]) {
        for frame in frames(bytes).expect("the core writes whole frames") {
            // The process may have ended, and the core doesn't know yet.
            let Some(app) = self.apps.get_mut(&incarnation) else { return };
            let of = frame.envelope.incarnation;
            // A shared process gets frames for the incarnations of its sessions.
            let shared = of != incarnation;
            if shared && frame.envelope.method == Method::AppOpen {
                let open: OpenRequest = decode(&frame.body).expect("an OpenRequest");
                app.sessions.insert(of, (open.session.to_string(), open.state_dir));
            }
            let (session, dir) = match app.sessions.get(&of) {
                Some(known) => known.clone(),
                None => {
                    let request = frame.envelope.kind == Kind::Request;
                    assert!(!shared || !request, "a request of another incarnation");
                    (app.session.clone(), app.state_dir.clone())
                }
            };
            let behaviour = self.behaviours.get(&session).cloned().unwrap_or_default();
            self.place_model(&dir, &session);
            let app = self.apps.get_mut(&incarnation).expect("it runs");
            let model = self.models.get_mut(&dir).expect("a model");
            if frame.envelope.method == Method::Invoke && frame.envelope.kind == Kind::Request {
                let invoke = decode(&frame.body).expect("an Invoke");
                self.invoked.push((session.clone(), invoke));
            }
            if frame.envelope.method == Method::Project && frame.envelope.kind == Kind::Request {
                let project = decode(&frame.body).expect("a Project");
                self.projected.push((session.clone(), project));
            }
            let mut reaction = app.react(of, &frame, &behaviour, model);
            if shared && frame.envelope.method == Method::AppClose {
                app.sessions.remove(&of);
                reaction.exit = None;
            }
            self.queue.extend(
                reaction.frames.into_iter().map(|f| Event::AppFrame { app: incarnation, frame: f }),
            );
            if let Some((exit, last_lines)) = reaction.exit {
                let lines: Vec<&str> = last_lines.iter().map(String::as_str).collect();
                self.end_process(incarnation, exit, &lines);
                return;
            }
        }
    }

    pub fn end_process(&mut self, app: Incarnation, exit: Exit, last_lines: &[&str]) {
        if self.apps.remove(&app).is_some() {
            let last_lines = last_lines.iter().map(|line| (*line).to_owned()).collect();
            self.queue.push_back(Event::AppClosed { app });
            self.queue.push_back(Event::Exited { app, exit, last_lines });
        }
    }

    fn send_client(&mut self, client: ClientId, bytes: &[u8]) {
        for frame in frames(bytes).expect("the core writes whole frames") {
            let end = match frame.envelope.kind {
                Kind::Fault => RequestEnd::Fault(decode(&frame.body).expect("a fault")),
                Kind::Reply if frame.envelope.method == Method::Verb => {
                    let answer: Answer = decode(&frame.body).expect("an answer");
                    let workspace = self.keys.get(&(client, frame.envelope.id)).cloned();
                    let workspace = workspace.unwrap_or_default();
                    self.shown.push(Output::Text(workspace, text::of(&answer)));
                    RequestEnd::Answer(Box::new(answer))
                }
                Kind::Reply if frame.envelope.method == Method::Attach => {
                    let told: Attached = decode(&frame.body).expect("an incarnation");
                    self.attached.push((client, frame.envelope.id, told.incarnation));
                    continue;
                }
                Kind::Event if frame.envelope.method == Method::Progress => {
                    let progress = decode(&frame.body).expect("a Progress");
                    let found = self.clients.get_mut(&client).expect("it is connected");
                    found.progress.push((frame.envelope.id, progress));
                    continue;
                }
                _ => continue,
            };
            let found = self.clients.get_mut(&client).expect("only connected clients are answered");
            found.request_ends.entry(frame.envelope.id).or_default().push(end);
        }
    }
}
