//! The protocol's requests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pipemux_client::guide;
use pipemux_client::options::{client_name, text_variables};
use pipemux_client::proto::app::Progress;
use pipemux_client::proto::client::{Answer, Body, Verb, VerbKind, VerbRequest};
use pipemux_client::tools::{
    CallerEnv, TOOLS, Tool as Definition, ToolCall, ToolRequest, ToolVerb,
};
use pipemux_client::{ClientError, Options};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, Implementation, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, ToolAnnotations,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::bounds::Bounds;
use crate::confirm;
use crate::consent;
use crate::daemon::Daemon;
use crate::delivery::Deliveries;
use crate::malformed;
use crate::outcome::{self, EXIT_QUESTION, EXIT_REFUSED};
use crate::place::Place;
use crate::windows::Windows;

/// How often a query is asked again with a smaller budget, when its answer exceeds what harnesses pass on.
const ATTEMPTS: u32 = 3;

/// What the command line says of answers.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Tokens that an answer may take, unless a call says otherwise; if it isn't said, it depends on the client.
    pub budget: Option<u32>,
    /// Tokens for what an act changed in files.
    pub diff: u32,
}

/// Serves one reader.
#[derive(Debug, Clone)]
pub struct Bridge {
    place: Arc<Place>,
    settings: Settings,
    link: (Arc<Daemon>, Deliveries),
    windows: Arc<Windows>,
}

/// An answer of the daemon, and whether it is cut to what harnesses pass on.
#[derive(Debug)]
pub struct Performed {
    /// The answer.
    pub answer: Answer,
    /// False if the call named a budget of its own.
    pub is_bounded: bool,
    /// The id of the request.
    pub run_id: String,
}

/// What a tool's call needs of its request.
pub type Context = RequestContext<RoleServer>;

impl Bridge {
    /// Makes a bridge for the reader of one connection.
    pub fn new(place: Place, settings: Settings) -> Self {
        let link = (Arc::new(Daemon::new()), Deliveries::default());
        Self::with_link(place, settings, link)
    }

    /// Makes a bridge over a connection that several of them share.
    pub fn with_link(place: Place, settings: Settings, link: (Arc<Daemon>, Deliveries)) -> Self {
        Self { place: Arc::new(place), settings, link, windows: Arc::default() }
    }

    /// Returns the connection, and the results whose writing is to be noticed.
    pub fn daemon(&self) -> &(Arc<Daemon>, Deliveries) {
        &self.link
    }

    /// Answers a tool's call.
    async fn answer(&self, call: &ToolCall, context: &Context) -> CallToolResponse {
        let failed = |error: ClientError| outcome::failure(&error).into();
        let verb = match call.to_request(self) {
            Ok(ToolRequest::Verb(verb)) => verb,
            Ok(ToolRequest::Text(text)) => {
                return CallToolResult::success(vec![ContentBlock::text(text)]).into();
            }
            Err(error) => return failed(error),
        };
        // What only looks may show a question, but asks none: its answer would act.
        let acts = !only_looks(&verb.verb);
        match self.perform(*verb, context).await {
            Ok(performed) if acts && performed.answer.exit == EXIT_QUESTION => {
                confirm::ask(self, call.clone(), performed, context).await
            }
            Ok(performed) if acts && performed.answer.exit == EXIT_REFUSED => {
                consent::ask(self, call, performed, context).await
            }
            Ok(performed) => self.complete(performed, context).into(),
            Err(error) => failed(error),
        }
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

    /// Asks the daemon. A query whose answer is longer than harnesses pass on is asked again, shorter.
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
        // Who names a budget wants all of it: the bounds are those of a harness, which may have others.
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

    /// Waits for events of the daemon that runs; none is started, since that would undo a `pipemux down`.
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

    /// Returns what the client wants to know of windows.
    pub fn windows(&self) -> &Windows {
        &self.windows
    }

    /// Returns what requests are made with.
    pub fn options(&self) -> Arc<Options> {
        self.place.options()
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
fn only_looks(verb: &Verb) -> bool {
    verb.kind() == VerbKind::Ask || !verb.changes()
}

/// Returns the tools as the protocol lists them.
pub fn tools() -> Vec<Tool> {
    let tool = |tool: &Definition| {
        let schema = match tool.schema() {
            Value::Object(schema) => schema,
            _ => serde_json::Map::new(),
        };
        let mut annotations = ToolAnnotations::new().read_only(tool.read_only).open_world(false);
        if !tool.read_only {
            annotations = annotations.destructive(tool.destructive).idempotent(tool.idempotent);
        }
        Tool::new(tool.name, tool.description(), schema).with_annotations(annotations)
    };
    TOOLS.iter().map(tool).collect()
}

impl ServerHandler for Bridge {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .build();
        let own = Implementation::new("pipemux", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(own)
            .with_instructions(guide::instructions())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        if Definition::named(&request.name).is_none() {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let why = format!("there is no tool {}: expected {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(why, None));
        }
        let cancelled = context.ct.clone();
        let answered = async {
            self.place.settle(&context).await;
            let arguments = request.arguments.unwrap_or_default();
            let call = ToolCall { name: request.name.into_owned(), arguments };
            match request.request_state {
                // The state says which call was asked about, and nothing else runs.
                Some(state) => {
                    let responses = request.input_responses.unwrap_or_default();
                    confirm::resume(self, &call, &state, &responses, &context).await
                }
                None => self.answer(&call, &context).await,
            }
        };
        tokio::select! {
            answer = answered => Ok(answer),
            // Steps that have not begun are not started, and the app is told.
            () = cancelled.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.place.settle(&context).await;
        self.windows.list(self).await.map(ListResourcesResult::with_all_items)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.place.settle(&context).await;
        self.windows.read(self, &request.uri).await.map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.place.settle(&context).await;
        self.windows.subscribe(self, &request.uri, context.peer)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        self.windows.unsubscribe(&request.uri);
        Ok(())
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        self.place.roots_changed().await;
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: Context,
    ) -> Result<CustomResult, ErrorData> {
        Err(malformed::unknown_request(&request))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.windows.listen(self, &context).await;
        Ok(())
    }
}
