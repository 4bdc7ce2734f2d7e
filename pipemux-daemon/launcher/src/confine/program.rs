//! The files that a program needs to run: itself, its interpreter and loader, and the libraries beside them.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// How many interpreters may stand between a script and a program of the machine.
const CHAIN_MAX: usize = 4;
/// Longest first line of a script that is read, in bytes; the kernel reads as much.
const LINE_MAX: usize = 256;
/// What the kernel hands a script without a first line to.
const SHELL: &str = "/bin/sh";
/// Directories beside a directory of programs that hold what the programs read.
const BESIDE_PROGRAMS: [&str; 4] = ["lib", "lib64", "libexec", "share"];
/// Files by which an environment of an interpreter's own is known.
const ENVIRONMENT_FILES: [&str; 2] = ["pyvenv.cfg", "conda-meta"];
/// A directory of programs that find and start the program of the same name.
const SHIMS: &str = "shims";

/// The files that a program needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// Files that are executed, without symlinks.
    pub programs: Vec<PathBuf>,
    /// Directories and files that are read.
    pub read: Vec<PathBuf>,
    /// True if the program does nothing but find another one and start it.
    pub starts_others: bool,
}

/// Finds out what a program needs. The `files` are its candidate paths; its `args` may name a script; `path` is its
/// search path.
pub(super) fn needs(files: &[String], args: &[String], cwd: &str, path: &str) -> Needs {
    let mut needs = Needs::default();
    if let Some(program) =
        files.iter().map(|file| Path::new(cwd).join(file)).find(|it| it.is_file())
    {
        needs.add_program(&program, path, CHAIN_MAX);
    }
    // What an interpreter is to run: its directory, because modules lie beside a script.
    for script in args.iter().map(|arg| Path::new(cwd).join(arg)).filter(|it| it.is_file()) {
        needs.add_file_with_directory(&script);
    }
    needs
}

impl Needs {
    fn add_program(&mut self, program: &Path, path: &str, left: usize) {
        let Ok(found) = program.canonicalize() else { return };
        for file in [program, &found] {
            self.add_surroundings(file);
        }
        self.add_file_with_directory(&found);
        let next = interpreter(&found, path);
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
        if name == SHIMS {
            self.starts_others = true;
        }
        if name == SHIMS || ENVIRONMENT_FILES.iter().any(|file| prefix.join(file).exists()) {
            self.read.push(prefix.to_owned());
        }
        if let Some(home) = environment_home(&prefix.join(ENVIRONMENT_FILES[0])) {
            self.add_libraries(&home);
        }
        self.add_libraries(prefix);
    }

    fn add_libraries(&mut self, prefix: &Path) {
        let beside = BESIDE_PROGRAMS.iter().map(|name| prefix.join(name));
        self.read.extend(beside.filter(|path| path.is_dir()));
    }

    fn add_file_with_directory(&mut self, file: &Path) {
        let Ok(found) = file.canonicalize() else { return };
        self.read.extend(found.parent().map(Path::to_owned));
        self.read.push(found);
    }
}

/// Returns the prefix of the interpreter that a virtual environment was made from.
fn environment_home(config: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(config).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("home")?.trim().strip_prefix('='))?;
    Path::new(line.trim()).parent().map(Path::to_owned)
}

/// Returns what the kernel starts to run a file: a script's interpreter, with what that one finds for it, or a
/// program's loader.
fn interpreter(file: &Path, path: &str) -> Vec<PathBuf> {
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
        let all = path.split(':').map(|directory| Path::new(directory).join(name));
        found.extend(all.into_iter().find(|path| path.is_file()));
    }
    found
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
