//! Actions on views (expanding nodes, names, descriptions) and on saved searches.

use std::time::{SystemTime, UNIX_EPOCH};

use docui::{Ask, Done, Fault};
use pipemux_memotree_store::Level;
use pipemux_memotree_store::views;
use pipemux_notes::text::count;

use crate::action::Action;
use crate::format;
use crate::model::MemoTree;
use crate::reply::ChangeReply;

/// Expands nodes in the view that is shown, or folds them. What an expanded node stands below shows
/// it without its siblings, unless it is expanded itself.
///
/// # Errors
/// There is no such node, or the state can't be written.
pub fn set_levels(
    tree: &mut MemoTree,
    ids: &[String],
    level: Option<Level>,
) -> Result<Done, Fault> {
    let view = tree.view.clone();
    let mut store = tree.store();
    let mut folded_above = Vec::new();
    for id in ids {
        let mut above = store.files.node(id).map_err(|error| tree.fault(error))?.shown_under;
        while let Some(parent) = above.filter(|_| level.is_some()) {
            let parent = parent.to_string();
            let known = store.state.level(&view, &parent).map_err(|error| tree.fault(error))?;
            above = store.files.node(&parent).map_err(|error| tree.fault(error))?.shown_under;
            if known.is_none() && !ids.contains(&parent) && !folded_above.contains(&parent) {
                folded_above.push(parent);
            }
        }
    }
    store
        .state
        .set_levels(&view, &folded_above, Some(Level::Path))
        .map_err(|error| tree.fault(error))?;
    store.state.set_levels(&view, ids, level).map_err(|error| tree.fault(error))?;
    let level = level.map_or("folded", Level::name);
    Ok(Done::new(format!("{}: {level}", format::list(ids))))
}

/// Shows another view.
///
/// # Errors
/// There is none of this name, or the state can't be written.
pub fn switch(tree: &mut MemoTree, name: &str) -> Result<Done, Fault> {
    let mut store = tree.store();
    let view = views::get(&store, name).map_err(|error| tree.fault(error))?;
    let last = views::all(&store)
        .map_err(|error| tree.fault(error))?
        .iter()
        .map(|view| view.usage.used)
        .max();
    // Switches within one second are told apart.
    let used = now().max(last.unwrap_or_default() + 1);
    let focus = view.usage.focus.as_deref();
    store.state.use_view(name, focus, used).map_err(|error| tree.fault(error))?;
    drop(store);
    tree.view = name.to_owned();
    tree.look_at_panels();
    Ok(Done::new(name.to_owned()))
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
}

/// Makes a view.
///
/// # Errors
/// The name isn't allowed or taken, or the file can't be written.
pub fn create(tree: &mut MemoTree, name: &str, description: &str) -> Result<ChangeReply, Fault> {
    let done =
        views::create(&mut tree.store(), name, description).map_err(|error| tree.fault(error))?;
    let switch = tree.call(&format!("switch(\"{name}\")"));
    Ok(ChangeReply::new(done, format!("{name} · to show it: {switch}")))
}

/// Says what a view is for.
///
/// # Errors
/// There is none of this name, or the file can't be written.
pub fn describe(tree: &mut MemoTree, name: &str, description: &str) -> Result<ChangeReply, Fault> {
    let done =
        views::describe(&mut tree.store(), name, description).map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, format!("{name}: {}", description.trim())))
}

/// Gives a view another name.
///
/// # Errors
/// There is none of this name, the new one isn't allowed or taken, or the file can't be written.
pub fn rename(tree: &mut MemoTree, name: &str, to: &str) -> Result<ChangeReply, Fault> {
    let done = views::rename(&mut tree.store(), name, to).map_err(|error| tree.fault(error))?;
    if tree.view == name {
        to.clone_into(&mut tree.view);
    }
    Ok(ChangeReply::new(done, format!("{name} is {to} now")))
}

/// Deletes a view; nodes stay as they are.
///
/// # Errors
/// There is none of this name, or the file can't be removed.
pub fn delete(tree: &mut MemoTree, name: String) -> Result<ChangeReply, Fault> {
    let done = views::delete(&mut tree.store(), &name).map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, name))
}

/// Saves a search.
///
/// # Errors
/// The name isn't allowed, or the file can't be written.
pub fn save_query(tree: &mut MemoTree, name: &str, query: &str) -> Result<ChangeReply, Fault> {
    let done =
        views::save_query(&mut tree.store(), name, query).map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, format!("{name}: {}", query.trim())))
}

/// Deletes a saved search.
///
/// # Errors
/// There is none of this name, or the file can't be removed.
pub fn delete_query(tree: &mut MemoTree, name: String) -> Result<ChangeReply, Fault> {
    let done = views::delete_query(&mut tree.store(), &name).map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, name))
}

/// Builds the question that is asked before a view is deleted.
///
/// # Errors
/// There is no such view, or the state can't be read.
pub fn confirm(tree: &MemoTree, action: &Action) -> Result<Ask, Fault> {
    let Action::Delete { view } = action else { return Ok(Ask::confirm("cannot be undone")) };
    let store = tree.store();
    let view = views::get(&store, &view.key).map_err(|error| tree.fault(error))?;
    let expanded = store.state.expanded(&view.name).map_err(|error| tree.fault(error))?;
    let described = match view.description.as_str() {
        "" => String::new(),
        text => format!(" ({text})"),
    };
    let expanded = count(expanded, "expanded node");
    Ok(Ask::confirm(format!("view {}{described}, {expanded}; the nodes stay", view.name)))
}
