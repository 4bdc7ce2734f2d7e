//! What one can do with views: what they have expanded, their names and descriptions; and with saved searches.

use std::time::{SystemTime, UNIX_EPOCH};

use docui::{Ask, Done, Fault};
use pipemux_memotree_store::{Committed, Level, StoreError};

use crate::action::Action;
use crate::model::MemoTree;
use crate::update::{level_name, told};
use crate::words;

/// Expands nodes in the view that is shown, or folds them. What an expanded node stands below shows it without its siblings,
/// unless it is expanded itself.
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
        let mut above = store.node(id).map_err(|error| tree.fault(error))?.shown_under;
        while let Some(parent) = above.filter(|_| level.is_some()) {
            let parent = parent.to_string();
            let known = store
                .state
                .level(&view, &parent)
                .map_err(StoreError::from)
                .map_err(|error| tree.fault(error))?;
            above = store.node(&parent).map_err(|error| tree.fault(error))?.shown_under;
            if known.is_none() && !ids.contains(&parent) && !folded_above.contains(&parent) {
                folded_above.push(parent);
            }
        }
    }
    store
        .state
        .set_levels(&view, &folded_above, Some(Level::Path))
        .map_err(StoreError::from)
        .map_err(|error| tree.fault(error))?;
    store
        .state
        .set_levels(&view, ids, level)
        .map_err(StoreError::from)
        .map_err(|error| tree.fault(error))?;
    Ok(Done::new(format!("{}: {}", words::list(ids), level_name(level))))
}

/// Shows another view.
///
/// # Errors
/// There is none of this name, or the state can't be written.
pub fn switch(tree: &mut MemoTree, name: &str) -> Result<Done, Fault> {
    let mut store = tree.store();
    let view = store.view(name).map_err(|error| tree.fault(error))?;
    let last =
        store.views().map_err(|error| tree.fault(error))?.iter().map(|view| view.usage.used).max();
    // Switches within one second are told apart.
    let used = now().max(last.unwrap_or_default() + 1);
    let focus = view.usage.focus.as_deref();
    store
        .state
        .use_view(name, focus, used)
        .map_err(StoreError::from)
        .map_err(|error| tree.fault(error))?;
    drop(store);
    tree.view = name.to_owned();
    tree.look_at_panels();
    Ok(Done::new(name.to_owned()))
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
}

/// Carries out an action that changes a view or a saved search.
///
/// # Errors
/// There is none of this name, the name isn't allowed, or a file can't be written.
pub fn change(tree: &mut MemoTree, action: Action) -> Result<(Done, Vec<Committed>), Fault> {
    match action {
        Action::Create { name, description } => {
            let done =
                tree.store().create_view(&name, &description).map_err(|error| tree.fault(error))?;
            let switch = tree.call(&format!("switch(\"{name}\")"));
            Ok(told(done, format!("{} · to show it: {switch}", name)))
        }
        Action::Describe { view, description } => {
            let done = tree
                .store()
                .describe_view(&view.key, &description)
                .map_err(|error| tree.fault(error))?;
            Ok(told(done, format!("{}: {}", view.key, description.trim())))
        }
        Action::Rename { view, name } => {
            let done =
                tree.store().rename_view(&view.key, &name).map_err(|error| tree.fault(error))?;
            if tree.view == view.key {
                tree.view.clone_from(&name);
            }
            Ok(told(done, format!("{} is {} now", view.key, name)))
        }
        Action::Delete { view } => {
            let done = tree.store().delete_view(&view.key).map_err(|error| tree.fault(error))?;
            Ok(told(done, view.key))
        }
        Action::QuerySave { name, query } => {
            let done = tree.store().save_query(&name, &query).map_err(|error| tree.fault(error))?;
            Ok(told(done, format!("{name}: {}", query.trim())))
        }
        Action::QueryDelete { query } => {
            let done = tree.store().delete_query(&query.key).map_err(|error| tree.fault(error))?;
            Ok(told(done, query.key))
        }
        other => Err(Fault::usage(format!("{other:?} is no action on views"))),
    }
}

/// Builds the question that is asked before a view is deleted.
///
/// # Errors
/// There is no such view, or the state can't be read.
pub fn confirm(tree: &MemoTree, action: &Action) -> Result<Ask, Fault> {
    let Action::Delete { view } = action else { return Ok(Ask::confirm("cannot be undone")) };
    let store = tree.store();
    let view = store.view(&view.key).map_err(|error| tree.fault(error))?;
    let expanded = store
        .state
        .expanded(&view.name)
        .map_err(StoreError::from)
        .map_err(|error| tree.fault(error))?;
    let described = match view.description.as_str() {
        "" => String::new(),
        text => format!(" ({text})"),
    };
    let expanded = words::count(expanded, "expanded node");
    Ok(Ask::confirm(format!("view {}{described}, {expanded}; the nodes stay", view.name)))
}
