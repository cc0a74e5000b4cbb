//! The documents of the project, beside the code they are about.

#[doc = include_str!("docs/GUIDE.md")]
pub mod guide {}

#[doc = include_str!("docs/DESIGN.md")]
pub mod design {}

#[doc = include_str!("docs/FORMAT.md")]
pub mod format {}

#[doc = include_str!("docs/JSON.md")]
pub mod json {}

#[doc = include_str!("docs/MEASURED.md")]
pub mod measured {}

#[doc = include_str!("docs/CHANGELOG.md")]
pub mod changelog {}
