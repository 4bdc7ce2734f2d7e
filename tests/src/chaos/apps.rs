//! Attacks by an app.

use std::thread;
use std::time::Duration;

use super::AttackContext;
use super::report::AnswerTally;

/// How long the daemon may take to end an attacker.
const END_TIMEOUT: Duration = Duration::from_secs(12);

/// Opens `rogue`, has it misbehave and ends it, until the attack is over. Each round uses another
/// session, because a session that crashed before may be refused.
pub fn attack(context: &AttackContext<'_>, faults: &[&str], timeout: Duration) -> AnswerTally {
    let mut tally = AnswerTally::default();
    let mut client = context.client();
    for number in 0.. {
        let session = format!("{}/s{number}", context.provider);
        let opened = client.open(&session, &[], timeout);
        if opened.exit != 0 {
            tally.count_reply(&opened);
        } else {
            for fault in faults {
                let reply = client.run(&format!("{session}.misbehave('{fault}')"), timeout);
                tally.count_reply(&reply);
            }
        }
        let ended = client.end(&session, END_TIMEOUT);
        // Exit 3: a session that could not be opened does not exist.
        if !matches!(ended.exit, 0 | 3) || faults.is_empty() && opened.exit == 0 {
            tally.count_reply(&ended);
        }
        if !context.is_running() {
            break;
        }
    }
    tally
}

/// Lets an app hang and sends it more than it will ever read.
pub fn unread_requests(context: &AttackContext<'_>) -> AnswerTally {
    let mut tally = AnswerTally::default();
    let mut client = context.client();
    let long = "x".repeat(200_000);
    for number in 0.. {
        let session = format!("{}/s{number}", context.provider);
        client.open(&session, &[], Duration::from_secs(5));
        let hang = format!("{session}.misbehave('hang')");
        client.run(&hang, Duration::from_millis(200));
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    let mut client = context.client();
                    let call = format!("{session}.misbehave('{long}')");
                    for _ in 0..25 {
                        client.run(&call, Duration::from_millis(20));
                    }
                });
            }
        });
        let call = format!("{session}.misbehave('x')");
        tally.count_reply(&client.run(&call, Duration::from_millis(200)));
        tally.count_reply(&client.end(&session, END_TIMEOUT));
        if !context.is_running() {
            break;
        }
    }
    tally
}
