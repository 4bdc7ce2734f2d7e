//! Writing a file to another path, after a question if there is a file already.

use std::path::Path;

use docui::{Context, Done, Fault, Reply};

use crate::model::Editor;
use crate::model::disk::{self, WriteMode};
use crate::model::history::Author;

use super::question::{Choices, Token};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OverwriteChoice {
    Overwrite,
    Keep,
}

const EXISTS: Choices<OverwriteChoice> = Choices(&[
    (OverwriteChoice::Overwrite, "overwrite", "writes this text over it"),
    (OverwriteChoice::Keep, "keep", "writes nothing"),
]);

impl Editor {
    pub(super) fn save_as(&mut self, path: &str, context: &Context) -> Result<Reply, Fault> {
        let index = self.seen_file_index(context)?;
        let target = self.caller_path(path, context);
        let target = disk::resolve(&target).map_err(|fault| match target.parent() {
            Some(parent) if !parent.exists() => {
                fault.hint(format!("mkdir -p {} makes it", parent.display()))
            }
            _ => fault,
        })?;
        if target == self.files[index].path() {
            return self.save_file(index, context);
        }
        let shown = self.display_path(&target);
        if self.file_index(&target).is_some() {
            return Err(Fault::refused(format!("{shown} is open in this session"))
                .hint("close it first, or choose another name"));
        }
        if target.is_dir() {
            return Err(Fault::refused(format!("{shown} is a directory, expected a file's path")));
        }
        let exists = target.exists();
        if exists && !self.may_overwrite(&target, context)? {
            let token = Token::Overwrite { path: target.clone(), disk: disk::digest(&target) };
            return EXISTS.ask(format!("{shown} already exists"), &token);
        }
        let mode = match exists {
            true => WriteMode::Replace,
            false => {
                let bits = disk::permission_bits(self.files[index].path());
                WriteMode::Create(bits.unwrap_or(0o666))
            }
        };
        let file = &self.files[index];
        let (old_path, old_key) = (file.path().to_owned(), file.key());
        let was_current = self.is_current(file);
        let state_dir = self.state_dir.clone();
        // Readers may have seen another text under either path.
        self.before_change(index)?;
        self.files[index].save_as(target.clone(), mode, &state_dir, context.next_version())?;
        self.record_closed(old_key, format!("it was saved as {shown}"));
        self.record_rename(&old_path, &target);
        self.record_other_text(index);
        if was_current {
            self.set_current(Some(target), &Author::of(context));
        }
        self.write_manifest();
        Ok(Done::new(format!("now {shown}")).into())
    }

    /// True when the reader agreed to overwrite a file as it is now; false when they weren't asked yet.
    ///
    /// # Errors
    /// The reader chose to keep the file.
    fn may_overwrite(&self, target: &Path, context: &Context) -> Result<bool, Fault> {
        match Token::answered(context)? {
            Some((Token::Overwrite { path, disk }, choice))
                if path == target && disk == disk::digest(target) =>
            {
                match EXISTS.chosen(choice)? {
                    OverwriteChoice::Overwrite => Ok(true),
                    OverwriteChoice::Keep => {
                        let shown = self.display_path(target);
                        Err(Fault::failed(format!("{shown} was kept, nothing was saved")))
                    }
                }
            }
            _ => Ok(false),
        }
    }
}
