//! The samples: documents that other systems wrote, or could have.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use waypost::Document;

pub(crate) const LAYOUTS: [&str; 5] = ["agentize", "crunch", "claude", "pipeline", "aiwg"];

#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) layout: &'static str,
    pub(crate) document: Document,
}

/// All samples, in an order that does not depend on the file system.
pub(crate) fn read_all() -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for layout in LAYOUTS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(layout);
        let listing = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        let mut paths = Vec::new();
        for file in listing {
            paths.push(file?.path());
        }
        paths.sort();
        for path in paths {
            let document = Document::from_json(&fs::read(&path)?)
                .with_context(|| path.display().to_string())?;
            samples.push(Sample { layout, document });
        }
    }
    Ok(samples)
}
