//! Asks an endpoint of the OpenAI-compatible chat API, and reads its answer as it is streamed.

use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use docui::deadline;
use pipemux_planner_course::ordered;
use pipemux_planner_course::text::gist;
use serde_json::{Value, json};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

use super::cancel::Cancel;
use super::no_answer::NoAnswer;
use crate::limits::{DRIVER_OUTPUT_MAX, HTTP_BACKOFF, HTTP_TRIES};

/// The chat endpoint of a model.
#[derive(Clone, Copy)]
pub struct Endpoint<'a> {
    /// The URL of the API: `http://localhost:11434/v1`.
    pub base_url: &'a str,
    pub model: &'a str,
    /// The API key, if there is one.
    pub key: Option<&'a str>,
    /// The time limit of one answer.
    pub deadline: Duration,
}

impl std::fmt::Debug for Endpoint<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the key.
        f.debug_struct("Endpoint").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

/// The failure of an attempt, with whether a retry may succeed.
struct Failure {
    why: String,
    /// The endpoint's own message.
    detail: String,
    may_pass: bool,
    wait: Option<Duration>,
}

impl Failure {
    fn lasting(why: impl Into<String>) -> Self {
        Self { why: why.into(), detail: String::new(), may_pass: false, wait: None }
    }

    fn passing(why: impl Into<String>) -> Self {
        Self { why: why.into(), detail: String::new(), may_pass: true, wait: None }
    }
}

/// Asks the endpoint, and returns what the model said.
///
/// # Errors
/// Why there is no answer, after all tries that made sense.
pub fn ask(endpoint: &Endpoint<'_>, payload: &Value, cancel: &Cancel) -> Result<String, NoAnswer> {
    let end = deadline::after(endpoint.deadline);
    let mut pause = HTTP_BACKOFF;
    let mut tries = 1;
    loop {
        if cancel.is_set() {
            return Err("it was cancelled".to_owned().into());
        }
        let left = end.saturating_duration_since(Instant::now());
        let failure = match try_once(endpoint, payload, left, cancel) {
            Ok(text) => return Ok(text),
            Err(failure) => failure,
        };
        let wait = failure.wait.unwrap_or(pause);
        if !failure.may_pass || tries >= HTTP_TRIES || deadline::after(wait) >= end {
            let after = if tries > 1 { format!(" (after {tries} tries)") } else { String::new() };
            let reason = format!("{}: {}{after}", endpoint.base_url, failure.why);
            return Err(NoAnswer { reason, detail: failure.detail });
        }
        std::thread::sleep(wait);
        (tries, pause) = (tries + 1, pause * 2);
    }
}

fn try_once(
    endpoint: &Endpoint<'_>,
    payload: &Value,
    left: Duration,
    cancel: &Cancel,
) -> Result<String, Failure> {
    let prompt = payload["my_prompt"].as_str().unwrap_or_default();
    let body = json!({
        "model": endpoint.model, "stream": true,
        "messages": [{"role": "system", "content": prompt}, {"role": "user", "content": ordered::line(payload)}],
    });
    let url = format!("{}/chat/completions", endpoint.base_url);
    let mut request = agent(&url)
        .post(&url)
        .config()
        .timeout_global(Some(left.max(Duration::from_millis(1))))
        .timeout_connect(Some(Duration::from_secs(20)))
        .http_status_as_error(false)
        .build()
        .header("content-type", "application/json")
        .header("accept", "text/event-stream");
    if let Some(key) = endpoint.key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let mut response = request.send(body.to_string()).map_err(|error| match error {
        ureq::Error::BadUri(why) => Failure::lasting(format!("base_url: {why}")),
        other => Failure::passing(other.to_string()),
    })?;
    let status = response.status().as_u16();
    let wait =
        response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    let mut reader = response.body_mut().as_reader().take(DRIVER_OUTPUT_MAX as u64);
    if status != 200 {
        let mut text = String::new();
        let _ = reader.take(4096).read_to_string(&mut text);
        let (why, detail) = (format!("status {status}"), gist(&text));
        let may_pass = status == 408 || status == 429 || status >= 500;
        return Err(Failure { why, detail, may_pass, wait: wait.map(Duration::from_secs) });
    }
    read_stream(BufReader::new(&mut reader), cancel)
}

/// Reads events: `data: {"choices": [{"delta": {"content": "…"}}]}` up to `data: [DONE]`.
fn read_stream(reader: impl BufRead, cancel: &Cancel) -> Result<String, Failure> {
    let (mut text, mut plain, mut is_done) = (String::new(), String::new(), false);
    for line in reader.lines() {
        if cancel.is_set() {
            return Err(Failure::lasting("it was cancelled"));
        }
        let line =
            line.map_err(|error| Failure::passing(format!("the stream broke off: {error}")))?;
        let Some(data) = line.strip_prefix("data:").map(str::trim) else {
            plain += &line;
            continue;
        };
        if data == "[DONE]" {
            is_done = true;
            break;
        }
        let event: Value = serde_json::from_str(data).map_err(|error| {
            Failure::passing(format!("an event of the stream is no JSON: {error}"))
        })?;
        if let Some(error) = event.get("error") {
            let why = error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned);
            return Err(Failure::passing(why));
        }
        let choice = &event["choices"][0];
        text += choice["delta"]["content"].as_str().unwrap_or_default();
        is_done |= choice["finish_reason"].is_string();
    }
    if is_done {
        return Ok(text);
    }
    // A server that doesn't stream answers all at once.
    let whole: Value = serde_json::from_str(&plain).unwrap_or_default();
    match whole["choices"][0]["message"]["content"].as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(Failure::passing("the stream ended before the answer did")),
    }
}

/// Returns the client; that for encrypted connections is made once, with the certificates that the
/// system trusts.
fn agent(url: &str) -> ureq::Agent {
    static ENCRYPTED: OnceLock<ureq::Agent> = OnceLock::new();
    if !url.starts_with("https:") {
        return ureq::Agent::new_with_config(ureq::Agent::config_builder().build());
    }
    let make = || {
        let found = rustls_native_certs::load_native_certs().certs;
        let certificates = found.iter().map(|one| Certificate::from_der(one).to_owned());
        let certificates: Vec<_> = certificates.collect();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::new_with_certs(&certificates))
            .unversioned_rustls_crypto_provider(provider)
            .build();
        ureq::Agent::new_with_config(ureq::Agent::config_builder().tls_config(tls).build())
    };
    ENCRYPTED.get_or_init(make).clone()
}
