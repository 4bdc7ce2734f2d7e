//! Errors of the store as readers see them.

use docui::Fault;
use pipemux_memotree_store::StoreError;

/// Returns the fault for an error of the store.
pub fn fault(error: StoreError) -> Fault {
    let message = error.to_string();
    match error {
        StoreError::NoNode { .. } | StoreError::NoSuch { .. } => Fault::not_found(message),
        StoreError::Exists { .. }
        | StoreError::Name(_)
        | StoreError::Circle { .. }
        | StoreError::NotAChild { .. }
        | StoreError::Value(_) => Fault::usage(message),
        StoreError::Changed(_) => Fault::stale(message),
        StoreError::Broken { file, .. } => {
            Fault::failed(message).hint(format!("pipemux open editor .memotree/{file}"))
        }
        StoreError::Nothing(_)
        | StoreError::Folder(_)
        | StoreError::Index(_)
        | StoreError::State(_) => Fault::failed(message),
    }
}
