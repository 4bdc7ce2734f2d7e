//! The remaining steps and standard input of a failed run. They are kept until their reader
//! corrects the failed call or drops them, or until they expire.

use bytes::Bytes;
use pipemux_proto::Fault;
use pipemux_proto::call::{self, Script, Span};
use pipemux_proto::report::KeptReport;

use crate::keys::WorkspaceKey;
use crate::limits::{KEPT_BYTES_MAX, KEPT_CHARS};
use crate::persist::records::SavedRest;
use crate::runs::baseline::SeenBaseline;
use crate::runs::caller::Caller;
use crate::runs::run::Run;
use crate::scripts::source::{Code, Source};
use crate::workspaces::Workspace;

/// Characters of one kept step that is shortened.
const KEPT_CALL_CHARS: usize = 100;
/// Bytes that the one text of a failed call must have to be kept for the corrected one.
const KEPT_TEXT_MIN: usize = 200;
/// Characters of kept steps in the answer of the run that failed; past it their names are told.
const KEPT_LINE_CHARS: usize = 120;

/// The remaining steps of a run.
#[derive(Debug, Clone)]
pub struct KeptSteps {
    /// The caller of the run, whose run id the steps still carry.
    pub caller: Caller,
    /// The steps before the one to be corrected; empty once they ran.
    pub before: Vec<String>,
    /// The steps after the one to be corrected.
    pub behind: Vec<String>,
    /// Standard input, if a remaining step may use it; otherwise the only long text of the failed
    /// call, so that the corrected call can name it as standard input instead of repeating it.
    pub stdin: Option<Bytes>,
    /// True when that is the text of the failed call.
    pub is_text: bool,
    /// The number of steps that already ran, as the reader counts them.
    pub earlier: usize,
    /// The baseline of the steps' numbers and refs; `None` once it was lost with a daemon.
    pub seen: Option<SeenBaseline>,
    /// How long the run was to wait for its jobs to end, in milliseconds. The client derives it
    /// from the calls, and the next request contains only one of them.
    pub wait_ms: u32,
    /// True until a later run of its reader fails: an answer that names no number means this one.
    pub newest: bool,
    /// The time of expiry on the monotonic clock; 0 until the daemon that restored it starts.
    pub expires: u64,
}

impl KeptSteps {
    /// Returns what is left of a run that has ended; none when nothing is, or the run didn't fail.
    pub fn of_failed(run: &Run, workspace: &Workspace) -> Option<Self> {
        let done = &run.progress.done;
        let failed = done.last().is_some_and(|outcome| outcome.fault.is_some());
        let source = run.origin.source().filter(|_| failed && !run.cancelled)?;
        let steps = source.steps();
        let left = steps.get(run.progress.written_index(done.len() - 1)..)?;
        let (failed, behind) = left.split_first()?;
        let (stdin, is_text) = input_of(left, source, Some(failed));
        let rest = Self {
            wait_ms: run.job_wait.requested_ms,
            behind: behind.to_vec(),
            stdin,
            is_text,
            earlier: source.earlier + steps.len() - left.len(),
            // Steps that were written at different times mean different things: of these no number
            // or ref counts.
            seen: (!run.baseline.is_mixed_behind(done.len()))
                .then(|| run.baseline.lasting().with_names(workspace, &run.caller.reader)),
            ..Self::new(run.caller.clone())
        };
        rest.is_worth_keeping().then_some(rest)
    }

    /// Returns the whole of a script that was refused, because of the step with this index.
    pub fn of_refused(caller: Caller, source: &Source, index: usize) -> Option<Self> {
        let steps = source.steps();
        let (before, left) = steps.split_at_checked(index)?;
        let behind = left.get(1..).unwrap_or_default().to_vec();
        // Where the syntax is broken there are no steps, and the corrected script may use it.
        let (stdin, is_text) = match steps.is_empty() {
            true => (source.stdin.clone(), false),
            false => input_of(&steps, source, left.first()),
        };
        let before = before.to_vec();
        let earlier = source.earlier;
        let new = Self::new(caller);
        let rest = Self { before, behind, stdin, is_text, earlier, ..new };
        rest.is_worth_keeping().then_some(rest)
    }

    fn new(caller: Caller) -> Self {
        Self {
            caller,
            before: Vec::new(),
            behind: Vec::new(),
            stdin: None,
            is_text: false,
            earlier: 0,
            seen: None,
            wait_ms: 0,
            newest: true,
            expires: 0,
        }
    }

    fn is_worth_keeping(&self) -> bool {
        let any = !self.before.is_empty() || !self.behind.is_empty() || self.stdin.is_some();
        any && self.bytes() <= KEPT_BYTES_MAX
    }

    /// Returns the bytes of its steps and of standard input.
    pub fn bytes(&self) -> usize {
        let steps = self.before.iter().chain(&self.behind);
        steps.map(String::len).sum::<usize>() + self.stdin.as_ref().map_or(0, Bytes::len)
    }

    /// Returns the number of the step that is to be corrected, as the reader counts.
    pub fn position(&self) -> usize {
        self.earlier + self.before.len() + 1
    }

    /// Returns the steps as they are shown, each on one line.
    pub fn shown_steps(&self) -> Vec<String> {
        let stdin = self.stdin.as_ref().map(Bytes::len);
        self.before.iter().chain(&self.behind).map(|step| call::shown(step, stdin)).collect()
    }

    /// Returns what is kept in one line: the steps whole, with long input by its size.
    pub fn shown(&self) -> String {
        let fits = |parts: &[String]| parts.iter().map(|p| p.chars().count() + 2).sum::<usize>();
        let mut parts = self.shown_steps();
        let uses_stdin = |step: &String| call::stdin_at(step).is_some();
        if let Some(stdin) = &self.stdin
            && !self.before.iter().chain(&self.behind).any(uses_stdin)
        {
            parts.push(self.shown_input(stdin));
        }
        if !self.before.is_empty() {
            parts.insert(self.before.len(), format!("(step {})", self.position()));
        }
        if fits(&parts) > KEPT_CHARS {
            let short = |part: &String| {
                call::shorten(part, Span { start: 0, end: part.len() }, KEPT_CALL_CHARS)
            };
            parts = parts.iter().map(short).collect();
        }
        let whole = parts.len();
        while parts.len() > 1 && fits(&parts) > KEPT_CHARS {
            parts.pop();
        }
        if parts.len() < whole {
            parts.push(format!("… {} more", whole - parts.len()));
        }
        parts.join("; ")
    }

    /// Returns what is kept in one short line, for its reader, who wrote it: the steps whole if
    /// they are short, else their names. `pipemux answer` shows them whole.
    pub fn shown_short(&self) -> String {
        let whole = self.shown();
        if whole.chars().count() <= KEPT_LINE_CHARS {
            return whole;
        }
        let steps = self.shown_steps();
        let mut names: Vec<(&str, usize)> = Vec::new();
        for step in &steps {
            let name = step.split('(').next().unwrap_or_default().trim();
            match names.last_mut().filter(|(last, _)| *last == name) {
                Some((_, times)) => *times += 1,
                None => names.push((name, 1)),
            }
        }
        let mut text = match steps.len() {
            0 => String::new(),
            1 => "1 step: ".to_owned(),
            several => format!("{several} steps: "),
        };
        let mut told = 0;
        for (name, times) in names {
            if told > 0 && text.chars().count() + name.chars().count() > KEPT_LINE_CHARS {
                text += &format!(", … {} more", steps.len() - told);
                break;
            }
            text += if told > 0 { ", " } else { "" };
            text.extend(name.chars().take(KEPT_CALL_CHARS));
            if times > 1 {
                text += &format!(" ×{times}");
            }
            told += times;
        }
        if let Some(stdin) = &self.stdin {
            text += if steps.is_empty() { "" } else { ", " };
            text += &self.shown_input(stdin);
        }
        text
    }

    fn shown_input(&self, stdin: &Bytes) -> String {
        let what = if self.is_text { "your text as stdin" } else { "stdin" };
        format!("{what}{}", call::size(stdin.len()))
    }

    /// Returns the ways to go on, as they are typed. The first one says what it does.
    pub fn ways(&self, number: u64) -> (Vec<String>, String) {
        let to = if self.newest { String::new() } else { format!("--to {number} ") };
        let position = self.position();
        let corrected = match (self.before.is_empty(), self.behind.is_empty()) {
            (false, _) => format!("runs them with it as step {position}"),
            (true, false) => format!("runs it in place of step {position} and goes on"),
            (true, true) => "may use it".to_owned(),
        };
        let mut left = self.before.iter().chain(&self.behind);
        let wait = match self.wait_ms.div_ceil(1000) {
            seconds @ 1.. if left.any(|step| step.contains("wait")) => format!(" --wait {seconds}"),
            _ => String::new(),
        };
        let ways = [format!("'<corrected call>'{wait}"), "none".to_owned()];
        (ways.map(|way| format!("pipemux answer {to}{way}")).to_vec(), corrected)
    }

    /// Returns the same as data.
    pub fn report(&self, number: u64) -> KeptReport {
        KeptReport {
            id: number,
            steps: self.shown_steps(),
            stdin: self.stdin.as_ref().map(|stdin| stdin.len() as u64),
            hints: self.ways(number).0,
        }
    }

    /// Returns the saved form.
    pub fn to_saved(&self) -> SavedRest {
        SavedRest {
            reader: self.caller.reader.to_string(),
            run_id: self.caller.run_id.to_string(),
            cwd: self.caller.cwd.clone(),
            before: self.before.clone(),
            behind: self.behind.clone(),
            stdin: self.stdin.clone(),
            earlier: self.earlier as u64,
        }
    }

    /// Returns what an earlier daemon kept.
    pub fn from_saved(saved: SavedRest, workspace: WorkspaceKey) -> Self {
        let caller =
            Caller { cwd: saved.cwd, ..Caller::new(workspace, saved.reader, saved.run_id) };
        Self {
            before: saved.before,
            behind: saved.behind,
            stdin: saved.stdin,
            earlier: usize::try_from(saved.earlier).unwrap_or_default(),
            ..Self::new(caller)
        }
    }

    /// Returns the whole with a corrected call, part by part: in front of it, itself, behind it.
    ///
    /// # Errors
    /// The corrected call has a syntax error, or a step names standard input that there is none of.
    pub fn corrected(&self, code: &str, stdin: Option<Bytes>) -> Result<CorrectedRun, Fault> {
        let stdin = stdin.filter(|stdin| !stdin.is_empty()).or_else(|| self.stdin.clone());
        let source = Source { stdin, ..Source::default() };
        let text = source.stdin_text();
        let parse = |code: &String| -> Result<(String, Script), Fault> {
            let script = call::parse_undecided(code, text).map_err(|error| error.to_fault(code))?;
            Ok((code.clone(), script))
        };
        let part = |steps: &[String]| steps.iter().map(parse).collect::<Result<Vec<_>, _>>();
        let (_, script) = parse(&code.to_owned())?;
        let own = call::alone(code, &script);
        let (before, behind) = (part(&self.before)?, part(&self.behind)?);
        let steps = [self.before.as_slice(), &own, &self.behind].concat();
        let source = Source { code: Code::Steps(steps), earlier: self.earlier, ..source };
        let mut parts = before;
        parts.push((code.to_owned(), script));
        parts.extend(behind);
        Ok(CorrectedRun { parts, source, first: self.before.len(), count: own.len() })
    }
}

/// The rest of a run, with its failed call corrected.
pub struct CorrectedRun {
    /// The code of each part and what it says: the corrected call is one part, each kept step
    /// another.
    pub parts: Vec<(String, Script)>,
    /// The source of all steps.
    pub source: Source,
    /// The index of the first corrected step among the steps as written.
    pub first: usize,
    /// The number of steps in the correction.
    pub count: usize,
}

/// Returns standard input when one of the steps uses it, or else the one long text of the call that
/// failed, and whether it is that.
fn input_of(steps: &[String], source: &Source, failed: Option<&String>) -> (Option<Bytes>, bool) {
    let stdin = stdin_of(steps, source);
    if stdin.is_some() || source.stdin.as_ref().is_some_and(|stdin| !stdin.is_empty()) {
        return (stdin, false);
    }
    let parts =
        failed.map_or(Vec::new(), |call| call::texts_apart(call, KEPT_TEXT_MIN, usize::MAX));
    let mut long = parts.into_iter().filter(|(_, is_long)| *is_long).map(|(text, _)| text);
    let text = long.next().filter(|_| long.next().is_none());
    let is_text = text.is_some();
    (text.map(Bytes::from), is_text)
}

/// Returns standard input when one of the steps uses it.
fn stdin_of(steps: &[String], source: &Source) -> Option<Bytes> {
    let used = steps.iter().any(|step| call::stdin_at(step).is_some());
    // A copy, so that it doesn't hold the whole message that it came in.
    let stdin = source.stdin.as_ref().filter(|stdin| used && !stdin.is_empty())?;
    Some(Bytes::copy_from_slice(stdin))
}
