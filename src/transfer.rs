//! Files in and out: the ground that imports, exports and restores stand on.
//!
//! Follows no link out of a directory, replaces nothing it was not told to, and leaves every file
//! whole or not there at all. Prints nothing and asks nobody.

pub mod capture;
pub mod directory;
pub mod gzip;
pub mod home;
pub mod ordered;
pub mod own;
pub mod place;
pub mod private;
pub mod size;
pub mod steady;
pub mod system;
pub mod whole;
