//! The file page by page, read without the engine, for when the engine gives up.
//!
//! Knows the engine's file format 3, which a store is in. Checks every page by the sum in the page
//! above, and reads damaged pages as far as they make sense. A caller that uses a row of a damaged
//! page must check the row. Must never write, follow a page twice, or believe a length.

pub(super) mod header;
mod known;
mod node;
mod stray;
#[cfg(test)]
mod tests;
mod unused;

use std::collections::HashSet;
use std::io;
use std::ops::Range;

use crate::store::engine::disk::DiskFile;
use crate::store::engine::sectors::Sectors;
use header::Header;
pub(in crate::store) use known::Known;
use node::{Branch, Leaf};
pub(in crate::store) use stray::Stray;

/// The table of the tables of a store.
pub(in crate::store) const MASTER: &str = "tables";
/// The table of the tables that the engine has for itself.
const ENGINE_MASTER: &str = "tables of the engine";
/// A page of the engine has this length, or this times a power of two.
const PAGE_BYTES: u64 = 4096;
const PAGE_STEP: usize = 4096;
// Free lists are the longest; a damaged length must not allocate more.
const ORDER_MAX: u8 = 12;
// A tree of a million pages is four levels high.
const DEPTH_MAX: usize = 64;
/// The reason for a page with an unreadable sector.
pub(in crate::store) const UNREADABLE: &str = "the disk cannot read some of it";

/// A file of the engine.
pub(in crate::store) struct Pages {
    file: Sectors,
    file_bytes: u64,
    header: Header,
    has_header: bool,
}

/// A page as it was read.
struct Page {
    at: u64,
    /// Zeros beyond the end of the file and where the disk cannot read.
    bytes: Vec<u8>,
    /// Whether the disk can read all of it.
    is_read: bool,
}

/// Where a tree starts, and the sum of its first page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Root {
    page: u64,
    sum: u128,
}

/// How long keys and values of a table are, if all are of one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) struct Shape {
    pub(in crate::store) key: Option<usize>,
    pub(in crate::store) value: Option<usize>,
}

/// A row of a leaf.
pub(in crate::store) struct Row<'a> {
    pub(in crate::store) key: &'a [u8],
    pub(in crate::store) value: &'a [u8],
    /// Where in the file the value is.
    pub(in crate::store) at: u64,
    /// Whether its page passed its sum.
    pub(in crate::store) is_checked: bool,
}

/// A table as the file describes it.
#[derive(Debug, Clone)]
pub(in crate::store) struct Table {
    pub(in crate::store) name: String,
    root: Option<Root>,
    shape: Shape,
}

/// A page that fails its checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::store) struct BadPage {
    /// Where in the file it is, if that is within the file.
    pub(in crate::store) at: Option<u64>,
    /// The table that it belongs to.
    pub(in crate::store) table: String,
    pub(in crate::store) reason: &'static str,
}

/// The two commits in a file: the last one, and the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Commit {
    Last,
    Before,
}

/// The pages that a walk has visited.
#[derive(Default)]
pub(in crate::store) struct Visited {
    pages: HashSet<u64>,
    /// Offsets of pages that passed their sums; of longer pages, of all parts.
    whole: HashSet<u64>,
    pub(in crate::store) bad: Vec<BadPage>,
    /// Pages with an unreadable sector.
    pub(in crate::store) unread: Vec<UnreadPage>,
    /// Number of pages that were known from an earlier walk.
    known: u64,
}

/// A page with an unreadable sector.
pub(in crate::store) struct UnreadPage {
    pub(in crate::store) bytes: Range<u64>,
    /// The table that it belongs to.
    pub(in crate::store) table: String,
}

impl Visited {
    pub(in crate::store) fn pages(&self) -> u64 {
        self.pages.len() as u64 + self.known
    }

    fn keep(&mut self, at: u64, bytes: usize) {
        self.whole.extend((at..at + bytes as u64).step_by(PAGE_STEP));
    }
}

impl Pages {
    pub(in crate::store) fn open(file: Box<dyn DiskFile>) -> io::Result<Self> {
        let file = Sectors::new(file)?;
        let file_bytes = file.length();
        let mut start = vec![0; header::BYTES];
        let there = usize::try_from(file_bytes).unwrap_or(usize::MAX).min(start.len());
        let has_header = file.read(0, &mut start[..there]);
        Ok(Self { file, file_bytes, header: Header::parse(&start), has_header })
    }

    /// Whether the disk can read the header.
    pub(in crate::store) fn has_header(&self) -> bool {
        self.has_header
    }

    /// The file itself.
    pub(in crate::store) fn sectors(&self) -> &Sectors {
        &self.file
    }

    /// Whether a crash left the file; then the last commit may be incomplete.
    pub(in crate::store) fn is_unclosed(&self) -> bool {
        self.header.is_unclosed()
    }

    /// Whether the engine checks all pages when it opens the file: it was not closed, and its last
    /// commit was made in one phase.
    pub(in crate::store) fn needs_repair(&self) -> bool {
        self.header.needs_repair()
    }

    /// The fault in the start of the file, if any.
    pub(in crate::store) fn header_faults(&self) -> Vec<&'static str> {
        if self.has_header { self.header.faults(self.file_bytes) } else { vec![UNREADABLE] }
    }

    /// The commits of the file, the one that counts first.
    ///
    /// That is the one the engine chooses, unless the file was closed and its mark leads to the
    /// older one.
    pub(in crate::store) fn commits(&self) -> [Commit; 2] {
        if self.header.leads_back() {
            [Commit::Before, Commit::Last]
        } else {
            [Commit::Last, Commit::Before]
        }
    }

    /// Whether both commits are intact, so that it is known which is the last.
    pub(in crate::store) fn is_sure(&self) -> bool {
        self.header.is_sure()
    }

    /// The tables of a commit, the engine's own included.
    pub(in crate::store) fn tables(&self, commit: Commit, seen: &mut Visited) -> Vec<Table> {
        let mut tables = Vec::new();
        let shape = Shape { key: None, value: None };
        for (name, root) in [MASTER, ENGINE_MASTER].into_iter().zip(self.header.roots(commit)) {
            let master = Table { name: name.to_owned(), root, shape };
            self.walk(&master, seen, &mut |row| tables.extend(Table::parse(row.key, row.value)));
        }
        tables
    }

    /// The first damaged page of the engine's own tables.
    ///
    /// Such a page may make the engine end the process: it panics again while it unwinds. These
    /// pages are few, and take a few bytes for each hundred pages of the file.
    pub(in crate::store) fn engine_fault(&self) -> Option<BadPage> {
        let mut seen = Visited::default();
        let [_, root] = self.header.roots(self.commits()[0]);
        let shape = Shape { key: None, value: None };
        let master = Table { name: ENGINE_MASTER.to_owned(), root, shape };
        let mut tables = Vec::new();
        self.walk(&master, &mut seen, &mut |row| tables.extend(Table::parse(row.key, row.value)));
        for table in &tables {
            self.walk(table, &mut seen, &mut |_| ());
        }
        seen.bad.into_iter().next()
    }

    /// Calls `visit` with every row of a table that can be found, in the order of keys unless there
    /// is damage.
    pub(in crate::store) fn walk(
        &self,
        table: &Table,
        seen: &mut Visited,
        visit: &mut dyn FnMut(Row<'_>),
    ) {
        if let Some(root) = table.root {
            Walk { pages: self, table, seen, visit, known: None }.descend(root, 0);
        }
    }

    /// Checks the pages of a table, but not those of subtrees that are known.
    pub(in crate::store) fn check(&self, table: &Table, seen: &mut Visited, known: &mut Known) {
        if let Some(root) = table.root {
            let (visit, known): (Visit<'_>, _) = (&mut |_| (), Some(known));
            Walk { pages: self, table, seen, visit, known }.descend(root, 0);
        }
    }

    /// Reads bytes of the file.
    pub(in crate::store) fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        if self.file.read(at, bytes) { Ok(()) } else { Err(io::Error::other(UNREADABLE)) }
    }

    /// A page, if it is within the file.
    fn page(&self, number: u64) -> Option<Page> {
        let (at, length) = Self::place(number)?;
        let there = self.file_bytes.checked_sub(at).filter(|there| *there > 0)?.min(length);
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        let is_read = self.file.read(at, &mut bytes[..usize::try_from(there).ok()?]);
        Some(Page { at, bytes, is_read })
    }

    /// Where a page begins, and how long it is.
    fn place(number: u64) -> Option<(u64, u64)> {
        let order = u8::try_from(number >> 59).ok().filter(|order| *order <= ORDER_MAX)?;
        Some((Header::offset(number, order), PAGE_BYTES << order))
    }
}

impl Table {
    /// The same table, with keys and values as this release has them.
    pub(in crate::store) fn shaped(&self, shape: Shape) -> Self {
        Self { shape, ..self.clone() }
    }

    /// A row of the table of tables.
    fn parse(name: &[u8], value: &[u8]) -> Option<Self> {
        let name = std::str::from_utf8(name).ok()?.to_owned();
        // One byte of kind, eight of length, then the root, then the widths.
        let root = (*value.get(9)? != 0).then(|| Root::parse(value.get(10..)?)).flatten();
        let width = |at: usize| -> Option<Option<usize>> {
            let bytes = value.get(at + 1..at + 5)?.try_into().ok()?;
            Some((*value.get(at)? != 0).then(|| u32::from_le_bytes(bytes) as usize))
        };
        Some(Self { name, root, shape: Shape { key: width(42)?, value: width(47)? } })
    }
}

impl Root {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let page = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
        let sum = u128::from_le_bytes(bytes.get(8..24)?.try_into().ok()?);
        Some(Self { page, sum })
    }
}

type Visit<'a> = &'a mut dyn FnMut(Row<'_>);

struct Walk<'a> {
    pages: &'a Pages,
    table: &'a Table,
    seen: &'a mut Visited,
    visit: Visit<'a>,
    known: Option<&'a mut Known>,
}

impl Walk<'_> {
    fn descend(&mut self, root: Root, depth: usize) {
        // Checked before the page is read: a damaged branch may name a long page many times.
        if let Some((at, _)) = Pages::place(root.page)
            && (depth > DEPTH_MAX || !self.seen.pages.insert(at))
        {
            return self.note(Some(at), "it is named twice");
        }
        if let Some(pages) = self.known.as_ref().and_then(|known| known.get(root)) {
            // The page itself is counted already.
            self.seen.known += pages - 1;
            return;
        }
        let Some(Page { at, bytes, is_read }) = self.pages.page(root.page) else {
            return self.note(None, "a page beyond the end of the file is named");
        };
        // The engine reads whole pages, so even an unreadable sector in unused space fails the
        // page.
        if !is_read {
            self.note(Some(at), UNREADABLE);
            let (bytes, table) = (at..at + bytes.len() as u64, self.table.name.clone());
            self.seen.unread.push(UnreadPage { bytes, table });
        }
        let (faults, before) = (self.seen.bad.len(), self.seen.pages() - 1);
        match bytes[0] {
            node::LEAF => self.leaf(&Leaf::new(&bytes, self.table.shape), at, root.sum),
            node::BRANCH => {
                self.branch(&Branch::new(&bytes, self.table.shape), (at, root.sum), depth);
            }
            _ if !is_read => {}
            _ => self.note(Some(at), "it is no page of a table"),
        }
        if let Some(known) = &mut self.known
            && is_read
            && self.seen.bad.len() == faults
        {
            known.add(root, self.seen.pages() - before);
        }
    }

    fn leaf(&mut self, leaf: &Leaf<'_>, at: u64, sum: u128) {
        let is_checked = leaf.sum() == Some(sum);
        if is_checked {
            self.seen.keep(at, leaf.length());
        } else {
            self.note_sum(at);
        }
        for number in 0..leaf.count() {
            if let Some((key, value, offset)) = leaf.row(number) {
                (self.visit)(Row { key, value, at: at + offset as u64, is_checked });
            }
        }
    }

    fn branch(&mut self, branch: &Branch<'_>, (at, sum): (u64, u128), depth: usize) {
        if branch.sum() == Some(sum) {
            self.seen.keep(at, branch.length());
        } else {
            self.note_sum(at);
        }
        for number in 0..branch.count() {
            if let Some(child) = branch.child(number) {
                self.descend(child, depth + 1);
            }
        }
    }

    /// Notes a page that fails its checksum, unless it has a reason already.
    fn note_sum(&mut self, at: u64) {
        if self.seen.bad.last().is_none_or(|last| last.at != Some(at)) {
            self.note(Some(at), "checksum differs");
        }
    }

    fn note(&mut self, at: Option<u64>, reason: &'static str) {
        self.seen.bad.push(BadPage { at, table: self.table.name.clone(), reason });
    }
}
