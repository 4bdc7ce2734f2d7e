//! Identifiers of providers, sessions and incarnations.

use serde::{Deserialize, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use crate::limits::{PROVIDER_MAX, SESSION_MAX};

/// The reason why a text isn't an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text isn't a provider name.
    #[error(
        "`{0}` is not a provider name: expected a lower-case letter, then up to 31 of a-z, 0-9 and -"
    )]
    Provider(String),
    /// The text isn't a session id.
    #[error(
        "`{0}` is not a session id: expected a letter or digit, then up to 63 of A-Z, a-z, 0-9, '.', '_' and '-'"
    )]
    Session(String),
    /// The text isn't `provider/session`.
    #[error("`{0}` is not a session: expected <provider>/<session>, for example notebook/main")]
    Address(String),
}

macro_rules! name {
    ($(#[$doc:meta])* $Name:ident, $check:ident, $Error:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Eq, Deserialize)]
        #[serde(try_from = "String")]
        // Keys of many tables have names in them, and most often both sides of a comparison share
        // one text.
        pub struct $Name(Arc<str>);

        impl $Name {
            /// Returns the name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl PartialEq for $Name {
            fn eq(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
            }
        }
        impl Ord for $Name {
            fn cmp(&self, other: &Self) -> Ordering {
                if Arc::ptr_eq(&self.0, &other.0) {
                    return Ordering::Equal;
                }
                self.0.cmp(&other.0)
            }
        }
        impl PartialOrd for $Name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Hash for $Name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.hash(state);
            }
        }
        impl Serialize for $Name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }
        impl FromStr for $Name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                if $check(text) { Ok(Self(text.into())) } else { Err(IdError::$Error(text.into())) }
            }
        }
        impl TryFrom<String> for $Name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }
        impl From<$Name> for String {
            fn from(name: $Name) -> String {
                name.0.as_ref().to_owned()
            }
        }
        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// The name of a registered app: `[a-z][a-z0-9-]{0,31}`.
    ProviderId,
    is_provider,
    Provider
);
name!(
    /// The id of one instance of an app, which has its own state:
    /// `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
    SessionId,
    is_session,
    Session
);

fn is_provider(text: &str) -> bool {
    text.len() <= PROVIDER_MAX
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

fn is_session(text: &str) -> bool {
    text.len() <= SESSION_MAX
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

/// The address of a session: `notebook/main`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionAddr {
    /// The app.
    pub provider: ProviderId,
    /// The session id.
    pub session: SessionId,
}

impl SessionAddr {
    /// The default session id.
    pub const DEFAULT_SESSION: &'static str = "main";
}

impl FromStr for SessionAddr {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let (provider, session) =
            text.split_once('/').ok_or_else(|| IdError::Address(text.into()))?;
        Ok(Self { provider: provider.parse()?, session: session.parse()? })
    }
}
impl TryFrom<String> for SessionAddr {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}
impl From<SessionAddr> for String {
    fn from(addr: SessionAddr) -> String {
        [addr.provider.as_str(), "/", addr.session.as_str()].concat()
    }
}
impl fmt::Display for SessionAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.provider.as_str())?;
        f.write_str("/")?;
        f.write_str(self.session.as_str())
    }
}

/// The number of one run of a session's process. The daemon counts them from 1; 0 stands for none.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Incarnation(pub u64);

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
