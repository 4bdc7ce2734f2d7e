//! An app that shows as many objects, or as much text, as its arguments say.

use docui::{
    Anchor, App, Context, Done, ExchangeReply, Fault, Found, Object, Opening, Reply, View,
    ViewRequest,
};

/// The argument that makes this program run as the app.
pub const ROLE: &str = "app";

/// An exchange of these bytes changes the window; any other bytes come back unchanged.
pub const TICK: &[u8; 4] = b"tick";

/// A line of 64 bytes whose words are one token each, so that 1 MB of lines fits into a budget.
pub const LINE: &str = "because through another without between nothing against morning\n";

docui::kind!(Thing = "thing");
docui::actions! {
    /// The actions of the app.
    pub enum Action {
        /// Increments the count.
        changes featured Tick = tick();
        /// Increments the count and names an object.
        changes featured Touch = touch(thing: Anchor<Thing>);
    }
}

/// What the window shows beside the count: `10`, `prose=10`, `code=10`, `edited=10` or `other=10`.
#[derive(Clone, Copy)]
enum WindowContent {
    /// Objects, each on a line with its anchor.
    Things(usize),
    /// Lines of text, in which the daemon escapes Markdown.
    Prose(usize),
    /// Lines of text in a fence, which need no escaping.
    Code(usize),
    /// Lines in a fence, of which the middle one changes with the count.
    Edited(usize),
    /// Lines in a fence that all change with the count.
    Other(usize),
}

/// The app: its window and its count.
pub struct GrowthApp {
    shown: WindowContent,
    ticks: u64,
}

impl GrowthApp {
    /// Returns a line as long as [`LINE`], which is different for each count.
    fn line(&self) -> String {
        let number = format!("{:05}", self.ticks % 100_000);
        LINE.replacen("cause", &number, 1)
    }
}

impl App for GrowthApp {
    type Action = Action;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let arguments = opening.args.first().map_or("0", String::as_str);
        let (kind, number) = arguments.split_once('=').unwrap_or(("", arguments));
        let number = number.parse().unwrap_or(0);
        let shown = match kind {
            "prose" => WindowContent::Prose(number),
            "code" => WindowContent::Code(number),
            "edited" => WindowContent::Edited(number),
            "other" => WindowContent::Other(number),
            _ => WindowContent::Things(number),
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

    fn view(&self, _: &ViewRequest) -> View {
        let mut view = View::new(format!("{} ticks", self.ticks));
        view.link("tick", &Action::Tick {}).text("\n");
        match self.shown {
            WindowContent::Things(things) => {
                for thing in 0..things {
                    let key = format!("t{thing}");
                    view.text("- ").object(Object::new(key.clone(), key).ty("thing")).text("\n");
                }
            }
            WindowContent::Prose(lines) => drop(view.text(LINE.repeat(lines))),
            WindowContent::Code(lines) => drop(view.code("", LINE.repeat(lines))),
            WindowContent::Edited(lines) => {
                let mut text = LINE.repeat(lines);
                let middle = lines / 2 * LINE.len();
                text.replace_range(middle..middle + LINE.len(), &self.line());
                view.code("", text);
            }
            WindowContent::Other(lines) => drop(view.code("", self.line().repeat(lines))),
        }
        view
    }

    fn find(&self, key: &str) -> Found {
        let number = key.strip_prefix('t').and_then(|number| number.parse::<usize>().ok());
        let WindowContent::Things(things) = self.shown else { return Found::Gone(None) };
        match number.filter(|number| *number < things) {
            Some(_) => Found::Here(0),
            None => Found::Gone(None),
        }
    }

    fn exchange(&mut self, body: docui::Bytes) -> Result<ExchangeReply, Fault> {
        if *body == *TICK {
            self.ticks += 1;
            return Ok(ExchangeReply::new(body).changed());
        }
        Ok(ExchangeReply::new(body))
    }
}
