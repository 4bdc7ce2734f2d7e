//! Carries out actions. Each outcome says what is there now, so that nobody has to look again.

use docui::args::Arg;
use docui::{Actions, Anchor, Context, Done, Fault};
use pipemux_memotree_store::actions::{NewNode, NewPlace, Place};
use pipemux_memotree_store::{Committed, Level, StoreError};

use crate::action::{Action, Node};
use crate::faults::fault;
use crate::model::MemoTree;
use crate::names::{ids, maybe, one};
use crate::project::FOLDER;
use crate::{query, rows, search, settings, transfer, undo, view_actions, words};

/// Carries out one action.
///
/// # Errors
/// The action can't be carried out; nothing took effect.
pub fn update(tree: &mut MemoTree, action: Action, context: &Context) -> Result<Done, Fault> {
    let budget = u64::from(context.budget);
    tree.look_at(&named_things(&action), context);
    match action {
        Action::Show { nodes, level } => query::show(tree, &nodes, level, budget),
        Action::ReadNodes { nodes } => query::show(tree, &nodes, None, budget),
        Action::Search { query, skip } => search::search(tree, &query, skip, budget),
        Action::List {} => query::list(tree),
        Action::Trash {} => query::trash(tree),
        Action::SourceList {} => settings::list(tree),
        Action::Expand { nodes, level } => {
            view_actions::set_levels(tree, &ids(tree, &nodes)?, Some(level.into()))
        }
        Action::Collapse { nodes } => view_actions::set_levels(tree, &ids(tree, &nodes)?, None),
        Action::Switch { view } => view_actions::switch(tree, &view.key),
        other => {
            let (done, changes) = change(tree, other, context)?;
            let changed = changes.iter().flat_map(|change| &change.nodes).map(ToString::to_string);
            tree.freshness.get_mut().inside(changed, context);
            tree.note_own_change();
            // Its own changes are no news to this session.
            tree.look_at_panels();
            let folder = tree.root().join(FOLDER);
            let files = changes.iter().flat_map(|change| &change.files);
            let files = files.map(|file| folder.join(file.to_string()));
            Ok(done
                .changed_files(files.filter_map(|file| file.into_os_string().into_string().ok())))
        }
    }
}

/// Returns the keys of the things that an action names.
fn named_things(action: &Action) -> Vec<String> {
    fn add(arg: Arg, keys: &mut Vec<String>) {
        match arg {
            Arg::Ref(found) => keys.push(found.key),
            Arg::List(items) => items.into_iter().for_each(|item| add(item, keys)),
            Arg::Record(_) | Arg::Value(_) | Arg::Copied(_) => {}
        }
    }
    let mut keys = Vec::new();
    action.encode().1.into_values().for_each(|arg| add(arg, &mut keys));
    keys
}

/// Carries out an action that changes files. Returns also what was changed.
fn change(
    tree: &mut MemoTree,
    action: Action,
    context: &Context,
) -> Result<(Done, Vec<Committed>), Fault> {
    match action {
        Action::Add { title, text, parent, before, gist, summary, tags } => {
            let place = Place {
                parent: maybe(tree, parent.as_ref())?,
                before: maybe(tree, before.as_ref())?,
            };
            let place = NewPlace::At(place);
            let text = text.text;
            let node = NewNode { title, text, gist, summary, tags, place, ..NewNode::default() };
            let (added, done) = tree.store().add(&[node]).map_err(|error| tree.fault(error))?;
            Ok(told(done, words::list(added)))
        }
        Action::AddMany { rows, parent } => {
            rows::add(tree, &rows.text, maybe(tree, parent.as_ref())?.as_deref())
        }
        Action::Edit { node, text } => {
            let node = one(tree, &node)?;
            refuse_stale(tree, &node, context)?;
            let done = tree.store().edit(&node, &text.text).map_err(|error| tree.fault(error))?;
            let lines = words::count(text.text.lines().count() as u64, "line");
            Ok(told(done, format!("{}, {lines}{}", node, origin(&text.from))))
        }
        Action::Append { node, text } => {
            let node = one(tree, &node)?;
            let done = tree.store().append(&node, &text.text).map_err(|error| tree.fault(error))?;
            let lines = words::count(text.text.lines().count() as u64, "line");
            Ok(told(done, format!("{}: +{lines}{}", node, origin(&text.from))))
        }
        Action::Replace { old, new, nodes } => {
            let ids = if nodes.is_empty() { Vec::new() } else { ids(tree, &nodes)? };
            for id in &ids {
                refuse_stale(tree, id, context)?;
            }
            let replaced = tree.store().replace(&borrowed(&ids), &old, &new);
            let (ids, places, done) = replaced.map_err(|error| tree.fault(error))?;
            if ids.is_empty() {
                let search = tree.call(&format!("search({})", words::quoted(&old)));
                let fault = Fault::not_found(format!("no text, gist or summary has {old:?}"));
                return Err(
                    fault.hint(format!("words: {}", docui::command::command(&["ask", &search])))
                );
            }
            let places = words::count(places as u64, "place");
            let nodes = words::count(ids.len() as u64, "node");
            Ok(told(done, format!("{places} in {nodes}: {}", words::list(ids))))
        }
        Action::Retitle { node, title } | Action::RenameNode { node, title } => {
            let node = one(tree, &node)?;
            let done = tree.store().retitle(&node, &title).map_err(|error| tree.fault(error))?;
            Ok(told(done, format!("{} is \"{}\" now", node, title.trim())))
        }
        Action::Gist { node, text } => {
            let node = one(tree, &node)?;
            let done = tree
                .store()
                .describe(&node, Some(&text), None)
                .map_err(|error| tree.fault(error))?;
            Ok(told(done, format!("{}: {}", node, text.trim())))
        }
        Action::Summary { node, text } => {
            let node = one(tree, &node)?;
            let done = tree
                .store()
                .describe(&node, None, Some(&text))
                .map_err(|error| tree.fault(error))?;
            let lines = words::count(text.trim().lines().count() as u64, "line");
            Ok(told(done, format!("{}: {lines}", node)))
        }
        Action::Tag { nodes, add, remove } => tag(tree, &nodes, &add, &remove),
        Action::Move { nodes, parent, before } => {
            let ids = ids(tree, &nodes)?;
            let place = Place {
                parent: maybe(tree, parent.as_ref())?,
                before: maybe(tree, before.as_ref())?,
            };
            let to = match (&place.parent, &place.before) {
                (_, Some(before)) => format!("before {before}"),
                (Some(parent), None) => format!("below {parent}"),
                (None, None) => "at the end of the root".to_owned(),
            };
            let done = tree
                .store()
                .move_nodes(&borrowed(&ids), &place)
                .map_err(|error| tree.fault(error))?;
            Ok(told(done, format!("{} {to}", words::list(ids))))
        }
        Action::Remove { nodes } | Action::DeleteNodes { nodes } => {
            let ids = ids(tree, &nodes)?;
            let (gone, done) =
                tree.store().remove(&borrowed(&ids)).map_err(|error| tree.fault(error))?;
            let gone =
                format!("{}: {}", words::count(gone.len() as u64, "node"), words::list(gone));
            Ok(told(done, format!("{gone}, to the trash")))
        }
        Action::Restore { id } => {
            let done = tree.store().restore(id.trim()).map_err(|error| tree.fault(error))?;
            Ok(told(done, format!("{} is back", id.trim())))
        }
        Action::Relate { a, b, kind } => {
            let (a, b) = (one(tree, &a)?, one(tree, &b)?);
            let (id, done) =
                tree.store().relate(&a, &b, &kind).map_err(|error| tree.fault(error))?;
            Ok(told(done, format!("{} {kind} {} · relation {id}", a, b)))
        }
        Action::Unrelate { relation } => {
            let done = tree.store().unrelate(&relation.key).map_err(|error| tree.fault(error))?;
            Ok(told(done, relation.key))
        }
        Action::Undo { steps } => undo::steps(tree, steps, |tree| tree.store().undo_last()),
        Action::Redo { steps } => undo::steps(tree, steps, |tree| tree.store().redo_last()),
        Action::UndoChange { change } => undo::change(tree, &change.0),
        Action::Import { path, parent } => transfer::import(
            tree,
            &context.path(&path.0),
            &path.0,
            maybe(tree, parent.as_ref())?.as_deref(),
        ),
        Action::Export { path, nodes, overwrite } => {
            let done = transfer::export(tree, &context.path(&path.0), &path.0, &nodes, overwrite)?;
            Ok((done, Vec::new()))
        }
        action @ (Action::Set { .. }
        | Action::Quota { .. }
        | Action::SourceAdd { .. }
        | Action::SourceRemove { .. }) => settings::change(tree, action),
        other => view_actions::change(tree, other),
    }
}

fn tag(
    tree: &mut MemoTree,
    nodes: &[Anchor<Node>],
    add: &[String],
    remove: &[String],
) -> Result<(Done, Vec<Committed>), Fault> {
    let ids = ids(tree, nodes)?;
    if add.is_empty() && remove.is_empty() {
        return Err(Fault::usage("expected tags to add or to remove").hint(format!(
            "pipemux run '{}'",
            tree.call(&format!("tag(\"{}\", add=[\"…\"])", ids[0]))
        )));
    }
    let done = tree.store().tag(&borrowed(&ids), add, remove).map_err(|error| tree.fault(error))?;
    let mut all = Vec::new();
    for id in &ids {
        let row = tree.store().node(id).map_err(|error| tree.fault(error))?;
        let tags: Vec<String> = row.tags.iter().map(|tag| format!("#{tag}")).collect();
        all.push(format!(
            "{id}: {}",
            if tags.is_empty() { "no tags".into() } else { tags.join(" ") }
        ));
    }
    Ok(told(done, words::list(all)))
}

/// Refuses to replace a text that somebody else changed since the caller looked.
fn refuse_stale(tree: &MemoTree, id: &str, context: &Context) -> Result<(), Fault> {
    match tree.freshness.borrow().is_stale(id, context) {
        false => Ok(()),
        true => {
            let show = tree.call(&format!("show(\"{id}\")"));
            let message = format!("{id} was changed by somebody else since you saw it");
            Err(Fault::stale(message).hint(format!("pipemux ask '{show}'; then repeat the edit")))
        }
    }
}

/// Makes the answer to a change.
pub fn told(done: Committed, brief: String) -> (Done, Vec<Committed>) {
    let reply = match done.change {
        None => Done::new(format!("{brief}; nothing changed: it was so already")),
        Some(change) => Done::new(brief).link("undo", &undo::action(change)),
    };
    (reply.complete(), vec![done])
}

/// Returns ids as the store takes them.
pub fn borrowed(ids: &[String]) -> Vec<&str> {
    ids.iter().map(String::as_str).collect()
}

/// Returns the origin of a text that another app's value is.
fn origin(from: &Option<(String, String)>) -> String {
    match from {
        None => String::new(),
        Some((_, label)) => format!(" from {}", words::cut(label, 80)),
    }
}

/// Returns the level below which nothing of a node but its title is shown.
pub fn level_name(level: Option<Level>) -> &'static str {
    level.map_or("folded", Level::name)
}

/// Returns an error of the index as one of the store.
pub fn index_fault(error: pipemux_memotree_store::index::IndexError) -> Fault {
    fault(StoreError::from(error))
}
