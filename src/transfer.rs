//! Files in and out of a store.
//!
//! [`import`] takes in checkpoint files of other systems and lines of JSON, [`check`](mod@check)
//! holds files to the rules of their systems, and [`envelope`] opens documents that bring their own
//! description. The others are what these stand on.
//!
//! Must never follow a link out of a directory, replace a file without being told to, or leave half
//! of a file under its name. Prints nothing, and reads neither the environment nor a clock.

pub mod capture;
pub mod check;
pub mod envelope;
pub mod home;
pub mod import;
pub mod json;
pub mod line;
pub mod steady;

// Only for the command, so far.
#[doc(hidden)]
#[expect(clippy::must_use_candidate, reason = "only for the command, so far")]
pub mod directory;
#[doc(hidden)]
pub mod gzip;
#[doc(hidden)]
pub mod ordered;
#[doc(hidden)]
pub mod own;
#[doc(hidden)]
#[expect(clippy::must_use_candidate, reason = "only for the command, so far")]
pub mod place;
#[doc(hidden)]
pub mod private;
#[doc(hidden)]
pub mod size;
#[doc(hidden)]
pub mod system;
#[doc(hidden)]
#[expect(clippy::must_use_candidate, reason = "only for the command, so far")]
pub mod whole;
