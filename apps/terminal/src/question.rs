//! The question whether commands may run, and what its answer allows. One question is about all commands of a call.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use docui::{Ask, Context, Fault, FilePath, Reply};

use crate::model::{Terminal, shortened};
use crate::permission::{Permission, Rules, Scope};
use crate::run::orders;
use crate::start::Order;

/// What is to be allowed before commands run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    /// Programs of any command.
    programs: BTreeSet<String>,
    /// Lines that are asked for as a whole.
    lines: Vec<String>,
    /// True if a pattern says that a command is asked for each time.
    each_time: bool,
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
}

/// Asks whether commands may run.
///
/// # Errors
/// One of them may not in any case.
pub fn question(
    app: &Terminal,
    commands: &[String],
    cwd: Option<FilePath>,
    env: &BTreeMap<String, String>,
    context: &Context,
) -> Result<Reply, Fault> {
    let orders = orders(app, commands, cwd, env, context)?;
    let wanted = wanted(app, &orders)?;
    let file = rules_file(app);
    let any = format!(
        "all commands in this workspace from now on (for all workspaces: allow = [\"*\"] in {file})"
    );
    let several = orders.len() > 1;
    // A line that is asked for as a whole is shown as a whole.
    let shown = |order: &Order| match wanted.lines.is_empty() && !wanted.each_time {
        true => shortened(&order.whole()),
        false => order.whole(),
    };
    let lines = orders.iter().map(shown).collect::<Vec<_>>().join("; ");
    let named = wanted.named();
    let ask = if wanted.each_time || wanted.is_nothing() {
        Ask::pick_one(format!("may {} run? {lines}", if several { "these" } else { "this" }))
            .option("once", "it is asked each time")
    } else {
        let once = match (wanted.programs.is_empty(), several) {
            (true, false) => "now",
            (false, false) => "this command",
            (_, true) => "these commands",
        };
        Ask::pick_one(format!("may {named} run? {lines}"))
            .option("always", format!("{named} in this workspace"))
            .option("once", once)
            .option("any", any)
    };
    Ok(ask.token(token(&orders)).into())
}

/// Returns whether commands may run, and notes what an answer allows.
///
/// # Errors
/// One of them may not in any case, or the answer forbids it.
pub fn is_permitted(
    app: &mut Terminal,
    orders: &[Order],
    context: &Context,
) -> Result<bool, Fault> {
    let wanted = wanted(app, orders)?;
    if wanted.is_nothing() {
        return Ok(true);
    }
    let Some((given, choice)) = &context.answer else { return Ok(false) };
    if *given != token(orders).into_bytes() {
        return Ok(false);
    }
    let docui::Choice::Picked(picked) = choice else { return Ok(false) };
    match (picked.as_slice(), wanted.each_time) {
        ([1], false) => {
            if !wanted.programs.is_empty() {
                let programs = Scope::Programs(wanted.programs.into_iter().collect());
                app.allowed.add(&programs, "", &app.state_dir)?;
            }
            for line in &wanted.lines {
                app.allowed.add(&Scope::Line, line, &app.state_dir)?;
            }
            Ok(true)
        }
        ([3], false) => {
            app.allowed.add(&Scope::Any, "", &app.state_dir)?;
            Ok(true)
        }
        ([2], false) | ([1], true) => Ok(true),
        _ => Err(Fault::refused("it was not run")),
    }
}

/// What a question and its answer are about: exactly these lines.
fn token(orders: &[Order]) -> String {
    orders.iter().map(Order::whole).collect::<Vec<_>>().join("\n")
}

fn wanted(app: &Terminal, orders: &[Order]) -> Result<Wanted, Fault> {
    let rules = Rules::read(Rules::path(&app.env).as_deref())?;
    let mut wanted = Wanted::default();
    for order in orders {
        let is_plain = order.given.is_empty();
        match rules.check(&order.line, &order.whole(), is_plain, &order.cwd, &app.allowed) {
            Permission::Allowed => {}
            Permission::Denied(pattern) => {
                let file = rules_file(app);
                let which = if orders.len() > 1 {
                    format!("{} may", shortened(&order.whole()))
                } else {
                    "it may".to_owned()
                };
                return Err(Fault::refused(format!(
                    "{which} not run: deny = [{pattern:?}] in {file}"
                )));
            }
            Permission::Ask(None) => wanted.each_time = true,
            Permission::Ask(Some(Scope::Programs(programs))) => wanted.programs.extend(programs),
            Permission::Ask(Some(Scope::Line | Scope::Any)) => wanted.lines.push(order.whole()),
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
