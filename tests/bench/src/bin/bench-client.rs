//! Makes exchanges with `echo/s0` … `echo/s7` over the async client library. It is controlled by
//! lines on standard input, and answers each with one line.
//!
//! | line | does | answer |
//! |---|---|---|
//! | `lat SIZE N` | N exchanges, one after the other | median, 99th percentile and minimum, in nanoseconds |
//! | `thr SIZE INFLIGHT MS` | INFLIGHT exchanges at once on one connection to one app | exchanges per second |
//! | `multi SIZE CONNS INFLIGHT APPS MS` | INFLIGHT exchanges at once on each connection, with all apps in turn | exchanges per second |
//! | `mix SIZE BACKGROUND MS` | `lat` beside a stream of large exchanges on another connection to another app | as `lat`, and the exchanges per second of the stream |
//!
//! Sizes are cut to the limit of one exchange. The workspace and the daemon come from the
//! environment variables, as for every command. Sessions that don't exist are opened.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use bytes::Bytes;
use pipemux_client::proto::client::{OpenArgs, Verb};
use pipemux_client::proto::limits::EXCHANGE_MAX;
use pipemux_client::proto::{Code, SessionAddr};
use pipemux_client::{Attached, Client, ClientError, Options};

const CONNECTIONS: usize = 8;
const APPS: usize = 8;
/// Exchanges of a stream that are in flight at once.
const STREAM: usize = 4;

/// One connection, attached to every app.
type AttachedConnection = Vec<Attached>;

fn main() -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let attached = runtime.block_on(connect()).map_err(|error| error.to_string())?;
    print_line("ready")?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, numbers) = words.split_first().ok_or("an empty line")?;
        let numbers: Vec<usize> = numbers.iter().filter_map(|word| word.parse().ok()).collect();
        let answer = runtime.block_on(carry_out(&attached, name, &numbers));
        print_line(&answer.map_err(|error| error.to_string())?)?;
    }
    Ok(())
}

fn print_line(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| error.to_string())
}

async fn connect() -> Result<Vec<AttachedConnection>, ClientError> {
    let options = Options::from_env()?;
    let mut attached = Vec::new();
    for _ in 0..CONNECTIONS {
        attached.push(attach_all(&options).await?);
    }
    Ok(attached)
}

async fn attach_all(options: &Options) -> Result<AttachedConnection, ClientError> {
    let client = Client::connect(options).await?;
    let mut connection = Vec::new();
    for app in 0..APPS {
        let session = format!("echo/s{app}");
        let session = session.parse().map_err(|error| ClientError::invalid(format!("{error}")))?;
        connection.push(attach(&client, session).await?);
    }
    Ok(connection)
}

async fn attach(client: &Client, session: SessionAddr) -> Result<Attached, ClientError> {
    match client.attach(&session).await {
        Err(ClientError::Refused(fault)) if fault.code == Code::NotFound => {}
        attached => return attached,
    }
    let open = OpenArgs {
        provider: session.provider.clone(),
        session: Some(session.session.clone()),
        args: Vec::new(),
        cwd: "/".into(),
        env: std::env::vars().collect(),
        pin: None,
        priority: None,
        weight: None,
    };
    client.call(Verb::Open(open)).await?;
    client.attach(&session).await
}

async fn carry_out(
    attached: &[AttachedConnection],
    name: &str,
    numbers: &[usize],
) -> Result<String, ClientError> {
    match (name, numbers) {
        ("lat", [size, count]) => {
            let mut times = Vec::with_capacity(*count);
            lat(&attached[0][0], *size, *count, &mut times).await?;
            Ok(summary(times))
        }
        ("thr", [size, in_flight, ms]) => {
            let rate = stream(&attached[..1], *size, *in_flight, 0..1, *ms).await?;
            Ok(format!("{rate:.1}"))
        }
        ("multi", [size, connections, in_flight, apps, ms]) => {
            let attached = &attached[..*connections.min(&CONNECTIONS)];
            let rate = stream(attached, *size, *in_flight, 0..*apps.min(&APPS), *ms).await?;
            Ok(format!("{rate:.1}"))
        }
        ("mix", [size, background, ms]) => {
            let (large, ms) = (*background, *ms);
            let beside = std::thread::spawn(move || in_thread(large, ms));
            tokio::time::sleep(Duration::from_millis(30)).await;
            let end = Instant::now() + Duration::from_millis(ms as u64);
            let mut times = Vec::new();
            while Instant::now() < end {
                lat(&attached[0][0], *size, 20, &mut times).await?;
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
        let connection = [attach_all(&Options::from_env()?).await?];
        stream(&connection, size, STREAM, 1..2, ms).await
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

/// Returns the exchanges per second of all connections together.
async fn stream(
    attached: &[AttachedConnection],
    size: usize,
    in_flight: usize,
    apps: std::ops::Range<usize>,
    ms: usize,
) -> Result<f64, ClientError> {
    let body = body(size);
    let began = Instant::now();
    let end = began + Duration::from_millis(ms as u64);
    let mut tasks = Vec::new();
    for (at, connection) in attached.iter().enumerate() {
        for worker in 0..in_flight {
            let (connection, body, apps) =
                (connection[apps.clone()].to_vec(), body.clone(), apps.len());
            tasks.push(tokio::spawn(async move {
                let mut done = 0;
                while Instant::now() < end {
                    let to = &connection[(at + worker + done) % apps];
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
