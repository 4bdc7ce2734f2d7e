//! An app that shows as many things, or as much text, as it is told.

use docui::{
    Anchor, App, Context, Done, Exchanged, Fault, Found, Look, Object, Opening, Reply, View,
};

/// The argument that makes this program the app.
pub const ROLE: &str = "app";

/// An exchange of these bytes changes what is shown; any others come back as they are.
pub const TICK: &[u8; 4] = b"tick";

/// A line of text: 64 bytes of words that are a token each, so that 1 MB of them can be asked for.
pub const LINE: &str = "because through another without between nothing against morning\n";

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

/// What the app shows beside its count: `10`, `prose=10`, `code=10`, `edited=10`, `other=10`.
#[derive(Clone, Copy)]
enum Shown {
    /// Things, each on a line, with an anchor.
    Things(usize),
    /// Lines of text, in which what looks like Markdown is to be made harmless.
    Prose(usize),
    /// Lines of text in a fence, which stand as they are.
    Code(usize),
    /// The same, of which the one in the middle changes with the count.
    Edited(usize),
    /// The same, all of which change with the count.
    Other(usize),
}

/// What is shown, and a count.
pub struct Grower {
    shown: Shown,
    ticks: u64,
}

impl Grower {
    /// As [`LINE`], another one with each count.
    fn line(&self) -> String {
        let number = format!("{:05}", self.ticks % 100_000);
        LINE.replacen("cause", &number, 1)
    }
}

impl App for Grower {
    type Action = Action;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let asked = opening.args.first().map_or("0", String::as_str);
        let (kind, number) = asked.split_once('=').unwrap_or(("", asked));
        let number = number.parse().unwrap_or(0);
        let shown = match kind {
            "prose" => Shown::Prose(number),
            "code" => Shown::Code(number),
            "edited" => Shown::Edited(number),
            "other" => Shown::Other(number),
            _ => Shown::Things(number),
        };
        Ok(Self { shown, ticks: 0 })
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
        match self.shown {
            Shown::Things(things) => {
                for thing in 0..things {
                    let key = format!("t{thing}");
                    view.text("- ").object(Object::new(key.clone(), key).ty("thing")).text("\n");
                }
            }
            Shown::Prose(lines) => drop(view.text(LINE.repeat(lines))),
            Shown::Code(lines) => drop(view.code("", LINE.repeat(lines))),
            Shown::Edited(lines) => {
                let mut text = LINE.repeat(lines);
                let middle = lines / 2 * LINE.len();
                text.replace_range(middle..middle + LINE.len(), &self.line());
                view.code("", text);
            }
            Shown::Other(lines) => drop(view.code("", self.line().repeat(lines))),
        }
        view
    }

    fn find(&self, key: &str) -> Found {
        let number = key.strip_prefix('t').and_then(|number| number.parse::<usize>().ok());
        let Shown::Things(things) = self.shown else { return Found::Gone(None) };
        match number.filter(|number| *number < things) {
            Some(_) => Found::Here(0),
            None => Found::Gone(None),
        }
    }

    fn exchange(&mut self, body: docui::Bytes) -> Result<Exchanged, Fault> {
        if *body == *TICK {
            self.ticks += 1;
            return Ok(Exchanged::new(body).changed());
        }
        Ok(Exchanged::new(body))
    }
}
