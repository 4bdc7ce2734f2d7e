//! The actions of a notebook.

use docui::{Anchor, Change, Text};

docui::kind!(
    /// An entry of the notebook.
    pub Entry = "entry"
);
docui::actions! {
    /// An action of the notebook.
    pub enum Action {
        /// Adds an entry; the text may come from another app by reference.
        changes featured Add = add(
            title: String,
            text: Text,
            tags: Vec<String> = [],
            /// Stands for the text while the entry is folded.
            summary: String = "",
            /// Stands for the entry in a list, in a few words.
            gist: String = "",
        );
        /// Finds entries with all words, "a phrase" or 中文; best match first.
        safe featured Search = search(query: String);
        /// Replaces the text.
        changes listed Edit = edit(entry: Anchor<Entry>, text: Text);
        /// Adds lines to the end of the text.
        changes listed Append = append(entry: Anchor<Entry>, text: Text);
        /// Shows one level more: gist, summary, full.
        safe listed Expand = expand(entry: Anchor<Entry>);
        /// Shows one level less: full, summary, gist.
        safe listed Fold = fold(entry: Anchor<Entry>);
        /// Shows these entries in full and the others as gists; [] shows all as summaries.
        safe help Focus = focus(entries: Vec<Anchor<Entry>>);
        /// Shows only entries with this tag.
        safe help Filter = filter(tag: String);
        /// Clears search and filter.
        safe help ShowAll = show_all();
        /// Changes the title.
        changes help Rename = rename(entry: Anchor<Entry>, title: String);
        /// Replaces the tags.
        changes help Tag = tag(entry: Anchor<Entry>, tags: Vec<String>);
        /// Permanently deletes one or more entries.
        destructive help Remove = remove(entry: Vec<Anchor<Entry>>);
        /// Undoes one change, named as in the link of its answer.
        changes help Undo = undo(change: Change);
    }
}
