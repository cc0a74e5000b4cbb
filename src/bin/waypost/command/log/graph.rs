//! The graph beside a time line: one lane per series, and a line from each fork to its origin.
//!
//! Knows rows only as numbers, newest first, and the row that each continues.

use waypost::history::Link;

// More parallel lines cannot be followed by eye; the rest is not drawn.
const LANES_MAX: usize = 12;

// Stands where the rest of a line is not shown.
const CUT: char = '~';

/// The characters of the graph.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signs {
    node: char,
    line: char,
    /// A line goes on down, and one from the right ends in it.
    join: char,
    across: char,
    cross: char,
    /// A line from above turns left, or meets one that does.
    turn: char,
    meet: char,
}

impl Signs {
    pub(super) const ASCII: Self =
        Self { node: '*', line: '|', join: '|', across: '-', cross: '+', turn: '\'', meet: '\'' };
    pub(super) const UNICODE: Self = Self {
        node: '\u{25cb}',
        line: '\u{2502}',
        join: '\u{251c}',
        across: '\u{2500}',
        cross: '\u{253c}',
        turn: '\u{256f}',
        meet: '\u{2534}',
    };
}

/// The graph before a row, without trailing spaces.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Drawn {
    /// An extra line above the row, where lines join or must be kept apart.
    pub(super) above: Option<String>,
    /// Before the row itself.
    pub(super) beside: String,
    /// Before further lines about the row.
    pub(super) below: String,
}

/// Draws rows, given the row that each continues.
pub(super) fn draw(rows: &[Link], signs: Signs) -> Vec<Drawn> {
    let mut graph = Graph { lanes: Vec::new(), ended: None, signs };
    rows.iter().enumerate().map(|(row, from)| graph.row(row, *from)).collect()
}

struct Graph {
    /// The row that each line leads to.
    lanes: Vec<Option<usize>>,
    /// The lane that ended at the row before, and whether more of it exists that is not shown.
    ended: Option<(usize, bool)>,
    signs: Signs,
}

impl Graph {
    fn row(&mut self, row: usize, from: Link) -> Drawn {
        let arriving: Vec<usize> =
            (0..self.lanes.len()).filter(|lane| self.lanes[*lane] == Some(row)).collect();
        let (lane, above) = match arriving.as_slice() {
            [] => {
                let lane = self.free_lane();
                (lane, self.parted(lane))
            }
            [lane] => (*lane, None),
            [lane, ..] => (*lane, Some(self.joined(&arriving))),
        };
        for lane in arriving {
            self.lanes[lane] = None;
        }
        let beside = self.lines(|at| (at == lane).then_some(self.signs.node));
        (self.lanes[lane], self.ended) = match from {
            Link::Row(row) => (Some(row), None),
            Link::Hidden => (None, Some((lane, true))),
            Link::Nothing => (None, Some((lane, false))),
        };
        let below = self.lines(|_| None);
        while self.lanes.last() == Some(&None) {
            self.lanes.pop();
        }
        Drawn { above, beside, below }
    }

    /// An extra line, so that a new lane does not look like the continuation of one that just
    /// ended.
    fn parted(&self, lane: usize) -> Option<String> {
        let (_, is_cut) = self.ended.filter(|(ended, _)| *ended == lane)?;
        Some(self.lines(|at| (at == lane && is_cut).then_some(CUT)))
    }

    fn free_lane(&mut self) -> usize {
        let free = self.lanes.iter().position(Option::is_none);
        free.unwrap_or_else(|| {
            self.lanes.push(None);
            self.lanes.len() - 1
        })
    }

    /// All lanes as they continue, with a sign in place of one.
    fn lines(&self, sign: impl Fn(usize) -> Option<char>) -> String {
        let shown = |at: usize| sign(at).or(self.lanes[at].map(|_| self.signs.line));
        // Rows of lanes that are not drawn have their sign in the last drawn lane.
        let hidden = (LANES_MAX..self.lanes.len()).find_map(&sign);
        let mut cells: Vec<char> =
            (0..self.lanes.len().min(LANES_MAX)).map(|at| shown(at).unwrap_or(' ')).collect();
        cells.extend(hidden);
        spaced(&cells, |_| ' ')
    }

    /// The lanes where the `arriving` ones join the first of them.
    fn joined(&self, arriving: &[usize]) -> String {
        let first = arriving[0];
        let last = arriving[arriving.len() - 1];
        let Signs { line, join, across, cross, turn, meet, .. } = self.signs;
        let cell = |at: usize| match self.lanes[at] {
            _ if at == first => join,
            _ if at == last => turn,
            _ if arriving.contains(&at) => meet,
            Some(_) if (first..last).contains(&at) => cross,
            Some(_) => line,
            None if (first..last).contains(&at) => across,
            None => ' ',
        };
        let cells: Vec<char> = (0..self.lanes.len().min(LANES_MAX)).map(cell).collect();
        spaced(&cells, |at| if (first..last).contains(&at) { across } else { ' ' })
    }
}

/// Cells with something between them, and nothing at the end.
fn spaced(cells: &[char], between: impl Fn(usize) -> char) -> String {
    let mut text = String::new();
    for (at, cell) in cells.iter().enumerate() {
        text.push(*cell);
        if at + 1 < cells.len() {
            text.push(between(at));
        }
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The graph of rows, each given as the number of the row it continues.
    fn drawn(rows: &[Option<usize>]) -> String {
        let rows: Vec<Link> = rows.iter().map(|row| row.map_or(Link::Nothing, Link::Row)).collect();
        shown(&rows)
    }

    fn shown(rows: &[Link]) -> String {
        let lines = draw(rows, Signs::ASCII).into_iter().zip('a'..);
        let lines = lines.flat_map(|(drawn, name)| {
            drawn.above.into_iter().chain([format!("{} {name}", drawn.beside)])
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_series_is_one_line() {
        insta::assert_snapshot!(drawn(&[Some(1), Some(2), None]), @"
        * a
        * b
        * c
        ");
    }

    #[test]
    fn a_fork_joins_where_it_comes_from() {
        insta::assert_snapshot!(drawn(&[Some(2), Some(3), Some(4), Some(4), Some(5), None]), @"
        * a
        | * b
        * | c
        | * d
        |-'
        * e
        * f
        ");
    }

    #[test]
    fn several_forks_of_one_join_at_once() {
        insta::assert_snapshot!(
            drawn(&[Some(4), Some(5), Some(4), Some(4), Some(6), Some(6), None]),
            @"
        * a
        | * b
        | | * c
        | | | * d
        |-+-'-'
        * | e
        | * f
        |-'
        * g
        "
        );
    }

    #[test]
    fn a_line_that_ends_is_told_from_the_next_one() {
        insta::assert_snapshot!(drawn(&[None, Some(3), None, None, None]), @"
        * a

        * b
        | * c
        * d

        * e
        ");
    }

    #[test]
    fn what_is_not_shown_of_a_line_is_told() {
        let rows = [Link::Row(2), Link::Hidden, Link::Hidden, Link::Hidden, Link::Nothing];
        insta::assert_snapshot!(shown(&rows), @"
        * a
        | * b
        * c
        ~
        * d
        ~
        * e
        ");
    }

    #[test]
    fn what_cannot_be_drawn_is_still_marked() {
        let apart: Vec<Link> = (0..40).map(|row| Link::Row(row + 40)).collect();
        let drawn = draw(&apart, Signs::UNICODE);
        assert!(drawn.iter().all(|drawn| drawn.beside.contains('\u{25cb}')));
        assert!(drawn.iter().all(|drawn| drawn.beside.chars().count() <= 2 * LANES_MAX + 1));
    }
}
