//! An app under test, without a daemon: what the wire would carry, in process.

use std::path::Path;

use pipemux_proto::app::{Choice, Invoke, Open, Opened, Outcome, Project, Resume};
use pipemux_proto::projection::{Lod, Piece, Projection};
use pipemux_proto::{Blob, Fault, SessionAddr};

use crate::actions::Actions;
use crate::app::App;
use crate::server::Server;

/// Stands in for the daemon: opens the app, invokes actions, asks for views.
pub struct Host<A> {
    server: Server<A>,
    address: SessionAddr,
    state_dir: String,
    cwd: String,
    seen_version: u64,
    runs: u64,
    asked: Option<(Invoke, Blob)>,
    opened: bool,
}

impl<A: App> Host<A> {
    /// Opens an app with arguments, in a working directory, with a directory for its state.
    ///
    /// # Errors
    /// What the app's `open` refuses.
    pub fn open(args: &[&str], cwd: &Path, state_dir: &Path) -> Result<Self, Fault> {
        Self::open_as("app/main", args, cwd, state_dir)
    }

    /// Opens an app as the session of that address: `editor/main`.
    ///
    /// # Errors
    /// What is no address, and what the app's `open` refuses.
    pub fn open_as(
        address: &str,
        args: &[&str],
        cwd: &Path,
        state_dir: &Path,
    ) -> Result<Self, Fault> {
        let address = address.parse().map_err(|error| Fault::usage(format!("{error}")))?;
        let mut host = Self {
            server: Server::new(),
            address,
            state_dir: state_dir.to_string_lossy().into_owned(),
            cwd: cwd.to_string_lossy().into_owned(),
            seen_version: 0,
            runs: 0,
            asked: None,
            opened: false,
        };
        host.attach(args)?;
        Ok(host)
    }

    /// Puts the app to sleep and wakes it with the opens given, as the daemon does: what it showed and
    /// the numbers that were seen mean the same afterwards.
    ///
    /// # Errors
    /// The app can't be put to sleep, or didn't find its state again.
    pub fn sleep_and_wake(&mut self, opens: &[&[&str]]) -> Result<(), Fault> {
        let version = self.sleep()?;
        self.wake(version, opens).and_then(|(resumed, notes)| match resumed {
            true => Ok(()),
            false => {
                Err(Fault::failed("it did not find the state that it saved").hint(notes.join(" ")))
            }
        })
    }

    /// Has the app save its state, and ends it as the daemon does. Returns the version that was saved.
    ///
    /// # Errors
    /// The app can't be put to sleep: it is as it was.
    pub fn sleep(&mut self) -> Result<u64, Fault> {
        let version = self.server.sleep()?.version;
        self.server.save()?;
        self.server = Server::new();
        self.opened = false;
        Ok(version)
    }

    /// Starts the app that was put to sleep with that version. Returns whether it went on from there,
    /// and what it noted.
    ///
    /// # Errors
    /// What the app's `open` and `attach` refuse.
    pub fn wake(&mut self, version: u64, opens: &[&[&str]]) -> Result<(bool, Vec<String>), Fault> {
        let (mut resumed, mut notes) = (true, Vec::new());
        for args in opens {
            let opened = self.open_once(args, true, version)?;
            resumed &= opened.resumed == version;
            notes.extend(opened.notes);
        }
        Ok((resumed, notes))
    }

    /// Opens the session once more.
    ///
    /// # Errors
    /// What the app's `attach` refuses.
    pub fn attach(&mut self, args: &[&str]) -> Result<Vec<String>, Fault> {
        self.open_once(args, false, 0).map(|opened| opened.notes)
    }

    fn open_once(&mut self, args: &[&str], again: bool, woken: u64) -> Result<Opened, Fault> {
        let attach = std::mem::replace(&mut self.opened, true);
        self.server.open(Open {
            session: self.address.clone(),
            attach,
            again,
            woken,
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            cwd: self.cwd.clone(),
            env: Default::default(),
            state_dir: self.state_dir.clone(),
        })
    }

    /// The model, to look into.
    ///
    /// # Errors
    /// The app isn't open.
    pub fn app(&self) -> Result<&A, Fault> {
        self.server.app()
    }

    /// Carries out an action as a run of its own by the default reader, who saw what
    /// [`Host::project`] last gave. A destructive action isn't confirmed: answer its question.
    pub fn invoke(&mut self, action: &A::Action) -> Outcome {
        self.invoke_as("default", self.seen_version, action)
    }

    /// Carries out an action by a reader who saw that version, as a run of its own.
    pub fn invoke_as(&mut self, reader: &str, seen_version: u64, action: &A::Action) -> Outcome {
        self.runs += 1;
        self.step_as(reader, seen_version, action)
    }

    /// Carries out an action by the default reader, who saw an earlier life of the app and not this
    /// one, as a run of its own.
    pub fn invoke_lost(&mut self, action: &A::Action) -> Outcome {
        self.runs += 1;
        self.step_lost(action)
    }

    /// Carries out an action as a further step of the run that [`Host::invoke_lost`] began.
    pub fn step_lost(&mut self, action: &A::Action) -> Outcome {
        let invoke = Invoke { seen_lost: true, ..self.message("default", 0, action) };
        self.send(invoke)
    }

    /// Where the caller stands from here on: what relative paths start from.
    pub fn stand(&mut self, cwd: &Path) {
        self.cwd = cwd.to_string_lossy().into_owned();
    }

    /// Carries out an action as a further step of the run that was last begun.
    pub fn step_as(&mut self, reader: &str, seen_version: u64, action: &A::Action) -> Outcome {
        let invoke = self.message(reader, seen_version, action);
        self.send(invoke)
    }

    fn message(&self, reader: &str, seen_version: u64, action: &A::Action) -> Invoke {
        let (name, args) = action.encode();
        Invoke {
            action: name.into(),
            args,
            seen_version,
            seen_lost: false,
            cwd: self.cwd.clone(),
            reader: reader.into(),
            run_id: format!("run-{}", self.runs),
            confirmed: false,
            resume: None,
        }
    }

    /// Sends bytes past the desk.
    ///
    /// # Errors
    /// As [`App::exchange`].
    pub fn exchange(&mut self, body: impl Into<bytes::Bytes>) -> Result<bytes::Bytes, Fault> {
        self.server.exchange(body.into()).map(|(body, _)| body)
    }

    /// Answers the question that the last action asked.
    pub fn answer(&mut self, choice: Choice) -> Outcome {
        let Some((mut invoke, token)) = self.asked.take() else {
            return Outcome::Failed(Fault::refused("no question is open"));
        };
        invoke.confirmed = choice == Choice::Yes;
        invoke.resume = Some(Resume { token, choice });
        self.send(invoke)
    }

    /// The window at a level of detail; counts as seen.
    ///
    /// # Errors
    /// The app isn't open.
    pub fn project(&mut self, lod: Lod, budget: u32) -> Result<Projection, Fault> {
        let look = Project { window: 1, lod, budget, known_version: None };
        let projection = self.server.project(&look)?;
        self.seen_version = projection.version;
        Ok(projection)
    }

    /// The window as flat text: things as `[label](obj:key)`, links as `[label](link:action)`.
    ///
    /// # Errors
    /// The app isn't open.
    pub fn text(&mut self, lod: Lod, budget: u32) -> Result<String, Fault> {
        let projection = self.project(lod, budget)?;
        let mut text = format!("## {}\n", projection.title);
        for link in &projection.nav {
            text += &format!("[{}](link:{}) ", link.label, link.action);
        }
        text.push('\n');
        for piece in &projection.content {
            match piece {
                Piece::Text(plain) => text += plain,
                Piece::Object(object) => text += &format!("[{}](obj:{})", object.label, object.key),
                Piece::Link(link) => text += &format!("[{}](link:{})", link.label, link.action),
                Piece::Code(code) => {
                    for (number, line) in
                        (code.first.unwrap_or(1)..).zip(code.text.split_inclusive('\n'))
                    {
                        text += &match code.first {
                            Some(_) => format!("{number}\t{line}"),
                            None => line.to_owned(),
                        };
                    }
                }
            }
        }
        Ok(text)
    }

    fn send(&mut self, invoke: Invoke) -> Outcome {
        let outcome = self.server.invoke(invoke.clone());
        if let Outcome::Needs(needs) = &outcome {
            self.asked = Some((invoke, needs.token.clone()));
        }
        outcome
    }
}
