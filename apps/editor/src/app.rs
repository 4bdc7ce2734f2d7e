//! The editor as the SDK sees it.

use std::path::PathBuf;

use docui::blocking::CommitPoint;
use docui::{App, Blocking, Completion, Context, Fault, Found, Opening, Reply, View, ViewRequest};

use crate::action::Action;
use crate::limits::{DISK_DEADLINE, FILES_LISTED};
use crate::model::Editor;
use crate::model::editor::arguments;
use crate::model::tracked_ranges::TrackedRange;

impl App for Editor {
    type Action = Action;
    const RESUMES: bool = true;
    const WATCHES: bool = true;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let (mut editor, notes) = Editor::start(opening)?;
        editor.notes = notes;
        if editor.resumed && !opening.again {
            let reader = editor.file_reader(&opening.cwd);
            let read = reader.read_at_start(&arguments(opening), &opening.handle);
            editor.invalidate_snapshot();
            let notes = editor.take_arguments(opening, read)?;
            editor.version += 1;
            editor.notes.extend(notes);
        }
        Ok(editor)
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn attach(&mut self, opening: &Opening) -> Result<Vec<String>, Fault> {
        match self.attach_blocking(opening)? {
            Some(blocking) => blocking.run(self, self.version),
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
        let (reader, paths) = (self.file_reader(&opening.cwd), arguments(opening));
        let waits_for = format!("the disk of {}", opening.args.join(" "));
        let read =
            move |_: &CommitPoint| paths.iter().map(|path| reader.read(path)).collect::<Vec<_>>();
        let opening = opening.clone();
        let finish = move |editor: &mut Self, read, completion: Completion| {
            if completion.late {
                return Err(Fault::failed("not opened, because nobody waits for it any more"));
            }
            editor.invalidate_snapshot();
            editor.version = completion.version;
            let notes = editor.take_arguments(&opening, read)?;
            editor.version += 1;
            Ok(notes)
        };
        Ok(Some(Blocking::new(waits_for, DISK_DEADLINE, read, finish)))
    }

    fn blocking(
        &mut self,
        action: &Action,
        context: &Context,
    ) -> Result<Option<Blocking<Self>>, Fault> {
        self.invalidate_snapshot();
        self.version = context.version;
        self.disk_work(action, context)
    }

    fn update(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        if let Some(blocking) = self.blocking(&action, context)? {
            return blocking.run(self, context.version);
        }
        let reply = self.perform(action, context)?;
        let reply = self.concluded(reply, context);
        self.write_manifest_if_stale();
        Ok(reply)
    }

    fn view(&self, request: &ViewRequest) -> View {
        self.show(request)
    }

    fn find(&self, key: &str) -> Found {
        if let Some(index) = self.file_index_by_key(key) {
            return self.find_file(index);
        }
        if let Some(file) = self.binary(key) {
            return match file.is_missing() {
                true => Found::Gone(Some("it was deleted on disk".to_owned())),
                false => Found::Here(file.rev()),
            };
        }
        match self.range(key) {
            Some((index, range)) => self.find_range(index, range),
            None => Found::Gone(self.close_reason(key)),
        }
    }

    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        if let Some(index) = self.file_index_by_key(key) {
            let mut bytes = Vec::new();
            let written = self.files[index].buffer().write_file(&mut bytes);
            return written.map(|()| bytes).map_err(|error| Fault::failed(error.to_string()));
        }
        if let Some(file) = self.binary(key) {
            return file.bytes().map(<[u8]>::to_vec);
        }
        match self.existing_range(key) {
            Some((index, range)) => {
                Ok(self.files[index].buffer().slice(range.bytes.clone()).into_bytes())
            }
            None => Err(Fault::not_found("no such selection, match or file").about(key)),
        }
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        let binary = self.binary(key).map(|file| file.path().to_owned());
        binary.or_else(|| {
            self.file_index_by_key(key).map(|index| self.files[index].path().to_owned())
        })
    }

    fn refresh(&mut self) -> bool {
        let changed = self.check_disk();
        if changed {
            self.invalidate_snapshot();
            self.version += 1;
            self.write_manifest();
        }
        changed
    }

    fn watched(&self) -> Vec<PathBuf> {
        let binaries = self.binaries.iter().map(|file| file.path().to_owned());
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
    fn find_file(&self, index: usize) -> Found {
        // With several open files the view lists them unless there are too many.
        let file = &self.files[index];
        let is_listed = !file.unlisted && (2..=FILES_LISTED).contains(&self.listed_files().count());
        match is_listed || self.is_current(file) {
            true => Found::Here(0),
            false => {
                let name = self.display_name(index);
                Found::Hidden { rev: 0, how: self.run_command(&format!("open({name:?})")) }
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
                let target = format!("{}:{line}", self.display_name(index));
                Found::Hidden { rev, how: self.run_command(&format!("goto({target:?})")) }
            }
        }
    }
}
