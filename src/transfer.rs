//! Files in and out: the ground that imports, exports and restores stand on.
//!
//! Follows no link out of a directory, replaces nothing it was not told to, and leaves every file
//! whole or not there at all. Prints nothing and asks nobody.

pub mod directory;
pub mod export;
pub mod gzip;
pub mod json;
pub mod ordered;
pub mod own;
pub mod place;
pub mod private;
pub mod size;
pub mod system;

pub use crate::store::whole;
