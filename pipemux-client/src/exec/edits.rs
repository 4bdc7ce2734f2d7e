//! What several tools do with files: read them, make them, replace and insert text.

use std::path::Path;

use pipemux_proto::{Code as Kind, Fault};

use super::code::Code;
use super::daemon::{Daemon, Step, Stopped};
use super::outcome::{Failure, ToolAnswer};
use super::text::{CLIPPED, SNIPPET_LINES, clipped, lines, numbered};

/// Lines shown of a file that is too long to be sent whole.
const PAGE: usize = 1_000;

/// A file by its path, as the model wrote it.
#[derive(Debug, Clone, Copy)]
pub struct Target<'p>(pub &'p str);

/// The reason why a text can't be replaced.
#[derive(Debug)]
pub enum Unreplaced {
    /// The text doesn't occur.
    Missing,
    /// The text occurs several times, in these lines.
    Several(Vec<usize>),
    /// Something else.
    Other(Failure),
}

impl Target<'_> {
    /// Returns the text as it is now, for the client's own use; `None` if it is too long to be sent
    /// whole.
    ///
    /// # Errors
    /// It can't be read, or no daemon answers.
    pub fn read(self, daemon: &mut Daemon) -> Result<Option<String>, Failure> {
        let call = Code::call("editor.view").text("path", self.0);
        Ok(self.reading(daemon.look(call))?.value)
    }

    /// Returns lines that the model is shown, from 1; without a last one, all that follow.
    ///
    /// # Errors
    /// As [`Target::read`].
    pub fn show(
        self,
        first: usize,
        last: Option<usize>,
        daemon: &mut Daemon,
    ) -> Result<String, Failure> {
        let call = |last: Option<usize>| {
            let call = Code::call("editor.view").text("path", self.0);
            match (first, last) {
                (1, None) => call,
                (_, None) => call.plain("view_range", format!("[{first}, -1]")),
                (_, Some(last)) => call.plain("view_range", format!("[{first}, {last}]")),
            }
        };
        let text = match self.reading(daemon.show(call(last)))?.value {
            Some(text) => text,
            None => {
                let page = first.saturating_add(PAGE).min(last.unwrap_or(usize::MAX));
                self.reading(daemon.show(call(Some(page))))?.value.unwrap_or_default() + CLIPPED
            }
        };
        // Lines that end within the file end without their line break.
        Ok(match last {
            Some(_) => text.strip_suffix('\n').map(str::to_owned).unwrap_or(text),
            None => text,
        })
    }

    fn reading(self, read: Result<Step, Stopped>) -> Result<Step, Failure> {
        let shown = self.0;
        read.map_err(|stopped| match Failure::from(stopped) {
            Failure::Told(answer) if answer.kind == Some(Kind::NotFound) => ToolAnswer::failed(
                format!("The path {shown} does not exist. Please provide a valid path."),
            )
            .into(),
            Failure::Told(answer) => {
                ToolAnswer::failed(format!("Ran into {} while trying to read {shown}", answer.text))
                    .into()
            }
            lost => lost,
        })
    }

    /// Makes a file that isn't there, with exactly this text.
    ///
    /// # Errors
    /// It can't be made, or no daemon answers.
    pub fn create(self, text: &str, daemon: &mut Daemon) -> Result<(), Failure> {
        let call = || match text.is_empty() || text.ends_with('\n') {
            true => Code::call("editor.create").text("path", self.0).long_text("text", text),
            // The editor ends a new file with a line break; a patch says that there is none.
            false => {
                let new = format!("+++ {}", absolute(self.0));
                Code::call("editor.apply")
                    .long_text("patch", &format!("--- /dev/null\n{new}\n{}", hunk("", text)))
            }
        };
        match daemon.act(call()) {
            Err(Stopped::Told(fault)) if forget_deleted(&fault, self.0, daemon)? => {
                daemon.act(call())?
            }
            made => made?,
        };
        Ok(())
    }

    /// Writes a file with exactly this text, over what it has.
    ///
    /// # Errors
    /// It can't be written, or no daemon answers.
    pub fn write(self, text: &str, daemon: &mut Daemon) -> Result<(), Failure> {
        if !Path::new(self.0).exists() {
            return self.create(text, daemon);
        }
        let Some(before) = self.read(daemon)? else {
            let call = Code::call("editor.write_file").text("path", self.0);
            daemon.act(call.long_text("content", text))?;
            return Ok(());
        };
        if before == text {
            return Ok(());
        }
        let path = absolute(self.0);
        let patch = format!("--- {path}\n+++ {path}\n{}", hunk(&before, text));
        daemon.act(Code::call("editor.apply").long_text("patch", &patch))?;
        Ok(())
    }

    /// Replaces a text that occurs once, and returns the lines around it, numbered.
    ///
    /// # Errors
    /// See [`Unreplaced`].
    pub fn replace(self, old: &str, new: &str, daemon: &mut Daemon) -> Result<String, Unreplaced> {
        let before = self.read(daemon).map_err(Unreplaced::Other)?.map(|text| unix(&text));
        let wanted = unix(old);
        let mut line = 0;
        if let Some(before) = before.as_deref().filter(|_| !old.is_empty()) {
            let place = |(at, _): (usize, &str)| newlines(before.get(..at).unwrap_or_default());
            let mut found: Vec<usize> = before.match_indices(&wanted).map(place).collect();
            match found.as_slice() {
                [] => return Err(Unreplaced::Missing),
                [only] => line = *only,
                _ => {
                    found.dedup();
                    let lines = found.iter().map(|line| line.saturating_add(1)).collect();
                    return Err(Unreplaced::Several(lines));
                }
            }
        }
        let call = Code::call("editor.str_replace").text("path", self.0).text("old_str", old);
        let done = daemon.act(call.long_text("new_str", new));
        let done = done.map_err(|stopped| Unreplaced::Other(stopped.into()))?;
        // Where the text wasn't sent, the editor says where: `1 match, line 12`.
        let told = done.brief.rsplit("line").next().unwrap_or_default();
        let told = told.trim_start_matches(['s', ' ']).split(|c: char| !c.is_ascii_digit()).next();
        if let Some(told) = told.and_then(|line| line.parse::<usize>().ok()) {
            line = told.saturating_sub(1);
        }
        let end = line.saturating_add(newlines(new)).saturating_add(SNIPPET_LINES + 1);
        self.snippet(line.saturating_sub(SNIPPET_LINES), end, daemon).map_err(Unreplaced::Other)
    }

    /// Inserts a text behind a line, and returns the lines around it, numbered.
    ///
    /// # Errors
    /// There is no such line, the file can't be edited, or no daemon answers.
    pub fn insert(self, line: i64, text: &str, daemon: &mut Daemon) -> Result<String, Failure> {
        let before = self.read(daemon)?;
        let count = before.as_deref().map(|before| before.split('\n').count());
        let most = count.map_or(i64::MAX, |count| i64::try_from(count).unwrap_or(i64::MAX));
        if line < 0 || line > most {
            let why = format!(
                "Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {most}]"
            );
            return Err(ToolAnswer::failed(why).into());
        }
        // What stands behind the last line break is a line in the tool's count, and none in the
        // editor's.
        let is_whole = |before: &str| before.ends_with('\n') || before.is_empty();
        let ends_whole = before.as_deref().is_some_and(is_whole);
        let line = if ends_whole && line == most { line.saturating_sub(1) } else { line };
        let call = Code::call("editor.insert").text("path", self.0).plain("insert_line", line);
        daemon.act(call.long_text("insert_text", text))?;
        let line = usize::try_from(line).unwrap_or(0);
        let inserted = newlines(text.strip_suffix('\n').unwrap_or(text)).saturating_add(1);
        let end = line.saturating_add(inserted).saturating_add(SNIPPET_LINES);
        self.snippet(line.saturating_sub(SNIPPET_LINES), end, daemon)
    }

    /// Shows lines around an edit, from 0; the whole file then counts as seen, since its other
    /// lines are the model's own.
    fn snippet(self, from: usize, end: usize, daemon: &mut Daemon) -> Result<String, Failure> {
        let first = from.saturating_add(1);
        let call = Code::call("editor.view").text("path", self.0);
        let shown = match self.reading(daemon.show(call))?.value {
            Some(text) => lines(&text, first, end),
            None => self.show(first, Some(end), daemon)?,
        };
        Ok(numbered(&clipped(&shown), first))
    }
}

/// Makes the editor forget a file that it has open and that somebody removed, if it refused an edit
/// because the file exists. Returns false if there is nothing to forget.
///
/// # Errors
/// No daemon answers.
pub fn forget_deleted(why: &Fault, path: &str, daemon: &mut Daemon) -> Result<bool, Failure> {
    if !why.message.contains("exists") || Path::new(path).exists() {
        return Ok(false);
    }
    let call = Code::call("editor.create").text("path", path).text("text", "\n");
    let patch = format!("*** Begin Patch\n*** Delete File: {}\n*** End Patch\n", absolute(path));
    for step in [
        daemon.act_over(call.plain("overwrite", true)),
        daemon.act(Code::call("editor.apply").long_text("patch", &patch)),
    ] {
        match step {
            Ok(_) => {}
            Err(Stopped::Told(_)) => return Ok(false),
            Err(lost) => return Err(lost.into()),
        }
    }
    Ok(true)
}

/// Returns a path that a patch can name.
pub fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

/// Writes the one hunk that makes a text of another.
fn hunk(before: &str, after: &str) -> String {
    let side = |sign: char, text: &str| {
        let mut out: String =
            text.split_inclusive('\n').map(|line| format!("{sign}{line}")).collect();
        if !text.is_empty() && !text.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
        out
    };
    let count = |text: &str| text.split_inclusive('\n').count();
    let range = |text: &str| format!("{},{}", usize::from(!text.is_empty()), count(text));
    format!("@@ -{} +{} @@\n{}{}", range(before), range(after), side('-', before), side('+', after))
}

fn newlines(text: &str) -> usize {
    text.matches('\n').count()
}

fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}
