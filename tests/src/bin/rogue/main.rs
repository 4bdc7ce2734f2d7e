//! An app that misbehaves as it is told. It encodes its frames itself, so that it can send invalid
//! ones.
//!
//! The first argument is the mode, which says how it starts: see [`app`]. In most modes it then
//! behaves, and has an action `misbehave(how)`: faults of one answer are in [`actions`], floods of
//! frames in [`flood`], and exhaustion of resources in [`resources`].

mod actions;
mod app;
#[cfg(target_os = "linux")]
mod attempts;
#[cfg(target_os = "linux")]
mod every_call;
mod exchange;
mod flood;
mod resources;
mod wire;

use std::process::ExitCode;

use pipemux_proto::Method;

use wire::Wire;

fn main() -> ExitCode {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let more = std::env::args().nth(2).unwrap_or_default();
    match serve(&mode, &more) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            wire::complain(&why.to_string());
            ExitCode::FAILURE
        }
    }
}

fn serve(mode: &str, more: &str) -> std::io::Result<()> {
    match mode {
        // These modes are for descendants of an app, which hold the connection that they inherited.
        "grandchild" => {
            app::ignore_sigterm()?;
            wire::block();
        }
        "fork-bomb" => resources::split(more.parse().unwrap_or(1)),
        "intermediate" => return resources::start("daemonized", "").map(drop),
        "daemonized" => resources::escape(),
        _ => {}
    }
    let mut wire = Wire::inherited();
    app::begin(mode, &mut wire)?;
    let mut app = app::App::new(mode);
    while let Some(request) = wire.next_request()? {
        if request.envelope.method == Method::AppClose && mode == "stubborn" {
            continue;
        }
        if request.envelope.method == Method::AppClose {
            return wire.reply(&request, &pipemux_proto::app::Empty {});
        }
        app.answer(&mut wire, &request)?;
    }
    if mode == "stubborn" {
        wire::block();
    }
    Ok(())
}
