//! One client in one workspace, whose requests are timed.

use std::time::{Duration, Instant};

use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Answer, Body, OpenArgs, Verb, ViewArgs};
use pipemux_client::{Client, Options};
use pipemux_tests::TestEnv;
use tokio::runtime::{Builder, Runtime};

use super::growth_app;

/// The name of the app.
pub const APP: &str = "grower";

/// How often each request is timed; the median is reported.
const TIMES: usize = 30;

/// An environment with the app and a connected client.
pub struct Fixture {
    pub env: TestEnv,
    pub options: Options,
    /// The token budget of each request; `None` for the default.
    pub budget: Option<u32>,
    connection: Connection,
    runtime: Runtime,
}

impl Fixture {
    /// Creates an environment with the app and connects a client in the workspace `main`.
    pub fn new() -> Fixture {
        let env = TestEnv::new();
        env.install(
            APP,
            "growth",
            &format!("args = [{:?}]\ndescription = \"subject\"\n", growth_app::ROLE),
        );
        // The command starts the daemon with the variables of the environment.
        env.pipemux(&["up"]).ok();
        let options = Options {
            paths: env.paths(),
            daemon: None,
            start: false,
            timeout: Duration::from_secs(120),
            progress: None,
            ..Options::from_env().expect("options")
        }
        .workspace("main")
        .reader("growth");
        let connection = Connection::open(&options).expect("a daemon");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        Fixture { env, options, budget: None, connection, runtime }
    }

    /// Sends a verb in a workspace, and confirms the answer.
    pub fn ask_in(&mut self, fixture: &str, verb: Verb) -> Answer {
        let mut call = self.options.clone().workspace(fixture).call(verb);
        call.budget = self.budget;
        let answer = self.connection.call(&call, self.options.timeout).expect("an answer");
        let text = match &answer.body {
            Body::Text(text) => text.as_str(),
            _ => "",
        };
        assert_eq!(answer.exit, 0, "{text}");
        self.connection.seen(answer.delivery).expect("noted");
        answer
    }

    /// Sends a verb in the workspace `main`.
    pub fn ask(&mut self, verb: Verb) -> String {
        match self.ask_in("main", verb).body {
            Body::Text(text) => text,
            other => panic!("no text: {other:?}"),
        }
    }

    /// Returns the median time of a verb, in microseconds.
    pub fn time(&mut self, verb: impl Fn(usize) -> Verb) -> f64 {
        let times = (0..TIMES).map(|number| {
            let verb = verb(number);
            let began = Instant::now();
            self.ask(verb);
            began.elapsed()
        });
        median(times.collect())
    }

    /// Returns the median time of a view of a session whose window has changed since the last one,
    /// in microseconds.
    pub fn time_changed(&mut self, session: &str) -> f64 {
        let times = (0..TIMES).map(|_| {
            self.exchange(session, growth_app::TICK.to_vec(), 1);
            let began = Instant::now();
            self.ask(view(Some(session)));
            began.elapsed()
        });
        median(times.collect())
    }

    /// Returns the median time of an exchange of so many bytes, in microseconds.
    pub fn time_exchange(&mut self, session: &str, size: usize) -> f64 {
        let times = if size > 4096 { TIMES } else { TIMES * 10 };
        median(self.exchange(session, vec![7; size], times))
    }

    fn exchange(&mut self, session: &str, body: Vec<u8>, times: usize) -> Vec<Duration> {
        let (options, session) = (&self.options, session.parse().expect("a session"));
        self.runtime.block_on(async {
            let client = Client::connect(options).await.expect("a daemon");
            let attached = client.attach(&session).await.expect("a session");
            let body = bytes::Bytes::from(body);
            let mut took = Vec::new();
            for _ in 0..times {
                let began = Instant::now();
                attached.exchange(body.clone()).await.expect("an answer");
                took.push(began.elapsed());
            }
            took
        })
    }

    /// Returns the median time from a killed daemon to one that has restored all state, in
    /// milliseconds.
    pub fn time_restart(&mut self) -> f64 {
        let times = (0..3).map(|_| {
            pipemux_tests::kill(self.env.daemon_pid(), pipemux_tests::Signal::SIGKILL);
            // The next daemon starts once the launcher has ended the processes of the killed one.
            let began = Instant::now();
            self.env.pipemux(&["up"]).ok();
            began.elapsed()
        });
        let time = median(times.collect()) / 1e3;
        self.connection = Connection::open(&self.options).expect("a daemon");
        time
    }

    /// Returns the daemon's proportional share of memory, in KiB.
    pub fn memory(&self) -> f64 {
        memory_of(self.env.daemon_pid())
    }

    /// Returns the proportional share of memory of all apps together, in KiB.
    pub fn memory_of_apps(&self) -> f64 {
        self.env.sessions().iter().filter_map(|row| row.pid).map(memory_of).sum()
    }
}

/// Opens a session of the app with so many objects.
pub fn open(session: usize, things: usize) -> Verb {
    open_showing(session, &things.to_string())
}

/// Opens a session of the app with the given window: `10`, `prose=10`, `code=10`.
pub fn open_showing(session: usize, what: &str) -> Verb {
    open_app(APP, &format!("s{session}"), vec![what.to_owned()])
}

/// Opens a session of any app.
pub fn open_app(app: &str, session: &str, args: Vec<String>) -> Verb {
    Verb::Open(OpenArgs {
        provider: app.parse().expect("an app"),
        session: Some(session.parse().expect("a session")),
        args,
        cwd: "/".into(),
        env: Default::default(),
        pin: None,
        priority: None,
        weight: None,
    })
}

/// Runs code.
pub fn run(code: impl Into<String>) -> Verb {
    Verb::Run { code: code.into(), stdin: None, only_queries: false }
}

/// Views one window, or all of them.
pub fn view(session: Option<&str>) -> Verb {
    let session = session.map(|session| session.parse().expect("a session"));
    Verb::View(ViewArgs { session, ..ViewArgs::default() })
}

/// Returns the id of the link with that label.
pub fn link(text: &str, label: &str) -> String {
    let (_, rest) = text.split_once(&format!("[{label}](link:")).expect("the link");
    rest.split([')', ' ']).next().expect("a number").to_owned()
}

/// Returns the median, in microseconds.
pub fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
}

fn memory_of(pid: i32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let figure = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    figure.unwrap_or(f64::NAN)
}
