//! The editor as the SDK sees it.

use docui::{App, Context, Fault, Found, Opening, Reply, View, ViewRequest};

use crate::action::Action;
use crate::model::Editor;
use crate::model::ids::IdKind;
use crate::model::tracked_ranges::TrackedRange;

impl App for Editor {
    type Action = Action;
    const RESUMES: bool = true;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let (mut editor, notes) = Editor::start(opening)?;
        editor.notes = notes;
        if editor.resumed && !opening.again {
            let notes = editor.attach(opening)?;
            editor.notes.extend(notes);
        }
        Ok(editor)
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn attach(&mut self, opening: &Opening) -> Result<Vec<String>, Fault> {
        if opening.woken && opening.again {
            // The snapshot already has these files.
            return Ok(Vec::new());
        }
        self.invalidate_snapshot();
        let notes = self.open_arguments(opening)?;
        self.version += 1;
        Ok(notes)
    }

    fn update(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        self.invalidate_snapshot();
        self.version = context.version;
        let reply = match self.perform(action, context)? {
            Reply::Done(done) => {
                self.version += 1;
                Reply::Done(self.tell_renumbering(done, context))
            }
            ask => ask,
        };
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
        match self.existing_range(key) {
            Some((index, range)) => {
                Ok(self.files[index].buffer().slice(range.bytes.clone()).into_bytes())
            }
            None => Err(Fault::not_found("no such selection, match or file").about(key)),
        }
    }

    fn refresh(&mut self) -> bool {
        let version = self.version + 1;
        let mut changed = Vec::new();
        for file in &mut self.files {
            if file.refresh(|| self.ids.next(IdKind::Change), version) {
                changed.push(file.path().to_owned());
            }
        }
        changed.iter().for_each(|path| self.record_changed_on_disk(path));
        let changed = !changed.is_empty();
        if changed {
            self.invalidate_snapshot();
            self.version = version;
            self.write_manifest();
        }
        changed
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
        // With several open files the view lists them; with one it shows that one if it is current.
        match self.files.len() > 1 || self.is_current(&self.files[index]) {
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
        let listed = self.search_results.as_ref().is_some_and(|results| {
            results.listed
                && self.current.as_ref() == Some(&results.path)
                && results.keys.contains(&range.key)
        });
        let rev = range.rev;
        match listed || self.selection.as_ref() == Some(&range.key) {
            true => Found::Here(rev),
            false => {
                let line = self.files[index].buffer().line_at(range.bytes.start) + 1;
                let target = format!("{}:{line}", self.display_name(index));
                Found::Hidden { rev, how: self.run_command(&format!("goto({target:?})")) }
            }
        }
    }
}
