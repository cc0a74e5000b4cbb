//! The checked-in counts: how the file is read and written, and what counts as a change.
//!
//! Pure, so that the tests of the suite can include it. Must never round a failure away: a work
//! without a checked-in count, and a checked-in count without a work, are errors.

/// A count may be this many percent above the checked-in one, or below it without a remark.
pub(crate) const TOLERANCE_PERCENT: u64 = 5;

const HEAD: &str = "\
# Instructions of one call of each work, counted by callgrind. `cargo bench --bench meters` fails if
# one of them grows by more than 5 %. To write this file anew after a change that is meant:
#     cargo bench --bench meters -- --update
";
const MADE_BY: &str = "made by ";

/// The counts of one run, and what they depend on beside the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sheet {
    /// Compiler, processor and C library, since all of them change the counts.
    pub(crate) made_by: String,
    /// The works in their order, each with its instructions.
    pub(crate) counts: Vec<(String, u64)>,
}

/// What became of a work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Steady,
    /// Above the checked-in count by more than the tolerance.
    Grown,
    /// Below it by more than the tolerance: the file should be updated.
    Shrunk,
    /// The file has no count for it.
    Missing,
    /// The file has a count, but there is no such work.
    Unknown,
}

/// One line of the comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) work: String,
    pub(crate) counted: Option<u64>,
    pub(crate) checked_in: Option<u64>,
    pub(crate) verdict: Verdict,
}

impl Sheet {
    /// Reads the checked-in file.
    ///
    /// # Errors
    /// Says which line is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (mut made_by, mut counts) = (None, Vec::<(String, u64)>::new());
        for (number, line) in text.lines().enumerate() {
            let wrong = |why: &str| format!("line {}: {why}: {line:?}", number + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(what) = line.strip_prefix(MADE_BY) {
                if made_by.replace(what.to_owned()).is_some() {
                    return Err(wrong("a second origin"));
                }
                continue;
            }
            let (work, count) =
                line.rsplit_once(' ').ok_or_else(|| wrong("neither a work nor a comment"))?;
            let count = count.parse().map_err(|_| wrong("the count is no number"))?;
            let work = work.trim_end().to_owned();
            if counts.iter().any(|(earlier, _)| *earlier == work) {
                return Err(wrong("a second count of the same work"));
            }
            counts.push((work, count));
        }
        let made_by = made_by.ok_or_else(|| format!("no line starts with {MADE_BY:?}"))?;
        Ok(Self { made_by, counts })
    }

    pub(crate) fn to_text(&self) -> String {
        let name = self.counts.iter().map(|(work, _)| work.len()).max().unwrap_or_default();
        let lines = self.counts.iter().map(|(work, count)| format!("{work:<name$} {count:>10}\n"));
        format!("{HEAD}{MADE_BY}{}\n\n{}", self.made_by, lines.collect::<String>())
    }

    fn of(&self, work: &str) -> Option<u64> {
        self.counts.iter().find(|(name, _)| name == work).map(|(_, count)| *count)
    }
}

/// Compares what was counted with what is checked in. Works come in their own order, then those
/// that only the file has.
pub(crate) fn compare(counted: &Sheet, checked_in: &Sheet) -> Vec<Row> {
    let known = counted.counts.iter().map(|(work, count)| {
        let before = checked_in.of(work);
        let verdict = before.map_or(Verdict::Missing, |before| judge(*count, before));
        Row { work: work.clone(), counted: Some(*count), checked_in: before, verdict }
    });
    let is_unknown = |(work, _): &&(String, u64)| counted.of(work).is_none();
    let unknown = checked_in.counts.iter().filter(is_unknown).map(|(work, count)| {
        let verdict = Verdict::Unknown;
        Row { work: work.clone(), counted: None, checked_in: Some(*count), verdict }
    });
    known.chain(unknown).collect()
}

fn judge(counted: u64, before: u64) -> Verdict {
    let (counted, before) = (u128::from(counted) * 100, u128::from(before));
    if counted > before * u128::from(100 + TOLERANCE_PERCENT) {
        Verdict::Grown
    } else if counted < before * u128::from(100 - TOLERANCE_PERCENT) {
        Verdict::Shrunk
    } else {
        Verdict::Steady
    }
}

/// Whether the bench fails. Where the counts were made by another compiler or machine, a larger
/// count may be no fault of the code.
pub(crate) fn fails(rows: &[Row], is_comparable: bool) -> bool {
    rows.iter().any(|row| match row.verdict {
        Verdict::Grown => is_comparable,
        Verdict::Missing | Verdict::Unknown => true,
        Verdict::Steady | Verdict::Shrunk => false,
    })
}

impl Row {
    /// The line of a table.
    pub(crate) fn to_line(&self) -> String {
        let show = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
        let verdict = match self.verdict {
            Verdict::Steady => "",
            Verdict::Grown => "GROWN",
            Verdict::Shrunk => "less",
            Verdict::Missing => "MISSING in the file",
            Verdict::Unknown => "UNKNOWN work",
        };
        let (counted, checked_in) = (show(self.counted), show(self.checked_in));
        let (work, change) = (&self.work, self.change());
        let line = format!("{work:<38} {counted:>11} {checked_in:>11} {change:>8}  {verdict}");
        line.trim_end().to_owned()
    }

    #[expect(clippy::cast_precision_loss, reason = "a percentage is shown with one decimal")]
    fn change(&self) -> String {
        match (self.counted, self.checked_in) {
            (Some(counted), Some(before)) if before > 0 => {
                format!("{:+.1} %", (counted as f64 / before as f64 - 1.0) * 100.0)
            }
            _ => "-".to_owned(),
        }
    }
}
