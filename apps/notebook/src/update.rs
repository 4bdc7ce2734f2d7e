//! Carries out actions. Each outcome says what is there now, so that nobody has to look again.

use docui::{Anchor, Ask, Data, Done, Fault, Text, media};
use pipemux_notes::text::count;

use crate::action::{Action, Entry, What};
use crate::change::{Amended, ChangeId, ChangeKind, EntryRef};
use crate::entry::{self, Content, Level, Outdated};
use crate::format::{first_line, hash_tags, list_titles, quoted};
use crate::model::Notebook;
use crate::query;
use crate::rows_input;
use crate::undo;

/// Most bytes that are kept about the origins of an entry's text.
const ORIGIN_MAX: usize = 1000;

/// Carries out one action. `budget` is about how many tokens a query may show.
///
/// # Errors
/// The action can't be carried out; nothing took effect.
pub fn update(notebook: &mut Notebook, action: Action, budget: u64) -> Result<Done, Fault> {
    match action {
        Action::Add { title, text, tags, gist, summary } => {
            let title = title.trim().to_owned();
            let tags = entry::clean_tags(&tags)?;
            let (summary, gist) =
                (summary.unwrap_or_default().trim().to_owned(), gist.trim().to_owned());
            let content = Content { title, summary, gist, tags, ..Content::default() };
            match text.into_text() {
                Ok(text) => {
                    let (origin, label) = provenance(&text);
                    add(notebook, Content { text: text.text, origin, ..content }, &label)
                }
                Err(data) => add_bytes(notebook, content, data),
            }
        }
        Action::AddMany { rows } => add_many(notebook, &rows.text),
        Action::Show { what, level, rest, skip } => {
            query::show(notebook, &what, level, rest, skip, budget)
        }
        Action::ShowAll {} => query::show(notebook, &What::from("all"), None, None, None, budget),
        Action::Search { words, skip } => query::search(notebook, &words, skip, budget),
        Action::Find { query } => query::search(notebook, &query, None, budget),
        Action::Filter { tags, skip } => query::filter(notebook, &tags, skip, budget),
        Action::FilterTag { tag } => query::filter(notebook, &[tag], None, budget),
        Action::Edit { entry, text } => {
            let (origin, label) = provenance(&text);
            let amended = amend(notebook, &entry, ChangeKind::Edit, |content| {
                if content.text != text.text {
                    content.outdated = Outdated::BOTH;
                }
                content.text = text.text;
                content.origin = origin;
            })?;
            Ok(amend_reply(amended, |before, after| {
                let lines = count(after.lines(), "line");
                let was = match before.lines() {
                    same if same == after.lines() => String::new(),
                    before => format!(", was {before}"),
                };
                format!("{}, {lines}{label}{was}", quoted(&after.title))
            }))
        }
        Action::Append { entry, text } => append(notebook, &entry, text),
        Action::Rename { entry, new: title } | Action::Retitle { entry, title } => {
            let title = title.trim().to_owned();
            let amended =
                amend(notebook, &entry, ChangeKind::Rename, |content| content.title = title)?;
            Ok(amend_reply(amended, |before, after| {
                format!("{} is {} now", quoted(&before.title), quoted(&after.title))
            }))
        }
        Action::Tag { entry, tags } => {
            let tags = entry::clean_tags(&tags)?;
            let amended = amend(notebook, &entry, ChangeKind::Tag, |content| content.tags = tags)?;
            Ok(amend_reply(amended, |_, after| told_tags(after)))
        }
        Action::Gist { entry, text } => {
            let gist = text.trim().to_owned();
            let amended = amend(notebook, &entry, ChangeKind::Gist, |content| {
                content.gist = gist;
                content.outdated.gist = false;
            })?;
            Ok(amend_reply(amended, |_, after| match after.gist.as_str() {
                "" => format!("{}: no gist", quoted(&after.title)),
                gist => format!("{}: {gist}", quoted(&after.title)),
            }))
        }
        Action::Summary { entry, text } => {
            let summary = text.trim().to_owned();
            let amended = amend(notebook, &entry, ChangeKind::Summary, |content| {
                content.summary = summary;
                content.outdated.summary = false;
            })?;
            Ok(amend_reply(amended, |_, after| match after.summary.lines().count() as u64 {
                0 => format!("{}: no summary", quoted(&after.title)),
                lines => format!("{}: {}", quoted(&after.title), count(lines, "line")),
            }))
        }
        Action::Remove { entries } | Action::RemoveThese { entry: entries } => {
            let removed = notebook.store.remove(&entry_refs(&entries)?)?;
            let lines = removed.contents.iter().map(Content::lines).sum();
            let titles: Vec<_> = removed.contents.iter().map(|c| c.title.as_str()).collect();
            let told = summarize(&titles, lines);
            Ok(Done::new(told).link("undo", &undo_action(removed.change)))
        }
        Action::Purge { entries } => {
            let purged = notebook.store.purge(&entry_refs(&entries)?)?;
            let lines = purged.iter().map(Content::lines).sum();
            let titles: Vec<_> = purged.iter().map(|content| content.title.as_str()).collect();
            Ok(Done::new(summarize(&titles, lines)))
        }
        Action::Undo { steps } => undo::undo_last(notebook, steps),
        Action::UndoChange { change } => undo::undo(notebook, change.0.parse()?),
        Action::Expand { entries, level } => {
            set_level(notebook, &entries, level.map_or(Level::Full, Into::into))
        }
        Action::ExpandOne { entry } => set_level(notebook, &[entry], Level::Full),
        Action::Collapse { entries } => set_level(notebook, &entries, Level::Gist),
        Action::Fold { entry } => {
            let level = notebook.view_state.level(entry_ref(&entry)?.id).down();
            set_level(notebook, &[entry], level)
        }
        Action::Focus { entries } => {
            let ids = entries.iter().map(|entry| entry_ref(entry).map(|entry| entry.id));
            let ids = ids.collect::<Result<Vec<_>, _>>()?;
            notebook.change_view_state(|state| state.focus(&ids))?;
            Ok(Done::new(match ids.len() as u64 {
                0 => "all as summaries".to_owned(),
                number => format!("{} in full, the others as gists", count(number, "note")),
            }))
        }
    }
}

/// Builds the question that is asked before an action: which entries would be gone for good.
///
/// # Errors
/// An entry doesn't exist, or the store can't be read.
pub fn confirm(notebook: &Notebook, action: &Action) -> Result<Ask, Fault> {
    let Action::Purge { entries } = action else { return Ok(Ask::confirm("cannot be undone")) };
    let mut rows = Vec::new();
    for entry in entry_refs(entries)? {
        let row = notebook.store.get(entry.id)?;
        rows.push(row.ok_or_else(|| Fault::not_found("removed").about(entry::key(entry.id)))?);
    }
    let titles: Vec<_> = rows.iter().map(|row| row.title.as_str()).collect();
    let lines = count(rows.iter().map(|row| row.lines).sum(), "line");
    let what = match titles.as_slice() {
        [title] => format!("{}, {lines}", quoted(title)),
        several => format!("{}, {lines}", count(several.len() as u64, "note")),
    };
    let ask = Ask::confirm(format!("{what}, cannot be undone"));
    Ok(match titles.as_slice() {
        // The question itself names a single entry.
        [_] => ask,
        titles => rows.iter().fold(ask, |ask, row| {
            // Entries with the same title are told apart by their first lines.
            let same = titles.iter().filter(|title| **title == row.title).count() > 1;
            ask.option(&*row.title, if same { first_line(&row.head) } else { String::new() })
        }),
    })
}

fn add(notebook: &mut Notebook, content: Content, label: &str) -> Result<Done, Fault> {
    let mut brief =
        format!("{}, {}{label}", quoted(&content.title), count(content.lines(), "line"));
    let added = notebook.store.add(std::slice::from_ref(&content))?;
    show_added(notebook, &added.entries);
    if let Ok(ids) = notebook.store.titled(&content.title)
        && ids.len() > 1
    {
        brief += &format!("; {} notes have this title", ids.len());
    }
    Ok(Done::new(brief).link("undo", &undo_action(added.change)))
}

fn add_bytes(notebook: &mut Notebook, content: Content, data: Data) -> Result<Done, Fault> {
    let media = media::of(&data.bytes);
    let (origin, label) = provenance(&Text { text: String::new(), from: data.from });
    let content = Content { origin, ..content };
    let added = notebook.store.add_bytes(&content, &media, &data.bytes)?;
    show_added(notebook, &added.entries);
    let bytes = count(media.bytes, "byte");
    let brief = format!("{}, {bytes}{label}", quoted(&content.title));
    Ok(Done::new(brief).link("undo", &undo_action(added.change)))
}

fn add_many(notebook: &mut Notebook, rows: &str) -> Result<Done, Fault> {
    let contents = rows_input::read(rows)?;
    let added = notebook.store.add(&contents)?;
    show_added(notebook, &added.entries);
    let mut brief = format!("added {}", count(contents.len() as u64, "note"));
    let mut titles = std::collections::HashSet::new();
    let twice = contents.iter().filter(|content| !titles.insert(content.title.as_str())).count();
    if twice > 0 {
        brief += &format!("; {twice} have the title of another row");
    }
    Ok(Done::new(brief).link("undo", &undo_action(added.change)).complete())
}

/// Shows new entries as summaries even while the others are folded to gists.
fn show_added(notebook: &mut Notebook, ids: &[i64]) {
    // Failing to save that is no failure of the action, because the entries are already in the store.
    let _ = notebook.change_view_state(|state| {
        for id in ids {
            if state.level(*id) < Level::Summary {
                state.set_level(*id, Level::Summary);
            }
        }
    });
}

fn append(notebook: &mut Notebook, entry: &Anchor<Entry>, text: Text) -> Result<Done, Fault> {
    let (origin, label) = provenance(&text);
    let more = count(text.text.lines().count() as u64, "line");
    let first = text.text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let first = quoted(first).trim_matches('"').to_owned();
    let amended = amend(notebook, entry, ChangeKind::Append, |content| {
        if text.text.is_empty() {
            return;
        }
        // A few words that name the note still do when lines are added to it; its text in short lacks them.
        content.outdated.summary = true;
        if !content.text.is_empty() && !content.text.ends_with('\n') {
            content.text.push('\n');
        }
        content.text += &text.text;
        content.add_origin(&origin, ORIGIN_MAX);
    })?;
    Ok(amend_reply(amended, |_, after| {
        let title = quoted(&after.title);
        format!("{title}: +{more}{label}: {first}")
    }))
}

fn amend(
    notebook: &mut Notebook,
    entry: &Anchor<Entry>,
    kind: ChangeKind,
    edit: impl FnOnce(&mut Content),
) -> Result<Option<Amended>, Fault> {
    notebook.store.amend(entry_ref(entry)?, kind, edit)
}

/// Sets the level of detail at which the window shows entries.
fn set_level(
    notebook: &mut Notebook,
    entries: &[Anchor<Entry>],
    level: Level,
) -> Result<Done, Fault> {
    let (mut titles, mut ids) = (Vec::new(), Vec::new());
    for entry in entry_refs(entries)? {
        let row = notebook.store.get(entry.id)?;
        let gone = || Fault::not_found("removed").about(entry::key(entry.id));
        titles.push(row.ok_or_else(gone)?.title);
        ids.push(entry.id);
    }
    let already = ids.iter().all(|id| notebook.view_state.level(*id) == level);
    notebook.change_view_state(|state| ids.iter().for_each(|id| state.set_level(*id, level)))?;
    let already = if already { " already" } else { "" };
    let titles = list_titles(titles.iter().map(String::as_str));
    Ok(Done::new(format!("{titles}: {}{already}", level.name())))
}

/// Returns the origin of a text as it is stored, and as an answer mentions it. Both are empty for a text
/// that was written in the call.
fn provenance(text: &Text) -> (String, String) {
    match &text.from {
        None => Default::default(),
        Some((session, label)) => {
            // Another app chose the label; here it must fit into one line.
            let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
            (format!("{session} {label}"), format!(" from {label}"))
        }
    }
}

/// Returns the answer to a change, which `brief` summarises from the contents before and after.
fn amend_reply(amended: Option<Amended>, brief: impl FnOnce(&Content, &Content) -> String) -> Done {
    match amended {
        None => Done::new("nothing changed: the note already matches"),
        Some(Amended { change, before, after }) => {
            Done::new(brief(&before, &after)).link("undo", &undo_action(change))
        }
    }
}

/// Says which tags an entry has now.
pub(crate) fn told_tags(content: &Content) -> String {
    match content.tags.is_empty() {
        true => format!("{}: no tags", quoted(&content.title)),
        false => format!("{}: {}", quoted(&content.title), hash_tags(&content.tags)),
    }
}

/// Returns the action that undoes a change.
pub(crate) fn undo_action(change: ChangeId) -> Action {
    Action::UndoChange { change: change.to_string().into() }
}

/// Returns the entry that an anchor names, as the caller saw it.
fn entry_ref(anchor: &Anchor<Entry>) -> Result<EntryRef, Fault> {
    let id = entry::id(&anchor.key)
        .ok_or_else(|| Fault::not_found("no entry has that key").about(&anchor.key))?;
    Ok(EntryRef { id, rev: anchor.rev })
}

/// Returns the entries that anchors name, without duplicates. There must be at least one.
fn entry_refs(anchors: &[Anchor<Entry>]) -> Result<Vec<EntryRef>, Fault> {
    let mut entries: Vec<EntryRef> = Vec::new();
    for anchor in anchors {
        let entry = entry_ref(anchor)?;
        if entries.iter().all(|other| other.id != entry.id) {
            entries.push(entry);
        }
    }
    if entries.is_empty() {
        return Err(Fault::usage("entries: expected at least one note, got none")
            .hint("name notes by their titles: [\"plan\", \"ideas\"]"));
    }
    Ok(entries)
}

/// Summarises removed entries: `"Release plan", 3 lines`, `3 notes, 214 lines: "a", "b", "c"`.
fn summarize(titles: &[&str], lines: u64) -> String {
    let lines = count(lines, "line");
    match titles {
        [title] => format!("{}, {lines}", quoted(title)),
        several => {
            let titles = list_titles(several.iter().copied());
            format!("{}, {lines}: {titles}", count(several.len() as u64, "note"))
        }
    }
}
