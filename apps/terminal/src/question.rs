//! The question whether commands may run, and what its answer allows. One question is about all commands of a call, and about
//! those of later calls of the same run that are known already.
//!
//! A command is started by a [`Permit`], and only [`Request::permits`] makes one: no way to start a command passes by the
//! question.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use docui::{Ask, Context, Fault, Reply};
use pipemux_problems::is_hidden;

use crate::limits::{PROGRAMS_SHOWN, QUESTION_SHOWN};
use crate::model::{Terminal, below, shortened};
use crate::permission::{Permission, Rules, Scope};
use crate::start::Order;

/// A command that may run now.
#[derive(Debug)]
pub struct Permit(Order);

impl Permit {
    /// Returns what may run.
    pub fn order(&self) -> &Order {
        &self.0
    }

    /// Returns what might have run.
    pub fn into_order(self) -> Order {
        self.0
    }
}

/// What is to be allowed before commands run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Wanted {
    /// Programs of any command.
    programs: BTreeSet<String>,
    /// The identities of lines that are asked for as a whole.
    lines: Vec<String>,
    /// True if a pattern says that a command is asked for each time.
    each_time: bool,
}

/// What a question offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Offer {
    /// Every command in this workspace from now on, except for what a pattern names.
    Always,
    /// These programs in this workspace from now on.
    Programs,
    /// These commands now.
    Once,
}

impl Wanted {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, order: &Order, scope: Option<Scope>) {
        match scope {
            None => self.each_time = true,
            Some(Scope::Programs(programs)) => self.programs.extend(programs),
            Some(Scope::Line | Scope::All) => self.lines.push(order.identity()),
        }
    }

    /// Names what an answer allows from then on: `cargo, python3`, `this line`.
    fn named(&self) -> String {
        let lines = match self.lines.len() {
            0 => None,
            1 => Some("this line".to_owned()),
            _ => Some("these lines".to_owned()),
        };
        self.programs.iter().cloned().chain(lines).collect::<Vec<_>>().join(", ")
    }

    /// Returns what is offered: nothing that wasn't shown as it is.
    fn offers(&self, place: &str, lines: &str) -> Vec<Offer> {
        let is_shown = place.chars().count() + lines.chars().count() <= QUESTION_SHOWN;
        let is_named = self.named().chars().count() <= PROGRAMS_SHOWN;
        match (self.each_time, is_shown) {
            (true, true) => vec![Offer::Once],
            (true, false) => Vec::new(),
            // To allow a line from then on would save no question: the next line is another one.
            (false, true) if is_named && !self.programs.is_empty() => {
                vec![Offer::Always, Offer::Programs, Offer::Once]
            }
            (false, true) => vec![Offer::Always, Offer::Once],
            (false, false) => vec![Offer::Always],
        }
    }
}

/// Commands that are to run.
#[derive(Debug)]
pub struct Request {
    /// Those of the call.
    pub orders: Vec<Order>,
    /// Those of later calls of the same run, as far as they are known: the same question is about them.
    pub later: Vec<Order>,
}

/// What a question is about.
#[derive(Debug)]
struct Asked {
    wanted: Wanted,
    /// Where they are to run: ` in sub`; nothing for the workspace's folder.
    place: String,
    /// All commands that it is about, as they are shown.
    lines: String,
    /// Which of the later commands it is about.
    later: Vec<Order>,
    /// What its answer has to name: exactly these commands.
    token: Vec<u8>,
}

impl Request {
    /// Asks whether the commands may run.
    ///
    /// # Errors
    /// One of them may not in any case, or can't be shown.
    pub fn question(&self, app: &Terminal, context: &Context) -> Result<Reply, Fault> {
        let (wanted, _) = wanted(app, &self.orders, context)?;
        let Asked { wanted, place, lines, later, token } = self.asked(app, wanted, context)?;
        let offers = wanted.offers(&place, &lines);
        let several = self.orders.len() + later.len() > 1;
        if offers.is_empty() {
            return Err(Fault::refused(format!(
                "it is asked for each time, and {} characters are too many to be shown",
                lines.chars().count()
            ))
            .hint("write it into a file, and run that"));
        }
        let named = wanted.named();
        let mut text = match named.chars().count() <= PROGRAMS_SHOWN {
            true if !wanted.each_time && !wanted.is_nothing() => format!("may {named} run{place}?"),
            _ if several => format!("may these run{place}?"),
            _ => format!("may this run{place}?"),
        };
        match offers.contains(&Offer::Once) {
            true => text += &format!(" {lines}"),
            false => {
                let count = lines.chars().count();
                let begin: String = lines.chars().take(QUESTION_SHOWN / 2).collect();
                text +=
                    &format!(" Only the beginning of its {count} characters is shown: {begin} …");
            }
        }
        let mut ask = Ask::pick_one(text).token(token);
        for offer in offers {
            ask = match offer {
                Offer::Always => ask.option(
                    "always",
                    format!(
                        "every command in this workspace from now on (in every workspace: allow = [\"*\"] in {})",
                        rules_file(app)
                    ),
                ),
                Offer::Programs => {
                    ask.option("programs", format!("{named} from now on; others are asked about"))
                }
                Offer::Once if wanted.each_time => ask.option("once", "it is asked each time"),
                Offer::Once if several => ask.option("once", "these commands"),
                Offer::Once => ask.option("once", "this command"),
            };
        }
        Ok(ask.into())
    }

    /// Returns the permits to run the commands of the call, or nothing if that must be asked first, and notes what an answer
    /// allows.
    ///
    /// # Errors
    /// One of them may not in any case or can't be run, or the answer forbids it.
    pub fn permits(
        self,
        app: &mut Terminal,
        context: &Context,
    ) -> Result<Option<Vec<Permit>>, Fault> {
        self.orders.iter().try_for_each(Order::check)?;
        let (wanted, used) = wanted(app, &self.orders, context)?;
        if !wanted.is_nothing() {
            let Some((given, choice)) = &context.answer else { return Ok(None) };
            let Asked { wanted, place, lines, later, token } = self.asked(app, wanted, context)?;
            if *given != token {
                return Ok(None);
            }
            let docui::Choice::Picked(picked) = choice else { return Ok(None) };
            let offers = wanted.offers(&place, &lines);
            let picked = match picked.as_slice() {
                [number] => usize::try_from(*number)
                    .ok()
                    .and_then(|number| offers.get(number.checked_sub(1)?)),
                _ => None,
            };
            match picked.ok_or_else(|| Fault::refused("it was not run"))? {
                Offer::Always => app.allowed.add(&Scope::All, "", &app.state_dir)?,
                Offer::Programs => {
                    if !wanted.programs.is_empty() {
                        let programs = Scope::Programs(wanted.programs.into_iter().collect());
                        app.allowed.add(&programs, "", &app.state_dir)?;
                    }
                    for line in &wanted.lines {
                        app.allowed.add(&Scope::Line, line, &app.state_dir)?;
                    }
                }
                Offer::Once => {}
            }
            app.granted.add(&context.run_id, later.iter().map(Order::identity));
        }
        app.granted.take(&context.run_id, &used);
        Ok(Some(self.orders.into_iter().map(Permit).collect()))
    }

    /// Returns what the question is about: what the call wants, and each later command that has to be asked for, as long as
    /// the question can show it.
    fn asked(&self, app: &Terminal, mut wanted: Wanted, context: &Context) -> Result<Asked, Fault> {
        let rules = Rules::read(Rules::path(&app.env).as_deref())?;
        let mut about: Vec<&Order> = self.orders.iter().collect();
        let (mut place, mut lines) = shown(app, &about);
        for order in &self.later {
            let permission = rules.check(order, app.workspace(), &app.allowed);
            let Permission::Ask(scope) = permission else { continue };
            // An earlier answer in the run was about it.
            if app.granted.times(&context.run_id, &order.identity()) > 0 {
                continue;
            }
            let mut with = wanted.clone();
            with.add(order, scope);
            about.push(order);
            let (with_place, with_lines) = shown(app, &about);
            // The question offers no less than it would without it, but for what a pattern asks for each time.
            if !with.offers(&with_place, &with_lines).contains(&Offer::Once)
                || with.named().chars().count() > PROGRAMS_SHOWN
            {
                about.pop();
                break;
            }
            (wanted, place, lines) = (with, with_place, with_lines);
        }
        let token = about.iter().map(|order| order.identity()).collect::<Vec<_>>().join("\n");
        let later = about.split_off(self.orders.len()).into_iter().cloned().collect();
        Ok(Asked { wanted, place, lines, later, token: token.into_bytes() })
    }
}

/// Returns where commands are to run, and the commands in one line, with nothing in it that isn't seen. Where their folders
/// differ, the line names them: `in .: cargo test ⏎ in web: npm test`.
fn shown(app: &Terminal, orders: &[&Order]) -> (String, String) {
    let mut folders = orders.iter().map(|order| &order.cwd);
    let first = folders.next();
    let (place, is_one) = match first.filter(|first| folders.all(|other| other == *first)) {
        Some(folder) => (in_folder(app, folder), true),
        None => (String::new(), false),
    };
    let line = |order: &&Order| {
        let place = match in_folder(app, &order.cwd) {
            _ if is_one => String::new(),
            place if place.is_empty() => "in .: ".to_owned(),
            place => format!("{}: ", place.trim_start()),
        };
        place + &visible(&order.whole())
    };
    let lines = orders.iter().map(line).collect::<Vec<_>>().join(" ⏎ ");
    (place, lines)
}

/// Returns a text in one line: its line breaks are shown, and so is what would be invisible.
fn visible(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        match c {
            '\n' => shown += " ↵ ",
            // The signs between commands and lines stand for nothing else.
            '⏎' | '↵' => shown += &format!("⟨U+{:04X}⟩", u32::from(c)),
            '\t' => shown.push(' '),
            c if c.is_control() || is_hidden(c) => shown += &format!("⟨U+{:04X}⟩", u32::from(c)),
            c => shown.push(c),
        }
    }
    shown
}

/// Says in which folder a command is to run, if that isn't the workspace's: ` in sub`.
fn in_folder(app: &Terminal, folder: &Path) -> String {
    match folder == app.workspace() {
        true => String::new(),
        false => {
            format!(" in {}", visible(&in_home(below(folder, app.workspace()), &app.env)))
        }
    }
}

/// Returns what has to be allowed before commands run, and which of them an earlier answer in the same run allowed.
fn wanted(
    app: &Terminal,
    orders: &[Order],
    context: &Context,
) -> Result<(Wanted, Vec<String>), Fault> {
    let rules = Rules::read(Rules::path(&app.env).as_deref())?;
    let (mut wanted, mut used) = (Wanted::default(), Vec::new());
    for order in orders {
        match rules.check(order, app.workspace(), &app.allowed) {
            Permission::Allowed => {}
            Permission::Denied(pattern) => {
                let which = match orders.len() > 1 {
                    true => format!("{} may", shortened(&order.whole())),
                    false => "it may".to_owned(),
                };
                return Err(Fault::refused(format!(
                    "{which} not run: deny = [{pattern:?}] in {}",
                    rules_file(app)
                )));
            }
            Permission::Ask(scope) => {
                let identity = order.identity();
                let times = used.iter().filter(|other| **other == identity).count();
                match app.granted.times(&context.run_id, &identity) > times {
                    true => used.push(identity),
                    false => wanted.add(order, scope),
                }
            }
        }
    }
    Ok((wanted, used))
}

/// Returns the file with the person's patterns, as a person writes it.
fn rules_file(app: &Terminal) -> String {
    Rules::path(&app.env).map_or_else(String::new, |path| in_home(&path, &app.env))
}

fn in_home(path: &Path, env: &BTreeMap<String, String>) -> String {
    let below = env.get("HOME").and_then(|home| path.strip_prefix(home).ok());
    below.map_or_else(|| path.display().to_string(), |below| format!("~/{}", below.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_line_is_hidden() {
        assert_eq!(visible("ls # list,\nrm -rf x"), "ls # list, ↵ rm -rf x");
        assert_eq!(visible("a ⏎ in .: b"), "a ⟨U+23CE⟩ in .: b");
        assert_eq!(
            visible("a\u{e0100}b\u{fe0f}c\u{ad}d\re"),
            "a⟨U+E0100⟩b⟨U+FE0F⟩c⟨U+00AD⟩d⟨U+000D⟩e"
        );
        assert_eq!(visible("日本 é 👍"), "日本 é 👍");
    }

    #[test]
    fn commands_that_can_not_be_shown_are_not_offered() {
        let wanted = Wanted { lines: vec!["x".into()], ..Wanted::default() };
        assert_eq!(wanted.offers("", "short"), [Offer::Always, Offer::Once]);
        let some = Wanted { programs: ["ls".to_owned()].into(), ..wanted.clone() };
        assert_eq!(some.offers("", "short"), [Offer::Always, Offer::Programs, Offer::Once]);
        let long = "x".repeat(QUESTION_SHOWN + 1);
        assert_eq!(wanted.offers("", &long), [Offer::Always]);
        assert_eq!(wanted.offers(&long, "short"), [Offer::Always]);
        let each = Wanted { each_time: true, ..Wanted::default() };
        assert_eq!(each.offers("", "short"), [Offer::Once]);
        assert_eq!(each.offers("", &long), []);
        let many =
            Wanted { programs: (0..99).map(|n| n.to_string()).collect(), ..Wanted::default() };
        assert_eq!(many.offers("", "short"), [Offer::Always, Offer::Once]);
    }
}
