//! Rules of the person whose machine it is, from their settings: who may only read, which apps
//! nobody uses, and which folders no app is given.
//!
//! A rule that can't be read is never dropped: until the settings are mended nobody acts.

use pipemux_proto::{Fault, ProviderId};

/// The rules in the user's settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Readers whose acts are refused: names in which `*` stands for any text and `?` for a
    /// character.
    pub read_only: Vec<String>,
    /// Apps that nobody opens or calls.
    pub forbidden_apps: Vec<ProviderId>,
    /// Folders and files that no app is given, nor what contains them, as absolute paths.
    pub forbidden_files: Vec<String>,
    /// The reason why the settings can't be read, in which case nobody may act.
    pub broken: Option<String>,
    /// True if the settings can't be read and couldn't since the daemon started. Nobody may open an
    /// app then, either.
    pub none_known: bool,
    /// The file that says so, which need not be there; empty when the environment leads to none.
    pub file: String,
    /// False when the file isn't there, so that nothing is ruled.
    pub is_there: bool,
    /// The file of the previous daemon, if its rules came from a different one.
    pub moved_from: Option<String>,
}

impl Rules {
    /// Replaces the rules. Returns notices for readers if the rules now come from another file, or
    /// if there are none any more.
    pub(crate) fn replace(&mut self, mut rules: Rules) -> Vec<String> {
        // What a file ruled that can't be read any more holds until it is mended.
        if rules.broken.is_some() {
            rules.read_only.clone_from(&self.read_only);
            rules.forbidden_apps.clone_from(&self.forbidden_apps);
            rules.forbidden_files.clone_from(&self.forbidden_files);
            rules.none_known = self.file.is_empty() || self.none_known;
        }
        let mut news = Vec::new();
        if self.is_there && !rules.is_there {
            let file = &rules.file;
            news.push(format!("the rules of {file} are gone with the file: pipemux status"));
        }
        if let Some(before) = rules.moved_from.as_ref().filter(|_| self.moved_from.is_none()) {
            news.push(format!(
                "the rules of {before} are not in force any more, those of {} are: pipemux status",
                rules.file
            ));
        }
        *self = rules;
        news
    }

    /// Returns why a reader may not act, if it may not.
    pub fn refusal(&self, reader: &str) -> Option<Fault> {
        if let Some(why) = &self.broken {
            let said = format!("{why}: acts are refused until a person mends it");
            return Some(Fault::refused(said).hint("tell your user: pipemux config"));
        }
        let pattern = self.read_only.iter().find(|pattern| matches(pattern, reader))?;
        let said = format!(
            "reader {reader} may only read: [readers] read_only = [\"{pattern}\"] in config.toml"
        );
        Some(Fault::refused(said).hint("queries, views and pipemux ask go on"))
    }

    /// Says which file rules.
    pub fn source(&self) -> String {
        let file = match self.file.as_str() {
            "" => "no file: none of PIPEMUX_CONFIG_DIR, XDG_CONFIG_HOME and HOME leads to one",
            file => file,
        };
        let is_there = if self.is_there { "" } else { " (not there: the defaults hold)" };
        let before =
            self.moved_from.iter().map(|before| format!(" · the daemon before read {before}"));
        [file, is_there].into_iter().map(str::to_owned).chain(before).collect()
    }

    /// Returns why an app isn't used, if the settings forbid it.
    pub fn forbids(&self, provider: &ProviderId) -> Option<Fault> {
        if let Some(why) = self.broken.as_ref().filter(|_| self.none_known) {
            let said = format!("{why}: no app is used until a person mends it");
            return Some(Fault::refused(said).hint("tell your user: pipemux config"));
        }
        self.forbidden_apps.contains(provider).then(|| {
            let app = format!("{provider} is forbidden here");
            Fault::refused(format!("{app}: [apps] forbidden = [\"{provider}\"] in config.toml"))
        })
    }
}

/// True if a whole name is as the pattern says.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut of) = (0, 0);
    // Where to go on when what follows the last star doesn't fit.
    let mut star: Option<(usize, usize)> = None;
    while let Some(c) = name.get(at) {
        match (pattern.get(of), star) {
            (Some('*'), _) => {
                star = Some((of, at));
                of += 1;
            }
            (Some(p), _) if *p == '?' || p == c => (at, of) = (at + 1, of + 1),
            (_, Some((back, from))) => {
                star = Some((back, from + 1));
                (at, of) = (from + 1, back + 1);
            }
            (_, None) => return false,
        }
    }
    pattern.iter().skip(of).all(|p| *p == '*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether a pattern matches a name, straight from the definition.
    fn naive(pattern: &[char], name: &[char]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some(('*', rest)), None) => naive(rest, name),
            (Some(('*', rest)), Some((_, behind))) => naive(rest, name) || naive(pattern, behind),
            (Some((p, rest)), Some((c, behind))) => (*p == '?' || p == c) && naive(rest, behind),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn patterns_match_as_their_definition_says(pattern in "[ab*?é]{0,6}", name in "[abé*]{0,7}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(matches(&pattern, &name), naive(&chars(&pattern), &chars(&name)));
        }
    }

    #[test]
    fn broken_settings_refuse_everybody() {
        let rules = Rules { broken: Some("line 3".into()), ..Rules::default() };
        assert!(rules.refusal("anybody").is_some());
        assert!(Rules::default().refusal("anybody").is_none());
    }
}
