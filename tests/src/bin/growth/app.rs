//! An app that shows as many things as it is told.

use docui::{
    Anchor, App, Context, Done, Exchanged, Fault, Found, Look, Object, Opening, Reply, View,
};

/// The argument that makes this program the app.
pub const ROLE: &str = "app";

docui::kind!(Thing = "thing");
docui::actions! {
    /// What one can do with things.
    pub enum Action {
        /// Counts.
        changes featured Tick = tick();
        /// Touches one.
        changes featured Touch = touch(thing: Anchor<Thing>);
    }
}

/// So many things, and a count.
pub struct Grower {
    things: usize,
    ticks: u64,
}

impl App for Grower {
    type Action = Action;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let things = opening.args.first().and_then(|number| number.parse().ok()).unwrap_or(0);
        Ok(Self { things, ticks: 0 })
    }

    fn update(&mut self, action: Action, _: &Context) -> Result<Reply, Fault> {
        self.ticks += 1;
        Ok(match action {
            Action::Tick {} => Done::new(self.ticks.to_string()),
            Action::Touch { thing } => Done::new(thing.key),
        }
        .into())
    }

    fn view(&self, _: &Look) -> View {
        let mut view = View::new(format!("{} ticks", self.ticks));
        view.link("tick", &Action::Tick {}).text("\n");
        for thing in 0..self.things {
            let key = format!("t{thing}");
            view.text("- ").object(Object::new(key.clone(), key).ty("thing")).text("\n");
        }
        view
    }

    fn find(&self, key: &str) -> Found {
        let number = key.strip_prefix('t').and_then(|number| number.parse::<usize>().ok());
        match number.filter(|number| *number < self.things) {
            Some(_) => Found::Here(0),
            None => Found::Gone(None),
        }
    }

    fn exchange(&mut self, body: docui::Bytes) -> Result<Exchanged, Fault> {
        Ok(Exchanged::new(body))
    }
}
