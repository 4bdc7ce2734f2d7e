//! How the tree is shown, and which sessions beside it.

use docui::{Done, Fault, Value, View};
use pipemux_memotree_store::config::{Config, PARTS, Settings, SourceConfig, lod_name};
use pipemux_memotree_store::{Committed, StoreError};

use crate::action::Action;
use crate::model::MemoTree;
use crate::update::told;
use crate::words;

/// The setting that has a document end with what each source took.
pub const DEBUG: &str = "debug";

/// The setting that shows the time of the view instead of that of the last change.
pub const TIME: &str = "time";

/// Carries out an action that sets how the tree is shown.
///
/// # Errors
/// A value isn't allowed, or memotree.toml is broken or can't be written.
pub fn change(tree: &mut MemoTree, action: Action) -> Result<(Done, Vec<Committed>), Fault> {
    match action {
        Action::Set { tokens, budget, codebase, debug, time } => {
            let budget = budget.map(u64::try_from).transpose();
            let budget = budget.map_err(|_| Fault::usage("budget: expected tokens, 0 for all"))?;
            let settings = Settings { tokens: tokens.map(Into::into), budget, codebase };
            let is_any = [debug, time].iter().any(Option::is_some);
            if settings == Settings::default() && !is_any {
                let call = tree.call("set(debug=true)");
                return Err(Fault::usage(format!("expected what to set; it is {}", shown(tree)))
                    .hint(docui::command::run(&call)));
            }
            // What may be refused comes first: a call that fails sets nothing.
            let done = tree.store().configure(&settings).map_err(|error| tree.fault(error))?;
            for (name, on) in [(DEBUG, debug), (TIME, time)] {
                if let Some(on) = on {
                    let set = tree.store().state.switch_on(name, on);
                    set.map_err(StoreError::from).map_err(|error| tree.fault(error))?;
                }
            }
            tree.look_at_panels();
            let brief = shown(tree);
            match settings == Settings::default() {
                true => Ok((Done::new(brief).complete(), Vec::new())),
                false => Ok(told(done, brief)),
            }
        }
        Action::SourceAdd { session, priority, weight, lod } => {
            let range = |what: &str| Fault::usage(format!("{what}: too large"));
            let source = SourceConfig {
                id: session,
                priority: i32::try_from(priority).map_err(|_| range("priority"))?,
                weight: u32::try_from(weight)
                    .map_err(|_| Fault::usage("weight: expected 1 or more"))?,
                lod: lod.into(),
            };
            if source.id == tree.address() {
                return Err(Fault::usage("session: this is the session of the tree itself"));
            }
            let done = tree.store().add_source(&source).map_err(|error| tree.fault(error))?;
            let open = docui::command::command(&["open", &source.id]);
            Ok(told(done, format!("{} · shown where it is open: {open}", source.id)))
        }
        Action::Quota { source, tokens } => {
            let tokens = u64::try_from(tokens)
                .map_err(|_| Fault::usage("tokens: expected a number, 0 for none"))?;
            let done = tree.store().set_quota(&source, tokens);
            let done = done.map_err(|error| tree.fault(error))?;
            let brief = match tokens {
                0 => format!("{source}: as usual"),
                tokens => format!("{source}: {tokens} tokens"),
            };
            Ok(told(done, brief))
        }
        Action::SourceRemove { session } => {
            let done = tree.store().remove_source(&session).map_err(|error| tree.fault(error))?;
            Ok(told(done, session))
        }
        other => Err(Fault::usage(format!("{other:?} is no setting"))),
    }
}

/// Returns the settings as they are.
fn shown(tree: &MemoTree) -> String {
    let Config { tokens, budget, codebase, .. } = &tree.config;
    let budget = budget.map_or_else(|| "as asked".to_owned(), |budget| budget.to_string());
    let codebase = codebase.unwrap_or(true);
    let (debug, time) = (tree.is_on(DEBUG), tree.is_on(TIME));
    let tokens = tokens.name();
    format!("tokens={tokens}, budget={budget}, codebase={codebase}, debug={debug}, time={time}")
}

/// Lists the sources of the document, in its order.
///
/// # Errors
/// None now; a source that can't be read is listed all the same.
pub fn list(tree: &MemoTree) -> Result<Done, Fault> {
    let mut view = View::new("");
    let quota = |id: &str| match tree.config.quotas.get(id) {
        Some(tokens) => format!(" · quota {tokens} tokens"),
        None => String::new(),
    };
    for part in PARTS {
        let about = match (part, tree.config.codebase.unwrap_or(true)) {
            ("codebase", true) => "the project's symbols; set(codebase=false) leaves it out",
            ("codebase", false) => "left out; set(codebase=true) shows it",
            _ => "always",
        };
        view.text(format!("- {part}: {about}{}\n", quota(part)));
    }
    let mut sources: Vec<&SourceConfig> = tree.config.sources.iter().collect();
    sources.sort_by_key(|source| std::cmp::Reverse((source.priority, source.weight)));
    for SourceConfig { id, priority, weight, lod } in &sources {
        let lod = lod_name(*lod);
        view.text(format!("- {id} · priority {priority} · weight {weight} · {lod}{}\n", quota(id)));
    }
    let ids = sources.iter().map(|source| Value::from(source.id.as_str())).collect();
    let brief = words::count((sources.len() + PARTS.len()) as u64, "source");
    Ok(Done::new(brief).content(view).value(Value::List(ids)))
}

impl MemoTree {
    /// Returns true if something is switched on for this session.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.store().state.is_on(name).unwrap_or(false)
    }
}
