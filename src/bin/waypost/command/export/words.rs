//! What an export reports, in words.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use waypost::transfer::export::{ExportEvent, Exported, NotExported};

use crate::args::Global;
use crate::output::{grouped, plain};

/// The note about an event.
pub(super) fn note(event: &ExportEvent<'_>, global: &Global) -> Option<String> {
    match event {
        ExportEvent::NotExported { name, why } => {
            Some(format!("not exported: {}", left_out(name, why)))
        }
        // The report has it, too.
        ExportEvent::Note { name, note } => (!global.json).then(|| format!("{name}: {note}")),
        ExportEvent::Moved(file) => Some(format!("moved {} to {}", file.from, file.to)),
        _ => None,
    }
}

/// Names what was not exported, and why.
pub(super) fn left_out(name: &str, why: &NotExported) -> String {
    match why {
        NotExported::Damaged(error) | NotExported::Limit(error) => error.to_string(),
        NotExported::Differs { path } if path == name => why.to_string(),
        // It may be empty, or hold control characters.
        NotExported::Path { path, reason } => {
            format!("{name}: path \"{}\" {reason}", plain(path))
        }
        why => format!("{name}: {why}"),
    }
}

/// Sums up an export in notes.
pub(super) fn tell(report: &Exported, global: &Global) {
    global.note(summary(report));
    for (note, count) in report.notes.iter().filter(|(_, count)| **count > 1) {
        global.note(format_args!("{count} files: {note}"));
    }
    for line in additions(report) {
        global.note(line);
    }
    if report.differing > 0 {
        global.note("--overwrite replaces what is there with other content");
    }
}

/// The number of checkpoints that were written or were there already.
pub(super) fn written(report: &Exported) -> String {
    format!("{} exported", grouped(report.exported + report.unchanged))
}

fn summary(report: &Exported) -> String {
    let mut text = format!("exported {}", report.exported);
    for (number, (layout, count)) in report.layouts.iter().enumerate() {
        let lead = if number == 0 { ":" } else { "," };
        let _ = write!(text, "{lead} {count} {layout}");
    }
    if report.unchanged > 0 {
        let _ = write!(text, "; {} unchanged", report.unchanged);
    }
    if report.renamed > 0 {
        let count = report.renamed;
        let _ =
            write!(text, "; {count} under a second name, since a newer checkpoint has the first");
    }
    match report.older {
        0 => {}
        1 => text.push_str("; 1 older content of an overwritten file is in the store only"),
        count => {
            let _ =
                write!(text, "; {count} older contents of overwritten files are in the store only");
        }
    }
    text
}

/// The fields that were added; fields added to the same number of files share a line.
fn additions(report: &Exported) -> Vec<String> {
    let mut lots: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for (field, count) in &report.added {
        lots.entry(*count).or_default().push(field);
    }
    let line = |(count, fields): (u64, Vec<&str>)| {
        let files = if count == 1 { "file" } else { "files" };
        format!("added to {} {files}: {}", grouped(count), fields.join(", "))
    };
    lots.into_iter().rev().map(line).collect()
}

#[cfg(test)]
mod tests {
    use waypost::Layout;

    use super::*;

    #[test]
    fn a_report_reads_as_a_sentence() {
        let mut report = Exported::default();
        assert_eq!(summary(&report), "exported 0");
        report.exported = 120;
        report.layouts.extend([(Layout::Crunch, 80), (Layout::Aiwg, 40)]);
        report.unchanged = 3;
        assert_eq!(summary(&report), "exported 120: 80 crunch, 40 aiwg; 3 unchanged");
        assert_eq!(written(&report), "123 exported");
        assert_eq!(report.total(), 123);
        assert!(additions(&report).is_empty());
        for (field, count) in [("/b", 2), ("/a", 2), ("/c", 1)] {
            report.added.insert(field.to_owned(), count);
        }
        assert_eq!(additions(&report), ["added to 2 files: /a, /b", "added to 1 file: /c"]);
    }
}
