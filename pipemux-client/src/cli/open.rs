//! `pipemux open`

use pipemux_client::ClientError;
use pipemux_client::proto::client::{Open, Verb};

use super::args::Target;
use super::around::Around;

/// What is asked of the daemon.
///
/// # Errors
/// There is no current directory, or its path isn't text.
pub fn wanted(
    target: Target,
    args: Vec<String>,
    pin: Option<bool>,
    around: &dyn Around,
) -> Result<Verb, ClientError> {
    let Target { provider, session } = target;
    let (cwd, env) = (around.cwd()?, around.environment());
    Ok(Verb::Open(Open { provider, session, args, cwd, env, pin }))
}
