//! The planner as a docui app: hands each request to the model, the update or the window.

use std::path::PathBuf;

use docui::{App, Context, Fault, Found, Opening, Reply, View, ViewRequest};

use crate::action::Action;
use crate::model::Planner;
use crate::{query, update, window};

impl App for Planner {
    type Action = Action;
    const WATCHES: bool = true;
    // So that a file from anywhere can be named: the session sleeps while it is granted that.
    const RESUMES: bool = true;
    // Each reader is told what is expected of it; several may each play a role.
    const PER_READER: bool = true;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        Planner::new(opening)
    }

    fn notes(&mut self) -> Vec<String> {
        self.take_notes()
    }

    fn save(&mut self) -> Result<(), Fault> {
        Planner::save(self)
    }

    fn update(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        let reply = update::update(self, action, context);
        self.end_waiting();
        reply
    }

    fn view(&self, request: &ViewRequest) -> View {
        window::view(self, request)
    }

    fn find(&self, key: &str) -> Found {
        match query::read(self, key) {
            Some(_) => Found::Here(0),
            None => Found::Gone(Some("it belongs to another topic".into())),
        }
    }

    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        query::read(self, key)
            .map(String::into_bytes)
            .ok_or_else(|| Fault::not_found("nothing of that name was said"))
    }

    fn refresh(&mut self) -> bool {
        let outside = self.take_outside_changes();
        let answered = self.take_answers();
        let entries = self.course.entries();
        // Another session that had the roles played may have ended, or `planner.toml` names another
        // driver.
        self.play();
        self.end_waiting();
        answered | outside | (self.course.entries() != entries)
    }

    fn watched(&self) -> Vec<PathBuf> {
        Planner::watched(self)
    }

    fn next_wake(&self) -> Option<std::time::SystemTime> {
        let soon = std::time::SystemTime::now().checked_add(std::time::Duration::from_secs(5));
        soon.filter(|_| self.has_unwritten_answers())
    }
}
