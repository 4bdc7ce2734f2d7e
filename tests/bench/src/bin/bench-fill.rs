//! `bench-fill SESSIONS WORKSPACES CONNECTIONS` opens that many sessions of `echo`, spread over
//! that many workspaces, and that many silent connections. Then it prints `ready` and keeps them
//! until standard input ends.

use std::io::{Read, Write};

use pipemux_client::proto::client::{OpenArgs, Verb, Workspace};
use pipemux_client::{Client, ClientError, Options};

fn main() -> Result<(), String> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let [sessions, workspaces, connections] = numbers[..] else {
        return Err("usage: bench-fill SESSIONS WORKSPACES CONNECTIONS".into());
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let held = runtime
        .block_on(fill(sessions, workspaces.max(1), connections))
        .map_err(|error| format!("{error} {:?}", error.fault().hints))?;
    writeln!(std::io::stdout(), "ready").map_err(|error| error.to_string())?;
    // The benchmark closes standard input when it has measured.
    let ended = std::io::stdin().read_to_end(&mut Vec::new());
    drop(held);
    ended.map(drop).map_err(|error| error.to_string())
}

async fn fill(
    sessions: usize,
    workspaces: usize,
    connections: usize,
) -> Result<Vec<Client>, ClientError> {
    let options = Options::from_env()?;
    let client = Client::connect(&options).await?;
    let invalid = |error: &dyn std::fmt::Display| ClientError::invalid(error.to_string());
    for number in 0..sessions {
        let session = format!("f{number}").parse().map_err(|error| invalid(&error))?;
        let open = OpenArgs {
            provider: "echo".parse().map_err(|error| invalid(&error))?,
            session: Some(session),
            args: Vec::new(),
            cwd: "/".into(),
            env: std::env::vars().collect(),
            pin: None,
            priority: None,
            weight: None,
        };
        let mut call = options.call(Verb::Open(open));
        let name = format!("w{}", number % workspaces);
        call.workspace = Workspace { key: name.clone(), name };
        client.send(&call, options.timeout).await?;
    }
    let mut held = vec![client];
    for _ in 0..connections {
        held.push(Client::connect(&options).await?);
    }
    Ok(held)
}
