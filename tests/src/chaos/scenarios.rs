//! The table of attacks.

use std::time::Duration;

use super::report::AnswerTally;
use super::{AttackContext, apps, clients};
use crate::TestEnv;

/// One attack.
#[derive(Debug)]
pub struct Scenario {
    /// The attacker and what it does, as the table prints it.
    pub name: &'static str,
    attack: Attack,
    /// The limits in its manifest.
    limits: &'static str,
}

#[derive(Debug)]
enum Attack {
    /// An app that is opened in this mode, commits these faults and is ended, again and again.
    App {
        mode: &'static str,
        faults: &'static [&'static str],
        /// How long each request to it may take, in milliseconds.
        timeout_ms: u64,
    },
    Client(fn(&AttackContext<'_>) -> AnswerTally),
}

impl Scenario {
    /// Returns the mode in which `rogue` starts.
    fn mode(&self) -> &'static str {
        match self.attack {
            Attack::App { mode, .. } => mode,
            Attack::Client(_) => "tame",
        }
    }

    /// Registers the app under this name.
    pub fn install(&self, env: &TestEnv, id: &str) {
        let (mode, limits) = (self.mode(), self.limits);
        let limits =
            if limits.is_empty() { "".into() } else { format!("limits = {{ {limits} }}\n") };
        env.install(id, "rogue", &format!("args = [{mode:?}]\ndescription = {mode:?}\n{limits}"));
    }

    /// Attacks until the time is over, and returns the answers that the attacker got.
    pub fn attack(&self, context: &AttackContext<'_>) -> AnswerTally {
        match self.attack {
            Attack::Client(attack) => attack(context),
            Attack::App { faults, timeout_ms, .. } => {
                apps::attack(context, faults, Duration::from_millis(timeout_ms))
            }
        }
    }
}

/// An app that misbehaves as soon as it starts.
const fn bad_at_start(name: &'static str, mode: &'static str, timeout_ms: u64) -> Scenario {
    Scenario { name, attack: Attack::App { mode, faults: &[], timeout_ms }, limits: "" }
}

/// An app that opens, and then misbehaves.
const fn misbehaves(
    name: &'static str,
    faults: &'static [&'static str],
    timeout_ms: u64,
) -> Scenario {
    misbehaves_limited("", name, faults, timeout_ms)
}

/// An app that misbehaves within the limits of its manifest.
const fn misbehaves_limited(
    limits: &'static str,
    name: &'static str,
    faults: &'static [&'static str],
    timeout_ms: u64,
) -> Scenario {
    Scenario { name, attack: Attack::App { mode: "tame", faults, timeout_ms }, limits }
}

const fn client_attack(
    name: &'static str,
    attack: fn(&AttackContext<'_>) -> AnswerTally,
) -> Scenario {
    Scenario { name, attack: Attack::Client(attack), limits: "" }
}

/// All attacks, those by apps first.
pub const SCENARIOS: &[Scenario] = &[
    bad_at_start("app: exits before its greeting", "exits", 2000),
    bad_at_start("app: another protocol version", "other-major", 2000),
    bad_at_start("app: silent from its start", "silent", 500),
    bad_at_start("app: half a greeting", "half-a-hello", 500),
    bad_at_start("app: garbage instead of a greeting", "garbage", 2000),
    bad_at_start("app: length of 4 GiB instead of a greeting", "four-gigabytes", 2000),
    bad_at_start("app: never shows a window", "no-window", 500),
    bad_at_start("app: an invalid window", "bad-window", 2000),
    misbehaves("app: half a frame", &["half a frame"], 500),
    misbehaves("app: length of 4 GiB", &["long length"], 2000),
    misbehaves("app: bytes that are no frame", &["random bytes", "random body"], 2000),
    misbehaves("app: valid frames with random content", &["garble 5000"], 2000),
    misbehaves("app: answers to no request", &["reply 20000", "stranger\\'s reply"], 5000),
    misbehaves("app: answers twice, and for another incarnation", &["twice", "other life"], 2000),
    misbehaves("app: a megabyte of brackets", &["show brackets", "brackets 900000"], 5000),
    misbehaves("app: a title of 400,000 control characters", &["show long title"], 5000),
    misbehaves("app: flood of Notify", &["notify 20000"], 5000),
    misbehaves("app: flood of Changed", &["change 50000"], 5000),
    misbehaves("app: 100 MB of stdout", &["print 100"], 10_000),
    misbehaves("app: fork bomb", &["fork 100"], 2000),
    misbehaves("app: grandchildren ignoring SIGTERM", &["breed", "breed", "breed"], 2000),
    misbehaves("app: grandchildren that setsid away", &["escape", "escape", "escape"], 2000),
    misbehaves("app: crashes while its grandchildren run", &["breed", "escape", "kill"], 2000),
    misbehaves("app: stops itself with SIGSTOP", &["stop"], 500),
    misbehaves("app: opens descriptors", &["hoard", "nothing"], 3000),
    misbehaves("app: fills its state directory", &["fill 64"], 5000),
    misbehaves("app: allocates memory", &["eat 200"], 5000),
    misbehaves("app: busy loop", &["spin"], 500),
    misbehaves_limited(
        "log = \"256K\"",
        "app: 100 MB of stdout, its log 256 KiB",
        &["print 100"],
        10_000,
    ),
    misbehaves_limited("processes = 24", "app: fork bomb, limited to 24", &["fork 100"], 2000),
    misbehaves_limited(
        "files = 64",
        "app: opens descriptors, limited to 64",
        &["hoard", "nothing"],
        3000,
    ),
    misbehaves_limited(
        "memory = \"64M\"",
        "app: allocates memory, limited to 64 MiB",
        &["eat 200"],
        5000,
    ),
    misbehaves_limited("cpu = 1", "app: busy loop, limited to 1 s", &["spin"], 5000),
    misbehaves("app: closes its connection and keeps running", &["hang up"], 2000),
    misbehaves("app: one byte at a time, then nothing", &["drip"], 500),
    misbehaves("app: never answers", &["hang"], 500),
    misbehaves("app: crashes in every answer", &["exit", "kill"], 2000),
    bad_at_start("app: ignores Close and SIGTERM", "stubborn", 2000),
    client_attack("app: reads none of many requests", apps::unread_requests),
    client_attack("client: never reads its answers", clients::unread_answers),
    client_attack("client: half a frame", clients::half_a_frame),
    client_attack("client: garbage", clients::garbage),
    client_attack("client: length of 4 GiB", clients::oversized_length),
    client_attack("client: never sends a greeting", clients::silent_connections),
    client_attack("client: older and newer protocol version", clients::other_versions),
    client_attack("client: thousands of connections", clients::many_connections),
    client_attack("client: disconnects with requests open", clients::killed_mid_request),
    client_attack("client: flood of requests", clients::request_flood),
];
