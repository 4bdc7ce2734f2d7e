//! The monitor as a docui app: hands each request to the model, the update or the view.

use docui::{App, Ask, Blocking, Context, Fault, Found, Lod, Opening, Reply, View, ViewRequest};

use crate::action::{Action, By, Watched};
use crate::limits::WATCHED_TOP;
use crate::model::Monitor;
use crate::samples::Schedule;
use crate::watch;
use crate::watch_top::Most;
use crate::{settings, update, view};

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
        let Action::Watch { what, seconds, every, n, by } = action else { return Ok(None) };
        let schedule = Schedule::new(*seconds, *every)?;
        if *what != Watched::Top && (n.is_some() || by.is_some()) {
            let call = format!("monitor.watch(what='top', seconds={seconds}, every={every})");
            return Err(Fault::usage("n and by are for processes: what='top'")
                .hint(docui::command::command(&["ask", &call])));
        }
        let n = n.map(settings::top).transpose()?.unwrap_or(WATCHED_TOP);
        let most = Most { n, by: by.unwrap_or(By::Mem) };
        Ok(Some(watch::watch(*what, schedule, most)))
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
