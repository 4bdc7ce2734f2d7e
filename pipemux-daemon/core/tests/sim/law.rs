//! A law that was broken.

/// Which law, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    pub law: &'static str,
    pub how: String,
}

pub type Lawful<T = ()> = Result<T, Broken>;

/// Refuses what breaks a law.
macro_rules! law {
    ($holds:expr, $law:literal, $($how:tt)+) => {
        if !$holds {
            return Err($crate::law::Broken { law: $law, how: format!($($how)+) });
        }
    };
}
pub(crate) use law;

/// How often what happened.
#[derive(Debug, Clone, Default)]
pub struct Figures(pub std::collections::BTreeMap<String, u64>);

impl Figures {
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
