//! The actions of the app, and the faults of one answer.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use nix::sys::signal::{Signal, raise};
use pipemux_proto::app::{
    Choice, Done, Invoke, Needs, OptionItem, Outcome, Progress, Question, QuestionKind,
};
use pipemux_proto::projection::Arg;
use pipemux_proto::value::Blob;
use pipemux_proto::{Envelope, Fault, Frame, Incarnation, Kind, Method};

use crate::app::App;
use crate::wire::{Wire, block, complain, exit};
use crate::{flood, resources};

/// Answers a request to run an action, or commits the fault that it asks for.
pub fn handle(
    app: &mut App,
    wire: &mut Wire,
    request: &Frame,
    invoke: &Invoke,
) -> std::io::Result<()> {
    match invoke.action.as_str() {
        "misbehave" => misbehave(app, wire, request, &text(invoke, "how")),
        "wipe" if !invoke.confirmed => {
            let options = vec![OptionItem { label: "everything".into(), text: String::new() }];
            wire.reply(request, &needs("all of it", QuestionKind::Confirm, options))
        }
        "wipe" => {
            app.wiped += 1;
            wire.reply(request, &done(app, "wiped"))
        }
        "ask" => match &invoke.resume {
            None => {
                let options = ["red", "green"]
                    .map(|label| OptionItem { label: label.into(), text: String::new() });
                wire.reply(request, &needs("which colour", QuestionKind::PickOne, options.into()))
            }
            Some(resume) => {
                let Choice::Picked(picked) = &resume.choice else {
                    return wire.reply(request, &Outcome::Failed(Fault::usage("pick one")));
                };
                let brief = format!("picked {picked:?}");
                wire.reply(request, &done(app, &brief))
            }
        },
        "tune" => {
            let brief = format!("{} arguments", invoke.args.len());
            wire.reply(request, &done(app, &brief))
        }
        "look" => match invoke.args.get("thing") {
            Some(Arg::Ref(thing)) if thing.rev == app.rev => {
                wire.reply(request, &done(app, "looked"))
            }
            _ => {
                let fault = Fault::stale("it changed").about("thing");
                wire.reply(request, &Outcome::Failed(fault))
            }
        },
        _ => {
            app.rev += 1;
            wire.reply(request, &done(app, "set"))
        }
    }
}

fn misbehave(app: &mut App, wire: &mut Wire, request: &Frame, how: &str) -> std::io::Result<()> {
    if let Some(content) = how.strip_prefix("show ") {
        app.content = content.into();
        return wire.reply(request, &done(app, content));
    }
    if let Some(path) = how.strip_prefix("report and wait for ") {
        let envelope = Envelope { kind: Kind::Event, method: Method::Progress, ..request.envelope };
        wire.send(&envelope, &Progress { done: 1, total: 3, text: "reading".into() })?;
        return misbehave(app, wire, request, &format!("wait for {path}"));
    }
    if let Some(path) = how.strip_prefix("wait for ") {
        while !Path::new(path).exists() {
            thread::sleep(Duration::from_millis(5));
        }
        return wire.reply(request, &done(app, "waited"));
    }
    #[cfg(target_os = "linux")]
    if how == "try every call" {
        let found = crate::every_call::all();
        std::fs::write(Path::new(&app.state_dir).join("calls"), found)?;
        return wire.reply(request, &done(app, "tried"));
    }
    #[cfg(target_os = "linux")]
    if how == "break out" {
        let found = crate::attempts::all(Path::new(&app.state_dir));
        let file = Path::new(&app.state_dir).join("attempts");
        std::fs::write(&file, found)?;
        return wire.reply(request, &done(app, "tried"));
    }
    if let Some(path) = how.strip_prefix("read ") {
        let outcome = match std::fs::read(path) {
            Ok(bytes) => {
                Outcome::Done(Done { brief: format!("{} bytes", bytes.len()), ..Done::default() })
            }
            Err(error) => Outcome::Failed(Fault::failed(format!("{path}: {error}"))),
        };
        return wire.reply(request, &outcome);
    }
    if let Some(name) = how.strip_prefix("env ") {
        let value = std::env::var(name).unwrap_or_else(|_| "nothing".to_owned());
        return wire.reply(request, &done(app, &format!("{name} is {value}")));
    }
    if let Some(script) = how.strip_prefix("shell ") {
        let output = Command::new("/bin/sh").args(["-c", script]).stdin(Stdio::null()).output()?;
        let said = [output.stdout, output.stderr].concat();
        app.content = String::from_utf8_lossy(&said).into_owned();
        return wire.reply(request, &done(app, &format!("exit {:?}", output.status.code())));
    }
    if let Some(path) = how.strip_prefix("sign and exit ") {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(b"signed\n")?;
        exit(7)
    }
    if let Some(brief) = numbered(app, wire, request, how)? {
        return wire.reply(request, &done(app, &brief));
    }
    match how {
        "exit" => {
            complain("about to fall");
            complain("fell");
            exit(7)
        }
        "kill" => Ok(raise(Signal::SIGKILL)?),
        "hang" => block(),
        "hang up" => {
            wire.close();
            block()
        }
        "random body" => wire.raw(&framed(request, &[0xc1, 0x9f, 0x00, 0xff, 0x93])),
        "random bytes" => wire.raw(&[0xa5; 300]),
        "long length" => wire.raw(&[0xff, 0xff, 0xff, 0xff, 0x95]),
        "half a frame" => {
            let bytes = framed(request, &[0x80; 64]);
            wire.raw(&bytes[..bytes.len() / 2])?;
            block()
        }
        "stranger's reply" => {
            let never = Envelope { id: u64::MAX, ..request.envelope.answer(Kind::Reply) };
            wire.send(&never, &done(app, "never asked"))?;
            wire.reply(request, &done(app, "asked"))
        }
        "other life" => {
            let incarnation = Incarnation(request.envelope.incarnation.0 + 1);
            let other = Envelope { incarnation, ..request.envelope.answer(Kind::Reply) };
            wire.send(&other, &done(app, "of another life"))?;
            wire.reply(request, &done(app, "of this life"))
        }
        "twice" => {
            wire.reply(request, &done(app, "once"))?;
            wire.reply(request, &done(app, "twice"))
        }
        "breed" => {
            resources::start("grandchild", "")?;
            wire.reply(request, &done(app, "bred"))
        }
        "escape" => {
            // The intermediate process ends, so the new one is adopted like an orphan.
            resources::start("intermediate", "")?.wait()?;
            wire.reply(request, &done(app, "escaped"))
        }
        "stop" => {
            raise(Signal::SIGSTOP)?;
            wire.reply(request, &done(app, "went on"))
        }
        "spin" => resources::spin(),
        "drip" => {
            for byte in framed(request, &[0x80]) {
                wire.raw(&[byte])?;
                thread::sleep(Duration::from_millis(5));
            }
            block()
        }
        "hoard" => {
            let brief = resources::hoard(&mut app.hoarded);
            wire.reply(request, &done(app, &brief))
        }
        _ => wire.reply(request, &done(app, "behaved")),
    }
}

/// Commits a fault that takes a number; returns what it did, or `None` when `how` names no such
/// fault.
fn numbered(
    app: &mut App,
    wire: &mut Wire,
    request: &Frame,
    how: &str,
) -> std::io::Result<Option<String>> {
    let Some((what, number)) = how.rsplit_once(' ') else { return Ok(None) };
    let Ok(number) = number.parse() else { return Ok(None) };
    Ok(Some(match what {
        "print" => resources::print(number)?,
        "go back to" => {
            // One less, since the answer counts one.
            app.version = (number as u64).saturating_sub(1);
            "went back".to_owned()
        }
        "eat" => resources::eat(&mut app.eaten, number),
        "fill" => resources::fill(&app.state_dir, number),
        "fork" => {
            resources::start("fork-bomb", &number.to_string())?;
            format!("became {number} more")
        }
        "brackets" => "[".repeat(number),
        "notify" => flood::notify(wire, request, number)?,
        "change" => flood::change(wire, request, number)?,
        "reply" => flood::reply(wire, request, number)?,
        "garble" => flood::garble(wire, request, number)?,
        "exit" => exit(7),
        _ => return Ok(None),
    }))
}

fn done(app: &mut App, brief: &str) -> Outcome {
    app.version += 1;
    Outcome::Done(Done { brief: brief.into(), version: app.version, ..Done::default() })
}

fn needs(text: &str, kind: QuestionKind, options: Vec<OptionItem>) -> Outcome {
    let question =
        Question { text: text.into(), kind, options, unlisted: 0, ..Question::default() };
    Outcome::Needs(Needs {
        question,
        token: Blob(Bytes::from_static(&[0xc0])),
        numbers: Vec::new(),
    })
}

fn text(invoke: &Invoke, name: &str) -> String {
    match invoke.args.get(name) {
        Some(Arg::Value(blob)) => {
            blob.to_value().ok().and_then(|value| value.as_str().map(str::to_owned))
        }
        _ => None,
    }
    .unwrap_or_default()
}

/// Returns a reply whose body need not be MessagePack.
fn framed(request: &Frame, body: &[u8]) -> Vec<u8> {
    Frame::forward(&request.envelope.answer(Kind::Reply), body)
        .map(|bytes| bytes.to_vec())
        .unwrap_or_default()
}
