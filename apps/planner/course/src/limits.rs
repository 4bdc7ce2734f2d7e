//! Every bound of a course.

/// Characters of a brief, an adjustment, a reply or a remark.
pub const TEXT_MAX: usize = 32_000;

/// Questions that a role may ask in one meeting, follow-ups not counted.
pub const QUESTIONS_PER_ROLE: usize = 3;

/// Questions that a role may ask after the user has answered its others.
pub const FOLLOW_UPS_PER_ROLE: u8 = 2;

/// Times that the user may ask back about one question.
pub const ASK_BACKS_PER_QUESTION: usize = 8;

/// Bytes of the JSON of one answer.
pub const ANSWER_MAX: usize = 128 * 1024;

/// Characters of an earlier plan in a brief that builds on it.
pub const OUTLINE_MAX: usize = 200_000;

/// Entries of a course, and half of those with decisions on what there is.
pub const ENTRIES_MAX: u64 = 4_000;

/// Versions of one topic.
pub const VERSIONS_MAX: usize = 200;

/// Characters of a gist.
pub const GIST_MAX: usize = 110;
