//! What is measured.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Body, Format, Open, Verb};
use pipemux_client::proto::{ProviderId, SessionId, Value};
use pipemux_client::{Attached, Client, ClientError, Options};
use tokio::runtime::{Builder, Runtime};

use super::cannot;
use super::floor::{self, Alone, Floor};
use super::roles::{self, PROVIDER};
use super::table::Row;
use super::times::Pairs;

/// Bodies of exchanges, in bytes, with their rows.
const SIZES: [(usize, &str); 3] =
    [(64, "exchange, 64 B"), (4 << 10, "exchange, 4 KiB"), (64 << 10, "exchange, 64 KiB")];

/// Exchanges that are under way at once where many are.
const IN_FLIGHT: usize = 64;

/// Measures one thing; a row or two come of it.
pub type Part = fn(&mut Bench) -> Result<Vec<Row>, ClientError>;

/// All that is there to be measured.
pub struct Bench {
    options: Options,
    connection: Connection,
    attached: Attached,
    runtime: Runtime,
    floor: Floor,
    rounds: usize,
    /// Sessions and programs that are started.
    started: usize,
    /// Programs on std alone, kept to be looked at.
    alone: Vec<Alone>,
    /// The daemon's memory before the sessions were started, in KiB.
    before: Option<u64>,
}

impl Bench {
    /// In the order in which they are carried out, each with its name.
    pub const PARTS: [(&str, Part); 5] = [
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
        let runtime = runtime.map_err(|error| cannot("a runtime", error))?;
        let attached = runtime.block_on(async {
            let session = format!("{PROVIDER}/main").parse().map_err(|e| cannot("a session", e))?;
            Client::connect(&options).await?.attach(&session).await
        })?;
        let floor = Floor::start().map_err(|error| cannot("the floor", error))?;
        let (rounds, started) = if quick { (5, 6) } else { (25, 24) };
        let (alone, before) = (Vec::new(), None);
        Ok(Bench { options, connection, attached, runtime, floor, rounds, started, alone, before })
    }

    fn round_trips(&mut self) -> Result<Vec<Row>, ClientError> {
        let mut rows = Vec::new();
        for (size, what) in SIZES {
            let count = if size > 4096 { 60 } else { 200 };
            let (frame, body) = (roles::frame(size), docui::Bytes::from(vec![7; size]));
            let mut pairs = Pairs::default();
            for _ in 0..self.rounds {
                let relayed = timed(count, || {
                    let answered = self.floor.round_trip(&frame);
                    answered.map_err(|error| cannot("the floor", error))
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
            let end = Instant::now() + length;
            let start = |_| tokio::spawn(work(attached.clone(), end));
            let workers: Vec<_> = (0..IN_FLIGHT).map(start).collect();
            let mut done = 0;
            for worker in workers {
                done += worker.await.map_err(|error| cannot("an exchange", error))??;
            }
            Ok::<_, ClientError>(done as f64 / length.as_secs_f64())
        })?;
        let what = "exchanges a second, 64 B, 64 at once";
        Ok(vec![Row { what, unit: "/s", floor: None, ours: rate, ratio: None }])
    }

    fn clicks(&mut self) -> Result<Vec<Row>, ClientError> {
        let link = self.link()?;
        let frame = roles::frame(64);
        let (mut acted, mut processes) = (Pairs::default(), Pairs::default());
        let program = std::env::current_exe().map_err(|error| cannot("this program", error))?;
        for _ in 0..self.rounds {
            let relayed = timed(40, || {
                self.floor.round_trip(&frame).map_err(|error| cannot("the floor", error))
            })?;
            let clicked = timed(40, || {
                let call = self.options.call(Verb::Click { link: link.clone() });
                let answer = self.connection.call(&call, self.options.timeout)?;
                expect_done(answer.exit, "a click")?;
                self.connection.seen(answer.delivery)
            })?;
            acted.add(relayed, clicked);
            let alone = timed(6, || {
                let nothing = &["bench", roles::OPTION, "nothing"];
                process(Path::new("true"), &[]).or_else(|_| process(&program, nothing))
            })?;
            let click = ["click", &link, "--workspace", "bench", "--reader", "bench"];
            let clicked = timed(6, || process(&program, &click))?;
            processes.add(alone, clicked);
        }
        Ok(vec![
            row("a click, confirmed, one connection", "µs", acted),
            row("a click as a process, beside `true`", "µs", processes),
        ])
    }

    fn starts(&mut self) -> Result<Vec<Row>, ClientError> {
        self.before = self.daemon().and_then(own_memory_of);
        let (mut ordinary, mut lightest) = (Pairs::default(), Pairs::default());
        for number in 0..self.started {
            let cat = floor::ordinary().map_err(|error| cannot("`cat`", error))?;
            let (alone, program) =
                floor::lightest().map_err(|error| cannot("a bare program", error))?;
            self.alone.push(program);
            let began = Instant::now();
            open(&mut self.connection, &self.options, &format!("s{number}"))?;
            let took = began.elapsed();
            ordinary.add(vec![cat], vec![took]);
            lightest.add(vec![alone], vec![took]);
        }
        Ok(vec![
            row("start to answer, beside an ordinary program", "µs", ordinary),
            row("the same, beside the lightest one", "µs", lightest),
        ])
    }

    fn memory(&mut self) -> Result<Vec<Row>, ClientError> {
        let apps: Vec<u64> = self.sessions()?.into_iter().filter_map(memory_of).collect();
        let bare: Vec<u64> =
            self.alone.iter().filter_map(|alone| memory_of(alone.pid().into())).collect();
        let (Some(app), Some(bare)) = (mean(&apps), mean(&bare)) else {
            // This system doesn't tell.
            return Ok(Vec::new());
        };
        let (what, unit) = ("memory of an idle app, its share", "KiB");
        let mut rows =
            vec![Row { what, unit, floor: Some(bare), ours: app, ratio: Some(app / bare) }];
        if let (Some(before), Some(after)) = (self.before, self.daemon().and_then(own_memory_of)) {
            let each = after.saturating_sub(before) as f64 / self.started as f64;
            let what = "memory of the daemon for an idle session";
            rows.push(Row { what, unit, floor: None, ours: each, ratio: None });
        }
        Ok(rows)
    }

    /// The link that the app's window shows.
    fn link(&mut self) -> Result<String, ClientError> {
        let answer = self.connection.call(&self.options.call(view()), self.options.timeout)?;
        self.connection.seen(answer.delivery)?;
        let Body::Text(text) = &answer.body else { return Err(cannot("a view", "no text")) };
        let link = text.split_once("(link:").and_then(|(_, rest)| rest.split([')', ' ']).next());
        link.map(str::to_owned).ok_or_else(|| cannot("a view", "it has no link"))
    }

    fn data(&mut self, verb: Verb) -> Result<Value, ClientError> {
        let mut call = self.options.call(verb);
        call.format = Format::Json;
        match self.connection.call(&call, self.options.timeout)?.body {
            Body::Data(data) => Ok(data),
            _ => Err(cannot("the daemon's answer", "no data")),
        }
    }

    fn daemon(&mut self) -> Option<u64> {
        pid(&self.data(Verb::Status).ok()?)
    }

    fn sessions(&mut self) -> Result<Vec<u64>, ClientError> {
        let Value::List(sessions) = self.data(Verb::Sessions)? else { return Ok(Vec::new()) };
        Ok(sessions.iter().filter_map(pid).collect())
    }
}

async fn work(attached: Attached, end: Instant) -> Result<usize, ClientError> {
    let body = docui::Bytes::from(vec![7; 64]);
    let mut done = 0;
    while Instant::now() < end {
        attached.exchange(body.clone()).await?;
        done += 1;
    }
    Ok(done)
}

fn open(connection: &mut Connection, options: &Options, name: &str) -> Result<(), ClientError> {
    let provider: ProviderId = PROVIDER.parse().map_err(|error| cannot("an app", error))?;
    let session: SessionId = name.parse().map_err(|error| cannot("a session", error))?;
    let open = Open {
        provider,
        session: Some(session),
        args: Vec::new(),
        cwd: "/".into(),
        env: Default::default(),
        pin: None,
    };
    let answer = connection.call(&options.call(Verb::Open(open)), options.timeout)?;
    if let (1.., Body::Text(text)) = (answer.exit, &answer.body) {
        return Err(cannot("the measured app can't be opened", text.trim_end()));
    }
    connection.seen(answer.delivery)
}

fn view() -> Verb {
    Verb::View(Default::default())
}

/// How long each of so many takes.
fn timed(
    count: usize,
    mut once: impl FnMut() -> Result<(), ClientError>,
) -> Result<Vec<Duration>, ClientError> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let began = Instant::now();
        once()?;
        times.push(began.elapsed());
    }
    Ok(times)
}

/// A process from its start to its end.
fn process(program: &Path, words: &[&str]) -> Result<(), ClientError> {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().map_err(|error| cannot("a process", error))?;
    expect_done(u8::from(!status.success()), "a process")
}

fn expect_done(exit: u8, what: &str) -> Result<(), ClientError> {
    if exit == 0 { Ok(()) } else { Err(cannot(what, format!("exit status {exit}"))) }
}

fn row(what: &'static str, unit: &'static str, pairs: Pairs) -> Row {
    let (floor, ours, ratio) = pairs.medians();
    Row { what, unit, floor: Some(floor), ours, ratio: Some(ratio) }
}

fn pid(of: &Value) -> Option<u64> {
    match of.get("pid")? {
        Value::Int(pid) => u64::try_from(*pid).ok(),
        _ => None,
    }
}

/// A process's share of memory in KiB, as the system tells it: shared pages count by their share.
fn memory_of(pid: u64) -> Option<u64> {
    kib(pid, "Pss:")
}

/// Of that what it has allocated: not shared, so others that come and go don't change it.
fn own_memory_of(pid: u64) -> Option<u64> {
    kib(pid, "Pss_Anon:")
}

fn kib(pid: u64, of: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(of))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

fn mean(figures: &[u64]) -> Option<f64> {
    (!figures.is_empty()).then(|| figures.iter().sum::<u64>() as f64 / figures.len() as f64)
}
