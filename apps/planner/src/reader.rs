//! The identity of a reader: the roles it took, and whether it speaks for the user.

use docui::{Context, Fault};
use pipemux_planner_course::lang::Lang;
use pipemux_planner_course::text::shown_name;
use pipemux_planner_course::turn::Turn;
use pipemux_planner_course::{By, Course, Driver, Event, Refusal, Speaker};

use crate::config::DriverSpec;
use crate::model::Planner;

/// Readers whose names begin so are persons at a terminal or a page.
const PERSONS: [&str; 3] = ["attach", "page", "person"];

/// The roles and rights of a reader in a course.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader<'a> {
    /// Whom it took, in the order in which they speak.
    pub holds: Vec<Speaker>,
    /// True if it gave the brief, or is a person.
    pub is_user: bool,
    /// True if it speaks as the invited expert, and has said nothing as anybody else.
    pub is_expert: bool,
    /// True if other readers took somebody.
    pub has_company: bool,
    name: &'a str,
}

/// The player of an open turn, from a reader's point of view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Player {
    /// The reader, who took the speaker's part.
    You,
    /// Any reader: neither this speaker nor any other has been taken by another reader.
    Anyone,
    /// Nobody has taken the speaker, while others have taken roles.
    Untaken,
    /// Another reader.
    Other(String),
    /// A program or an endpoint.
    Driver(String),
}

impl<'a> Reader<'a> {
    /// Returns what a reader is in a course.
    pub fn of(course: &Course, name: &'a str) -> Self {
        let is_invited = course.expert.as_ref().is_some_and(|expert| expert.reader == name);
        let holds = |speaker: &Speaker| course.takers.get(speaker).is_some_and(|by| by == name);
        Self {
            holds: Speaker::ALL.into_iter().filter(holds).collect(),
            // A person who is the expert speaks for themselves.
            is_user: course.user == name || (is_person(name) && !is_invited),
            is_expert: is_invited
                && !course
                    .record
                    .statements
                    .iter()
                    .any(|said| said.by.reader == name && said.who != "Expert"),
            has_company: course.takers.values().any(|by| by != name),
            name,
        }
    }

    /// Returns true if what the user is to do concerns this reader: it is the user's, or nobody
    /// plays a part of its own.
    pub fn speaks_for_the_user(&self, planner: &Planner) -> bool {
        self.is_user || (self.may_speak_for_the_user(planner) && !self.has_company)
    }

    /// Returns true if an act of the user's isn't refused this reader.
    pub fn may_speak_for_the_user(&self, planner: &Planner) -> bool {
        self.speaks_as(planner, &planner.course).is_none()
    }

    /// Returns as whom this reader speaks, if it can't speak for the user: as a role that it took
    /// or played, as the expert, or as a driver.
    pub fn speaks_as(&self, planner: &Planner, course: &Course) -> Option<String> {
        if self.is_user {
            return None;
        }
        if let Some(speaker) = self.holds.first() {
            return Some(speaker.name().to_owned());
        }
        if course.expert.as_ref().is_some_and(|expert| expert.reader == self.name) {
            return Some("the invited expert".to_owned());
        }
        let said = course
            .record
            .statements
            .iter()
            .find(|said| said.by.reader == self.name && Speaker::parse(&said.who).is_some());
        let plays = |speaker: &Speaker| {
            planner.driver(*speaker).is_ok_and(|driver| driver.name() == self.name)
        };
        let driven =
            || Speaker::ALL.into_iter().find(plays).map(|speaker| speaker.name().to_owned());
        said.map(|said| said.who.clone()).or_else(driven)
    }

    /// Returns who plays an open turn.
    pub fn player(&self, planner: &Planner, turn: &Turn) -> Player {
        let speaker = turn.kind.speaker();
        match planner.driver(speaker) {
            Ok(DriverSpec::Agent) | Err(_) => {}
            Ok(spec) => return Player::Driver(spec.name().to_owned()),
        }
        match planner.course.takers.get(&speaker) {
            Some(taker) if taker == self.name => Player::You,
            Some(taker) => Player::Other(taker.clone()),
            None if self.has_company || (!self.holds.is_empty() && !self.is_user) => {
                Player::Untaken
            }
            None => Player::Anyone,
        }
    }

    /// Returns true for a person at a terminal or a page.
    pub fn is_person(&self) -> bool {
        is_person(self.name)
    }

    /// Returns the open turn that concerns this reader most: its own, one that it may play, one
    /// that failed, one that nobody plays, else the first.
    pub fn turn<'p>(&self, planner: &'p Planner) -> Option<&'p Turn> {
        planner.course.turns.open.iter().min_by_key(|turn| {
            match (turn.failed.is_some(), self.player(planner, turn)) {
                (false, Player::You) => 0,
                (false, Player::Anyone) => 1,
                (true, _) => 2,
                (false, Player::Untaken) => 3,
                (false, Player::Other(_) | Player::Driver(_)) => 4,
            }
        })
    }

    /// Returns true if this reader is to play an open turn.
    pub fn is_to_play(&self, planner: &Planner, turn: &Turn) -> bool {
        turn.failed.is_none()
            && !self.is_expert
            && matches!(self.player(planner, turn), Player::You | Player::Anyone)
    }

    /// Says who the reader is, where that isn't plain: `You are TestPlanner and Coach.`
    pub fn introduced(&self, planner: &Planner) -> Option<String> {
        let lang = planner.course.lang();
        let mut text = match self.holds.as_slice() {
            _ if self.is_expert => {
                lang.pick("You are the invited expert.", "你是受邀专家。").to_owned()
            }
            [] if !self.has_company => return None,
            [] if self.is_user => lang.pick("You speak for the user.", "你代表用户。").to_owned(),
            [] => lang.pick("You hold no role.", "你没有担任角色。").to_owned(),
            holds if lang == Lang::Chinese => {
                let names: Vec<&str> = holds.iter().map(|speaker| speaker.name()).collect();
                let user = if self.is_user { "，并代表用户" } else { "" };
                format!("你担任 {}{user}。", names.join("、"))
            }
            holds => {
                let names: Vec<&str> = holds.iter().map(|speaker| speaker.name()).collect();
                let user = if self.is_user { ", and speak for the user" } else { "" };
                let names = match names.split_last() {
                    Some((last, [first @ .., one])) => {
                        let first: String = first.iter().map(|name| format!("{name}, ")).collect();
                        format!("{first}{one} and {last}")
                    }
                    _ => names.concat(),
                };
                format!("You are {names}{user}.")
            }
        };
        let free = free(planner);
        if !self.is_expert && !free.is_empty() {
            text += &lang.pick(
                format!(" Nobody has taken {}.", free.join(", ")),
                format!("还没有人担任 {}。", free.join("、")),
            );
        }
        Some(text)
    }
}

/// Returns true for a reader that is a person: a terminal and a page are readers of their own, and
/// all others relay.
pub fn is_person(name: &str) -> bool {
    PERSONS.iter().any(|of| name.starts_with(of))
}

/// Lets a person be the expert, unless somebody is.
///
/// # Errors
/// Somebody else is, or the reader is no person.
pub fn join_as_expert(planner: &Planner, reader: &str) -> Result<Event, Fault> {
    match &planner.course.expert {
        Some(expert) if expert.reader == reader => Err(planner.fault(Refusal::new(
            "you are the expert already",
            "verdict('Expert', ok=true, reasons=['…'])",
        ))),
        Some(expert) => {
            Err(Fault::refused(format!("the expert is reader {}", shown_name(&expert.reader))))
        }
        None if is_person(reader) => Ok(Event::Invite { reader: reader.to_owned(), veto: false }),
        None => Err(planner.fault(Refusal::new(
            "the expert is a person, or a reader whom the user invites",
            "invite('READER')",
        ))),
    }
}

/// Returns who is played by whoever takes the role, and that nobody has taken.
fn free(planner: &Planner) -> Vec<&'static str> {
    let course = &planner.course;
    let is_free = |speaker: &Speaker| {
        let is_out = matches!(speaker, Speaker::Role(role) if course.cycle.left_out.contains(role));
        !is_out
            && !course.takers.contains_key(speaker)
            && matches!(planner.driver(*speaker), Ok(DriverSpec::Agent) | Err(_))
    };
    Speaker::ALL.into_iter().filter(is_free).map(Speaker::name).collect()
}

/// Returns who makes a call.
pub fn by(context: &Context) -> By {
    let reader = context.reader.clone();
    let person = is_person(&reader);
    By { reader, driver: Driver::Agent, person }
}

/// Refuses what somebody who plays a part in a course would say in the user's place.
///
/// # Errors
/// The reader plays a part in it, and isn't its user.
pub fn refuse_role_of(planner: &Planner, course: &Course, reader: &str) -> Result<(), Fault> {
    match Reader::of(course, reader).speaks_as(planner, course) {
        Some(role) => Err(Fault::refused(format!(
            "reader {} plays {role}: only the user (reader {}, or a person) can do that",
            shown_name(reader),
            shown_name(&course.user)
        ))),
        None => Ok(()),
    }
}
