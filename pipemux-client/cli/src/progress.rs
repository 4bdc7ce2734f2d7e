//! The progress of a request on a terminal.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pipemux_client::proto::app::Progress;
use pipemux_client::proto::text::is_deceptive_in_prose;

/// The progress bar, once there was progress to show.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Returns true if there is a terminal for it: standard error. Pipes and files get none of it.
pub fn is_wanted() -> bool {
    io::stderr().is_terminal()
}

/// Shows how far a request is, in place of what was shown before.
pub fn show(progress: &Progress) {
    let mut bar = BAR.lock().unwrap_or_else(PoisonError::into_inner);
    let bar = bar.get_or_insert_with(|| {
        ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr())
    });
    let template = match progress.total {
        0 => "{spinner} {msg}",
        _ => "{bar:30} {percent} % {msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_length(progress.total);
    bar.set_position(progress.done);
    // What an app says must not move the cursor or turn the text around.
    let plain = |c: &char| !c.is_control() && !is_deceptive_in_prose(*c);
    bar.set_message(progress.text.chars().filter(plain).collect::<String>());
    bar.tick();
}

/// Takes the bar away, before an answer is printed.
pub fn clear() {
    if let Some(bar) = BAR.lock().unwrap_or_else(PoisonError::into_inner).take() {
        bar.finish_and_clear();
    }
}
