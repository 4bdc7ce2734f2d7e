//! Trust in `planner.toml`: it lies in the project, so anybody who wrote the project wrote it.
//! Nothing that it names is started, and no endpoint that it names is asked, before a person has
//! allowed exactly its content.
//!
//! What is trusted is named by a hash of the file's text and of every file of the project that its
//! commands name, so that a change of any of them asks again. The hash is computed again for each turn
//! that is played.

use std::collections::BTreeSet;
use std::path::Path;

use docui::{ConsentRequest, Context, Fault, regular_file};
use pipemux_planner_course::Speaker;
use sha2::{Digest, Sha256};

use crate::config::{CommandLine, DriverSpec, FILE};
use crate::handoff::hex;
use crate::limits::TRUSTED_FILE_MAX;
use crate::model::Planner;

impl Planner {
    /// Takes in what a person has allowed, and checks that it covers what this project would have
    /// started.
    ///
    /// # Errors
    /// A person has to trust the file first; nothing took effect.
    pub(crate) fn check_trust(&mut self, context: &Context) -> Result<(), Fault> {
        self.allowed = context.consents.iter().cloned().collect();
        match self.untrusted() {
            Some(request) if self.would_start() => {
                let call = self.run("driver('all', 'agent')");
                let why = format!(
                    "{FILE} of this project names who plays the roles, and nobody has trusted it"
                );
                Err(Fault::refused(why)
                    .hint(format!("{call}: without it, you play them"))
                    .needs_consent(request))
            }
            _ => Ok(()),
        }
    }

    /// As [`Planner::check_trust`], for a command of the file that plans are handed to.
    ///
    /// # Errors
    /// A person has to trust the file first; nothing took effect.
    pub(crate) fn check_handoff(&self, command: &[String]) -> Result<(), Fault> {
        match self.untrusted() {
            Some(request) => {
                let why = format!(
                    "{FILE} of this project names `{}`, and nobody has trusted it",
                    command.join(" ")
                );
                Err(Fault::refused(why).needs_consent(request))
            }
            None => Ok(()),
        }
    }

    /// True if the file may be followed: there is none, or a person has trusted what it says now.
    pub(crate) fn is_trusted(&self) -> bool {
        self.untrusted().is_none()
    }

    /// True if somebody but the reader would play a role.
    fn would_start(&self) -> bool {
        Speaker::ALL.iter().any(|speaker| !matches!(self.driver(*speaker), Ok(DriverSpec::Agent)))
    }

    /// Returns the files of the project that words of a command name: below its root, or where the
    /// program is started.
    fn named_files(&self, words: &[String]) -> BTreeSet<String> {
        let mut files = named_files(&self.root, &self.root, words);
        if let Some(inside) = std::env::current_dir().ok().filter(|at| at.starts_with(&self.root)) {
            files.append(&mut named_files(&self.root, &inside, words));
        }
        files
    }

    /// Returns what a person has to allow before the file is followed; none if there is nothing to
    /// allow.
    fn untrusted(&self) -> Option<ConsentRequest> {
        let text = self.config.text.as_deref()?;
        let mut hash = Sha256::new();
        hash.update(text);
        let (mut shows, mut covered) = (Vec::new(), BTreeSet::new());
        for (name, driver) in &self.config.drivers {
            for program in [&driver.command, &driver.acp].into_iter().flatten() {
                let words = program.words();
                shows.push(format!("{name} starts: {}", line(&words)));
                covered.extend(self.named_files(&words));
            }
            if let Some(url) = &driver.base_url {
                shows.push(format!("{name} sends what is discussed to: {url}"));
            }
        }
        if let Some(codegen) = &self.config.codegen {
            let words = CommandLine::words(codegen);
            shows.push(format!("plans are handed to: {}", line(&words)));
            covered.extend(self.named_files(&words));
        }
        let named: BTreeSet<&str> = self.config.driver_names().collect();
        for name in named.into_iter().filter(|name| !self.config.drivers.contains_key(*name)) {
            shows.push(format!("{name} plays roles"));
        }
        for speaker in self.config.prompts().into_keys() {
            shows.push(format!("{speaker} is asked with a prompt of its own"));
        }
        for file in &covered {
            hash.update(file.as_bytes());
            // What can't be read, or is too long to be hashed each time, is never trusted: its hash
            // is of nothing else.
            match read_bounded(&self.root.join(file)) {
                Some(bytes) => hash.update(Sha256::digest(bytes)),
                None => hash.update(jiff::Timestamp::now().to_string()),
            }
            shows.push(format!("covers the file {file}"));
        }
        if shows.is_empty() {
            return None;
        }
        let key = format!("trust {FILE} sha256:{}", hex(&hash.finalize()));
        let what = format!("trust {FILE} of this project");
        (!self.allowed.contains(&key)).then_some(ConsentRequest { key, what, shows, for_ms: 0 })
    }
}

/// Returns the files below `root` that words name which are looked up in `at`, also within a script
/// that is one word.
fn named_files(root: &Path, at: &Path, words: &[String]) -> BTreeSet<String> {
    let separators = |c: char| c.is_whitespace() || "'\"`;|&<>()$={},:".contains(c);
    let whole = words.iter().map(String::as_str);
    let parts = words.iter().flat_map(|word| word.split(separators));
    let mut files = BTreeSet::new();
    for part in whole.chain(parts).filter(|part| !part.is_empty()) {
        let found = at.join(part).canonicalize().ok().filter(|found| found.is_file());
        let inside = found.as_deref().and_then(|found| found.strip_prefix(root).ok());
        files.extend(inside.map(|inside| inside.display().to_string()));
    }
    files
}

fn line(words: &[String]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    docui::command::join(&words)
}

fn read_bounded(path: &Path) -> Option<Vec<u8>> {
    let length = path.metadata().ok()?.len();
    if length > TRUSTED_FILE_MAX { None } else { regular_file::read(path).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_project_are_found_in_words_and_in_scripts_of_one_word() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("bin")).unwrap();
        for name in ["say.sh", "bin/x y", "other"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let found = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let root = dir.path().canonicalize().unwrap();
            named_files(&root, &root, &words)
        };
        let set = |names: &[&str]| -> BTreeSet<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        assert_eq!(found(&["sh", "say.sh"]), set(&["say.sh"]));
        assert_eq!(found(&["sh", "-c", "X=1;. ./say.sh&&cat<other"]), set(&["say.sh", "other"]));
        assert_eq!(found(&["bin/x y"]), set(&["bin/x y"]));
        let absolute = dir.path().join("other").display().to_string();
        assert_eq!(found(&[&absolute, "/etc/passwd", "../other", "bin", ""]), set(&["other"]));
    }
}
