//! The rows.

use std::time::Duration;

use super::finding::Told;
use super::{Scene, apps, clients};
use crate::World;

/// One attack.
#[derive(Debug)]
pub struct Row {
    /// What it does, as the table names it.
    pub name: &'static str,
    attack: Attack,
    /// What its manifest says about limits.
    limits: &'static str,
}

#[derive(Debug)]
enum Attack {
    /// An app in that mode, which is opened, told to misbehave in these ways, and ended; over and over.
    App {
        mode: &'static str,
        ways: &'static [&'static str],
        /// Milliseconds that each request to it may take.
        patience_ms: u64,
    },
    Client(fn(&Scene<'_>) -> Told),
}

impl Row {
    /// What `rogue` is from its start.
    fn mode(&self) -> &'static str {
        match self.attack {
            Attack::App { mode, .. } => mode,
            Attack::Client(_) => "tame",
        }
    }

    /// Registers its app under that name.
    pub fn install(&self, world: &World, id: &str) {
        let (mode, limits) = (self.mode(), self.limits);
        let limits =
            if limits.is_empty() { "".into() } else { format!("limits = {{ {limits} }}\n") };
        world.install(id, "rogue", &format!("args = [{mode:?}]\ndescription = {mode:?}\n{limits}"));
    }

    /// Attacks until the scene is over; what is left of it then is none of its doing.
    pub fn attack(&self, scene: &Scene<'_>) -> Told {
        match self.attack {
            Attack::Client(attack) => attack(scene),
            Attack::App { ways, patience_ms, .. } => {
                apps::attack(scene, ways, Duration::from_millis(patience_ms))
            }
        }
    }
}

/// An app that is bad from its start.
const fn starts(name: &'static str, mode: &'static str, patience_ms: u64) -> Row {
    Row { name, attack: Attack::App { mode, ways: &[], patience_ms }, limits: "" }
}

/// An app that opens and then misbehaves.
const fn acts(name: &'static str, ways: &'static [&'static str], patience_ms: u64) -> Row {
    within("", name, ways, patience_ms)
}

/// An app that misbehaves within the limits of its manifest.
const fn within(
    limits: &'static str,
    name: &'static str,
    ways: &'static [&'static str],
    patience_ms: u64,
) -> Row {
    Row { name, attack: Attack::App { mode: "tame", ways, patience_ms }, limits }
}

const fn client(name: &'static str, attack: fn(&Scene<'_>) -> Told) -> Row {
    Row { name, attack: Attack::Client(attack), limits: "" }
}

/// All of them, apps first.
pub const ROWS: &[Row] = &[
    starts("app: exits before Hello", "exits", 2000),
    starts("app: another protocol version", "other-major", 2000),
    starts("app: silent from its start", "silent", 500),
    starts("app: half a Hello", "half-a-hello", 500),
    starts("app: garbage for a Hello", "garbage", 2000),
    starts("app: length of 4 GiB for a Hello", "four-gigabytes", 2000),
    starts("app: never shows a window", "no-window", 500),
    starts("app: a window that is none", "bad-window", 2000),
    acts("app: half a frame", &["half a frame"], 500),
    acts("app: length of 4 GiB", &["long length"], 2000),
    acts("app: bytes that are no frame", &["random bytes", "random body"], 2000),
    acts("app: valid frames of random content", &["garble 5000"], 2000),
    acts("app: answers never asked for", &["reply 20000", "stranger\\'s reply"], 5000),
    acts("app: answers twice, and for another life", &["twice", "other life"], 2000),
    acts("app: flood of Notify", &["notify 20000"], 5000),
    acts("app: flood of Changed", &["change 50000"], 5000),
    acts("app: 100 MB of stdout", &["print 100"], 10_000),
    acts("app: fork bomb", &["fork 100"], 2000),
    acts("app: grandchildren ignoring SIGTERM", &["breed", "breed", "breed"], 2000),
    acts("app: grandchildren that setsid away", &["escape", "escape", "escape"], 2000),
    acts("app: dies with grandchildren alive", &["breed", "escape", "kill"], 2000),
    acts("app: stops itself", &["stop"], 500),
    acts("app: hoards descriptors", &["hoard", "nothing"], 3000),
    acts("app: fills its state directory", &["fill 64"], 5000),
    acts("app: eats memory", &["eat 200"], 5000),
    acts("app: burns processor", &["spin"], 500),
    within("log = \"256K\"", "app: 100 MB of stdout, its log 256 KiB", &["print 100"], 10_000),
    within("processes = 24", "app: fork bomb, limited to 24", &["fork 100"], 2000),
    within("files = 64", "app: hoards descriptors, limited to 64", &["hoard", "nothing"], 3000),
    within("memory = \"64M\"", "app: eats memory, limited to 64 MiB", &["eat 200"], 5000),
    within("cpu = 1", "app: burns processor, limited to 1 s", &["spin"], 5000),
    acts("app: closes its connection, lives on", &["hang up"], 2000),
    acts("app: one byte at a time, then nothing", &["drip"], 500),
    acts("app: never answers", &["hang"], 500),
    acts("app: dies in every answer", &["exit", "kill"], 2000),
    starts("app: ignores Close and SIGTERM", "stubborn", 2000),
    client("app: reads nothing while it is sent much", apps::overfill),
    client("client: never reads its answers", clients::deaf),
    client("client: half a frame", clients::half_a_frame),
    client("client: garbage", clients::garbage),
    client("client: length of 4 GiB", clients::long_length),
    client("client: never says Hello", clients::mute),
    client("client: older and newer protocol", clients::other_versions),
    client("client: thousands of connections", clients::crowd),
    client("client: dies with requests open", clients::sudden_death),
    client("client: flood of requests", clients::flood),
];
