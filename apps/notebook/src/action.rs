//! The actions of a notebook.

use docui::args::{Arg, Type, expected, value_of};
use docui::{Anchor, ArgType, Change, Data, Fault, Text, Value};

use crate::entry::Level;

docui::kind!(
    /// An entry of the notebook, which its title names.
    pub Entry = "entry", named
);
docui::choices! {
    /// How much of an entry is shown.
    pub enum LevelName { Gist = "gist", Summary = "summary", Full = "full" }
}
docui::choices! {
    /// What a query shows of the entries that it wasn't asked for.
    pub enum Rest { None = "none", Gist = "gist" }
}
docui::actions! {
    /// An action of the notebook.
    pub enum Action {
        /// JSON lines of {title, text, tags, gist}, or TSV with a header; all or none.
        changes featured AddMany = add_many(rows: Text);
        /// 'all', a tag, a title or a list of titles; level='gist'|'summary'|'full' (full for
        /// titles); rest='gist' adds the others.
        query featured Show = show(
            what: What = "all",
            level: Option<LevelName> = None,
            rest: Option<Rest> = None,
            /// How many of them to leave out at the beginning.
            skip: Option<i64> = None,
        ) -> String;
        /// Notes that have all words, "a phrase" or 中文; a OR b.
        query featured Search = search(words: String, skip: Option<i64> = None) -> Vec<String>;
        /// Notes that have all these tags.
        query listed Filter = filter(tags: Vec<String>, skip: Option<i64> = None) -> Vec<String>;
        changes listed Add = add(
            title: String,
            text: Data,
            tags: Vec<String> = [],
            /// Stands for the note in a list, in a few words.
            gist: String = "",
            /// Stands for the text while the note is folded.
            summary: Option<String> = None,
        );
        /// A title names a note.
        changes listed Edit = edit(entry: Anchor<Entry>, text: Text);
        changes listed Append = append(entry: Anchor<Entry>, text: Text);
        changes listed Rename = rename(entry: Anchor<Entry>, new: String);
        changes listed Tag = tag(entry: Anchor<Entry>, tags: Vec<String>);
        changes listed Gist = gist(entry: Anchor<Entry>, text: String);
        changes help Summary = summary(entry: Anchor<Entry>, text: String);
        /// undo brings them back.
        changes listed Remove = remove(entries: Vec<Anchor<Entry>>);
        changes listed Undo = undo(steps: i64 = 1);
        /// Opens notes in the window; level='gist'|'summary'|'full'.
        safe listed Expand = expand(
            entries: Vec<Anchor<Entry>>,
            level: Option<LevelName> = None,
        );
        safe listed Collapse = collapse(entries: Vec<Anchor<Entry>>);
        /// Shows these first and in full, the others as gists; [] ends that.
        safe listed Focus = focus(entries: Vec<Anchor<Entry>>);
        /// Deletes notes with their history, for good.
        destructive help Purge = purge(entries: Vec<Anchor<Entry>>);
        /// Takes back one change, named as in the link of its answer.
        changes alias UndoChange = undo_change as undo(change: Change);
        /// Shows one level less: full, summary, gist.
        safe alias Fold = fold(entry: Anchor<Entry>);
        /// As show('all').
        query alias ShowAll = show_all() -> String;
        /// As expand(entries).
        safe alias ExpandOne = expand_one as expand(entry: Anchor<Entry>);
        /// As rename(entry, new).
        changes alias Retitle = retitle as rename(entry: Anchor<Entry>, title: String);
        /// As remove(entries).
        changes alias RemoveThese = remove_these as remove(entry: Vec<Anchor<Entry>>);
        /// As search(words).
        query alias Find = find as search(query: String) -> Vec<String>;
        /// As filter(tags).
        query alias FilterTag = filter_tag as filter(tag: String) -> Vec<String>;
    }
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Gist => Level::Gist,
            LevelName::Summary => Level::Summary,
            LevelName::Full => Level::Full,
        }
    }
}

/// Which entries a query is about.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A text: `all`, a tag or a title.
    Word(String),
    /// These, each a title, a tag or a ref.
    List(Vec<Named>),
}

/// An entry, as a call names it.
#[derive(Debug, Clone, PartialEq)]
pub enum Named {
    /// A ref.
    Ref(Anchor<Entry>),
    /// A title or a tag.
    Name(String),
}

impl From<&str> for What {
    fn from(word: &str) -> Self {
        What::Word(word.into())
    }
}

impl ArgType for What {
    fn ty() -> Type {
        Type::Any
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        match arg {
            Arg::Ref(_) => Named::from_arg(arg).map(|one| What::List(vec![one])),
            Arg::List(_) => Vec::from_arg(arg).map(What::List),
            Arg::Record(_) => Err(expected(&Type::String, &arg)),
            Arg::Value(_) | Arg::Copied(_) => match value_of(&arg)? {
                Value::Str(word) => Ok(What::Word(word)),
                Value::List(_) => Vec::from_arg(arg).map(What::List),
                _ => Err(expected(&Type::String, &arg)
                    .hint("show('all'), show('a tag'), show(['a title'])")),
            },
        }
    }
    fn to_arg(&self) -> Arg {
        match self {
            What::Word(word) => Value::from(word.as_str()).into(),
            What::List(items) => items.to_arg(),
        }
    }
}

impl ArgType for Named {
    fn ty() -> Type {
        Type::Any
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        match arg {
            Arg::Ref(_) => Anchor::from_arg(arg).map(Named::Ref),
            arg => String::from_arg(arg).map(Named::Name),
        }
    }
    fn to_arg(&self) -> Arg {
        match self {
            Named::Ref(anchor) => anchor.to_arg(),
            Named::Name(name) => Value::from(name.as_str()).into(),
        }
    }
}
