//! Attacks by an app.

use std::thread;
use std::time::Duration;

use super::Scene;
use super::finding::Told;

/// How long an attacker may take to be ended.
const END: Duration = Duration::from_secs(12);

/// Opens the rogue, has it misbehave, ends it; again and again. Each time another session, so that none
/// is refused for having crashed before.
pub fn attack(scene: &Scene<'_>, ways: &[&str], patience: Duration) -> Told {
    let mut told = Told::default();
    let mut desk = scene.desk();
    for number in 0.. {
        let session = format!("{}/s{number}", scene.provider);
        let opened = desk.open(&session, &[], patience);
        if opened.exit != 0 {
            told.note(&opened);
        } else {
            for way in ways {
                let said = desk.run(&format!("{session}.misbehave('{way}')"), patience);
                told.note(&said);
            }
        }
        let ended = desk.end(&session, END);
        // One that never came to be is none to end.
        if !matches!(ended.exit, 0 | 3) || ways.is_empty() && opened.exit == 0 {
            told.note(&ended);
        }
        if !scene.goes_on() {
            break;
        }
    }
    told
}

/// Has an app hang and sends it more than it will ever read.
pub fn overfill(scene: &Scene<'_>) -> Told {
    let mut told = Told::default();
    let mut desk = scene.desk();
    let long = "x".repeat(200_000);
    for number in 0.. {
        let session = format!("{}/s{number}", scene.provider);
        desk.open(&session, &[], Duration::from_secs(5));
        let hang = format!("{session}.misbehave('hang')");
        desk.run(&hang, Duration::from_millis(200));
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    let mut desk = scene.desk();
                    let call = format!("{session}.misbehave('{long}')");
                    for _ in 0..25 {
                        desk.run(&call, Duration::from_millis(20));
                    }
                });
            }
        });
        told.note(&desk.run(&format!("{session}.misbehave('x')"), Duration::from_millis(200)));
        told.note(&desk.end(&session, END));
        if !scene.goes_on() {
            break;
        }
    }
    told
}
