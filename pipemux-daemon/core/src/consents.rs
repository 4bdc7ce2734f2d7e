//! Consents: what only a person may allow. Held here, outside of projects and apart from the
//! questions that agents answer.
//!
//! An app asks by failing an action ([`ConsentRequest`]). The request is kept for a person, the
//! action is over: nothing waits, and no agent is asked anything. What a person allows is known by
//! the key that the app gave it, counts for one provider in one workspace, and is sent with each
//! action of that provider there. What keeps an agent from answering is that decisions change the
//! daemon, which a process that an app started may not, and that clients send only decisions that
//! they got from a person ([`PersonChannel`](pipemux_proto::consent::PersonChannel)).

use std::collections::VecDeque;

use pipemux_proto::ProviderId;
use pipemux_proto::consent::{ConsentDecision, ConsentRequest};

use crate::keys::WorkspaceKey;
use crate::limits::{CONSENTS_ALLOWED_MAX, CONSENTS_ASKED_MAX};
use crate::persist::records::Record;
use crate::turn::Turn;

/// A consent that an app asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The number by which a person refers to the request.
    pub number: u64,
    /// The workspace in which the consent would be valid.
    pub workspace: WorkspaceKey,
    /// The provider whose action asked.
    pub provider: ProviderId,
    pub request: ConsentRequest,
    /// The reader that last sent the action.
    pub reader: String,
    /// The id of the request that last sent the action.
    pub run_id: String,
    /// The time of the last request, in milliseconds since 1970.
    pub unix_ms: u64,
}

/// A consent that a person gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// The number that the consent had as a request.
    pub number: u64,
    /// The workspace in which the consent is valid.
    pub workspace: WorkspaceKey,
    /// The provider that has the consent.
    pub provider: String,
    /// The app's key for the consent.
    pub key: String,
    /// The one-line description of what is allowed.
    pub what: String,
    /// The time of the consent, in milliseconds since 1970.
    pub unix_ms: u64,
    /// Until when it counts, in milliseconds since 1970; none: until it is withdrawn.
    pub until: Option<u64>,
}

/// The result of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decided {
    /// The decision took effect; the text describes its subject in one line.
    Done(String),
    /// There is no request or consent with this number in the required state.
    NotFound,
}

#[derive(Debug, Default)]
pub struct Consents {
    /// The requests, oldest first.
    asked: VecDeque<Asked>,
    /// The given consents, oldest first.
    allowed: Vec<Allowed>,
}

impl Consents {
    /// Keeps what an action asked for. Returns its number: the one that it has if the same is asked
    /// for again.
    pub fn ask(&mut self, turn: &mut Turn, asked: Asked) -> u64 {
        let is_same = |other: &Asked| {
            (&other.workspace, &other.provider, &other.request.key)
                == (&asked.workspace, &asked.provider, &asked.request.key)
        };
        let number = match self.asked.iter().position(is_same) {
            Some(at) => self.asked.remove(at).map(|same| same.number),
            None => None,
        };
        let number = number.unwrap_or_else(|| turn.next_number());
        if self.asked.len() >= CONSENTS_ASKED_MAX {
            self.asked.pop_front();
        }
        self.asked.push_back(Asked { number, unix_ms: turn.now.unix_ms, ..asked });
        number
    }

    /// Returns what is asked for in a workspace, the oldest first.
    pub fn asked<'c>(&'c self, workspace: &'c WorkspaceKey) -> impl Iterator<Item = &'c Asked> {
        self.asked.iter().filter(move |asked| asked.workspace == *workspace)
    }

    /// Returns what is allowed in a workspace, the oldest first.
    pub fn allowed<'c>(
        &'c self,
        workspace: &'c WorkspaceKey,
        now: u64,
    ) -> impl Iterator<Item = &'c Allowed> {
        self.allowed.iter().filter(move |one| one.workspace == *workspace && one.counts(now))
    }

    /// Returns the keys of what a provider's actions in a workspace may do.
    pub fn keys(&self, workspace: &WorkspaceKey, provider: &ProviderId, now: u64) -> Vec<String> {
        if self.allowed.is_empty() {
            return Vec::new();
        }
        let own = self.allowed(workspace, now).filter(|one| one.provider == provider.as_str());
        own.map(|one| one.key.clone()).collect()
    }

    /// Carries out a person's decision about what has this number in the workspace.
    pub fn decide(
        &mut self,
        turn: &mut Turn,
        workspace: &WorkspaceKey,
        number: u64,
        decision: ConsentDecision,
    ) -> Decided {
        let now = turn.now.unix_ms;
        if decision == ConsentDecision::Withdraw {
            let is_it = |one: &Allowed| one.number == number && one.workspace == *workspace;
            let Some(at) = self.allowed.iter().position(is_it) else { return Decided::NotFound };
            let gone = self.allowed.remove(at);
            turn.persist(gone.withdrawn());
            return Decided::Done(gone.what);
        }
        let is_it = |one: &Asked| one.number == number && one.workspace == *workspace;
        let Some(at) = self.asked.iter().position(is_it) else { return Decided::NotFound };
        let Some(asked) = self.asked.remove(at) else { return Decided::NotFound };
        let Asked { workspace, provider, request, .. } = asked;
        let ConsentRequest { key, what, for_ms, .. } = request;
        if decision == ConsentDecision::Allow {
            let until = (for_ms > 0).then(|| now.saturating_add(for_ms));
            let provider = provider.as_str().to_owned();
            let what = what.clone();
            let new = Allowed { number, workspace, provider, key, what, unix_ms: now, until };
            turn.persist(new.to_saved());
            for gone in self.keep(new, now) {
                turn.persist(gone.withdrawn());
            }
        }
        Decided::Done(what)
    }

    /// Keeps what is allowed. Returns what had to go for it.
    fn keep(&mut self, new: Allowed, now: u64) -> Vec<Allowed> {
        let is_replaced = |old: &mut Allowed| {
            let same = (&old.workspace, &old.provider, &old.key)
                == (&new.workspace, &new.provider, &new.key);
            same || !old.counts(now)
        };
        let mut gone: Vec<Allowed> = self.allowed.extract_if(.., is_replaced).collect();
        if self.allowed.len() >= CONSENTS_ALLOWED_MAX {
            gone.push(self.allowed.remove(0));
        }
        self.allowed.push(new);
        gone
    }

    /// Takes in a record of an earlier daemon.
    pub fn restore(&mut self, saved: Allowed, given: bool) {
        self.allowed.retain(|one| one.number != saved.number);
        if given {
            self.keep(saved, 0);
        }
    }

    /// Returns the records that restore what is allowed.
    pub fn snapshot(&self) -> impl Iterator<Item = Record> + '_ {
        self.allowed.iter().map(Allowed::to_saved)
    }
}

impl Asked {
    /// Returns the lines by which a person decides.
    pub fn shown(&self) -> String {
        let ConsentRequest { what, shows, for_ms, .. } = &self.request;
        let time = match for_ms {
            0 => String::new(),
            ms => format!(" for {} min", ms.div_ceil(60_000)),
        };
        let mut text = format!("{} · {} asks to {what}{time}\n", self.number, self.provider);
        for line in shows {
            text += &format!("    {line}\n");
        }
        text
    }
}

impl Allowed {
    fn counts(&self, now: u64) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    fn to_saved(&self) -> Record {
        self.saved(true)
    }

    fn withdrawn(&self) -> Record {
        self.saved(false)
    }

    fn saved(&self, given: bool) -> Record {
        let Self { number, workspace, provider, key, what, unix_ms, until } = self;
        Record::Consent {
            workspace: workspace.to_string(),
            provider: provider.clone(),
            number: *number,
            key: key.clone(),
            what: what.clone(),
            unix_ms: *unix_ms,
            until: *until,
            given,
        }
    }
}

/// Returns the hint of an action that a person has to allow first.
pub fn hint(number: u64) -> String {
    format!(
        "only a person can allow that, in a terminal: `pipemux consent {number}`; then send it again"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(workspace: &str, provider: &str, key: &str, for_ms: u64) -> Asked {
        Asked {
            number: 0,
            workspace: workspace.into(),
            provider: provider.parse().unwrap(),
            request: ConsentRequest {
                key: key.into(),
                what: key.into(),
                for_ms,
                ..Default::default()
            },
            reader: String::new(),
            run_id: String::new(),
            unix_ms: 0,
        }
    }

    fn keys(consents: &Consents, workspace: &str, provider: &str, now: u64) -> Vec<String> {
        consents.keys(&workspace.into(), &provider.parse().unwrap(), now)
    }

    fn allow(consents: &mut Consents, turn: &mut Turn, workspace: &str, number: u64) -> Decided {
        consents.decide(turn, &workspace.into(), number, ConsentDecision::Allow)
    }

    #[test]
    fn what_is_allowed_counts_for_one_provider_in_one_workspace() {
        let (mut consents, mut turn) = (Consents::default(), Turn::default());
        let number = consents.ask(&mut turn, asked("/a", "planner", "k", 0));
        assert_eq!(consents.ask(&mut turn, asked("/a", "planner", "k", 0)), number, "the same");
        assert_ne!(consents.ask(&mut turn, asked("/b", "planner", "k", 0)), number);
        assert_eq!(allow(&mut consents, &mut turn, "/b", number), Decided::NotFound);
        assert!(keys(&consents, "/a", "planner", 0).is_empty());
        assert_eq!(allow(&mut consents, &mut turn, "/a", number), Decided::Done("k".into()));
        assert_eq!(keys(&consents, "/a", "planner", 0), ["k"]);
        assert!(keys(&consents, "/a", "other", 0).is_empty());
        assert!(keys(&consents, "/b", "planner", 0).is_empty());
        assert_eq!(allow(&mut consents, &mut turn, "/a", number), Decided::NotFound, "twice");
        let withdraw = ConsentDecision::Withdraw;
        let gone = consents.decide(&mut turn, &"/a".into(), number, withdraw);
        assert_eq!(gone, Decided::Done("k".into()));
        assert!(keys(&consents, "/a", "planner", 0).is_empty());
    }

    #[test]
    fn refused_consent_is_gone_and_one_for_a_time_ends() {
        let (mut consents, mut turn) = (Consents::default(), Turn::default());
        turn.now.unix_ms = 1_000;
        let number = consents.ask(&mut turn, asked("/a", "app", "k", 50));
        consents.decide(&mut turn, &"/a".into(), number, ConsentDecision::Refuse);
        assert_eq!(allow(&mut consents, &mut turn, "/a", number), Decided::NotFound);
        let number = consents.ask(&mut turn, asked("/a", "app", "k", 50));
        allow(&mut consents, &mut turn, "/a", number);
        assert_eq!(keys(&consents, "/a", "app", 1_049), ["k"]);
        assert!(keys(&consents, "/a", "app", 1_050).is_empty());
    }

    #[test]
    fn records_restore_what_is_allowed_and_bounds_hold() {
        let (mut consents, mut turn) = (Consents::default(), Turn::default());
        for number in 0..CONSENTS_ALLOWED_MAX + 9 {
            let number = consents.ask(&mut turn, asked("/a", "app", &format!("k{number}"), 0));
            allow(&mut consents, &mut turn, "/a", number);
        }
        for number in 0..CONSENTS_ASKED_MAX + 9 {
            consents.ask(&mut turn, asked("/a", "app", &format!("more{number}"), 0));
        }
        assert_eq!(consents.asked.len(), CONSENTS_ASKED_MAX);
        assert_eq!(consents.allowed.len(), CONSENTS_ALLOWED_MAX);
        let mut restored = Consents::default();
        for effect in turn.effects.drain(..) {
            if let crate::Effect::Persist(Record::Consent {
                workspace,
                provider,
                number,
                key,
                what,
                unix_ms,
                until,
                given,
            }) = effect
            {
                let workspace = workspace.into();
                restored.restore(
                    Allowed { number, workspace, provider, key, what, unix_ms, until },
                    given,
                );
            }
        }
        assert_eq!(restored.allowed, consents.allowed);
    }
}
