//! `click`: carries out a link, or answers the question that it belongs to.

use pipemux_proto::Fault;
use pipemux_proto::refs::{Local, Ref, RefKind};

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::runs::{Argument, MissingArgument, Step, StepOrigin, fixed, ref_errors};
use crate::verbs::require;
use crate::views::minter::open_params;
use crate::workspaces::anchors::{AnchorError, Target};

impl Core {
    /// Clicks a link: runs its action, or answers the question that it belongs to.
    pub(super) fn click(&mut self, id: RequestId, link: &str) -> Result<(), Fault> {
        let link = Ref::parse_loose(link, RefKind::Link)
            .map_err(|error| Fault::usage(error.to_string()))?;
        if link.kind != RefKind::Link {
            return Err(Fault::usage(format!("{link} is a thing, not a link"))
                .hint(format!("its value: pipemux read {link}")));
        }
        match self.resolve_link(id, &link)? {
            LinkEffect::Step(step) => self.run_steps(id, vec![*step]),
            LinkEffect::Answer(question, answer) => {
                self.answer_question(id, &answer, Some(question), None)
            }
        }
    }

    /// Returns the effect of a link for the reader who clicks it.
    pub(super) fn resolve_link(&self, id: RequestId, link: &Ref) -> Result<LinkEffect, Fault> {
        let name = ref_errors::name(link);
        let missing = || ref_errors::not_found(&name, None);
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let Local::Id(number) = link.local else {
            return Err(Fault::usage(format!("{name}: a link is named by its number: link:15")));
        };
        let anchor = workspace.anchors.get(RefKind::Link, number).ok_or_else(missing)?;
        let session: &SessionKey = &anchor.session;
        let reader = &request.call.reader;
        let seen = link.epoch.or(request.call.at);
        let seen = seen.unwrap_or_else(|| workspace.known_epoch(reader, number));
        let strict = workspace.options.strict && seen < workspace.epoch;
        let checked = workspace.anchors.check(RefKind::Link, number, seen, workspace.epoch);
        if let Err(why) = checked.and(if strict { Err(AnchorError::Stale) } else { Ok(()) }) {
            return Err(match why {
                AnchorError::NotFound => missing(),
                AnchorError::Stale => ref_errors::stale(&name),
            });
        }
        let (action, args) = match &anchor.target {
            Target::Answer { question, answer } => {
                return Ok(LinkEffect::Answer(*question, answer.to_string()));
            }
            Target::Action(bound) => (&bound.action, &bound.args),
            Target::Object { .. } => return Err(missing()),
        };
        if workspace.window(session).is_none() {
            return Err(ref_errors::out_of_view(&name, Some(format!("pipemux open {session}"))));
        }
        // Another reader's view of less of the window doesn't hide the link from this one.
        if !anchor.shown && !workspace.in_view(reader, session, number) {
            return Err(ref_errors::out_of_view(&name, Some(format!("pipemux view {session}"))));
        }
        let prototypes = self.processes.get(session).map(|session| &session.prototypes);
        let prototype = prototypes
            .and_then(|all| all.iter().find(|prototype| prototype.name == *action))
            .ok_or_else(|| {
                ref_errors::out_of_view(&name, Some(format!("pipemux view {session}")))
            })?;
        // The reader is asked for the parameters that the link leaves open.
        let mut bound = fixed(args);
        for param in open_params(prototype, args) {
            let missing = MissingArgument { ty: param.ty.clone(), meant: None };
            bound.push((param.name.clone(), Argument::Missing(missing)));
        }
        Ok(LinkEffect::Step(Box::new(Step {
            session: session.clone(),
            prototype: prototype.clone(),
            candidates: Vec::new(),
            args: bound,
            call: name,
            origin: StepOrigin::Link,
            nested: false,
        })))
    }
}

/// The effect of a link.
pub(super) enum LinkEffect {
    /// The link runs this step.
    Step(Box<Step>),
    /// The link answers the question of this number with this text.
    Answer(u64, String),
}
