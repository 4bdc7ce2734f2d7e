//! What can be done in a notebook.

use docui::{Anchor, Text};

docui::kind!(
    /// An entry of the notebook.
    pub Entry = "entry"
);
docui::actions! {
    /// An action of the notebook.
    pub enum Action {
        /// A new entry; the text may come from another app by reference.
        changes featured Add = add(title: String, text: Text, tags: Vec<String> = [], summary: String = "", gist: String = "");
        /// All words, "a phrase", 中文; best first.
        safe featured Search = search(query: String);
        /// Replaces the text.
        changes listed Edit = edit(entry: Anchor<Entry>, text: Text);
        /// Adds lines at the end.
        changes listed Append = append(entry: Anchor<Entry>, text: Text);
        /// One level more: gist, summary, full.
        safe listed Expand = expand(entry: Anchor<Entry>);
        /// One level less: full, summary, gist.
        safe listed Fold = fold(entry: Anchor<Entry>);
        /// Shows these in full and the others as gists; [] shows all as summaries.
        safe help Focus = focus(entries: Vec<Anchor<Entry>>);
        /// Shows only entries with that tag.
        safe help Filter = filter(tag: String);
        /// Ends search and filter.
        safe help ShowAll = show_all();
        /// Gives another title.
        changes help Rename = rename(entry: Anchor<Entry>, title: String);
        /// Replaces the tags.
        changes help Tag = tag(entry: Anchor<Entry>, tags: Vec<String>);
        /// Deletes an entry, or several, for good.
        destructive help Remove = remove(entry: Vec<Anchor<Entry>>);
        /// Takes one change back; the link in its answer names it.
        changes help Undo = undo(change: String);
    }
}
