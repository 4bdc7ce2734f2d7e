//! A session with a project of its own, and helpers to act on it.

use std::fs;
use std::path::PathBuf;

use docui::testing::Host;
use docui::{Fault, Lod};
use pipemux_memotree::MemoTree;
use pipemux_proto::Value;
use pipemux_proto::app::{Done, Outcome};
use pipemux_proto::projection::{Arg, Piece};
use tempfile::TempDir;

pub struct Fixture {
    pub host: Host<MemoTree>,
    pub dir: TempDir,
}

impl Fixture {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("proj/.git")).unwrap();
        let host = open(&dir, "a").unwrap();
        Self { host, dir }
    }

    /// A tree of four nodes: rope (below it len and split), release.
    pub fn with_nodes() -> Self {
        let mut tree = Self::new();
        let rows = "# Rope\nWhy a rope.\n## Len\nLen counts chars.\n## Split\n# Release\nShip on Friday.\n";
        tree.call("add_many", [("rows", text(rows))]);
        tree
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("proj")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(".memotree").join(name)
    }

    pub fn file(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes a file as another program does.
    pub fn write(&self, name: &str, content: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    /// All files below `.memotree`, with their contents.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.root().join(".memotree")];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for entry in entries {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => files.push((path.clone(), fs::read(&path).unwrap())),
                }
            }
        }
        files.sort();
        files
    }

    pub fn try_call<const N: usize>(
        &mut self,
        action: &str,
        args: [(&'static str, Arg); N],
    ) -> Outcome {
        self.host.call(action, args)
    }

    pub fn call<const N: usize>(&mut self, action: &str, args: [(&'static str, Arg); N]) -> Done {
        match self.try_call(action, args) {
            Outcome::Done(done) => done,
            other => panic!("{action} should be done: {other:?}"),
        }
    }

    pub fn fault<const N: usize>(&mut self, action: &str, args: [(&'static str, Arg); N]) -> Fault {
        match self.try_call(action, args) {
            Outcome::Failed(fault) => fault,
            other => panic!("{action} should fail: {other:?}"),
        }
    }

    /// What a query shows: its brief, and its content below it.
    pub fn ask<const N: usize>(&mut self, action: &str, args: [(&'static str, Arg); N]) -> String {
        let done = self.call(action, args);
        format!("{}\n{}", done.brief, pieces(&done.content))
    }

    pub fn view(&mut self) -> String {
        self.host.text(Lod::Summary, 4_000).unwrap()
    }

    /// Ends the process without saving, and starts another one.
    pub fn restart(self) -> Self {
        let Self { host, dir } = self;
        drop(host);
        let host = open(&dir, "a").unwrap();
        Self { host, dir }
    }
}

fn pieces(content: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Code(code) => format!("```\n{}\n```\n", code.text.trim_end()),
        other => panic!("{other:?}"),
    };
    content.iter().map(piece).collect()
}

/// Opens a session for the project, with a state directory of its own.
pub fn open(dir: &TempDir, session: &str) -> Result<Host<MemoTree>, Fault> {
    let state = dir.path().join(format!("state-{session}"));
    fs::create_dir_all(&state).unwrap();
    Host::open_as("memotree/main", &[], &dir.path().join("proj"), &state)
}

pub fn text(text: &str) -> Arg {
    Value::from(text).into()
}

pub fn texts(texts: &[&str]) -> Arg {
    Value::List(texts.iter().map(|text| Value::from(*text)).collect()).into()
}
