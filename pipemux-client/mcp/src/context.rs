//! What every module is given of the request that it works for.

use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// The context of the request that carries a tool call.
pub type Context = RequestContext<RoleServer>;
