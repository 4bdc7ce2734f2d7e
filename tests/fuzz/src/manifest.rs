//! Manifests: an error has a location, and a valid manifest has a valid id.

use pipemux_core::Manifest;

/// The input is any text.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match toml::from_str::<Manifest>(text) {
        Ok(manifest) => {
            let id = manifest.id.to_string();
            assert_eq!(id.parse(), Ok(manifest.id), "{text:?}");
        }
        Err(error) => {
            if let Some(span) = error.span() {
                assert!(text.get(span.start..).is_some(), "{span:?} of {text:?}");
            }
            assert!(!error.message().is_empty(), "{text:?}");
        }
    }
}
