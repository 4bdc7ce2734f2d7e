//! Replacing in any number of files, after a question if there are several matches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use docui::{Blocking, Choice, Code, Context, Done, Fault, FilePath};
use pipemux_search::Match;

use super::match_question::{AnsweredMatches, FileMatches, chosen_places, question};
use super::scope::Numbers;
use super::shown_lines::to_usize;
use super::words::{given, left_out, named_files};
use super::{SearchScope, Searched, Wanted, search};
use crate::action::Action;
use crate::display::lines::readable;
use crate::display::wording::{count, shown_lines};
use crate::limits::{FILES_NAMED, MATCHES_ASKED};
use crate::model::Editor;
use crate::model::buffer::Buffer;
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::history::EditKind;
use crate::model::open_files::OpenFiles;
use crate::model::seen_numbers::seen_file_index;
use crate::model::splice::Splice;
use crate::model::workspace_edit::WorkspaceEdit;
use crate::update::edit::edit;
use crate::update::edit::{Committed, Plan};
use crate::update::question::QuestionToken;
use crate::update::renumbering::brief_about;
use crate::update::search::match_question::follow_matches;
use crate::update::search::scope::search_scope;
use crate::update::text_search::{closest_match, settled, with_endings_of};

/// A planned replacement and its scope.
struct Replacing {
    wanted: Wanted,
    new: String,
    scope: SearchScope,
    /// Where else it is looked for if the current file has no match; it is replaced only in files
    /// that are named.
    elsewhere: Option<SearchScope>,
    all: bool,
    version: u64,
    launch_id: String,
    answered: Option<AnsweredMatches>,
}

/// The data for the outcome of a replacement.
struct Told {
    /// For each file: path, replaced matches, all matches, and their lines from 0.
    files: Vec<(PathBuf, usize, usize, Vec<usize>)>,
    total: usize,
    left: String,
}

pub(crate) fn replace(
    open_files: &OpenFiles,
    edits: &mut Edits,
    action: &Action,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let Action::Replace { old, new, r#in, word, regex, case, only, not, all } = action else {
        return Err(Fault::failed("this replaces nothing"));
    };
    if old.0.is_empty() {
        return Err(Fault::usage("old is empty: expected the text to replace")
            .hint("insert(at, text) adds lines"));
    }
    if old.0 == new.text && !regex && *case {
        return Err(Fault::usage("old and new are the same"));
    }
    let answered = match QuestionToken::answered(context)? {
        None => None,
        Some((token, choice)) => {
            Some(answered_matches(open_files, edits, token, choice, &old.0, context)?)
        }
    };
    let (scope, elsewhere) = replace_scope(open_files, &named_files(r#in), context)?;
    let replacing = Replacing {
        wanted: Wanted {
            text: old.0.clone(),
            regex: *regex,
            word: *word,
            case: *case,
            only: *only,
            not: not.as_ref().and_then(|not| given(&not.0)),
            with: None,
        },
        new: new.text.clone(),
        scope,
        elsewhere,
        all: *all,
        version: context.version,
        launch_id: edits.ids.launch_id().to_owned(),
        answered,
    };
    let waits_for = "the disk";
    edit(open_files, edits, waits_for, context, move |documents| replacing.plan(documents), report)
}

/// Without files, the current file is meant, or the project if no file is the current one. Returns
/// also where else a text may be that the current file doesn't have.
fn replace_scope(
    open_files: &OpenFiles,
    files: &[FilePath],
    context: &Context,
) -> Result<(SearchScope, Option<SearchScope>), Fault> {
    let named = search_scope(open_files, files, Numbers::Seen, context)?;
    if !files.is_empty() {
        return Ok((named, None));
    }
    match seen_file_index(open_files, context) {
        Ok(index) => {
            let mut current = named.clone();
            let path = open_files[index].path();
            current.set_entries(vec![path.to_string_lossy().into_owned()]);
            Ok((current, Some(named)))
        }
        Err(fault) if fault.code == Code::NotFound => Ok((named, None)),
        Err(fault) => Err(fault),
    }
}

/// Reads the answer to the question which matches are meant, and follows those of open files to
/// where they are now.
fn answered_matches(
    open_files: &OpenFiles,
    edits: &Edits,
    token: QuestionToken,
    choice: &Choice,
    old: &str,
    context: &Context,
) -> Result<AnsweredMatches, Fault> {
    match token {
        QuestionToken::Matches(asked) => {
            let lines = old.matches('\n').count() + 1;
            let places = asked.positions.iter().map(|(line, at)| (*line, *at, lines)).collect();
            let file = FileMatches { path: asked.path, text: asked.text_digest, places };
            let asked = (asked.launch_id, asked.version, vec![file]);
            follow_matches(open_files, edits, asked, choice, context)
        }
        QuestionToken::FileMatches { launch, version, files } => {
            let files = files.into_iter().map(FileMatches::from).collect();
            follow_matches(open_files, edits, (launch, version, files), choice, context)
        }
        _ => Err(Fault::stale("the answer is to another question").hint("run the call again")),
    }
}

impl Replacing {
    fn plan(self, documents: &mut Documents) -> Result<Plan<Told>, Fault> {
        match &self.answered {
            Some(answered) => self.plan_answered(answered, documents),
            None => self.plan_new(documents),
        }
    }

    fn plan_new(&self, documents: &mut Documents) -> Result<Plan<Told>, Fault> {
        let searched = search(&self.wanted, &self.scope, documents)?;
        let root = documents.root.clone();
        let display =
            |path: &Path| readable(&path.strip_prefix(&root).unwrap_or(path).display().to_string());
        let left = left_out(&searched, &display).text;
        let counts = searched.found.counts();
        if counts.matches == 0 {
            if let Some(fault) = self.elsewhere_fault(&searched, documents, &display)? {
                return Err(fault);
            }
            return Err(self.no_match(&searched, &left, documents, &display));
        }
        let total = to_usize(counts.matches);
        if total > 1 && !self.all && total > MATCHES_ASKED {
            return Err(Fault::refused(format!("{total} matches are too many to choose from"))
                .hint("all=true replaces all of them; a longer old has fewer matches"));
        }
        let mut files = Vec::new();
        for file in searched.found.files.iter().filter(|file| file.counts.matches > 0) {
            let buffer = documents.text(&file.path)?.clone();
            let matches = searched.pattern.search(&file.path, &buffer.text()).found;
            files.push((file.path.clone(), buffer, matches));
        }
        if total > 1 && !self.all {
            let (ask, shown) = question(&files, &left, &display);
            let asked = files
                .iter()
                .map(|(path, buffer, matches)| FileMatches::of(path, buffer, matches).into());
            let token = QuestionToken::FileMatches {
                launch: self.launch_id.clone(),
                version: self.version,
                files: asked.collect(),
            };
            return Ok(Plan::Ask(token.add_to(ask)?, shown));
        }
        let chosen = files.into_iter().map(|(path, buffer, matches)| {
            let total = matches.len();
            (path, buffer, matches, total)
        });
        self.edit(&searched.pattern, chosen.collect(), total, left)
    }

    fn plan_answered(
        &self,
        answered: &AnsweredMatches,
        documents: &mut Documents,
    ) -> Result<Plan<Told>, Fault> {
        let pattern = self.wanted.pattern(self.scope.files(documents)?.within)?;
        let mut chosen = Vec::new();
        for file in &answered.files {
            let shown = documents.display(&file.path);
            let buffer = documents.text(&file.path)?.clone();
            let found = pattern.search(&file.path, &buffer.text()).found;
            let by_start: BTreeMap<usize, Match> =
                found.into_iter().map(|one| (one.bytes.start, one)).collect();
            let places = chosen_places(file, &buffer, &shown)?;
            let matches = places.into_iter().map(|(line, start)| {
                by_start.get(&start).cloned().ok_or_else(|| {
                    Fault::stale(format!("{shown}:{} changed since you were asked", line + 1))
                        .hint("nothing was changed: run the call again")
                })
            });
            let matches = matches.collect::<Result<Vec<_>, _>>()?;
            chosen.push((file.path.clone(), buffer, matches, file.total));
        }
        if chosen.iter().all(|(_, _, matches, _)| matches.is_empty()) {
            let total = count(answered.total, "match");
            return Ok(Plan::Reply(Done::new(format!("0 of {total}")).into()));
        }
        self.edit(&pattern, chosen, answered.total, String::new())
    }

    /// Replaces these matches: of each file its path, text, matches, and how many it has in all.
    fn edit(
        &self,
        pattern: &pipemux_search::Pattern,
        chosen: Vec<(PathBuf, Buffer, Vec<Match>, usize)>,
        total: usize,
        left: String,
    ) -> Result<Plan<Told>, Fault> {
        let expanded = match self.wanted.regex {
            true => pattern.replacement(&self.new).map_err(|name| {
                Fault::usage(format!("new: the expression has no group {name}"))
                    .hint("$1 or ${1} is the first group of text in (…), $$ is a dollar sign")
            })?,
            false => String::new(),
        };
        let mut edit = WorkspaceEdit::new(EditKind::Replace);
        let mut told = Told { files: Vec::new(), total, left };
        for (path, buffer, matches, all) in chosen {
            if matches.is_empty() {
                continue;
            }
            let text = buffer.text();
            let splices = matches.iter().map(|found| {
                let old = text[found.bytes.clone()].to_owned();
                let new = match self.wanted.regex {
                    true => pattern.expand(&text, found, &expanded),
                    false => settled(&text, &found.bytes, &self.new).into_owned(),
                };
                Splice {
                    at: found.bytes.start,
                    new: with_endings_of(&new, &old, buffer.line_ending()),
                    old,
                }
            });
            edit = edit.splices(path.clone(), splices.collect());
            let mut lines: Vec<_> = matches.iter().map(|found| to_usize(found.line) - 1).collect();
            lines.dedup();
            told.files.push((path, matches.len(), all, lines));
        }
        Ok(Plan::Edit(edit, told))
    }

    /// Returns the error of a call that named no files, if other files than the current one have
    /// matches.
    fn elsewhere_fault(
        &self,
        searched: &Searched,
        documents: &mut Documents,
        display: &dyn Fn(&Path) -> String,
    ) -> Result<Option<Fault>, Fault> {
        let Some(elsewhere) = &self.elsewhere else { return Ok(None) };
        let found = search(&self.wanted, elsewhere, documents)?.found;
        let total = to_usize(found.counts().matches);
        if total == 0 {
            return Ok(None);
        }
        let current: Vec<String> = searched.files.iter().map(|path| display(path)).collect();
        let with = found.files.iter().filter(|file| file.counts.matches > 0);
        let mut names: Vec<String> = with.map(|file| display(&file.path)).collect();
        let more = match names.len().saturating_sub(FILES_NAMED) {
            0 => String::new(),
            more => format!(" and {}", count(more, "more file")),
        };
        names.truncate(FILES_NAMED);
        let list = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let fault = Fault::failed(format!(
            "no match in {}, the current file; the project has {}: {}{more}",
            current.join(", "),
            count(total, "match"),
            names.join(", ")
        ));
        Ok(Some(fault.hint(match more.is_empty() {
            true => format!("name the files: in=[{list}]"),
            false => "name files or a folder: in='src', in=['a.rs', 'b.rs']".to_owned(),
        })))
    }

    fn no_match(
        &self,
        searched: &Searched,
        left: &str,
        documents: &mut Documents,
        display: &dyn Fn(&Path) -> String,
    ) -> Fault {
        let left = if left.is_empty() { String::new() } else { format!("; {left}") };
        if !searched.parts.is_empty() {
            let parts = searched.parts.join(", ");
            return Fault::failed(format!("no match in {parts}{left}"))
                .hint("find(text) searches for a part of it");
        }
        let [one] = searched.files.as_slice() else {
            let files = count(searched.files.len(), "file");
            return Fault::failed(format!("no match in {files}{left}"))
                .hint("find(text) searches for a part of it");
        };
        let fault = Fault::failed(format!("no match in {}{left}", display(one)));
        if self.wanted.regex || !left.is_empty() {
            return fault;
        }
        let text = documents.text(one).map(|buffer| buffer.text());
        let closest = text.ok().and_then(|text| closest_match(&text, &self.wanted.text));
        fault.hint(closest.unwrap_or_else(|| {
            "there is no similar text; find(text) searches for a part of it".into()
        }))
    }
}

/// `3 matches on 2 lines`, `35 matches: src/rope.rs 18, src/slice.rs 17`
fn report(editor: &mut Editor, made: &Committed, told: Told, context: &Context) -> Done {
    let replaced: usize = told.files.iter().map(|(_, matches, _, _)| matches).sum();
    let mut numbers = Vec::new();
    let of = match (replaced, told.total) {
        (some, total) if some < total => format!("{some} of {}", count(total, "match")),
        (_, total) => count(total, "match"),
    };
    let brief = match told.files.as_slice() {
        [(path, matches, _, lines)] => {
            let file = made.files.iter().find(|made| made.path == *path).and_then(|made| made.file);
            let brief = match (*matches, told.total) {
                (1, 1) => {
                    let line = lines[0]..lines[0] + 1;
                    let shown = file.map(|file| {
                        shown_lines(&editor.files[file], &line, context.next_version())
                    });
                    numbers.extend(shown);
                    format!("1 match, line {}", lines[0] + 1)
                }
                (matches, _) if lines.len() < matches => {
                    format!("{of} on {}", count(lines.len(), "line"))
                }
                _ => of,
            };
            match file {
                Some(file) => brief_about(&editor.files, file, brief),
                None => format!("{}: {brief}", editor.files.paths.display_path(path)),
            }
        }
        several => {
            let name = |(path, matches, all, _): &(PathBuf, usize, usize, Vec<usize>)| {
                let path = readable(&editor.files.paths.display_path(path));
                match matches < all {
                    true => format!("{path} {matches} of {all}"),
                    false => format!("{path} {matches}"),
                }
            };
            let mut named: Vec<_> = several.iter().take(FILES_NAMED).map(name).collect();
            if several.len() > FILES_NAMED {
                named.push(count(several.len() - FILES_NAMED, "more file"));
            }
            format!("{of}: {}", named.join(", "))
        }
    };
    let brief = match told.left.is_empty() {
        true => brief,
        false => format!("{brief}; {}", told.left),
    };
    Done::new(brief).shows(numbers)
}
