//! Plans the click of a link as steps of a script.

use pipemux_proto::Fault;
use pipemux_proto::refs::Ref;

use crate::keys::SessionKey;
use crate::scripts::link::{Clicker, LinkTarget, link_target};
use crate::scripts::plan::Planner;
use crate::scripts::ref_errors;
use crate::scripts::step::{Argument, MissingArgument, Step, StepOrigin, fixed, is_true};
use crate::workspaces::anchors::{BoundAction, open_params};
use crate::workspaces::link_code::link_call;

impl<'a> Planner<'a> {
    /// Plans the click of a link as the next steps.
    ///
    /// # Errors
    /// A ref error, or the link's code doesn't fit the app's actions.
    pub(super) fn link(&mut self, clicker: Clicker<'_>, link: &Ref) -> Result<(), Fault> {
        let name = ref_errors::name(link);
        let target = link_target(self.workspace, self.sessions, clicker, link)?;
        let (session, bound, prototype) = match target {
            LinkTarget::Action(session, bound, prototype) => (session, bound, prototype),
            // A click on its own asks the app where the link is.
            LinkTarget::Hidden(_) => {
                return Err(ref_errors::out_of_view(&name, Some(format!("pipemux click {name}"))));
            }
            LinkTarget::CancelJob(job) => {
                let message = format!("{name} cancels job {job}: it is clicked alone");
                return Err(Fault::usage(message).hint(format!("pipemux click {link}")));
            }
            LinkTarget::Answer(question, _) => {
                let message = format!("{name} answers question {question}: it is clicked alone");
                return Err(Fault::usage(message).hint(format!("pipemux click {link}")));
            }
        };
        if let Some(code) = &bound.code {
            return self.link_code(session, bound, code, name);
        }
        // The reader is asked for the parameters that the link leaves open.
        let mut args = fixed(&bound.args);
        for param in open_params(prototype, &bound.args) {
            let raw = param.raw.holds(|flag| bound.args.get(flag).map(is_true));
            let missing = MissingArgument::of(param, raw);
            args.push((param.name.clone(), Argument::Missing(missing)));
        }
        self.push(Step {
            session: session.clone(),
            prototype: prototype.clone(),
            candidates: Vec::new(),
            args,
            call: name,
            origin: StepOrigin::Link,
            nested: false,
        })
        .map(|_| ())
    }

    /// Plans the code of a link: its names and nested calls are resolved when their steps run.
    fn link_code(
        &mut self,
        session: &SessionKey,
        bound: &BoundAction,
        code: &'a str,
        name: String,
    ) -> Result<(), Fault> {
        let call = link_call(code, &bound.action, &session.addr).ok_or_else(|| {
            ref_errors::out_of_view(&name, Some(format!("pipemux view {session}")))
        })?;
        let script = std::mem::replace(&mut self.code, code);
        let planned = self.call(&call, false);
        self.code = script;
        let step = planned?;
        (self.steps[step].call, self.steps[step].origin) = (name, StepOrigin::Link);
        Ok(())
    }
}
