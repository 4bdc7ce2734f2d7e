//! Drives exchanges with `echo/s0` … `echo/s7` over the async client library, as it is told on standard
//! input; each line is answered with one line.
//!
//! | line | does | answers |
//! |---|---|---|
//! | `lat SIZE N` | N exchanges, one after the other | median, 99th percentile, least, in nanoseconds |
//! | `thr SIZE INFLIGHT MS` | so many at once on one connection to one app | exchanges a second |
//! | `multi SIZE CONNS INFLIGHT APPS MS` | so many at once on each connection, over all apps in turn | the same |
//! | `mix SIZE BACKGROUND MS` | `lat` beside another connection's stream of large ones to another app | as `lat`, and the stream's exchanges a second |
//!
//! Sizes above one exchange's bound are cut to it. The desk and the daemon come from the environment, as
//! for every command; sessions that aren't there are opened.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use bytes::Bytes;
use pipemux_client::proto::client::{Open, Verb};
use pipemux_client::proto::limits::EXCHANGE_MAX;
use pipemux_client::proto::{Code, SessionAddr};
use pipemux_client::{Attached, Client, ClientError, Options};

const CONNECTIONS: usize = 8;
const APPS: usize = 8;
/// Exchanges of a stream that are under way at once.
const STREAM: usize = 4;

/// A connection, attached to every app.
type Desk = Vec<Attached>;

fn main() -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let desks = runtime.block_on(connect()).map_err(|error| error.to_string())?;
    say("ready")?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, numbers) = words.split_first().ok_or("an empty line")?;
        let numbers: Vec<usize> = numbers.iter().filter_map(|word| word.parse().ok()).collect();
        let answer = runtime.block_on(carry_out(&desks, name, &numbers));
        say(&answer.map_err(|error| error.to_string())?)?;
    }
    Ok(())
}

fn say(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| error.to_string())
}

async fn connect() -> Result<Vec<Desk>, ClientError> {
    let options = Options::from_env()?;
    let mut desks = Vec::new();
    for _ in 0..CONNECTIONS {
        desks.push(attach_all(&options).await?);
    }
    Ok(desks)
}

async fn attach_all(options: &Options) -> Result<Desk, ClientError> {
    let client = Client::connect(options).await?;
    let mut desk = Vec::new();
    for app in 0..APPS {
        let session = format!("echo/s{app}");
        let session = session.parse().map_err(|error| ClientError::invalid(format!("{error}")))?;
        desk.push(attach(&client, session).await?);
    }
    Ok(desk)
}

async fn attach(client: &Client, session: SessionAddr) -> Result<Attached, ClientError> {
    match client.attach(&session).await {
        Err(ClientError::Refused(fault)) if fault.code == Code::NotFound => {}
        attached => return attached,
    }
    let open = Open {
        provider: session.provider.clone(),
        session: Some(session.session.clone()),
        args: Vec::new(),
        cwd: "/".into(),
        env: std::env::vars().collect(),
        pin: None,
    };
    client.call(Verb::Open(open)).await?;
    client.attach(&session).await
}

async fn carry_out(desks: &[Desk], name: &str, numbers: &[usize]) -> Result<String, ClientError> {
    match (name, numbers) {
        ("lat", [size, count]) => {
            let mut times = Vec::with_capacity(*count);
            lat(&desks[0][0], *size, *count, &mut times).await?;
            Ok(summary(times))
        }
        ("thr", [size, in_flight, ms]) => {
            let rate = stream(&desks[..1], *size, *in_flight, 0..1, *ms).await?;
            Ok(format!("{rate:.1}"))
        }
        ("multi", [size, connections, in_flight, apps, ms]) => {
            let desks = &desks[..*connections.min(&CONNECTIONS)];
            let rate = stream(desks, *size, *in_flight, 0..*apps.min(&APPS), *ms).await?;
            Ok(format!("{rate:.1}"))
        }
        ("mix", [size, background, ms]) => {
            let (large, ms) = (*background, *ms);
            let beside = std::thread::spawn(move || in_thread(large, ms));
            tokio::time::sleep(Duration::from_millis(30)).await;
            let end = Instant::now() + Duration::from_millis(ms as u64);
            let mut times = Vec::new();
            while Instant::now() < end {
                lat(&desks[0][0], *size, 20, &mut times).await?;
            }
            let rate = beside.join().map_err(|_| ClientError::invalid("the stream panicked"))??;
            Ok(format!("{} {rate:.1}", summary(times)))
        }
        _ => Err(ClientError::invalid(format!("`{name}` with {} numbers", numbers.len()))),
    }
}

/// A stream over a connection of its own.
fn in_thread(size: usize, ms: usize) -> Result<f64, ClientError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| ClientError::invalid(error.to_string()))?;
    runtime.block_on(async {
        let desk = [attach_all(&Options::from_env()?).await?];
        stream(&desk, size, STREAM, 1..2, ms).await
    })
}

async fn lat(
    to: &Attached,
    size: usize,
    count: usize,
    times: &mut Vec<u64>,
) -> Result<(), ClientError> {
    let body = body(size);
    for _ in 0..count {
        let began = Instant::now();
        let answer = to.exchange(body.clone()).await?;
        times.push(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
        check(&answer, &body)?;
    }
    Ok(())
}

/// Exchanges a second, over all connections together.
async fn stream(
    desks: &[Desk],
    size: usize,
    in_flight: usize,
    apps: std::ops::Range<usize>,
    ms: usize,
) -> Result<f64, ClientError> {
    let body = body(size);
    let began = Instant::now();
    let end = began + Duration::from_millis(ms as u64);
    let mut tasks = Vec::new();
    for (at, desk) in desks.iter().enumerate() {
        for worker in 0..in_flight {
            let (desk, body, apps) = (desk[apps.clone()].to_vec(), body.clone(), apps.len());
            tasks.push(tokio::spawn(async move {
                let mut done = 0;
                while Instant::now() < end {
                    let to = &desk[(at + worker + done) % apps];
                    check(&to.exchange(body.clone()).await?, &body)?;
                    done += 1;
                }
                Ok::<usize, ClientError>(done)
            }));
        }
    }
    let mut done = 0;
    for task in tasks {
        done += task.await.map_err(|error| ClientError::invalid(error.to_string()))??;
    }
    Ok(done as f64 / began.elapsed().as_secs_f64())
}

fn body(size: usize) -> Bytes {
    Bytes::from(vec![7; size.min(EXCHANGE_MAX)])
}

fn check(answer: &Bytes, body: &Bytes) -> Result<(), ClientError> {
    if answer.len() == body.len() {
        return Ok(());
    }
    let (came, went) = (answer.len(), body.len());
    Err(ClientError::invalid(format!("{came} bytes came back for {went}")))
}

fn summary(mut times: Vec<u64>) -> String {
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    format!("{} {} {}", at(50), at(99), times.first().copied().unwrap_or_default())
}
