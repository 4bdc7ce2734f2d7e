//! A shell that a reader keeps from one command to the next: its folder, variables, functions and
//! options.
//!
//! Each command is a process of its own, as all are, so that the rules read its line as it stands
//! and it ends with what it started. What one leaves is written to a file behind it, and read
//! before the next one. The file is in a folder for temporary files, since that is where a confined
//! command may write.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use docui::{Fault, regular_file, state_file};
use sha2::{Digest, Sha256};

/// Reads what was left before, runs the line, and writes what it leaves; then waits for what the
/// line left running. All on one line, so that bash counts the lines of an error from the line's
/// own first one.
const SCRIPT: &str = r#"
__pipemux_before=$1 __pipemux_after=$2 __pipemux_line=$3 __pipemux_port=$PORT;
__pipemux_save() {
  __pipemux_status=$?;
  trap - EXIT;
  {
    printf '__pipemux_options() {\n'; set +o; printf '}\n';
    set +eux;
    while IFS= read -r __pipemux_name; do
      case $__pipemux_name in
        BASH|BASH_*|BASHOPTS|BASHPID|COMP_*|DIRSTACK|EPOCH*|EUID|FUNCNAME|GROUPS|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE|OPTERR|OSTYPE|PIPESTATUS|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|_|__pipemux_*|PIPEMUX_*|TMPDIR) ;;
        PORT) [ "$PORT" = "$__pipemux_port" ] || declare -p PORT ;;
        *) declare -p "$__pipemux_name" ;;
      esac;
    done < <(compgen -v);
    declare -f;
    printf 'cd -- %q\n' "$PWD";
    umask -p;
    printf '__pipemux_options\n';
  } >|"$__pipemux_after" 2>/dev/null;
  return "$__pipemux_status";
};
if [ -s "$__pipemux_before" ]; then . "$__pipemux_before" >/dev/null 2>&1; fi;
trap __pipemux_save EXIT;
set --;
eval "$__pipemux_line";
__pipemux_save;
if [ -n "$(jobs -pr)" ]; then wait; fi;
exit "$__pipemux_status"
"#;

/// The files in which a command finds and leaves the state of the shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    before: Option<PathBuf>,
    after: PathBuf,
}

impl Shell {
    /// Takes the reader's shell over from its newest command that left one. `temporary` is where
    /// commands may write.
    ///
    /// # Errors
    /// The files can't be written.
    pub fn begin(state_dir: &Path, reader: &str, temporary: &Path) -> Result<Self, Fault> {
        let failed = |error| Fault::failed(format!("the shell's state can't be kept: {error}"));
        let record = record(state_dir, reader);
        let told = regular_file::read_to_string(&record).unwrap_or_default();
        let mut known = told.lines().map(PathBuf::from);
        let (newest, older) = (known.next(), known.next());
        let before = match newest {
            // A command that was killed, or still runs, left none.
            Some(newest) if !is_written(&newest) => older,
            Some(newest) => {
                older.into_iter().for_each(|file| drop(fs::remove_file(file)));
                Some(newest)
            }
            None => None,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("pipemux-shell-{}-{}", std::process::id(), now.as_nanos());
        let after = temporary.join(name);
        // Nobody else's file, whatever lies there.
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&after).map_err(failed)?;
        let lines = [Some(&after), before.as_ref()].map(|path| path.map(|path| path.display()));
        let [after_line, before_line] = lines.map(|line| line.map(|it| it.to_string()));
        let told = [after_line, before_line].map(Option::unwrap_or_default).join("\n");
        state_file::replace(&record, told.as_bytes())?;
        Ok(Self { before, after })
    }

    /// Forgets the reader's shell: the next command begins a new one.
    pub fn forget(state_dir: &Path, reader: &str) {
        let record = record(state_dir, reader);
        let told = regular_file::read_to_string(&record).unwrap_or_default();
        told.lines().for_each(|file| drop(fs::remove_file(file)));
        let _ = fs::remove_file(record);
    }

    /// Returns how bash is started to run a line in it.
    pub fn arguments(&self, line: &str) -> Vec<OsString> {
        let before = self.before.clone().unwrap_or_default();
        let script = SCRIPT.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = ["bash", "-c", &script, "bash"].map(OsString::from);
        words.into_iter().chain([before.into(), self.after.clone().into(), line.into()]).collect()
    }

    /// True once the line has ended, even if something that it started in the background goes on.
    pub fn is_left(&self) -> bool {
        is_written(&self.after)
    }
}

fn is_written(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|file| file.is_file() && file.len() > 0)
}

fn record(state_dir: &Path, reader: &str) -> PathBuf {
    let digest = Sha256::digest(reader);
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    state_dir.join(format!("shell-{hex}"))
}
