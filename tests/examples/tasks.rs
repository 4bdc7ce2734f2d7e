//! A task list: arguments that are records, a form with fields of its own, and a secret.

use std::path::PathBuf;

use docui::{
    App, Ask, Context, Done, Fault, Found, Object, Opening, Reply, Secret, View, ViewRequest,
    state_file,
};

docui::choices! {
    /// The columns of the board.
    enum Column { Todo = "todo", Doing = "doing", Done = "done" }
}
docui::record! {
    /// A step of a task.
    struct Step {
        name: String [min 1, max 40],
        minutes: i64 [min 1, max 480] = 30,
    }
}
docui::record! {
    /// What is asked for to connect.
    struct Account {
        /// The host's name.
        host: String [pattern "[a-z.]+"],
        port: i64 [min 1, max 65535] = 443,
        password: Secret,
    }
}
docui::actions! {
    /// The actions of the list.
    enum Action {
        /// Adds a task.
        changes featured Add = add(
            /// What is to be done.
            title: String,
            column: Column,
            /// The person who does it.
            owner: String,
            steps: Vec<Step> = Vec::new(),
        );
        /// Connects to a host; asks for the account.
        changes listed Connect = connect();
        /// Opens the archive.
        changes listed Unlock = unlock(password: Secret);
    }
}

struct Tasks {
    /// Kept in a file: a key is a line's place, and names the same task after a restart.
    lines: Vec<String>,
    state: String,
    path: PathBuf,
}

impl App for Tasks {
    type Action = Action;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        let path = opening.state_dir.join("tasks.json");
        let unreadable = |error| Fault::failed(format!("{}: {error}", path.display()));
        let lines = match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(unreadable)?,
            Err(_) => Vec::new(),
        };
        Ok(Self { lines, state: "locked".into(), path })
    }

    fn update(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        match action {
            Action::Add { title, .. } if self.lines.iter().any(|line| line.starts_with(&title)) => {
                Err(Fault::usage("title: there is such a task").field("title"))
            }
            Action::Add { title, column, owner, steps } => {
                let minutes: i64 = steps.iter().map(|step| step.minutes).sum();
                let steps: Vec<String> = steps.into_iter().map(|step| step.name).collect();
                self.lines.push(format!(
                    "{title} · {column:?} · {owner} · {minutes} min: {}",
                    steps.join(", ")
                ));
                let text = serde_json::to_vec(&self.lines);
                let text = text.map_err(|error| Fault::failed(error.to_string()))?;
                state_file::replace(&self.path, &text)?;
                Ok(Done::new(format!("{title}, {minutes} min")).into())
            }
            Action::Connect {} => match context.form::<Account>()? {
                None => {
                    Ok(Ask::form::<Account>("an account").default("host", "example.org").into())
                }
                Some(account) if account.host == "localhost" => {
                    Err(Fault::usage("host: not this machine").field("host"))
                }
                Some(Account { host, port, password }) => {
                    self.state = format!("connected to {host}:{port}");
                    let length = password.reveal().len();
                    Ok(Done::new(format!("{host}, {length} characters")).into())
                }
            },
            Action::Unlock { password } => {
                self.state = "open".into();
                Ok(Done::new(format!("{} characters", password.reveal().len())).into())
            }
        }
    }

    fn view(&self, _: &ViewRequest) -> View {
        let mut view = View::new(format!("{} tasks · {}", self.lines.len(), self.state));
        for (index, line) in self.lines.iter().enumerate() {
            view.object(Object::new(format!("t{index}"), line).ty("task")).text("\n");
        }
        view
    }

    fn find(&self, key: &str) -> Found {
        let index = key.strip_prefix('t').and_then(|index| index.parse::<usize>().ok());
        match index.is_some_and(|index| index < self.lines.len()) {
            true => Found::Here(0),
            false => Found::Gone(None),
        }
    }
}

fn main() -> std::process::ExitCode {
    docui::run::<Tasks>()
}
