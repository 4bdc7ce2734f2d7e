//! What every module is given of the request that it works for.

use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// What a tool's call needs of its request.
pub type Context = RequestContext<RoleServer>;
