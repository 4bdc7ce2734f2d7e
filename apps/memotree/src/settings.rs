//! The display settings of the tree, and the sessions shown beside it.

use docui::{Done, Fault, Value, View};
use pipemux_memotree_store::config;
use pipemux_memotree_store::config::{Config, PARTS, Settings, SourceConfig, lod_name};
use pipemux_notes::text::count;

use crate::model::{DEBUG, MemoTree, TIME};
use crate::reply::ChangeReply;

/// Sets how the tree is shown. `switches` are those of this session alone: [`DEBUG`] and [`TIME`].
///
/// # Errors
/// Nothing is to be set, a value isn't allowed, or memotree.toml is broken or can't be written.
pub fn set(
    tree: &mut MemoTree,
    settings: &Settings,
    switches: [(&str, Option<bool>); 2],
) -> Result<ChangeReply, Fault> {
    let is_any = switches.iter().any(|(_, on)| on.is_some());
    if *settings == Settings::default() && !is_any {
        let call = tree.call("set(debug=true)");
        return Err(Fault::usage(format!("expected what to set; it is {}", shown(tree)))
            .hint(docui::command::run(&call)));
    }
    // What may be refused comes first: a call that fails sets nothing.
    let done = config::set(&mut tree.store(), settings).map_err(|error| tree.fault(error))?;
    for (name, on) in switches {
        if let Some(on) = on {
            tree.store().state.switch_on(name, on).map_err(|error| tree.fault(error))?;
        }
    }
    tree.look_at_panels();
    let brief = shown(tree);
    Ok(match *settings == Settings::default() {
        true => ChangeReply::unchanged(Done::new(brief).complete()),
        false => ChangeReply::new(done, brief),
    })
}

/// Returns a budget as the store takes it.
///
/// # Errors
/// It is negative.
pub fn budget(tokens: Option<i64>) -> Result<Option<u64>, Fault> {
    let budget = tokens.map(u64::try_from).transpose();
    budget.map_err(|_| Fault::usage("budget: expected tokens, 0 for all"))
}

/// Adds a session to the document, or changes how it is shown there.
///
/// # Errors
/// It is the session of the tree itself, a value isn't allowed, or memotree.toml can't be written.
pub fn add_source(tree: &mut MemoTree, source: &SourceConfig) -> Result<ChangeReply, Fault> {
    if source.id == tree.address() {
        return Err(Fault::usage("session: this is the session of the tree itself"));
    }
    let done = config::add_source(&mut tree.store(), source).map_err(|error| tree.fault(error))?;
    let open = docui::command::command(&["open", &source.id]);
    Ok(ChangeReply::new(done, format!("{} · shown where it is open: {open}", source.id)))
}

/// Returns a source as a call describes it.
///
/// # Errors
/// A number is too large, or a weight is negative.
pub fn source(
    session: String,
    priority: i64,
    weight: i64,
    lod: docui::Lod,
) -> Result<SourceConfig, Fault> {
    Ok(SourceConfig {
        id: session,
        priority: i32::try_from(priority).map_err(|_| Fault::usage("priority: too large"))?,
        weight: u32::try_from(weight).map_err(|_| Fault::usage("weight: expected 1 or more"))?,
        lod,
    })
}

/// Sets how many tokens a source gets.
///
/// # Errors
/// There is no such source, the number isn't allowed, or memotree.toml can't be written.
pub fn set_quota(tree: &mut MemoTree, source: &str, tokens: i64) -> Result<ChangeReply, Fault> {
    let tokens =
        u64::try_from(tokens).map_err(|_| Fault::usage("tokens: expected a number, 0 for none"))?;
    let done =
        config::set_quota(&mut tree.store(), source, tokens).map_err(|error| tree.fault(error))?;
    let brief = match tokens {
        0 => format!("{source}: as usual"),
        tokens => format!("{source}: {tokens} tokens"),
    };
    Ok(ChangeReply::new(done, brief))
}

/// Takes a session out of the document.
///
/// # Errors
/// It isn't in there, or memotree.toml can't be written.
pub fn remove_source(tree: &mut MemoTree, session: String) -> Result<ChangeReply, Fault> {
    let done =
        config::remove_source(&mut tree.store(), &session).map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, session))
}

/// Returns the settings as they are.
fn shown(tree: &MemoTree) -> String {
    let Config { tokens, budget, codebase, .. } = &tree.config;
    let budget = budget.map_or_else(|| "as asked".to_owned(), |budget| budget.to_string());
    let codebase = codebase.unwrap_or(true);
    let (debug, time) = (tree.is_on(DEBUG), tree.is_on(TIME));
    let tokens = tokens.name();
    format!("tokens={tokens}, budget={budget}, codebase={codebase}, debug={debug}, time={time}")
}

/// Lists the sources of the document, in its order.
///
/// # Errors
/// None now; a source that can't be read is listed all the same.
pub fn list(tree: &MemoTree) -> Result<Done, Fault> {
    let mut view = View::new("");
    let quota = |id: &str| match tree.config.quotas.get(id) {
        Some(tokens) => format!(" · quota {tokens} tokens"),
        None => String::new(),
    };
    for part in PARTS {
        let about = match (part, tree.config.codebase.unwrap_or(true)) {
            ("codebase", true) => "the project's symbols; set(codebase=false) leaves it out",
            ("codebase", false) => "left out; set(codebase=true) shows it",
            _ => "always",
        };
        view.text(format!("- {part}: {about}{}\n", quota(part)));
    }
    let mut sources: Vec<&SourceConfig> = tree.config.sources.iter().collect();
    sources.sort_by_key(|source| std::cmp::Reverse((source.priority, source.weight)));
    for SourceConfig { id, priority, weight, lod } in &sources {
        let lod = lod_name(*lod);
        view.text(format!("- {id} · priority {priority} · weight {weight} · {lod}{}\n", quota(id)));
    }
    let ids = sources.iter().map(|source| Value::from(source.id.as_str())).collect();
    let brief = count((sources.len() + PARTS.len()) as u64, "source");
    Ok(Done::new(brief).content(view).value(Value::List(ids)))
}
