//! Carrying out a run while something is looked up for its next step.

use std::mem;

use pipemux_proto::report::StepStatus;

use crate::runs::lookup::{LookupStep, located, lookup_request};
use crate::runs::phase::{Lookup, Phase};
use crate::runs::protocol::{LookupReply, RunOutput};
use crate::runs::run::Run;
use crate::scripts::context::RunContext;

impl Run {
    /// Asks for what the next step needs.
    pub(super) fn look_up(&mut self, lookup: Lookup, context: &RunContext<'_>) -> RunOutput {
        match lookup_request(&lookup, context.workspace, &self.caller.reader) {
            Ok(output) => {
                self.phase = Phase::LookingUp(lookup);
                output
            }
            Err(fault) => self.end(StepStatus::Failed, fault),
        }
    }

    /// Goes on with what was looked up.
    pub(super) fn looked_up(&mut self, reply: LookupReply, context: &RunContext<'_>) -> RunOutput {
        let next = match (mem::take(&mut self.phase), reply) {
            (
                Phase::LookingUp(Lookup::Location { session, key, shown }),
                LookupReply::Location(reply),
            ) => {
                if let Err(fault) = located(reply, &shown, context.speaker(&session)) {
                    self.own_changes.touch(&session);
                    return self.end(StepStatus::Failed, fault);
                }
                self.looked_up.located.push((session, key));
                return self.advance(context);
            }
            (Phase::LookingUp(Lookup::Window { session }), LookupReply::Window(Ok(_))) => {
                self.looked_up.windows.push(session);
                return self.advance(context);
            }
            (Phase::LookingUp(Lookup::Window { .. }), LookupReply::Window(Err(fault))) => {
                return self.end(StepStatus::Failed, fault);
            }
            (Phase::Rebasing { session, .. }, LookupReply::Window(Ok(window))) => {
                self.attempts.rebased.push(self.progress.next);
                self.baseline.take_window_as_seen(session, window);
                return self.advance(context);
            }
            (Phase::Rebasing { refusal, .. }, LookupReply::Window(Err(_))) => {
                return self.end(StepStatus::Failed, *refusal);
            }
            (Phase::LookingUp(Lookup::Value(value)), LookupReply::Value(reply)) => {
                let receiver = &value.receiver;
                // A daemon that just began doesn't know what the app takes until it has started it.
                let is_unknown = !self.looked_up.windows.contains(receiver)
                    && context.workspace.window(receiver).is_some()
                    && !context.has_greeted(receiver);
                let takes_files = context.takes_value_files(receiver);
                value.take_part(reply, is_unknown, takes_files)
            }
            (Phase::LookingUp(Lookup::Value(mut value)), LookupReply::Stored(stored)) => {
                let Some(file) = value.file.take() else { return self.lost() };
                if let (Ok(path), None) = (&stored, &file.path) {
                    self.value_files.push(path.clone());
                }
                value.stored(file, stored)
            }
            _ => return self.lost(),
        };
        match next {
            Ok(LookupStep::LookUp(lookup)) => self.look_up(lookup, context),
            Ok(LookupStep::Store(value, output)) => {
                self.phase = Phase::LookingUp(Lookup::Value(value));
                output
            }
            Ok(LookupStep::Copied(value, copied)) => {
                let key = (value.object.session, value.object.key, value.path);
                self.looked_up.copies.insert(key, copied);
                self.advance(context)
            }
            Err(fault) => self.end(StepStatus::Failed, fault),
        }
    }
}
