//! Carrying out an action.

use docui::{Done, Fault, Text};

use crate::action::Action;
use crate::app::{Notebook, all_seen, seen, tally};
use crate::change::Change;
use crate::entry::{self, Content, Level, QUERY_MAX, count};
use crate::shown::quoted;

/// Bytes of provenance that are kept for an entry made of many pieces.
const ORIGIN_MAX: usize = 1000;

/// Carries out one action.
///
/// # Errors
/// The action can't be carried out; nothing took effect.
pub fn update(notebook: &mut Notebook, action: Action) -> Result<Done, Fault> {
    match action {
        Action::Add { title, text, tags, summary, gist } => {
            let title = title.trim().to_owned();
            let (origin, label) = provenance(&text);
            let tags = entry::clean_tags(&tags)?;
            let (text, outdated) = (text.text, false);
            let (summary, gist) = (summary.trim().to_owned(), gist.trim().to_owned());
            add(notebook, Content { title, text, summary, gist, tags, origin, outdated }, label)
        }
        Action::Edit { entry, text } => {
            let (origin, label) = provenance(&text);
            let change = notebook.store.amend(seen(&entry)?, "edit", |content| {
                content.outdated |= content.text != text.text;
                content.text = text.text;
                content.origin = origin;
            })?;
            Ok(done(change, |_, after| {
                format!("{}, {}{label}", quoted(&after.title), count(after.lines(), "line"))
            }))
        }
        Action::Append { entry, text } => append(notebook, &entry, text),
        Action::Rename { entry, title } => {
            let title = title.trim().to_owned();
            let change =
                notebook.store.amend(seen(&entry)?, "rename", |content| content.title = title)?;
            Ok(done(change, |before, after| {
                format!("{} is now {}", quoted(&before.title), quoted(&after.title))
            }))
        }
        Action::Tag { entry, tags } => {
            let tags = entry::clean_tags(&tags)?;
            let change =
                notebook.store.amend(seen(&entry)?, "tag", |content| content.tags = tags)?;
            Ok(done(change, |_, after| match after.tags.is_empty() {
                true => format!("{}: no tags", quoted(&after.title)),
                false => format!("{}: {}", quoted(&after.title), after.tags.join(", ")),
            }))
        }
        Action::Remove { entry } => {
            let removed = notebook.store.remove(&all_seen(&entry)?)?;
            let lines = removed.iter().map(Content::lines).sum();
            let titles: Vec<_> = removed.iter().map(|content| content.title.as_str()).collect();
            Ok(Done::new(tally(&titles, lines)))
        }
        Action::Undo { change } => undo(notebook, &change),
        Action::Expand { entry } => refold(notebook, &entry, Level::up),
        Action::Fold { entry } => refold(notebook, &entry, Level::down),
        Action::Focus { entries } => {
            let ids = entries.iter().map(|entry| seen(entry).map(|seen| seen.id));
            let ids = ids.collect::<Result<Vec<_>, _>>()?;
            notebook.show(|shown| shown.focus(&ids))?;
            Ok(Done::new(match ids.len() as u64 {
                0 => "all as summaries".to_owned(),
                number => format!("{} in full, the others as gists", count(number, "entry")),
            }))
        }
        Action::Search { query } => search(notebook, &query),
        Action::Filter { tag } => filter(notebook, tag.trim()),
        Action::ShowAll {} => {
            notebook.show(|shown| {
                shown.query.clear();
                shown.tag.clear();
            })?;
            Ok(Done::new(count(notebook.store.total()?, "entry")))
        }
    }
}

fn add(notebook: &mut Notebook, content: Content, label: String) -> Result<Done, Fault> {
    let brief = format!("{}, {}{label}", quoted(&content.title), count(content.lines(), "line"));
    let change = notebook.store.add(content)?;
    // A new entry is to be read, also while others are out of focus. The note is in the store by
    // now: that its level could not be kept is no failure of the action.
    let _ = notebook.show(|shown| {
        if shown.level(change.entry) < Level::Summary {
            shown.set_level(change.entry, Level::Summary);
        }
    });
    let done = Done::new(brief).link("undo", &Action::Undo { change: name(change.id) });
    Ok(match notebook.store.has(&notebook.shown.selection(), change.entry) {
        Ok(false) => done.link("show all", &Action::ShowAll {}),
        _ => done,
    })
}

fn append(
    notebook: &mut Notebook,
    entry: &docui::Anchor<crate::action::Entry>,
    text: Text,
) -> Result<Done, Fault> {
    let (origin, label) = provenance(&text);
    let more = count(text.text.lines().count() as u64, "line");
    let change = notebook.store.amend(seen(entry)?, "append", |content| {
        if text.text.is_empty() {
            return;
        }
        content.outdated = true;
        if !content.text.is_empty() && !content.text.ends_with('\n') {
            content.text.push('\n');
        }
        content.text += &text.text;
        let known = content.origin.split(", ").any(|known| known == origin);
        if !origin.is_empty() && !known && content.origin.len() + origin.len() <= ORIGIN_MAX {
            let gap = if content.origin.is_empty() { "" } else { ", " };
            content.origin += &format!("{gap}{origin}");
        }
    })?;
    Ok(done(change, |_, after| {
        let now = count(after.lines(), "line");
        format!("{}, {more} more{label}, now {now}", quoted(&after.title))
    }))
}

fn undo(notebook: &mut Notebook, change: &str) -> Result<Done, Fault> {
    let id = change.strip_prefix('c').and_then(|digits| digits.parse().ok()).ok_or_else(|| {
        Fault::usage(format!("change: expected a name like c12, not {change:?}"))
            .hint("click the [undo] of the change's own answer")
    })?;
    let Change { id, before, after, .. } = notebook.store.undo(id)?;
    let title = |content: &Option<Content>| {
        content.as_ref().map(|content| quoted(&content.title)).unwrap_or_default()
    };
    Ok(match &after {
        None => Done::new(format!("{} is out again", title(&before))),
        Some(_) => Done::new(format!("{} is as before", title(&after)))
            .link("redo", &Action::Undo { change: name(id) }),
    })
}

fn refold(
    notebook: &mut Notebook,
    entry: &docui::Anchor<crate::action::Entry>,
    step: fn(Level) -> Level,
) -> Result<Done, Fault> {
    let id = seen(entry)?.id;
    let row = notebook.store.get(id)?;
    let row = row.ok_or_else(|| Fault::not_found("removed").about(&entry.key))?;
    let mut before = notebook.shown.level(id);
    // Hits of a search show a snippet at both lower levels: they count as one.
    if before == Level::Gist && !notebook.shown.query.is_empty() {
        before = Level::Summary;
    }
    let after = step(before);
    notebook.show(|shown| shown.set_level(id, after))?;
    let already = if before == after { " already" } else { "" };
    Ok(Done::new(format!("{}: {}{already}", quoted(&row.title), after.name())))
}

fn search(notebook: &mut Notebook, query: &str) -> Result<Done, Fault> {
    let long = query.chars().count();
    if long > QUERY_MAX {
        let message = format!("query: {long} characters, at most {QUERY_MAX}");
        return Err(Fault::usage(message).hint("a few words that the entry has are enough"));
    }
    let query = query.trim();
    notebook.show(|shown| shown.query = query.to_owned())?;
    if query.is_empty() {
        return Ok(Done::new("no search"));
    }
    let (found, _) = notebook.store.count(&notebook.shown.selection())?;
    let within = match notebook.shown.tag.as_str() {
        "" => String::new(),
        tag => format!(" with tag {tag}"),
    };
    let results = count(found, "result");
    Ok(Done::new(format!("{results} for {}{within}", quoted(query)))
        .link("show all", &Action::ShowAll {}))
}

fn filter(notebook: &mut Notebook, tag: &str) -> Result<Done, Fault> {
    let tags = notebook.store.tags()?;
    let Some((_, entries)) = tags.iter().find(|(name, _)| name == tag) else {
        let fault = Fault::not_found(format!("no entry has the tag {}", quoted(tag)));
        return Err(match tags.is_empty() {
            true => fault.hint("no entry has any tag"),
            false => fault.hint(format!("tags: {}", list_tags(&tags))),
        });
    };
    let brief = format!("{} with tag {tag}", count(*entries, "entry"));
    notebook.show(|shown| shown.tag = tag.to_owned())?;
    Ok(Done::new(brief).link("show all", &Action::ShowAll {}))
}

/// The most used tags; the rest is counted.
fn list_tags(tags: &[(String, u64)]) -> String {
    const LISTED: usize = 20;
    let names: Vec<_> = tags.iter().take(LISTED).map(|(name, _)| name.as_str()).collect();
    match tags.len().checked_sub(LISTED) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{}, {more} more", names.join(", ")),
    }
}

/// Where a text came from, to keep and to tell.
fn provenance(text: &Text) -> (String, String) {
    match &text.from {
        None => Default::default(),
        Some((session, label)) => {
            // It stands in one line, whatever the other app calls its things.
            let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
            (format!("{session} {label}"), format!(" from {label}"))
        }
    }
}

fn done(change: Option<Change>, brief: impl FnOnce(&Content, &Content) -> String) -> Done {
    match change {
        None => Done::new("nothing changed: it was so already"),
        Some(Change { id, before: Some(before), after: Some(after), .. }) => {
            Done::new(brief(&before, &after)).link("undo", &Action::Undo { change: name(id) })
        }
        Some(_) => Done::new("done"),
    }
}

/// The name of a change in calls.
fn name(change: i64) -> String {
    format!("c{change}")
}
