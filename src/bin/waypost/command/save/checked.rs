//! `waypost save --layout`: a document of another system, held to the rules of that system.

use waypost::layouts::{described, refuse_broken};
use waypost::source::Source;
use waypost::{Document, Layout, NewEntry, Result};

use super::Args;

/// The entry of a document: from the flags, else from the document itself.
///
/// Refuses a document that breaks the rules of its layout, except with --force.
pub(super) fn about(mut about: NewEntry, args: &Args, json: &[u8]) -> Result<NewEntry> {
    if let Some(layout) = args.layout.filter(|_| about.layout == Layout::Native) {
        about.layout = layout;
    }
    if about.layout == Layout::Native {
        return Ok(about);
    }
    let document = Document::from_json(json)?;
    if !args.force {
        refuse_broken(about.layout, &document)?;
    }
    if args.has_about {
        return Ok(about);
    }
    let says_status = args.about.has_status();
    let status = about.status;
    let about = described(about, &document);
    Ok(if says_status { NewEntry { status, ..about } } else { about })
}

/// The document as JSON: claude-crunch writes YAML.
pub(super) fn in_json(text: Vec<u8>, layout: Option<Layout>) -> Result<Vec<u8>> {
    if layout != Some(Layout::Crunch) || Document::from_json(&text).is_ok() {
        return Ok(text);
    }
    let document = Source::from_yaml(&text)?.document()?;
    Ok(serde_json::to_vec(&document).expect("a document is JSON"))
}
