//! A to-do list for PipeMux: a model, what it shows, what it does.

use std::path::PathBuf;

use docui::undo::Undo;
use docui::{
    Anchor, App, Change, Context, Done, Fault, Found, Lod, Object, Opening, Reply, View,
    ViewRequest, state_file,
};
use serde::{Deserialize, Serialize};

docui::kind!(Item = "item");
docui::actions! {
    /// What readers can do.
    enum Action {
        /// Adds an item.
        changes featured Add = add(
            /// What is to be done.
            text: String,
        ), input;
        /// Changes the text of an item.
        changes listed Edit = edit(item: Anchor<Item>, text: String);
        /// Removes an item that is done.
        changes listed Finish = done(item: Anchor<Item>);
        /// Takes the last change back.
        changes listed Undo = undo(change: Option<Change> = None);
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct Entry {
    /// The item's name, which is never given to another one.
    key: String,
    /// Another number whenever the text is another one: refs to what was seen before are then
    /// stale.
    rev: u64,
    text: String,
}

#[derive(Serialize, Deserialize)]
struct Todo {
    items: Vec<Entry>,
    undo: Undo<Vec<Entry>>,
    /// The last number that a key or a revision was made of.
    last: u64,
    #[serde(skip)]
    path: PathBuf,
}

impl Todo {
    fn find_mut(&mut self, key: &str) -> Result<&mut Entry, Fault> {
        let found = self.items.iter_mut().find(|entry| entry.key == key);
        found.ok_or_else(|| Fault::not_found("it is done").about(key))
    }

    fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn brief(&self) -> String {
        format!("{} to do", self.items.len())
    }
}

impl App for Todo {
    type Action = Action;

    /// The file has all of the state, so the app can sleep while nobody uses it.
    const RESUMES: bool = true;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let path = opening.state_dir.join("todo.json");
        let Ok(text) = std::fs::read(&path) else {
            return Ok(Self { items: Vec::new(), undo: Undo::new(100), last: 0, path });
        };
        let unreadable = |error| Fault::failed(format!("{}: {error}", path.display()));
        let todo: Self = serde_json::from_slice(&text).map_err(unreadable)?;
        Ok(Self { path, ..todo })
    }

    fn update(&mut self, action: Action, _: &Context) -> Result<Reply, Fault> {
        let before = self.items.clone();
        let what = match action {
            Action::Add { text } => {
                let number = self.next_number();
                let what = format!("add {text:?}");
                self.items.push(Entry { key: format!("i{number}"), rev: number, text });
                what
            }
            Action::Edit { item, text } => {
                let rev = self.next_number();
                let entry = self.find_mut(&item.key)?;
                (entry.rev, entry.text) = (rev, text);
                format!("edit {:?}", entry.text)
            }
            Action::Finish { item } => {
                let text = self.find_mut(&item.key)?.text.clone();
                self.items.retain(|entry| entry.key != item.key);
                format!("done {text:?}")
            }
            Action::Undo { change } => {
                let change = change.map(|Change(id)| id.parse().unwrap_or(u64::MAX));
                let (what, _) = self.undo.undo(change, &mut self.items)?;
                self.save()?;
                return Ok(Done::new(format!("took back: {what}")).reverts().into());
            }
        };
        let change = self.undo.record(what, before);
        self.save()?;
        let undo = Action::Undo { change: Some(Change(change.to_string())) };
        Ok(Done::new(self.brief()).link("undo", &undo).into())
    }

    fn view(&self, request: &ViewRequest) -> View {
        let mut view = View::new(self.brief());
        if request.lod == Lod::Gist {
            return view;
        }
        for Entry { key, rev, text } in &self.items {
            let item = Object::new(key, text).ty("item").rev(*rev);
            let done = Action::Finish { item: Anchor::new(key, *rev) };
            view.text("- ").object(item).text(" ").link("done", &done).text("\n");
        }
        view
    }

    fn find(&self, key: &str) -> Found {
        match self.items.iter().find(|entry| entry.key == key) {
            Some(entry) => Found::Here(entry.rev),
            None => Found::Gone(None),
        }
    }

    /// What `pipemux read` prints, and what another app gets that is passed a ref.
    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        let found = self.items.iter().find(|entry| entry.key == key);
        Ok(found.map(|entry| entry.text.clone().into_bytes()).unwrap_or_default())
    }

    fn save(&mut self) -> Result<(), Fault> {
        let text = serde_json::to_vec(self).map_err(|error| Fault::failed(error.to_string()))?;
        state_file::replace(&self.path, &text)
    }
}

fn main() -> std::process::ExitCode {
    docui::run::<Todo>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use docui::testing::Host;

    #[test]
    fn items_are_kept_and_changes_taken_back() {
        let state = tempfile::tempdir().expect("a directory");
        let open = || Host::<Todo>::open(&[], state.path(), state.path()).expect("it opens");
        let mut host = open();
        host.invoke(&Action::Add { text: "buy milk".into() });
        host.invoke(&Action::Add { text: "sleep".into() });
        assert_eq!(
            host.text(Lod::Full, 1000).expect("a view"),
            "## 2 to do\n\n- [buy milk](obj:i1) [done](link:done)\n- [sleep](obj:i2) [done](link:done)\n"
        );
        host.invoke(&Action::Finish { item: Anchor::new("i1", 1) });
        host.invoke(&Action::Undo { change: None });
        // As after a restart.
        assert!(open().text(Lod::Full, 1000).expect("a view").contains("buy milk"));
    }
}
