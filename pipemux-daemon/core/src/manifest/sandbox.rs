//! The sandbox settings of a manifest.

use serde::Deserialize;

/// The level of an app's confinement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxLevel {
    /// The default for apps: access to its own state, its program, the system's libraries and
    /// common configuration, and the folder that its session was opened for.
    #[default]
    Standard,
    /// As standard, but without the system's configuration, without the folder unless `folder`
    /// grants it, without capabilities and without System V inter-process communication.
    Strict,
    /// The app may do what its user may do.
    Off,
}

impl SandboxLevel {
    /// The level as written in a manifest.
    pub fn word(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Strict => "strict",
            Self::Off => "off",
        }
    }
}

/// An app's access to the folder that its session was opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FolderAccess {
    /// The app has no access to the folder.
    None,
    /// Read and write access only to the paths that an `open` names, each with its directory.
    Named,
    /// Read it.
    Read,
    /// Read and change it.
    Write,
}

impl FolderAccess {
    /// The access as written in a manifest.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Named => "named",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}
