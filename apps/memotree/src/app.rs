//! The memory tree as a docui app: hands each request to the model, the update or the window.

use std::path::PathBuf;
use std::time::SystemTime;

use docui::{App, Ask, Context, Fault, Found, Opening, Reply, Token, View, ViewRequest};

use crate::action::Action;
use crate::faults::fault;
use crate::model::MemoTree;
use crate::project::FOLDER;
use crate::{names, query, sources, tokens, update, view_actions, window};

impl App for MemoTree {
    type Action = Action;
    const TOKEN_PREFIX: Option<&'static str> = Some("MT");
    const RESUMES: bool = true;
    const WATCHES: bool = true;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let mut tree = MemoTree::new(opening)?;
        if opening.woken {
            // What it showed is compared with the files as they are now.
            sources::look_again(&tree)?;
            tree.note_woken();
        }
        Ok(tree)
    }

    fn notes(&mut self) -> Vec<String> {
        self.opening_notes()
    }

    fn attach(&mut self, opening: &Opening) -> Result<Vec<String>, Fault> {
        self.check_attach(opening).map(|()| Vec::new())
    }

    fn update(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        self.freshness.get_mut().settle(context.version);
        update::update(self, action, context).map(Into::into)
    }

    fn view(&self, request: &ViewRequest) -> View {
        self.freshness.borrow_mut().settle(request.version);
        window::view(self, request)
    }

    fn find(&self, key: &str) -> Found {
        names::find(self, key).unwrap_or_else(|error| Found::Unreadable(fault(error)))
    }

    fn named(&self, ty: Option<&str>, name: &str) -> Result<String, Fault> {
        names::named(self, ty, name)
    }

    fn token(&self, kind: &str, name: &str) -> Option<Token> {
        tokens::token(self, kind, name)
    }

    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        query::value_of(self, key).map(String::into_bytes)
    }

    fn confirm(&self, action: &Action) -> Result<Ask, Fault> {
        view_actions::confirm(self, action)
    }

    fn refresh(&mut self) -> bool {
        let changed = self.take_outside_changes() | self.refresh_codebase() | self.shows_old_time();
        // What was swept so far is told with the next slice at the latest.
        if self.is_sweeping() { self.sweep() | changed } else { changed }
    }

    fn watched(&self) -> Vec<PathBuf> {
        let folder = self.root().join(FOLDER);
        let inside = ["nodes", "views", "queries"].map(|part| folder.join(part));
        let entries = inside.iter().filter(|part| part.is_dir()).map(|part| part.join("*"));
        let entries: Vec<PathBuf> = entries.collect();
        let mut all = vec![folder.clone()];
        if folder.is_dir() {
            all.extend(inside);
            all.push(folder.join("memotree.toml"));
        }
        all.extend(entries);
        all
    }

    fn watched_changed(&mut self) -> bool {
        let changed = self.take_outside_changes();
        self.sweep_after_event() | changed
    }

    fn next_wake(&self) -> Option<SystemTime> {
        self.is_sweeping().then(SystemTime::now)
    }
}
