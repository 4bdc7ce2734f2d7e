//! What a command line says: plain words, plain words joined by operators, or anything that only a shell understands.

use crate::harmless::harmless_assignment;
use crate::launchers::launches;

/// A command line as it was written, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// As it was written, without surrounding spaces.
    pub text: String,
    /// What it runs.
    pub form: Form,
    /// True if it names `$PORT`, which is a number where the form is known.
    pub names_port: bool,
}

/// What is known of a command line before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// One program with its arguments. It is started without a shell.
    Plain(Vec<String>),
    /// Programs with their arguments, joined by `&&`, `||`, `;` or `|`, or with patterns of file names. A shell starts them.
    Joined(Vec<Vec<String>>),
    /// What it runs can't be told from its words.
    Opaque,
}

/// Commands of the shell itself that start nothing and change no more than the shell's directory.
pub const HARMLESS_BUILTINS: &[&str] = &["cd", "echo", "false", "pwd", "true"];

/// The variable that is a number: the port which a command of the session listens on.
const PORT: &[&str] = &["${PORT}", "$PORT"];

/// Redirections that write no file.
const QUIET_REDIRECTIONS: &[&str] = &[
    "2>&1",
    "1>&2",
    ">&2",
    ">/dev/null",
    "1>/dev/null",
    "2>/dev/null",
    "&>/dev/null",
    "</dev/null",
];

impl CommandLine {
    /// Reads a command line.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let names_port = PORT.iter().any(|name| text.contains(name));
        let form = split(text).map_or(Form::Opaque, Read::into_form);
        Self { text: text.to_owned(), form, names_port }
    }

    /// Returns the programs with their arguments; none if they can't be told.
    pub fn programs(&self) -> &[Vec<String>] {
        match &self.form {
            Form::Plain(words) => std::slice::from_ref(words),
            Form::Joined(all) => all,
            Form::Opaque => &[],
        }
    }
}

/// What was read of a command line.
struct Read {
    commands: Vec<Vec<String>>,
    needs_shell: bool,
}

impl Read {
    fn into_form(mut self) -> Form {
        if self.commands.iter().any(|words| launches(words)) {
            return Form::Opaque;
        }
        // Behind `cd` a path means another program.
        let changed = self.commands.iter().position(|words| words[0] == "cd");
        let is_relative =
            |words: &Vec<String>| words[0].contains('/') && !words[0].starts_with('/');
        if changed.is_some_and(|at| self.commands[at..].iter().any(is_relative)) {
            return Form::Opaque;
        }
        let is_builtin = |words: &Vec<String>| {
            HARMLESS_BUILTINS.contains(&words[0].as_str()) && words[0] != "echo"
        };
        match self.commands.len() {
            1 if !self.needs_shell && !self.commands.iter().any(is_builtin) => {
                Form::Plain(self.commands.swap_remove(0))
            }
            _ => Form::Joined(self.commands),
        }
    }
}

/// Cuts a command line into commands and words as a shell does; `None` if it has anything that a shell would expand.
fn split(text: &str) -> Option<Read> {
    let mut read = Read { commands: Vec::new(), needs_shell: false };
    let (mut words, mut word): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if word.is_none() {
            let rest = &text[at..];
            let variable = || harmless_assignment(rest).filter(|_| words.is_empty());
            if let Some(length) = redirection(rest).or_else(variable) {
                read.needs_shell = true;
                while chars.next_if(|(next, _)| *next < at + length).is_some() {}
                continue;
            }
        }
        // In place of the program it would be none.
        if let Some(name) = port(&text[at..]).filter(|_| !words.is_empty()) {
            read.needs_shell = true;
            word.get_or_insert_default().push_str(name);
            while chars.next_if(|(next, _)| *next < at + name.len()).is_some() {}
            continue;
        }
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\n' | ';' | '|' | '&' => {
                words.extend(word.take());
                let doubled =
                    matches!(c, '|' | '&') && chars.next_if(|(_, next)| *next == c).is_some();
                // A single `&` leaves a process behind; `|&` and `;;` are of a shell.
                if c == '&' && !doubled
                    || chars.peek().is_some_and(|(_, next)| matches!(next, '|' | '&' | ';'))
                {
                    return None;
                }
                read.needs_shell = true;
                read.commands.push(std::mem::take(&mut words));
            }
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()?.1 {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    let (at, c) = chars.next()?;
                    if let Some(name) = port(&text[at..]).filter(|_| !words.is_empty()) {
                        read.needs_shell = true;
                        word.push_str(name);
                        while chars.next_if(|(next, _)| *next < at + name.len()).is_some() {}
                        continue;
                    }
                    match c {
                        '"' => break,
                        '$' | '`' => return None,
                        '\\' => match chars.next()?.1 {
                            c @ ('"' | '\\') => word.push(c),
                            '$' | '`' | '\n' => return None,
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => match chars.next()?.1 {
                '\n' => return None,
                c => word.get_or_insert_default().push(c),
            },
            '$' | '`' | '(' | ')' | '<' | '>' => return None,
            // Only a shell that a person types into replaces it elsewhere.
            '!' if words.is_empty() => return None,
            '#' | '~' if word.is_none() => return None,
            '*' | '?' | '[' | ']' => {
                // A pattern in place of the program could be any program.
                if words.is_empty() {
                    return None;
                }
                read.needs_shell = true;
                word.get_or_insert_default().push(c);
            }
            // A shell leaves `{}` as it is where that is a word.
            '{' if word.is_some() || !is_braces(&text[at..]) => return None,
            '}' if word.as_deref() != Some("{") => return None,
            // An assignment in front of the program changes its environment.
            '=' if words.is_empty() => return None,
            c if c.is_control() => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    // A line may end with `;` or a line break.
    if !words.is_empty() || read.commands.is_empty() {
        read.commands.push(words);
    }
    read.commands
        .iter()
        .all(|words| words.first().is_some_and(|first| !first.is_empty()))
        .then_some(read)
}

/// Returns true for the word `{}` at the beginning of a text.
fn is_braces(text: &str) -> bool {
    let behind = text.strip_prefix("{}").map(|rest| rest.chars().next());
    behind.is_some_and(|next| next.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '|' | '&')))
}

/// Returns how `$PORT` is written at the beginning of a text, if it is there.
fn port(text: &str) -> Option<&'static str> {
    let name = PORT.iter().find(|name| text.starts_with(**name))?;
    let after = text[name.len()..].chars().next();
    let ends = name.ends_with('}') || !after.is_some_and(|c| c == '_' || c.is_ascii_alphanumeric());
    ends.then_some(*name)
}

/// Returns the length of a redirection that writes no file, at the beginning of a text.
fn redirection(text: &str) -> Option<usize> {
    let found = QUIET_REDIRECTIONS.iter().find(|redirection| text.starts_with(**redirection))?;
    let after = text[found.len()..].chars().next();
    after.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '|' | '&')).then_some(found.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> Form {
        CommandLine::parse(text).form
    }

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn plain_words_need_no_shell() {
        assert_eq!(form("cargo test -p a"), Form::Plain(words(&["cargo", "test", "-p", "a"])));
        assert_eq!(
            form(r#" git commit -m 'it is "so"' "a b" c\ d --x=1 "" "#),
            Form::Plain(words(&["git", "commit", "-m", "it is \"so\"", "a b", "c d", "--x=1", ""]))
        );
    }

    #[test]
    fn joined_commands_are_told_apart() {
        assert_eq!(
            form("cd a && cargo test 2>&1 | tail -20; ls *.rs"),
            Form::Joined(vec![
                words(&["cd", "a"]),
                words(&["cargo", "test"]),
                words(&["tail", "-20"]),
                words(&["ls", "*.rs"]),
            ])
        );
        assert_eq!(form("cd a"), Form::Joined(vec![words(&["cd", "a"])]));
        assert_eq!(form("ls 2>/dev/null"), Form::Joined(vec![words(&["ls"])]));
    }

    #[test]
    fn port_is_a_word_but_no_program() {
        for (text, last) in [
            ("curl http://127.0.0.1:$PORT/x?a=1", "http://127.0.0.1:$PORT/x?a=1"),
            ("curl \"http://127.0.0.1:${PORT}\"", "http://127.0.0.1:${PORT}"),
            ("nc localhost $PORT", "$PORT"),
        ] {
            let line = CommandLine::parse(text);
            assert!(line.names_port, "{text}");
            let Form::Joined(programs) = &line.form else { panic!("{text}: {line:?}") };
            assert_eq!(programs[0].last().map(String::as_str), Some(last));
        }
        for text in [
            "$PORT",
            "\"$PORT\" x",
            "x $PORTS",
            "x ${PORT:-$(y)}",
            "x \"$PORT$(y)\"",
            "PORT=$(y) x",
        ] {
            assert_eq!(form(text), Form::Opaque, "{text:?}");
        }
        // Within single quotes it is text, and needs no shell.
        assert_eq!(form("grep '$PORT' x"), Form::Plain(words(&["grep", "$PORT", "x"])));
    }

    #[test]
    fn line_that_only_a_shell_understands_is_opaque() {
        for text in [
            "",
            ";",
            "echo $(rm x)",
            "echo `rm x`",
            "echo \"$HOME\"",
            "A=1 cargo test",
            "server &",
            "a 2>&1file",
            "(a)",
            "{ a; }",
            "ls {a,b}",
            "~/x",
            "| a",
            "a |& b",
            "a ;; b",
            "$X",
            "'' a",
            "sh -c 'rm x'",
            "/bin/bash x",
            "env rm x",
            "ls; sudo rm x",
            "xargs rm",
            "find . -exec rm {} +",
            "find . -delete",
            "git -c core.pager=x log",
            "git --exec-path=/x log",
            "timeout 5 rm x",
            "a 'unclosed",
            "a \\",
            "*",
            "a & b",
            "! x",
            "!x",
            "# a",
            "a \u{7}",
            "exec rm",
            "nohup a",
            "if a; then b; fi",
            "export A=1; a",
            "cd b; ./run",
            "taskset 1 touch x",
            "chrt -o 0 touch x",
            "setpriv touch x",
            "/usr/bin/pkexec x",
            "fd -x rm",
            "tar --checkpoint-action=exec=x -cf a b",
            "compgen -C x",
            "mapfile -C x",
            "printf -v 'a[$(x)]' b",
            "test -v 'a[$(x)]'",
            "git rebase --exec=x main",
        ] {
            assert_eq!(form(text), Form::Opaque, "{text:?}");
        }
    }

    #[test]
    fn harmless_variables_and_settings_of_git_hide_no_program() {
        let joined = |all: &[&[&str]]| Form::Joined(all.iter().map(|one| words(one)).collect());
        assert_eq!(form("PORT=0 CI='' node a.js"), joined(&[&["node", "a.js"]]));
        assert_eq!(form("a && NO_COLOR=1 b"), joined(&[&["a"], &["b"]]));
        let pathspec = ["git", "add", "-A", "--", ".", ":!logs"];
        assert_eq!(form("git add -A -- . \":!logs\""), Form::Plain(words(&pathspec)));
        let git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit"];
        assert_eq!(form("git -c user.name=a -c user.email=a@b commit"), Form::Plain(words(&git)));
        for text in [
            "PATH=x a",
            "LD_PRELOAD=x a",
            "PORT=/x a",
            "PORT=1; a",
            "PORT=1",
            "PORT=$X a",
            "PORT='1 2' a",
            "PORT='1'$(x) a",
            "TERM=$'x' a",
            "a > b",
            "a >> b",
            "a < b",
            "a <<E",
            "a <(b)",
            "find . -name \"\"{},-exec} x",
            "rm ''{},-rf} x",
            "find . -exe[c] x",
            "git bise[c]t run x",
            "git -C . -c alias.q=!x q",
            "git --git-dir . -c alias.q=!x q",
            "git rebase -x a",
            "git rebase -qx a",
            "git --shallow-file x -c alias.q=!x q",
            "git grep -Ox y",
            "git grep -nOx y",
            "git clone -c core.sshCommand=x y",
            "tar -cIcmd -f a b",
            "tar cIf cmd a b",
            "split --filter=x a",
            "sort --comp=x a",
            "rg --pre x a",
            "rsync -ae x a b",
            "fd -Hx rm",
            "git rebase --exe=a",
            "git bisect run x",
            "printf '-va[$(x)]' b",
            "tar -Ix -cf a b",
            "tar --to-comm=x -xf a",
            "rsync -e x a b",
            "git -c core.pager=x -c user.name=a log",
            "git -c user.name=a -c alias.x=!y x",
            "git -c",
        ] {
            assert_eq!(form(text), Form::Opaque, "{text:?}");
        }
    }

    #[test]
    fn no_text_makes_it_panic() {
        let pieces = ["a", " ", "'", "\"", "\\", "|", "&", ";", "é", "2>&1", "{", "}", "\n", "="];
        for one in pieces {
            for two in pieces {
                for three in pieces {
                    let line = CommandLine::parse(&format!("{one}{two}{three}"));
                    assert!(line.programs().iter().all(|words| !words.is_empty()));
                }
            }
        }
    }
}
