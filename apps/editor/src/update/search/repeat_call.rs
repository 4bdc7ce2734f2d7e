//! Writing a call again, so that it can be pasted with another budget.

use docui::{FilePath, Pattern};

use crate::action::{Action, Only};

/// Writes a call again; `None` where its text can't stand in a command.
pub(super) fn written_again(action: &Action) -> Option<String> {
    let mut args = Vec::new();
    let name = match action {
        Action::Replace { old, new, r#in, word, regex, case, only, not, all } => {
            args.extend([quoted(&old.0)?, quoted(&new.text)?]);
            if !r#in.is_empty() {
                args.push(format!("in={}", quoted_files(r#in)?));
            }
            let flags = [("word", word, true), ("regex", regex, true), ("case", case, false)];
            add_flags(&mut args, &flags);
            add_filters(&mut args, *only, not.as_ref())?;
            add_flags(&mut args, &[("all", all, true)]);
            "replace"
        }
        Action::Find { text, r#in, word, regex, case, only, not, with, count, min: _, all } => {
            args.push(quoted(&text.0)?);
            if !r#in.is_empty() {
                args.push(format!("in={}", quoted_files(r#in)?));
            }
            let flags = [
                ("word", word, true),
                ("regex", regex, true),
                ("case", case, false),
                ("count", count, true),
            ];
            add_flags(&mut args, &flags);
            add_filters(&mut args, *only, not.as_ref())?;
            if let Some(with) = with {
                args.push(format!("with={}", quoted(&with.0)?));
            }
            add_flags(&mut args, &[("all", all, true)]);
            "find"
        }
        Action::Grep { pattern, path, glob, ignore_case } => {
            args.push(quoted(&pattern.0)?);
            if !path.is_empty() {
                args.push(format!("path={}", quoted_files(path)?));
            }
            if let Some(glob) = glob {
                args.push(format!("glob={}", quoted(glob)?));
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

fn add_flags(args: &mut Vec<String>, flags: &[(&str, &bool, bool)]) {
    let set = flags.iter().filter(|(_, flag, told)| **flag == *told);
    args.extend(set.map(|(name, flag, _)| format!("{name}={flag}")));
}

fn add_filters(args: &mut Vec<String>, only: Option<Only>, not: Option<&Pattern>) -> Option<()> {
    let part = only.map(|only| match only {
        Only::Code => "code",
        Only::Comments => "comments",
        Only::Strings => "strings",
    });
    args.extend(part.map(|part| format!("only=\"{part}\"")));
    if let Some(not) = not {
        args.push(format!("not={}", quoted(&not.0)?));
    }
    Some(())
}

/// Returns a text, also a regular expression, as a string of a call.
pub(in crate::update) fn quoted(text: &str) -> Option<String> {
    let text = text.replace('\\', "\\\\");
    let text = text.replace('\n', "\\n").replace('\t', "\\t");
    (!text.contains(char::is_control)).then(|| format!("\"{}\"", text.replace('"', "\\\"")))
}

pub(super) fn quoted_files(files: &[FilePath]) -> Option<String> {
    let mut all: Vec<String> = files.iter().map(|file| quoted(&file.0)).collect::<Option<_>>()?;
    Some(if all.len() == 1 { all.remove(0) } else { format!("[{}]", all.join(", ")) })
}
