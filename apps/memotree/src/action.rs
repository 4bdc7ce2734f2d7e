//! The actions of a memory tree.

use docui::args::{Arg, Type, expected, value_of};
use docui::{Anchor, ArgType, Change, Fault, FilePath, Lod, Text, Value};
use pipemux_memotree_store::Level;
use pipemux_memotree_store::config::TokenForm;

docui::kind!(
    /// A node: named by its id, its title or its token.
    pub Node = "node", named
);
docui::kind!(
    /// A view, named by its name or its token.
    pub ViewName = "view", named
);
docui::kind!(
    /// A saved search, named by its name or its token.
    pub SavedQuery = "query", named
);
docui::kind!(
    /// A relation between two nodes, named by its id or its token.
    pub Relation = "relation", named
);
docui::choices! {
    /// How much of a node is shown.
    pub enum LevelName { Gist = "gist", Summary = "summary", Full = "full" }
}
docui::choices! {
    /// How the title line of an expanded node ends.
    pub enum TokenFormName { Long = "long", Short = "short" }
}
docui::actions! {
    /// An action of the memory tree.
    pub enum Action {
        /// Markdown: a heading is a node (`## Title #tag`), its text below; or JSON lines of
        /// {title, text, parent, gist, tags}.
        changes featured AddMany = add_many(rows: Text, parent: Option<Anchor<Node>> = None);
        /// Nodes, by id, title or '#tag', with their texts; of none all titles. `level='full'`:
        /// with the texts of all below.
        query featured Show = show(
            nodes: Vec<Anchor<Node>> = [],
            level: Option<LevelName> = None,
        ) -> String;
        /// All words, "a phrase" or 中文; a OR b; #tag; or the name of a saved search.
        query featured Search = search(query: Words, skip: i64 = 0) -> Vec<String>;
        /// Opens nodes in this window, without their siblings; the files don't change.
        safe featured Expand = expand(nodes: Vec<Anchor<Node>>, level: LevelName = LevelName::Full);
        safe listed Collapse = collapse(nodes: Vec<Anchor<Node>>);
        changes listed Add = add(
            title: String,
            text: Text = "",
            parent: Option<Anchor<Node>> = None,
            /// The sibling that comes after it.
            before: Option<Anchor<Node>> = None,
            /// What it is about, in one line.
            gist: String = "",
            /// A few lines that stand for the text.
            summary: String = "",
            tags: Vec<String> = [],
        );
        /// Replaces a node's text.
        changes listed Edit = edit(node: Anchor<Node>, text: Text);
        changes listed Append = append(node: Anchor<Node>, text: Text);
        /// A text in the texts, gists and summaries of nodes, of none named in those of all.
        /// Titles: retitle.
        changes listed Replace = replace(old: String, new: String, nodes: Vec<Anchor<Node>> = []);
        /// The id stays.
        changes help Retitle = retitle(node: Anchor<Node>, title: String);
        changes help Gist = gist(node: Anchor<Node>, text: String);
        changes help Summary = summary(node: Anchor<Node>, text: String);
        changes listed Tag = tag(
            nodes: Vec<Anchor<Node>>,
            add: Vec<String> = [],
            remove: Vec<String> = [],
        );
        /// Without parent and before: to the end of the root.
        changes listed Move = move(
            nodes: Vec<Anchor<Node>>,
            parent: Option<Anchor<Node>> = None,
            before: Option<Anchor<Node>> = None,
        );
        /// With all that is below, to .memotree/trash; undo or restore brings them back.
        changes listed Remove = remove(nodes: Vec<Anchor<Node>>);
        changes help Relate = relate(
            a: Anchor<Node>,
            b: Anchor<Node>,
            /// A word: depends-on, contradicts.
            kind: String = "relates-to",
        );
        changes help Unrelate = unrelate(relation: Anchor<Relation>);
        changes listed Undo = undo(steps: i64 = 1);
        changes help Redo = redo(steps: i64 = 1);
        safe listed Switch = switch(view: Anchor<ViewName>);
        changes listed Create = create(name: String, description: String = "");
        changes help Rename = rename(view: Anchor<ViewName>, name: String);
        changes help Describe = describe(view: Anchor<ViewName>, description: String);
        destructive help Delete = delete(view: Anchor<ViewName>);
        /// All views and saved searches.
        query help List = list() -> Vec<String>;
        /// The headings of a Markdown file as nodes; those that name an id change that node.
        changes help Import = import(path: FilePath, parent: Option<Anchor<Node>> = None);
        /// Writes nodes, or all, with what is below them as headings.
        changes help Export = export(
            path: FilePath,
            nodes: Vec<Anchor<Node>> = [],
            overwrite: bool = false,
        );
        changes help QuerySave = query_save(name: String, query: String);
        changes help QueryDelete = query_delete(query: Anchor<SavedQuery>);
        query help Trash = trash() -> Vec<String>;
        /// Brings a removed node back from the trash, by its id.
        changes help Restore = restore(id: String);
        /// In memotree.toml: tokens, budget (less than windows get: `pipemux open memotree --budget
        /// N` gives more), codebase. For this session: debug, time (of the view, to the minute).
        changes help Set = set(
            tokens: Option<TokenFormName> = None,
            budget: Option<i64> = None,
            codebase: Option<bool> = None,
            debug: Option<bool> = None,
            time: Option<bool> = None,
        );
        /// Shows the window of another session below the tree: 'monitor/main'. A higher priority
        /// stands earlier.
        changes help SourceAdd = source_add(
            session: String,
            priority: i64 = 0,
            weight: i64 = 1,
            lod: LevelName = LevelName::Summary,
        );
        /// Tokens of one part: 'views', 'environment', 'tree', 'codebase' or an added session. 0:
        /// as usual.
        changes help Quota = quota(source: String, tokens: i64);
        changes help SourceRemove = source_remove(session: String);
        query help SourceList = source_list() -> Vec<String>;
        /// Takes back one change, named as in the link of its answer.
        changes alias UndoChange = undo_change as undo(change: Change);
        /// As show(nodes).
        query alias ReadNodes = read(nodes: Vec<Anchor<Node>>) -> String;
        /// As retitle(node, title).
        changes alias RenameNode = rename_node as rename(node: Anchor<Node>, title: String);
        /// As delete(view), for nodes: remove.
        changes alias DeleteNodes = delete_nodes as delete(nodes: Vec<Anchor<Node>>);
    }
}

impl From<TokenFormName> for TokenForm {
    fn from(name: TokenFormName) -> Self {
        match name {
            TokenFormName::Long => TokenForm::Long,
            TokenFormName::Short => TokenForm::Short,
        }
    }
}

impl From<LevelName> for Lod {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Gist => Lod::Gist,
            LevelName::Summary => Lod::Summary,
            LevelName::Full => Lod::Full,
        }
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

/// What a search looks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Words {
    /// These words, or the saved search of this name.
    Text(String),
    /// A saved search.
    Saved(Anchor<SavedQuery>),
}

impl From<&str> for Words {
    fn from(words: &str) -> Self {
        Words::Text(words.into())
    }
}

impl ArgType for Words {
    fn ty() -> Type {
        Type::Any
    }
    fn from_arg(arg: Arg) -> Result<Self, Fault> {
        match arg {
            Arg::Ref(_) => Anchor::from_arg(arg).map(Words::Saved),
            Arg::Value(_) | Arg::Copied(_) => match value_of(&arg)? {
                Value::Str(words) => Ok(Words::Text(words)),
                _ => Err(expected(&Type::String, &arg).hint("search('some words')")),
            },
            Arg::List(_) | Arg::Record(_) => {
                Err(expected(&Type::String, &arg).hint("search('some words')"))
            }
        }
    }
    fn to_arg(&self) -> Arg {
        match self {
            Words::Text(words) => Value::from(words.as_str()).into(),
            Words::Saved(anchor) => anchor.to_arg(),
        }
    }
}
