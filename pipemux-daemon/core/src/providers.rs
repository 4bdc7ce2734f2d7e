//! The registered apps, by name.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::call::nearest;
use pipemux_proto::{Fault, ProviderId};

use crate::manifest::Manifest;

/// The manifests of all registered apps.
pub type Providers = BTreeMap<ProviderId, Rc<Manifest>>;

/// Returns the manifest of a provider.
///
/// # Errors
/// The provider is not registered.
pub fn find_manifest(providers: &Providers, provider: &ProviderId) -> Result<Rc<Manifest>, Fault> {
    if let Some(found) = providers.get(provider) {
        return Ok(found.clone());
    }
    let names = providers.keys().map(|id| id.as_str());
    let guess = nearest(provider.as_str(), names.clone())
        .map_or(String::new(), |guess| format!(": did you mean {guess}?"));
    let known: Vec<&str> = names.collect();
    Err(Fault::not_found(format!("no app {provider}{guess}"))
        .hint(format!("there are {}: pipemux apps", known.join(", "))))
}
