//! Errors of the store as readers see them.

use docui::{Fault, command};
use pipemux_memotree_store::folder::FolderError;
use pipemux_memotree_store::{NodeId, StoreError};

/// Returns the fault for an error of the store.
pub fn fault(error: impl Into<StoreError>) -> Fault {
    let error = error.into();
    let message = error.to_string();
    match error {
        StoreError::NoNode { .. } | StoreError::NoSuch { .. } => Fault::not_found(message),
        StoreError::Exists { .. }
        | StoreError::Name(_)
        | StoreError::Circle { .. }
        | StoreError::NotAChild { .. }
        | StoreError::Value(_) => Fault::usage(message),
        StoreError::Changed(_) => Fault::stale(message),
        StoreError::Later(_) => Fault::refused(message),
        StoreError::Broken { file, .. } => {
            Fault::failed(message).hint(format!("pipemux open editor .memotree/{file}"))
        }
        StoreError::Folder(error) => {
            let fault = Fault::failed(format!("{message}; nothing was changed"));
            match error {
                FolderError::Io { .. } => fault.hint("ls -ld .memotree .memotree/*; df -h ."),
                _ => fault,
            }
        }
        StoreError::Nothing(_) | StoreError::Index(_) => Fault::failed(message),
        StoreError::State(_) => Fault::failed(message).hint("pipemux doctor"),
    }
}

/// Returns the fault for an error of the store, with the call that helps. `callee` is how calls
/// name the session.
pub fn with_hint(error: StoreError, callee: &str) -> Fault {
    let run = |call: String| command::run(&format!("{callee}.{call}"));
    let ask = |call: &str| format!("pipemux ask '{callee}.{call}'");
    let hint = match &error {
        StoreError::Circle { node, parent } if node == parent => {
            format!("to the root: {}", run(format!("move(\"{node}\")")))
        }
        StoreError::Circle { node, parent } => {
            let call = format!("move(\"{parent}\", before=\"{node}\")");
            format!("first beside it: {}", run(call))
        }
        StoreError::NotAChild { before, .. } => {
            format!("without parent it goes beside `{before}`, wherever that is")
        }
        StoreError::NoNode { near, .. } if near.is_empty() => ask("show()"),
        StoreError::NoSuch { what: "node in the trash", .. } => ask("trash()"),
        StoreError::NoSuch { what: "relation", .. } => {
            "show(node) lists a node's relations with their tokens".to_owned()
        }
        StoreError::NoSuch { .. } => ask("list()"),
        StoreError::Exists { what: "node", name } => ask(&format!("show(\"{name}\")")),
        StoreError::Later(file) => match NodeId::of_file(&file.name) {
            Some(Ok(id)) => ask(&format!("show(\"{id}\")")),
            _ => run("undo()".to_owned()),
        },
        StoreError::Nothing("undo") => {
            "what other programs changed: git log -p -- .memotree".to_owned()
        }
        _ => return fault(error),
    };
    fault(error).hint(hint)
}
