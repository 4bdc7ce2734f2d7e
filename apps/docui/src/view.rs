//! Building a window.

use pipemux_proto::Value;
use pipemux_proto::projection::{Code, LinkSlot, ObjectSlot, Piece, Projection};

use crate::actions::Actions;

/// A thing that a view shows and calls can refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object(ObjectSlot);

impl Object {
    /// A thing with the app's own key and what is shown for it. A key is never used again for
    /// something else.
    pub fn new(key: impl Into<String>, label: impl Into<String>) -> Self {
        Self(ObjectSlot { key: key.into(), rev: 0, ty: None, label: label.into() })
    }

    /// Sets its type, for parameters of type `Anchor<type>`.
    #[must_use]
    pub fn ty(mut self, ty: impl Into<String>) -> Self {
        self.0.ty = Some(ty.into());
        self
    }

    /// Sets its rev; change it when the thing's meaning does. The same as [`crate::Found`] tells.
    #[must_use]
    pub fn rev(mut self, rev: u64) -> Self {
        self.0.rev = rev;
        self
    }
}

/// A window's content. Pieces are shown in the order they are added.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View(pub(crate) Projection);

impl View {
    /// With what the heading says after the session's address: `src/parse.rs · 412 lines · saved`.
    pub fn new(title: impl Into<String>) -> Self {
        Self(Projection { title: title.into(), ..Projection::default() })
    }

    /// Adds a link to the row under the heading.
    pub fn nav(&mut self, label: impl Into<String>, action: &impl Actions) -> &mut Self {
        self.0.nav.push(link(label, action));
        self
    }

    /// Adds Markdown. What looks like an anchor, a fence or a window's heading in it is made inert.
    pub fn text(&mut self, text: impl Into<String>) -> &mut Self {
        self.piece(Piece::Text(text.into()))
    }

    /// Adds a thing: `[label](obj:23)`.
    pub fn object(&mut self, object: Object) -> &mut Self {
        self.piece(Piece::Object(object.0))
    }

    /// Adds an action: `[label](link:42)`.
    pub fn link(&mut self, label: impl Into<String>, action: &impl Actions) -> &mut Self {
        self.piece(Piece::Link(link(label, action)))
    }

    /// Adds an action whose label hides a value worth varying: `[fire](link:42 "cast(mana=20)")`.
    pub fn titled_link(&mut self, label: impl Into<String>, action: &impl Actions) -> &mut Self {
        self.piece(Piece::Link(LinkSlot { titled: true, ..link(label, action) }))
    }

    /// Adds exact text in a fence.
    pub fn code(&mut self, lang: impl Into<String>, text: impl Into<String>) -> &mut Self {
        self.piece(Piece::Code(Code { lang: lang.into(), text: text.into(), first: None }))
    }

    /// Adds exact text in a fence, its lines numbered from `first`.
    pub fn lines(
        &mut self,
        lang: impl Into<String>,
        first: u64,
        text: impl Into<String>,
    ) -> &mut Self {
        self.piece(Piece::Code(Code { lang: lang.into(), text: text.into(), first: Some(first) }))
    }

    /// Says where in the whole the content stands: `lines 1-40`.
    pub fn position(&mut self, position: impl Into<String>) -> &mut Self {
        self.0.position = Some(position.into());
        self
    }

    /// Names the actions that make sense now; without this, all do.
    pub fn only<'a>(&mut self, actions: impl IntoIterator<Item = &'a str>) -> &mut Self {
        self.0.actions = Some(actions.into_iter().map(Into::into).collect());
        self
    }

    /// Binds a name that calls may use for a thing: `selection`.
    pub fn bind(&mut self, name: impl Into<String>, object: Object) -> &mut Self {
        self.0.names.insert(name.into(), object.0);
        self
    }

    /// Sets the focus.
    pub fn focus(&mut self, key: impl Into<String>) -> &mut Self {
        self.0.focus = Some(key.into());
        self
    }

    /// Sets state of the app's own, for `view --json`.
    pub fn custom(&mut self, name: impl Into<String>, value: impl Into<Value>) -> &mut Self {
        self.0.custom.insert(name.into(), value.into());
        self
    }

    /// Says about how many tokens were left out.
    pub fn hidden(&mut self, tokens: u64) -> &mut Self {
        self.0.hidden_tokens = tokens;
        self
    }

    fn piece(&mut self, piece: Piece) -> &mut Self {
        match (self.0.content.last_mut(), piece) {
            // The longer one stays where it is, if it can.
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

pub(crate) fn link(label: impl Into<String>, action: &impl Actions) -> LinkSlot {
    let (name, args) = action.encode();
    LinkSlot { label: label.into(), action: name.into(), args, titled: false }
}
