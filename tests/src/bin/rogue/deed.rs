//! The faults of one answer.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use nix::sys::signal::{Signal, raise};
use pipemux_proto::app::{
    Choice, Done, Invoke, Needs, Notify, OptionItem, Outcome, Question, QuestionKind,
};
use pipemux_proto::projection::Arg;
use pipemux_proto::value::Blob;
use pipemux_proto::{Envelope, Fault, Frame, Incarnation, Kind, Method};

use crate::mode::App;
use crate::wire::{Wire, block, complain, exit};

/// Carries out an action, or doesn't.
pub fn carry_out(
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
    if let Some(scene) = how.strip_prefix("show ") {
        app.scene = scene.into();
        return wire.reply(request, &done(app, scene));
    }
    if let Some(path) = how.strip_prefix("wait for ") {
        while !Path::new(path).exists() {
            thread::sleep(Duration::from_millis(5));
        }
        return wire.reply(request, &done(app, "waited"));
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
        "print" => {
            let line = [b"0123456789abcdef".repeat(64), b"\n".to_vec()].concat();
            let mut out = std::io::stdout().lock();
            (0..4096).try_for_each(|_| out.write_all(&line))?;
            wire.reply(request, &done(app, "printed 4 MB"))
        }
        "notify" => {
            let event = Envelope::event(Method::Notify, request.envelope.incarnation);
            for number in 0..5_000 {
                wire.send(&event, &Notify { text: format!("notice {number} [x](link:1)") })?;
            }
            wire.reply(request, &done(app, "told"))
        }
        "breed" => {
            let own = std::env::current_exe()?;
            Command::new(own)
                .arg("grandchild")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            wire.reply(request, &done(app, "bred"))
        }
        _ => wire.reply(request, &done(app, "behaved")),
    }
}

fn done(app: &mut App, brief: &str) -> Outcome {
    app.version += 1;
    Outcome::Done(Done { brief: brief.into(), version: app.version, ..Done::default() })
}

fn needs(text: &str, kind: QuestionKind, options: Vec<OptionItem>) -> Outcome {
    let question = Question { text: text.into(), kind, options, unlisted: 0 };
    Outcome::Needs(Needs { question, token: Blob(Bytes::from_static(&[0xc0])) })
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

/// A reply with a body that is no MessagePack.
fn framed(request: &Frame, body: &[u8]) -> Vec<u8> {
    Frame::forward(&request.envelope.answer(Kind::Reply), body)
        .map(|bytes| bytes.to_vec())
        .unwrap_or_default()
}
