//! `pipemux pause` and `resume`: a person holds what agents do, and lets them go on.

use pipemux_client::ClientError;
use pipemux_client::proto::client::Verb;
use pipemux_client::proto::consent::PersonChannel;
use pipemux_client::proto::pause::{PauseArgs, PauseScope};

use super::requester::Requester;
use super::{clock, consent};

/// Begins or ends a pause: of everybody, of the reader that the command line names, or of the
/// workspace. Returns the exit status.
///
/// # Errors
/// No person is at a terminal here, or the daemon can't be reached.
pub fn execute(requester: &Requester, all: bool, on: bool) -> Result<u8, ClientError> {
    let scope = match &requester.global.reader {
        _ if all => PauseScope::All,
        Some(name) => PauseScope::Reader(name.clone()),
        None => PauseScope::Workspace,
    };
    if on {
        consent::check_person()?;
    } else if consent::ask_person("let agents act again?")? != Some(true) {
        return Ok(requester.print_own("nothing was decided", &serde_json::json!({})));
    }
    let by = Some(PersonChannel::Terminal);
    requester.request(Verb::Pause(PauseArgs { scope, on, by, clock: clock::offsets() }))
}
