//! The actions of a monitor.

use docui::Anchor;

docui::kind!(
    /// A resource of the machine.
    pub Resource = "state"
);
docui::kind!(
    /// A process.
    pub Process = "process"
);
docui::choices! {
    /// The figure that processes are sorted by.
    pub enum By { Cpu = "cpu", Mem = "mem" }
}
docui::actions! {
    /// An action of the monitor.
    pub enum Action {
        /// Lists the busiest processes.
        safe featured Top = top(
            /// How many.
            n: i64 = 10,
            by: By = By::Cpu,
        );
        /// Shows a resource in detail.
        safe listed Expand = expand(resource: Anchor<Resource>);
        /// Shows a resource in one line.
        safe listed Fold = fold(resource: Anchor<Resource>);
        /// Takes a new sample.
        safe listed Refresh = refresh();
        /// Sends SIGTERM to one of your own processes.
        destructive help Kill = kill(process: Anchor<Process>);
    }
}
