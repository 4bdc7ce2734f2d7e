//! The script that a run was made from, as its reader wrote it.

use bytes::Bytes;
use pipemux_proto::call;

/// The input of a run as its reader sent it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    pub code: Code,
    /// The standard input that came with the code.
    pub stdin: Option<Bytes>,
    /// The number of the reader's steps that an earlier run carried out.
    pub earlier: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    Script(String),
    /// Steps, each as code of its own.
    Steps(Vec<String>),
}

impl Default for Code {
    fn default() -> Self {
        Self::Steps(Vec::new())
    }
}

impl Source {
    /// Returns each step as code of its own; none when the code has a syntax error.
    pub fn steps(&self) -> Vec<String> {
        match &self.code {
            Code::Script(code) => call::split(code, self.stdin_text()).unwrap_or_default(),
            Code::Steps(steps) => steps.clone(),
        }
    }

    /// Returns how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let code = match &self.code {
            Code::Script(code) => code.len(),
            Code::Steps(steps) => steps.iter().map(String::len).sum(),
        };
        code + self.stdin.as_ref().map_or(0, Bytes::len)
    }

    /// Returns standard input as text, unless it is none.
    pub fn stdin_text(&self) -> Option<&str> {
        self.stdin.as_deref().and_then(|stdin| std::str::from_utf8(stdin).ok())
    }
}
