//! Carries out actions.

use docui::args::Arg;
use docui::{Actions, Context, Done, Fault};
use pipemux_memotree_store::actions::{NewNode, NewPlace};
use pipemux_memotree_store::config::Settings;

use crate::action::Action;
use crate::model::{DEBUG, MemoTree, TIME};
use crate::names::{ids, optional};
use crate::node_actions::{self as nodes, place};
use crate::project::FOLDER;
use crate::reply::ChangeReply;
use crate::{query, rows, search, settings, transfer, undo, view_actions as views};

/// The result of an action.
enum Outcome {
    /// An answer; no file was changed.
    Answered(Done),
    Changed(ChangeReply),
}

impl From<Done> for Outcome {
    fn from(done: Done) -> Self {
        Self::Answered(done)
    }
}

impl From<ChangeReply> for Outcome {
    fn from(reply: ChangeReply) -> Self {
        Self::Changed(reply)
    }
}

/// Carries out one action.
///
/// # Errors
/// The action can't be carried out; nothing took effect.
pub fn update(tree: &mut MemoTree, action: Action, context: &Context) -> Result<Done, Fault> {
    tree.look_at(&named_keys(&action), context);
    let ChangeReply { done, committed } = match carry_out(tree, action, context)? {
        Outcome::Answered(done) => return Ok(done),
        Outcome::Changed(reply) => reply,
    };
    let changed = committed.iter().flat_map(|change| &change.nodes).map(ToString::to_string);
    tree.freshness.get_mut().inside(changed, context);
    tree.note_own_change();
    // Its own changes are no news to this session.
    tree.look_at_panels();
    let folder = tree.root().join(FOLDER);
    let files = committed.iter().flat_map(|change| &change.files);
    let files = files.map(|file| folder.join(file.to_string()));
    Ok(done.changed_files(files.filter_map(|file| file.into_os_string().into_string().ok())))
}

/// Returns the keys that an action names.
fn named_keys(action: &Action) -> Vec<String> {
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

fn carry_out(tree: &mut MemoTree, action: Action, context: &Context) -> Result<Outcome, Fault> {
    let budget = u64::from(context.budget);
    Ok(match action {
        Action::Show { nodes, level } => query::show(tree, &nodes, level, budget)?.into(),
        Action::ReadNodes { nodes } => query::show(tree, &nodes, None, budget)?.into(),
        Action::Search { query, skip } => search::search(tree, &query, skip, budget)?.into(),
        Action::List {} => query::list(tree)?.into(),
        Action::Trash {} => query::trash(tree)?.into(),
        Action::SourceList {} => settings::list(tree)?.into(),
        Action::Expand { nodes, level } => {
            views::set_levels(tree, &ids(tree, &nodes)?, Some(level.into()))?.into()
        }
        Action::Collapse { nodes } => views::set_levels(tree, &ids(tree, &nodes)?, None)?.into(),
        Action::Switch { view } => views::switch(tree, &view.key)?.into(),
        Action::Add { title, text, parent, before, gist, summary, tags } => {
            let place = NewPlace::At(place(tree, parent.as_ref(), before.as_ref())?);
            let text = text.text;
            let node = NewNode { title, text, gist, summary, tags, place, ..NewNode::default() };
            nodes::add(tree, node)?.into()
        }
        Action::AddMany { rows, parent } => {
            rows::add(tree, &rows.text, optional(tree, parent.as_ref())?.as_deref())?.into()
        }
        Action::Edit { node, text } => nodes::edit(tree, &node, &text, context)?.into(),
        Action::Append { node, text } => nodes::append(tree, &node, &text)?.into(),
        Action::Replace { old, new, nodes } => {
            nodes::replace(tree, (&old, &new), &nodes, context)?.into()
        }
        Action::Retitle { node, title } | Action::RenameNode { node, title } => {
            nodes::retitle(tree, &node, &title)?.into()
        }
        Action::Gist { node, text } => nodes::set_gist(tree, &node, &text)?.into(),
        Action::Summary { node, text } => nodes::set_summary(tree, &node, &text)?.into(),
        Action::Tag { nodes, add, remove } => nodes::tag(tree, &nodes, &add, &remove)?.into(),
        Action::Move { nodes, parent, before } => {
            let place = place(tree, parent.as_ref(), before.as_ref())?;
            nodes::move_nodes(tree, &nodes, &place)?.into()
        }
        Action::Remove { nodes } | Action::DeleteNodes { nodes } => {
            nodes::remove(tree, &nodes)?.into()
        }
        Action::Restore { id } => nodes::restore(tree, id.trim())?.into(),
        Action::Relate { a, b, kind } => nodes::relate(tree, &a, &b, &kind)?.into(),
        Action::Unrelate { relation } => nodes::unrelate(tree, relation.key)?.into(),
        Action::Undo { steps } => undo::steps(tree, steps, |tree| tree.store().undo_last())?.into(),
        Action::Redo { steps } => undo::steps(tree, steps, |tree| tree.store().redo_last())?.into(),
        Action::UndoChange { change } => undo::change(tree, &change.0)?.into(),
        Action::Import { path, parent } => {
            let (file, parent) = (context.path(&path.0), optional(tree, parent.as_ref())?);
            transfer::import(tree, &file, &path.0, parent.as_deref())?.into()
        }
        Action::Export { path, nodes, overwrite } => {
            let file = context.path(&path.0);
            let done = transfer::export(tree, &file, &path.0, &nodes, overwrite)?;
            ChangeReply::unchanged(done).into()
        }
        Action::Set { tokens, budget, codebase, debug, time } => {
            let budget = settings::budget(budget)?;
            let settings = Settings { tokens: tokens.map(Into::into), budget, codebase };
            settings::set(tree, &settings, [(DEBUG, debug), (TIME, time)])?.into()
        }
        Action::Quota { source, tokens } => settings::set_quota(tree, &source, tokens)?.into(),
        Action::SourceAdd { session, priority, weight, lod } => {
            let source = settings::source(session, priority, weight, lod.into())?;
            settings::add_source(tree, &source)?.into()
        }
        Action::SourceRemove { session } => settings::remove_source(tree, session)?.into(),
        Action::Create { name, description } => views::create(tree, &name, &description)?.into(),
        Action::Describe { view, description } => {
            views::describe(tree, &view.key, &description)?.into()
        }
        Action::Rename { view, name } => views::rename(tree, &view.key, &name)?.into(),
        Action::Delete { view } => views::delete(tree, view.key)?.into(),
        Action::QuerySave { name, query } => views::save_query(tree, &name, &query)?.into(),
        Action::QueryDelete { query } => views::delete_query(tree, query.key)?.into(),
    })
}
