//! A file browser with git: a PipeMux app around an existing directory and an existing program.
//!
//! A file's key is its path, so that a ref to it can be written as `obj:file:src/main.ts`.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use docui::{Anchor, App, ArgType, Context, Done, Fault, Found, Lod, Object, Opening, Reply};
use docui::{Value, View, ViewRequest, tokens};
use pipemux_proto::limits::{COPY_MAX, KEY_MAX};
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::Type;

/// Most files that are listed.
pub const FILES_MAX: usize = 2000;
/// Most lines of git's output in an answer.
const OUTPUT_LINES_MAX: usize = 40;

docui::kind!(/** A file. */ pub File = "file");
docui::actions! {
    /// The actions on a working tree.
    #[allow(clippy::enum_variant_names)]
    pub enum Action {
        /// Shows `git status`.
        safe listed GitStatus = git_status() -> String;
        /// Lists the staged files.
        safe listed GitStaged = git_staged() -> Vec<String>;
        /// Stages files as they are now, given as refs, paths or both.
        changes listed GitStage = git_stage(files: Vec<TreeFile>);
        /// Commits what is staged, or only these files of it.
        changes listed GitCommit = git_commit(message: String, files: Vec<TreeFile> = []);
    }
}

/// A file, given as a ref or as its path.
#[derive(Debug, Clone, PartialEq)]
pub enum TreeFile {
    /// A path from the tree's root, wherever the caller is: a ref, or a result of `git_staged`.
    FromRoot(String),
    /// A path as a reader wrote it, from the caller's directory.
    Written(String),
}

impl ArgType for TreeFile {
    const IS_PATH: bool = true;

    fn ty() -> Type {
        // With an anchor type, paths would be refused. With a string type, the app's own refs would
        // be replaced by absolute paths.
        Type::Any
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        match arg {
            Arg::Ref(_) => Anchor::<File>::from_arg(arg).map(|file| Self::FromRoot(file.key)),
            Arg::Copied(_) => String::from_arg(arg).map(Self::FromRoot),
            _ => String::from_arg(arg).map(Self::Written),
        }
    }
    fn to_arg(&self) -> Arg {
        match self {
            Self::FromRoot(path) => Anchor::<File>::new(path, 0).to_arg(),
            Self::Written(path) => Value::from(path.as_str()).into(),
        }
    }
}

/// A working tree and its last scan.
pub struct Ide {
    root: PathBuf,
    session: String,
    tree: Tree,
}

/// The files of a working tree and their state in git.
#[derive(Default, PartialEq)]
struct Tree {
    /// Paths relative to the root, sorted.
    files: Vec<String>,
    /// The paths of staged changes, including deletions.
    staged: Vec<String>,
    /// The paths that differ from what is staged or committed.
    changed: Vec<String>,
}

impl Ide {
    fn scan(&self) -> Tree {
        let (mut files, mut under) = (Vec::new(), vec![String::new()]);
        while let Some(directory) = under.pop().filter(|_| files.len() < FILES_MAX) {
            for entry in fs::read_dir(self.root.join(&directory)).into_iter().flatten().flatten() {
                let Ok(name) = entry.file_name().into_string() else { continue };
                let path = format!("{directory}{name}");
                match entry.file_type() {
                    Ok(of) if of.is_dir() && name != ".git" && name != "target" => {
                        under.push(path + "/");
                    }
                    // Symbolic links are skipped: their targets may be outside the tree.
                    Ok(of) if of.is_file() && path.len() <= KEY_MAX => files.push(path),
                    _ => {}
                }
            }
        }
        files.sort();
        files.truncate(FILES_MAX);
        // Without git the files are still listed.
        let staged = self.staged().unwrap_or_default();
        Tree { files, staged, changed: self.changed().unwrap_or_default() }
    }

    fn staged(&self) -> Result<Vec<String>, Fault> {
        let listed = ["diff", "--cached", "--relative", "--no-renames", "--name-only", "-z"];
        self.git(&listed, &[]).map(paths)
    }

    fn changed(&self) -> Result<Vec<String>, Fault> {
        let listed = ["ls-files", "-z", "--modified", "--others", "--exclude-standard"];
        self.git(&listed, &[]).map(paths)
    }

    /// Runs git in the root with these files. When it fails, its output is the error message.
    fn git(&self, args: &[&str], files: &[String]) -> Result<String, Fault> {
        let mut git = Command::new("git");
        // Reading the tree must not take locks that would block somebody working in it.
        git.args(["--no-optional-locks", "--literal-pathspecs", "-C"]).arg(&self.root).args(args);
        git.arg("--").args(files).stdin(Stdio::null()).env("GIT_TERMINAL_PROMPT", "0");
        let unable = |error| Fault::failed(format!("git can't be run: {error}"));
        let ended = git.output().map_err(unable)?;
        let output = String::from_utf8_lossy(&ended.stdout).into_owned();
        if ended.status.success() {
            return Ok(output);
        }
        let output = format!("{}{output}", String::from_utf8_lossy(&ended.stderr));
        Err(Fault::failed(format!("git {}: {}", args[0], head(output.trim()))))
    }

    fn commit(&self, message: &str, files: &[String]) -> Result<Done, Fault> {
        // With paths, git commits the files as they are on disk, so they must equal what was
        // staged.
        if !files.is_empty() && self.git(&["diff", "--quiet"], files).is_err() {
            return Err(Fault::refused("some of these files differ from their staged versions")
                .hint(
                    "stage them again with git_stage, or leave out files to commit what is staged",
                ));
        }
        let message = format!("--message={message}");
        self.git(&["commit", "--quiet", &message], files)?;
        let commit = self.git(&["log", "-1", "--format=%h %s"], &[])?;
        Ok(Done::new(commit.trim()))
    }
}

impl App for Ide {
    type Action = Action;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let (root, session) = (directory(opening)?, opening.session.clone());
        Ok(Self { root, session, tree: Tree::default() })
    }

    fn attach(&mut self, opening: &Opening) -> Result<Vec<String>, Fault> {
        if opening.args.is_empty() || directory(opening)? == self.root {
            return Ok(Vec::new());
        }
        Err(Fault::refused(format!("{} is already open here", self.root.display()))
            .hint("open another directory in its own session: pipemux open ide/other DIRECTORY"))
    }

    fn update(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        let plain = |files: Vec<TreeFile>| -> Vec<String> {
            let path = |file| match file {
                TreeFile::FromRoot(path) => path,
                TreeFile::Written(path) => {
                    let path = context.path(&path);
                    path.strip_prefix(&self.root).unwrap_or(&path).to_string_lossy().into_owned()
                }
            };
            files.into_iter().map(path).collect()
        };
        let done = match action {
            Action::GitStatus {} => {
                let status = self.git(&["status", "--short", "--branch"], &[])?;
                let (branch, files) = status.split_once('\n').unwrap_or((&status, ""));
                Done::new(branch.trim_start_matches("## ")).detail(head(files)).value(&*status)
            }
            Action::GitStaged {} => {
                let staged = self.staged()?;
                Done::new(count(staged.len())).detail(head(&staged.join("\n"))).value(staged)
            }
            Action::GitStage { files } => {
                self.git(&["add"], &plain(files))?;
                Done::new(format!("{} staged", count(self.staged()?.len())))
            }
            Action::GitCommit { message, files } => self.commit(&message, &plain(files))?,
        };
        self.refresh();
        Ok(done.into())
    }

    fn view(&self, request: &ViewRequest) -> View {
        let Tree { files, staged, changed } = &self.tree;
        let (root, all) = (self.root.display(), count(files.len()));
        let git = format!("{} staged, {} changed", staged.len(), changed.len());
        let mut view = View::new(format!("{root} · {all} · {git}"));
        if request.lod == Lod::Gist {
            return view;
        }
        view.text("## 文件浏览器\n");
        let mut left = request.budget.saturating_sub(100);
        for (index, path) in files.iter().enumerate() {
            let cost = tokens::estimate(path) + 8;
            if cost > left {
                let (rest, more) = ((files.len() - index) as u64, request.budget * 4);
                let call = format!("pipemux view ide/{} --budget {more}", self.session);
                view.text(format!("… {rest} more: {call}\n")).hidden(rest * cost);
                break;
            }
            left -= cost;
            view.text("- ").object(Object::new(path, path).ty("file").show_key());
            view.text(if staged.contains(path) { " staged" } else { "" });
            view.text(if changed.contains(path) { " changed\n" } else { "\n" });
        }
        if !staged.is_empty() {
            view.text("\n## 快速操作 (Action Links)\n- ");
            // What is staged when the link is clicked, not what is staged now.
            let commit = "git_commit(message='Update', files=git_staged())";
            view.code_link("Git: Commit All", commit).text("\n");
        }
        view
    }

    fn find(&self, key: &str) -> Found {
        let found = self.tree.files.binary_search_by(|path| path.as_str().cmp(key));
        found.map_or(Found::Gone(None), |_| Found::Here(0))
    }

    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        let unreadable = |error| Fault::failed(format!("{key}: {error}"));
        let file = fs::File::open(self.root.join(key)).map_err(unreadable)?;
        let mut text = Vec::new();
        file.take(COPY_MAX as u64 + 1).read_to_end(&mut text).map_err(unreadable)?;
        let long = || Fault::refused(format!("{key} has more than {} KiB", COPY_MAX / 1024));
        if text.len() > COPY_MAX { Err(long()) } else { Ok(text) }
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.root.join(key))
    }

    fn refresh(&mut self) -> bool {
        let before = std::mem::take(&mut self.tree);
        self.tree = self.scan();
        before != self.tree
    }
}

fn directory(opening: &Opening) -> Result<PathBuf, Fault> {
    let path = opening.path(opening.args.first().map_or("", String::as_str));
    let root = path.canonicalize().ok().filter(|root| root.is_dir() && opening.args.len() < 2);
    root.ok_or_else(|| Fault::usage("expected one directory").hint("pipemux open ide ."))
}

fn paths(separated: String) -> Vec<String> {
    separated.split_terminator('\0').map(Into::into).collect()
}

fn head(text: &str) -> String {
    let lines: Vec<_> = text.lines().take(OUTPUT_LINES_MAX).collect();
    lines.join("\n") + if text.lines().count() > OUTPUT_LINES_MAX { "\n…" } else { "" }
}

fn count(files: usize) -> String {
    let more = if files == FILES_MAX { " or more" } else { "" };
    format!("{files} file{}{more}", if files == 1 { "" } else { "s" })
}

fn main() -> std::process::ExitCode {
    docui::run::<Ide>()
}
