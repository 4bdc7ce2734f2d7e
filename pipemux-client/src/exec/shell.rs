//! OpenAI's shells: each command is a process of its own, given as a line or as a list of words.

use pipemux_proto::command;
use serde_json::Value;

use super::apply_patch;
use super::arguments::Arguments;
use super::bash::{PATIENCE, Ran, run};
use super::code::{Code, quoted};
use super::daemon::Daemon;
use super::outcome::{Failure, Outcome, ToolAnswer};
use super::text::as_codex;

/// The exit status of a command that was stopped because it took too long.
const TIMED_OUT: i64 = 124;
/// Shells, and the options behind which they take a line.
const SHELLS: &[&str] = &["bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash"];
const LINE_OPTIONS: &[&str] = &["-c", "-lc", "-ic", "-l -c"];

/// Runs a command, and answers with its exit status, its time and its output.
///
/// # Errors
/// No daemon answers.
pub fn answer(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let line = match arguments.given("command").or_else(|| arguments.given("cmd")) {
        Some(Value::String(line)) => line.clone(),
        Some(Value::Array(words)) => match line_of(words) {
            Some(line) => line,
            None => return Err(arguments.wrong("command", "a list of texts")),
        },
        _ => return Err(arguments.wrong("command", "a text or a list of texts")),
    };
    if let Some(patch) = patch_of(&line, arguments.given("command")) {
        return apply_patch::whole(patch, daemon);
    }
    let limit = arguments.optional_number("timeout_ms")?;
    let Ran { output, exit, verdict, took } = ran(&line, arguments, daemon)?;
    let (status, output) = match (exit, limit) {
        (Some(status), _) => (status, output),
        (None, Some(limit)) if verdict.starts_with("timed out") => {
            (TIMED_OUT, format!("command timed out after {limit} milliseconds\n{output}"))
        }
        (None, _) => (TIMED_OUT, format!("{verdict}\n{output}")),
    };
    let outputs = vec![(output.clone(), exit)];
    let is_error = status != 0;
    Ok(ToolAnswer { is_error, outputs, ..ToolAnswer::done(as_codex(status, took, &output)) })
}

/// Runs several lines, one after the other.
///
/// # Errors
/// No daemon answers.
pub fn several(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let lines = arguments.given("commands").and_then(Value::as_array);
    let Some(lines) = lines else { return Err(arguments.wrong("commands", "a list of texts")) };
    let mut outputs = Vec::new();
    for line in lines {
        let line = line.as_str().ok_or_else(|| arguments.wrong("commands", "a list of texts"))?;
        match ran(line, arguments, daemon) {
            Ok(ran) => outputs.push((ran.output, ran.exit)),
            Err(Failure::Told(answer)) => outputs.push((answer.text, Some(TIMED_OUT.min(126)))),
            Err(lost) => return Err(lost),
        }
    }
    Ok(ToolAnswer { outputs, ..ToolAnswer::done("") })
}

fn ran(line: &str, arguments: &Arguments<'_>, daemon: &mut Daemon) -> Result<Ran, Failure> {
    let mut call = Code::call("terminal.shell").long_text("command", line);
    for name in ["workdir", "working_directory", "cwd"] {
        if let Some(folder) = arguments.optional_text(name)? {
            call = call.text("cwd", folder);
            break;
        }
    }
    if let Some(Value::Object(variables)) = arguments.given("env") {
        let set = |(name, value): (&String, &Value)| {
            Some(format!("{}: {}", quoted(name), quoted(value.as_str()?)))
        };
        let set: Vec<String> = variables.iter().filter_map(set).collect();
        call = call.plain("env", format!("{{{}}}", set.join(", ")));
    }
    if let Some(limit) = arguments.optional_number("timeout_ms")?.filter(|limit| *limit > 0) {
        call = call.plain("timeout", limit as f64 / 1000.0);
    }
    run(call, PATIENCE, daemon)
}

/// Returns the line of a list of words: that which a shell is given, or the words, quoted.
fn line_of(words: &[Value]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
    Some(match words.as_slice() {
        [shell, option, line] if SHELLS.contains(shell) && LINE_OPTIONS.contains(option) => {
            (*line).to_owned()
        }
        words => command::join(words),
    })
}

/// Returns the patch of a command that is one: `["apply_patch", "…"]`, or a line with it as a
/// here-document.
fn patch_of<'t>(line: &'t str, given: Option<&'t Value>) -> Option<&'t str> {
    if let Some([name, patch]) = given.and_then(Value::as_array).map(Vec::as_slice)
        && matches!(name.as_str(), Some("apply_patch" | "applypatch"))
    {
        return patch.as_str();
    }
    let rest = line.trim().strip_prefix("apply_patch")?.trim_start().strip_prefix("<<")?;
    let (word, body) = rest.split_once('\n')?;
    let word = word.trim().trim_matches(['\'', '"']);
    let body = body.strip_suffix(word)?;
    body.starts_with("*** Begin Patch").then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn list_of_words_becomes_a_line() {
        for (words, line) in [
            (json!(["bash", "-lc", "ls | wc"]), "ls | wc"),
            (json!(["git", "commit", "-m", "it's"]), "git commit -m 'it'\\''s'"),
            (json!(["ls"]), "ls"),
        ] {
            assert_eq!(line_of(words.as_array().unwrap()).unwrap(), line);
        }
        assert_eq!(line_of(&[json!(1)]), None);
    }

    #[test]
    fn patch_in_a_command_is_found() {
        let patch = "*** Begin Patch\n*** Add File: a\n+EOF\n*** End Patch\n";
        let line = format!("apply_patch <<'EOF'\n{patch}EOF\n");
        assert_eq!(patch_of(&line, None), Some(patch));
        let given = json!(["apply_patch", patch]);
        assert_eq!(patch_of("x", Some(&given)), Some(patch));
        assert_eq!(patch_of("ls; apply_patch <<E\nE", None), None);
    }
}
