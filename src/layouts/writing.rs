//! How files of a layout are to be written: which version of its schema, and which form.

use crate::checkpoint::Layout;
use crate::error::{Error, Result};

use super::claude;

/// How files of a layout are to be written.
///
/// ```
/// use waypost::layouts::{Form, Schema, Writing};
/// use waypost::Layout;
///
/// # fn main() -> waypost::Result<()> {
/// let newest = Schema::versions(Layout::Aiwg).last().expect("there are some");
/// let schema = Schema::new(Layout::Aiwg, newest)?;
/// let writing = Writing { schema: Some(schema), ..Writing::default() };
/// assert_eq!((schema.as_str(), writing.form), (*newest, Form::Documented));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Writing {
    /// The version that every file gets.
    ///
    /// `None` leaves a document of the layout as it is, and gives others the newest version.
    pub schema: Option<Schema>,
    /// The form of the file.
    pub form: Form,
}

/// Which of a system's files a checkpoint becomes.
///
/// See [`Writing`] for an example.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// The form that the system's schema describes.
    #[default]
    Documented,
    /// The form that the system's code reads, where it differs.
    Reader,
}

/// A version of the schema of a layout.
///
/// See [`Writing`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schema {
    layout: Layout,
    version: &'static str,
}

impl Schema {
    /// Returns the version of this name.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the versions that the layout has.
    pub fn new(layout: Layout, version: &str) -> Result<Self> {
        let known = Self::versions(layout);
        if known.is_empty() {
            let reason = format!("{layout} files have no versions to choose from");
            return Err(Error::invalid("schema", reason));
        }
        let found = known.iter().find(|known| **known == version);
        let reason = || format!("must be one of {} for {layout}", known.join(", "));
        let version = found.ok_or_else(|| Error::invalid("schema", reason()))?;
        Ok(Self { layout, version })
    }

    /// Returns the versions that a layout has, the oldest first.
    #[must_use]
    pub fn versions(layout: Layout) -> &'static [&'static str] {
        match layout {
            Layout::Agentize => &["1", "2"],
            Layout::Claude => &claude::WRITTEN_VERSIONS,
            Layout::Aiwg => &["1.0", "2.0"],
            Layout::Native | Layout::Crunch | Layout::Pipeline => &[],
        }
    }

    /// Returns the layout that has this version.
    #[must_use]
    pub fn layout(self) -> Layout {
        self.layout
    }

    /// Returns the name of the version.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.version
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_of_a_layout_is_found_by_its_name() {
        for layout in Layout::ALL {
            for version in Schema::versions(layout) {
                let schema = Schema::new(layout, version).unwrap();
                assert_eq!((schema.layout(), schema.as_str()), (layout, *version));
            }
        }
    }

    #[test]
    fn a_version_that_a_layout_does_not_have_is_refused_with_those_it_has() {
        let refused = |layout| Schema::new(layout, "7").unwrap_err().to_string();
        assert_eq!(refused(Layout::Aiwg), "invalid schema: must be one of 1.0, 2.0 for aiwg");
        assert!(refused(Layout::Claude).contains("none, 1.0, 1.1, 1.2, 1.3, 2.0, 2.1"));
        assert!(refused(Layout::Crunch).contains("have no versions"));
    }
}
