//! The language of the frame: that of the brief.

/// A language of the planner's own texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lang {
    /// The language for all briefs that match no other.
    English,
    /// The language for briefs with at least as many Chinese characters as other words.
    Chinese,
}

impl Lang {
    /// Returns the language of a text.
    pub fn of(text: &str) -> Self {
        let is_han = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
        let han = text.chars().filter(|c| is_han(*c)).count();
        let words = text.split(|c: char| !c.is_alphanumeric() || is_han(c));
        let words = words.filter(|word| !word.is_empty()).count();
        if han > 0 && han >= words { Self::Chinese } else { Self::English }
    }

    /// Returns what is said in this language.
    pub fn pick<T>(self, english: T, chinese: T) -> T {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_is_that_of_most_of_the_brief() {
        assert_eq!(Lang::of("添加审计日志 (audit log)"), Lang::Chinese);
        assert_eq!(
            Lang::of("add an audit log, 审计日志, for all users of the shop"),
            Lang::English
        );
        assert_eq!(Lang::of("12 %"), Lang::English);
    }
}
