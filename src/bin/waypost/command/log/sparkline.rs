//! Numbers through time in one line.

/// The characters of a sparkline, from the lowest level to the highest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Levels([char; 8]);

impl Levels {
    pub(super) const ASCII: Self = Self(['_', '.', ',', '-', '~', '=', '*', '#']);
    pub(super) const UNICODE: Self = Self([
        '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}',
        '\u{2588}',
    ]);
}

/// Draws numbers, the oldest first, in at most `width` characters; a gap stays one.
///
/// If there are more numbers than characters, each character shows the mean of several.
pub(super) fn sparkline(numbers: &[Option<f64>], width: usize, levels: Levels) -> String {
    let means: Vec<Option<f64>> = if numbers.len() <= width {
        numbers.to_vec()
    } else {
        let start = |at: usize| at * numbers.len() / width;
        (0..width).map(|at| mean(&numbers[start(at)..start(at + 1)])).collect()
    };
    // Infinite values are drawn at the edge and do not scale the others.
    let finite = || means.iter().flatten().copied().filter(|number| number.is_finite());
    let (min, max) =
        (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let sign = |number: &Option<f64>| {
        number.filter(|number| !number.is_nan()).map_or(' ', |it| levels.0[level(it, min, max)])
    };
    means.iter().map(sign).collect()
}

fn mean(numbers: &[Option<f64>]) -> Option<f64> {
    let known: Vec<f64> = numbers.iter().flatten().copied().filter(|it| !it.is_nan()).collect();
    // Divides before adding: the sum of large numbers may overflow.
    #[expect(clippy::cast_precision_loss, reason = "counts of checkpoints are far below 2^52")]
    let count = known.len() as f64;
    (!known.is_empty()).then(|| known.iter().map(|number| number / count).sum())
}

/// Which of the eight levels a number is at.
fn level(number: f64, min: f64, max: f64) -> usize {
    const MIDDLE: usize = 3;
    if number >= max && number > min {
        return 7;
    }
    if number <= min && number < max {
        return 0;
    }
    // Halves before subtracting: the difference of large numbers may overflow.
    let share = (number / 2.0 - min / 2.0) / (max / 2.0 - min / 2.0);
    if share.is_nan() {
        // All are the same, or there is nothing to compare with.
        return MIDDLE;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 8")]
    let level = (share.clamp(0.0, 1.0) * 8.0) as usize;
    level.min(7)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drawn(numbers: &[f64], width: usize) -> String {
        let numbers: Vec<Option<f64>> = numbers.iter().copied().map(Some).collect();
        sparkline(&numbers, width, Levels::ASCII)
    }

    #[test]
    fn the_least_is_low_and_the_greatest_high() {
        assert_eq!(drawn(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 60), "_.,-~=*#");
        assert_eq!(drawn(&[5.0, 5.0], 60), "--");
        assert_eq!(drawn(&[-1.0, 1.0], 60), "_#");
        assert_eq!(drawn(&[], 60), "");
    }

    #[test]
    fn what_is_not_there_is_a_gap() {
        assert_eq!(
            sparkline(&[Some(1.0), None, Some(f64::NAN), Some(2.0)], 9, Levels::ASCII),
            "_  #"
        );
    }

    #[test]
    fn what_is_beyond_all_doubles_does_not_flatten_the_rest() {
        assert_eq!(drawn(&[1.0, f64::INFINITY, 2.0, f64::NEG_INFINITY], 60), "_##_");
        assert_eq!(drawn(&[f64::MIN, 0.0, f64::MAX], 60), "_~#");
    }

    #[test]
    fn many_numbers_share_characters() {
        let rising: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(drawn(&rising, 8), "_.,-~=*#");
    }

    proptest! {
        #[test]
        fn any_numbers_are_drawn_in_the_width_there_is(
            numbers: Vec<Option<f64>>,
            width in 1_usize..80,
        ) {
            let line = sparkline(&numbers, width, Levels::UNICODE);
            prop_assert_eq!(line.chars().count(), numbers.len().min(width));
        }
    }
}
