//! Metrics for Prometheus: scraped over HTTP, and read as strictly as the text format of
//! OpenMetrics is written.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use pipemux_tests::programs::program;
use pipemux_tests::{Output, TestEnv, wait_for};

/// How long one answer may take.
const DEADLINE: Duration = Duration::from_secs(15);

/// All samples, by name and labels as they are written.
struct Scrape {
    samples: BTreeMap<String, f64>,
    types: BTreeMap<String, String>,
}

impl Scrape {
    /// Parses an exposition.
    #[track_caller]
    fn parse(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").unwrap_or_else(|| panic!("no end: {text}"));
        let (mut samples, mut types) = (BTreeMap::new(), BTreeMap::new());
        let (mut family, mut seen) = (String::new(), BTreeSet::new());
        for line in body.lines() {
            if let Some(about) = line.strip_prefix("# ") {
                let mut words = about.splitn(3, ' ');
                let (kind, name) = (words.next().expect("a kind"), words.next().expect("a name"));
                let rest = words.next().expect("a text");
                assert!(!rest.is_empty() && is_name(name), "{line}");
                if name != family {
                    assert!(seen.insert(name.to_owned()), "{name} is told of twice");
                    family = name.to_owned();
                }
                match kind {
                    "HELP" => {}
                    "TYPE" => {
                        assert!(["counter", "gauge", "histogram"].contains(&rest), "{line}");
                        assert!(types.insert(name.to_owned(), rest.to_owned()).is_none(), "{line}");
                    }
                    "UNIT" => assert!(name.ends_with(&format!("_{rest}")), "{line}"),
                    _ => panic!("{line}"),
                }
                continue;
            }
            let (sample, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
            let name = sample.split('{').next().expect("a name");
            let suffix = name.strip_prefix(&family).unwrap_or_else(|| panic!("{line} in {family}"));
            let suffixes: &[&str] = match types[&family].as_str() {
                "counter" => &["_total"],
                "gauge" => &[""],
                _ => &["_bucket", "_sum", "_count"],
            };
            assert!(suffixes.contains(&suffix) && is_name(name), "{line}");
            check_labels(&sample[name.len()..]);
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
            assert!(value >= 0.0, "{line}");
            assert!(samples.insert(sample.to_owned(), value).is_none(), "twice: {line}");
        }
        let scrape = Self { samples, types };
        scrape.check_histograms();
        scrape
    }

    /// Classes of a histogram only grow, and the last one counts everything.
    #[track_caller]
    fn check_histograms(&self) {
        for (name, _) in self.types.iter().filter(|(_, kind)| *kind == "histogram") {
            let count = format!("{name}_count");
            for (sample, total) in self.samples.iter().filter(|(key, _)| key.starts_with(&count)) {
                let labels = sample[count.len()..].trim_matches(['{', '}']);
                let mut classes: Vec<(f64, f64)> = Vec::new();
                for (key, value) in &self.samples {
                    let Some(found) = key.strip_prefix(&format!("{name}_bucket{{")) else {
                        continue;
                    };
                    let (le, rest): (Vec<&str>, Vec<&str>) = found
                        .trim_end_matches('}')
                        .split(',')
                        .partition(|part| part.starts_with("le="));
                    if rest.join(",") == labels {
                        let bound = le[0]["le=".len()..].trim_matches('"').replace("+Inf", "inf");
                        classes.push((bound.parse().expect("a bound"), *value));
                    }
                }
                classes.sort_by(|a, b| a.0.total_cmp(&b.0));
                assert!(classes.len() > 2, "{name}: {classes:?}");
                assert!(classes.is_sorted_by(|a, b| a.1 <= b.1), "{name}: {classes:?}");
                let last = classes.last().expect("a class");
                assert!(last.0.is_infinite() && last.1 == *total, "{name}: {classes:?}");
            }
        }
    }

    #[track_caller]
    fn value(&self, sample: &str) -> f64 {
        *self.samples.get(sample).unwrap_or_else(|| panic!("no {sample} in {:#?}", self.samples))
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with("pipemux_") && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

/// Checks `{name="value",…}`, or nothing. No value here needs an escape.
fn check_labels(text: &str) {
    if text.is_empty() {
        return;
    }
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).expect(text);
    for label in inner.split(',') {
        let (name, value) = label.split_once('=').expect(text);
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{text}");
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        assert!(value.is_some_and(|value| !value.contains(['"', '\\', '\n'])), "{text}");
    }
}

/// Sends a request, and returns the head and the body of the answer.
fn http(mut stream: impl Read + Write, request: &str) -> (String, String) {
    let request = format!("{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    (head.to_ascii_lowercase(), body.to_owned())
}

fn unix(env: &TestEnv, request: &str) -> (String, String) {
    let stream = UnixStream::connect(env.root().join("m.sock")).expect("a socket for metrics");
    stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    http(stream, request)
}

fn scrape(env: &TestEnv) -> Scrape {
    let (head, body) = unix(env, "GET /metrics");
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(head.contains("content-type: application/openmetrics-text; version=1.0.0"), "{head}");
    Scrape::parse(&body)
}

fn start(env: &TestEnv, address: &str) -> Output {
    env.command(&["up"]).env("PIPEMUX_METRICS", address).output()
}

#[test]
fn scrape_counts_requests_tokens_sessions_restarts_and_bytes() {
    let env = TestEnv::new();
    let socket = env.root().join("m.sock");
    start(&env, &format!("unix:{}", socket.display())).ok();
    let mode = std::fs::metadata(&socket).expect("the socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let first = scrape(&env);
    assert_eq!(first.value("pipemux_tokens_shown_total"), 0.0);

    env.pipemux(&["open", "notebook"]).ok();
    env.run("notebook.add('a', 'x')").ok();
    env.run("notebook.add('b', 'x')").ok();
    env.run("notebook.no_such_action()").exits(2);
    env.pipemux(&["view"]).ok();
    let counted = scrape(&env);
    let requests = |verb: &str, outcome: &str| {
        format!("pipemux_requests_total{{verb=\"{verb}\",outcome=\"{outcome}\"}}")
    };
    assert_eq!(counted.value(&requests("run", "done")), 2.0);
    assert_eq!(counted.value(&requests("run", "usage")), 1.0);
    assert_eq!(counted.value(&requests("open", "done")), 1.0);
    assert_eq!(counted.value(&requests("view", "done")), 1.0);
    assert_eq!(counted.value("pipemux_request_duration_seconds_count{verb=\"run\"}"), 3.0);
    assert!(counted.value("pipemux_request_duration_seconds_sum{verb=\"run\"}") > 0.0);
    let shown = counted.value("pipemux_tokens_shown_total");
    assert!(shown > 0.0 && shown <= counted.value("pipemux_tokens_available_total"));
    assert_eq!(counted.value("pipemux_sessions{state=\"ready\"}"), 1.0);
    assert_eq!(counted.value("pipemux_app_starts_total{provider=\"notebook\"}"), 1.0);
    assert_eq!(counted.value("pipemux_app_restarts_total{provider=\"notebook\"}"), 0.0);
    assert_eq!(counted.value("pipemux_open_requests"), 0.0);
    for peer in ["client", "app"] {
        for direction in ["in", "out"] {
            let sample = format!(
                "pipemux_transferred_bytes_total{{peer=\"{peer}\",direction=\"{direction}\"}}"
            );
            assert!(counted.value(&sample) > 0.0, "{sample}");
        }
        wait_for("everything is sent", || {
            let now = scrape(&env);
            let left = ["queued_bytes", "waiting_peers"]
                .map(|name| now.value(&format!("pipemux_{name}{{peer=\"{peer}\"}}")));
            left == [0.0, 0.0]
        });
    }

    env.kill_session("notebook/main");
    env.run("notebook.add('c', 'x')").ok();
    let restarted = scrape(&env);
    assert_eq!(restarted.value("pipemux_app_restarts_total{provider=\"notebook\"}"), 1.0);

    assert!(unix(&env, "GET /").0.starts_with("http/1.1 404"));
    assert!(unix(&env, "POST /metrics").0.starts_with("http/1.1 405"));
    env.pipemux(&["down"]).ok();
    assert!(!socket.exists(), "the socket for metrics goes with the daemon");
}

#[test]
fn waiting_request_is_open_until_it_is_answered() {
    let env = TestEnv::new();
    start(&env, &format!("unix:{}", env.root().join("m.sock").display())).ok();
    env.pipemux(&["open", "notebook"]).ok();
    let waiting = env.command(&["view", "--wait", "20"]).start();
    wait_for("the view waits", || {
        let now = scrape(&env);
        now.value("pipemux_open_requests") == 1.0 && now.value("pipemux_clients") == 1.0
    });
    env.as_reader("other", &["run", "notebook.add('a', 'x')"]).ok();
    waiting.finish().ok();
    assert_eq!(scrape(&env).value("pipemux_open_requests"), 0.0);
}

#[test]
fn metrics_are_read_at_a_loopback_port_and_nowhere_else() {
    let env = TestEnv::new();
    // Off unless somebody asks for them.
    env.pipemux(&["up"]).ok();
    assert!(!env.daemon_log().contains("metrics"), "{}", env.daemon_log());
    env.pipemux(&["down"]).ok();

    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:9477"] {
        start(&env, address).exits(8).has("other machines could read them").has("127.0.0.1:9477");
    }
    start(&env, "nonsense").exits(8).has("expected unix:/PATH");
    env.write("taken", "mine");
    start(&env, &format!("unix:{}", env.path("taken").display())).exits(8).has("no socket");
    assert_eq!(env.read("taken"), "mine");

    start(&env, "127.0.0.1:0").ok();
    let log = env.daemon_log();
    let at = log.rfind("metrics at ").expect("the address in the log") + "metrics at ".len();
    let address = log[at..].lines().next().expect("an address");
    let stream = TcpStream::connect(address).expect("a port for metrics");
    stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    let (head, body) = http(stream, "GET /metrics");
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(Scrape::parse(&body).value("pipemux_start_time_seconds") > 1e9);

    let usage = env
        .shell("\"$PIPEMUXD\" --metrics")
        .env("PIPEMUXD", &program("pipemuxd").display().to_string());
    usage.output().exits(2).has("--metrics unix:/PATH|127.0.0.1:PORT");
}
