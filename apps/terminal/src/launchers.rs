//! Which commands run what their arguments say, so that their words don't tell what runs.

use crate::harmless::is_git_setting;

/// Programs that run another program which their arguments name, or code in their arguments.
#[rustfmt::skip]
const LAUNCHERS: &[&str] = &[
    ".", "ash", "bash", "bind", "builtin", "busybox", "bwrap", "capsh", "choom", "chroot", "chrt", "command", "compgen",
    "complete", "csh", "dash", "dbus-run-session", "doas", "entr", "env", "eval", "exec", "faketime", "fakeroot", "fc", "fish",
    "flock", "gdb", "getopts", "ionice", "jobs", "ksh", "linux32", "linux64", "ltrace", "mapfile", "nice", "nohup",
    "nsenter", "numactl", "parallel", "perf", "pkexec", "prlimit", "readarray", "rlwrap", "runuser", "script", "setarch",
    "setpriv", "setsid", "sh", "source", "ssh", "stdbuf", "strace", "su", "sudo", "systemd-run", "taskset", "tcsh",
    "time", "timeout", "tmux", "toybox", "trap", "unbuffer", "unshare", "valgrind", "wait", "watch", "xargs", "xvfb-run", "zsh",
];

/// Words of the shell that begin more than one command, or change what later words mean.
#[rustfmt::skip]
const SHELL_WORDS: &[&str] = &[
    "alias", "case", "coproc", "declare", "do", "done", "elif", "else", "enable", "esac", "export", "fi", "for",
    "function", "hash", "if", "in", "let", "local", "popd", "pushd", "read", "readonly", "select", "set", "shopt",
    "then", "typeset", "unalias", "unset", "until", "while",
];

/// Arguments with which a program that else only looks runs another one, or removes files.
#[rustfmt::skip]
const LAUNCHING_ARGUMENTS: &[(&str, &[&str])] = &[
    ("find", &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]),
    ("fd", FD_ARGUMENTS),
    ("fdfind", FD_ARGUMENTS),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("tar", &["--checkpoint-action", "--to-command", "--use-compress-program", "-I", "--info-script",
              "--new-volume-script", "-F", "--rsh-command"]),
    ("git", &["-x", "-O", "--exec", "foreach", "bisect", "--upload-pack", "--receive-pack", "--open-files-in-pager"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("sort", &["--compress-program"]),
    ("split", &["--filter"]),
    // A shell runs what is in the index of an array that is named: `printf -v 'a[$(command)]'`.
    ("printf", &["-v"]),
    ("test", &["-v", "-R"]),
    ("[", &["-v", "-R"]),
];
const FD_ARGUMENTS: &[&str] = &["-x", "-X", "--exec", "--exec-batch"];

/// Options before the subcommand of git with a value of its own that names no program.
const GIT_OPTIONS_WITH_VALUE: &[&str] =
    &["-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source"];

/// Options before the subcommand of git that only say how it works. Others may name a program.
#[rustfmt::skip]
const GIT_OPTIONS: &[&str] = &[
    "--bare", "--glob-pathspecs", "--help", "--icase-pathspecs", "--literal-pathspecs", "--no-advice", "--no-lazy-fetch",
    "--no-optional-locks", "--no-pager", "--no-replace-objects", "--noglob-pathspecs", "--version", "-P", "-h", "-v",
];

/// Returns true if a command runs what its arguments say.
pub fn launches(words: &[String]) -> bool {
    let program = words[0].rsplit('/').next().unwrap_or_default();
    if LAUNCHERS.contains(&program) || SHELL_WORDS.contains(&program) {
        return true;
    }
    let has = |names: &[&str]| {
        words[1..].iter().any(|word| names.iter().any(|name| may_be_argument(word, name)))
    };
    if LAUNCHING_ARGUMENTS.iter().any(|(name, arguments)| *name == program && has(arguments)) {
        return true;
    }
    match program {
        "git" => git_launches(&words[1..]),
        // Its first word needs no dash: `tar cIf cmd a b`.
        "tar" => words.get(1).is_some_and(|word| word.contains(['I', 'F']) && !word.contains('/')),
        _ => false,
    }
}

/// Returns true if a word is an argument, begins with it as options do (`-Ix`, `--exec=x`, `--exe`), or is a pattern of
/// file names that becomes it once there is such a file.
fn may_be_argument(word: &str, argument: &str) -> bool {
    if let Some(at) = word.find(['*', '?', '[']) {
        let begin = &word[..at];
        return argument.starts_with(begin)
            || (begin.starts_with('-') && argument.starts_with('-'));
    }
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    match argument.strip_prefix("--") {
        Some(_) => name.len() > 3 && argument.starts_with(name),
        // Single letters may stand together, and before a value: `-Hx`, `-Ix`.
        None if argument.starts_with('-') && argument.len() == 2 => {
            word.starts_with('-') && !word.starts_with("--") && word.contains(&argument[1..])
        }
        None => name == argument,
    }
}

/// Returns true if an option in front of git's subcommand may name a program.
fn git_launches(arguments: &[String]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next().filter(|word| word.starts_with('-')) {
        let value = words.clone().next();
        let is_setting = word == "-c" && value.is_some_and(|setting| is_git_setting(setting));
        if is_setting || GIT_OPTIONS_WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if !is_harmless_git_option(word) {
            return true;
        }
    }
    // A clone is configured by an option behind its subcommand.
    arguments.iter().any(|word| word == "clone")
        && arguments.iter().any(|word| word.starts_with("-c") || word.starts_with("--config"))
}

fn is_harmless_git_option(word: &str) -> bool {
    let value = word.split_once('=');
    GIT_OPTIONS.contains(&word)
        || value.is_some_and(|(name, _)| GIT_OPTIONS_WITH_VALUE.contains(&name))
}
