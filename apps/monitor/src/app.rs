//! The monitor as a docui app: hands each request to the model, the update or the view.

use docui::{App, Ask, Blocking, Context, Fault, Found, Lod, Opening, Reply, View, ViewRequest};

use crate::action::Action;
use crate::model::Monitor;
use crate::watch::{self, Schedule};
use crate::{update, view};

impl App for Monitor {
    type Action = Action;
    // It can't be hibernated: it shows samples, and none are taken while it doesn't run.
    const RESUMES: bool = false;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        Monitor::new(opening)
    }

    fn notes(&mut self) -> Vec<String> {
        self.restart_notes()
    }

    fn update(&mut self, action: Action, _: &Context) -> Result<Reply, Fault> {
        update::update(self, action).map(Into::into)
    }

    fn blocking(&mut self, action: &Action, _: &Context) -> Result<Option<Blocking<Self>>, Fault> {
        let Action::Watch { what, seconds, every } = action else { return Ok(None) };
        let schedule = Schedule::new(*seconds, *every)?;
        Ok(Some(watch::watch(*what, schedule)))
    }

    fn view(&self, request: &ViewRequest) -> View {
        view::view(&self.sample, &self.settings, request.lod, request.budget, self.address())
    }

    fn find(&self, key: &str) -> Found {
        self.locate(key)
    }

    fn named(&self, ty: Option<&str>, name: &str) -> Result<String, Fault> {
        self.key_of(ty, name)
    }

    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        self.describe(key).map(String::into_bytes)
    }

    fn confirm(&self, action: &Action) -> Result<Ask, Fault> {
        update::confirm(self, action)
    }

    fn refresh(&mut self) -> bool {
        if !self.is_sample_old() {
            return false;
        }
        // Views are compared, and not samples: most figures change by less than views show.
        let full = |monitor: &Self| {
            view::view(&monitor.sample, &monitor.settings, Lod::Full, u64::MAX / 4, "")
        };
        let before = full(self);
        self.resample();
        before != full(self)
    }
}
