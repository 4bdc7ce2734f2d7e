//! A script as its request keeps it: parsed once, with what decides how it is planned and refused.

use bytes::Bytes;
use pipemux_proto::call::{self, Script};
use pipemux_proto::limits::STDIN_MAX;
use pipemux_proto::{Fault, ProviderId};

use crate::audit::ToldText;
use crate::keys::SessionKey;
use crate::processes::Processes;
use crate::runs::Step;
use crate::runs::kept_steps::CorrectedRun;
use crate::scripts::plan::Planner;
use crate::scripts::secrets::SecretActions;
use crate::scripts::source::{Code, Source};
use crate::workspaces::Workspace;

#[derive(Debug)]
pub(crate) struct ParsedScript {
    /// Texts with what they say, in order. Only a correction has more than one.
    parts: Vec<(String, Script)>,
    pub(crate) origin: ScriptOrigin,
}

/// The origin of a script.
#[derive(Debug)]
pub(crate) enum ScriptOrigin {
    /// A `run` with calls that its client wrote.
    Typed { stdin: Option<Bytes>, only_queries: bool },
    /// A clicked token with a call that its app wrote.
    Clicked { only_queries: bool },
    /// An `answer` that corrects the failed call of kept steps.
    Corrected(Correction),
}

/// The position of a corrected call among the kept steps.
#[derive(Debug)]
pub(crate) struct Correction {
    /// The number under which the steps are kept.
    pub(crate) kept: u64,
    /// All steps, each as separate code.
    pub(crate) source: Source,
    /// Index of the first corrected step, as the steps are written.
    pub(crate) first: usize,
    /// Number of steps that the correction consists of.
    pub(crate) count: usize,
}

/// The result of planning, and the part of the text that the audit log may contain.
pub(crate) struct PlannedScript {
    /// Absent for a call that an app wrote.
    pub(crate) told: Option<ToldText>,
    /// The steps; or the index of the step that is refused, and the reason.
    pub(crate) steps: Result<Vec<Step>, (usize, Fault)>,
}

impl ParsedScript {
    /// Parses what a `run` sent. Errors show the code as `shown`, in which everything has the same
    /// place.
    ///
    /// # Errors
    /// A syntax error, or standard input that is too long or isn't UTF-8.
    pub(crate) fn typed(
        code: &str,
        stdin: Option<Bytes>,
        shown: &str,
        only_queries: bool,
    ) -> Result<Self, Fault> {
        let script = parse(code, stdin.as_deref(), shown)?;
        let origin = ScriptOrigin::Typed { stdin, only_queries };
        Ok(Self { parts: vec![(code.to_owned(), script)], origin })
    }

    /// Parses a call that an app wrote for what a reader clicked.
    ///
    /// # Errors
    /// A syntax error.
    pub(crate) fn clicked(code: &str, only_queries: bool) -> Result<Self, Fault> {
        let script = parse(code, None, code)?;
        let origin = ScriptOrigin::Clicked { only_queries };
        Ok(Self { parts: vec![(code.to_owned(), script)], origin })
    }

    /// Takes over kept steps with their failed call corrected.
    pub(crate) fn corrected(kept: u64, corrected: CorrectedRun) -> Self {
        let CorrectedRun { parts, source, first, count } = corrected;
        let origin = ScriptOrigin::Corrected(Correction { kept, source, first, count });
        Self { parts, origin }
    }

    /// The steps of the script's first part.
    pub(crate) fn first_steps(&self) -> &[call::Step] {
        self.parts.first().map_or(&[], |(_, script)| script.steps.as_slice())
    }

    /// The parts, each as its text and the parsed script.
    pub(crate) fn parts(&self) -> Vec<(&str, &Script)> {
        self.parts.iter().map(|(code, script)| (code.as_str(), script)).collect()
    }

    /// The text that came with the request itself.
    pub(crate) fn written(&self) -> &str {
        let own = match &self.origin {
            // Each kept step before the corrected call is a part of its own.
            ScriptOrigin::Corrected(correction) => correction.first,
            ScriptOrigin::Typed { .. } | ScriptOrigin::Clicked { .. } => 0,
        };
        self.parts.get(own).map_or("", |(code, _)| code)
    }

    pub(crate) fn only_queries(&self) -> bool {
        match self.origin {
            ScriptOrigin::Typed { only_queries, .. } | ScriptOrigin::Clicked { only_queries } => {
                only_queries
            }
            ScriptOrigin::Corrected(_) => false,
        }
    }

    /// The sessions of apps that the script may call, that may start, and whose prototypes the
    /// daemon doesn't know yet.
    pub(crate) fn unknown_sessions(
        &self,
        workspace: &Workspace,
        processes: &Processes,
    ) -> Vec<SessionKey> {
        let may_call =
            |provider: &ProviderId| self.parts.iter().any(|(_, script)| may_call(script, provider));
        let unknown = workspace.windows.with_unknown_actions(may_call).into_iter();
        unknown
            .map(|window| &window.session)
            .filter(|key| processes.get(key).is_some_and(|s| s.failed.is_none()))
            .cloned()
            .collect()
    }

    /// Checks all calls against the prototypes, as `reader` means them who looked at epoch `at`.
    pub(crate) fn plan(
        &self,
        workspace: &Workspace,
        processes: &Processes,
        reader: &str,
        at: Option<u64>,
    ) -> PlannedScript {
        let is_clicked = matches!(self.origin, ScriptOrigin::Clicked { .. });
        let in_place = |code: &str| {
            let secrets = SecretActions::in_code(workspace, code);
            secrets.hidden_in_place(code).filter(|_| !is_clicked)
        };
        let shown: Vec<Option<String>> =
            self.parts.iter().map(|(code, _)| in_place(code)).collect();
        let texts = self.parts.iter().zip(&shown);
        let parts: Vec<(&str, &Script)> = texts
            .map(|((code, script), shown)| (shown.as_deref().unwrap_or(code), script))
            .collect();
        let planner = Planner::new(workspace, processes.sessions(), "").clicked_by(reader, at);
        let steps = planner.plan_parts(&parts);
        let told = (!is_clicked).then(|| match self.without_secrets(workspace) {
            Some(hidden) if steps.is_ok() || self.is_correction() => ToldText::Hidden(hidden),
            hidden if steps.is_ok() || !SecretActions::are_known(workspace) => {
                hidden.map_or(ToldText::Whole, ToldText::Hidden)
            }
            _ => ToldText::Unchecked,
        });
        PlannedScript { told, steps }
    }

    /// The written text with its secrets hidden; `None` if it contains none.
    pub(crate) fn without_secrets(&self, workspace: &Workspace) -> Option<String> {
        SecretActions::in_code(workspace, self.written()).hidden(self.written())
    }

    /// Whether the script replaces a failed call.
    fn is_correction(&self) -> bool {
        matches!(self.origin, ScriptOrigin::Corrected(_))
    }

    /// The reader's source, to be kept with the run; `None` for a call that an app wrote.
    pub(crate) fn into_source(self) -> Option<Source> {
        match self.origin {
            ScriptOrigin::Typed { stdin, .. } => {
                let code = self.parts.into_iter().next().map(|(code, _)| code).unwrap_or_default();
                Some(source_of(code, stdin))
            }
            ScriptOrigin::Clicked { .. } => None,
            ScriptOrigin::Corrected(correction) => Some(correction.source),
        }
    }
}

/// Creates the source of a script that is a text.
pub(crate) fn source_of(code: String, stdin: Option<Bytes>) -> Source {
    Source { code: Code::Script(code), stdin, earlier: 0 }
}

/// Whether a script may call an app: it names the app, or has a call without an owner.
fn may_call(script: &Script, provider: &ProviderId) -> bool {
    fn call_names(call: &call::Call, provider: &ProviderId) -> bool {
        let own = call.owner.as_ref().is_none_or(|owner| owner.provider == *provider);
        own || call.args.iter().any(|argument| expr_names(&argument.value, provider))
    }
    fn expr_names(expr: &call::Expr, provider: &ProviderId) -> bool {
        match expr {
            call::Expr::Call(call) => call_names(call, provider),
            call::Expr::Name { owner, .. } => {
                owner.as_ref().is_none_or(|owner| owner.provider == *provider)
            }
            call::Expr::List(items) => items.iter().any(|(item, _)| expr_names(item, provider)),
            call::Expr::Record(entries) => {
                entries.iter().any(|entry| expr_names(&entry.value, provider))
            }
            call::Expr::Value(_) | call::Expr::Quoted(_) | call::Expr::Ref(_) => false,
        }
    }
    script.steps.iter().any(|step| match step {
        call::Step::Call(call) => call_names(call, provider),
        call::Step::Ref(..) => false,
    })
}

fn parse(code: &str, stdin: Option<&[u8]>, shown: &str) -> Result<Script, Fault> {
    if stdin.is_some_and(|stdin| stdin.len() > STDIN_MAX) {
        return Err(Fault::usage(format!("standard input is longer than {STDIN_MAX} bytes")));
    }
    let stdin = stdin
        .map(|bytes| {
            std::str::from_utf8(bytes).map_err(|error| {
                let at = error.valid_up_to();
                Fault::usage(format!("standard input is not UTF-8: byte {at}"))
            })
        })
        .transpose()?;
    call::parse_undecided(code, stdin).map_err(|error| error.to_fault(shown))
}
