//! Bare numbers where a ref is expected: `28` may mean `obj:28` or the thing that is called 28. It
//! is never guessed.

use pipemux_proto::call::Span;
use pipemux_proto::prototype::{Param, Type};
use pipemux_proto::refs::{Ref, RefKind};
use pipemux_proto::{Fault, Level, command};

use crate::foreign::quote;
use crate::scripts::plan::Planner;
use crate::scripts::step::Argument;

/// The longest script that a hint repeats with a correction, in bytes.
const CORRECTED: usize = 400;

impl Planner<'_> {
    /// Resolves a text of digits for a parameter that takes only refs: it can only be a label.
    ///
    /// # Errors
    /// Not exactly one thing has the label.
    pub(super) fn numeral(
        &mut self,
        id: u64,
        text: &str,
        ty: &Type,
        (param, span): (&str, Span),
    ) -> Result<Argument, Fault> {
        match self.labelled(text, ty, (param, span, "")) {
            Ok(of) => self.reference(&of, ty, span, param),
            Err(fault) if fault.level == Level::Choice => Err(fault),
            Err(_) => Err(self.bare_number(id, None, (param, ty, span))),
        }
    }

    /// Refuses a bare number, listing each possible meaning with the call that expresses it. `text`
    /// is the meaning of the quoted number, for a parameter that takes texts.
    pub(super) fn bare_number(
        &self,
        id: u64,
        text: Option<&str>,
        (param, ty, span): (&str, &Type, Span),
    ) -> Fault {
        let quoted = format!("'{id}'");
        let text = match text {
            Some(text) => Some(text),
            None => {
                self.labelled(&id.to_string(), ty, (param, span, "")).is_ok().then_some("label")
            }
        };
        let known = self.workspace.anchors.get(RefKind::Obj, id);
        let object = Ref::obj(id);
        let as_ref = match known {
            Some(anchor) => {
                format!("{object} is {:?}", quote::in_sentence(anchor.label.borrow()))
            }
            None => format!("no thing is {object}"),
        };
        let as_text = text.map(|text| format!("; the {text} {id} is {quoted}"));
        let alternatives = text.map_or("", |_| "|string");
        let as_text = as_text.unwrap_or_default();
        let note = format!("{param} is {ty}{alternatives}, not a number: {as_ref}{as_text}");
        let fault = self.error("wrong type", span, note);
        let meanings =
            [known.map(|_| object.to_string()), text.map(|_| quoted)].into_iter().flatten();
        meanings.filter_map(|meaning| self.corrected(id, span, &meaning)).fold(fault, Fault::hint)
    }

    /// Returns the command that runs the script with the number at a place replaced: for a script
    /// of one step that holds no secret, since an answer repeats none.
    fn corrected(&self, id: u64, span: Span, by: &str) -> Option<String> {
        let prototypes = self.targets.iter().filter_map(|of| self.sessions.get(of));
        let mut params = prototypes.flat_map(|of| of.prototypes.iter()).flat_map(|of| &of.params);
        if !self.is_single || self.code.len() > CORRECTED || params.any(Param::holds_secret) {
            return None;
        }
        let (before, written) = self.code.get(..span.end)?.split_at_checked(span.start)?;
        let quotes = ['\'', '"'];
        let name = written.trim_end_matches(quotes).strip_suffix(&id.to_string())?;
        let name = name.trim_end_matches(quotes);
        let code = format!("{before}{name}{by}{}", self.code.get(span.end..)?);
        Some(command::run(&code))
    }
}
