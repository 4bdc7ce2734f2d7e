//! `pipemux open`.

use pipemux_client::ClientError;
use pipemux_client::proto::client::OpenArgs;

use super::args::OpenTarget;
use super::command_env::CommandEnv;

/// Makes the arguments of the request to the daemon.
///
/// # Errors
/// There is no current directory, or its path isn't text.
pub fn to_args(
    target: OpenTarget,
    args: Vec<String>,
    pin: Option<bool>,
    env: &dyn CommandEnv,
) -> Result<OpenArgs, ClientError> {
    let OpenTarget { provider, session } = target;
    let (cwd, env) = (env.directory_text()?, env.text_variables());
    Ok(OpenArgs { provider, session, args, cwd, env, pin, priority: None, weight: None })
}
