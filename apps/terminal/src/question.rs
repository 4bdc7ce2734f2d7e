//! The question whether commands may run, and what its answer allows. One question is about all commands of a call.
//!
//! A command is started by a [`Permit`], and only [`permits`] makes one: no way to start a command passes by the question.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use docui::{Ask, Context, Fault, Reply};

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
#[derive(Debug, Default, PartialEq, Eq)]
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
    /// All commands in this workspace, except for what a pattern names.
    All,
    /// These programs and lines in this workspace.
    Always,
    /// These commands now.
    Once,
}

impl Wanted {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
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
    fn offers(&self, lines: &str) -> Vec<Offer> {
        let is_shown = lines.chars().count() <= QUESTION_SHOWN;
        let is_named = self.named().chars().count() <= PROGRAMS_SHOWN;
        match (self.each_time, is_shown) {
            (true, true) => vec![Offer::Once],
            (true, false) => Vec::new(),
            (false, true) if is_named => vec![Offer::All, Offer::Always, Offer::Once],
            (false, true) => vec![Offer::All, Offer::Once],
            (false, false) => vec![Offer::All],
        }
    }
}

/// Asks whether commands may run.
///
/// # Errors
/// One of them may not in any case, or can't be shown.
pub fn question(app: &Terminal, orders: &[Order]) -> Result<Reply, Fault> {
    let wanted = wanted(app, orders)?;
    let lines = shown(orders);
    let offers = wanted.offers(&lines);
    let several = orders.len() > 1;
    let place = orders.first().map_or_else(String::new, |order| in_folder(app, order));
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
            text += &format!(" Only the beginning of its {count} characters is shown: {begin} …");
        }
    }
    let mut ask = Ask::pick_one(text).token(token(orders));
    for offer in offers {
        ask = match offer {
            Offer::All => ask.option(
                "all",
                format!(
                    "all commands in this workspace from now on (for all workspaces: allow = [\"*\"] in {})",
                    rules_file(app)
                ),
            ),
            Offer::Always => ask.option("always", format!("{named} in this workspace")),
            Offer::Once if wanted.each_time => ask.option("once", "it is asked each time"),
            Offer::Once if several => ask.option("once", "these commands"),
            Offer::Once => ask.option("once", "this command"),
        };
    }
    Ok(ask.into())
}

/// Returns the permits to run commands, or nothing if that must be asked first, and notes what an answer allows.
///
/// # Errors
/// One of them may not in any case or can't be run, or the answer forbids it.
pub fn permits(
    app: &mut Terminal,
    orders: Vec<Order>,
    context: &Context,
) -> Result<Option<Vec<Permit>>, Fault> {
    orders.iter().try_for_each(Order::check)?;
    let wanted = wanted(app, &orders)?;
    if !wanted.is_nothing() {
        let Some((given, choice)) = &context.answer else { return Ok(None) };
        if *given != token(&orders).into_bytes() {
            return Ok(None);
        }
        let docui::Choice::Picked(picked) = choice else { return Ok(None) };
        let offers = wanted.offers(&shown(&orders));
        let picked = match picked.as_slice() {
            [number] => {
                usize::try_from(*number).ok().and_then(|number| offers.get(number.checked_sub(1)?))
            }
            _ => None,
        };
        match picked.ok_or_else(|| Fault::refused("it was not run"))? {
            Offer::All => app.allowed.add(&Scope::All, "", &app.state_dir)?,
            Offer::Always => {
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
    }
    Ok(Some(orders.into_iter().map(Permit).collect()))
}

/// What a question and its answer are about: exactly these commands.
fn token(orders: &[Order]) -> String {
    orders.iter().map(Order::identity).collect::<Vec<_>>().join("\n")
}

/// Returns commands in one line, with nothing in it that isn't seen.
fn shown(orders: &[Order]) -> String {
    orders.iter().map(|order| visible(&order.whole())).collect::<Vec<_>>().join(" ⏎ ")
}

/// Returns a text in one line: its line breaks are shown, and so is what would be invisible.
fn visible(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        match c {
            '\n' => shown += " ⏎ ",
            '\t' => shown.push(' '),
            c if is_invisible(c) => shown += &format!("⟨U+{:04X}⟩", u32::from(c)),
            c => shown.push(c),
        }
    }
    shown
}

/// Characters that nobody sees or that reorder what is around them.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Says in which folder a command is to run, if that isn't the workspace's: ` in sub`.
fn in_folder(app: &Terminal, order: &Order) -> String {
    match order.cwd == app.workspace() {
        true => String::new(),
        false => {
            let folder = below(&order.cwd, app.workspace());
            format!(" in {}", visible(&in_home(folder, &app.env)))
        }
    }
}

fn wanted(app: &Terminal, orders: &[Order]) -> Result<Wanted, Fault> {
    let rules = Rules::read(Rules::path(&app.env).as_deref())?;
    let mut wanted = Wanted::default();
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
            Permission::Ask(None) => wanted.each_time = true,
            Permission::Ask(Some(Scope::Programs(programs))) => wanted.programs.extend(programs),
            Permission::Ask(Some(Scope::Line | Scope::All)) => wanted.lines.push(order.identity()),
        }
    }
    Ok(wanted)
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
        assert_eq!(visible("ls # list,\nrm -rf x"), "ls # list, ⏎ rm -rf x");
        assert_eq!(
            visible("a\u{e0100}b\u{fe0f}c\u{ad}d\re"),
            "a⟨U+E0100⟩b⟨U+FE0F⟩c⟨U+00AD⟩d⟨U+000D⟩e"
        );
        assert_eq!(visible("日本 é 👍"), "日本 é 👍");
    }

    #[test]
    fn what_can_not_be_shown_is_not_offered() {
        let wanted = Wanted { lines: vec!["x".into()], ..Wanted::default() };
        assert_eq!(wanted.offers("short"), [Offer::All, Offer::Always, Offer::Once]);
        let long = "x".repeat(QUESTION_SHOWN + 1);
        assert_eq!(wanted.offers(&long), [Offer::All]);
        let each = Wanted { each_time: true, ..Wanted::default() };
        assert_eq!(each.offers("short"), [Offer::Once]);
        assert_eq!(each.offers(&long), []);
        let many =
            Wanted { programs: (0..99).map(|n| n.to_string()).collect(), ..Wanted::default() };
        assert_eq!(many.offers("short"), [Offer::All, Offer::Once]);
    }
}
