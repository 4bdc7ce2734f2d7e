//! Builds the content of a window.

use pipemux_proto::limits::EMBED_BUDGET;
use pipemux_proto::projection::{
    CodePiece, EmbedSlot, LinkSlot, Lod, Media, ObjectSlot, Piece, Projection,
};
use pipemux_proto::{Fault, LineNumbers, LineRun, Value};

use crate::actions::Actions;

/// An object that a view shows and that calls can refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object(ObjectSlot);

impl Object {
    /// Makes an object from the app's own key for it and the label that is shown. A key must never
    /// be reused for another object.
    pub fn new(key: impl Into<String>, label: impl Into<String>) -> Self {
        Self(ObjectSlot { key: key.into(), label: label.into(), ..ObjectSlot::default() })
    }

    /// Returns the label.
    pub fn label(&self) -> &str {
        &self.0.label
    }

    /// Sets the object's type, so that it can be passed to parameters of type `Anchor<type>`.
    /// Readers see it in the object's refs: `obj:enemy:23`.
    #[must_use]
    pub fn ty(mut self, ty: impl Into<String>) -> Self {
        self.0.ty = Some(ty.into());
        self
    }

    /// Shows the key in the object's refs instead of an id, for keys that are worth reading:
    /// `obj:file:src/main.ts`.
    #[must_use]
    pub fn show_key(mut self) -> Self {
        self.0.show_key = true;
        self
    }

    /// Sets what tells the object from others with the same label, in one line: `pid 4711`. It is
    /// shown where a reader chooses one of them.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = detail.into();
        self
    }

    /// Describes the object's value if it isn't text shown by the view: an image, a sound, any
    /// file. Readers see the description after the ref: `[diagram](obj:7) PNG 640×480, 31 KB`.
    /// [`crate::App::read`] returns the bytes.
    #[must_use]
    pub fn media(mut self, media: Media) -> Self {
        self.0.media = Some(media);
        self
    }

    /// Sets the object's rev, 0 if it is never set. It must be the rev that [`crate::App::find`]
    /// returns.
    #[must_use]
    pub fn rev(mut self, rev: u64) -> Self {
        self.0.rev = rev;
        self
    }
}

/// Another session's window, which a view shows inside of its own. The daemon fills it for the
/// reader; the app never gets its text.
///
/// ```
/// use docui::{Embed, Lod, View};
/// let mut view = View::new("overview");
/// view.embed(Embed::new("monitor/main").lod(Lod::Gist).budget(60));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embed(EmbedSlot);

impl Embed {
    /// Embeds the window of a session, which must be open in the reader's workspace, at
    /// [`Lod::Summary`] and within [`Embed::DEFAULT_BUDGET`].
    pub fn new(session: impl Into<String>) -> Self {
        Self(EmbedSlot { session: session.into(), ..EmbedSlot::default() })
    }

    /// The tokens that an embedded window may take when nothing else is said.
    pub const DEFAULT_BUDGET: u32 = EMBED_BUDGET;

    /// Sets the level of detail.
    #[must_use]
    pub fn lod(mut self, lod: Lod) -> Self {
        self.0.lod = lod;
        self
    }

    /// Sets the number of tokens that it may take. They count in the view's own budget: leave room
    /// for them.
    #[must_use]
    pub fn budget(mut self, tokens: u32) -> Self {
        self.0.budget = tokens;
        self
    }
}

/// The content of a window. Pieces are shown in the order in which they are added.
///
/// ```
/// use docui::{Object, View};
/// let mut view = View::new("2 enemies");
/// view.text("- ").object(Object::new("s1", "Slime 1").ty("enemy")).text(" 11 HP\n");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View(pub(crate) Projection, pub(crate) Option<Box<Fault>>);

impl View {
    /// Starts a view with its title, which follows the session's address in the heading:
    /// `src/parse.rs · 412 lines · saved`.
    pub fn new(title: impl Into<String>) -> Self {
        Self(Projection { title: title.into(), ..Projection::default() }, None)
    }

    /// Creates the view of an app that can't read its data. Each time, readers are told the reason
    /// and what to do.
    pub fn unreadable(fault: Fault) -> Self {
        Self(Projection::default(), Some(Box::new(fault)))
    }

    /// Adds a link to the row under the heading.
    pub fn nav(&mut self, label: impl Into<String>, action: &impl Actions) -> &mut Self {
        self.0.nav.push(link_slot(label, action));
        self
    }

    /// Adds Markdown, headings too. Anything in it that looks like an anchor, a code fence or a
    /// window's heading (`## editor/main`) is escaped.
    pub fn text(&mut self, text: impl Into<String>) -> &mut Self {
        self.piece(Piece::Text(text.into()))
    }

    /// Adds an object: `[label](obj:enemy:23)`.
    pub fn object(&mut self, object: Object) -> &mut Self {
        self.piece(Piece::Object(object.0))
    }

    /// Adds a link that carries out an action: `[label](link:42)`.
    pub fn link(&mut self, label: impl Into<String>, action: &impl Actions) -> &mut Self {
        self.piece(Piece::Link(link_slot(label, action)))
    }

    /// Adds a link that also shows its call, for arguments that a reader may want to vary:
    /// `[fire](link:42 "cast(mana=20)")`.
    pub fn titled_link(&mut self, label: impl Into<String>, action: &impl Actions) -> &mut Self {
        self.piece(Piece::Link(LinkSlot { titled: true, ..link_slot(label, action) }))
    }

    /// Adds a link with the code of its call, which it also shows. Names that views bind and calls
    /// of the app's own actions may be among the arguments; they are resolved when the link is
    /// clicked: `[Commit all](link:7 "git_commit(message='Update', files=git_staged())")`. Objects
    /// are named by their keys: `attack(target=obj:enemy:b1)`. A link whose code isn't one call is
    /// shown as its label.
    pub fn code_link(&mut self, label: impl Into<String>, code: impl Into<String>) -> &mut Self {
        let code = code.into();
        let action = code.split('(').next().unwrap_or_default().trim().to_owned();
        let link = LinkSlot { label: label.into(), action, titled: true, ..LinkSlot::default() };
        self.piece(Piece::Link(LinkSlot { code: Some(code), ..link }))
    }

    /// Adds a code block. The text is shown exactly as given; `lang` names its language.
    pub fn code(&mut self, lang: impl Into<String>, text: impl Into<String>) -> &mut Self {
        self.piece(Piece::Code(CodePiece {
            lang: lang.into(),
            text: text.into(),
            ..CodePiece::default()
        }))
    }

    /// Adds a code block whose lines are numbered from `first`. Readers are shown all of it again
    /// whenever its lines move; [`View::identified_lines`] tells them in one line.
    pub fn lines(
        &mut self,
        lang: impl Into<String>,
        first: u64,
        text: impl Into<String>,
    ) -> &mut Self {
        self.identified_lines(lang, first, text, Vec::new())
    }

    /// Adds a code block whose lines are numbered from `first`, with the identities of the lines: a
    /// line keeps its identity while it moves or is altered, and an identity is never given to
    /// another line of the document. So a reader is told that lines moved: `lines 21-60 are now
    /// 19-58`.
    pub fn identified_lines(
        &mut self,
        lang: impl Into<String>,
        first: u64,
        text: impl Into<String>,
        lines: Vec<LineRun>,
    ) -> &mut Self {
        let (lang, text, first) = (lang.into(), text.into(), Some(first));
        self.piece(Piece::Code(CodePiece { lang, text, first, lines }))
    }

    /// Adds the window of another session, on lines of its own below a heading that only the daemon
    /// writes. A daemon that can't show it shows a line that names the session instead.
    pub fn embed(&mut self, embed: Embed) -> &mut Self {
        self.piece(Piece::Embed(embed.0))
    }

    /// Puts a line that names the session in the place of each embedded window, for a daemon that
    /// can't show it.
    pub(crate) fn name_embeds(content: &mut [Piece]) {
        for piece in content {
            if let Piece::Embed(EmbedSlot { session, .. }) = piece {
                *piece = Piece::Text(format!("\n{session}: pipemux view {session}\n"));
            }
        }
    }

    /// Names line numbers of a document that the view shows beside its numbered code, in labels for
    /// example. A number that isn't named doesn't count as seen.
    pub fn shows_number(
        &mut self,
        document: impl Into<String>,
        first: u64,
        last: u64,
    ) -> &mut Self {
        let document = document.into();
        self.0.numbers.push(LineNumbers { document, first, last, ..LineNumbers::default() });
        self
    }

    /// Sets the document that the window shows, as an opaque key: the path of a file, the query of
    /// a list. A reader who was shown another document is shown all of this one, never a
    /// difference.
    pub fn document(&mut self, key: impl Into<String>) -> &mut Self {
        self.0.document = Some(key.into());
        self
    }

    /// Sets which part of the whole is shown: `lines 1-40`.
    pub fn position(&mut self, position: impl Into<String>) -> &mut Self {
        self.0.position = Some(position.into());
        self
    }

    /// Limits the actions that the window offers to these names. Without this, it offers all.
    pub fn only<'a>(&mut self, actions: impl IntoIterator<Item = &'a str>) -> &mut Self {
        self.0.actions = Some(actions.into_iter().map(Into::into).collect());
        self
    }

    /// Binds a name that calls may use for an object: `selection` in `editor.selection`.
    pub fn bind(&mut self, name: impl Into<String>, object: Object) -> &mut Self {
        self.0.names.insert(name.into(), object.0);
        self
    }

    /// Sets the key of the object that has the focus.
    pub fn focus(&mut self, key: impl Into<String>) -> &mut Self {
        self.0.focus = Some(key.into());
        self
    }

    /// Sets a named value of the app's own state, which `pipemux view --json` prints.
    pub fn custom(&mut self, name: impl Into<String>, value: impl Into<Value>) -> &mut Self {
        self.0.custom.insert(name.into(), value.into());
        self
    }

    /// Sets about how many tokens were left out to meet the budget.
    pub fn hidden(&mut self, tokens: u64) -> &mut Self {
        self.0.hidden_tokens = tokens;
        self
    }

    fn piece(&mut self, piece: Piece) -> &mut Self {
        match (self.0.content.last_mut(), piece) {
            // Copies the shorter of the two texts into the longer one.
            (Some(Piece::Text(before)), Piece::Text(mut text)) if before.len() < text.len() => {
                text.reserve_exact(before.len());
                text.insert_str(0, before);
                *before = text;
            }
            (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
            (_, piece) => self.0.content.push(piece),
        }
        self
    }
}

/// Makes a link from a label and the action that it carries out.
pub(crate) fn link_slot(label: impl Into<String>, action: &impl Actions) -> LinkSlot {
    let (name, args) = action.encode();
    let lasting = action.names_change();
    LinkSlot { label: label.into(), action: name.into(), args, lasting, ..LinkSlot::default() }
}
