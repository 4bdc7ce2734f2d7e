//! How much of a result clients pass on to their models.
//!
//! Most pass on what fits into tens of thousands of tokens; they are known by the name that they
//! introduce themselves by. What an answer takes unasked is less, since a model pays for it: as
//! much as on the command line.

/// Most bytes and lines of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The bound in bytes.
    pub bytes: usize,
    /// The bound in lines.
    pub lines: usize,
    /// Tokens that an answer takes when nothing else is said.
    pub budget: u32,
}

/// Codex cuts a result to 10 KiB and 256 lines; of code that is about so many tokens.
pub const CODEX: Bounds = Bounds { bytes: 10 * 1024, lines: 256, budget: 2_400 };
/// Claude Code takes 25,000 tokens, by its own count.
const CLAUDE_CODE: Bounds = Bounds { bytes: 60_000, lines: usize::MAX, budget: BUDGET };
const OTHERS: Bounds = Bounds { bytes: 40_000, lines: usize::MAX, budget: BUDGET };
/// The total budget of the queries of one call on the command line.
const BUDGET: u32 = 6_500;

impl Bounds {
    /// Returns the bounds of a client by its name.
    pub fn of_client(name: Option<&str>) -> Self {
        match name {
            Some(name) if name.starts_with("codex") => CODEX,
            Some(name) if name.starts_with("claude-code") => CLAUDE_CODE,
            _ => OTHERS,
        }
    }

    /// Returns how many times the bounds a text takes, if it is more than once.
    pub fn excess(self, text: &str) -> Option<f64> {
        let bytes = text.len() as f64 / self.bytes as f64;
        let lines = text.lines().count() as f64 / self.lines as f64;
        Some(bytes.max(lines)).filter(|times| *times > 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_is_known_by_its_name() {
        assert_eq!(Bounds::of_client(Some("codex-mcp-client")), CODEX);
        assert_eq!(Bounds::of_client(Some("claude-code")), CLAUDE_CODE);
        for other in [None, Some(""), Some("cursor-vscode")] {
            assert_eq!(Bounds::of_client(other), OTHERS);
        }
    }
}
