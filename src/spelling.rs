//! Misspelled words.

/// The known word that a misspelled one most likely means.
pub(crate) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    // A third of the letters: two wrong ones of `per` leave nothing of it.
    let near = |known: &&str| distance(word, known) <= known.len().div_ceil(3);
    known.iter().copied().filter(near).min_by_key(|known| distance(word, known))
}

/// The known word that differs by one letter, or by two swapped ones.
pub(crate) fn slip<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    known.iter().copied().find(|known| distance(word, known) == 1)
}

/// The number of letters to insert, delete, replace or swap with the next one.
pub(crate) fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    // Words that differ this much are not similar, and a key may be as long as the file.
    if one.len().abs_diff(other.len()) > other.len() {
        return usize::MAX;
    }
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            let is_swap =
                i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
            if is_swap {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_counts_letters_and_swaps() {
        for (one, other, expected) in [
            ("", "", 0),
            ("per", "per", 0),
            ("pre", "per", 1),
            ("keep-last", "keep_last", 1),
            ("iterations", "iteration", 1),
            ("keeplast", "keep_last", 1),
            ("interaction", "iteration", 2),
            ("abc", "xyz", 3),
            ("", "per", 3),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn what_is_not_near_is_not_suggested() {
        assert_eq!(nearest("retentoin", &["rules", "retention"]), Some("retention"));
        assert_eq!(nearest("colour", &["rules", "retention"]), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), &["rules"]), None);
    }
}
