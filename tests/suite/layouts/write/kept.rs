//! Documents that have the shape of the layout already.

use std::fs;

use serde_json::Value;
use waypost::layouts::file_as;
use waypost::source::SourceForm;
use waypost::{Document, Layout};

use super::super::fixtures;
use super::{entry, refusal};

#[test]
fn a_file_of_the_layout_comes_back_unchanged() {
    for (layout, prefix, path) in [
        (Layout::Agentize, "v1-02", ".tmp/impl-checkpoint.json"),
        (Layout::Crunch, "CP", ".claude/crunch/42/checkpoints/CP-{phase}-{timestamp}-{hash}.json"),
        (
            Layout::Claude,
            "schema-2.1",
            ".claude/data/checkpoints/implement_dark_mode_20261116_021756.json",
        ),
        (Layout::Pipeline, "checkpoint", ".pipeline/checkpoint-PROJ-42.json"),
        (
            Layout::Aiwg,
            "multi",
            ".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints/iteration-005.json.gz",
        ),
        (
            Layout::Aiwg,
            "single",
            ".aiwg/checkpoints/ralph-research-impl-2026-01-25T15-00-00Z-iteration.json.gz",
        ),
    ] {
        let json = fs::read(&fixtures(layout.as_str(), prefix, ".json")[0]).unwrap();
        let document = Document::from_json(&json).unwrap();
        let mut entry = entry(Layout::Native);
        entry.layout = layout;
        entry.source = Some(SourceForm { line: Some(3), ..SourceForm::default() });
        let file = file_as(layout, &entry, &document).unwrap();
        assert_eq!(file.path, path);
        assert_eq!(file.document, document);
        assert_eq!(Some(file.form), entry.source);

        // From where it was, if that is a place of the system.
        for (source, expected) in [
            (format!("sub/{path}"), format!("sub/{path}")),
            ("elsewhere.json".to_owned(), path.to_owned()),
            (format!("../{path}"), path.to_owned()),
        ] {
            entry.source_path = Some(source);
            assert_eq!(file_as(layout, &entry, &document).unwrap().path, expected);
        }
    }
}

/// Unreadable bytes have a document of null: only the path knows where they belong.
#[test]
fn a_file_that_says_nothing_goes_where_it_was() {
    let mut entry = entry(Layout::Pipeline);
    entry.layout = Layout::Pipeline;
    assert_eq!(refusal(Layout::Pipeline, &entry, &Value::Null), ["/storyId: is required"]);
    entry.source_path = Some("copy/of it.json".to_owned());
    let file = file_as(Layout::Pipeline, &entry, &Document::Null).unwrap();
    assert_eq!((file.path.as_str(), file.document), ("copy/of it.json", Document::Null));
}

#[test]
fn a_native_document_of_the_layouts_shape_is_written_unchanged() {
    for (layout, prefix) in [
        (Layout::Agentize, "v1-02"),
        (Layout::Claude, "schema-2.1"),
        (Layout::Pipeline, "checkpoint"),
        (Layout::Aiwg, "multi"),
    ] {
        let json = fs::read(&fixtures(layout.as_str(), prefix, ".json")[0]).unwrap();
        let document = Document::from_json(&json).unwrap();
        let file = file_as(layout, &entry(Layout::Native), &document).unwrap();
        assert_eq!(file.document, document, "{layout}");
    }
}
