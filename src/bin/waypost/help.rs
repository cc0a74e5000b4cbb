//! The parts of the help beside the text of each command: groups and examples.

pub(crate) mod describe;
pub(crate) mod groups;
pub(crate) mod sections;
