//! `resolve`: what the refs and tokens of any text are now, and the calls one can make; a click on
//! a token.
//!
//! Nothing in a text acts by itself: only what a reader passes to a verb is looked up, and a token
//! runs only with `--run` or in a `click`. Which call that is, the token's app says, and it is a
//! call of that app only.

use std::collections::BTreeMap;

use pipemux_proto::app::{Locate, TokenName};
use pipemux_proto::client::{Body, Format, Verb, VerbRequest};
use pipemux_proto::envelope::Method;
use pipemux_proto::limits::{RESOLVE_MAX, RESOLVE_TEXT_MAX};
use pipemux_proto::prototype::{Prominence, Prototype, Type};
use pipemux_proto::refs::scan::find;
use pipemux_proto::refs::{Local, Ref, RefKind};
use pipemux_proto::report::Report;
use pipemux_proto::{Code, Fault};

use crate::clients::client_request::ClientRequest;
use crate::foreign::{KeyLocation, Located, quote};
use crate::intake;
use crate::keys::SessionKey;
use crate::limits::LOCATE_MS;
use crate::pipeline::parsed_script::ParsedScript;
use crate::processes::Processes;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::session::Session;
use crate::runs::RunContext;
use crate::scripts::link::{Clicker, LinkTarget, link_target};
use crate::scripts::ref_errors;
use crate::scripts::resolve_ref::{RefScope, UnresolvedRef};
use crate::turn::Turn;
use crate::verbs::next::{Next, RunWork, SessionStart, Work};
use crate::verbs::tasks::{AfterStart, RefLookup, Resolving, Task};
use crate::views::answer::refusal;
use crate::views::link_title::callee;
use crate::views::resolved::{RefStatus, ResolvedRef, resolved_data, resolved_text};
use crate::workspaces::Workspace;
use crate::workspaces::link_code::link_call;

/// Most actions that are named for one ref.
const TAKES_MAX: usize = 8;

/// Returns the refs and tokens of a text, each once.
///
/// # Errors
/// The text is too long.
pub(crate) fn refs_in(text: &str, run: bool) -> Result<RefLookup, Fault> {
    if text.len() > RESOLVE_TEXT_MAX {
        let message = format!("the text has {} bytes (limit {RESOLVE_TEXT_MAX})", text.len());
        return Err(Fault::refused(message).hint("pass it in parts"));
    }
    let (mut refs, mut more) = (Vec::<Ref>::new(), 0);
    for (_, found) in find(text) {
        match refs.contains(&found) {
            true => {}
            false if refs.len() < RESOLVE_MAX => refs.push(found),
            false => more += 1,
        }
    }
    pipemux_tokens::work::spend(text.len() + refs.len() * refs.len());
    Ok(RefLookup { refs, more, run })
}

/// Looks refs up, and asks the apps of those that the workspace doesn't tell about. If
/// `start` allows it, apps whose tokens aren't known are started first.
pub(crate) fn resolve_refs(
    turn: &mut Turn,
    processes: &mut Processes,
    workspace: &Workspace,
    request: &ClientRequest,
    lookup: RefLookup,
    start: SessionStart,
) -> Result<Next, Fault> {
    if start == SessionStart::Allowed && lookup.refs.iter().any(|found| found.prefix.is_some()) {
        // An app says with its greeting which tokens are its own; one that hasn't greeted this
        // daemon yet is started for it.
        let is_unknown = |key: &&SessionKey| {
            let session = processes.get(key);
            session.is_some_and(|session| session.profile.minor == 0 && session.failed.is_none())
        };
        let sessions = workspace.windows.iter().map(|window| &window.session);
        let unknown: Vec<SessionKey> = sessions.filter(is_unknown).cloned().collect();
        if !unknown.is_empty() {
            return Ok(Next::Work(Work::Start(unknown, AfterStart::Resolve(lookup))));
        }
    }
    let RefLookup { refs, more, run } = lookup;
    let (reader, at) = (&request.call.reader, request.call.at);
    let scope = RefScope::of(workspace, reader, at);
    let context = RunContext { workspace, sessions: processes.sessions() };
    let mut resolving = Resolving { refs: Vec::new(), more, run, asked: BTreeMap::new() };
    let mut locates: BTreeMap<SessionKey, Locate> = BTreeMap::new();
    for of in refs {
        let (found, ask) = look_up(&context, &scope, Clicker { reader, at }, of);
        if let Some((session, key)) = ask {
            let locate = locates.entry(session.clone()).or_default();
            locate.reader.clone_from(reader);
            if let Some(ty) = found.of.prefix.as_ref().and(found.of.ty.as_ref()) {
                locate.tokens.push(TokenName { ty: ty.clone(), name: key.clone() });
            }
            locate.keys.push(key);
            resolving.asked.entry(session).or_default().push(resolving.refs.len());
        }
        resolving.refs.push(found);
    }
    if locates.is_empty() {
        return resolved(&request.call, resolving);
    }
    let deadline = request.deadline.min(turn.mono_ms() + LOCATE_MS);
    for (session, locate) in locates {
        processes.request(
            turn,
            &session,
            Method::Locate,
            &locate,
            deadline,
            ReplyTo::Resolve(request.id),
        );
    }
    Ok(Next::Wait(Task::Resolving(Box::new(resolving))))
}

/// Takes in what an app says of the refs and tokens that it was asked about.
pub(crate) fn take_locations(
    resolving: &mut Resolving,
    processes: &Processes,
    session: &SessionKey,
    reply: AppReply,
) {
    let by = processes.speaker(session);
    let located = match reply {
        AppReply::Reply(body) => intake::read_said::<Located>(&body, by).map_err(Fault::failed),
        AppReply::Fault(fault) => Err(fault),
        AppReply::Lost { why, .. } => Err(Fault::unavailable(why)),
    };
    let places = resolving.asked.remove(session).unwrap_or_default();
    let (mut keys, mut tokens) = match located {
        Ok(Located { places, tokens }) => (places.into_iter(), tokens.into_iter()),
        Err(fault) => {
            for place in places {
                let found = &mut resolving.refs[place];
                (found.status, found.why) = (RefStatus::Unknown, Some(fault.message.clone()));
            }
            return;
        }
    };
    let process = processes.get(session);
    for place in places {
        let found = &mut resolving.refs[place];
        let mut location = keys.next();
        if found.of.prefix.is_some()
            && let Some(told) = tokens.next()
        {
            found.title = Some(told.title);
            found.at = told.at;
            found.click = told.click.and_then(|code| app_call(&code, session));
            location = Some(told.place);
        }
        take_location(found, location);
        found.takes = takes(process, found);
    }
}

/// Tells what is known of all refs, or finds the one call that they name.
///
/// # Errors
/// A call is to be carried out, and they name none.
pub(crate) fn resolved(call: &VerbRequest, resolving: Resolving) -> Result<Next, Fault> {
    let Resolving { refs, more, run, .. } = resolving;
    if !run {
        return Ok(Next::Data(resolved_text(&refs, more), resolved_data(&refs, more)));
    }
    let commands: Vec<(String, &ResolvedRef)> =
        refs.iter().filter_map(|found| Some((found.click_command()?, found))).collect();
    match commands.as_slice() {
        [(_, only)] => match &only.click {
            Some(code) => {
                let only_queries = matches!(call.verb, Verb::Run { only_queries: true, .. });
                Ok(Next::Run(RunWork::Script(
                    Box::new(ParsedScript::clicked(code, only_queries)?),
                    SessionStart::Done,
                )))
            }
            None => Ok(Next::Work(Work::Click(only.of.clone()))),
        },
        [] => Err(match refs.as_slice() {
            [only] => no_call(only),
            _ => Fault::not_found("the text names no call that can be made")
                .hint("what is there: pipemux resolve - < FILE"),
        }),
        several => {
            let fault = Fault::usage(format!(
                "the text names {} calls, expected one: click the one that is meant",
                several.len()
            ));
            let shown: Vec<ResolvedRef> =
                several.iter().map(|(_, found)| (*found).clone()).collect();
            Ok(refuse_choice(call.format, fault, &shown))
        }
    }
}

/// Refuses a text that names several calls, and shows them: in a hint their tokens would be
/// escaped, as in apps' texts.
fn refuse_choice(format: Format, fault: Fault, shown: &[ResolvedRef]) -> Next {
    let exit = fault.code.exit_status();
    let body = match format {
        Format::Markdown => Body::Text(refusal(&fault) + &resolved_text(shown, 0)),
        Format::Json => Body::Report(Box::new(Report { error: Some(fault), ..Report::default() })),
    };
    Next::Refusal(exit, body)
}

/// Says what is known of a ref without asking its app; else which session to ask, about which key.
fn look_up(
    context: &RunContext<'_>,
    scope: &RefScope,
    clicker: Clicker<'_>,
    of: Ref,
) -> (ResolvedRef, Option<(SessionKey, String)>) {
    let found = ResolvedRef::new(of.clone());
    if of.kind == RefKind::Link {
        return (look_up_link(context, clicker, found), None);
    }
    if let (Some(prefix), Local::Key(key)) = (&of.prefix, &of.local) {
        return match token_owner(context, prefix) {
            Ok(session) => {
                let ask = (session.clone(), key.clone());
                (
                    ResolvedRef { session: Some(session), status: RefStatus::Asked, ..found },
                    Some(ask),
                )
            }
            Err((status, why)) => (found.is(status, why), None),
        };
    }
    match scope.resolve(context, &of, &[]) {
        Ok(object) => {
            let process = context.sessions.get(&object.session);
            let asleep = process.is_none_or(|process| process.ready().is_none());
            let status = if asleep { RefStatus::Asleep } else { RefStatus::Live };
            let (session, title) = (Some(object.session.clone()), Some(object.label));
            let found = ResolvedRef { session, title, ..found }.is(status, None);
            let takes = takes_type(process, object.ty.as_deref());
            (ResolvedRef { takes, ..found }, None)
        }
        Err(UnresolvedRef::NotShown { session, key, .. }) => {
            let ask = (session.clone(), key);
            (ResolvedRef { session: Some(session), status: RefStatus::Asked, ..found }, Some(ask))
        }
        Err(UnresolvedRef::Invalid(fault, session)) => {
            let found = refused(context, found, &fault);
            (ResolvedRef { session: session.or(found.session.clone()), ..found }, None)
        }
    }
}

fn look_up_link(context: &RunContext<'_>, clicker: Clicker<'_>, found: ResolvedRef) -> ResolvedRef {
    let Local::Id(number) = found.of.local else {
        return found.is(RefStatus::Forged, "a link is named by its number".to_owned());
    };
    let anchor = context.workspace.anchors.get(RefKind::Link, number);
    let title = anchor.map(|anchor| anchor.label.borrow().to_owned());
    let session = anchor.map(|anchor| (*anchor.session).clone());
    let of = found.of.clone();
    match link_target(context.workspace, context.sessions, clicker, &of) {
        Ok(LinkTarget::Hidden(_)) => {
            ResolvedRef { title, session, ..found.is(RefStatus::Hidden, None) }
        }
        Ok(_) => ResolvedRef { title, session, ..found.is(RefStatus::Live, None) },
        Err(fault) => ResolvedRef { title, session, ..refused(context, found, &fault) },
    }
}

/// Tells why a ref leads nowhere.
fn refused(context: &RunContext<'_>, found: ResolvedRef, fault: &Fault) -> ResolvedRef {
    let hint = || fault.hints.first().cloned();
    match fault.code {
        Code::Stale => found.is(RefStatus::Stale, hint()),
        Code::OutOfView => found.is(RefStatus::Hidden, hint()),
        Code::NotFound => {
            let minted = |id: u64| id < context.workspace.anchors.next_id();
            match found.of.local {
                Local::Id(id) if minted(id) => found.is(RefStatus::Gone, None),
                _ => found.is(RefStatus::Forged, "nothing here ever had it".to_owned()),
            }
        }
        _ => found.is(RefStatus::Ambiguous, fault.message.clone()),
    }
}

/// Returns the session that a token's prefix means: the workspace's only one.
fn token_owner(
    context: &RunContext<'_>,
    prefix: &str,
) -> Result<SessionKey, (RefStatus, Option<String>)> {
    let workspace = context.workspace;
    let declares = |session: &&SessionKey| context.declares_prefix(session, prefix);
    let open: Vec<&SessionKey> =
        workspace.windows.iter().map(|window| &window.session).filter(declares).collect();
    match open.as_slice() {
        [only] => Ok((*only).clone()),
        [] => {
            let own = |key: &&SessionKey| {
                key.workspace.as_ref().is_none_or(|owner| *owner == workspace.key)
            };
            let closed = context.sessions.keys().filter(own).find(declares);
            Err(match closed {
                Some(session) => {
                    let why = format!("the window of {session} is closed: pipemux open {session}");
                    (RefStatus::Hidden, Some(why))
                }
                None => (RefStatus::Forged, Some(format!("no app here has tokens of {prefix}"))),
            })
        }
        [.., last] => {
            let names: Vec<String> = open.iter().map(ToString::to_string).collect();
            let why = format!("{} are open · close one: pipemux close {last}", names.join(" and "));
            Err((RefStatus::Ambiguous, Some(why)))
        }
    }
}

/// Takes in where an app says that a thing is.
fn take_location(found: &mut ResolvedRef, location: Option<KeyLocation>) {
    (found.status, found.why) = match location {
        Some(KeyLocation::Shown) => (RefStatus::Live, None),
        Some(KeyLocation::Hidden(how)) => (RefStatus::Hidden, Some(quote::in_hint(&how))),
        Some(KeyLocation::Gone(Some(why))) => (RefStatus::Gone, Some(quote::in_hint(&why))),
        Some(KeyLocation::Gone(None)) if found.of.prefix.is_some() => {
            (RefStatus::Forged, Some("nothing ever had that name".into()))
        }
        Some(KeyLocation::Gone(None)) => (RefStatus::Gone, None),
        None => (RefStatus::Unknown, Some("its app does not tell".into())),
    };
}

/// Returns the actions of a session that take what a ref names.
fn takes(process: Option<&Session>, found: &ResolvedRef) -> Vec<String> {
    let ty = found.of.ty.as_deref().map(str::to_ascii_lowercase);
    if found.status.is_there() { takes_type(process, ty.as_deref()) } else { Vec::new() }
}

/// Returns the actions of a session that need nothing but a thing of a type, or that first.
fn takes_type(process: Option<&Session>, ty: Option<&str>) -> Vec<String> {
    fn fits(param: &Type, ty: &str) -> bool {
        match param {
            Type::Anchor(wanted) => wanted.as_deref() == Some(ty),
            Type::List(of) | Type::Optional(of) => fits(of, ty),
            _ => false,
        }
    }
    let (Some(process), Some(ty)) = (process, ty) else { return Vec::new() };
    let takes = |action: &&Prototype| {
        let first = action.params.first().is_some_and(|param| fits(&param.ty, ty));
        first && action.prominence != Prominence::Alias
    };
    let name = |action: &Prototype| {
        let params: Vec<&str> = action
            .params
            .iter()
            .enumerate()
            .filter(|(at, param)| *at == 0 || param.default.is_none())
            .map(|(_, param)| param.name.as_str())
            .collect();
        format!("{}({})", action.written_name(), params.join(", "))
    };
    process.prototypes.iter().filter(takes).take(TAKES_MAX).map(name).collect()
}

/// Returns the full call for an app's code; `None` if the code isn't a single call of the app's own
/// session.
fn app_call(code: &str, session: &SessionKey) -> Option<String> {
    let code = code.trim();
    let action = code.split('(').next().unwrap_or_default();
    let whole = format!("{}.{code}", callee(&session.addr));
    link_call(&whole, action, &session.addr)?;
    Some(whole)
}

/// Says why a click on a ref does nothing.
fn no_call(found: &ResolvedRef) -> Fault {
    let shown = ref_errors::name(&found.of);
    let why = found.why.clone();
    match found.status {
        RefStatus::Stale => ref_errors::stale(&shown),
        RefStatus::Hidden | RefStatus::Unknown => ref_errors::out_of_view(&shown, why),
        RefStatus::Gone | RefStatus::Forged | RefStatus::Asked => {
            ref_errors::not_found(&shown, why)
        }
        RefStatus::Ambiguous => {
            Fault::usage(format!("{shown} is ambiguous: {}", why.unwrap_or_default()))
                .naming(&shown)
        }
        RefStatus::Live | RefStatus::Asleep => {
            let fault = Fault::usage(format!("{shown} is a thing, not a link")).naming(&shown);
            // In a hint a token would be escaped, as tokens in apps' texts are.
            fault.hint("what takes it: pipemux resolve with it in quotes")
        }
    }
}
