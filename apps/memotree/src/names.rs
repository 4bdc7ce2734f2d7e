//! Finds what a call names: by id, title or token.

use docui::{Anchor, Fault, Found, nearest};
use pipemux_memotree_store::views;
use pipemux_memotree_store::{NodeId, StoreError, Token, TokenKind};

use crate::action::Node;
use crate::format;
use crate::model::MemoTree;

/// Most nodes that an error names.
const NEAR_MAX: usize = 5;

/// Most nodes that one tag stands for.
const TAGGED_MAX: usize = 1_000;

/// Looks up what a key names: a node, a view, a saved search or a relation. Its rev never changes.
///
/// # Errors
/// The index or the folder can't be read.
pub fn find(tree: &MemoTree, key: &str) -> Result<Found, StoreError> {
    let store = tree.store();
    let index = store.index();
    if let Some(tag) = tag_of(key) {
        let is_used = !index.tagged(tag, 1)?.is_empty();
        return Ok(if is_used { Found::Here(0) } else { Found::Gone(None) });
    }
    if index.node(key)?.is_some() || index.relation(key)?.is_some() {
        return Ok(Found::Here(0));
    }
    let is_view = views::all(&store)?.iter().any(|view| view.name == key);
    if is_view || views::queries(&store)?.iter().any(|(name, _)| name == key) {
        return Ok(Found::Here(0));
    }
    let trashed = NodeId::parse(key).is_ok_and(|id| store.is_in_trash(&id));
    Ok(Found::Gone(trashed.then(|| {
        let call = tree.call(&format!("restore(\"{key}\")"));
        format!("It was removed; to bring it back: {}", docui::command::run(&call))
    })))
}

/// Returns the key of what a name means.
///
/// # Errors
/// There is none, or several have it: the error has the nearest ones.
pub fn named(tree: &MemoTree, ty: Option<&str>, name: &str) -> Result<String, Fault> {
    let name = name.trim();
    let wanted = match ty {
        Some("view") => TokenKind::View,
        Some("query") => TokenKind::Query,
        Some("relation") => TokenKind::Relation,
        _ => TokenKind::Node,
    };
    let token = Token::parse(name).ok();
    let name = match &token {
        Some(token) if token.kind != wanted => {
            let message = format!("{token} is no {}", wanted.name().to_lowercase());
            return Err(Fault::usage(message));
        }
        Some(token) => token.name.as_str(),
        None => name,
    };
    let store = tree.store();
    match wanted {
        TokenKind::View => views::get(&store, name).map(|view| view.name).map_err(|error| {
            let is_node = store.index().node(name).is_ok_and(|row| row.is_some());
            match is_node {
                false => tree.fault(error),
                true => Fault::not_found(format!("`{name}` is a node, not a view"))
                    .hint("for nodes: retitle(node, title), remove(nodes)"),
            }
        }),
        TokenKind::Query => {
            views::query(&store, name).map(|_| name.to_owned()).map_err(|error| tree.fault(error))
        }
        TokenKind::Relation => match store.index().relation(name).map_err(StoreError::from) {
            Ok(Some(_)) => Ok(name.to_owned()),
            Ok(None) => Err(Fault::not_found(format!("there is no relation `{name}`"))),
            Err(error) => Err(tree.fault(error)),
        },
        TokenKind::Node => {
            drop(store);
            node(tree, name)
        }
    }
}

/// Returns the tag that a name such as `#decision` means.
fn tag_of(name: &str) -> Option<&str> {
    name.strip_prefix('#').map(str::trim).filter(|tag| !tag.is_empty())
}

/// Returns the nodes with a tag. There is at least one.
fn tagged(tree: &MemoTree, tag: &str) -> Result<Vec<String>, Fault> {
    let found = tree.store().index().tagged(tag, TAGGED_MAX).map_err(StoreError::from);
    let ids: Vec<String> =
        found.map_err(|error| tree.fault(error))?.iter().map(|row| row.id.to_string()).collect();
    match ids.len() {
        0 => {
            let all = tree.call("show()");
            Err(Fault::not_found(format!("no node has the tag #{tag}"))
                .hint(format!("titles with their tags: pipemux ask '{all}'")))
        }
        TAGGED_MAX.. => Err(Fault::usage(format!("#{tag}: {TAGGED_MAX} nodes or more have it"))
            .hint("name the nodes by their ids")),
        _ => Ok(ids),
    }
}

/// Returns the one node that an action is about.
///
/// # Errors
/// A tag stands for several.
pub fn one(tree: &MemoTree, node: &Anchor<Node>) -> Result<String, Fault> {
    let Some(tag) = tag_of(&node.key) else { return Ok(node.key.clone()) };
    let mut ids = tagged(tree, tag)?;
    match ids.len() {
        1 => Ok(ids.remove(0)),
        several => Err(Fault::usage(format!("#{tag} stands for {several} nodes, expected one"))
            .hint(format!("name one of them: {}", format::list(ids)))),
    }
}

/// Returns the node that an optional parameter names.
///
/// # Errors
/// A tag stands for several.
pub fn optional(tree: &MemoTree, node: Option<&Anchor<Node>>) -> Result<Option<String>, Fault> {
    node.map(|node| one(tree, node)).transpose()
}

/// Returns the id of the node that an id or a title means, or the tag that is kept as it is.
fn node(tree: &MemoTree, name: &str) -> Result<String, Fault> {
    if let Some(tag) = tag_of(name)
        && tree.store().index().titled(name, 1).is_ok_and(|rows| rows.is_empty())
    {
        return tagged(tree, tag).map(|_| format!("#{tag}"));
    }
    let store = tree.store();
    if store.index().node(name).map_err(|error| tree.fault(error))?.is_some() {
        return Ok(name.to_owned());
    }
    let titled = store.index().titled(name, NEAR_MAX + 1).map_err(|error| tree.fault(error))?;
    match titled.as_slice() {
        [one] => Ok(one.id.to_string()),
        [] => {
            let near = near(&store, name).map_err(|error| tree.fault(error))?;
            let named = format!("there is no node {name:?}");
            Err(match near.is_empty() {
                false => Fault::not_found(format!("{named}; near: {}", format::list(near))),
                true => {
                    let show = tree.call("show()");
                    Fault::not_found(named).hint(format!("pipemux ask '{show}'"))
                }
            })
        }
        several => {
            let mut ids: Vec<String> =
                several.iter().map(|row| format!("\"{}\"", row.id)).collect();
            ids.sort();
            let message = format!("{} nodes have the title {name:?}", several.len());
            Err(Fault::usage(message).hint(format!("name one by its id: {}", format::list(ids))))
        }
    }
}

/// Returns ids and titles like a name.
fn near(store: &pipemux_memotree_store::Store, name: &str) -> Result<Vec<String>, StoreError> {
    let mut near: Vec<String> = Vec::new();
    if let Err(StoreError::NoNode { near: ids, .. }) = store.files.node(name) {
        near.extend(ids);
    }
    let like = store.index().search(&name.replace(['-', '_'], " "), NEAR_MAX)?;
    let titles: Vec<&str> = like.nodes.iter().map(|row| row.title.as_str()).collect();
    let best = nearest(name, titles);
    let rows = like.nodes.iter().filter(|row| best.is_none_or(|best| row.title == best));
    near.extend(rows.map(|row| row.id.to_string()));
    near.sort();
    near.dedup();
    near.truncate(NEAR_MAX);
    Ok(near)
}

/// Returns the ids of nodes, each once; a tag stands for the nodes that have it. There must be at
/// least one.
///
/// # Errors
/// There is none.
pub fn ids(tree: &MemoTree, nodes: &[Anchor<Node>]) -> Result<Vec<String>, Fault> {
    let mut ids: Vec<String> = Vec::new();
    for node in nodes {
        let named = match tag_of(&node.key) {
            Some(tag) => tagged(tree, tag)?,
            None => vec![node.key.clone()],
        };
        let new: Vec<String> = named.into_iter().filter(|id| !ids.contains(id)).collect();
        ids.extend(new);
    }
    match ids.is_empty() {
        true => Err(Fault::usage("nodes: expected at least one, got none")
            .hint("name them by id, title or tag: ['plan', 'ideas'], ['#decision']")),
        false => Ok(ids),
    }
}

/// Returns ids as the store takes them.
pub fn borrowed(ids: &[String]) -> Vec<&str> {
    ids.iter().map(String::as_str).collect()
}
