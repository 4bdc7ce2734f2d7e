//! The groups of components that verbs work on, taken out of a core.

/// The questions and kept steps of readers, and what tells of them.
macro_rules! questions {
    ($core:expr) => {
        $crate::verbs::questions::Questions {
            turn: &mut $core.turn,
            clients: &mut $core.clients,
            workspaces: &mut $core.workspaces,
            runs: &mut $core.runs,
            feed: &mut $core.feed,
        }
    };
}

/// What may keep a request from acting.
macro_rules! permission {
    ($core:expr) => {
        $crate::verbs::permission::ActPermission {
            rules: &$core.rules,
            pauses: &$core.pauses,
            disk_failure: $core.persist.failing.as_ref(),
            unix_ms: $core.turn.now.unix_ms,
        }
    };
}

/// What takes in the events of jobs.
macro_rules! job_events {
    ($core:expr) => {
        $crate::verbs::job_events::JobEvents {
            turn: &mut $core.turn,
            jobs: &mut $core.jobs,
            processes: &mut $core.processes,
            workspaces: &$core.workspaces,
            feed: &mut $core.feed,
            tasks: &mut $core.tasks,
            clients: &mut $core.clients,
        }
    };
}

/// The requests that wait, and what tells whether something has happened.
macro_rules! waits {
    ($core:expr) => {
        $crate::verbs::waits::Waits {
            turn: &mut $core.turn,
            tasks: &mut $core.tasks,
            clients: &mut $core.clients,
            workspaces: &mut $core.workspaces,
            processes: &mut $core.processes,
            jobs: &$core.jobs,
            feed: &mut $core.feed,
            providers: &$core.providers,
        }
    };
}

/// What answers with windows are made of.
macro_rules! window_answers {
    ($core:expr) => {
        $crate::core::window_answers::WindowAnswers {
            turn: &mut $core.turn,
            clients: &mut $core.clients,
            tasks: &mut $core.tasks,
            workspaces: &mut $core.workspaces,
            processes: &mut $core.processes,
            runs: &mut $core.runs,
            jobs: &$core.jobs,
            feed: &mut $core.feed,
        }
    };
}

/// What apps are opened with.
macro_rules! opens {
    ($core:expr) => {
        $crate::verbs::opens::Opens {
            turn: &mut $core.turn,
            clients: &$core.clients,
            tasks: &mut $core.tasks,
            workspaces: &mut $core.workspaces,
            processes: &mut $core.processes,
            feed: &mut $core.feed,
        }
    };
}

/// What windows are closed with.
macro_rules! window_closer {
    ($core:expr) => {
        $crate::verbs::stop::WindowCloser {
            turn: &mut $core.turn,
            workspaces: &mut $core.workspaces,
            runs: &mut $core.runs,
            feed: &mut $core.feed,
            tasks: &mut $core.tasks,
            clients: &$core.clients,
        }
    };
}

/// What an announcement goes to, and when it is made.
macro_rules! announcements {
    ($core:expr) => {
        $crate::announcements::Announcements {
            feed: &mut $core.feed,
            workspaces: &mut $core.workspaces,
            now: $core.turn.now,
        }
    };
}

/// The requests that look something up, and the apps that they ask.
macro_rules! lookups {
    ($core:expr) => {
        $crate::verbs::lookups::Lookups {
            turn: &mut $core.turn,
            tasks: &mut $core.tasks,
            clients: &$core.clients,
            processes: &mut $core.processes,
        }
    };
}
