//! The person's policy for commands: the `[terminal]` table of `config.toml`.

use serde::Deserialize;

/// The user's decisions about commands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Whether commands are confined. Without a decision they are, except where the whole machine
    /// is the agent's.
    pub confine: Option<Confine>,
    /// Further places that commands may write to: absolute paths, or paths that begin with `~/`.
    pub write: Vec<String>,
    /// Whether commands may open connections, including ones to this machine.
    pub network: bool,
    /// Programs with their first arguments that a person allows each time: `git push`.
    pub ask: Vec<String>,
    /// Programs with their first arguments that never run.
    pub deny: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confine {
    /// They write to the workspace and to what builds commonly need.
    Workspace,
    /// They may do what the user may.
    Off,
}

impl Default for Policy {
    fn default() -> Self {
        Self { confine: None, write: Vec::new(), network: true, ask: Vec::new(), deny: Vec::new() }
    }
}

impl Policy {
    /// Checks what its types can't hold.
    ///
    /// # Errors
    /// What is wrong, and what was expected.
    pub fn check(&self) -> Result<(), String> {
        let is_path =
            |path: &&String| !(path.starts_with('/') || path.starts_with("~/") || *path == "~");
        if let Some(path) = self.write.iter().find(is_path) {
            return Err(format!(
                "terminal.write has {path:?}: expected an absolute path, or one that begins with ~/"
            ));
        }
        let lists = [("ask", &self.ask), ("deny", &self.deny)];
        match lists.iter().find(|(_, rules)| rules.iter().any(|rule| rule.trim().is_empty())) {
            Some((list, _)) => Err(format!(
                "terminal.{list} has an empty text: expected a program, or one with its first arguments: \"git push\""
            )),
            None => Ok(()),
        }
    }

    /// Reads the `[terminal]` table of a text of `config.toml`.
    ///
    /// # Errors
    /// The text isn't TOML, or the table has a mistake. Says in which line.
    pub fn of_config(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Config {
            #[serde(default)]
            terminal: Policy,
        }
        let config: Config = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or("");
            let line = 1 + before.matches('\n').count();
            format!("line {line}: {}", error.message().replace('\n', "; "))
        })?;
        config.terminal.check()?;
        Ok(config.terminal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_is_read_beside_other_tables_and_mistakes_are_named() {
        assert_eq!(Policy::of_config("[audit]\nkeep_days = 7\n").unwrap(), Policy::default());
        let text = "[terminal]\nconfine = \"off\"\nwrite = [\"~/x\"]\nnetwork = false\nask = [\"git push\"]\ndeny = [\"rm\"]\n";
        let policy = Policy::of_config(text).unwrap();
        assert_eq!(policy.confine, Some(Confine::Off));
        assert!(!policy.network);
        for (text, why) in [
            ("[terminal]\n\nconfine = \"of\"\n", "line 3: unknown variant `of`"),
            ("[terminal]\nallow = [\"*\"]\n", "line 2: unknown field `allow`"),
            ("[terminal]\nwrite = [\"x\"]\n", "expected an absolute path"),
            ("[terminal]\ndeny = [\" \"]\n", "terminal.deny has an empty text"),
            ("terminal", "line 1: "),
        ] {
            let said = Policy::of_config(text).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
