//! The editor as the SDK sees it.

use docui::{App, Context, Fault, Found, Look, Opening, Reply, View};

use crate::action::Action;
use crate::model::Editor;

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
            // The state that it goes on from has it.
            return Ok(Vec::new());
        }
        self.stir();
        let notes = self.take_in(opening)?;
        self.version += 1;
        Ok(notes)
    }

    fn update(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        self.stir();
        self.version = context.version;
        let reply = self.act(action, context)?;
        if let Reply::Done(_) = reply {
            self.version += 1;
        }
        self.list_if_needed();
        Ok(reply)
    }

    fn view(&self, look: &Look) -> View {
        self.show(look)
    }

    fn find(&self, key: &str) -> Found {
        if let Some(file) = self.files.iter().find(|file| file.key() == key) {
            let bound = self.current.as_deref() == Some(file.path());
            return match bound || self.files.len() > 1 {
                true => Found::Here(0),
                false => Found::Hidden {
                    rev: 0,
                    how: self.command(&format!("open({:?})", self.shown(file.path()))),
                },
            };
        }
        for file in &self.files {
            let Some(mark) = file.marks.get(key) else { continue };
            if let Some(why) = &mark.gone {
                return Found::Gone(Some(why.clone()));
            }
            let listed = self.listing.as_ref().is_some_and(|listing| {
                listing.shown
                    && self.current.as_ref() == Some(&listing.path)
                    && listing.keys.iter().any(|k| k == key)
            });
            let rev = mark.rev;
            return match listed || self.selection.as_deref() == Some(key) {
                true => Found::Here(rev),
                false => {
                    let line = file.buffer().line_at(mark.bytes.start) + 1;
                    let place = format!("{}:{line}", self.shown(file.path()));
                    Found::Hidden { rev, how: self.command(&format!("goto({place:?})")) }
                }
            };
        }
        Found::Gone(self.why_closed(key))
    }

    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        if let Some(file) = self.files.iter().find(|file| file.key() == key) {
            let mut bytes = Vec::new();
            let written = file.buffer().write(&mut bytes);
            return written.map(|()| bytes).map_err(|error| Fault::failed(error.to_string()));
        }
        let mark = self.files.iter().find_map(|file| Some((file, file.marks.get(key)?)));
        match mark {
            Some((file, mark)) if mark.gone.is_none() => {
                Ok(file.buffer().slice(mark.bytes.clone()).into_bytes())
            }
            _ => Err(Fault::not_found("no such selection, match or file").about(key)),
        }
    }

    fn refresh(&mut self) -> bool {
        let version = self.version + 1;
        let mut changed = Vec::new();
        for file in &mut self.files {
            if file.refresh(|| self.names.make("change"), version) {
                changed.push(file.path().to_owned());
            }
        }
        changed.iter().for_each(|path| self.changed_on_disk(path));
        let changed = !changed.is_empty();
        if changed {
            self.stir();
            self.version = version;
            self.list_files();
        }
        changed
    }

    fn save(&mut self) -> Result<(), Fault> {
        self.fall_asleep()
    }

    fn resumed(&self) -> bool {
        self.resumed
    }
}
