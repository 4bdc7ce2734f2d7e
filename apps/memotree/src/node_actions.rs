//! Carries out actions that change nodes. Each answer says what is there now.

use docui::{Anchor, Context, Fault, Text, command};
use pipemux_memotree_store::actions::{NewNode, NodePlace};
use pipemux_notes::text::{count, one_line};

use crate::action::Node;
use crate::format;
use crate::model::MemoTree;
use crate::names::{borrowed, ids, one, optional};
use crate::reply::ChangeReply;

/// Most characters that an answer shows of where a text is from.
const ORIGIN_CHARS: usize = 80;

/// Returns the place that a call names.
pub fn place(
    tree: &MemoTree,
    parent: Option<&Anchor<Node>>,
    before: Option<&Anchor<Node>>,
) -> Result<NodePlace, Fault> {
    Ok(NodePlace { parent: optional(tree, parent)?, before: optional(tree, before)? })
}

pub fn add(tree: &mut MemoTree, node: NewNode) -> Result<ChangeReply, Fault> {
    let (added, done) = tree.store().add(&[node]).map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, format::list(added)))
}

pub fn edit(
    tree: &mut MemoTree,
    node: &Anchor<Node>,
    text: &Text,
    context: &Context,
) -> Result<ChangeReply, Fault> {
    let node = one(tree, node)?;
    refuse_stale(tree, &node, context)?;
    let done = tree.store().edit(&node, &text.text).map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, format!("{node}, {}", length_and_origin(text))))
}

pub fn append(tree: &mut MemoTree, node: &Anchor<Node>, text: &Text) -> Result<ChangeReply, Fault> {
    let node = one(tree, node)?;
    let done = tree.store().append(&node, &text.text).map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, format!("{node}: +{}", length_and_origin(text))))
}

/// Replaces a text in nodes, of none named in all.
pub fn replace(
    tree: &mut MemoTree,
    (old, new): (&str, &str),
    nodes: &[Anchor<Node>],
    context: &Context,
) -> Result<ChangeReply, Fault> {
    let ids = if nodes.is_empty() { Vec::new() } else { ids(tree, nodes)? };
    for id in &ids {
        refuse_stale(tree, id, context)?;
    }
    let replaced = tree.store().replace(&borrowed(&ids), old, new);
    let (ids, places, done) = replaced.map_err(|error| tree.fault(error))?;
    if ids.is_empty() {
        let search = tree.call(&format!("search({})", format::quoted(old)));
        let fault = Fault::not_found(format!("no text, gist or summary has {old:?}"));
        return Err(fault.hint(format!("words: {}", command::command(&["ask", &search]))));
    }
    let (places, nodes) = (count(places as u64, "place"), count(ids.len() as u64, "node"));
    Ok(ChangeReply::new(done, format!("{places} in {nodes}: {}", format::list(ids))))
}

pub fn retitle(
    tree: &mut MemoTree,
    node: &Anchor<Node>,
    title: &str,
) -> Result<ChangeReply, Fault> {
    let node = one(tree, node)?;
    let done = tree.store().retitle(&node, title).map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, format!("{node} is \"{}\" now", title.trim())))
}

pub fn set_gist(
    tree: &mut MemoTree,
    node: &Anchor<Node>,
    gist: &str,
) -> Result<ChangeReply, Fault> {
    let node = one(tree, node)?;
    let done = tree.store().describe(&node, Some(gist), None).map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, format!("{node}: {}", gist.trim())))
}

pub fn set_summary(
    tree: &mut MemoTree,
    node: &Anchor<Node>,
    text: &str,
) -> Result<ChangeReply, Fault> {
    let node = one(tree, node)?;
    let done = tree.store().describe(&node, None, Some(text)).map_err(|error| tree.fault(error))?;
    let lines = count(text.trim().lines().count() as u64, "line");
    Ok(ChangeReply::new(done, format!("{node}: {lines}")))
}

pub fn tag(
    tree: &mut MemoTree,
    nodes: &[Anchor<Node>],
    add: &[String],
    remove: &[String],
) -> Result<ChangeReply, Fault> {
    let ids = ids(tree, nodes)?;
    if add.is_empty() && remove.is_empty() {
        let call = tree.call(&format!("tag(\"{}\", add=[\"…\"])", ids[0]));
        return Err(
            Fault::usage("expected tags to add or to remove").hint(format!("pipemux run '{call}'"))
        );
    }
    let done = tree.store().tag(&borrowed(&ids), add, remove).map_err(|error| tree.fault(error))?;
    let mut all = Vec::new();
    for id in &ids {
        let row = tree.store().files.node(id).map_err(|error| tree.fault(error))?;
        let tags: Vec<String> = row.tags.iter().map(|tag| format!("#{tag}")).collect();
        let tags = if tags.is_empty() { "no tags".to_owned() } else { tags.join(" ") };
        all.push(format!("{id}: {tags}"));
    }
    Ok(ChangeReply::new(done, format::list(all)))
}

pub fn move_nodes(
    tree: &mut MemoTree,
    nodes: &[Anchor<Node>],
    place: &NodePlace,
) -> Result<ChangeReply, Fault> {
    let ids = ids(tree, nodes)?;
    let to = match (&place.parent, &place.before) {
        (_, Some(before)) => format!("before {before}"),
        (Some(parent), None) => format!("below {parent}"),
        (None, None) => "at the end of the root".to_owned(),
    };
    let done = tree.store().move_nodes(&borrowed(&ids), place);
    let done = done.map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, format!("{} {to}", format::list(ids))))
}

pub fn remove(tree: &mut MemoTree, nodes: &[Anchor<Node>]) -> Result<ChangeReply, Fault> {
    let ids = ids(tree, nodes)?;
    let (gone, done) = tree.store().remove(&borrowed(&ids)).map_err(|error| tree.fault(error))?;
    let number = count(gone.len() as u64, "node");
    Ok(ChangeReply::new(done, format!("{number}: {}, to the trash", format::list(gone))))
}

pub fn restore(tree: &mut MemoTree, id: &str) -> Result<ChangeReply, Fault> {
    let done = tree.store().restore(id).map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, format!("{id} is back")))
}

pub fn relate(
    tree: &mut MemoTree,
    source: &Anchor<Node>,
    target: &Anchor<Node>,
    kind: &str,
) -> Result<ChangeReply, Fault> {
    let (source, target) = (one(tree, source)?, one(tree, target)?);
    let related = tree.store().relate(&source, &target, kind);
    let (id, done) = related.map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, format!("{source} {kind} {target} · relation {id}")))
}

pub fn unrelate(tree: &mut MemoTree, relation: String) -> Result<ChangeReply, Fault> {
    let done = tree.store().unrelate(&relation).map_err(|error| tree.fault(error))?;
    Ok(ChangeReply::new(done, relation))
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

/// Returns how long a text is, and of which app's value it is a copy.
fn length_and_origin(text: &Text) -> String {
    let lines = count(text.text.lines().count() as u64, "line");
    match &text.from {
        None => lines,
        Some((_, label)) => format!("{lines} from {}", one_line(label, ORIGIN_CHARS)),
    }
}
