//! What a person at a terminal sees and does, without a terminal and without a daemon: an event
//! comes in, the state changes, effects go out.

use std::collections::VecDeque;

use pipemux_client::proto::client::Verb;
use pipemux_client::proto::context::ContextVersion;
use pipemux_client::proto::report::Report;

use super::event::{Effect, Event, Key};
use super::graphics::Graphics;
use super::line_history::LineHistory;
use super::line_target::LineTarget;
use super::look::Theme;
use super::numbers::Numbers;
use super::outcome;
use super::pane::Pane;
use super::pictures::Pictures;
use super::prompt_line::{LINE_MAX, PromptLine};
use super::typed::{self, Typed};
use super::window::{input, without_actions};

/// Most lines of notices that are kept below the window.
const NOTICE_LINES: usize = 20;

/// Most requests that wait for their answers.
const WAITING_MAX: usize = 16;

/// The state of the attached terminal.
#[derive(Debug, Default)]
pub struct State {
    /// What typed lines go to.
    pub target: LineTarget,
    pub window: Pane,
    /// The message of the last request, or the open question.
    pub news: Pane,
    /// True when the news have the whole terminal.
    pub news_first: bool,
    pub line: PromptLine,
    /// The links by the numbers that the terminal shows.
    pub numbers: Numbers,
    pub theme: Theme,
    pub pictures: Pictures,
    /// The requests that wait for their answers, oldest first: the question that each answers, if
    /// it does.
    pub waiting: VecDeque<Option<u64>>,
    /// True while there is no daemon.
    pub lost: bool,
    /// True while there is no window: a line opens it again.
    pub closed: bool,
    /// The version of the shown window, and the workspace's epoch at that time.
    version: ContextVersion,
    epoch: u64,
    epoch_of_news: u64,
    /// The message of the last request, without the question.
    said: String,
    history: LineHistory,
    size: (u16, u16),
}

impl State {
    /// Makes the state for a session, named as calls name it.
    pub fn new(callee: String, theme: Theme, graphics: Option<Graphics>) -> State {
        let pictures = Pictures::new(graphics);
        let target = LineTarget::new(callee);
        let mut state = State { target, theme, pictures, ..State::default() };
        state.window.use_theme(theme);
        state.news.use_theme(theme);
        state
    }

    /// Notes that the terminal shows the state.
    pub fn drawn(&mut self) {
        let (window, news) = (self.window.links(), self.news.links());
        self.numbers.show((window, self.epoch), (news, self.epoch_of_news));
    }

    /// True while `q` and `?` are keys: nothing is typed, and no words would be taken.
    fn has_letter_keys(&self) -> bool {
        self.line.text().is_empty() && !self.target.takes_words()
    }

    /// Takes an event in. Returns what follows, in order.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        let was_empty = self.line.text().is_empty();
        match event {
            Event::Key(key) => effects.extend(self.press(key)),
            Event::Pasted(text) => {
                if !self.line.insert(&text) {
                    self.say(format!("a line has at most {LINE_MAX} bytes: nothing was pasted"));
                }
            }
            Event::Resized(width, height) => self.size = (width, height),
            // Only the terminal has to do with it.
            Event::Stopping | Event::Continued => {}
            Event::Shown { report, delivery } => {
                effects.extend(self.show(*report));
                effects.push(Effect::Confirm(delivery));
            }
            Event::Looked(report) => effects.extend(self.show(*report)),
            Event::Loaded(name, bytes) => self.pictures.load(&name, bytes),
            Event::Unshown(why) => {
                self.closed = true;
                self.target.input = None;
                let callee = &self.target.callee;
                self.window.begin(format!(
                    "{callee} has no window here: {why}\n\nEnter opens it again · Ctrl-C leaves\n"
                ));
            }
            Event::Answered(report) => {
                self.epoch_of_news = report.epoch;
                let answered = self.waiting.pop_front().flatten();
                self.target.take_questions(&report);
                self.target.settle(answered, &report);
                self.say(outcome::text(&report));
            }
            Event::Told(text) => {
                self.waiting.pop_front();
                self.say(text);
            }
            Event::Lost => self.lost = true,
            Event::Found => {
                self.lost = false;
                self.hear(&["connected to a daemon again".to_owned()]);
            }
            Event::Stopped => effects.push(Effect::Leave),
        }
        if was_empty {
            // What is typed from here on is meant for what the terminal shows.
            self.numbers.hold();
        }
        self.lay_out();
        effects
    }

    /// Shows a window. Returns what is to be loaded for it.
    fn show(&mut self, mut report: Report) -> Vec<Effect> {
        self.closed = false;
        self.target.take_questions(&report);
        let notices = std::mem::take(&mut report.notices);
        // That nothing has changed is no news.
        let notices: Vec<String> =
            notices.into_iter().filter(|told| !told.starts_with("unchanged for ")).collect();
        if !notices.is_empty() {
            self.epoch_of_news = report.epoch;
            self.hear(&notices);
        }
        let Some(window) = report.windows.into_iter().next() else { return Vec::new() };
        // Two threads look at the window: the older look may come later.
        if window.header.version < self.version {
            return Vec::new();
        }
        self.version = window.header.version;
        self.epoch = report.epoch;
        // Words may mend what keeps the window from being shown.
        if window.errors.is_empty() {
            self.target.set_input(input(&window));
        }
        let (content, actions) = without_actions(&window);
        self.window.set_text(content);
        // Where there is no room for them, they are those that were shown last.
        self.target.actions = actions.or_else(|| self.target.actions.take());
        let missing = self.pictures.update(&window).into_iter();
        missing.map(|name| Effect::Load(name, self.epoch)).collect()
    }

    fn say(&mut self, text: String) {
        self.said = text;
    }

    /// Adds notices, which may come on each other's heels. The two looks at a window may both be
    /// told one.
    fn hear(&mut self, notices: &[String]) {
        let news = notices.iter().filter(|notice| !self.said.contains(notice.as_str()));
        let lines: Vec<&str> =
            self.said.lines().chain(news.flat_map(|notice| notice.lines())).collect();
        let newest = lines.len().saturating_sub(NOTICE_LINES);
        self.said = lines[newest..].join("\n");
    }

    fn press(&mut self, key: Key) -> Option<Effect> {
        let letters = self.has_letter_keys();
        let pane = if self.news_first { &mut self.news } else { &mut self.window };
        match key {
            Key::Leave => return Some(Effect::Leave),
            Key::EndOfInput if self.line.text().is_empty() => return Some(Effect::Leave),
            Key::EndOfInput | Key::Delete => self.line.delete(),
            Key::Enter => return self.enter(),
            Key::Char('q') if letters => return Some(Effect::Leave),
            Key::Char('?') if letters => self.say(typed::keys(&self.target, self.theme)),
            Key::Char(c) => {
                if !self.line.insert(c.encode_utf8(&mut [0; 4])) {
                    self.say(format!("a line has at most {LINE_MAX} bytes"));
                }
            }
            Key::Backspace => self.line.backspace(),
            Key::DeleteWord => self.line.delete_word(),
            Key::DeleteToStart => self.line.delete_to_start(),
            Key::Left => self.line.left(),
            Key::Right => self.line.right(),
            Key::Start => self.line.start(),
            Key::End => self.line.end(),
            Key::Up => pane.scroll(-1),
            Key::Down => pane.scroll(1),
            Key::PageUp => pane.page(false),
            Key::PageDown => pane.page(true),
            Key::Top => pane.go_to_start(),
            Key::Bottom => pane.go_to_end(),
            Key::Earlier | Key::Later => {
                if let Some(line) = self.history.recall(key == Key::Earlier) {
                    self.line.set(line);
                }
            }
            Key::Tab => self.news_first = !self.news_first && !self.news.text().is_empty(),
            Key::Escape => {
                self.news_first = false;
                self.said.clear();
            }
        }
        None
    }

    fn enter(&mut self) -> Option<Effect> {
        let hidden = self.target.hides_line();
        if self.closed && self.line.text().trim().is_empty() {
            self.closed = false;
            return Some(Effect::Reopen);
        }
        if self.line.text().trim().is_empty() {
            return None;
        }
        if self.waiting.len() >= WAITING_MAX {
            self.say(format!("{WAITING_MAX} requests wait for their answers: send this later"));
            return None;
        }
        let line = self.line.take();
        self.history.enter((!hidden).then_some(line.as_str()));
        self.news_first = false;
        match typed::meaning(&line, &self.target, &self.numbers, self.theme) {
            Typed::Request(verb) => {
                self.waiting.push_back(match &verb {
                    Verb::Answer { to, .. } => *to,
                    _ => None,
                });
                self.said.clear();
                Some(Effect::Ask(verb))
            }
            Typed::Told(text) => {
                self.say(text);
                None
            }
            Typed::Leave => Some(Effect::Leave),
            Typed::Nothing(why) => {
                // What was typed isn't lost, and when it is sent again it is meant for what is
                // shown now.
                self.line.set(line);
                self.numbers.hold();
                self.say(why);
                None
            }
        }
    }

    /// Shares the terminal's rows out: to the window what the news, the status and the prompt
    /// leave.
    fn lay_out(&mut self) {
        let (width, height) = self.size;
        let mut news = self.said.clone();
        if let Some(question) = &self.target.question {
            if !news.is_empty() && !news.ends_with('\n') {
                news.push('\n');
            }
            news.push_str(&outcome::question(question));
        }
        // Its rows tell how high it is.
        self.news.resize(width, 0);
        self.news.begin(news);
        self.window.number_from(1);
        self.news.number_from(1 + self.window.links().len());
        self.news_first &= !self.news.text().is_empty();
        let height_of_news = self.news_height();
        self.news.resize(width, height_of_news);
        let window = height.saturating_sub(self.prompt_height() + 1 + height_of_news);
        self.window.resize(width, window);
        // One that is higher than the window could never be seen whole.
        self.window.show_pictures(self.pictures.sizes(width, height.saturating_sub(2) / 2));
    }

    /// Returns how many rows the prompt takes.
    pub fn prompt_height(&self) -> u16 {
        let rows =
            self.line.show(self.size.0.saturating_sub(2), self.target.hides_line()).rows.len();
        u16::try_from(rows).unwrap_or(1)
    }

    /// Returns how many rows the news take: those they need, at most half of what there is, or all
    /// of it.
    pub fn news_height(&self) -> u16 {
        let room = self.size.1.saturating_sub(self.prompt_height() + 1);
        let needed = u16::try_from(self.news.rows().len()).unwrap_or(u16::MAX);
        if self.news_first { room } else { needed.min(room / 2) }
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
pub mod tests;
