//! Selects the recogniser for a line.

use crate::collector::Collector;
use crate::git::{diff::Diff, log::Log, status::Status};
use crate::recogniser::Recogniser;
use crate::scan::looks_like_error;
use crate::tools::{
    compiler::Compiler, dotnet::Dotnet, eslint::Eslint, go::Go, jest::Jest, json::Json,
    libtest::Libtest, make::Make, maven::Maven, node::Node, node_test::NodeTest, pytest::Pytest,
    python::Python, rustc::Rustc, tap::Tap, tsc::Tsc, unittest::Unittest, vitest::Vitest,
};
use crate::transcript::Class;

/// What the words of a command tell of its output, which the output itself doesn't.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Expected {
    /// The short form of `git status`.
    pub short_status: bool,
    /// `git log` with a line for each commit.
    pub oneline_log: bool,
}

/// All recognisers, in the order in which they are asked: those whose lines are unmistakable first.
#[derive(Debug, Clone)]
pub(crate) struct Recognisers {
    all: Vec<Box<dyn Recogniser>>,
    /// The index of the recogniser whose block is being read.
    active: Option<usize>,
}

impl Recognisers {
    pub(crate) fn new(expected: Expected) -> Self {
        let all: Vec<Box<dyn Recogniser>> = vec![
            Box::<Diff>::default(),
            Box::new(Log::new(expected.oneline_log)),
            Box::new(Status::new(expected.short_status)),
            Box::<Json>::default(),
            Box::<Libtest>::default(),
            Box::<Pytest>::default(),
            Box::<Unittest>::default(),
            Box::<Go>::default(),
            Box::<Jest>::default(),
            Box::<Vitest>::default(),
            Box::<NodeTest>::default(),
            Box::<Tap>::default(),
            Box::<Eslint>::default(),
            Box::<Maven>::default(),
            Box::<Rustc>::default(),
            Box::<Tsc>::default(),
            Box::<Dotnet>::default(),
            Box::<Make>::default(),
            Box::<Python>::default(),
            Box::<Node>::default(),
            Box::<Compiler>::default(),
        ];
        Self { all, active: None }
    }

    /// Classifies a line.
    pub(crate) fn line(&mut self, text: &str, found: &mut Collector) -> Class {
        let active = self.active.take();
        let mut claimed = None;
        if let Some(index) = active
            && let Some(recogniser) = self.all.get_mut(index)
        {
            if let Some(claim) = recogniser.line(text, true, found) {
                claimed = Some((index, claim));
            } else {
                found.close();
            }
        }
        if claimed.is_none() {
            claimed = self.all.iter_mut().enumerate().find_map(|(index, recogniser)| {
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

    /// Handles the end of the output.
    pub(crate) fn end(&mut self, found: &mut Collector) {
        found.close();
        for recogniser in &mut self.all {
            recogniser.end(found);
        }
    }
}
