//! Runs git in a directory of its own, which has all settings that it obeys.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::{fs, thread};

use crate::Unavailable;
use crate::limits::{ANSWER_BYTES_MAX, COMPLAINT_BYTES, GIT_PATIENCE};
use crate::project::Project;

/// All settings. No others are read: neither the user's, nor the system's, nor those of the
/// project, which could name programs.
const SETTINGS: &str = "[core]
\trepositoryformatversion = 0
\tbare = false
\tfileMode = true
\tsymlinks = true
\tignoreCase = false
\tautocrlf = false
\tfsmonitor = false
\thooksPath = /dev/null
\tattributesFile = /dev/null
\tuntrackedCache = false
\tsplitIndex = false
\tcompression = 1
\tfsync = none
\tpreloadIndex = true
[gc]
\tauto = 0
[maintenance]
\tauto = false
";

/// Git attributes that keep the bytes of each file, overriding any `.gitattributes`.
const ATTRIBUTES: &str = "* -text -filter -ident -working-tree-encoding -eol\n";

/// Git, for one project.
#[derive(Debug)]
pub(crate) struct Git {
    program: PathBuf,
    directory: PathBuf,
    project: Project,
}

/// Whether objects that the project's repository has count as kept. With it, git touches the times
/// of objects there unless it writes a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Objects {
    Own,
    AlsoOfProject,
}

impl Git {
    /// Makes the directory unless it is there.
    ///
    /// # Errors
    /// It can't be written.
    pub fn new(program: PathBuf, directory: &Path, project: Project) -> io::Result<Self> {
        for folder in ["objects", "refs", "info"] {
            fs::create_dir_all(directory.join(folder))?;
        }
        let texts = [
            ("HEAD", "ref: refs/heads/none\n"),
            ("config", SETTINGS),
            ("info/attributes", ATTRIBUTES),
        ];
        for (name, text) in texts {
            fs::write(directory.join(name), text)?;
        }
        // A process that was killed left it behind: nobody else uses this directory.
        let _ = fs::remove_file(directory.join("index.lock"));
        Ok(Self { program, directory: directory.to_owned(), project })
    }

    /// Runs git in the project's topmost folder and returns what it prints.
    ///
    /// # Errors
    /// It can't be run, complains, prints too much or takes too long.
    pub fn run(
        &self,
        args: &[&str],
        objects: Objects,
        input: &[u8],
    ) -> Result<Vec<u8>, Unavailable> {
        let mut child = self.command(args, objects).spawn().map_err(failed)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(Unavailable::Failed("it has no pipes".to_owned()));
        };
        let child = Mutex::new(child);
        let (printed, complaint) = thread::scope(|scope| {
            let (done, is_done) = channel::<()>();
            // It ends when the other side of its channel is dropped.
            let child = &child;
            scope.spawn(move || {
                if is_done.recv_timeout(GIT_PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    let _ = locked(child).kill();
                }
            });
            scope.spawn(move || stdin.write_all(input));
            let complaint = scope.spawn(move || read_up_to(stderr, COMPLAINT_BYTES));
            let printed = read_up_to(stdout, ANSWER_BYTES_MAX);
            if printed.as_ref().is_ok_and(|printed| printed.len() > ANSWER_BYTES_MAX) {
                let _ = locked(child).kill();
            }
            let complaint = complaint.join().ok().and_then(Result::ok).unwrap_or_default();
            drop(done);
            (printed, complaint)
        });
        let status = locked(&child).wait().map_err(failed)?;
        let printed = printed.map_err(failed)?;
        if printed.len() > ANSWER_BYTES_MAX {
            return Err(Unavailable::TooMuch);
        }
        // A folder that it can't read would seem to be empty.
        let complaint = String::from_utf8_lossy(&complaint);
        match complaint.lines().next() {
            None if status.success() => Ok(printed),
            Some(line) => Err(Unavailable::Failed(line.to_owned())),
            None => Err(Unavailable::Failed(status.to_string())),
        }
    }

    fn command(&self, args: &[&str], objects: Objects) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--literal-pathspecs", "--no-optional-locks"]).args(args);
        command.current_dir(&self.project.root).env_clear();
        let own = [
            ("GIT_DIR", self.directory.as_path()),
            ("GIT_WORK_TREE", &self.project.root),
            ("HOME", &self.directory),
            ("XDG_CONFIG_HOME", &self.directory),
            ("GIT_CONFIG_VALUE_0", &self.project.exclude),
        ];
        command.envs(own);
        command.envs([
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("LC_ALL", "C"),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.excludesFile"),
        ]);
        if let Some(theirs) =
            self.project.objects.as_ref().filter(|_| objects == Objects::AlsoOfProject)
        {
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(theirs));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// Returns a path as git reads it in a list: a colon would end it.
fn quoted(path: &Path) -> std::ffi::OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let mut quoted = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            quoted.push(b'\\');
        }
        quoted.push(*byte);
    }
    quoted.push(b'"');
    std::ffi::OsString::from_vec(quoted)
}

fn locked(child: &Mutex<Child>) -> std::sync::MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads one byte more than this at most, and what follows for nobody.
fn read_up_to(pipe: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    let mut pipe = pipe;
    pipe.by_ref().take(most as u64 + 1).read_to_end(&mut read)?;
    Ok(read)
}

pub(crate) fn failed(error: io::Error) -> Unavailable {
    Unavailable::Failed(error.to_string())
}
