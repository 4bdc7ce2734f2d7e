//! Resolves a ref for the reader who wrote it.

use std::rc::Rc;

use pipemux_proto::Fault;
use pipemux_proto::refs::{Local, Ref, RefKind};
use rustc_hash::FxHashMap;

use crate::foreign::ForeignText;
use crate::keys::SessionKey;
use crate::persist::records::KeyForm;
use crate::scripts::context::RunContext;
use crate::scripts::ref_errors;
use crate::workspaces::Workspace;
use crate::workspaces::anchors::{Anchor, AnchorError, Target};

/// An object to which a ref or a name resolves.
#[derive(Debug, Clone)]
pub struct ResolvedObject {
    /// The session that owns it.
    pub session: SessionKey,
    /// The app's key of the object.
    pub key: String,
    /// The revision of the object's meaning that the reader saw.
    pub rev: u64,
    pub ty: Option<String>,
    /// The displayed label of the object.
    pub label: ForeignText,
}

/// The reason why a ref isn't resolved yet.
#[derive(Debug)]
pub enum UnresolvedRef {
    /// The window of `session` doesn't show the object; its app has to be asked where it is.
    NotShown {
        /// The session that owns the object.
        session: SessionKey,
        /// The app's key of the object.
        key: String,
        /// The ref in the form that error messages use.
        shown: String,
    },
    /// A ref error, with the session whose window shows the reason, if there is one.
    Invalid(Box<Fault>, Option<SessionKey>),
}

/// The meaning of refs: the state in which a reader last saw each object.
#[derive(Debug, Clone, Default)]
pub struct RefScope {
    /// The epoch in which the reader was last shown each id.
    pub known: Rc<FxHashMap<u64, u64>>,
    /// The epoch that the whole call is pinned to.
    pub at: Option<u64>,
}

impl RefScope {
    /// The meaning of refs to a reader now or, with an epoch, in that epoch.
    pub fn of(workspace: &Workspace, reader: &str, at: Option<u64>) -> Self {
        let reader = workspace.reader(reader);
        Self { known: reader.map(|reader| reader.known.clone()).unwrap_or_default(), at }
    }

    /// The object that a ref means. Objects in `located` need not be shown.
    ///
    /// # Errors
    /// A ref error, or where to ask.
    pub fn resolve(
        &self,
        context: &RunContext<'_>,
        of: &Ref,
        located: &[(SessionKey, String)],
    ) -> Result<ResolvedObject, UnresolvedRef> {
        let workspace = context.workspace;
        let shown = ref_errors::name(of);
        let id = match &of.local {
            Local::Id(id) => *id,
            Local::Key(key) => match (id_of_key(context, of, key, &shown), &of.prefix) {
                (Ok(id), _) => id,
                (Err(_), Some(prefix)) if of.epoch.is_none() && !is_known(context, prefix, key) => {
                    return unshown_token(context, of, (prefix, key), located);
                }
                (Err(error), _) => return Err(error),
            },
        };
        let not_found = || invalid(ref_errors::not_found(&shown, None));
        let anchor = workspace.anchors.get(RefKind::Obj, id).ok_or_else(not_found)?;
        check_owner(workspace, of, anchor, &shown)?;
        let session: &SessionKey = &anchor.session;
        let seen = of.epoch.or(self.at).or_else(|| self.known.get(&id).copied()).unwrap_or(0);
        if seen > workspace.epoch {
            let why = ref_errors::why_unissued(seen, workspace.epoch);
            return Err(invalid(ref_errors::not_found(&shown, Some(why))));
        }
        let strict = workspace.options.strict && seen < workspace.epoch;
        let checked = workspace.anchors.check(RefKind::Obj, id, seen, workspace.epoch);
        let checked = checked.and(if strict { Err(AnchorError::Stale) } else { Ok(()) });
        if let Err(why) = checked {
            return Err(match why {
                AnchorError::NotFound => not_found(),
                AnchorError::Stale => {
                    let fault = ref_errors::stale_since(workspace, session, seen, &shown);
                    UnresolvedRef::Invalid(Box::new(fault), Some(session.clone()))
                }
            });
        }
        let Target::Object { key } = &anchor.target else { return Err(not_found()) };
        if workspace.window(session).is_none() {
            let how = format!("pipemux open {session}");
            return Err(invalid(ref_errors::out_of_view(&shown, Some(how))));
        }
        let is_located = || located.iter().any(|(s, k)| s == session && **k == **key);
        if !anchor.is_shown() && !is_located() {
            let (session, key) = (session.clone(), key.to_string());
            return Err(UnresolvedRef::NotShown { session, key, shown });
        }
        Ok(ResolvedObject {
            session: session.clone(),
            key: key.to_string(),
            rev: anchor.rev,
            ty: anchor.ty.as_deref().map(Into::into),
            label: anchor.label.borrow().to_owned(),
        })
    }
}

/// True when a thing of this key was shown by an app that declared the prefix.
fn is_known(context: &RunContext<'_>, prefix: &str, key: &str) -> bool {
    let anchors = context.workspace.anchors.by_key(key);
    anchors.iter().any(|(_, anchor)| context.declares_prefix(&anchor.session, prefix))
}

/// Resolves a token whose object no window has shown, such as one from an old document or another
/// session. The app knows its tokens; no reader has seen a revision of the object.
fn unshown_token(
    context: &RunContext<'_>,
    of: &Ref,
    (prefix, key): (&str, &str),
    located: &[(SessionKey, String)],
) -> Result<ResolvedObject, UnresolvedRef> {
    let shown = ref_errors::name(of);
    let windows = context.workspace.windows.iter();
    let owners: Vec<&SessionKey> = windows
        .map(|window| &window.session)
        .filter(|session| context.declares_prefix(session, prefix))
        .collect();
    match owners.as_slice() {
        [] => Err(invalid(ref_errors::not_found(&shown, None))),
        [session] => {
            let session = (*session).clone();
            if !located.iter().any(|(of, known)| *of == session && known == key) {
                return Err(UnresolvedRef::NotShown { session, key: key.to_owned(), shown });
            }
            // Tokens write types with capitals, `Node`, where prototypes have `node`.
            let ty = of.ty.as_deref().map(str::to_ascii_lowercase);
            let label = ForeignText::from(key.to_owned());
            Ok(ResolvedObject { session, key: key.to_owned(), rev: 0, ty, label })
        }
        several => {
            let all: Vec<String> = several.iter().map(ToString::to_string).collect();
            let message = format!("{shown} is ambiguous: {} are open", all.join(" and "));
            let close = format!("close one of them: pipemux close {}", several[several.len() - 1]);
            Err(invalid(Fault::usage(message).naming(&shown).hint(close)))
        }
    }
}

/// The id of an object that is named by its app's own key.
pub(super) fn id_of_key(
    context: &RunContext<'_>,
    of: &Ref,
    key: &str,
    shown: &str,
) -> Result<u64, UnresolvedRef> {
    let has_type = |anchor: &Anchor| match &of.prefix {
        Some(_) => fits_token(of, anchor),
        None => of.ty.is_none() || of.ty.as_deref() == anchor.ty.as_deref(),
    };
    let has_owner = |anchor: &Anchor| match &of.prefix {
        Some(prefix) => context.declares_prefix(&anchor.session, prefix),
        None => of
            .owner
            .as_ref()
            .is_none_or(|owner| context.workspace.names_session(owner, &anchor.session)),
    };
    let mut found: Vec<_> = context
        .workspace
        .anchors
        .by_key(key)
        .into_iter()
        .filter(|(_, anchor)| has_type(anchor) && has_owner(anchor))
        .collect();
    let plain = of.prefix.is_none() && of.owner.is_none();
    let written = |(_, anchor): &&(u64, &Anchor)| anchor.has_plain_form(of.ty.as_deref());
    if plain && let Some((id, _)) = found.iter().find(written) {
        return Ok(*id);
    }
    let open = |anchor: &Anchor| context.workspace.window(&anchor.session).is_some();
    if of.prefix.is_some() && found.iter().any(|(_, anchor)| open(anchor)) {
        found.retain(|(_, anchor)| open(anchor));
    }
    match found.as_slice() {
        [] => Err(invalid(ref_errors::not_found(shown, None))),
        // The plain form of a ref that names its session was written for another object.
        [(id, anchor)] if !plain || anchor.key_form != Some(KeyForm::WithSession) => Ok(*id),
        several => {
            let all: Vec<String> = several
                .iter()
                .map(|(id, a)| format!("{} ({})", a.written(*id), a.session))
                .collect();
            let message = format!("{shown} is ambiguous: {}", all.join(" · "));
            Err(invalid(Fault::usage(message)))
        }
    }
}

/// True when a token's type is the object's. Tokens write types with capitals, `Node`, where refs
/// and prototypes have `node`.
fn fits_token(of: &Ref, anchor: &Anchor) -> bool {
    match (&of.ty, &anchor.ty) {
        (Some(wanted), Some(given)) => wanted.eq_ignore_ascii_case(given),
        _ => true,
    }
}

fn check_owner(
    workspace: &Workspace,
    of: &Ref,
    anchor: &Anchor,
    shown: &str,
) -> Result<(), UnresolvedRef> {
    if of.prefix.is_some() {
        // It was found by its owner and type.
        return Ok(());
    }
    if of.owner.as_ref().is_some_and(|owner| !workspace.names_session(owner, &anchor.session)) {
        let why = format!("It belongs to {}", anchor.session);
        return Err(invalid(ref_errors::not_found(shown, Some(why))));
    }
    if let (Some(wanted), Some(given)) = (&of.ty, &anchor.ty)
        && **wanted != **given
    {
        let why = format!("It is of type {given}, not {wanted}");
        return Err(invalid(ref_errors::not_found(shown, Some(why))));
    }
    Ok(())
}

fn invalid(fault: Fault) -> UnresolvedRef {
    UnresolvedRef::Invalid(Box::new(fault), None)
}
