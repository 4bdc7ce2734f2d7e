//! `pipemux doctor`: reports problems, and what to do about each. The client checks what only a
//! client can check, and the sessions that a running daemon reports. `pipemuxd doctor` checks the
//! rest; it works without a running daemon.

mod daemon_checks;
mod finding;
mod host_checks;

use pipemux_client::ClientError;
use serde_json::json;

use super::requester::Requester;
use crate::output;
use finding::Finding;

/// Runs all checks and prints the findings. Returns 0 when there is no problem or all were fixed,
/// else 1.
///
/// # Errors
/// None: a check that fails is itself a finding.
pub fn execute(requester: &Requester, fix: bool) -> Result<u8, ClientError> {
    let mut findings = Vec::new();
    let daemon_pid = daemon_checks::check(requester, &mut findings);
    host_checks::check(&requester.options, fix, daemon_pid, &mut findings);
    let bad = findings.iter().filter(|finding| finding.is_bad()).count();
    let bytes = if requester.global.json {
        let rows: Vec<_> = findings.iter().map(Finding::data).collect();
        format!("{:#}\n", json!(rows))
    } else {
        let end = match bad {
            0 => "all is well\n".to_owned(),
            n => format!("{n} of {} are bad\n", findings.len()),
        };
        findings.iter().map(Finding::line).chain([end]).collect()
    };
    match output::write_stdout(bytes.as_bytes()) {
        Ok(_) => Ok(u8::from(bad > 0)),
        Err(error) => {
            output::report_write_error(&error);
            Ok(1)
        }
    }
}
