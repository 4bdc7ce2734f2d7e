//! One reader's way to the daemon: the requests that its tool calls become, and what is printed of
//! the answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pipemux_client::options::{client_name, text_variables};
use pipemux_client::proto::app::Progress;
use pipemux_client::proto::client::{Answer, Body, Verb, VerbKind, VerbRequest};
use pipemux_client::tools::{CallerEnv, ToolVerb};
use pipemux_client::{ClientError, Options};
use rmcp::model::{CallToolResult, ProgressNotificationParam};
use tokio::sync::mpsc;

use crate::bounds::Bounds;
use crate::client_directory::ClientDirectory;
use crate::context::Context;
use crate::daemon::Daemon;
use crate::delivery::Deliveries;
use crate::outcome;

/// The most retries of a query with a smaller budget, if its answer exceeds the bounds.
const ATTEMPTS: u32 = 3;

/// The settings of answers from the command line.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Tokens that an answer may take, unless a call says otherwise; if it isn't said, it depends
    /// on the client.
    pub budget: Option<u32>,
    /// Tokens for what an act changed in files.
    pub diff: u32,
}

/// Serves one reader.
#[derive(Debug, Clone)]
pub struct Bridge {
    directory: Arc<ClientDirectory>,
    settings: Settings,
    link: (Arc<Daemon>, Deliveries),
}

/// An answer of the daemon, and whether it was cut to the bounds of harnesses.
#[derive(Debug)]
pub struct Performed {
    pub answer: Answer,
    /// False if the call named a budget of its own.
    pub is_bounded: bool,
    /// The id of the request.
    pub run_id: String,
}

impl Bridge {
    /// Makes a bridge for the reader of one connection.
    pub fn new(directory: ClientDirectory, settings: Settings) -> Self {
        let link = (Arc::new(Daemon::new()), Deliveries::default());
        Self::with_link(directory, settings, link)
    }

    /// Makes a bridge over a connection that several of them share.
    pub fn with_link(
        directory: ClientDirectory,
        settings: Settings,
        link: (Arc<Daemon>, Deliveries),
    ) -> Self {
        Self { directory: Arc::new(directory), settings, link }
    }

    /// Returns the connection, and the results whose writing is to be noticed.
    pub fn daemon(&self) -> &(Arc<Daemon>, Deliveries) {
        &self.link
    }

    /// Makes the result of an answer; it counts as seen once it is written, unless it was cut.
    pub fn complete(&self, performed: Performed, context: &Context) -> CallToolResult {
        let Performed { mut answer, is_bounded, .. } = performed;
        let bounds = bounds_of(context);
        match &mut answer.body {
            Body::Text(text) if is_bounded && bounds.excess(text).is_some() => {
                *text = outcome::cut(text, bounds);
            }
            _ => self.link.1.expect(context, answer.delivery),
        }
        outcome::result(&answer, bounds)
    }

    /// Asks the daemon. A query whose answer is longer than harnesses pass on is asked again,
    /// shorter.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn perform(
        &self,
        verb: ToolVerb,
        context: &Context,
    ) -> Result<Performed, ClientError> {
        let waits = verb.waits();
        let bounds = bounds_of(context);
        let named = verb.budget.is_some();
        let only_looks = only_looks(&verb.verb);
        let options = self.options();
        let mut request = verb.clone().into_request(&options);
        request.client = named_client(context);
        // The budget of an `open` would stay with its window; a value is printed as it is.
        if !named && !matches!(request.verb, Verb::Open(_) | Verb::Read { .. }) {
            request.budget = Some(self.settings.budget.unwrap_or(bounds.budget));
        }
        if request.verb.acts() && !only_looks {
            request.diff = self.settings.diff;
        }
        let mut answer = self.send(&request, waits, context).await?;
        for _ in 0..ATTEMPTS {
            let Body::Text(text) = &answer.body else { break };
            let (Some(times), Some(budget)) = (bounds.excess(text), request.budget) else {
                break;
            };
            if !only_looks || named {
                break;
            }
            request = verb.clone().into_request(&options);
            request.client = named_client(context);
            request.budget = Some((f64::from(budget) / times * 0.95) as u32);
            answer = self.send(&request, waits, context).await?;
        }
        // Who names a budget wants all of it: the bounds are those of a harness, which may have
        // others.
        Ok(Performed { answer, is_bounded: !named, run_id: request.run_id })
    }

    /// Sends a request, and passes its progress on to a client that wants it.
    async fn send(
        &self,
        request: &VerbRequest,
        waits: Duration,
        context: &Context,
    ) -> Result<Answer, ClientError> {
        let options = self.options();
        let Some(token) = context.meta.get_progress_token() else {
            return self.link.0.send(&options, request, waits, drop).await;
        };
        // Only the newest progress counts, so one place is enough.
        let (report, mut reports) = mpsc::channel::<Progress>(1);
        let on_progress = move |progress| drop(report.try_send(progress));
        let mut answer = Box::pin(self.link.0.send(&options, request, waits, on_progress));
        let mut last = -1.0_f64;
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return answer,
                Some(progress) = reports.recv() => {
                    // It must grow with each report, also where only the words changed.
                    last = (progress.done as f64).max(last.next_up());
                    let mut param = ProgressNotificationParam::new(token.clone(), last);
                    if progress.total > 0 {
                        param = param.with_total(progress.total as f64);
                    }
                    if !progress.text.is_empty() {
                        param = param.with_message(progress.text);
                    }
                    let _ = context.peer.notify_progress(param).await;
                }
            }
        }
    }

    /// Sends a request of the bridge's own.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn ask(&self, request: &VerbRequest) -> Result<Answer, ClientError> {
        self.link.0.send(&self.options(), request, Duration::ZERO, drop).await
    }

    /// Waits for events of the daemon that runs; none is started, since that would undo a
    /// `pipemux down`.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn watch(
        &self,
        request: &VerbRequest,
        waits: Duration,
    ) -> Result<Answer, ClientError> {
        let options = Options { start: false, ..Options::clone(&self.options()) };
        self.link.0.send(&options, request, waits, drop).await
    }

    /// Returns where the client works.
    pub fn client_directory(&self) -> &ClientDirectory {
        &self.directory
    }

    /// Returns what requests are made with.
    pub fn options(&self) -> Arc<Options> {
        self.directory.options()
    }
}

impl CallerEnv for Bridge {
    fn directory(&self) -> Result<String, ClientError> {
        let directory = std::env::current_dir().map_err(|error| {
            ClientError::invalid(format!("there is no current directory: {error}"))
        })?;
        directory.into_os_string().into_string().map_err(|path| {
            let path = path.display();
            ClientError::invalid(format!("the current directory's path is not UTF-8: {path}"))
        })
    }

    fn variables(&self) -> BTreeMap<String, String> {
        let mut variables = text_variables(std::env::vars_os());
        // What a shell wrote there is the directory in which this process started.
        if variables.contains_key("PWD")
            && let Ok(directory) = self.directory()
        {
            variables.insert("PWD".to_owned(), directory);
        }
        variables
    }
}

/// Returns how much of a result the client passes on.
fn bounds_of(context: &Context) -> Bounds {
    Bounds::of_client(context.client_info().as_ref().map(|client| client.name.as_str()))
}

/// Returns what history calls a client.
fn named_client(context: &Context) -> String {
    client_name("mcp", context.client_info().as_ref().map_or("", |client| client.name.as_str()))
}

/// Returns true for a verb that changes nothing.
pub fn only_looks(verb: &Verb) -> bool {
    verb.kind() == VerbKind::Ask || !verb.changes()
}
