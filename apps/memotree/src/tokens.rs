//! What the tree's tokens name, also in a text of another session or an old document, and what a
//! click on one does.

use docui::{Found, Token};
use pipemux_memotree_store::views;
use pipemux_memotree_store::{Level, StoreError, TokenKind};

use crate::faults::fault;
use crate::model::MemoTree;
use crate::names;

/// Returns what a token names; none for a kind that isn't the tree's.
pub fn token(tree: &MemoTree, kind: &str, name: &str) -> Option<Token> {
    let kind = TokenKind::ALL.into_iter().find(|known| known.name() == kind)?;
    let unreadable = |error| Token { found: Found::Unreadable(fault(error)), ..Token::gone(None) };
    Some(meaning(tree, kind, name).unwrap_or_else(unreadable))
}

fn meaning(tree: &MemoTree, kind: TokenKind, name: &str) -> Result<Token, StoreError> {
    let here = |title: &str, at: Option<String>, click: String| Token {
        found: Found::Here(0),
        title: title.to_owned(),
        at,
        click: Some(click),
    };
    match kind {
        TokenKind::Node => node(tree, name),
        TokenKind::View => {
            let views = views::all(&tree.store())?;
            let view = views.iter().find(|view| view.name == name);
            let at = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            let found =
                view.map(|view| here(name, at(&view.description), format!("switch('{name}')")));
            Ok(found.unwrap_or_else(|| Token::gone(None)))
        }
        TokenKind::Query => {
            let queries = views::queries(&tree.store())?;
            let found = queries.iter().find(|(known, _)| known == name);
            let token = format!("search('{name}')");
            Ok(found.map_or_else(
                || Token::gone(None),
                |(_, words)| here(name, Some(format!("a search for {words}")), token),
            ))
        }
        TokenKind::Relation => {
            let relation = tree.store().index().relation(name)?;
            Ok(relation.map_or_else(
                || Token::gone(None),
                |[source, kind, target]| {
                    let click = format!("show(['{source}', '{target}'], level='gist')");
                    here(&format!("{source} {kind} {target}"), None, click)
                },
            ))
        }
    }
}

/// Clicking a node expands or folds it.
fn node(tree: &MemoTree, id: &str) -> Result<Token, StoreError> {
    let row = tree.store().index().node(id)?;
    let Some(row) = row else {
        return Ok(match names::find(tree, id)? {
            Found::Gone(why) => Token::gone(why),
            // A view or a relation has the name, which is no node.
            _ => Token::gone(None),
        });
    };
    let parent = match &row.shown_under {
        Some(parent) => tree.store().index().node(parent.as_str())?,
        None => None,
    };
    let is_open = tree.store().state.level(&tree.view, id)? > Some(Level::Path);
    let found = match (tree.is_shown(id), &parent) {
        (false, Some(_)) => {
            let how = tree.call(&format!("expand(\"{}\")", row.id));
            Found::Hidden { rev: 0, how: docui::command::run(&how) }
        }
        _ => Found::Here(0),
    };
    let action = if is_open { "collapse" } else { "expand" };
    Ok(Token {
        found,
        title: row.title,
        at: parent.map(|parent| format!("in {}", parent.title)),
        click: Some(format!("{action}('{id}')")),
    })
}
