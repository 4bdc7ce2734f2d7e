//! Remembers the prototypes of each provider's app, so that calls can be checked before the app
//! runs again.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::ProviderId;
use pipemux_proto::prototype::Prototype;

use crate::persist::records::Record;
use crate::turn::Turn;

/// Prototypes of a session, shared by all sessions of an app that can do the same.
pub type Prototypes = Rc<Vec<Prototype>>;

/// The prototypes that each provider's app named when it last greeted.
#[derive(Debug, Default)]
pub struct LearnedPrototypes(BTreeMap<ProviderId, Prototypes>);

impl LearnedPrototypes {
    pub fn get(&self, provider: &ProviderId) -> Option<&Prototypes> {
        self.0.get(provider)
    }

    /// Keeps what an app named in its greeting, and writes it to disk unless that is known.
    /// Returns what its sessions share.
    pub(super) fn learn(
        &mut self,
        turn: &mut Turn,
        provider: &ProviderId,
        prototypes: Vec<Prototype>,
    ) -> Prototypes {
        if let Some(known) = self.0.get(provider).filter(|known| ***known == prototypes) {
            return known.clone();
        }
        if let Some(record) = record(provider, &prototypes) {
            turn.persist(record);
        }
        self.restore(provider.clone(), prototypes)
    }

    /// Keeps what an app could do in an earlier daemon's time.
    pub(super) fn restore(
        &mut self,
        provider: ProviderId,
        prototypes: Vec<Prototype>,
    ) -> Prototypes {
        let prototypes = Rc::new(prototypes);
        self.0.insert(provider, prototypes.clone());
        prototypes
    }

    pub fn records(&self) -> Vec<Record> {
        self.0.iter().filter_map(|(provider, prototypes)| record(provider, prototypes)).collect()
    }
}

fn record(provider: &ProviderId, prototypes: &Vec<Prototype>) -> Option<Record> {
    let encoded = pipemux_proto::encode(prototypes).ok()?;
    Some(Record::Prototypes { provider: provider.to_string(), prototypes: encoded.into() })
}
