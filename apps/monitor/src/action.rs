//! The actions of a monitor.

use docui::Anchor;

docui::kind!(
    /// A resource of the machine, which its key names: `memory`.
    pub Resource = "state", named
);
docui::kind!(
    /// A process, which its pid names.
    pub Process = "process", named
);
docui::choices! {
    /// The figure that processes are sorted by.
    pub enum By { Mem = "mem", Cpu = "cpu" }
}
docui::choices! {
    /// What is watched: one figure, or load, CPU and the processes that take most.
    pub enum Watched { Load = "load", Cpu = "cpu", Mem = "mem", Top = "top" }
}
docui::choices! {
    /// How much of a resource the window shows.
    pub enum Level { Gist = "gist", Summary = "summary", Full = "full" }
}
docui::actions! {
    /// An action of the monitor.
    pub enum Action {
        /// The processes that take most; PipeMux's own apart.
        query featured Top = top(
            /// How many.
            n: i64 = 5,
            by: By = By::Mem,
        ) -> String;
        /// Samples over some seconds, and whether the figure rises; what='top': load, CPU and the n
        /// processes that take most.
        query featured Watch = watch(
            what: Watched = Watched::Load,
            seconds: i64 = 9,
            every: i64 = 3,
            /// As of top, for what='top'.
            n: Option<i64> = None,
            by: Option<By> = None,
        ) -> String;
        /// Shows resources in detail in the window.
        safe listed Expand = expand(
            items: Vec<Anchor<Resource>>,
            level: Option<Level> = None,
        );
        /// Shows resources in one line.
        safe listed Collapse = collapse(items: Vec<Anchor<Resource>>);
        /// Takes a new sample.
        safe listed Refresh = refresh();
        /// Sends SIGTERM to one of your own processes.
        destructive help Kill = kill(process: Anchor<Process>);
        /// As collapse(items).
        safe alias Fold = fold(resource: Anchor<Resource>);
        /// As expand(items).
        safe alias ExpandOne = expand_one as expand(resource: Anchor<Resource>);
    }
}
