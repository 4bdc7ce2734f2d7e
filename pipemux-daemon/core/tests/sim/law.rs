//! A law that was broken.

/// Which law, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokenLaw {
    pub law: &'static str,
    pub details: String,
}

pub type LawResult<T = ()> = Result<T, BrokenLaw>;

/// Refuses what breaks a law.
macro_rules! law {
    ($holds:expr, $law:literal, $($details:tt)+) => {
        if !$holds {
            return Err($crate::law::BrokenLaw { law: $law, details: format!($($details)+) });
        }
    };
}
pub(crate) use law;

/// How often what happened.
#[derive(Debug, Clone, Default)]
pub struct Statistics(pub std::collections::BTreeMap<String, u64>);

impl Statistics {
    pub fn count(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    pub fn add(&mut self, other: &Self) {
        for (what, times) in &other.0 {
            *self.0.entry(what.clone()).or_default() += times;
        }
    }

    pub fn get(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or(0)
    }
}
