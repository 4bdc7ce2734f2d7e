//! An app whose type is erased. What serves apps is compiled once, with this crate, instead of once
//! for each app.

use std::any::Any;
use std::path::PathBuf;
use std::time::SystemTime;

use bytes::Bytes;
use pipemux_proto::hello::{PER_READER, UNREPORTED_CHANGES, VALUE_FILES};
use pipemux_proto::projection::Args;
use pipemux_proto::prototype::{Prototype, Risk, Type};
use pipemux_proto::{Fault, Hello, Role};

use crate::actions::Actions;
use crate::app::{App, Context, ExchangeReply, Found, Opening, Token, ViewRequest};
use crate::blocking::Blocking;
use crate::reply::{Ask, Reply};
use crate::view::View;

/// What an app declares for all its sessions: the constants of [`App`], and its actions.
#[derive(Clone, Copy)]
pub(crate) struct AppType {
    token_prefix: Option<&'static str>,
    pub(crate) resumes: bool,
    pub(crate) watches: bool,
    observes: bool,
    per_reader: bool,
    prototypes: fn() -> Vec<Prototype>,
    pub(crate) has_preview: fn(&str) -> bool,
    pub(crate) named_kind: fn(&str, &str) -> Option<Type>,
    decode: fn(&str, Args) -> Result<Decoded, Fault>,
    pub(crate) open: fn(&Opening) -> Result<Box<dyn Served>, Fault>,
}

impl AppType {
    pub(crate) fn of<A: App>() -> Self {
        Self {
            token_prefix: A::TOKEN_PREFIX,
            resumes: A::RESUMES,
            watches: A::WATCHES,
            observes: A::OBSERVES,
            per_reader: A::PER_READER,
            prototypes: A::Action::prototypes,
            has_preview: A::Action::has_preview,
            named_kind: A::Action::named_kind,
            decode: |name, args| {
                let action = A::Action::decode(name, args)?;
                let (name, risk) = (action.name(), action.risk());
                Ok(Decoded { name, risk, action: Box::new(action) })
            },
            open: |opening| Ok(Box::new(A::open(opening)?)),
        }
    }

    /// Returns the greeting that an app sends first. `can_watch` tells whether the system has
    /// watches.
    pub(crate) fn hello(&self, can_watch: bool) -> Hello {
        let software = format!("docui {}", env!("CARGO_PKG_VERSION"));
        let unreported = self.observes || self.watches && !can_watch;
        let features =
            [(unreported, UNREPORTED_CHANGES), (self.per_reader, PER_READER), (true, VALUE_FILES)];
        let features = features.into_iter().filter(|(is_so, _)| *is_so);
        let features = features.map(|(_, feature)| feature.to_owned()).collect();
        Hello {
            features,
            token_prefix: self.token_prefix.map(Into::into),
            prototypes: (self.prototypes)(),
            ..Hello::new(Role::App, software)
        }
    }

    /// Makes an action from its name and arguments, as [`Actions::decode`] does.
    pub(crate) fn decode(&self, name: &str, args: Args) -> Result<Decoded, Fault> {
        (self.decode)(name, args)
    }
}

/// An action of an app.
pub(crate) struct Decoded {
    pub(crate) name: &'static str,
    pub(crate) risk: Risk,
    action: Box<dyn Any>,
}

impl Decoded {
    fn action<A: App>(&self) -> Result<&A::Action, Fault> {
        self.action.downcast_ref().ok_or_else(other_app)
    }
}

/// The methods of [`App`], for a value of any app.
pub(crate) trait Served: Any {
    fn notes(&mut self) -> Vec<String>;
    fn attach(&mut self, opening: &Opening) -> Result<Vec<String>, Fault>;
    fn attach_blocking(
        &mut self,
        opening: &Opening,
    ) -> Result<Option<Blocking<dyn Served, Vec<String>>>, Fault>;
    fn confirm(&self, action: &Decoded) -> Result<Ask, Fault>;
    fn blocking(
        &mut self,
        action: &Decoded,
        context: &Context,
    ) -> Result<Option<Blocking<dyn Served>>, Fault>;
    fn update(&mut self, action: Decoded, context: &Context) -> Result<Reply, Fault>;
    fn resume_jobs(&mut self, keys: &[String]);
    fn view(&self, request: &ViewRequest) -> View;
    fn find(&self, key: &str) -> Found;
    fn find_for(&self, key: &str, reader: &str) -> Found;
    fn named(&self, ty: Option<&str>, name: &str) -> Result<String, Fault>;
    fn token(&self, kind: &str, name: &str) -> Option<Token>;
    fn read(&self, key: &str) -> Result<Vec<u8>, Fault>;
    fn path(&self, key: &str) -> Option<PathBuf>;
    fn exchange(&mut self, body: Bytes) -> Result<ExchangeReply, Fault>;
    fn refresh(&mut self) -> bool;
    fn watched(&self) -> Vec<PathBuf>;
    fn watched_changed(&mut self) -> bool;
    fn next_wake(&self) -> Option<SystemTime>;
    fn save(&mut self) -> Result<(), Fault>;
    fn resumed(&self) -> bool;
}

/// The app itself.
///
/// # Errors
/// It is of another type.
pub(crate) fn typed<A: App>(served: &dyn Served) -> Result<&A, Fault> {
    let any: &dyn Any = served;
    any.downcast_ref().ok_or_else(other_app)
}

/// The app itself, for a change: as [`typed`].
pub(crate) fn typed_mut<A: App>(served: &mut dyn Served) -> Result<&mut A, Fault> {
    let any: &mut dyn Any = served;
    any.downcast_mut().ok_or_else(other_app)
}

#[cold]
fn other_app() -> Fault {
    Fault::failed("the session's app is of another type")
}

impl<A: App> Served for A {
    fn notes(&mut self) -> Vec<String> {
        A::notes(self)
    }

    fn attach(&mut self, opening: &Opening) -> Result<Vec<String>, Fault> {
        A::attach(self, opening)
    }

    fn attach_blocking(
        &mut self,
        opening: &Opening,
    ) -> Result<Option<Blocking<dyn Served, Vec<String>>>, Fault> {
        Ok(A::attach_blocking(self, opening)?.map(|blocking| blocking.within(typed_mut::<A>)))
    }

    fn confirm(&self, action: &Decoded) -> Result<Ask, Fault> {
        A::confirm(self, action.action::<A>()?)
    }

    fn blocking(
        &mut self,
        action: &Decoded,
        context: &Context,
    ) -> Result<Option<Blocking<dyn Served>>, Fault> {
        Ok(A::blocking(self, action.action::<A>()?, context)?
            .map(|blocking| blocking.within(typed_mut::<A>)))
    }

    fn update(&mut self, action: Decoded, context: &Context) -> Result<Reply, Fault> {
        let action = action.action.downcast::<A::Action>().map_err(|_| other_app())?;
        A::update(self, *action, context)
    }

    fn resume_jobs(&mut self, keys: &[String]) {
        A::resume_jobs(self, keys);
    }

    fn view(&self, request: &ViewRequest) -> View {
        A::view(self, request)
    }

    fn find(&self, key: &str) -> Found {
        A::find(self, key)
    }

    fn find_for(&self, key: &str, reader: &str) -> Found {
        A::find_for(self, key, reader)
    }

    fn named(&self, ty: Option<&str>, name: &str) -> Result<String, Fault> {
        A::named(self, ty, name)
    }

    fn token(&self, kind: &str, name: &str) -> Option<Token> {
        A::token(self, kind, name)
    }

    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        A::read(self, key)
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        A::path(self, key)
    }

    fn exchange(&mut self, body: Bytes) -> Result<ExchangeReply, Fault> {
        A::exchange(self, body)
    }

    fn refresh(&mut self) -> bool {
        A::refresh(self)
    }

    fn watched(&self) -> Vec<PathBuf> {
        A::watched(self)
    }

    fn watched_changed(&mut self) -> bool {
        A::watched_changed(self)
    }

    fn next_wake(&self) -> Option<SystemTime> {
        A::next_wake(self)
    }

    fn save(&mut self) -> Result<(), Fault> {
        A::save(self)
    }

    fn resumed(&self) -> bool {
        A::resumed(self)
    }
}
