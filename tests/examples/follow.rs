//! A PipeMux app with jobs: it follows files, as `tail -f` does, each until a line of it says `end`
//! or `fail`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use docui::{
    App, Context, Fault, FilePath, Found, Handle, JobHandle, Opening, Reply, Started, View,
    ViewRequest, state_file,
};

docui::actions! {
    /// The actions on files.
    enum Action {
        /// Follows a file in a job: its lines are the output.
        changes featured Follow = follow(
            path: FilePath,
            /// How many lines there will be, if that is known.
            total: i64 = 0,
            /// Goes on after a crash, and while the session sleeps.
            lasting: bool = false,
        );
    }
}

struct Follower {
    handle: Handle,
    state_dir: PathBuf,
    /// How many jobs there were, which names the next one.
    count: u64,
    /// The jobs that another process can go on with: their keys, and the files that they follow.
    lasting: Vec<(String, PathBuf)>,
}

impl App for Follower {
    type Action = Action;

    const RESUMES: bool = true;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let saved = fs::read_to_string(opening.state_dir.join("jobs")).unwrap_or_default();
        let mut lines = saved.lines();
        let count = lines.next().and_then(|line| line.parse().ok()).unwrap_or(0);
        let lasting = lines.filter_map(|line| line.split_once('\t'));
        let lasting: Vec<_> =
            lasting.map(|(key, path)| (key.to_owned(), PathBuf::from(path))).collect();
        let (handle, state_dir) = (opening.handle.clone(), opening.state_dir.clone());
        Ok(Self { handle, state_dir, count, lasting })
    }

    fn update(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        let Action::Follow { path, total, lasting } = action;
        let path = context.path(&path.0);
        fs::metadata(&path)
            .map_err(|error| Fault::failed(format!("{}: {error}", path.display())))?;
        self.count += 1;
        let key = format!("follow-{}", self.count);
        if lasting {
            self.lasting.push((key.clone(), path.clone()));
        }
        self.save()?;
        let job = self.handle.job(key);
        let total = u64::try_from(total).unwrap_or(0);
        let name = path.file_name().unwrap_or_default().display().to_string();
        let started = Started::new(&job, format!("follow {name}")).total(total);
        follow(job, path, total);
        Ok(if lasting { started.sleeps() } else { started }.into())
    }

    fn resume_jobs(&mut self, keys: &[String]) {
        for (key, path) in self.lasting.iter().filter(|(key, _)| keys.contains(key)) {
            follow(self.handle.job(key), path.clone(), 0);
        }
    }

    fn view(&self, _: &ViewRequest) -> View {
        View::new(format!("{} jobs so far", self.count))
    }

    fn find(&self, _: &str) -> Found {
        Found::Gone(None)
    }

    fn save(&mut self) -> Result<(), Fault> {
        let mut saved = format!("{}\n", self.count);
        for (key, path) in &self.lasting {
            saved += &format!("{key}\t{}\n", path.display());
        }
        state_file::replace(&self.state_dir.join("jobs"), saved.as_bytes())
    }
}

/// Follows a file on a thread of its own, until one of its lines ends that.
fn follow(job: JobHandle, path: PathBuf, total: u64) {
    std::thread::spawn(move || {
        let (mut read, mut count) = (0, 0);
        loop {
            let text = match fs::read_to_string(&path) {
                Ok(text) => text,
                Err(error) => return job.failed(format!("{}: {error}", name(&path))),
            };
            let new = text.get(read..).unwrap_or_default();
            // A line that is being written isn't read yet.
            let whole = new.rfind('\n').map_or(0, |end| end + 1);
            for line in new[..whole].lines() {
                match line {
                    "end" => return job.done(format!("{count} lines")),
                    "fail" => return job.failed(format!("line {} says so", count + 1)),
                    _ => {}
                }
                count += 1;
                job.output(format!("{line}\n"));
                job.progress(count, total, line);
            }
            read += whole;
            if job.cancelled_within(Duration::from_millis(20)) {
                return job.cancelled(format!("{count} lines so far"));
            }
        }
    });
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().display().to_string()
}

fn main() -> std::process::ExitCode {
    docui::run::<Follower>()
}
