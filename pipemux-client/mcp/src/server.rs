//! The protocol's requests, each handed to the module that answers it.

use std::sync::Arc;

use pipemux_client::tools::{TOOLS, Tool as Definition, ToolCall, ToolRequest};
use pipemux_client::{ClientError, guide};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, Implementation, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool, ToolAnnotations, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use crate::bridge::{Bridge, only_looks};
use crate::context::Context;
use crate::outcome::{self, EXIT_QUESTION, EXIT_REFUSED};
use crate::windows::Windows;
use crate::{confirm, consent, malformed};

/// Serves one reader.
#[derive(Debug, Clone)]
pub struct Server {
    bridge: Bridge,
    windows: Arc<Windows>,
}

impl Server {
    pub fn new(bridge: Bridge) -> Self {
        Self { bridge, windows: Arc::default() }
    }

    /// Answers a tool's call.
    async fn answer(&self, call: &ToolCall, context: &Context) -> CallToolResponse {
        let failed = |error: ClientError| outcome::failure(&error).into();
        let verb = match call.to_request(&self.bridge) {
            Ok(ToolRequest::Verb(verb)) => verb,
            Ok(ToolRequest::Text(text)) => {
                return CallToolResult::success(vec![ContentBlock::text(text)]).into();
            }
            Err(error) => return failed(error),
        };
        // What only looks may show a question, but asks none: its answer would act.
        let acts = !only_looks(&verb.verb);
        match self.bridge.perform(*verb, context).await {
            Ok(performed) if acts && performed.answer.exit == EXIT_QUESTION => {
                confirm::ask(&self.bridge, call.clone(), performed, context).await
            }
            Ok(performed) if acts && performed.answer.exit == EXIT_REFUSED => {
                consent::ask(&self.bridge, call, performed, context).await
            }
            Ok(performed) => self.bridge.complete(performed, context).into(),
            Err(error) => failed(error),
        }
    }
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

impl ServerHandler for Server {
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
            self.bridge.client_directory().settle(&context).await;
            let arguments = request.arguments.unwrap_or_default();
            let call = ToolCall { name: request.name.into_owned(), arguments };
            match request.request_state {
                // The state says which call was asked about, and nothing else runs.
                Some(state) => {
                    let responses = request.input_responses.unwrap_or_default();
                    confirm::resume(&self.bridge, &call, &state, &responses, &context).await
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
        self.bridge.client_directory().settle(&context).await;
        self.windows.list(&self.bridge).await.map(ListResourcesResult::with_all_items)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.bridge.client_directory().settle(&context).await;
        self.windows.read(&self.bridge, &request.uri).await.map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.bridge.client_directory().settle(&context).await;
        self.windows.subscribe(&self.bridge, &request.uri, context.peer)
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
        self.bridge.client_directory().roots_changed().await;
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
        self.windows.listen(&self.bridge, &context).await;
        Ok(())
    }
}
