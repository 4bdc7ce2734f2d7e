//! Signed consensus: what the coach writes of the roles stands once the roles that it cites have confirmed it, each in one
//! turn, all at the same time. Only roles agree; the coach proposes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::course::Course;
use crate::event::{By, Refusal};
use crate::role::Role;
use crate::turn::{Disagreement, Extraction, Reserved, Synthesis, count};

/// What waits for the roles' confirmation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Signing {
    /// What the coach wrote, in its order.
    pub points: Vec<Point>,
    /// What each role answered, one for each point that cites it, in order.
    pub answers: BTreeMap<Role, Vec<Answer>>,
}

/// Something that the coach wrote of some roles.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// What it is: `agreed`, `conflicting`, `reserved` or `position`.
    pub kind: &'static str,
    /// The coach's words.
    pub text: String,
    /// The topic of a position, the severity of a reservation.
    pub of: String,
    /// The roles that it cites.
    pub roles: Vec<Role>,
}

/// What a role says of a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It stands.
    Yes,
    /// It doesn't.
    No,
    /// This does.
    Reword(String),
}

impl Signing {
    /// Returns the points that cite a role.
    pub fn of(&self, role: Role) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(move |point| point.roles.contains(&role))
    }

    /// Returns what the roles said of a point, as far as they were asked.
    fn said(&self, index: usize) -> Vec<(Role, &Answer)> {
        let Some(point) = self.points.get(index) else { return Vec::new() };
        let answer = |role: &Role| {
            let before = self.points.iter().take(index);
            let at = before.filter(|earlier| earlier.roles.contains(role)).count();
            Some((*role, self.answers.get(role)?.get(at)?))
        };
        point.roles.iter().filter_map(answer).collect()
    }

    /// Returns the points of a kind with what was said of them.
    fn settled(&self, kind: &str) -> impl Iterator<Item = (&Point, Vec<(Role, &Answer)>)> {
        let all = self.points.iter().enumerate();
        all.filter(move |(_, point)| point.kind == kind).map(|(at, point)| (point, self.said(at)))
    }

    /// Returns the points that are agreed on, and those that aren't, with who doesn't agree.
    fn agreed(&self) -> (Vec<String>, Vec<String>) {
        let (mut agreed, mut open) = (Vec::new(), Vec::new());
        for (point, said) in self.settled("agreed") {
            match said.as_slice() {
                // Its own words for its own point.
                [(_, Answer::Reword(text))] if point.roles.len() == 1 => agreed.push(text.clone()),
                said if !said.is_empty() && said.iter().all(|(_, one)| **one == Answer::Yes) => {
                    agreed.push(point.text.clone());
                }
                said => open.push(with_words(&point.text, said)),
            }
        }
        (agreed, open)
    }
}

/// Writes a point with what roles said of it that isn't plain consent.
fn with_words(text: &str, said: &[(Role, &Answer)]) -> String {
    let words = said.iter().filter_map(|(role, answer)| match answer {
        Answer::Yes => None,
        Answer::No => Some(format!("{role}: no")),
        Answer::Reword(words) => Some(format!("{role}: {words}")),
    });
    let words: Vec<String> = words.collect();
    match (words.is_empty(), said.is_empty()) {
        (_, true) => format!("{text} (nobody confirmed it)"),
        (true, _) => text.to_owned(),
        (false, _) => format!("{text} ({})", words.join("; ")),
    }
}

impl Course {
    /// Returns the roles that are still to confirm something.
    pub(crate) fn signers(&self) -> Vec<Role> {
        let Some(signing) = &self.signing else { return Vec::new() };
        let is_asked = |role: &Role| {
            !self.left_out.contains(role)
                && !signing.answers.contains_key(role)
                && signing.of(*role).next().is_some()
        };
        Role::ALL.into_iter().filter(is_asked).collect()
    }

    /// Takes what a role says of the points that cite it.
    pub(crate) fn confirmed(&mut self, role: Role, answer: &Value, by: &By) -> Result<(), Refusal> {
        let Some(signing) = &mut self.signing else { return Ok(()) };
        let answers: Vec<Answer> = items(answer, "answers").map(read_answer).collect();
        let expected = signing.of(role).count();
        if answers.len() != expected {
            let message = format!("answers: {} for {}", answers.len(), count(expected, "point"));
            return Err(Refusal::new(message, ""));
        }
        let yes = answers.iter().filter(|one| **one == Answer::Yes).count();
        let mut gist = format!("confirms {yes} of {}", count(expected, "point"));
        let mut text = gist.clone();
        for (point, answer) in signing.of(role).zip(&answers) {
            let word = match answer {
                Answer::Yes => "yes".to_owned(),
                Answer::No => "no".to_owned(),
                Answer::Reword(words) => format!("rather: {words}"),
            };
            text += &format!("\n- {} · {word}", point.text);
            if *answer != Answer::Yes {
                gist += &format!(" · {} · {word}", point.text);
            }
        }
        signing.answers.insert(role, answers);
        self.note(self.stage.shown(), role.name().into(), by, gist, &text);
        Ok(())
    }

    /// Lets what was confirmed stand.
    pub(crate) fn settle(&mut self) {
        let Some(signing) = self.signing.take() else { return };
        let (agreed, mut open) = signing.agreed();
        if let Some(made) = &mut self.synthesis {
            made.agreed_points.retain(|text| self.signed.contains(text));
            made.agreed_points.extend(agreed.iter().cloned());
            made.unsigned_points = open;
            made.reserved_points = signing
                .settled("reserved")
                .filter_map(|(point, said)| {
                    let concern = stands(point, &said)?;
                    let role = point.roles.first()?.name().to_owned();
                    Some(Reserved { role, concern, severity: point.of.clone() })
                })
                .collect();
            for topic in &mut made.strong_disagreements {
                topic.positions = positions(&signing, &topic.topic);
            }
            made.strong_disagreements.retain(|one| !one.positions.is_empty());
        } else if let Some(made) = &mut self.extraction {
            for (point, said) in signing.settled("conflicting") {
                // What all that it cites deny is nobody's.
                if said.is_empty() || said.iter().any(|(_, one)| **one != Answer::No) {
                    open.push(with_words(&point.text, &said));
                }
            }
            *made = Extraction { agreed_points: agreed.clone(), conflicting_points: open };
        }
        self.signed.extend(agreed);
    }
}

fn positions(signing: &Signing, topic: &str) -> BTreeMap<String, String> {
    let of = signing.settled("position").filter(|(point, _)| point.of == topic);
    of.filter_map(|(point, said)| {
        Some((point.roles.first()?.name().to_owned(), stands(point, &said)?))
    })
    .collect()
}

/// Returns what stands of a point that cites one role; none if the role denies it.
fn stands(point: &Point, said: &[(Role, &Answer)]) -> Option<String> {
    match said.first() {
        Some((_, Answer::No)) => None,
        Some((_, Answer::Reword(words))) => Some(words.clone()),
        Some((_, Answer::Yes)) => Some(point.text.clone()),
        None => Some(format!("{} (not confirmed)", point.text)),
    }
}

/// Returns what roles have to confirm of an extraction.
pub(crate) fn of_extraction(answer: &Value) -> Signing {
    let of = |name, kind| items(answer, name).map(move |item| point(kind, item));
    let points = of("agreed_points", "agreed").chain(of("conflicting_points", "conflicting"));
    Signing { points: points.collect(), ..Signing::default() }
}

/// Returns what roles have to confirm of a synthesis: what they have signed already isn't asked again.
pub(crate) fn of_synthesis(answer: &Value, made: &Synthesis, course: &Course) -> Signing {
    let mut points: Vec<Point> =
        items(answer, "agreed_points").map(|item| point("agreed", item)).collect();
    points.retain(|point| !course.signed.contains(&point.text));
    let cited = |kind, text: &str, of: &str, role: &str| Point {
        kind,
        text: text.to_owned(),
        of: of.to_owned(),
        roles: Role::parse(role).into_iter().collect(),
    };
    let reserved = made.reserved_points.iter();
    points.extend(reserved.map(|one| cited("reserved", &one.concern, &one.severity, &one.role)));
    for Disagreement { topic, positions } in &made.strong_disagreements {
        let each = positions.iter();
        points.extend(each.map(|(role, text)| cited("position", text, topic, role)));
    }
    Signing { points, ..Signing::default() }
}

/// Reads a point: a text cites all roles, an object those that it names.
fn point(kind: &'static str, item: &Value) -> Point {
    let named = items(item, "roles").filter_map(Value::as_str).filter_map(Role::parse);
    let mut roles: Vec<Role> = named.collect();
    if roles.is_empty() {
        roles = Role::ALL.to_vec();
    }
    Point { kind, text: text_of(item), of: String::new(), roles }
}

/// Returns the text of a point.
pub(crate) fn text_of(item: &Value) -> String {
    item["point"].as_str().or(item.as_str()).unwrap_or_default().trim().to_owned()
}

fn read_answer(item: &Value) -> Answer {
    match (item["reword"].as_str(), item.as_str()) {
        (Some(words), _) => Answer::Reword(words.trim().to_owned()),
        (None, Some("yes")) => Answer::Yes,
        (None, _) => Answer::No,
    }
}

/// Checks that a text cites none but the five roles.
///
/// # Errors
/// Whom it cites.
pub(crate) fn check_roles(answer: &Value) -> Result<(), String> {
    let cited = |part, name: &'static str| {
        items(answer, part).flat_map(move |item| items(item, name)).filter_map(Value::as_str)
    };
    let positions = items(answer, "strong_disagreements")
        .filter_map(|one| one["positions"].as_object())
        .flat_map(|positions| positions.keys().map(String::as_str));
    let reserved =
        items(answer, "reserved_points").filter_map(|item| item["role"].as_str()).chain(positions);
    let all = cited("agreed_points", "roles").chain(cited("conflicting_points", "roles"));
    match all.chain(reserved).find(|name| Role::parse(name).is_none()) {
        Some(name) => Err(format!(
            "there is no role {:?}; the roles are {}",
            crate::turn::gist(name),
            Role::ALL.map(Role::name).join(", ")
        )),
        None => Ok(()),
    }
}

/// Checks a role's answers to the points that cite it.
///
/// # Errors
/// What is none of the three.
pub(crate) fn check_answers(answer: &Value) -> Result<(), String> {
    let is_wrong = |item: &&Value| item.as_str().is_some_and(|word| !["yes", "no"].contains(&word));
    match items(answer, "answers").find(is_wrong) {
        Some(word) => {
            Err(format!("answers: expected \"yes\", \"no\" or {{\"reword\": \"…\"}}, got {word}"))
        }
        None => Ok(()),
    }
}

fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

/// Returns what a role is given to confirm.
pub(crate) fn payload(signing: Option<&Signing>, role: Role) -> Value {
    let of = |signing: &Signing| -> Vec<Value> {
        let shown = |point: &Point| match point.kind {
            "position" => {
                json!({"kind": point.kind, "text": format!("{}: {}", point.of, point.text)})
            }
            kind => json!({"kind": kind, "text": point.text}),
        };
        signing.of(role).map(shown).collect()
    };
    json!({"points": signing.map(of).unwrap_or_default()})
}
