//! The recognisers of compilers, linters and test runners.

pub(crate) mod compiler;
pub(crate) mod dotnet;
pub(crate) mod eslint;
pub(crate) mod go;
pub(crate) mod jest;
pub(crate) mod json;
pub(crate) mod libtest;
pub(crate) mod make;
pub(crate) mod maven;
pub(crate) mod node;
pub(crate) mod node_test;
pub(crate) mod pytest;
pub(crate) mod python;
pub(crate) mod rustc;
pub(crate) mod tap;
pub(crate) mod tsc;
pub(crate) mod unittest;
pub(crate) mod vitest;
