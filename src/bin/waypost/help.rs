//! What the help says beside the texts of each command: how they are grouped, and their examples.

pub(crate) mod describe;
pub(crate) mod groups;
pub(crate) mod sections;
