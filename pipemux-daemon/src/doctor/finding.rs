//! The result of a check, and its line of output.

use std::io;

use super::context::DoctorContext;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    pub(super) status: FindingStatus,
    pub(super) text: String,
    pub(super) next: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FindingStatus {
    Ok,
    Bad,
    Fixed,
}

impl Finding {
    pub(super) fn ok(check: &'static str, text: impl Into<String>) -> Self {
        Self { check, status: FindingStatus::Ok, text: text.into(), next: None }
    }

    pub(super) fn bad(
        check: &'static str,
        text: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self { check, status: FindingStatus::Bad, text: text.into(), next: Some(next.into()) }
    }

    /// Repairs the problem with `fix` if that is asked for; otherwise, and when it fails, the
    /// finding stays bad.
    pub(super) fn fix_with(
        self,
        context: &DoctorContext,
        fix: impl FnOnce() -> io::Result<()>,
    ) -> Self {
        if !context.fix {
            let next = match self.next {
                Some(next) if next.is_empty() => "pipemux doctor --fix".to_owned(),
                Some(next) => format!("{next}: pipemux doctor --fix"),
                None => "pipemux doctor --fix".to_owned(),
            };
            return Self { next: Some(next), ..self };
        }
        match fix() {
            Ok(()) => Self { status: FindingStatus::Fixed, next: None, ..self },
            Err(error) => {
                let text = format!("{}; it can't be repaired: {error}", self.text);
                Self { text, ..self }
            }
        }
    }

    pub(super) fn line(&self) -> String {
        let state = match self.status {
            FindingStatus::Ok => "ok",
            FindingStatus::Bad => "bad",
            FindingStatus::Fixed => "fixed",
        };
        let plain = |text: &str| text.replace(['\t', '\n', '\r'], " ");
        let next = self.next.as_deref().unwrap_or_default();
        format!("{state}\t{}\t{}\t{}\n", self.check, plain(&self.text), plain(next))
    }
}
