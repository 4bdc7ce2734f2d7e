//! Writing a call again, so that it can be pasted with another budget.

use docui::FilePath;

use super::heads::HeadsRequest;
use crate::action::{Action, Only};

/// Writes a call again; `None` where its text can't stand in a command.
pub(super) fn written_again(action: &Action) -> Option<String> {
    let mut args = Vec::new();
    let name = match action {
        Action::Find { text, r#in, word, regex, case, only, not, count, min: _ } => {
            args.push(quoted(&text.0, *regex)?);
            if !r#in.is_empty() {
                args.push(format!("in={}", files(r#in)?));
            }
            let flags = [
                ("word", word, true),
                ("regex", regex, true),
                ("case", case, false),
                ("count", count, true),
            ];
            let set = flags.into_iter().filter(|(_, flag, told)| **flag == *told);
            args.extend(set.map(|(name, flag, _)| format!("{name}={flag}")));
            if let Some(only) = only {
                args.push(format!(
                    "only=\"{}\"",
                    match only {
                        Only::Code => "code",
                        Only::Comments => "comments",
                        Only::Strings => "strings",
                    }
                ));
            }
            if let Some(not) = not {
                args.push(format!("not={}", quoted(&not.0, true)?));
            }
            "find"
        }
        Action::Grep { pattern, path, glob, ignore_case } => {
            args.push(quoted(&pattern.0, true)?);
            if !path.is_empty() {
                args.push(format!("path={}", files(path)?));
            }
            if let Some(glob) = glob {
                args.push(format!("glob={}", quoted(glob, false)?));
            }
            if *ignore_case {
                args.push("ignore_case=true".to_owned());
            }
            "grep"
        }
        _ => return None,
    };
    Some(format!("{name}({})", args.join(", ")))
}

/// Writes a call for the same lines again.
pub(super) fn heads_again(request: &HeadsRequest) -> Option<String> {
    let HeadsRequest { files: paths, first, last, not, markup } = request;
    let mut args = vec![files(paths)?, first.to_string(), last.to_string()];
    if let Some(not) = not {
        args.push(format!("not={}", quoted(&not.0, true)?));
    }
    if *markup {
        args.push("markup=true".to_owned());
    }
    Some(format!("lines({})", args.join(", ")))
}

/// Returns a text as a string of a call; `raw` for a regular expression, which has no escapes.
fn quoted(text: &str, raw: bool) -> Option<String> {
    let text = if raw { text.to_owned() } else { text.replace('\\', "\\\\") };
    let text = text.replace('\n', "\\n").replace('\t', "\\t");
    (!text.contains(char::is_control)).then(|| format!("\"{}\"", text.replace('"', "\\\"")))
}

fn files(files: &[FilePath]) -> Option<String> {
    let mut all: Vec<String> =
        files.iter().map(|file| quoted(&file.0, false)).collect::<Option<_>>()?;
    Some(if all.len() == 1 { all.remove(0) } else { format!("[{}]", all.join(", ")) })
}
