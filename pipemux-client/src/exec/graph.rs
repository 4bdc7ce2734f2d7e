//! The tools of the MCP reference server for memory: a graph of entities and relations, in a file of lines of JSON as that
//! server has it. It lies where the files of `memory` lie.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::daemon::Daemon;
use super::memory;
use super::{Arguments, Failure, Outcome, ToolAnswer};

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

/// A line of the file.
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
        "create_entities" => {
            let mut new = Vec::new();
            for entity in given::<Entity>(arguments, "entities")? {
                if graph.entities.iter().all(|known| known.name != entity.name) {
                    graph.entities.push(entity.clone());
                    new.push(entity);
                }
            }
            pretty(&new)
        }
        "create_relations" => {
            let mut new = Vec::new();
            for relation in given::<Relation>(arguments, "relations")? {
                for name in [&relation.from, &relation.to] {
                    graph.entity(name)?;
                }
                if !graph.relations.contains(&relation) {
                    graph.relations.push(relation.clone());
                    new.push(relation);
                }
            }
            pretty(&new)
        }
        "add_observations" => {
            let mut added = Vec::new();
            for Observations { entity_name, mut contents } in given(arguments, "observations")? {
                let entity = graph.entity(&entity_name)?;
                contents.retain(|content| !entity.observations.contains(content));
                entity.observations.extend(contents.iter().cloned());
                added.push(Added { entity_name, added_observations: contents });
            }
            pretty(&added)
        }
        "delete_entities" => {
            let names: Vec<String> = given(arguments, "entityNames")?;
            let missing: Vec<&str> = names
                .iter()
                .map(String::as_str)
                .filter(|name| graph.entities.iter().all(|entity| entity.name != *name))
                .collect();
            let told = match missing.len() {
                0 => "Entities deleted successfully".to_owned(),
                lacking => format!(
                    "Deleted {} of {} entities. Not found: {}",
                    names.len().saturating_sub(lacking),
                    names.len(),
                    missing.join(", ")
                ),
            };
            graph.entities.retain(|entity| !names.contains(&entity.name));
            graph.relations.retain(|one| !names.contains(&one.from) && !names.contains(&one.to));
            told
        }
        "delete_observations" => {
            let (mut wanted, mut gone, mut missing) = (0_usize, 0_usize, Vec::new());
            for Observations { entity_name, contents } in given(arguments, "deletions")? {
                wanted = wanted.saturating_add(contents.len());
                match graph.entity(&entity_name) {
                    Err(_) => missing.push(entity_name),
                    Ok(entity) => {
                        let before = entity.observations.len();
                        entity.observations.retain(|one| !contents.contains(one));
                        gone =
                            gone.saturating_add(before.saturating_sub(entity.observations.len()));
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
        "delete_relations" => {
            let gone: Vec<Relation> = given(arguments, "relations")?;
            let before = graph.relations.len();
            graph.relations.retain(|relation| !gone.contains(relation));
            match before.saturating_sub(graph.relations.len()) {
                all if all == gone.len() => "Relations deleted successfully".to_owned(),
                some => {
                    format!("Deleted {some} of {} relations. The rest matched nothing.", gone.len())
                }
            }
        }
        "search_nodes" => {
            let words = arguments.text("query")?.to_lowercase();
            let has = |text: &String| text.to_lowercase().contains(&words);
            return Ok(ToolAnswer::done(pretty(&graph.part(|entity| {
                has(&entity.name) || has(&entity.entity_type) || entity.observations.iter().any(has)
            }))));
        }
        "open_nodes" => {
            let names: Vec<String> = given(arguments, "names")?;
            return Ok(ToolAnswer::done(pretty(
                &graph.part(|entity| names.contains(&entity.name)),
            )));
        }
        _ => return Ok(ToolAnswer::done(pretty(&graph))),
    };
    write(&file, &graph)?;
    Ok(ToolAnswer::done(text))
}

impl Graph {
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
