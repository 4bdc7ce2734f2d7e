//! The window: the commands that run, and those that ended last.

use docui::{Lod, View, ViewRequest, tokens};

use crate::job::Job;
use crate::limits::WINDOW_RUNS;
use crate::model::Terminal;
use crate::query::{object, ports_words};
use crate::{answer, ports};

/// Shows the commands, the newest first.
pub fn view(app: &Terminal, request: &ViewRequest) -> View {
    // What it finds is in the next view, which is told of if it differs.
    app.jobs.watch_ports();
    let (running, ended): (Vec<_>, Vec<_>) =
        app.jobs.all().into_iter().rev().partition(|job| job.ended().is_none());
    let mut view = View::new(format!("{} running · {} ended", running.len(), ended.len()));
    if request.lod == Lod::Gist {
        return view;
    }
    let most = if request.lod == Lod::Full { usize::MAX } else { WINDOW_RUNS };
    let mut left = request.budget;
    let mut hidden = 0;
    for (index, job) in running.iter().chain(&ended).enumerate() {
        let line = line(job);
        let cost = tokens::estimate(&line) + tokens::estimate(&job.order.line) + 8;
        if cost > left || (index >= most && job.ended().is_some()) {
            hidden += cost;
            continue;
        }
        left -= cost;
        view.object(object(job)).text(line);
    }
    if running.is_empty() && ended.is_empty() {
        view.text("no command was run yet\n");
    }
    view.hidden(hidden);
    view
}

fn line(job: &Job) -> String {
    match job.ended() {
        Some(ended) => format!(" · {}\n", answer::brief(job, &ended, true)),
        None => {
            let ports = ports_words(&ports::of(&job.listens()));
            let newest = job.with(|state| state.newest_line());
            let newest = if newest.is_empty() { newest } else { format!(" · {newest}") };
            format!(" · runs{ports}{newest}\n")
        }
    }
}
