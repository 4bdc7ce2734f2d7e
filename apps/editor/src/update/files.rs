//! Opening, saving, closing.

use std::path::{Path, PathBuf};

use docui::{Anchor, Ask, Context, Done, Fault, Opening, Reply};

use crate::action;
use crate::limits::UNSAVED_NAMED;
use crate::model::Editor;
use crate::model::disk::{self, Placing};
use crate::model::file::OnDisk;

use super::ask::{Token, one};
use super::{author, count};

impl Editor {
    pub(super) fn open_path(&mut self, path: &str, context: &Context) -> Result<Reply, Fault> {
        let target = self.target_of(path, context)?;
        let known = self.index(&target);
        let mut notes = Vec::new();
        if known.is_none() {
            let args = vec![target.display().to_string()];
            let (cwd, state_dir) = (self.path_of("", context), self.state_dir.clone());
            notes = self.take_in(&Opening { args, cwd, state_dir, ..Opening::default() })?;
        }
        self.switch(Some(target.clone()), &author(context));
        let lines = self.file(&target).map_or(0, |file| file.buffer().lines());
        let mut brief = format!("{}, {}", self.shown(&target), count(lines, "line"));
        if known.is_some() {
            brief += ", open already";
        }
        let done = Done::new(brief);
        Ok(match notes.is_empty() {
            true => done,
            false => done.detail(notes.join("\n")),
        }
        .into())
    }

    pub(super) fn save(&mut self, context: &Context) -> Result<Reply, Fault> {
        let index = self.seen_current(context)?;
        self.save_file(index, context)
    }

    pub(super) fn save_as(&mut self, path: &str, context: &Context) -> Result<Reply, Fault> {
        let index = self.seen_current(context)?;
        let target = self.path_of(path, context);
        let target = disk::resolve(&target).map_err(|fault| match target.parent() {
            Some(parent) if !parent.exists() => {
                fault.hint(format!("mkdir -p {} makes it", parent.display()))
            }
            _ => fault,
        })?;
        if target == self.files[index].path() {
            return self.save_file(index, context);
        }
        let shown = self.shown(&target);
        if self.index(&target).is_some() {
            return Err(Fault::refused(format!("{shown} is open in this session"))
                .hint("close it first, or choose another name"));
        }
        if target.is_dir() {
            return Err(Fault::refused(format!("{shown} is a directory, expected a file's path")));
        }
        let there = target.exists();
        if there && !self.may_overwrite(&target, context)? {
            let token = Token::Overwrite { path: target.clone(), disk: disk::digest(&target) };
            let ask = Ask::pick_one(format!("{shown} exists already"))
                .option("overwrite", "writes this text over it")
                .option("keep", "writes nothing");
            return token.with(ask).map(Reply::from);
        }
        let how = match there {
            true => Placing::Over,
            false => Placing::New(disk::mode(self.files[index].path()).unwrap_or(0o666)),
        };
        let (old_key, was_current) = {
            let file = &self.files[index];
            (file.key(), self.current.as_deref() == Some(file.path()))
        };
        let old_path = self.files[index].path().to_owned();
        let state_dir = self.state_dir.clone();
        // Both paths have had another text for somebody.
        self.before_change(index)?;
        self.files[index].save_as(target.clone(), how, &state_dir)?;
        if let Some(listing) = self.listing.as_mut().filter(|listing| listing.path == old_path) {
            listing.path.clone_from(&target);
        }
        self.note_closed(old_key, format!("it was saved as {shown}"));
        self.rename_seen(&old_path, &target);
        self.shows_another(index);
        if was_current {
            self.switch(Some(target), &author(context));
        }
        self.list_files();
        Ok(Done::new(format!("now {shown}")).into())
    }

    pub(super) fn close(
        &mut self,
        file: Option<&Anchor<action::File>>,
        context: &Context,
    ) -> Result<Reply, Fault> {
        let index = match file {
            None => self.seen_current(context)?,
            Some(anchor) => {
                let found = self.files.iter().position(|file| file.key() == anchor.key);
                found.ok_or_else(|| Fault::not_found("no open file").about(anchor.key.clone()))?
            }
        };
        let file = &self.files[index];
        let (path, shown) = (file.path().to_owned(), self.shown(file.path()));
        if !file.is_unsaved() {
            self.remove(index, "it was closed", &author(context));
            return Ok(Done::new(shown).into());
        }
        let text = file.buffer().hash();
        let choice = match Token::answered(context)? {
            Some((Token::Close { path: asked, text: then }, choice))
                if asked == path && then == text =>
            {
                one(choice, 3)?
            }
            // After a save that had to ask as well: to take the disk's text is to drop this one.
            Some((Token::OnDisk { path: asked, disk }, choice)) if asked == path => {
                match disk.is_some() && one(choice, 3)? == 2 {
                    true => 2,
                    false => 1,
                }
            }
            _ => {
                let ask = Ask::pick_one(format!("{shown} has unsaved changes"))
                    .option("save", "writes it, then closes it")
                    .option("discard", "closes it; the changes are lost")
                    .option("keep", "leaves it open");
                return Token::Close { path, text }.with(ask).map(Reply::from);
            }
        };
        match choice {
            1 => {
                if let Reply::Ask(ask) = self.save_file(index, context)? {
                    return Ok(ask.into());
                }
                self.remove(index, "it was closed", &author(context));
                Ok(Done::new(format!("{shown}, saved")).into())
            }
            2 => {
                self.remove(index, "it was closed, its changes discarded", &author(context));
                Ok(Done::new(format!("{shown}, changes discarded")).into())
            }
            // Kept by choice, yet a failure: the later steps of the run count on it being closed.
            _ => Err(Fault::failed(format!("{shown} is still open"))),
        }
    }

    fn save_file(&mut self, index: usize, context: &Context) -> Result<Reply, Fault> {
        let file = &self.files[index];
        let (path, shown) = (file.path().to_owned(), self.shown(file.path()));
        let disk = disk::digest(&path);
        let gone = !path.exists();
        if disk == file.base() && !gone {
            if !file.is_unsaved() && *file.on_disk() == OnDisk::Same {
                return Ok(Done::new(format!("{shown}, no changes{}", self.others(index))).into());
            }
        } else if disk.is_some() && disk == Some(file.buffer().hash()) {
            // Someone wrote just this text.
            self.files[index].save()?;
            self.list_files();
            return Ok(Done::new(format!("{shown}{}", self.others(index))).into());
        } else {
            match Token::answered(context)? {
                Some((Token::OnDisk { path: asked, disk: then }, choice))
                    if asked == path && then == disk =>
                {
                    match (one(choice, if gone { 2 } else { 3 })?, gone) {
                        (1, _) => {}
                        (2, false) => return self.reload(index, context),
                        // By choice, yet a failure: the later steps of the run count on the file.
                        _ => {
                            return Err(Fault::failed(format!("{shown} is not saved"))
                                .hint(self.command("diff()")));
                        }
                    }
                }
                _ => return ask_on_disk(&shown, path, disk, gone),
            }
        }
        let links = hard_links(&path);
        self.files[index].save()?;
        self.list_files();
        let mut brief = shown;
        if links > 1 {
            let others = count(links as usize - 1, "other hard link");
            brief = format!("{brief} · {others} of it keep the old text");
        }
        Ok(Done::new(brief + &self.others(index)).into())
    }

    /// Names the other files that are still to be saved.
    fn others(&self, saved: usize) -> String {
        let unsaved = self.files.iter().enumerate().filter(|(index, _)| *index != saved);
        let unsaved: Vec<_> = unsaved.filter(|(_, file)| file.is_unsaved()).collect();
        let names = unsaved.iter().take(UNSAVED_NAMED).map(|(_, file)| self.shown(file.path()));
        let names = names.collect::<Vec<_>>().join(", ");
        match unsaved.len().saturating_sub(UNSAVED_NAMED) {
            _ if unsaved.is_empty() => String::new(),
            0 => format!(" · still unsaved: {names}"),
            more => format!(" · still unsaved: {names} and {more} more"),
        }
    }

    /// The file that a path means: as the caller stands, else the open file that is shown so.
    fn target_of(&self, path: &str, context: &Context) -> Result<PathBuf, Fault> {
        let found = disk::resolve(&self.path_of(path, context));
        found.or_else(|fault| {
            let open = self.files.iter().find(|file| self.shown(file.path()) == path);
            open.map(|file| file.path().to_owned()).ok_or(fault)
        })
    }

    fn reload(&mut self, index: usize, context: &Context) -> Result<Reply, Fault> {
        self.before_change(index)?;
        self.unlist();
        let id = self.names.make("change");
        self.files[index].reload(id, author(context))?;
        self.list_files();
        let change = self.files[index].history().undoable().next().map(|change| change.id.clone());
        Ok(Done::new("reloaded from disk, nothing written")
            .link("undo", &action::Action::Undo { steps: 1, change })
            .into())
    }

    fn may_overwrite(&self, target: &Path, context: &Context) -> Result<bool, Fault> {
        match Token::answered(context)? {
            Some((Token::Overwrite { path, disk }, choice))
                if path == target && disk == disk::digest(target) =>
            {
                match one(choice, 2)? {
                    1 => Ok(true),
                    _ => {
                        Err(Fault::failed(format!("{} is kept, nothing saved", self.shown(target))))
                    }
                }
            }
            _ => Ok(false),
        }
    }
}

fn ask_on_disk(shown: &str, path: PathBuf, disk: Option<u64>, gone: bool) -> Result<Reply, Fault> {
    let ask = match gone {
        true => {
            Ask::pick_one(format!("{shown} was deleted on disk")).option("write", "writes it again")
        }
        false => Ask::pick_one(format!("{shown} was changed on disk by someone else"))
            .option("overwrite", "writes your text over theirs")
            .option("reload", "takes theirs instead of your changes; undo brings yours back"),
    };
    let ask = ask.option("keep", "writes nothing, goes on editing");
    Token::OnDisk { path, disk }.with(ask).map(Reply::from)
}

fn hard_links(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).map_or(0, |metadata| metadata.nlink())
}
