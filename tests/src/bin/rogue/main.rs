//! An app that misbehaves as it is told, written on the wire itself.
//!
//! Its first argument is a mode, what it does from its start: see [`mode`]. In most modes it is then a
//! tame app with the action `misbehave(how)`: the faults of one answer are in [`deed`], floods of frames in
//! [`flood`], harm to the machine in [`harm`].

mod deed;
mod exchange;
mod flood;
mod harm;
mod mode;
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
        // These are descendants of an app, and hold the connection that they inherited.
        "grandchild" => {
            mode::ignore_sigterm()?;
            wire::block();
        }
        "bomb" => harm::split(more.parse().unwrap_or(1)),
        "midwife" => return harm::start("escapee", "").map(drop),
        "escapee" => harm::escape(),
        _ => {}
    }
    let mut wire = Wire::inherited();
    mode::begin(mode, &mut wire)?;
    let mut app = mode::App::new(mode);
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
