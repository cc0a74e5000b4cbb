//! Checks files and checkpoints against the rules of the systems that write them.
//!
//! Changes nothing. A problem is an error if it makes the document invalid, and a warning if the
//! programs of the system themselves deviate from its documentation there.
//!
//! ```
//! use waypost::transfer::check::{CheckOptions, Checked};
//!
//! # fn main() -> std::io::Result<()> {
//! # let dir = tempfile::tempdir()?;
//! # let project = dir.path();
//! std::fs::create_dir(project.join(".pipeline"))?;
//! let file = project.join(".pipeline/checkpoint-PROJ-42.json");
//! std::fs::write(file, r#"{"storyId": "PROJ-42", "stage": 2, "tasksCompleted": []}"#)?;
//! let mut checked = Checked::default();
//! checked.path(project, &CheckOptions::default(), &mut || true)?;
//! assert_eq!(checked.checked, 1);
//! assert!(checked.errors > 0);
//! # Ok(())
//! # }
//! ```

mod files;
mod report;

use std::io;
use std::path::{Path, PathBuf};

use crate::checkpoint::{Checkpoint, Document, Layout};
use crate::codec::Source;
use crate::error::Result;
use crate::layouts::crunch::Location;
use crate::layouts::{Problem, check, locate, problems};
use crate::transfer::import::text::{is_dump, said};
use report::Subject;

pub use report::{BrokenRule, Checked};

/// How files are checked.
///
/// ```
/// use waypost::Layout;
/// use waypost::transfer::check::CheckOptions;
///
/// let options = CheckOptions { layout: Some(Layout::Crunch), ..CheckOptions::default() };
/// assert!(options.shown_from.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// The system whose rules count, whatever a file looks like.
    pub layout: Option<Layout>,
    /// The store of the project, which need not exist. Some rules are about the path of a file
    /// from the directory that the store is for.
    pub store: PathBuf,
    /// Where the project has the files of claude-crunch.
    pub location: Location,
    /// The directory from which the report names files, with links resolved. By default it names
    /// them by their absolute paths.
    pub shown_from: Option<PathBuf>,
}

impl Checked {
    /// Checks a file, or all checkpoint files below a directory, as an import would find them.
    /// Asks `goes_on` before each directory.
    ///
    /// # Errors
    /// If the path itself cannot be read. A file that cannot be read is a problem of the report.
    pub fn path(
        &mut self,
        path: &Path,
        options: &CheckOptions,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<()> {
        files::check_path(self, path, options, goes_on)
    }

    /// Checks a document of a system as a text; `name` stands for it in the report.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if the document is beyond a limit.
    pub fn text(&mut self, name: &str, layout: Layout, text: &[u8]) -> Result<()> {
        // JSON is YAML, too, but the reader of JSON gives better errors.
        let is_json = layout != Layout::Crunch || text.trim_ascii_start().starts_with(b"{");
        let source = if is_json { Source::from_json(text) } else { Source::from_yaml(text) };
        let found = match source {
            Ok(source) => {
                let mut found = check(layout, &source.document()?, "");
                locate(&mut found, source.form(), text);
                found
            }
            Err(error) => vec![Problem::syntax(&said(&error))],
        };
        self.add(&Subject::of_file(name, layout), found);
        Ok(())
    }

    /// Checks a checkpoint of a store by the rules of its layout, or of `layout`.
    ///
    /// # Errors
    /// If its document, or the text of its file, cannot be read.
    pub fn checkpoint(&mut self, mut checkpoint: Checkpoint, layout: Option<Layout>) -> Result<()> {
        checkpoint.entry.layout = layout.unwrap_or(checkpoint.entry.layout);
        let found = problems(&checkpoint, &checkpoint.document()?)?;
        let (id, layout) = (Some(checkpoint.entry.id.clone()), checkpoint.entry.layout);
        self.add(&Subject { path: None, id, layout }, found);
        Ok(())
    }
}

/// The layout whose rules count: that of the options, else the recognised one, else the native one
/// for what an export wrote.
fn layout_of(
    named: Option<Layout>,
    recognised: Option<Layout>,
    document: &Document,
) -> Option<Layout> {
    let native = || is_dump(document.into()).then_some(Layout::Native);
    named.or(recognised).or_else(native)
}
