//! The description of a source.

use pipemux_proto::projection::Lod;

use crate::size::Size;

/// The description of a producer of sections, before it has produced any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderSource {
    /// The source's name, unique in the document: `editor/main`, `views`.
    pub id: String,
    /// The title for readers if there is nothing to show: `Workspace tree`; if empty, the id.
    pub title: String,
    /// The priority; a source with a higher one comes earlier and is left out later.
    pub priority: i32,
    /// The share of the budget relative to the other sources'. 0 counts as 1.
    pub weight: u32,
    /// True when it comes before all others: the meta and environment sections.
    pub required: bool,
    pub lod: Lod,
    /// The minimum size of the source's share, as far as there is room.
    pub reserved: Size,
    pub limits: SourceLimits,
    /// The time limit for producing the sections, in milliseconds.
    pub deadline_ms: u64,
    /// The call that shows the complete content, for a reader who wants what was cut.
    pub call: String,
}

/// The limits of one source, whatever the budget is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLimits {
    /// Tokens, characters, bytes and lines.
    pub size: Size,
    /// Levels of a tree: 1 shows the roots.
    pub levels: u32,
    /// Lines that are nodes of a tree.
    pub nodes: u64,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self { size: Size::UNLIMITED, levels: u32::MAX, nodes: u64::MAX }
    }
}

/// The default time limit of a source, in milliseconds.
const DEADLINE_MS: u64 = 2_000;

impl RenderSource {
    /// Describes a source of usual priority and weight.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            priority: 0,
            weight: 1,
            required: false,
            lod: Lod::default(),
            reserved: Size::ZERO,
            limits: SourceLimits::default(),
            deadline_ms: DEADLINE_MS,
            call: String::new(),
        }
    }

    /// Sets its priority and its weight.
    #[must_use]
    pub fn ranked(self, priority: i32, weight: u32) -> Self {
        Self { priority, weight, ..self }
    }

    /// Makes it come before all sources that aren't required.
    #[must_use]
    pub fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// Sets its level of detail.
    #[must_use]
    pub fn lod(self, lod: Lod) -> Self {
        Self { lod, ..self }
    }

    /// Sets what its share holds at the least. Units whose limit isn't set are not reserved.
    #[must_use]
    pub fn reserved(self, size: Size) -> Self {
        let set = size.zip(Size::ZERO, |own, none| if own == u64::MAX { none } else { own });
        Self { reserved: set, ..self }
    }

    /// Sets what it may take at the most.
    #[must_use]
    pub fn limited(self, limits: SourceLimits) -> Self {
        Self { limits, ..self }
    }

    /// Sets the call that shows all of it.
    #[must_use]
    pub fn call(self, call: impl Into<String>) -> Self {
        Self { call: call.into(), ..self }
    }

    /// Returns the name that readers are told.
    pub fn name(&self) -> &str {
        if self.title.is_empty() { &self.id } else { &self.title }
    }
}

/// Returns the positions of sources in the order in which they stand in a document.
pub fn document_order(sources: &[RenderSource]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|position| {
        let source = &sources[*position];
        let rank = (!source.required, -i64::from(source.priority));
        (rank, std::cmp::Reverse(source.weight.max(1)), source.lod, *position)
    });
    order
}
