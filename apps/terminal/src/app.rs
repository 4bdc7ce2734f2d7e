//! The terminal as a docui app: hands each request to the model, the runs, the queries or the
//! window.

use std::path::PathBuf;

use docui::{App, Blocking, Context, Fault, Found, Opening, Reply, View, ViewRequest};

use crate::action::Action;
use crate::model::Terminal;
use crate::{query, run, window};

impl App for Terminal {
    type Action = Action;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        Terminal::new(opening)
    }

    fn notes(&mut self) -> Vec<String> {
        self.restart_notes()
    }

    fn attach(&mut self, opening: &Opening) -> Result<Vec<String>, Fault> {
        Terminal::attach(self, opening).map(|()| Vec::new())
    }

    fn update(&mut self, action: Action, _: &Context) -> Result<Reply, Fault> {
        let name = docui::Actions::name(&action);
        Err(Fault::failed(format!("{name} is done elsewhere")))
    }

    fn blocking(
        &mut self,
        action: &Action,
        context: &Context,
    ) -> Result<Option<Blocking<Self>>, Fault> {
        match run::act(self, action, context)? {
            run::Work::Waits(work) => Ok(Some(work)),
            run::Work::Looks => query::query(self, action, context).map(Some),
        }
    }

    fn view(&self, request: &ViewRequest) -> View {
        window::view(self, request)
    }

    fn find(&self, key: &str) -> Found {
        self.locate(key)
    }

    fn named(&self, _: Option<&str>, name: &str) -> Result<String, Fault> {
        self.key_of(name)
    }

    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        query::read(self, key)
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        self.place(key).ok().map(|(path, _)| path)
    }
}
