//! The files that a program needs to run: itself, its interpreter and loader, and the libraries
//! beside them.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::kept::{KeptPath, Probe};

/// The maximum number of interpreters between a script and a program of the machine.
const CHAIN_MAX: usize = 4;
/// Longest first line of a script that is read, in bytes; the kernel reads as much.
const LINE_MAX: usize = 256;
/// The program to which the kernel passes a script without a first line.
const SHELL: &str = "/bin/sh";
/// Directories beside a directory of programs that hold what the programs read.
const BESIDE_PROGRAMS: [&str; 4] = ["lib", "lib64", "libexec", "share"];
/// Files by which an environment of an interpreter's own is known.
const ENVIRONMENT_FILES: [&str; 2] = ["pyvenv.cfg", "conda-meta"];
/// A directory of programs that find and start the program of the same name.
const SHIMS: &str = "shims";

/// The number of programs whose needs are remembered; each keeps a few descriptors open.
const PROGRAMS_KEPT: usize = 32;

/// The files that a program needs.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// Files that are executed, without symlinks.
    pub programs: Vec<KeptPath>,
    /// Directories and files that are read.
    pub read: Vec<KeptPath>,
    /// True if the program does nothing but find another one and start it.
    pub starts_others: bool,
}

/// The needs of programs, remembered until a needed file changes.
#[derive(Debug, Default)]
pub(super) struct Programs {
    known: Vec<KnownProgram>,
}

#[derive(Debug)]
struct KnownProgram {
    command: Vec<String>,
    probe: Probe,
    needs: Needs,
}

impl Programs {
    /// Finds out what a program needs. The `files` are its candidate paths; its `args` may name a
    /// script; `path` is its search path.
    pub(super) fn needs(
        &mut self,
        files: &[String],
        args: &[String],
        cwd: &str,
        path: &str,
    ) -> &mut Needs {
        let command: Vec<String> = [cwd, path]
            .into_iter()
            .chain(files.iter().chain(args).map(String::as_str))
            .map(str::to_owned)
            .collect();
        let known = self.known.iter().position(|known| known.command == command);
        let found = known.map(|at| self.known.remove(at)).filter(|known| known.probe.still_holds());
        let found = found.unwrap_or_else(|| {
            let mut search = Search::default();
            search.run(files, args, cwd, path);
            let (needs, probe) = search.finish();
            KnownProgram { command, probe, needs }
        });
        // The one that was used longest ago is first.
        if self.known.len() >= PROGRAMS_KEPT {
            self.known.remove(0);
        }
        &mut self.known.push_mut(found).needs
    }
}

/// A search for the files that a program needs.
#[derive(Debug, Default)]
struct Search {
    probe: Probe,
    programs: Vec<PathBuf>,
    read: Vec<PathBuf>,
    starts_others: bool,
}

impl Search {
    fn run(&mut self, files: &[String], args: &[String], cwd: &str, path: &str) {
        let mut files = files.iter().map(|file| Path::new(cwd).join(file));
        if let Some(program) = files.find(|file| self.probe.is_file(file)) {
            self.add_program(&program, path, CHAIN_MAX);
        }
        // What an interpreter is to run: its directory, because modules lie beside a script.
        for script in args.iter().map(|arg| Path::new(cwd).join(arg)) {
            if self.probe.is_file(&script) {
                self.add_file_with_directory(&script);
            }
        }
    }

    fn finish(mut self) -> (Needs, Probe) {
        // Those have rules already.
        self.read.retain(|path| !path.starts_with("/usr"));
        self.read.sort();
        self.read.dedup();
        let kept = |paths: Vec<PathBuf>| paths.into_iter().map(KeptPath::new).collect();
        let needs = Needs {
            programs: kept(self.programs),
            read: kept(self.read),
            starts_others: self.starts_others,
        };
        (needs, self.probe)
    }

    fn add_program(&mut self, program: &Path, path: &str, left: usize) {
        self.probe.look(program);
        let Ok(found) = program.canonicalize() else { return };
        for file in [program, &found] {
            self.add_surroundings(file);
        }
        self.add_file_with_directory(&found);
        let next = self.interpreter(&found, path);
        if !self.programs.contains(&found) {
            self.programs.push(found);
        }
        for next in next.into_iter().filter(|_| left > 0) {
            self.add_program(&next, path, left - 1);
        }
    }

    /// Adds what lies beside the directory of a program.
    fn add_surroundings(&mut self, program: &Path) {
        let Some(directory) = program.parent() else { return };
        let name = directory.file_name().unwrap_or_default();
        let Some(prefix) =
            directory.parent().filter(|_| ["bin", "sbin", SHIMS].iter().any(|it| name == *it))
        else {
            return;
        };
        // What lies beside the system's programs has rules already.
        if [Path::new("/"), Path::new("/usr")].contains(&prefix) {
            return;
        }
        if name == SHIMS {
            self.starts_others = true;
        }
        let mut marks = ENVIRONMENT_FILES.iter().map(|file| prefix.join(file));
        if name == SHIMS || marks.any(|file| self.probe.look(&file).is_some()) {
            self.read.push(prefix.to_owned());
        }
        let config = prefix.join(ENVIRONMENT_FILES[0]);
        self.probe.look(&config);
        if let Some(home) = environment_home(&config) {
            self.add_libraries(&home);
        }
        self.add_libraries(prefix);
    }

    fn add_libraries(&mut self, prefix: &Path) {
        for path in BESIDE_PROGRAMS.iter().map(|name| prefix.join(name)) {
            if self.probe.is_directory(&path) {
                self.read.extend(path.canonicalize());
            }
        }
    }

    fn add_file_with_directory(&mut self, file: &Path) {
        let Ok(found) = file.canonicalize() else { return };
        self.read.extend(found.parent().map(Path::to_owned));
        self.read.push(found);
    }

    /// Returns what the kernel starts to run a file: a script's interpreter, with what that one
    /// finds for it, or a program's loader.
    fn interpreter(&mut self, file: &Path, path: &str) -> Vec<PathBuf> {
        let mut head = [0; LINE_MAX];
        let Ok(mut opened) = File::open(file) else { return Vec::new() };
        let length = opened.read(&mut head).unwrap_or_default();
        let head = &head[..length];
        if head.starts_with(b"\x7fELF") {
            return loader(&opened, head).into_iter().collect();
        }
        let Some(line) = head.strip_prefix(b"#!") else { return vec![PathBuf::from(SHELL)] };
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next() else { return Vec::new() };
        let mut found = vec![PathBuf::from(first)];
        if Path::new(first).file_name().is_some_and(|name| name == "env")
            && let Some(name) = words.find(|word| !word.starts_with('-') && !word.contains('='))
        {
            let mut all = path.split(':').map(|directory| Path::new(directory).join(name));
            found.extend(all.find(|path| self.probe.is_file(path)));
        }
        found
    }
}

/// Returns the command that the first line of a script names by `env`, with the script's path as
/// its last argument: the interpreter that `env` would find, and start as a second program. None
/// for all that the kernel starts by itself.
pub(crate) fn resolved_script(files: &[String], cwd: &str, path: &str) -> Option<Vec<String>> {
    let mut all = files.iter().map(|file| Path::new(cwd).join(file));
    let script = all.find(|file| file.is_file())?;
    let mut head = [0; LINE_MAX];
    let length = File::open(&script).ok()?.read(&mut head).ok()?;
    let line = head[..length].strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let env = Path::new(words.next()?);
    let mut words = words.skip_while(|word| *word == "-S").peekable();
    // With a variable or an option of its own `env` does more than find a program.
    let name = words.next().filter(|name| !name.starts_with('-') && !name.contains('='))?;
    let mut found = path.split(':').map(|directory| Path::new(directory).join(name));
    let found = found
        .find(|path| path.is_file())
        .filter(|_| env.file_name().is_some_and(|it| it == "env"))?;
    let words = words.map(str::to_owned);
    let script = script.to_str()?.to_owned();
    Some([found.to_str()?.to_owned()].into_iter().chain(words).chain([script]).collect())
}

/// Returns the prefix of the interpreter that a virtual environment was made from.
fn environment_home(config: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(config).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("home")?.trim().strip_prefix('='))?;
    Path::new(line.trim()).parent().map(Path::to_owned)
}

/// Returns the loader that a program of 64 bits names, if it has any.
fn loader(file: &File, head: &[u8]) -> Option<PathBuf> {
    const PT_INTERP: u32 = 3;
    const ENTRY: u64 = 56;
    let word =
        |bytes: &[u8], at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (table, count) = (word(head, 32)?, u16::from_le_bytes(head.get(56..58)?.try_into().ok()?));
    for number in 0..u64::from(count.min(64)) {
        let mut entry = [0; ENTRY as usize];
        file.read_exact_at(&mut entry, table.checked_add(number * ENTRY)?).ok()?;
        if entry[..4] == PT_INTERP.to_le_bytes() {
            let (at, length) = (word(&entry, 8)?, word(&entry, 32)?.min(LINE_MAX as u64) as usize);
            let mut name = vec![0; length];
            file.read_exact_at(&mut name, at).ok()?;
            let name = name.split(|byte| *byte == 0).next()?;
            return Some(PathBuf::from(std::str::from_utf8(name).ok()?));
        }
    }
    None
}
