//! Signed consensus: the coach's statement about the roles is valid once each role that it cites
//! has confirmed it, each in a turn of its own, all in parallel. Only roles agree; the coach
//! proposes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::answers::{Cited, CitedPoints, PointAnswer, Synthesis};
use crate::role::Role;

/// The points that await the roles' confirmation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Signing {
    /// The points in the order in which the coach wrote them.
    pub points: Vec<Point>,
    /// What each role answered, one for each point that cites it, in order.
    pub answers: BTreeMap<Role, Vec<PointAnswer>>,
}

/// What the coach says of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PointKind {
    Agreed,
    Conflicting,
    Reserved,
    Position,
}

impl PointKind {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agreed => "agreed",
            Self::Conflicting => "conflicting",
            Self::Reserved => "reserved",
            Self::Position => "position",
        }
    }
}

/// Something that the coach wrote of some roles.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// What it is.
    pub kind: PointKind,
    /// The coach's words.
    pub text: String,
    /// The topic of a position or the severity of a reservation.
    pub of: String,
    /// The roles cited by the point.
    pub roles: Vec<Role>,
}

impl Point {
    fn of_roles(kind: PointKind, cited: &Cited) -> Self {
        let text = cited.text().to_owned();
        Self { kind, text, of: String::new(), roles: cited.roles() }
    }

    fn of_role(kind: PointKind, text: &str, of: &str, role: &str) -> Self {
        let roles = Role::parse(role).into_iter().collect();
        Self { kind, text: text.to_owned(), of: of.to_owned(), roles }
    }

    /// Writes the point with what roles answered that isn't plain consent.
    fn with_answers(&self, answers: &[(Role, &PointAnswer)]) -> String {
        let words = answers.iter().filter_map(|(role, answer)| match answer {
            PointAnswer::Yes => None,
            PointAnswer::No => Some(format!("{role}: no")),
            PointAnswer::Reword(words) => Some(format!("{role}: {words}")),
        });
        let words: Vec<String> = words.collect();
        match (words.is_empty(), answers.is_empty()) {
            (_, true) => format!("{} (nobody confirmed it)", self.text),
            (true, _) => self.text.clone(),
            (false, _) => format!("{} ({})", self.text, words.join("; ")),
        }
    }
}

impl Signing {
    /// Returns what roles have to confirm of an extraction.
    pub(crate) fn of_extraction(points: &CitedPoints) -> Self {
        let agreed = points.agreed_points.iter().map(|one| Point::of_roles(PointKind::Agreed, one));
        let open = points.conflicting_points.iter();
        let open = open.map(|one| Point::of_roles(PointKind::Conflicting, one));
        Self { points: agreed.chain(open).collect(), ..Self::default() }
    }

    /// Returns what roles have to confirm of a synthesis: what they have signed isn't asked again.
    pub(crate) fn of_synthesis(
        points: &CitedPoints,
        synthesis: &Synthesis,
        signed: &BTreeSet<String>,
    ) -> Self {
        let agreed = points.agreed_points.iter().filter(|one| !signed.contains(one.text()));
        let agreed = agreed.map(|one| Point::of_roles(PointKind::Agreed, one));
        let reserved = synthesis
            .reserved_points
            .iter()
            .map(|one| Point::of_role(PointKind::Reserved, &one.concern, &one.severity, &one.role));
        let positions = synthesis.strong_disagreements.iter().flat_map(|one| {
            let of = |(role, text): (&String, &String)| {
                Point::of_role(PointKind::Position, text, &one.topic, role)
            };
            one.positions.iter().map(of)
        });
        Self { points: agreed.chain(reserved).chain(positions).collect(), ..Self::default() }
    }

    /// Returns the points that cite a role.
    pub fn of(&self, role: Role) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(move |point| point.roles.contains(&role))
    }

    /// Returns what a role is given to confirm.
    pub(crate) fn payload(&self, role: Role) -> Vec<Value> {
        let shown = |point: &Point| match point.kind {
            PointKind::Position => {
                json!({"kind": point.kind, "text": format!("{}: {}", point.of, point.text)})
            }
            kind => json!({"kind": kind, "text": point.text}),
        };
        self.of(role).map(shown).collect()
    }

    /// Returns what the roles answered to a point, as far as they were asked.
    fn answers_to(&self, index: usize, point: &Point) -> Vec<(Role, &PointAnswer)> {
        let answer = |role: &Role| {
            let before = self.points.iter().take(index);
            let at = before.filter(|earlier| earlier.roles.contains(role)).count();
            Some((*role, self.answers.get(role)?.get(at)?))
        };
        point.roles.iter().filter_map(answer).collect()
    }

    /// Returns the points of a kind, each with what roles answered.
    fn answered(
        &self,
        kind: PointKind,
    ) -> impl Iterator<Item = (&Point, Vec<(Role, &PointAnswer)>)> {
        let all = self.points.iter().enumerate().filter(move |(_, point)| point.kind == kind);
        all.map(|(index, point)| (point, self.answers_to(index, point)))
    }

    /// Returns the points that are agreed on, and those that aren't, with who doesn't agree.
    pub(crate) fn agreed(&self) -> (Vec<String>, Vec<String>) {
        let (mut agreed, mut open) = (Vec::new(), Vec::new());
        for (point, answers) in self.answered(PointKind::Agreed) {
            match answers.as_slice() {
                // Its own words for its own point.
                [(_, PointAnswer::Reword(text))] if point.roles.len() == 1 => {
                    agreed.push(text.clone());
                }
                answers
                    if !answers.is_empty()
                        && answers.iter().all(|(_, one)| **one == PointAnswer::Yes) =>
                {
                    agreed.push(point.text.clone());
                }
                answers => open.push(point.with_answers(answers)),
            }
        }
        (agreed, open)
    }

    /// Returns the points in conflict, but for those that all whom they cite deny.
    pub(crate) fn conflicting(&self) -> impl Iterator<Item = String> {
        self.answered(PointKind::Conflicting).filter_map(|(point, answers)| {
            let is_denied = !answers.is_empty()
                && answers.iter().all(|(_, answer)| **answer == PointAnswer::No);
            (!is_denied).then(|| point.with_answers(&answers))
        })
    }

    /// Returns what stands of the points of a kind that cite one role each: the point's topic or
    /// severity, the role, and what it said in the words that it confirmed.
    pub(crate) fn confirmed(
        &self,
        kind: PointKind,
    ) -> impl Iterator<Item = (&str, String, String)> {
        self.answered(kind).filter_map(|(point, answers)| {
            let text = match answers.first() {
                Some((_, PointAnswer::No)) => return None,
                Some((_, PointAnswer::Reword(words))) => words.clone(),
                Some((_, PointAnswer::Yes)) => point.text.clone(),
                None => format!("{} (not confirmed)", point.text),
            };
            Some((point.of.as_str(), point.roles.first()?.name().to_owned(), text))
        })
    }
}
