//! Watches one figure for some seconds, on a thread of its own so that the app can serve others.

use std::thread;
use std::time::Duration;

use docui::{Blocking, Done, Fault, Reply, View};
use sysinfo::System;

use crate::action::Watched;
use crate::limits::FIRST_SHARE;
use crate::model::Monitor;
use crate::samples::{Figure, Samples, Schedule, Told};
use crate::watch_top::{self, Most};

/// Returns the work that takes the samples and tells them.
pub(crate) fn watch(what: Watched, schedule: Schedule, most: Most) -> Blocking<Monitor> {
    // The samples themselves take little.
    let deadline =
        schedule.total().saturating_add(FIRST_SHARE).saturating_add(Duration::from_secs(3));
    let one = move |figure| Ok(Told::line(sample(figure, schedule)?.tell(figure, schedule.every)));
    let work = move |_: &_| match what {
        Watched::Load => one(Figure::Load),
        Watched::Cpu => one(Figure::Cpu),
        Watched::Mem => one(Figure::Mem),
        Watched::Top => watch_top::watch(schedule, most),
    };
    Blocking::new("the samples", deadline, work, |_, told: Result<Told, Fault>, _| {
        let Told { brief, rows } = told?;
        let done = Done::new(brief.as_str()).complete();
        if rows.is_empty() {
            return Ok(Reply::from(done));
        }
        let mut view = View::default();
        view.text(rows);
        Ok(Reply::from(done.content(view)))
    })
}

fn sample(figure: Figure, schedule: Schedule) -> Result<Samples, Fault> {
    let unknown = |error| Fault::failed(format!("this system provides no figures: {error}"));
    let mut system = System::new().map_err(unknown)?;
    if figure == Figure::Cpu {
        // A share is taken over a period.
        system.refresh_cpu_usage();
        thread::sleep(FIRST_SHARE);
    }
    let mut values = Vec::new();
    schedule.each(|| {
        values.push(match figure {
            Figure::Load => {
                let load = System::load_average();
                load.map_err(|_| Fault::failed("this system tells no load average"))?.one
            }
            Figure::Cpu => {
                system.refresh_cpu_usage();
                f64::from(system.global_cpu_usage())
            }
            Figure::Mem => {
                system.refresh_memory();
                system.used_memory() as f64
            }
        });
        Ok(())
    })?;
    Ok(Samples { values, whole: system.total_memory() as f64 })
}
