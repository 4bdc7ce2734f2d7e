//! The resources that the monitor shows.

use docui::Fault;

/// A resource of the machine. The variants are in display order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// CPU time.
    Cpu,
    /// Memory that is in use, in bytes.
    Memory,
    /// Swap space that is in use, in bytes.
    Swap,
    /// Space on the mounted disks, in bytes.
    Disks,
    /// Load averages.
    Load,
    /// The processes that use the most.
    Processes,
}

impl Resource {
    pub const ALL: [Self; 6] =
        [Self::Cpu, Self::Memory, Self::Swap, Self::Disks, Self::Load, Self::Processes];

    /// Returns the key, which readers see in refs, and which is also its name in the settings file.
    pub fn key(self) -> &'static str {
        match self {
            Self::Cpu => "cpu_load",
            Self::Memory => "memory",
            Self::Swap => "swap",
            Self::Disks => "disks",
            Self::Load => "load",
            Self::Processes => "processes",
        }
    }

    /// Returns the resource with this key.
    pub fn from_key(key: &str) -> Option<Self> {
        // Settings of earlier releases say `cpu`.
        let key = if key == "cpu" { "cpu_load" } else { key };
        Self::ALL.into_iter().find(|resource| resource.key() == key)
    }

    /// Returns the name that readers see.
    pub fn label(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            other => other.key(),
        }
    }
}

/// Makes an error that names the resources.
pub fn unknown_resource(message: &str) -> Fault {
    let keys = Resource::ALL.map(Resource::key).join(", ");
    Fault::usage(message).hint(format!("the resources are {keys}"))
}
