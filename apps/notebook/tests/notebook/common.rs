//! A notebook session with a store of its own, and helpers to act on it.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::PathBuf;

use docui::testing::Host;
use docui::{Anchor, Fault, Lod, Text};
use pipemux_notebook::action::{Entry, LevelName, Named, Rest, What};
use pipemux_notebook::{Action, Notebook};
use pipemux_proto::Value;
use pipemux_proto::app::{Done, Outcome};
use pipemux_proto::projection::Piece;
use tempfile::TempDir;

pub struct Fixture {
    pub host: Host<Notebook>,
    pub dir: TempDir,
}

pub const STORE: &str = "notes.db";

impl Fixture {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let host = open(&dir, "a", &[STORE]).unwrap();
        Self { host, dir }
    }

    /// Ends the process without saving, and starts another one.
    pub fn restart(self) -> Self {
        let Self { host, dir } = self;
        drop(host);
        let host = open(&dir, "a", &[STORE]).unwrap();
        Self { host, dir }
    }

    pub fn store(&self) -> PathBuf {
        self.dir.path().join(STORE)
    }

    pub fn done(&mut self, action: Action) -> Done {
        done(&mut self.host, action)
    }

    pub fn brief(&mut self, action: Action) -> String {
        self.done(action).brief
    }

    pub fn fault(&mut self, action: Action) -> Fault {
        match self.host.invoke(&action) {
            Outcome::Failed(fault) => fault,
            other => panic!("{action:?} should fail: {other:?}"),
        }
    }

    /// Returns what a query shows: its brief, and its content below it.
    pub fn ask(&mut self, action: Action) -> String {
        let done = self.done(action);
        let mut text = format!("{}\n", done.brief);
        for piece in &done.content {
            match piece {
                Piece::Text(plain) => text += plain,
                Piece::Object(object) => text += &format!("[{}](obj:{})", object.label, object.key),
                Piece::Link(link) => text += &format!("[{}](link:{})", link.label, link.action),
                Piece::Code(code) => text += &format!("```\n{}\n```\n", code.text.trim_end()),
                Piece::Embed(embed) => panic!("{embed:?}"),
            }
        }
        text
    }

    /// Returns the titles that a query lists, by the keys of the entries, in order.
    pub fn listed(&mut self, action: Action) -> Vec<String> {
        let value = self.done(action).value.map(|value| value.to_value().unwrap());
        let Some(Value::List(titles)) = value else { return Vec::new() };
        let title = |title: Value| match title {
            Value::Str(title) => title,
            other => panic!("{other}"),
        };
        titles.into_iter().map(title).collect()
    }

    /// Carries out an action as a call gives it, with names in place of refs.
    pub fn call(&mut self, action: &str, args: &[(&'static str, &str)]) -> Outcome {
        let args = args.iter().map(|(name, value)| (*name, Value::from(*value).into()));
        self.host.call(action, args)
    }

    pub fn text(&mut self) -> String {
        self.host.text(Lod::Summary, 10_000).unwrap()
    }

    pub fn add(&mut self, title: &str, text: &str, tags: &[&str]) -> Done {
        self.done(add(title, text, tags))
    }

    /// Returns the keys of the entries that the view shows, in order.
    pub fn shown(&mut self) -> Vec<String> {
        let projection = self.host.project(Lod::Summary, 10_000).unwrap();
        let pieces = projection.content.into_iter();
        pieces
            .filter_map(|piece| match piece {
                Piece::Object(object) => Some(object.key),
                _ => None,
            })
            .collect()
    }
}

/// Opens a session whose working directory is `dir`, with a state directory of its own in there.
pub fn open(dir: &TempDir, session: &str, args: &[&str]) -> Result<Host<Notebook>, Fault> {
    let state = dir.path().join(format!("state-{session}"));
    std::fs::create_dir_all(&state).unwrap();
    Host::open_as("notebook/main", args, dir.path(), &state)
}

pub fn done(host: &mut Host<Notebook>, action: Action) -> Done {
    match host.invoke(&action) {
        Outcome::Done(done) => done,
        other => panic!("{action:?} should be done: {other:?}"),
    }
}

pub fn add(title: &str, text: &str, tags: &[&str]) -> Action {
    Action::Add {
        title: title.into(),
        text: text.into(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        summary: None,
        gist: String::new(),
    }
}

pub fn at(id: u64, rev: u64) -> Anchor<Entry> {
    Anchor::new(format!("n{id}"), rev)
}

pub fn edit(id: u64, rev: u64, text: &str) -> Action {
    Action::Edit { entry: at(id, rev), text: text.into() }
}

pub fn append(id: u64, rev: u64, text: &str) -> Action {
    Action::Append { entry: at(id, rev), text: text.into() }
}

pub fn show(what: &str) -> Action {
    show_at(what, None, Rest::None)
}

pub fn show_at(what: &str, level: Option<LevelName>, rest: Rest) -> Action {
    Action::Show { what: what.into(), level, rest: Some(rest), skip: None }
}

pub fn titles(titles: &[&str]) -> What {
    What::List(titles.iter().map(|title| Named::Name((*title).to_owned())).collect())
}

pub fn expand(id: u64, rev: u64) -> Action {
    Action::Expand { entries: vec![at(id, rev)], level: None }
}

pub fn search(query: &str) -> Action {
    Action::Search { words: query.into(), skip: None }
}

pub fn filter(tag: &str) -> Action {
    Action::Filter { tags: vec![tag.into()], skip: None }
}

pub fn copied(text: &str, session: &str, label: &str) -> Text {
    Text { text: text.into(), from: Some((session.into(), label.into())) }
}
