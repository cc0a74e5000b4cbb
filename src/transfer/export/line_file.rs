//! Files in which each line is a checkpoint, put together again.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::failure::{ExportError, NotExported, Trying as _};
use crate::checkpoint::{Id, Layout, SourceForm};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::transfer::directory::{Directory, Draft};

/// Files of lines by their paths.
#[derive(Debug, Default)]
pub(super) struct LineFiles {
    files: BTreeMap<String, LineFile>,
}

/// The lines of a file.
#[derive(Debug)]
pub(super) struct LineFile {
    pub(super) layout: Layout,
    /// The form of the file when its newest line was imported.
    pub(super) form: SourceForm,
    /// The checkpoint of each line, by its number.
    pub(super) lines: BTreeMap<u64, Id>,
}

/// A file of lines as it was drafted.
pub(super) struct DraftedLines {
    pub(super) draft: Draft,
    /// Number of lines in it.
    pub(super) lines: u64,
    /// Lines that are damaged.
    pub(super) damaged: Vec<(Id, NotExported)>,
}

impl LineFiles {
    /// Adds a line; `false` if a newer checkpoint is the same line. The newest comes first.
    pub(super) fn add(&mut self, path: String, form: SourceForm, layout: Layout, id: Id) -> bool {
        let lines = BTreeMap::new();
        let file = self.files.entry(path).or_insert(LineFile { layout, form, lines });
        let number = form.line.unwrap_or_default();
        let is_new = !file.lines.contains_key(&number);
        if is_new {
            file.lines.insert(number, id);
        }
        is_new
    }

    pub(super) fn into_files(self) -> impl Iterator<Item = (String, LineFile)> {
        self.files.into_iter()
    }
}

impl LineFile {
    /// Writes the lines in their order, beside where their file goes.
    pub(super) fn write(
        &self,
        store: &Store,
        directory: &Directory,
        path: &str,
    ) -> Result<DraftedLines, ExportError> {
        let (mut lines, mut damaged) = (0, Vec::new());
        let write = |out: &mut dyn Write| -> Result<(), Broken> {
            let mut is_ended = true;
            for id in self.lines.values() {
                match line(store, id) {
                    Ok(text) => {
                        // The last one may have been imported before its end was written.
                        if !is_ended {
                            out.write_all(b"\n")?;
                        }
                        is_ended = text.ends_with(b"\n");
                        out.write_all(&text)?;
                        lines += 1;
                    }
                    // Deleted since it was listed.
                    Err(Error::NotFound { .. }) => {}
                    Err(error @ Error::Corrupt { .. }) => {
                        damaged.push((id.clone(), NotExported::Damaged(error)));
                    }
                    Err(error) => return Err(Broken::Store(error)),
                }
            }
            Ok(())
        };
        let draft = match directory.draft_parts(path, &self.form, write) {
            Ok(draft) => draft,
            Err(Broken::Store(error)) => return Err(error.into()),
            Err(Broken::Io(error)) => return Err(error).trying(|| format!("write {path}")),
        };
        Ok(DraftedLines { draft, lines, damaged })
    }
}

fn line(store: &Store, id: &Id) -> Result<Vec<u8>> {
    let checkpoint = store.get(id)?;
    Ok(checkpoint.source_text()?.unwrap_or_default().into_owned())
}

/// Which side failed while lines were written.
enum Broken {
    Io(io::Error),
    Store(Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
