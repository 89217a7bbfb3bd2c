//! The four tiers of a record, from the cheapest to the whole.

/// How deep a look into a record goes. Ordered from the cheapest to the deepest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Literal phrases that select the record; for the harness only.
    Trigger,
    /// One line.
    Description,
    /// A paragraph.
    Summary,
    /// The exact bytes of the record's span.
    Detail,
}

impl Tier {
    /// All tiers, cheapest first.
    pub const ALL: [Self; 4] = [Self::Trigger, Self::Description, Self::Summary, Self::Detail];
    /// The most tokens that a derived description has.
    pub const DESCRIPTION_TOKENS: u32 = 40;
    /// The most tokens that a derived summary has.
    pub const SUMMARY_TOKENS: u32 = 180;

    /// The name in lower case, as `--tier` takes it and JSON shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Description => "description",
            Self::Summary => "summary",
            Self::Detail => "detail",
        }
    }

    /// The tier with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }
}

/// Who wrote a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A person, in frontmatter, a comment block or a sidecar.
    Authored,
    /// psos, from the content.
    Derived,
    /// The growth loop, from a failure, through the gate.
    Grown,
}

impl Origin {
    /// All origins, in their order.
    pub const ALL: [Self; 3] = [Self::Authored, Self::Derived, Self::Grown];

    /// The name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Authored => "authored",
            Self::Derived => "derived",
            Self::Grown => "grown",
        }
    }
}

/// The text of one tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierText {
    /// The text itself.
    pub text: String,
    /// Who wrote it.
    pub origin: Origin,
}

impl TierText {
    /// A tier that a person wrote.
    pub fn authored(text: impl Into<String>) -> Self {
        Self { text: text.into(), origin: Origin::Authored }
    }

    /// A tier that was derived from the content.
    pub fn derived(text: impl Into<String>) -> Self {
        Self { text: text.into(), origin: Origin::Derived }
    }
}

/// A phrase that selects a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trigger {
    /// The phrase as it was written.
    pub phrase: String,
    /// Who wrote it.
    pub origin: Origin,
}
