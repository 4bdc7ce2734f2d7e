//! Whether commands may run: what the person's rules say, and the domain that holds a command to
//! what it may write.

use std::path::Path;
use std::sync::Arc;

use docui::{ConsentRequest, Context, Fault, regular_file};
use pipemux_confine::{Domain, Grants, Mode, Policy, Surroundings, WhyOff};

use super::Permit;
use crate::display::{below, in_home, shortened};
use crate::limits::CONSENT_TIME;
use crate::model::Terminal;
use crate::order::{Order, identity};
use crate::rules::{Rule, Verdict, verdict};

/// The rules for the commands of a session.
struct Rules {
    policy: Policy,
    mode: Mode,
}

impl Terminal {
    /// Returns permits to run commands.
    ///
    /// # Errors
    /// A rule refuses one of them, a person has to allow it first, its directory is missing, or it
    /// can't be confined.
    pub(crate) fn permits(
        &mut self,
        orders: Vec<Order>,
        context: &Context,
    ) -> Result<Vec<Permit>, Fault> {
        orders.iter().try_for_each(Order::check)?;
        let Rules { policy, mode } = self.rules()?;
        let mut asked = Vec::new();
        for order in &orders {
            match verdict(&policy, &order.line, &order.given) {
                Verdict::Runs => {}
                Verdict::Denied(rule) => return Err(self.denied(order, &rule, orders.len() > 1)),
                Verdict::Asks(rule) => asked.push((order, rule)),
            }
        }
        if let Some(request) = self.unallowed(&asked, context) {
            let rules: Vec<String> =
                asked.iter().map(|(order, rule)| self.says("ask", order, rule)).collect();
            return Err(Fault::refused(rules.join("; ")).needs_consent(request));
        }
        let domain = match mode {
            Mode::Off(why) => {
                self.tell(self.unconfined_note(why));
                None
            }
            Mode::Confined => Some(self.domain(&policy)),
            Mode::Impossible => {
                let request = unconfined();
                if !context.consents.contains(&request.key) {
                    let why = "this system can't confine commands, so a person has to allow that they run as the user";
                    let file = self.config_file();
                    let forever =
                        format!("or for good: confine = \"off\" below [terminal] in {file}");
                    return Err(Fault::refused(why).hint(forever).needs_consent(request));
                }
                None
            }
        };
        Ok(orders.into_iter().map(|order| Permit { order, domain: domain.clone() }).collect())
    }

    /// Says why commands aren't confined; nothing if a person wrote it.
    fn unconfined_note(&self, why: WhyOff) -> Option<String> {
        let why = match why {
            WhyOff::Set => return None,
            WhyOff::Container => "root in a container has the machine",
            WhyOff::Ci => "CI is set",
        };
        let file = self.config_file();
        Some(format!(
            "commands aren't confined, since {why}; to confine them: confine = \"workspace\" below [terminal] in {file}"
        ))
    }

    fn config_file(&self) -> String {
        self.own.config_file(&self.env)
    }

    fn rules(&self) -> Result<Rules, Fault> {
        let Some(config) = &self.own.config else {
            return Err(Fault::refused(
                "no command runs: the daemon didn't say where config.toml is",
            )
            .hint("pipemux down, then the call again"));
        };
        let read = |name: &str| match regular_file::read_to_string(&config.join(name))
            .map_err(std::io::Error::from)
        {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let file = self.in_home(&config.join(name));
                Err(Fault::refused(format!("no command runs: {file}: {error}")))
            }
            Ok(text) => Ok(Some(text)),
        };
        let file = self.config_file();
        // The file of earlier releases: what it forbade must not run because nobody reads it any
        // more.
        if read("terminal.toml")?
            .is_some_and(|text| ["ask", "deny"].iter().any(|list| text.contains(list)))
        {
            let old = self.in_home(&config.join("terminal.toml"));
            return Err(Fault::refused(format!("no command runs: {old} isn't read any more"))
                .hint(format!("move its ask and deny below [terminal] in {file}, and remove it")));
        }
        let policy = match read("config.toml")? {
            None => Policy::default(),
            Some(text) => Policy::of_config(&text).map_err(|why| {
                Fault::refused(format!("no command runs until this is mended: {file}: {why}"))
                    .hint("[terminal] may have confine, write, network, ask and deny: deny = [\"git push\"]")
            })?,
        };
        let mode = Mode::of(&policy, |name| self.env.get(name).cloned());
        Ok(Rules { policy, mode })
    }

    /// Returns what the session's commands are held to now.
    fn domain(&mut self, policy: &Policy) -> Arc<Domain> {
        let spare = self.state_dir.join("tmp");
        let around =
            Surroundings { folder: &self.cwd, env: &self.env, own: &self.own.all, spare: &spare };
        let grants = Grants::find(policy, &around);
        self.tell(self.left_out(&grants));
        Arc::new(Domain { grants, network: policy.network })
    }

    /// Says which parts of the workspace commands can't write to.
    fn left_out(&self, grants: &Grants) -> Option<String> {
        let shown: Vec<String> = grants
            .left_out
            .iter()
            .take(3)
            .map(|path| below(path, &grants.workspace).display().to_string())
            .collect();
        let more = match grants.left_out.len().saturating_sub(shown.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let workspace = self.in_home(&grants.workspace);
        if grants.left_out == [grants.workspace.clone()] {
            return Some(format!(
                "commands can't write to {workspace}, which isn't a project of its own or is protected; a person allows it: \
                 write = [{workspace:?}] below [terminal] in {}",
                self.config_file()
            ));
        }
        (!shown.is_empty()).then(|| {
            format!(
                "commands can't write to {}{more} in {workspace}, which is protected, nor make new files directly beside it",
                shown.join(", ")
            )
        })
    }

    fn denied(&self, order: &Order, rule: &Rule, is_one_of_several: bool) -> Fault {
        let which =
            if is_one_of_several { shortened(&order.whole()) + ": " } else { String::new() };
        Fault::refused(which + &self.says("deny", order, rule))
    }

    fn says(&self, list: &str, order: &Order, rule: &Rule) -> String {
        let what = match (list, rule.is_certain) {
            ("deny", true) => "it never runs".to_owned(),
            (_, true) => "a person allows it each time".to_owned(),
            (_, false) => {
                format!("the words of {:?} don't tell whether it is meant", shortened(&order.line))
            }
        };
        format!("{what}: {list} = [{:?}] in {}", rule.text, self.config_file())
    }

    /// Returns what a person has to allow before lines run which rules ask for; none if they have.
    fn unallowed(&self, asked: &[(&Order, Rule)], context: &Context) -> Option<ConsentRequest> {
        let orders: Vec<&Order> = asked.iter().map(|(order, _)| *order).collect();
        let key = format!("run sha256:{}", identity(&orders));
        if asked.is_empty() || context.consents.contains(&key) {
            return None;
        }
        let place = |order: &Order| match order.cwd == self.cwd {
            true => String::new(),
            false => format!(" in {}", self.in_home(below(&order.cwd, &self.cwd))),
        };
        let shows = asked
            .iter()
            .map(|(order, _)| format!("runs{}: {}", place(order), order.whole()))
            .collect();
        let what = match asked {
            [(order, _)] => format!("run {}", shortened(&order.whole())),
            _ => format!("run {} commands", asked.len()),
        };
        Some(ConsentRequest {
            key,
            what,
            shows,
            for_ms: CONSENT_TIME.as_millis().try_into().unwrap_or(0),
        })
    }

    fn in_home(&self, path: &Path) -> String {
        in_home(path, &self.env)
    }
}

/// Asks for commands on a system that can't confine them.
fn unconfined() -> ConsentRequest {
    ConsentRequest {
        key: "run commands unconfined".into(),
        what: "let commands of the terminal run as the user, without confinement".into(),
        shows: vec!["every command of an agent in this workspace may write and remove all that the user may".into()],
        for_ms: 0,
    }
}
