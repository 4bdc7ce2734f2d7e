//! The code of links that have names or nested calls among their arguments.

use pipemux_proto::SessionAddr;
use pipemux_proto::call::{self, Call, Entry, Expr, Owner, Step};
use pipemux_proto::refs::{Local, Ref, RefKind};

/// Returns the call of a link's code, with the session as the owner of everything in it; none for
/// code that isn't one call of this action, or that names another session: a link acts on its own
/// session only.
pub fn link_call(code: &str, action: &str, session: &SessionAddr) -> Option<Call> {
    let script = call::parse_undecided(code, None).ok()?;
    let [Step::Call(call)] = <[Step; 1]>::try_from(script.steps).ok()? else { return None };
    (call.action == action).then_some(call).and_then(|call| own_call(call, session))
}

fn own_call(mut call: Call, session: &SessionAddr) -> Option<Call> {
    call.owner = Some(own(call.owner, session)?);
    for argument in &mut call.args {
        argument.value = own_expr(std::mem::replace(&mut argument.value, NOTHING), session)?;
    }
    Some(call)
}

const NOTHING: Expr = Expr::Value(pipemux_proto::Value::Null);

fn own_expr(expr: Expr, session: &SessionAddr) -> Option<Expr> {
    Some(match expr {
        Expr::Value(_) | Expr::Quoted(_) => expr,
        Expr::Ref(of) => {
            let is_own = of.owner.as_ref().is_none_or(|owner| owner == session);
            // An app doesn't know the ids that the daemon shows.
            let has_key = matches!(of.local, Local::Key(_)) && of.prefix.is_none();
            let fits = is_own && has_key && of.kind == RefKind::Obj;
            fits.then(|| Expr::Ref(Ref { owner: Some(session.clone()), ..of }))?
        }
        Expr::List(items) => {
            let items =
                items.into_iter().map(|(item, span)| Some((own_expr(item, session)?, span)));
            Expr::List(items.collect::<Option<_>>()?)
        }
        Expr::Record(entries) => {
            let own =
                |entry: Entry| Some(Entry { value: own_expr(entry.value, session)?, ..entry });
            Expr::Record(entries.into_iter().map(own).collect::<Option<_>>()?)
        }
        Expr::Call(call) => Expr::Call(Box::new(own_call(*call, session)?)),
        Expr::Name { owner, name } => Expr::Name { owner: Some(own(owner, session)?), name },
    })
}

fn own(owner: Option<Owner>, session: &SessionAddr) -> Option<Owner> {
    let own = Owner { provider: session.provider.clone(), session: Some(session.session.clone()) };
    let is_own = owner.is_none_or(|owner| {
        owner.provider == session.provider
            && owner.session.is_none_or(|given| given == session.session)
    });
    is_own.then_some(own)
}
