//! Finds what a call names: by id, title or token.

use docui::{Anchor, Fault, Found, Kind, nearest};
use pipemux_memotree_store::{NodeId, StoreError, Token, TokenKind};

use crate::action::Node;
use crate::faults::fault;
use crate::model::MemoTree;
use crate::words;

/// Most nodes that an error names.
const NEAR_MAX: usize = 5;

/// Looks up what a key names: a node, a view, a saved search or a relation. Its rev never changes.
///
/// # Errors
/// The index or the folder can't be read.
pub fn find(tree: &MemoTree, key: &str) -> Result<Found, StoreError> {
    let store = tree.store();
    let index = store.index();
    if index.node(key)?.is_some() || index.relation(key)?.is_some() {
        return Ok(Found::Here(0));
    }
    let is_view = store.views()?.iter().any(|view| view.name == key);
    if is_view || store.queries()?.iter().any(|(name, _)| name == key) {
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
        TokenKind::View => store.view(name).map(|view| view.name).map_err(|error| {
            let is_node = store.index().node(name).is_ok_and(|row| row.is_some());
            match is_node {
                false => fault(error),
                true => Fault::not_found(format!("`{name}` is a node, not a view"))
                    .hint("for nodes: retitle(node, title), remove(nodes)"),
            }
        }),
        TokenKind::Query => store.query(name).map(|_| name.to_owned()).map_err(fault),
        TokenKind::Relation => match store.index().relation(name).map_err(StoreError::from) {
            Ok(Some(_)) => Ok(name.to_owned()),
            Ok(None) => Err(Fault::not_found(format!("there is no relation `{name}`"))),
            Err(error) => Err(fault(error)),
        },
        TokenKind::Node => {
            drop(store);
            node(tree, name)
        }
    }
}

/// Returns the id of the node that an id or a title means.
fn node(tree: &MemoTree, name: &str) -> Result<String, Fault> {
    let store = tree.store();
    if store.index().node(name).map_err(StoreError::from).map_err(fault)?.is_some() {
        return Ok(name.to_owned());
    }
    let titled =
        store.index().titled(name, NEAR_MAX + 1).map_err(StoreError::from).map_err(fault)?;
    match titled.as_slice() {
        [one] => Ok(one.id.to_string()),
        [] => {
            let near = near(&store, name).map_err(fault)?;
            let named = format!("there is no node {name:?}");
            Err(match near.is_empty() {
                false => Fault::not_found(format!("{named}; near: {}", words::list(near))),
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
            Err(Fault::usage(message).hint(format!("name one by its id: {}", words::list(ids))))
        }
    }
}

/// Returns ids and titles like a name.
fn near(store: &pipemux_memotree_store::Store, name: &str) -> Result<Vec<String>, StoreError> {
    let mut near: Vec<String> = Vec::new();
    if let Err(StoreError::NoNode { near: ids, .. }) = store.node(name) {
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

/// Returns the ids of nodes, each once. There must be at least one.
///
/// # Errors
/// There is none.
pub fn ids(nodes: &[Anchor<Node>]) -> Result<Vec<String>, Fault> {
    let mut ids: Vec<String> = Vec::new();
    for node in nodes {
        if !ids.contains(&node.key) {
            ids.push(node.key.clone());
        }
    }
    match ids.is_empty() {
        true => Err(Fault::usage("nodes: expected at least one, got none")
            .hint("name them by id or title: ['plan', 'ideas']")),
        false => Ok(ids),
    }
}

/// Returns the key that an optional reference has.
pub fn key<K: Kind>(anchor: Option<&Anchor<K>>) -> Option<String> {
    anchor.map(|anchor| anchor.key.clone())
}
