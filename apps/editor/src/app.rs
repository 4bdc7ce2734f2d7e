//! The editor as the SDK sees it.

use std::path::PathBuf;

use docui::blocking::CommitPoint;
use docui::{App, Blocking, Completion, Context, Fault, Found, Opening, Reply, View, ViewRequest};

use crate::action::Action;
use crate::limits::{DISK_DEADLINE, FILES_LISTED};
use crate::model::Editor;
use crate::model::editor::disk_changes::check_disk;
use crate::model::editor::opening::take_arguments;
use crate::model::editor::opening::{arguments, start};
use crate::model::tracked_ranges::TrackedRange;
use crate::update::dispatch::{Next, begin};
use crate::update::renumbering::conclude;
use crate::view::show;

impl App for Editor {
    type Action = Action;
    const RESUMES: bool = true;
    const WATCHES: bool = true;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let (mut editor, notes) = start(opening)?;
        editor.notes = notes;
        if editor.resumed && !opening.again {
            let reader = editor.files.file_reader(&opening.cwd);
            let read = reader.read_at_start(&arguments(opening), &opening.handle);
            editor.invalidate_snapshot();
            let notes = take_arguments(&mut editor.files, &mut editor.edits, opening, read)?;
            editor.edits.version += 1;
            editor.notes.extend(notes);
        }
        Ok(editor)
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn attach(&mut self, opening: &Opening) -> Result<Vec<String>, Fault> {
        match self.attach_blocking(opening)? {
            Some(blocking) => blocking.run(self, self.edits.version),
            None => Ok(Vec::new()),
        }
    }

    fn attach_blocking(
        &mut self,
        opening: &Opening,
    ) -> Result<Option<Blocking<Self, Vec<String>>>, Fault> {
        if opening.woken && opening.again {
            // The snapshot already has these files.
            return Ok(None);
        }
        let (reader, paths) = (self.files.file_reader(&opening.cwd), arguments(opening));
        let waits_for = format!("the disk of {}", opening.args.join(" "));
        let read =
            move |_: &CommitPoint| paths.iter().map(|path| reader.read(path)).collect::<Vec<_>>();
        let opening = opening.clone();
        let finish = move |editor: &mut Self, read, completion: Completion| {
            if completion.late {
                return Err(Fault::failed("not opened, because nobody waits for it any more"));
            }
            editor.invalidate_snapshot();
            editor.edits.version = completion.version;
            let is_known = opening.again && editor.resumed;
            let notes = match is_known {
                // The snapshot has these files, except those that were closed since.
                true => Vec::new(),
                false => take_arguments(&mut editor.files, &mut editor.edits, &opening, read)?,
            };
            editor.edits.version += 1;
            Ok(notes)
        };
        Ok(Some(Blocking::new(waits_for, DISK_DEADLINE, read, finish)))
    }

    fn blocking(
        &mut self,
        action: &Action,
        context: &Context,
    ) -> Result<Option<Blocking<Self>>, Fault> {
        Ok(match self.begin(action, context)? {
            Next::Wait(blocking) => Some(blocking),
            Next::Perform(_) => None,
        })
    }

    fn update(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        let reply = match self.begin(&action, context)? {
            Next::Wait(blocking) => return blocking.run(self, context.version),
            Next::Perform(immediate) => immediate.perform(self, context)?,
        };
        let reply = conclude(&self.files, &mut self.edits, reply, context);
        self.files.write_manifest_if_stale();
        Ok(reply)
    }

    fn view(&self, request: &ViewRequest) -> View {
        show(self, request)
    }

    fn find(&self, key: &str) -> Found {
        if let Some(index) = self.files.index_by_key(key) {
            return self.find_file(index);
        }
        if let Some(file) = self.files.binary(key) {
            return match file.is_missing() {
                true => Found::Gone(Some("it was deleted on disk".to_owned())),
                false => Found::Here(file.rev()),
            };
        }
        match self.files.range(key) {
            Some((index, range)) => self.find_range(index, range),
            None => Found::Gone(self.files.close_reason(key)),
        }
    }

    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        if let Some(index) = self.files.index_by_key(key) {
            let mut bytes = Vec::new();
            let written = self.files[index].buffer().write_file(&mut bytes);
            return written.map(|()| bytes).map_err(|error| Fault::failed(error.to_string()));
        }
        if let Some(file) = self.files.binary(key) {
            return file.bytes().map(<[u8]>::to_vec);
        }
        match self.files.existing_range(key) {
            Some((index, range)) => {
                Ok(self.files[index].buffer().slice(range.bytes.clone()).into_bytes())
            }
            None => Err(Fault::not_found("no such selection, match or file").about(key)),
        }
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        let binary = self.files.binary(key).map(|file| file.path().to_owned());
        binary.or_else(|| {
            self.files.index_by_key(key).map(|index| self.files[index].path().to_owned())
        })
    }

    fn refresh(&mut self) -> bool {
        let changed = check_disk(&mut self.files, &mut self.edits, &mut self.disk_watch);
        if changed {
            self.invalidate_snapshot();
            self.edits.version += 1;
            self.files.write_manifest();
        }
        changed
    }

    fn watched(&self) -> Vec<PathBuf> {
        let binaries = self.files.binaries.iter().map(|file| file.path().to_owned());
        self.files.iter().map(|file| file.path().to_owned()).chain(binaries).collect()
    }

    fn save(&mut self) -> Result<(), Fault> {
        self.write_snapshot()
    }

    fn resumed(&self) -> bool {
        self.resumed
    }
}

impl Editor {
    fn begin(&mut self, action: &Action, context: &Context) -> Result<Next, Fault> {
        self.invalidate_snapshot();
        self.edits.version = context.version;
        begin(&mut self.files, &mut self.edits, action, context)
    }

    fn find_file(&self, index: usize) -> Found {
        // With several open files the view lists them unless there are too many.
        let file = &self.files[index];
        let is_listed =
            !file.unlisted && (2..=FILES_LISTED).contains(&self.files.listed_files().count());
        match is_listed || self.files.is_current(file) {
            true => Found::Here(0),
            false => {
                let name = self.files.display_name(index);
                Found::Hidden {
                    rev: 0,
                    how: self.files.paths.run_command(&format!("open({name:?})")),
                }
            }
        }
    }

    fn find_range(&self, index: usize, range: &TrackedRange) -> Found {
        if let Some(why) = &range.gone {
            return Found::Gone(Some(why.clone()));
        }
        let rev = range.rev;
        match self.selection.as_ref() == Some(&range.key) {
            true => Found::Here(rev),
            false => {
                let line = self.files[index].buffer().line_at(range.bytes.start) + 1;
                let target = format!("{}:{line}", self.files.display_name(index));
                Found::Hidden {
                    rev,
                    how: self.files.paths.run_command(&format!("goto({target:?})")),
                }
            }
        }
    }
}
