//! Which recogniser a line belongs to.

use crate::collector::Collector;
use crate::git::{diff::Diff, log::Log, status::Status};
use crate::scan::looks_like_error;
use crate::tools::{
    compiler::Compiler, dotnet::Dotnet, eslint::Eslint, go::Go, jest::Jest, json::Json,
    libtest::Libtest, make::Make, maven::Maven, node::Node, node_test::NodeTest, pytest::Pytest,
    python::Python, rustc::Rustc, tap::Tap, tsc::Tsc, unittest::Unittest, vitest::Vitest,
};
use crate::transcript::Class;

/// That a line belongs to a recogniser.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    /// What the line is.
    pub class: Class,
    /// Whether the next line is offered to this recogniser before all others.
    pub more: bool,
}

impl Claim {
    /// The line stands alone.
    pub(crate) fn one(class: Class) -> Option<Self> {
        Some(Self { class, more: false })
    }

    /// The next line may belong to it.
    pub(crate) fn more(class: Class) -> Option<Self> {
        Some(Self { class, more: true })
    }
}

/// Recognises what one tool prints. A tool's output is a block when its first line is: the next
/// line is offered to the same recogniser with `within` set, and to all of them in their order when
/// that one doesn't take it.
pub(crate) trait Recogniser {
    /// Takes a line, or leaves it to the others.
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim>;

    /// The output ends.
    fn end(&mut self, _found: &mut Collector) {}
}

/// All recognisers, in the order in which they are asked: those whose lines are unmistakable first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recognisers {
    diff: Diff,
    log: Log,
    status: Status,
    json: Json,
    libtest: Libtest,
    pytest: Pytest,
    unittest: Unittest,
    go: Go,
    jest: Jest,
    vitest: Vitest,
    node_test: NodeTest,
    tap: Tap,
    eslint: Eslint,
    maven: Maven,
    rustc: Rustc,
    tsc: Tsc,
    dotnet: Dotnet,
    make: Make,
    python: Python,
    node: Node,
    compiler: Compiler,
    /// The recogniser whose block it is.
    active: Option<usize>,
}

impl Recognisers {
    /// Says that the output is the short form of `git status`.
    pub(crate) fn expect_short_status(&mut self) {
        self.status.is_short = true;
    }

    /// Says that the output is one of `git log` with a line for each commit.
    pub(crate) fn expect_oneline_log(&mut self) {
        self.log.is_oneline = true;
    }

    /// What a line is.
    pub(crate) fn line(&mut self, text: &str, found: &mut Collector) -> Class {
        let active = self.active.take();
        let mut claimed = None;
        let mut all = self.all();
        if let Some(index) = active {
            if let Some(claim) = all[index].line(text, true, found) {
                claimed = Some((index, claim));
            } else {
                found.close();
            }
        }
        if claimed.is_none() {
            claimed = all.iter_mut().enumerate().find_map(|(index, recogniser)| {
                recogniser.line(text, false, found).map(|claim| (index, claim))
            });
        }
        let Some((index, claim)) = claimed else {
            return if looks_like_error(text) { Class::Suspect } else { Class::Plain };
        };
        if claim.more {
            self.active = Some(index);
        } else {
            found.close();
        }
        claim.class
    }

    /// The output ends.
    pub(crate) fn end(&mut self, found: &mut Collector) {
        found.close();
        for recogniser in self.all() {
            recogniser.end(found);
        }
    }

    fn all(&mut self) -> [&mut dyn Recogniser; 21] {
        [
            &mut self.diff,
            &mut self.log,
            &mut self.status,
            &mut self.json,
            &mut self.libtest,
            &mut self.pytest,
            &mut self.unittest,
            &mut self.go,
            &mut self.jest,
            &mut self.vitest,
            &mut self.node_test,
            &mut self.tap,
            &mut self.eslint,
            &mut self.maven,
            &mut self.rustc,
            &mut self.tsc,
            &mut self.dotnet,
            &mut self.make,
            &mut self.python,
            &mut self.node,
            &mut self.compiler,
        ]
    }
}
