//! The same functions for systems without marks and without adopted orphans, where the launcher
//! relies on process groups.

use std::collections::HashMap;
use std::time::Duration;

use crate::mark::{MarkOrigin, ProcessMark};

pub(crate) fn count_marks() -> HashMap<ProcessMark, u64> {
    HashMap::new()
}

pub(crate) fn kill_marked(_: impl Fn(ProcessMark) -> bool, _: Duration) {}

pub(crate) fn total() -> Option<u64> {
    None
}

pub(crate) fn kill_if(_: i32, _: impl Fn(ProcessMark) -> bool) -> bool {
    false
}

pub(crate) fn with_origin(_: MarkOrigin) -> Vec<i32> {
    Vec::new()
}

pub(crate) fn mark_of(_: i32) -> Option<ProcessMark> {
    None
}

pub(crate) fn children() -> Vec<i32> {
    Vec::new()
}

pub(crate) fn is_descendant_or_self(_: i32, _: i32) -> bool {
    false
}

pub(crate) fn command_line(_: i32, _: usize) -> String {
    String::new()
}
