//! What a `tools/call` costs that clicks a link, beside the two that it consists of: a call of a
//! bare server of the same library, and the same click with its confirmation over an open
//! connection. All are measured in turn.
//!
//!     cargo build --release && cargo build --release -p pipemux-mcp --examples
//!     taskset -c 0 target/release/examples/overhead
#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use pipemux_client::Options;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Body, Verb};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS: usize = 40;
const CALLS: usize = 50;

#[expect(clippy::print_stdout, reason = "its output is the result")]
fn main() -> Outcome<()> {
    let examples = std::env::current_exe()?;
    let examples = examples.parent().ok_or("a directory")?;
    let programs = examples.parent().ok_or("a directory")?;
    let home = tempfile::tempdir()?;
    let mut options = prepare(home.path(), programs)?;
    options.daemon = Some(programs.join("pipemuxd"));
    let command = |words: &[&str]| {
        let mut command = Command::new(programs.join("pipemux"));
        at_home(command.args(words), home.path());
        command
    };
    let opened = command(&["open", "bench"]).output()?;
    let opened = String::from_utf8(opened.stdout)?;
    let link = link(&opened).ok_or("a link")?.to_owned();

    let mut bridge = Server::start(&programs.join("pipemux-mcp"), home.path())?;
    let mut bare = Server::start(&examples.join("echo"), home.path())?;
    let mut connection = Connection::open(&options)?;
    let mut rounds = Vec::new();
    for _ in 0..=ROUNDS {
        rounds.push([
            microseconds(|| bare.call(&link))?,
            microseconds(|| click(&mut connection, &options, &link))?,
            microseconds(|| bridge.call(&link))?,
        ]);
    }
    drop((bridge, bare, connection));
    command(&["down"]).output()?;
    // The first round fills the caches.
    rounds.remove(0);
    let of = |figure: fn(&[f64; 3]) -> f64| median(rounds.iter().map(figure).collect());
    println!(
        "bare rmcp {:.0} µs, click and confirmation {:.0} µs, pipemux-mcp {:.0} µs: {:.2} times the first, {:.2} times both together",
        of(|round| round[0]),
        of(|round| round[1]),
        of(|round| round[2]),
        of(|round| round[2] / round[0]),
        of(|round| round[2] / (round[0] + round[1])),
    );
    Ok(())
}

/// Registers the app of `pipemux bench`, whose window has a link that counts clicks.
fn prepare(home: &Path, programs: &Path) -> Outcome<Options> {
    let apps = home.join(".config/pipemux/apps");
    std::fs::create_dir_all(&apps)?;
    let program = json!(programs.join("pipemux"));
    let manifest = format!(
        "id = \"bench\"\ncommand = {program}\nargs = [\"bench\", \"--role\", \"app\"]\ndescription = \"Counts\"\n"
    );
    std::fs::write(apps.join("bench.toml"), manifest)?;
    let mut options = Options::from_env()?.workspace("bench").reader("bench");
    let path = |name: &str| match name {
        "HOME" | "XDG_RUNTIME_DIR" => home.to_str().map(str::to_owned),
        _ => None,
    };
    options.paths = pipemux_client::paths::Paths::from_env(path, 0)?;
    Ok(options)
}

fn at_home(command: &mut Command, home: &Path) {
    command.env_clear().env("HOME", home).env("XDG_RUNTIME_DIR", home).current_dir(home);
    command.env("PIPEMUX_WORKSPACE", "bench").env("PIPEMUX_READER", "bench");
}

fn link(text: &str) -> Option<&str> {
    let at = text.find("link:")?;
    text[at..].split([')', ' ']).next()
}

fn click(connection: &mut Connection, options: &Options, link: &str) -> Outcome<()> {
    let answer =
        connection.call(&options.call(Verb::Click { link: link.to_owned() }), options.timeout)?;
    match answer.body {
        Body::Text(_) if answer.exit == 0 => Ok(connection.seen(answer.delivery)?),
        body => Err(format!("{body:?}").into()),
    }
}

/// A server on pipes, as harnesses start it. Dropping it ends its input, and with it the server.
struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(program: &Path, home: &Path) -> Outcome<Server> {
        let mut command = Command::new(program);
        at_home(command.stdin(Stdio::piped()).stdout(Stdio::piped()), home);
        let mut process = command.spawn()?;
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().ok_or("its output")?);
        let mut server = Server { process, input, output };
        let client = json!({ "name": "overhead", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        server.request("initialize", &params)?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    fn call(&mut self, code: &str) -> Outcome<()> {
        let params = json!({ "name": "run_code_snippet", "arguments": { "code": code } });
        let answer = self.request("tools/call", &params)?;
        match answer["result"]["isError"] == true || answer["result"].is_null() {
            true => Err(answer.to_string().into()),
            false => Ok(()),
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    fn send(&mut self, message: &Value) -> Outcome<()> {
        let input = self.input.as_mut().ok_or("its input")?;
        Ok(input.write_all(format!("{message}\n").as_bytes())?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
    }
}

/// Returns what each of many calls takes, on the average of a round.
fn microseconds(mut call: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let began = Instant::now();
    for _ in 0..CALLS {
        call()?;
    }
    Ok(began.elapsed().as_secs_f64() * 1e6 / CALLS as f64)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
