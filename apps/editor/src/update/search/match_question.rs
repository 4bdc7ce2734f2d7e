//! The question which matches to replace, and its answer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use docui::{Ask, Choice, Context, Fault};
use pipemux_search::Match;

use super::shown_lines::{ShownLines, to_usize};
use crate::display::lines::{excerpt, excerpt_lines, match_row};
use crate::display::wording::{count, shown_lines};
use crate::model::buffer::Buffer;
use crate::model::edits::Edits;
use crate::model::line_log::Baseline;
use crate::model::open_files::OpenFiles;
use crate::update::asked::AskedFile;

/// Maximum number of matches that a question lists; the others are only counted.
const MATCHES_LISTED: usize = 20;

/// The matches of one file that a question is about.
#[derive(Debug, Clone)]
pub(crate) struct FileMatches {
    pub path: PathBuf,
    /// The digest of the file's text.
    pub text: u64,
    /// Line from 0, byte in it, number of lines.
    pub places: Vec<(usize, usize, usize)>,
}

impl From<AskedFile> for FileMatches {
    fn from(AskedFile { path, text, places }: AskedFile) -> Self {
        Self { path, text, places }
    }
}

impl From<FileMatches> for AskedFile {
    fn from(FileMatches { path, text, places }: FileMatches) -> Self {
        Self { path, text, places }
    }
}

impl FileMatches {
    pub(super) fn of(path: &Path, buffer: &Buffer, matches: &[Match]) -> Self {
        let place = |found: &Match| {
            let line = to_usize(found.line) - 1;
            let lines = to_usize(found.last_line - found.line) + 1;
            (line, found.bytes.start - buffer.line_start(line), lines)
        };
        let places = matches.iter().map(place).collect();
        Self { path: path.to_owned(), text: buffer.digest(), places }
    }
}

#[derive(Debug)]
pub(crate) struct AnsweredMatches {
    pub files: Vec<AnsweredFile>,
    /// The number of matches that the question was about.
    pub total: usize,
}

#[derive(Debug)]
pub(crate) struct AnsweredFile {
    pub path: PathBuf,
    /// The number of matches in the file.
    pub total: usize,
    places: Places,
}

#[derive(Debug)]
enum Places {
    /// The line and byte of each match's start, in the present text.
    Now(Vec<(usize, usize)>),
    /// The line and byte of each match's start, in the text with this digest.
    InText(u64, Vec<(usize, usize)>),
}

/// Asks which matches are meant. Several files are options themselves, before the matches.
pub(super) fn question(
    files: &[(PathBuf, Buffer, Vec<Match>)],
    left: &str,
    display: &dyn Fn(&Path) -> String,
) -> (Ask, ShownLines) {
    let total: usize = files.iter().map(|(_, _, matches)| matches.len()).sum();
    let mut text = count(total, "match");
    if files.len() > 1 {
        text += &format!(" in {}", count(files.len(), "file"));
    }
    if !left.is_empty() {
        text += &format!("; {left}");
    }
    let mut ask = Ask::pick_many(text);
    let several = files.len() > 1;
    if several {
        for (path, _, matches) in files {
            ask = ask.option(display(path), format!("all {}", count(matches.len(), "match")));
        }
    }
    let mut shown = ShownLines::default();
    let mut listed = 0;
    for (path, buffer, matches) in files {
        for (at, found) in matches.iter().enumerate() {
            if listed == MATCHES_LISTED {
                break;
            }
            listed += 1;
            let on_line = |other: &Match| other.line == found.line;
            let shared = at.checked_sub(1).is_some_and(|before| on_line(&matches[before]))
                || matches.get(at + 1).is_some_and(on_line);
            let label = match several {
                true => format!("{}:{}", display(path), found.line),
                false => format!("line {}", found.line),
            };
            ask = ask.option(label, match_row(buffer, &found.bytes, shared));
            shown.add_match(path, found);
        }
    }
    (ask.unlisted((total - listed) as u64), shown)
}

/// Returns the line and the byte of each chosen match in the text as it is now.
///
/// # Errors
/// The text isn't the one that the question was about.
pub(super) fn chosen_places(
    file: &AnsweredFile,
    buffer: &Buffer,
    shown: &str,
) -> Result<Vec<(usize, usize)>, Fault> {
    match &file.places {
        Places::Now(places) => Ok(places.clone()),
        Places::InText(digest, places) if *digest == buffer.digest() => {
            let start = |(line, at): &(usize, usize)| (*line, buffer.line_start(*line) + at);
            Ok(places.iter().map(start).collect())
        }
        Places::InText(..) => Err(Fault::stale(format!("{shown} changed since you were asked"))
            .hint("nothing was changed: run the call again")),
    }
}

/// Finds out which matches an answer chose, and where those of open files are now.
pub(crate) fn follow_matches(
    open_files: &OpenFiles,
    edits: &Edits,
    (launch, version, files): (String, u64, Vec<FileMatches>),
    choice: &Choice,
    context: &Context,
) -> Result<AnsweredMatches, Fault> {
    let sizes: Vec<usize> = files.iter().map(|file| file.places.len()).collect();
    let chosen = chosen_matches(choice, &sizes)?;
    let same_process = launch == edits.ids.launch_id();
    let mut answered = AnsweredMatches { files: Vec::new(), total: sizes.iter().sum() };
    let mut first = 0;
    for file in files {
        let total = file.places.len();
        let wanted = (0..total).filter(|at| chosen.contains(&(first + at)));
        let wanted: Vec<_> = wanted.map(|at| file.places[at]).collect();
        first += total;
        let open = open_files.index(&file.path);
        let places = match open.filter(|_| same_process) {
            Some(index) => Places::Now(places_now(open_files, index, &wanted, version, context)?),
            None => {
                let places = wanted.iter().map(|(line, at, _)| (*line, *at)).collect();
                Places::InText(file.text, places)
            }
        };
        answered.files.push(AnsweredFile { path: file.path, total, places });
    }
    Ok(answered)
}

fn places_now(
    open_files: &OpenFiles,
    index: usize,
    wanted: &[(usize, usize, usize)],
    version: u64,
    context: &Context,
) -> Result<Vec<(usize, usize)>, Fault> {
    let file = &open_files[index];
    let baseline = Baseline { version, from_earlier_process: false, run: &context.run_id };
    let mut places = Vec::new();
    for (line, at, lines) in wanted {
        let Ok(now) = file.line_log().map_range(*line..line + lines, baseline) else {
            let nearest = file.line_log().nearest_line(*line, baseline);
            let around = nearest..nearest + 1;
            let shown = shown_lines(file, &excerpt_lines(file, &around), context.version);
            let (line, now) = (line + 1, excerpt(file, &around));
            let message = format!("line {line} changed since you were asked; now:\n{now}");
            return Err(Fault::stale(message)
                .numbers([shown])
                .hint("nothing was changed: run the call again"));
        };
        places.push((now.start, file.buffer().line_start(now.start) + at));
    }
    places.sort_unstable();
    Ok(places)
}

/// Returns the indexes of the chosen matches. Of several files, the first options are the files;
/// `sizes` is how many matches each has.
fn chosen_matches(choice: &Choice, sizes: &[usize]) -> Result<BTreeSet<usize>, Fault> {
    let (numbers, listed_are_chosen) = match choice {
        Choice::Picked(numbers) => (numbers, true),
        Choice::AllBut(numbers) => (numbers, false),
        Choice::Yes | Choice::Text(_) | Choice::Fields(_) => {
            return Err(Fault::usage("expected which matches: 1,3 · all · all but 2 · none"));
        }
    };
    let total: usize = sizes.iter().sum();
    let files = if sizes.len() > 1 { sizes.len() } else { 0 };
    let mut named = BTreeSet::new();
    for number in numbers {
        let option = (*number as usize).wrapping_sub(1);
        match option.checked_sub(files) {
            None => {
                let first: usize = sizes[..option].iter().sum();
                named.extend(first..first + sizes[option]);
            }
            Some(one) if one < total => drop(named.insert(one)),
            Some(_) => {
                let last = files + total;
                return Err(Fault::usage(format!("there is no match {number}: expected 1-{last}"))
                    .hint("pipemux answer 1,3 · all · all but 2 · none"));
            }
        }
    }
    Ok((0..total).filter(|at| named.contains(at) == listed_are_chosen).collect())
}
