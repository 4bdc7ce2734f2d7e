//! `pipemux open`.

use pipemux_client::ClientError;
use pipemux_client::proto::client::{OpenArgs, Verb};

use super::args::OpenTarget;
use super::command_env::CommandEnv;

/// Makes the request to the daemon.
///
/// # Errors
/// There is no current directory, or its path isn't text.
pub fn to_request(
    target: OpenTarget,
    args: Vec<String>,
    pin: Option<bool>,
    env: &dyn CommandEnv,
) -> Result<Verb, ClientError> {
    let OpenTarget { provider, session } = target;
    let (cwd, env) = (env.directory_text()?, env.text_variables());
    Ok(Verb::Open(OpenArgs { provider, session, args, cwd, env, pin }))
}
