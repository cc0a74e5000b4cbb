//! The stages of a run, and which may follow which.

use crate::layouts::word::vocabulary;

vocabulary! {
    /// A stage of `lol impl`.
    ImplStage {
        /// Writes the implementation.
        Impl = "impl",
        /// Reviews it.
        Review = "review",
        /// Simplifies it. Not in the document, but in the first release and from version 2 on.
        Simp = "simp",
        /// Makes the pull request.
        Pr = "pr",
        /// Rebases a branch for which no pull request could be made.
        Rebase = "rebase",
        /// The run has failed for good.
        Fatal = "fatal",
        /// The run is done.
        Done = "done",
    }
}

impl ImplStage {
    /// The stages that may come next; none if the run ends here.
    ///
    /// All transitions of the document, and those that only the code has: implementing again,
    /// `simp`, a review after a rebase, and failing.
    #[must_use]
    pub const fn next(self) -> &'static [Self] {
        match self {
            Self::Review => &[Self::Impl, Self::Simp, Self::Pr, Self::Fatal],
            Self::Simp => &[Self::Impl, Self::Pr, Self::Fatal],
            Self::Pr => &[Self::Impl, Self::Rebase, Self::Fatal, Self::Done],
            Self::Impl | Self::Rebase => &[Self::Impl, Self::Review, Self::Fatal],
            Self::Fatal | Self::Done => &[],
        }
    }

    /// Tells whether `next` may come right after this one.
    #[must_use]
    pub fn can_become(self, next: Self) -> bool {
        self.next().contains(&next)
    }

    /// Tells whether a history may have `next` after this one.
    ///
    /// A review or simplification that is switched off leaves no entry.
    #[must_use]
    pub fn is_followed_by(self, next: Self) -> bool {
        let is_silent = |stage: &Self| matches!(stage, Self::Review | Self::Simp);
        self.can_become(next)
            || self.next().iter().filter(|stage| is_silent(stage)).any(|silent| {
                // Of these two, `simp` never leads back to `review`, so this ends.
                silent.is_followed_by(next)
            })
    }
}
