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
    ("git", &["-x", "--exec", "foreach", "bisect", "--upload-pack", "--receive-pack", "--open-files-in-pager"]),
    // A shell runs what is in the index of an array that is named: `printf -v 'a[$(command)]'`.
    ("printf", &["-v"]),
    ("test", &["-v", "-R"]),
    ("[", &["-v", "-R"]),
];
const FD_ARGUMENTS: &[&str] = &["-x", "-X", "--exec", "--exec-batch"];

/// Options before the subcommand of git with a value of its own that names no program.
const GIT_OPTIONS_WITH_VALUE: &[&str] =
    &["-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source"];

/// Options before the subcommand of git that name programs.
const GIT_OPTIONS: &[&str] = &["-c", "--exec-path", "--config-env"];

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
    program == "git" && git_launches(&words[1..])
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
        None if argument.starts_with('-') && argument.len() == 2 => word.starts_with(argument),
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
        } else if GIT_OPTIONS.iter().any(|option| word.starts_with(option)) {
            return true;
        }
    }
    false
}
