//! One section of a patch, applied to the files as they are after those before it.

use std::path::{Path, PathBuf};

use crate::document::Document;
use crate::limits::LINES_ABOVE;
use crate::locate::{Decision, Locator, Order, only_final_newline};
use crate::matching::{IndexedLines, SPACE, Tolerance, TooMuchWork, Work};
use crate::model::{Attributes, Format, Hunk, Move, Name, Section, SectionChange};
use crate::plan::changes::{PendingChanges, shift};
use crate::plan::files::Files;
use crate::plan::outcome::{Candidate, HunkOutcome, HunkState, Problem, ProblemKind, Question};
use crate::plan::source::Choice;

/// The problems and questions that prevent applying a section.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<Problem>,
    pub(super) questions: Vec<Question>,
}

pub(super) fn apply<'a>(
    format: Format,
    section: &'a Section<'a>,
    files: &mut Files<'_, 'a>,
    choices: &[Choice],
    work: &mut Work,
    findings: &mut Findings,
) {
    let at = section.at;
    let result = match &section.change {
        SectionChange::Create { path, lines, final_newline } => {
            let link = section.attributes.link;
            let document = Document::create(lines, *final_newline, section.crlf && !link);
            create(section, path, document, files)
        }
        SectionChange::Delete { path, content } => delete(section, path, content.as_ref(), files),
        SectionChange::Update { path, moved, hunks } => {
            let attributes = section.attributes;
            let mut run =
                SectionRun { format, crlf: section.crlf, attributes, choices, work, findings };
            run.update(at, path, moved.as_ref(), hunks, files)
        }
    };
    findings.problems.extend(result.err());
}

type Result<T> = std::result::Result<T, Problem>;

fn create<'a>(
    section: &Section<'_>,
    name: &Name,
    document: Document<'a>,
    files: &mut Files<'_, 'a>,
) -> Result<()> {
    let (at, link, executable) =
        (section.at, section.attributes.link, section.attributes.executable);
    if let Some(path) = files.find(at, name)? {
        if files.makes_room(&path) {
            files.create(&path, document, link);
            files.open(&path).executable = executable;
            return Ok(());
        }
        let target = files.link_target(&path);
        if target.is_some() != link {
            let lines = files.open(&path).document.as_ref().map_or(0, |one| one.lines.len());
            let kind = target.map_or(ProblemKind::Exists(lines), ProblemKind::IsLink);
            return Err(Problem { at, path, kind });
        }
        let file = files.open(&path);
        let text = file.document.as_ref().map(Document::text).unwrap_or_default();
        let lines = document.lines.len();
        if text.is_empty() && lines > 0 && !link {
            file.executable = executable.filter(|executable| *executable);
            file.document = Some(document);
            let state = HunkState::Applied(Tolerance::Exact);
            file.hunks.push(HunkOutcome { at, first: 1, lines, added: lines, removed: 0, state });
            return Ok(());
        }
        if text == document.text() {
            let state = HunkState::Already;
            file.hunks.push(HunkOutcome { at, first: 1, lines, added: 0, removed: 0, state });
            return Ok(());
        }
        return Err(Problem { at, path, kind: ProblemKind::Exists(text.lines().count()) });
    }
    let path = files.place_for(at, name)?;
    files.create(&path, document, link);
    files.open(&path).executable = executable;
    Ok(())
}

fn delete<'a>(
    section: &Section<'_>,
    name: &Name,
    content: Option<&Hunk<'a>>,
    files: &mut Files<'_, 'a>,
) -> Result<()> {
    let at = section.at;
    let path = existing(at, name, files)?;
    let Some((document, link)) = files.delete(&path) else {
        return Err(Problem { at, path, kind: ProblemKind::Missing });
    };
    if section.attributes.link && !link {
        return Err(Problem { at, path, kind: ProblemKind::NoLink });
    }
    let Some(content) = content else { return Ok(()) };
    // A link goes by its name, whether the patch has where it leads or the text behind it.
    let behind = files.text_behind(&path).filter(|_| link && !section.attributes.link);
    if is_content(&document, content) || behind.is_some_and(|text| is_content(&text, content)) {
        return Ok(());
    }
    Err(Problem { at, path, kind: ProblemKind::DeletesOther })
}

fn is_content(document: &Document<'_>, content: &Hunk<'_>) -> bool {
    let old = content.old_lines();
    document.lines.len() == old.len()
        && document.lines.iter().zip(&old).all(|(line, wanted)| {
            let tolerance = Tolerance::TrailingSpace;
            tolerance.normalize(&line.text) == tolerance.normalize(wanted)
        })
}

fn existing(at: usize, name: &Name, files: &mut Files<'_, '_>) -> Result<PathBuf> {
    match files.find(at, name)? {
        Some(path) => Ok(path),
        None => Err(Problem { at, path: files.place_for(at, name)?, kind: ProblemKind::Missing }),
    }
}

struct SectionRun<'r> {
    format: Format,
    crlf: bool,
    attributes: Attributes,
    choices: &'r [Choice],
    work: &'r mut Work,
    findings: &'r mut Findings,
}

impl SectionRun<'_> {
    fn update<'a>(
        &mut self,
        at: usize,
        name: &Name,
        moved: Option<&Move>,
        hunks: &'a [Hunk<'a>],
        files: &mut Files<'_, 'a>,
    ) -> Result<()> {
        let found = match files.find(at, name)? {
            // Its text moved away, or goes later: its hunks are about what it was.
            None if self.attributes.rewrites && moved.is_none() => {
                Some(files.place_for(at, name)?).filter(|path| files.had(path))
            }
            found => found,
        };
        let Some(mut path) = found else {
            return self.update_missing(at, name, moved, hunks, files);
        };
        if self.attributes.rewrites && moved.is_none() {
            files.rewrite(&path);
        }
        let copies = moved.is_some_and(|moved| moved.copy) && self.attributes.from_original;
        let target = match moved {
            Some(_) if copies => files.original_target(&path),
            Some(_) => files.moved_target(&path),
            None => files.link_target(&path),
        };
        match target {
            None if self.attributes.link => {
                return Err(Problem { at, path, kind: ProblemKind::NoLink });
            }
            // What has no text is about the name, and what has is about the text behind it.
            Some(_) if !self.attributes.link && moved.is_none() => path = files.behind(at, path)?,
            Some(target) if !self.attributes.link && !hunks.is_empty() => {
                return Err(Problem { at, path, kind: ProblemKind::IsLink(target) });
            }
            _ => {}
        }
        let mut target = path.clone();
        if let Some(moved) = moved {
            if let Some(path) = files.find(at, &moved.to)?
                && path != target
                && !files.makes_room(&path)
            {
                let lines = files.open(&path).document.as_ref().map_or(0, |one| one.lines.len());
                return Err(Problem { at, path, kind: ProblemKind::Exists(lines) });
            }
            let to = files.place_for(at, &moved.to)?;
            if to != path {
                files.rename(&path, &to, moved.copy, self.attributes.from_original);
                target = to;
            }
        }
        if let Some(executable) = self.attributes.executable {
            files.open(&target).executable = Some(executable);
        }
        self.change(at, &path, &target, hunks, files)
    }

    /// Applies hunks to the file at `target`, which problems call `path`.
    fn change<'a>(
        &mut self,
        at: usize,
        path: &Path,
        target: &Path,
        hunks: &'a [Hunk<'a>],
        files: &mut Files<'_, 'a>,
    ) -> Result<()> {
        let file = files.open(target);
        let Some(mut document) = file.document.take() else { return Ok(()) };
        document.default_to(self.crlf && !self.attributes.link);
        let outcomes = self.apply_hunks(path, hunks, &mut document);
        file.document = Some(document);
        match outcomes {
            Ok(outcomes) => {
                shift(&mut file.hunks, &outcomes);
                file.hunks.extend(outcomes);
                Ok(())
            }
            Err(TooMuchWork) => {
                Err(Problem { at, path: path.to_owned(), kind: ProblemKind::TooMuchWork })
            }
        }
    }

    /// A file that doesn't exist: hunks without any old line make it; a rename may have been done.
    fn update_missing<'a>(
        &mut self,
        at: usize,
        name: &Name,
        moved: Option<&Move>,
        hunks: &'a [Hunk<'a>],
        files: &mut Files<'_, 'a>,
    ) -> Result<()> {
        if let [hunk, rest @ ..] = hunks
            && moved.is_none()
            && hunk.old_lines().is_empty()
        {
            let path = files.place_for(at, name)?;
            files.create(
                &path,
                Document::create(&hunk.new_lines(), !hunk.new_no_newline, self.crlf),
                false,
            );
            files.open(&path).executable = self.attributes.executable;
            return if rest.is_empty() {
                Ok(())
            } else {
                self.change(at, &path, &path, rest, files)
            };
        }
        if let Some(moved) = moved.filter(|moved| !moved.copy)
            && let Some(path) = files.find(at, &moved.to)?
        {
            self.change(at, &path, &path, hunks, files)?;
            if hunks.is_empty() {
                let file = files.open(&path);
                let state = HunkState::Already;
                file.hunks.push(HunkOutcome {
                    at,
                    first: 1,
                    lines: 0,
                    added: 0,
                    removed: 0,
                    state,
                });
            }
            return Ok(());
        }
        Err(Problem { at, path: files.place_for(at, name)?, kind: ProblemKind::Missing })
    }

    /// Applies all hunks to a document. Those that can't be applied are among the findings.
    fn apply_hunks<'a>(
        &mut self,
        path: &Path,
        hunks: &'a [Hunk<'a>],
        document: &mut Document<'a>,
    ) -> std::result::Result<Vec<HunkOutcome>, TooMuchWork> {
        let mut outcomes: Vec<HunkOutcome> = Vec::new();
        let ordered = self.format != Format::SearchReplace;
        let mut order = Order { ordered, floor: 0, drift: 0 };
        let mut next = 0;
        while next < hunks.len() {
            self.work.spend(document.lines.len())?;
            let lines = IndexedLines::new(&document.lines);
            let mut changes = PendingChanges::default();
            // What fits nowhere, or not only in one place, may do so once the hunks before it are
            // applied.
            let mut retry = false;
            while next < hunks.len() {
                let hunk = &hunks[next];
                let choice = self.choices.iter().find(|choice| choice.at == hunk.at);
                let picks = choice.map(|choice| choice.picks.as_slice());
                if picks == Some(&[]) {
                    outcomes.push(left_out(hunk, 0, HunkState::LeftOut));
                    next += 1;
                    continue;
                }
                if only_final_newline(hunk) && document.ends_in_newline() != hunk.new_no_newline {
                    outcomes.push(left_out(hunk, document.lines.len(), HunkState::Already));
                    next += 1;
                    continue;
                }
                let fresh = changes.is_empty();
                if picks.is_some() && !fresh {
                    // The question was asked with the changes before it made.
                    retry = true;
                    break;
                }
                let locator = Locator { lines: &lines, hunks, index: next, order: &order };
                match locator.decide(picks, self.work)? {
                    Decision::At(places) if !places.is_empty() => {
                        if changes.add(hunk, &places, document) {
                            order.follow(hunk, &places, changes.end());
                        } else if fresh {
                            self.problem(hunk, path, ProblemKind::Overlap);
                        } else {
                            retry = true;
                            break;
                        }
                    }
                    Decision::Already(from, to) => {
                        order.floor = order.floor.max(to);
                        outcomes.push(left_out(hunk, from, HunkState::Already));
                    }
                    _ if !fresh => {
                        retry = true;
                        break;
                    }
                    undecided => self.report(hunk, path, document, undecided),
                }
                next += 1;
            }
            drop(lines);
            self.work.spend(outcomes.len())?;
            let done = changes.make(document);
            order.shift(&done);
            shift(&mut outcomes, &done);
            outcomes.extend(done);
            if !retry {
                break;
            }
        }
        outcomes.sort_by_key(|outcome| outcome.first);
        Ok(outcomes)
    }

    /// Records why a hunk isn't applied.
    fn report(&mut self, hunk: &Hunk<'_>, path: &Path, document: &Document<'_>, why: Decision) {
        let kind = match why {
            Decision::Several { starts, tolerance, more: false } => {
                let question = question(hunk, path, document, &starts, tolerance);
                self.findings.questions.push(question);
                return;
            }
            Decision::At(_) | Decision::Already(..) | Decision::Several { .. } => {
                ProblemKind::TooMany
            }
            Decision::Nowhere(nearest) => ProblemKind::Nowhere(nearest),
            Decision::NoContext => ProblemKind::NoContext,
        };
        self.problem(hunk, path, kind);
    }

    fn problem(&mut self, hunk: &Hunk<'_>, path: &Path, kind: ProblemKind) {
        self.findings.problems.push(Problem { at: hunk.at, path: path.to_owned(), kind });
    }
}

fn left_out(hunk: &Hunk<'_>, at: usize, state: HunkState) -> HunkOutcome {
    HunkOutcome { at: hunk.at, first: at + 1, lines: 0, added: 0, removed: 0, state }
}

fn question(
    hunk: &Hunk<'_>,
    path: &Path,
    document: &Document<'_>,
    starts: &[usize],
    tolerance: Tolerance,
) -> Question {
    let leading = hunk.context().map_or(0, |(before, _)| before);
    let width = |at: usize| {
        let text = document.lines[at].text.as_ref();
        (!text.trim().is_empty()).then(|| text.len() - text.trim_start_matches(SPACE).len())
    };
    // Numbers are those of the file as the caller knows it.
    let number = |at: usize| {
        let origin = |at: usize| document.lines.get(at).and_then(|line| line.origin);
        origin(at).map(|at| at + 1).unwrap_or_else(|| {
            let at = at.min(document.lines.len());
            (0..at).rev().take(LINES_ABOVE).find_map(origin).map_or(1, |above| above + 2)
        })
    };
    let last = document.lines.len().saturating_sub(1);
    let candidates = starts.iter().map(|&start| {
        let line = number(start + leading);
        let at = (start + leading).min(last);
        let own = width(at).or_else(|| width(start)).unwrap_or(0);
        let above = (0..start)
            .rev()
            .take(LINES_ABOVE)
            .find(|&at| width(at).is_some_and(|width| width < own));
        let text = |at: usize| document.lines[at].text.to_string();
        Candidate { line, text: text(at), inside: above.map(|at| (number(at), text(at))) }
    });
    Question { at: hunk.at, path: path.to_owned(), candidates: candidates.collect(), tolerance }
}
