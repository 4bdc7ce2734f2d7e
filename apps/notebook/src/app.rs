//! The notebook as a docui app: hands each request to the model, the update or the view.

use std::path::PathBuf;

use docui::{App, Ask, Context, Fault, Found, Opening, Reply, View, ViewRequest};

use crate::action::Action;
use crate::entry;
use crate::model::Notebook;
use crate::{entry_actions, update, view};

impl App for Notebook {
    type Action = Action;
    const RESUMES: bool = true;
    const WATCHES: bool = true;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        Notebook::new(opening)
    }

    fn notes(&mut self) -> Vec<String> {
        self.restart_notes()
    }

    fn attach(&mut self, opening: &Opening) -> Result<Vec<String>, Fault> {
        self.check_attach(opening).map(|()| Vec::new())
    }

    fn update(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        let done = update::update(self, action, u64::from(context.budget))?;
        Ok(self.tell_put_back(done).into())
    }

    fn view(&self, request: &ViewRequest) -> View {
        view::view(self, request)
    }

    fn find(&self, key: &str) -> Found {
        self.locate(key).unwrap_or_else(Found::Unreadable)
    }

    fn named(&self, _: Option<&str>, name: &str) -> Result<String, Fault> {
        self.entry_titled(name)
    }

    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        let id = entry::id(key);
        if let Some(bytes) = id.map_or(Ok(None), |id| self.store.bytes(id))? {
            return Ok(bytes);
        }
        let text = id.map_or(Ok(None), |id| self.store.text(id))?;
        text.map(String::into_bytes).ok_or_else(|| Fault::not_found("removed").about(key))
    }

    fn confirm(&self, action: &Action) -> Result<Ask, Fault> {
        entry_actions::confirm(self, action)
    }

    fn refresh(&mut self) -> bool {
        self.take_unshown_changes()
    }

    fn watched(&self) -> Vec<PathBuf> {
        vec![self.store.database.log_path()]
    }

    fn watched_changed(&mut self) -> bool {
        // A file that is gone or another one is left to the next request: somebody may be replacing
        // it just now.
        self.store.database.has_its_file() && self.refresh()
    }

    fn save(&mut self) -> Result<(), Fault> {
        self.save_hibernation_record()
    }

    fn resumed(&self) -> bool {
        self.is_resumed()
    }
}
