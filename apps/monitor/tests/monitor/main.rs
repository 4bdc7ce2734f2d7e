//! The monitor on this machine, and its window for fixed samples.
#![allow(clippy::unwrap_used)]

mod killing;

use std::process::Command;
use std::time::Duration;

use docui::testing::Host;
use docui::{Anchor, App, Found, Lod, View};
use killing::Sleep;
use pipemux_monitor::action::{By, Watched};
use pipemux_monitor::detail;
use pipemux_monitor::disks::DiskSampler;
use pipemux_monitor::resource::Resource;
use pipemux_monitor::sample::{Cpu, Disk, DiskSample, Memory, Period, Process, Sample};
use pipemux_monitor::settings::Settings;
use pipemux_monitor::{Action, Monitor, top, view};
use pipemux_proto::Value;
use pipemux_proto::app::{Done, Outcome};
use pipemux_proto::fault::{Code, Fault};
use proptest::prelude::*;
use tempfile::TempDir;

const GB: u64 = 1 << 30;

fn fixed() -> Sample {
    let process = |pid, name: &str, cpu, memory| Process {
        pid,
        start: 1_700_000_000,
        name: name.into(),
        cpu,
        memory,
    };
    let disk = |mount: &str, used, total, read_only| Disk {
        mount: mount.into(),
        kind: "ext4".into(),
        total,
        used,
        // Some is reserved for root.
        available: total * 95 / 100 - used.min(total * 95 / 100),
        read_only,
        own: mount == "/home",
    };
    Sample {
        cpu: Cpu {
            total: 37.8,
            cores: vec![90.2, 12.0],
            count: 2,
            over: Period::Last(Duration::from_millis(1500)),
        },
        memory: Memory { used: GB * 51 / 10, available: 18 * GB, total: 24 * GB },
        swap: (0, 2 * GB),
        disks: DiskSample {
            disks: vec![
                disk("/", 58 * GB, 100 * GB, false),
                disk("/cd", 4 * GB, 4 * GB, true),
                disk("/home", 10 * GB, 500 * GB, false),
            ],
            silent: false,
        },
        load: Some([0.84, 0.5, 0.25]),
        uptime: Some(3 * 3600),
        processes: vec![
            process(1, "init", 0.0, 8 << 20),
            process(20, "rustc", 71.4, GB),
            process(30, "browser", 5.0, 3 * GB),
        ],
    }
}

/// Returns a view as text. Only the views of an app can be had as text, so an app is made that
/// shows this one.
fn text(view: View) -> String {
    SHOWN.with(|shown| shown.replace(Some(view)));
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::<FixedView>::open(&[], dir.path(), dir.path()).unwrap();
    host.text(Lod::Full, 1000).unwrap()
}

thread_local! {
    static SHOWN: std::cell::RefCell<Option<View>> = const { std::cell::RefCell::new(None) };
}

/// An app that shows the view in [`SHOWN`].
struct FixedView(View);

impl App for FixedView {
    type Action = Action;
    fn open(_: &docui::Opening) -> Result<Self, Fault> {
        Ok(Self(SHOWN.with(|shown| shown.take()).unwrap()))
    }
    fn update(&mut self, _: Action, _: &docui::Context) -> Result<docui::Reply, Fault> {
        Ok(docui::Done::new("").into())
    }
    fn view(&self, _: &docui::ViewRequest) -> View {
        self.0.clone()
    }
    fn find(&self, _: &str) -> Found {
        Found::Gone(None)
    }
}

fn show(sample: &Sample, settings: &Settings, lod: Lod, budget: u64) -> String {
    text(view::view(sample, settings, lod, budget, "monitor/main"))
}

#[test]
fn gist_is_one_line() {
    let gist = "CPU 38% · mem 5.1/24 GB · disk 3% · load 0.8 · top: rustc 71%";
    assert_eq!(detail::gist(&fixed()), gist);
    let shown = show(&fixed(), &Settings::default(), Lod::Gist, 100);
    assert_eq!(shown, format!("## \n\n{gist}\n"));
    // A summary beyond the budget becomes a gist.
    assert_eq!(show(&fixed(), &Settings::default(), Lod::Summary, 20), shown);
    let first = Sample { cpu: Cpu { over: Period::Boot, ..fixed().cpu }, ..fixed() };
    assert!(detail::gist(&first).starts_with("CPU 38% since boot · mem "));
    assert_eq!(detail::gist(&Sample::default()), "CPU 0% since boot · mem 0/0 B");
}

#[test]
fn summary_has_a_line_for_each_resource() {
    let expected = "## \n[refresh](link:refresh) \n\
        CPU [38%](obj:cpu_load) · 2 cores [expand](link:expand)\n\
        memory [5.1/24 GB (21%)](obj:memory) [expand](link:expand)\n\
        swap [0/2 GB (0%)](obj:swap) [expand](link:expand)\n\
        disks [3](obj:disks) · /home 10/500 GB (3%) ext4 · fullest: / 58/100 GB (62%) ext4 [expand](link:expand)\n\
        load [0.8 0.5 0.2](obj:load) [expand](link:expand)\n\
        processes [3](obj:processes) · top: rustc 71%, browser 5% [expand](link:expand)\n";
    assert_eq!(show(&fixed(), &Settings::default(), Lod::Summary, 2000), expected);
}

#[test]
fn full_view_shows_all_details() {
    let settings = Settings { top: 2, by: By::Mem, ..Settings::default() };
    let shown = show(&fixed(), &settings, Lod::Full, 5000);
    for part in [
        "  over the last 1.5 s\n  core 1 90% · core 2 12%\n",
        "  used 5.1 GB · available 18 GB · total 24 GB\n",
        "  /cd 4/4 GB (100%) ext4 read-only\n  /home 10/500 GB (3%) ext4\n",
        "  1 min 0.8 · 5 min 0.5 · 15 min 0.2\n  up 3 h\n",
        "| top 2 by memory | pid | CPU | memory |\n|-|-|-|-|\n\
         | [browser](obj:p30-1700000000) | 30 | 5% | 3 GB |\n\
         | [rustc](obj:p20-1700000000) | 20 | 71% | 1 GB |\n",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    assert!(!shown.contains("init]"), "{shown}");
}

#[test]
fn details_beyond_the_budget_are_cut_with_a_hint() {
    let mut sample = fixed();
    let process = |pid| Process { pid, name: "worker".into(), ..Process::default() };
    sample.processes = (1..=200).map(process).collect();
    let settings = Settings { top: 100, ..Settings::default() };
    let shown = show(&sample, &settings, Lod::Full, 500);
    assert!(docui::tokens::estimate(&shown) < 700, "{shown}");
    assert!(shown.contains("[worker](obj:p1-0)"), "{shown}");
    assert!(shown.contains("… cut to fit: pipemux view monitor/main --budget "), "{shown}");
}

proptest! {
    /// No figures make rendering fail, whatever the system reports.
    #[test]
    fn any_sample_is_shown_at_any_level_and_budget(
        shares in proptest::collection::vec(any::<f32>(), 0..20),
        sizes in proptest::collection::vec(any::<u64>(), 6),
        name in "\\PC{0,20}",
        budget in any::<u64>(),
    ) {
        let sample = Sample {
            cpu: Cpu { total: *shares.first().unwrap_or(&0.0), cores: shares.clone(), ..Cpu::default() },
            memory: Memory { used: sizes[0], available: sizes[1], total: sizes[2] },
            swap: (sizes[3], sizes[4]),
            disks: DiskSample {
                disks: vec![Disk { mount: name.clone(), total: sizes[4], used: sizes[3], available: sizes[5], ..Disk::default() }],
                silent: budget % 2 == 0,
            },
            load: shares.first().map(|share| [f64::from(*share); 3]),
            uptime: Some(sizes[0]),
            processes: shares.iter().map(|cpu| Process { cpu: *cpu, name: name.clone(), ..Process::default() }).collect(),
        };
        prop_assert_eq!(detail::gist(&sample).lines().count(), 1);
        for lod in [Lod::Gist, Lod::Summary, Lod::Full] {
            let view = || view::view(&sample, &Settings::default(), lod, budget, "monitor/main");
            prop_assert_eq!(view(), view());
        }
    }
}

fn disks() -> DiskSampler {
    DiskSampler::new("/".into(), docui::Handle::default())
}

fn open(dir: &TempDir) -> Host<Monitor> {
    Host::open_as("monitor/main", &[], dir.path(), dir.path()).unwrap()
}

fn done(host: &mut Host<Monitor>, action: Action) -> Done {
    match host.invoke(&action) {
        Outcome::Done(done) => done,
        other => panic!("{action:?} should be done: {other:?}"),
    }
}

fn fault(host: &mut Host<Monitor>, action: Action) -> Fault {
    match host.invoke(&action) {
        Outcome::Failed(fault) => fault,
        other => panic!("{action:?} should fail: {other:?}"),
    }
}

fn expand(keys: &[&str]) -> Action {
    let items = keys.iter().map(|key| Anchor::new(*key, 0)).collect();
    Action::Expand { items, level: None }
}

#[test]
fn settings_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    // As an earlier release saved them.
    std::fs::write(dir.path().join("settings.toml"), "top = 3\nby = 'mem'\n").unwrap();
    let mut host = open(&dir);
    assert_eq!(
        done(&mut host, expand(&["cpu", "load", "processes"])).brief,
        "CPU, load, processes in detail"
    );
    let collapse = Action::Collapse { items: vec![Anchor::new("load", 0)] };
    assert_eq!(done(&mut host, collapse).brief, "load in one line");
    drop(host);
    let mut host = open(&dir);
    let shown = host.text(Lod::Summary, 2000).unwrap();
    assert!(shown.contains("| top 3 by memory | pid | CPU | memory |\n"), "{shown}");
    assert_eq!(shown.matches("[collapse](link:collapse)").count(), 2, "{shown}");
    assert_eq!(shown.matches("](obj:p").count() - 1, 3, "{shown}");
    let gist = host.text(Lod::Gist, 100).unwrap();
    assert!(gist.starts_with("## \n\nCPU ") && gist.lines().count() == 3, "{gist}");
}

#[test]
fn resources_and_processes_are_named_by_words() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = open(&dir);
    let mut call = |action: &str, param: &'static str, names: &[&str]| {
        let names = Value::List(names.iter().map(|name| Value::from(*name)).collect());
        match host.call(action, [(param, names.into())]) {
            Outcome::Done(done) => done.brief,
            Outcome::Failed(fault) => format!("{} {:?}", fault.message, fault.hints),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(call("expand", "items", &["CPU", "memory"]), "CPU, memory in detail");
    assert_eq!(call("collapse", "items", &["cpu"]), "CPU in one line");
    assert_eq!(
        call("expand", "items", &["heat"]),
        "\"heat\" is no resource [\"the resources are cpu_load, memory, swap, disks, load, processes\"]"
    );
    let mut sleep = Sleep::spawn(&mut Command::new("sleep"));
    drop(host);
    let mut host = open(&dir);
    let pid = sleep.0.id().to_string();
    let Outcome::Needs(asked) = host.call("kill", [("process", Value::from(pid.as_str()).into())])
    else {
        panic!("should ask")
    };
    assert!(asked.question.text.contains(&format!("sleep (pid {pid})")), "{asked:?}");
    assert!(sleep.is_alive());
}

#[test]
fn top_tells_the_largest_processes_and_its_own_apart() {
    let mut sample = fixed();
    let mut add = |pid, name: &str, memory| {
        sample.processes.push(Process { pid, name: name.into(), memory, ..Process::default() });
    };
    add(40, "pipemux", 4 * GB);
    add(50, "pipemux-editor", 40 << 20);
    let told = |n, by| {
        let (brief, text) = top::told(&sample, n, by).unwrap();
        format!("{brief}\n{text}")
    };
    assert_eq!(
        told(2, By::Mem),
        "2 of 5 processes by memory\nbrowser 3 GB · pid 30 · CPU 5%\nrustc 1 GB · pid 20 · CPU 71%\n\
         left out: 1 of PipeMux's own, 4 GB\n"
    );
    assert_eq!(told(1, By::Cpu), "1 of 5 processes by CPU\nrustc 71% · pid 20 · 1 GB\n");
    assert!(told(100, By::Mem).ends_with("left out: 2 of PipeMux's own, 4 GB together\n"));
}

#[test]
fn watching_leaves_the_monitor_free_for_others() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = open(&dir);
    let watch = Action::Watch { what: Watched::Load, seconds: 1, every: 1, n: None, by: None };
    assert!(host.begin(&watch).is_none(), "it goes on elsewhere");
    done(&mut host, Action::Refresh {});
    let told = host.wait_for_answer().unwrap();
    let Outcome::Done(done) = told else { panic!("{told:?}") };
    assert!(done.brief.starts_with("load every 1 s: ") && done.brief.contains(" · "), "{done:?}");
    let wrong = Action::Watch { what: Watched::Cpu, seconds: 3600, every: 3, n: None, by: None };
    assert_eq!(fault(&mut host, wrong).message, "seconds: expected 3 to 25, not 3600");
}

#[test]
fn invalid_arguments_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = open(&dir);
    for n in [0, -1, 101, i64::MAX, i64::MIN] {
        let fault = fault(&mut host, Action::Top { n, by: By::Cpu });
        assert_eq!(fault.code, Code::Usage);
        assert_eq!(fault.message, format!("n: expected 1 to 100, not {n}"));
    }
    let other = expand(&["nonsense"]);
    assert_eq!(fault(&mut host, other).code, Code::NotFound);
    let arguments = Host::<Monitor>::open_as("monitor/main", &["x"], dir.path(), dir.path()).err();
    assert_eq!(arguments.map(|fault| fault.code), Some(Code::Usage));
}

#[test]
fn process_is_found_by_pid_and_start_time() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("settings.toml"), "top = 100\nby = 'mem'\n").unwrap();
    let mut host = open(&dir);
    done(&mut host, expand(&["processes"]));
    let shown = host.text(Lod::Summary, 20_000).unwrap();
    let key = shown.split("](obj:p").nth(2).and_then(|rest| rest.split(')').next()).unwrap();
    let (app, key) = (host.app().unwrap(), format!("p{key}"));
    assert_eq!(app.find(&key), Found::Here(0));
    assert_eq!(app.find("p1-1"), Found::Gone(Some("The process ended".into())));
    assert_eq!(app.find("nonsense"), Found::Gone(None));
    assert!(app.read(&key).is_ok() && app.read("p1-1").is_err());
    for resource in Resource::ALL {
        assert_eq!(app.find(resource.key()), Found::Here(0));
        let text = String::from_utf8(app.read(resource.key()).unwrap()).unwrap();
        assert!(text.starts_with(resource.label()), "{text}");
    }
    done(&mut host, Action::Fold { resource: Anchor::new("processes", 0) });
    let app = host.app().unwrap();
    let Found::Hidden { how, .. } = app.find(&key) else { panic!("{:?}", app.find(&key)) };
    assert_eq!(how, "pipemux run 'monitor.expand(\"processes\")'");
}

#[test]
fn refresh_answers_with_the_gist_of_a_new_sample() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = open(&dir);
    let brief = done(&mut host, Action::Refresh {}).brief;
    assert!(brief.starts_with("CPU ") && brief.contains(" · mem "), "{brief}");
}

#[test]
fn number_and_order_are_for_watched_processes() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = open(&dir);
    let watch = |what, n| Action::Watch { what, seconds: 1, every: 1, n, by: Some(By::Cpu) };
    let refused = fault(&mut host, watch(Watched::Load, None));
    assert_eq!(refused.message, "n and by are for processes: what='top'");
    let hint = refused.hints.join(" ");
    assert!(hint.contains("seconds=1, every=1"), "{hint}");
    let refused = fault(&mut host, watch(Watched::Top, Some(0)));
    assert_eq!(refused.message, "n: expected 1 to 100, not 0");
}
