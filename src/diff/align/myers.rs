//! The shortest script that makes one sequence of another, after E. W. Myers (1986).
//!
//! Takes time in proportion to the length of the script, so it gives up where that is long.

// The notes to find a script of this length take a megabyte; they grow with its square.
const SCRIPT_MAX: usize = 256;

/// How many more elements may be looked at.
#[derive(Debug, Default)]
pub(super) struct Work(usize);

impl Work {
    /// In proportion to the length of both sides, so that no input takes longer than that.
    pub(super) fn for_length(old: &[u64], new: &[u64]) -> Self {
        Self((old.len() + new.len()).saturating_mul(32).saturating_add(1 << 20))
    }

    fn spend(&mut self, cost: usize) -> Option<()> {
        self.0 = self.0.checked_sub(cost)?;
        Some(())
    }
}

/// All that both have in common, rising on both sides; `None` if the script would be too long.
pub(super) fn common(old: &[u64], new: &[u64], work: &mut Work) -> Option<Vec<(usize, usize)>> {
    let mut front = Front::new(SCRIPT_MAX.min(old.len() + new.len()));
    let mut history = Vec::new();
    for steps in 0..front.center {
        work.spend(front.reach.len())?;
        history.push(front.clone());
        for diagonal in (front.center - steps..=front.center + steps).step_by(2) {
            let first = if steps == 0 { 0 } else { front.first(diagonal, steps) };
            let mut i = first;
            let mut j = i + front.center - diagonal;
            while i < old.len() && j < new.len() && old[i] == new[j] {
                (i, j) = (i + 1, j + 1);
            }
            front.reach[diagonal] = i;
            work.spend(1 + i - first)?;
            if (i, j) == (old.len(), new.len()) {
                return Some(walk_back(&history, (i, j)));
            }
        }
    }
    None
}

/// How far scripts of this number of steps reach.
#[derive(Debug, Clone)]
struct Front {
    /// The diagonal of scripts that took as many elements of one side as of the other; those to
    /// the right of it took more of the old one.
    center: usize,
    /// The place in the old sequence, by diagonal.
    reach: Vec<usize>,
}

impl Front {
    fn new(steps_max: usize) -> Self {
        Self { center: steps_max + 1, reach: vec![0; 2 * steps_max + 3] }
    }

    /// The diagonal that the last of `steps` comes from: from the right it is an insertion.
    fn before(&self, diagonal: usize, steps: usize) -> usize {
        let is_lowest = diagonal == self.center - steps;
        let is_highest = diagonal == self.center + steps;
        let reaches_farther = || self.reach[diagonal - 1] < self.reach[diagonal + 1];
        if is_lowest || (!is_highest && reaches_farther()) { diagonal + 1 } else { diagonal - 1 }
    }

    /// Where the last of `steps` leads to in the old sequence.
    fn first(&self, diagonal: usize, steps: usize) -> usize {
        let before = self.before(diagonal, steps);
        self.reach[before] + usize::from(before < diagonal)
    }
}

/// What is in common on the way to `end`, with the front before each step.
fn walk_back(history: &[Front], end: (usize, usize)) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut i, mut j) = end;
    for (steps, front) in history.iter().enumerate().rev() {
        let diagonal = front.center + i - j;
        let before = if steps == 0 { diagonal } else { front.before(diagonal, steps) };
        let from_i = if steps == 0 { 0 } else { front.reach[before] };
        let from_j = from_i + front.center - before;
        while i > from_i && j > from_j {
            (i, j) = (i - 1, j - 1);
            pairs.push((i, j));
        }
        (i, j) = (from_i, from_j);
    }
    pairs.reverse();
    pairs
}
