//! A checkpoint as a JSON object, as `waypost show --json` and the lines of an export have it.
//!
//! `src/docs/JSON.md` promises the members.

/// The version of every JSON object that the command prints, and of the lines of an export.
pub const VERSION: u64 = 1;
/// The member that holds [`VERSION`].
pub const VERSION_KEY: &str = "version";
/// The text of the file that a checkpoint came from.
pub const SOURCE_TEXT: &str = "source_text";
/// The same in hexadecimal digits, for a text that is not UTF-8.
pub const SOURCE_HEX: &str = "source_hex";
/// The files that were captured with a checkpoint.
pub const ARTIFACTS: &str = "artifacts";
/// The content of a captured file.
pub const TEXT: &str = "text";
/// The same in hexadecimal digits, for a content that is not UTF-8.
pub const HEX: &str = "hex";
/// The rules of its system that a document breaks.
pub const PROBLEMS: &str = "problems";
