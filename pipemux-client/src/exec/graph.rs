//! The tools of the MCP reference server for memory: a graph of entities and relations, in a file
//! of lines of JSON as that server has it. It lies where the files of `memory` lie.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arguments::Arguments;
use super::daemon::Daemon;
use super::memory;
use super::outcome::{Failure, Outcome, ToolAnswer};

/// Largest graph, in bytes.
const GRAPH_MAX: usize = 8 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entity {
    name: String,
    entity_type: String,
    observations: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Relation {
    from: String,
    to: String,
    relation_type: String,
}

#[derive(Debug, Default, Serialize)]
struct Graph {
    entities: Vec<Entity>,
    relations: Vec<Relation>,
}

/// A line of the graph's file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Entity(Entity),
    Relation(Relation),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Observations {
    entity_name: String,
    #[serde(alias = "observations")]
    contents: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Added {
    entity_name: String,
    added_observations: Vec<String>,
}

/// Carries out a call of one of the tools.
///
/// # Errors
/// The graph can't be read or written, or names what isn't there. No daemon is needed.
pub fn answer(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let file = memory::root(daemon).join(".graph.jsonl");
    let mut graph = read(&file)?;
    let text = match arguments.tool {
        "create_entities" => pretty(&graph.create(given(arguments, "entities")?)),
        "create_relations" => pretty(&graph.relate(given(arguments, "relations")?)?),
        "add_observations" => pretty(&graph.observe(given(arguments, "observations")?)?),
        "delete_entities" => graph.delete(&given::<String>(arguments, "entityNames")?),
        "delete_observations" => graph.forget(given(arguments, "deletions")?),
        "delete_relations" => graph.separate(&given(arguments, "relations")?),
        "search_nodes" => {
            let words = arguments.text("query")?.to_lowercase();
            let has = |text: &String| text.to_lowercase().contains(&words);
            return Ok(ToolAnswer::done(pretty(&graph.part(|entity| {
                has(&entity.name) || has(&entity.entity_type) || entity.observations.iter().any(has)
            }))));
        }
        "open_nodes" => {
            let names: Vec<String> = given(arguments, "names")?;
            let part = graph.part(|entity| names.contains(&entity.name));
            return Ok(ToolAnswer::done(pretty(&part)));
        }
        _ => return Ok(ToolAnswer::done(pretty(&graph))),
    };
    write(&file, &graph)?;
    Ok(ToolAnswer::done(text))
}

impl Graph {
    /// Returns the entities that are new.
    fn create(&mut self, entities: Vec<Entity>) -> Vec<Entity> {
        let mut new = Vec::new();
        for entity in entities {
            if self.entities.iter().all(|known| known.name != entity.name) {
                self.entities.push(entity.clone());
                new.push(entity);
            }
        }
        new
    }

    /// Returns the relations that are new.
    fn relate(&mut self, relations: Vec<Relation>) -> Result<Vec<Relation>, Failure> {
        let mut new = Vec::new();
        for relation in relations {
            for name in [&relation.from, &relation.to] {
                self.entity(name)?;
            }
            if !self.relations.contains(&relation) {
                self.relations.push(relation.clone());
                new.push(relation);
            }
        }
        Ok(new)
    }

    fn observe(&mut self, observations: Vec<Observations>) -> Result<Vec<Added>, Failure> {
        let mut added = Vec::new();
        for Observations { entity_name, mut contents } in observations {
            let entity = self.entity(&entity_name)?;
            contents.retain(|content| !entity.observations.contains(content));
            entity.observations.extend(contents.iter().cloned());
            added.push(Added { entity_name, added_observations: contents });
        }
        Ok(added)
    }

    /// Deletes entities and their relations, and says which there were.
    fn delete(&mut self, names: &[String]) -> String {
        let is_known = |name: &str| self.entities.iter().any(|entity| entity.name == name);
        let missing: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| !is_known(name)).collect();
        let text = match missing.len() {
            0 => "Entities deleted successfully".to_owned(),
            lacking => format!(
                "Deleted {} of {} entities. Not found: {}",
                names.len().saturating_sub(lacking),
                names.len(),
                missing.join(", ")
            ),
        };
        self.entities.retain(|entity| !names.contains(&entity.name));
        self.relations.retain(|one| !names.contains(&one.from) && !names.contains(&one.to));
        text
    }

    /// Deletes observations, and says how many there were.
    fn forget(&mut self, deletions: Vec<Observations>) -> String {
        let (mut wanted, mut gone, mut missing) = (0_usize, 0_usize, Vec::new());
        for Observations { entity_name, contents } in deletions {
            wanted = wanted.saturating_add(contents.len());
            match self.entity(&entity_name) {
                Err(_) => missing.push(entity_name),
                Ok(entity) => {
                    let before = entity.observations.len();
                    entity.observations.retain(|one| !contents.contains(one));
                    gone = gone.saturating_add(before.saturating_sub(entity.observations.len()));
                }
            }
        }
        let lacking = match missing.is_empty() {
            true => String::new(),
            false => format!(" Entities not found: {}", missing.join(", ")),
        };
        match gone == wanted {
            true => "Observations deleted successfully".to_owned(),
            false => format!("Deleted {gone} of {wanted} observations.{lacking}"),
        }
    }

    /// Deletes relations, and says how many there were.
    fn separate(&mut self, gone: &[Relation]) -> String {
        let before = self.relations.len();
        self.relations.retain(|relation| !gone.contains(relation));
        match before.saturating_sub(self.relations.len()) {
            all if all == gone.len() => "Relations deleted successfully".to_owned(),
            some => {
                format!("Deleted {some} of {} relations. The rest matched nothing.", gone.len())
            }
        }
    }

    fn entity(&mut self, name: &str) -> Result<&mut Entity, Failure> {
        let found = self.entities.iter_mut().find(|entity| entity.name == name);
        found.ok_or_else(|| ToolAnswer::failed(format!("Entity with name {name} not found")).into())
    }

    /// Returns the entities that are wanted, and the relations that touch one of them.
    fn part(self, is_wanted: impl Fn(&Entity) -> bool) -> Graph {
        let Graph { mut entities, mut relations } = self;
        entities.retain(is_wanted);
        let names: HashSet<&str> = entities.iter().map(|entity| entity.name.as_str()).collect();
        relations
            .retain(|one| names.contains(one.from.as_str()) || names.contains(one.to.as_str()));
        Graph { relations, entities }
    }
}

fn given<T: DeserializeOwned>(arguments: &Arguments<'_>, name: &str) -> Result<Vec<T>, Failure> {
    let value = arguments.given(name).cloned().unwrap_or(Value::Null);
    serde_json::from_value(value).map_err(|error| {
        ToolAnswer::failed(format!("{}: the parameter `{name}`: {error}", arguments.tool)).into()
    })
}

fn pretty<T: Serialize>(value: &T) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn failed(error: &std::io::Error) -> Failure {
    ToolAnswer::failed(format!("the graph can't be kept: {error}")).into()
}

fn read(file: &PathBuf) -> Result<Graph, Failure> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Graph::default()),
        Err(error) => return Err(failed(&error)),
    };
    let mut graph = Graph::default();
    // As that server does, a line that can't be read is passed over.
    for line in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
        match line {
            Line::Entity(entity) => graph.entities.push(entity),
            Line::Relation(relation) => graph.relations.push(relation),
        }
    }
    Ok(graph)
}

/// Writes the graph whole or not at all.
fn write(file: &PathBuf, graph: &Graph) -> Result<(), Failure> {
    let entities = graph.entities.iter().cloned().map(Line::Entity);
    let lines = entities.chain(graph.relations.iter().cloned().map(Line::Relation));
    let lines: Vec<String> =
        lines.map(|line| serde_json::to_string(&line).unwrap_or_default()).collect();
    let text = lines.join("\n") + "\n";
    if text.len() > GRAPH_MAX {
        return Err(ToolAnswer::failed(format!(
            "the graph would have more than {GRAPH_MAX} bytes"
        ))
        .into());
    }
    let written = || {
        let folder = file.parent().unwrap_or(file);
        fs::create_dir_all(folder)?;
        let beside = folder.join(format!(".graph-{}", std::process::id()));
        let mut new = fs::File::create(&beside)?;
        new.write_all(text.as_bytes())?;
        new.sync_all()?;
        fs::rename(&beside, file)
    };
    written().map_err(|error| failed(&error))
}
