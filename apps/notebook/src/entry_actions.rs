//! Carries out actions on entries. Each answer says what is there now, so that nobody has to look
//! again. An action that fails took no effect.

use docui::{Anchor, Ask, Data, Done, Fault, Text, media};
use pipemux_notes::text::count;

use crate::action::{Action, Entry};
use crate::change::{Amended, ChangeKind, EntryRef, Removed};
use crate::entry::{self, Content, Level, Outdated};
use crate::format::{first_line, list_titles, quoted};
use crate::model::Notebook;
use crate::reply::{amended_reply, tags_line, undo_action};
use crate::rows_input;

/// Most bytes that are kept about the origins of an entry's text.
const ORIGIN_MAX: usize = 1000;

/// Adds an entry: of a text, or of other bytes.
pub fn add(notebook: &mut Notebook, content: Content, text: Data) -> Result<Done, Fault> {
    let content = Content {
        title: content.title.trim().to_owned(),
        gist: content.gist.trim().to_owned(),
        summary: content.summary.trim().to_owned(),
        tags: entry::clean_tags(&content.tags)?,
        ..content
    };
    match text.into_text() {
        Ok(text) => {
            let (origin, label) = provenance(&text);
            add_text(notebook, Content { text: text.text, origin, ..content }, &label)
        }
        Err(data) => add_bytes(notebook, content, data),
    }
}

pub fn edit(notebook: &mut Notebook, entry: &Anchor<Entry>, text: Text) -> Result<Done, Fault> {
    let (origin, label) = provenance(&text);
    let amended = amend(notebook, entry, ChangeKind::Edit, |content| {
        if content.text != text.text {
            content.outdated = Outdated::BOTH;
        }
        content.text = text.text;
        content.origin = origin;
    })?;
    Ok(amended_reply(amended, |before, after| {
        let lines = count(after.lines(), "line");
        let was = match before.lines() {
            same if same == after.lines() => String::new(),
            before => format!(", was {before}"),
        };
        format!("{}, {lines}{label}{was}", quoted(&after.title))
    }))
}

pub fn rename(notebook: &mut Notebook, entry: &Anchor<Entry>, title: &str) -> Result<Done, Fault> {
    let title = title.trim().to_owned();
    let amended = amend(notebook, entry, ChangeKind::Rename, |content| content.title = title)?;
    Ok(amended_reply(amended, |before, after| {
        format!("{} is {} now", quoted(&before.title), quoted(&after.title))
    }))
}

pub fn tag(notebook: &mut Notebook, entry: &Anchor<Entry>, tags: &[String]) -> Result<Done, Fault> {
    let tags = entry::clean_tags(tags)?;
    let amended = amend(notebook, entry, ChangeKind::Tag, |content| content.tags = tags)?;
    Ok(amended_reply(amended, |_, after| tags_line(after)))
}

pub fn set_gist(notebook: &mut Notebook, entry: &Anchor<Entry>, text: &str) -> Result<Done, Fault> {
    let amended = amend(notebook, entry, ChangeKind::Gist, |content| {
        text.trim().clone_into(&mut content.gist);
        content.outdated.gist = false;
    })?;
    Ok(amended_reply(amended, |_, after| match after.gist.as_str() {
        "" => format!("{}: no gist", quoted(&after.title)),
        gist => format!("{}: {gist}", quoted(&after.title)),
    }))
}

pub fn set_summary(
    notebook: &mut Notebook,
    entry: &Anchor<Entry>,
    text: &str,
) -> Result<Done, Fault> {
    let amended = amend(notebook, entry, ChangeKind::Summary, |content| {
        text.trim().clone_into(&mut content.summary);
        content.outdated.summary = false;
    })?;
    Ok(amended_reply(amended, |_, after| match after.summary.lines().count() as u64 {
        0 => format!("{}: no summary", quoted(&after.title)),
        lines => format!("{}: {}", quoted(&after.title), count(lines, "line")),
    }))
}

pub fn remove(notebook: &mut Notebook, entries: &[Anchor<Entry>]) -> Result<Done, Fault> {
    let Removed { change, contents } = notebook.store.remove(&entry_refs(entries)?)?;
    Ok(Done::new(summarize(&contents)).link("undo", &undo_action(change)))
}

pub fn purge(notebook: &mut Notebook, entries: &[Anchor<Entry>]) -> Result<Done, Fault> {
    Ok(Done::new(summarize(&notebook.store.purge(&entry_refs(entries)?)?)))
}

/// Shows an entry one level lower than it is shown.
pub fn fold(notebook: &mut Notebook, entry: Anchor<Entry>) -> Result<Done, Fault> {
    let level = notebook.view_state.level(entry_ref(&entry)?.id).down();
    set_level(notebook, &[entry], level)
}

pub fn focus(notebook: &mut Notebook, entries: &[Anchor<Entry>]) -> Result<Done, Fault> {
    let ids = entries.iter().map(|entry| entry_ref(entry).map(|entry| entry.id));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    notebook.change_view_state(|state| state.focus(&ids))?;
    Ok(Done::new(match ids.len() as u64 {
        0 => "all as summaries".to_owned(),
        number => format!("{} in full, the others as gists", count(number, "note")),
    }))
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

fn add_text(notebook: &mut Notebook, content: Content, label: &str) -> Result<Done, Fault> {
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

pub fn add_many(notebook: &mut Notebook, rows: &str) -> Result<Done, Fault> {
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
    // Failing to save that is no failure of the action, because the entries are already in the
    // store.
    let _ = notebook.change_view_state(|state| {
        for id in ids {
            if state.level(*id) < Level::Summary {
                state.set_level(*id, Level::Summary);
            }
        }
    });
}

pub fn append(notebook: &mut Notebook, entry: &Anchor<Entry>, text: Text) -> Result<Done, Fault> {
    let (origin, label) = provenance(&text);
    let more = count(text.text.lines().count() as u64, "line");
    let first = text.text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let first = quoted(first).trim_matches('"').to_owned();
    let amended = amend(notebook, entry, ChangeKind::Append, |content| {
        if text.text.is_empty() {
            return;
        }
        // A few words that name the note still do when lines are added to it; its text in short
        // lacks them.
        content.outdated.summary = true;
        if !content.text.is_empty() && !content.text.ends_with('\n') {
            content.text.push('\n');
        }
        content.text += &text.text;
        content.add_origin(&origin, ORIGIN_MAX);
    })?;
    Ok(amended_reply(amended, |_, after| {
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
pub fn set_level(
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

/// Returns the origin of a text as it is stored, and as an answer mentions it. Both are empty for a
/// text that was written in the call.
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
fn summarize(removed: &[Content]) -> String {
    let lines = count(removed.iter().map(Content::lines).sum(), "line");
    match removed {
        [one] => format!("{}, {lines}", quoted(&one.title)),
        several => {
            let titles = list_titles(several.iter().map(|content| content.title.as_str()));
            format!("{}, {lines}: {titles}", count(several.len() as u64, "note"))
        }
    }
}
