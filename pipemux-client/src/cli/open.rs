//! `pipemux open`

use std::collections::BTreeMap;
use std::ffi::OsString;

use pipemux_client::ClientError;
use pipemux_client::proto::client::{Open, Verb};

use super::args::Target;

/// Most bytes of environment that are sent; a frame has room for four times as much.
const ENV_MAX: usize = 256 * 1024;

/// What is asked of the daemon.
///
/// # Errors
/// There is no current directory, or its path isn't text.
pub fn wanted(target: Target, args: Vec<String>) -> Result<Verb, ClientError> {
    let directory = std::env::current_dir().map_err(|error| {
        ClientError::invalid(format!("there is no current directory: {error}"))
            .hint("cd to one that exists")
    })?;
    let cwd = directory.into_os_string().into_string().map_err(|path| {
        ClientError::invalid(format!(
            "the current directory's path is not UTF-8: {}",
            path.display()
        ))
        .hint("cd to a directory whose path is")
    })?;
    let Target { provider, session } = target;
    let env = environment(std::env::vars_os(), ENV_MAX);
    Ok(Verb::Open(Open { provider, session, args, cwd, env }))
}

/// The variables that are text; when they are more than fits, the longest are left out: those that apps
/// live by (`PATH`, `HOME`, `LANG`) are short.
fn environment(
    variables: impl Iterator<Item = (OsString, OsString)>,
    most: usize,
) -> BTreeMap<String, String> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let mut found: Vec<(String, String)> = variables.filter_map(text).collect();
    found.sort_by_cached_key(|(name, value)| (name.len() + value.len(), name.clone()));
    let mut left = most;
    found
        .into_iter()
        .map_while(|(name, value)| {
            left = left.checked_sub(name.len() + value.len())?;
            Some((name, value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    fn pair(name: &str, value: &str) -> (OsString, OsString) {
        (name.into(), value.into())
    }

    #[test]
    fn what_is_not_text_or_too_long_stays_behind() {
        let variables = [
            pair("HUGE", &"x".repeat(100)),
            pair("PATH", "/bin"),
            (OsString::from("BAD"), OsString::from_vec(vec![0xff])),
            pair("LANG", "日本"),
        ];
        let kept = environment(variables.into_iter(), 100);
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["LANG", "PATH"]);
    }

    #[test]
    fn the_bound_is_exact() {
        let variables = || [pair("A", "12"), pair("B", "12")].into_iter();
        assert_eq!(environment(variables(), 6).len(), 2);
        assert_eq!(environment(variables(), 5).keys().collect::<Vec<_>>(), ["A"]);
        assert_eq!(environment(variables(), 0).len(), 0);
    }
}
