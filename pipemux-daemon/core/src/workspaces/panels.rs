//! Panels: parts of the workspace document that the daemon writes itself. Each is a source of the
//! document as windows are: it has a part of the budget, which depends on the set of sources only.

use std::rc::Rc;

use crate::persist::records::SavedPanels;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Panel {
    /// The open windows.
    Views,
    /// The environment of the workspace.
    Environment,
    /// The newest notices.
    Notices,
    /// The newest rounds of history.
    History,
    /// The reader's open questions.
    Questions,
}

/// The panels of one answer.
#[derive(Debug, Clone, Default)]
pub struct Panels {
    /// The panels in the answer, with their headings, in the order of the document.
    pub shown: Vec<(Panel, Rc<str>)>,
    /// The panels that don't fit into the answer.
    pub no_room: Vec<Panel>,
    /// The reader's knowledge of each enabled panel, in a form that is only compared.
    pub known: Vec<(Panel, Rc<str>)>,
    /// The number of the newest notices that are shown.
    pub notices: usize,
}

impl Panels {
    /// Says which panels there is no room for, and what shows them.
    pub fn no_room_line(&self) -> String {
        match &*self.no_room {
            [] => String::new(),
            [only] => format!("no room for pipemux/{}: {}\n", only.name(), only.call()),
            several => format!("no room for {} panels: pipemux view\n", several.len()),
        }
    }
}

impl Panel {
    /// All panels, in the order of the document.
    pub const ALL: [Self; 5] =
        [Self::Views, Self::Environment, Self::Notices, Self::History, Self::Questions];

    /// Returns its name, as it is set.
    pub fn name(self) -> &'static str {
        match self {
            Self::Views => "views",
            Self::Environment => "environment",
            Self::Notices => "notices",
            Self::History => "history",
            Self::Questions => "questions",
        }
    }

    /// Returns the call that shows all of it.
    pub fn call(self) -> &'static str {
        match self {
            Self::Views => "pipemux view --lod gist",
            Self::Environment => "pipemux set",
            Self::Notices => "pipemux watch --since 0 --timeout 1",
            Self::History => "pipemux history",
            Self::Questions => "pipemux answer",
        }
    }

    /// Returns true for those that come before all windows: what everything else is read by.
    pub fn is_first(self) -> bool {
        matches!(self, Self::Views | Self::Environment)
    }
}

impl SavedPanels {
    /// Returns the panels that are on, in the order of a document.
    pub fn on(mut self) -> impl Iterator<Item = Panel> {
        Panel::ALL.into_iter().filter(move |panel| *self.flag(*panel))
    }

    /// Returns the panels of a list of names, `views,history`; `off` stands for none.
    ///
    /// # Errors
    /// The name that isn't one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut panels = Self::default();
        if matches!(text, "off" | "none") {
            return Ok(panels);
        }
        for name in text.split(',').map(str::trim) {
            let known = Panel::ALL.into_iter().find(|panel| panel.name() == name);
            *panels.flag(known.ok_or_else(|| name.to_owned())?) = true;
        }
        Ok(panels)
    }

    /// Writes the panels that are on as they are set.
    pub fn written(self) -> String {
        let names: Vec<&str> = self.on().map(Panel::name).collect();
        if names.is_empty() { "off".into() } else { names.join(",") }
    }

    fn flag(&mut self, panel: Panel) -> &mut bool {
        match panel {
            Panel::Views => &mut self.views,
            Panel::Environment => &mut self.environment,
            Panel::Notices => &mut self.notices,
            Panel::History => &mut self.history,
            Panel::Questions => &mut self.questions,
        }
    }
}
