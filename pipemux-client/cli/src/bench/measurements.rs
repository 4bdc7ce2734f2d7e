//! The measurements.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Body, Format, OpenArgs, Verb};
use pipemux_client::proto::{ProviderId, SessionId, Value};
use pipemux_client::{Attached, Client, ClientError, Options};
use pipemux_proto::deadline;
use tokio::runtime::{Builder, Runtime};

use super::error::failed;
use super::floor::{self, BareProcess, FloorRelay};
use super::memory;
use super::roles::{self, PROVIDER};
use super::statistics::PairedRounds;
use super::table::Row;

/// Sizes of the exchanges' bodies in bytes, with the names of their rows.
const EXCHANGE_SIZES: [(usize, &str); 3] =
    [(64, "exchange, 64 B"), (4 << 10, "exchange, 4 KiB"), (64 << 10, "exchange, 64 KiB")];

/// Exchanges in flight at once in the measurement of throughput.
const IN_FLIGHT: usize = 64;

/// One measurement; it returns the rows to print.
pub type Measurement = fn(&mut Bench) -> Result<Vec<Row>, ClientError>;

/// The processes and connections that take part in the measurements.
pub struct Bench {
    options: Options,
    connection: Connection,
    attached: Attached,
    runtime: Runtime,
    floor: FloorRelay,
    rounds: usize,
    /// Number of sessions and of bare processes that are started.
    starts: usize,
    /// Processes on std alone, kept for the measurement of memory.
    bare_processes: Vec<BareProcess>,
    /// The daemon's memory before the sessions were started, in KiB.
    daemon_kib_before: Option<u64>,
}

impl Bench {
    /// All measurements with their names, in their order: `memory` uses what `starts` has started.
    pub const MEASUREMENTS: [(&str, Measurement); 5] = [
        ("round trips", Bench::round_trips),
        ("many at once", Bench::many_at_once),
        ("clicks", Bench::clicks),
        ("starting sessions", Bench::starts),
        ("memory", Bench::memory),
    ];

    /// Starts the daemon, an app, and the floor's processes.
    ///
    /// # Errors
    /// One of them can't be started.
    pub fn new(options: &Options, quick: bool) -> Result<Bench, ClientError> {
        let options = options.clone().workspace("bench").reader("bench");
        let mut connection = Connection::open(&options)?;
        open(&mut connection, &options, "main")?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed("a runtime", error))?;
        let attached = runtime.block_on(async {
            let session = format!("{PROVIDER}/main").parse().map_err(|e| failed("a session", e))?;
            Client::connect(&options).await?.attach(&session).await
        })?;
        let floor = FloorRelay::start().map_err(|error| failed("the floor", error))?;
        let (rounds, starts) = if quick { (5, 6) } else { (25, 24) };
        Ok(Bench {
            options,
            connection,
            attached,
            runtime,
            floor,
            rounds,
            starts,
            bare_processes: Vec::new(),
            daemon_kib_before: None,
        })
    }

    fn round_trips(&mut self) -> Result<Vec<Row>, ClientError> {
        let mut rows = Vec::new();
        for (size, what) in EXCHANGE_SIZES {
            let count = if size > 4096 { 60 } else { 200 };
            let (frame, body) = (roles::frame(size), docui::Bytes::from(vec![7; size]));
            let mut pairs = PairedRounds::default();
            for _ in 0..self.rounds {
                let relayed = time_each(count, || {
                    let answered = self.floor.round_trip(&frame);
                    answered.map_err(|error| failed("the floor", error))
                })?;
                let attached = &self.attached;
                let exchanged = self.runtime.block_on(async {
                    let mut times = Vec::with_capacity(count);
                    for _ in 0..count {
                        let began = Instant::now();
                        attached.exchange(body.clone()).await?;
                        times.push(began.elapsed());
                    }
                    Ok::<_, ClientError>(times)
                })?;
                pairs.add(relayed, exchanged);
            }
            rows.push(row(what, "µs", pairs));
        }
        Ok(rows)
    }

    fn many_at_once(&mut self) -> Result<Vec<Row>, ClientError> {
        let length = Duration::from_millis(40 * self.rounds as u64);
        let attached = &self.attached;
        let rate = self.runtime.block_on(async {
            let end = deadline::after(length);
            let start = |_| tokio::spawn(exchange_until(attached.clone(), end));
            let workers: Vec<_> = (0..IN_FLIGHT).map(start).collect();
            let mut done = 0;
            for worker in workers {
                done += worker.await.map_err(|error| failed("an exchange", error))??;
            }
            Ok::<_, ClientError>(done as f64 / length.as_secs_f64())
        })?;
        let what = "exchanges per second, 64 B, 64 at once";
        Ok(vec![Row { what, unit: "/s", floor: None, ours: rate, ratio: None }])
    }

    fn clicks(&mut self) -> Result<Vec<Row>, ClientError> {
        let link = self.find_link()?;
        let frame = roles::frame(64);
        let (mut acted, mut processes) = (PairedRounds::default(), PairedRounds::default());
        let program = std::env::current_exe().map_err(|error| failed("this program", error))?;
        for _ in 0..self.rounds {
            let relayed = time_each(40, || {
                self.floor.round_trip(&frame).map_err(|error| failed("the floor", error))
            })?;
            let clicked = time_each(40, || {
                let call = self.options.call(Verb::Click { link: link.clone() });
                let answer = self.connection.call(&call, self.options.timeout)?;
                expect_done(answer.exit, "a click")?;
                self.connection.seen(answer.delivery)
            })?;
            acted.add(relayed, clicked);
            let alone = time_each(6, || {
                let nothing = &["bench", roles::ROLE_OPTION, "nothing"];
                run_process(Path::new("true"), &[]).or_else(|_| run_process(&program, nothing))
            })?;
            let click = ["click", &link, "--workspace", "bench", "--reader", "bench"];
            let clicked = time_each(6, || run_process(&program, &click))?;
            processes.add(alone, clicked);
        }
        Ok(vec![
            row("click with confirmation, one connection", "µs", acted),
            row("click as a process, compared with `true`", "µs", processes),
        ])
    }

    fn starts(&mut self) -> Result<Vec<Row>, ClientError> {
        self.daemon_kib_before = self.daemon_pid().and_then(memory::anonymous_kib);
        let (mut ordinary, mut lightest) = (PairedRounds::default(), PairedRounds::default());
        for number in 0..self.starts {
            let cat = floor::time_ordinary_process().map_err(|error| failed("`cat`", error))?;
            let (bare, process) =
                floor::start_bare_process().map_err(|error| failed("a bare program", error))?;
            self.bare_processes.push(process);
            let began = Instant::now();
            open(&mut self.connection, &self.options, &format!("s{number}"))?;
            let took = began.elapsed();
            ordinary.add(vec![cat], vec![took]);
            lightest.add(vec![bare], vec![took]);
        }
        Ok(vec![
            row("session start, compared with an ordinary program", "µs", ordinary),
            row("session start, compared with the lightest program", "µs", lightest),
        ])
    }

    fn memory(&mut self) -> Result<Vec<Row>, ClientError> {
        let apps = self.session_pids()?.into_iter();
        let apps: Vec<u64> = apps.filter_map(memory::proportional_kib).collect();
        let bare = self.bare_processes.iter().map(|process| process.pid().into());
        let bare: Vec<u64> = bare.filter_map(memory::proportional_kib).collect();
        let (Some(app), Some(bare)) = (mean(&apps), mean(&bare)) else {
            // The system doesn't report it.
            return Ok(Vec::new());
        };
        let (what, unit) = ("memory of an idle app (proportional)", "KiB");
        let mut rows =
            vec![Row { what, unit, floor: Some(bare), ours: app, ratio: Some(app / bare) }];
        let after = self.daemon_pid().and_then(memory::anonymous_kib);
        if let (Some(before), Some(after)) = (self.daemon_kib_before, after) {
            let each = after.saturating_sub(before) as f64 / self.starts as f64;
            let what = "daemon memory per idle session";
            rows.push(Row { what, unit, floor: None, ours: each, ratio: None });
        }
        Ok(rows)
    }

    /// Returns the link that the app's window shows.
    fn find_link(&mut self) -> Result<String, ClientError> {
        let answer = self.connection.call(&self.options.call(view()), self.options.timeout)?;
        self.connection.seen(answer.delivery)?;
        let Body::Text(text) = &answer.body else { return Err(failed("a view", "no text")) };
        let link = text.split_once("(link:").and_then(|(_, rest)| rest.split([')', ' ']).next());
        link.map(str::to_owned).ok_or_else(|| failed("a view", "it has no link"))
    }

    fn request_data(&mut self, verb: Verb) -> Result<Value, ClientError> {
        let mut call = self.options.call(verb);
        call.format = Format::Json;
        match self.connection.call(&call, self.options.timeout)?.body {
            Body::Data(data) => Ok(data),
            _ => Err(failed("the daemon's answer", "no data")),
        }
    }

    fn daemon_pid(&mut self) -> Option<u64> {
        pid_of(&self.request_data(Verb::Status).ok()?)
    }

    fn session_pids(&mut self) -> Result<Vec<u64>, ClientError> {
        let Value::List(sessions) = self.request_data(Verb::Sessions)? else {
            return Ok(Vec::new());
        };
        Ok(sessions.iter().filter_map(pid_of).collect())
    }
}

async fn exchange_until(attached: Attached, end: Instant) -> Result<usize, ClientError> {
    let body = docui::Bytes::from(vec![7; 64]);
    let mut done = 0;
    while Instant::now() < end {
        attached.exchange(body.clone()).await?;
        done += 1;
    }
    Ok(done)
}

fn open(connection: &mut Connection, options: &Options, name: &str) -> Result<(), ClientError> {
    let provider: ProviderId = PROVIDER.parse().map_err(|error| failed("an app", error))?;
    let session: SessionId = name.parse().map_err(|error| failed("a session", error))?;
    let open = OpenArgs {
        provider,
        session: Some(session),
        args: Vec::new(),
        cwd: "/".into(),
        env: Default::default(),
        pin: None,
        priority: None,
        weight: None,
    };
    let answer = connection.call(&options.call(Verb::Open(open)), options.timeout)?;
    if let (1.., Body::Text(text)) = (answer.exit, &answer.body) {
        return Err(failed("the measured app can't be opened", text.trim_end()));
    }
    connection.seen(answer.delivery)
}

fn view() -> Verb {
    Verb::View(Default::default())
}

/// Returns how long each of `count` runs takes.
fn time_each(
    count: usize,
    mut run: impl FnMut() -> Result<(), ClientError>,
) -> Result<Vec<Duration>, ClientError> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let began = Instant::now();
        run()?;
        times.push(began.elapsed());
    }
    Ok(times)
}

/// Runs a process from its start to its end.
fn run_process(program: &Path, words: &[&str]) -> Result<(), ClientError> {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().map_err(|error| failed("a process", error))?;
    expect_done(u8::from(!status.success()), "a process")
}

fn expect_done(exit: u8, what: &str) -> Result<(), ClientError> {
    if exit == 0 { Ok(()) } else { Err(failed(what, format!("exit status {exit}"))) }
}

fn row(what: &'static str, unit: &'static str, pairs: PairedRounds) -> Row {
    let (floor, ours, ratio) = pairs.medians();
    Row { what, unit, floor: Some(floor), ours, ratio: Some(ratio) }
}

fn pid_of(row: &Value) -> Option<u64> {
    match row.get("pid")? {
        Value::Int(pid) => u64::try_from(*pid).ok(),
        _ => None,
    }
}

fn mean(figures: &[u64]) -> Option<f64> {
    (!figures.is_empty()).then(|| figures.iter().sum::<u64>() as f64 / figures.len() as f64)
}
