//! Laws: what must hold whatever happens, and what to say when it doesn't.

/// The law that was broken, and the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokenLaw {
    pub law: &'static str,
    pub details: String,
}

pub type LawResult<T = ()> = Result<T, BrokenLaw>;

/// Returns an error from the function unless the condition holds.
macro_rules! law {
    ($holds:expr, $law:literal, $($details:tt)+) => {
        if !$holds {
            return Err($crate::law::BrokenLaw { law: $law, details: format!($($details)+) });
        }
    };
}
pub(crate) use law;

/// Counts how often each situation occurred.
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
