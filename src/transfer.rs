//! Files in and out of a store.
//!
//! [`import`] takes in checkpoint files of other systems and lines of JSON, [`export`] writes them,
//! [`check`](mod@check) holds files to the rules of their systems, [`capture`] reads files to save
//! with a checkpoint, and [`envelope`] opens documents that bring their own description. The other
//! modules support these.
//!
//! Must never follow a link out of a directory, replace a file without being told to, or leave half
//! of a file under its name. Prints nothing, and reads neither the environment nor a clock.

pub mod capture;
pub mod check;
pub mod directory;
pub mod envelope;
pub mod export;
pub mod home;
pub mod import;
pub mod json;
pub mod line;
pub mod own;
pub mod place;
pub mod steady;

#[doc(hidden)]
pub use crate::ordered;
pub use crate::store::whole;

// Only for the command, so far.
#[doc(hidden)]
pub mod gzip;
#[doc(hidden)]
pub mod private;
#[doc(hidden)]
pub mod size;
#[doc(hidden)]
pub mod system;
