//! Files in which each line is a checkpoint, put together again.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use waypost::{Error, Id, Layout, SourceForm, Store};

use waypost::transfer::directory::{Directory, Draft};

/// Lines by the path of their file.
#[derive(Debug, Default)]
pub(super) struct Lines {
    files: BTreeMap<String, LineFile>,
}

/// The lines of a file.
#[derive(Debug)]
pub(super) struct LineFile {
    pub(super) layout: Layout,
    /// How the newest of the lines found the file.
    pub(super) form: SourceForm,
    pub(super) lines: BTreeMap<u64, Id>,
}

/// What became of the lines of a file.
pub(super) struct Written {
    pub(super) draft: Draft,
    pub(super) lines: u64,
    /// What could not be read, and why.
    pub(super) damaged: Vec<Error>,
}

impl Lines {
    /// Takes in a line; `false` if a newer checkpoint is the same line. The newest comes first.
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
    /// Writes the lines in their order beside where their file goes.
    pub(super) fn write(
        &self,
        store: &Store,
        directory: &Directory,
        path: &str,
    ) -> Result<Written> {
        let (mut lines, mut damaged) = (0, Vec::new());
        let write = |out: &mut dyn Write| -> Result<()> {
            let mut is_ended = true;
            for id in self.lines.values() {
                let text = store
                    .get(id)
                    .and_then(|line| Ok(line.source_text()?.unwrap_or_default().into_owned()));
                match text {
                    Ok(text) => {
                        // The last may have been taken in before its end was written.
                        if !is_ended {
                            out.write_all(b"\n")?;
                        }
                        is_ended = text.ends_with(b"\n");
                        out.write_all(&text)?;
                        lines += 1;
                    }
                    // Deleted since it was listed.
                    Err(Error::NotFound { .. }) => {}
                    Err(error @ Error::Corrupt { .. }) => damaged.push(error),
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(())
        };
        let draft = directory.draft_parts(path, &self.form, write)?;
        Ok(Written { draft, lines, damaged })
    }
}
