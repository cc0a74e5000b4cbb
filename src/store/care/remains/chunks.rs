//! Chunks of frames, combined by trying which of them belong together.

use super::rows::ValueSpan;
use crate::store::chain::unpack::CHUNK_BYTES_MIN;

// A few chunks have a few versions each; trying more would never end.
const VERSIONS_MAX: usize = 64;

/// The versions of the chunk with a number: that of the table, and those found elsewhere.
pub(super) type Chunk<'a> = (Option<&'a ValueSpan>, Option<&'a Vec<ValueSpan>>);

/// The ways in which chunks can make a frame; those with chunks of the table come first.
pub(super) fn versions<'a>(chunk: impl Fn(u16) -> Chunk<'a>) -> Vec<Vec<ValueSpan>> {
    let mut whole: Vec<Vec<ValueSpan>> = Vec::new();
    let mut begun: Vec<Vec<ValueSpan>> = vec![Vec::new()];
    while let Some(mut places) = begun.pop() {
        // A chunk shorter than the ones that others follow is the last.
        let is_over = places.last().is_some_and(|last| last.bytes < CHUNK_BYTES_MIN);
        let number = u16::try_from(places.len()).ok().filter(|_| !is_over);
        let (listed, found) = number.map_or((None, None), &chunk);
        let mut next = listed.into_iter().chain(found.into_iter().flatten());
        let Some(first) = next.next() else {
            whole.push(places);
            if whole.len() >= VERSIONS_MAX {
                break;
            }
            continue;
        };
        let room = VERSIONS_MAX.saturating_sub(begun.len());
        let others = next.take(room).map(|other| [&places[..], &[*other]].concat());
        let others: Vec<_> = others.collect();
        begun.extend(others.into_iter().rev());
        places.push(*first);
        begun.push(places);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(listed: &[Option<usize>], found: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let place = |bytes: &usize| ValueSpan { at: 0, bytes: *bytes };
        let listed: Vec<Option<ValueSpan>> =
            listed.iter().map(|it| it.as_ref().map(place)).collect();
        let found: Vec<Vec<ValueSpan>> =
            found.iter().map(|it| it.iter().map(place).collect()).collect();
        let chunk = |number: u16| {
            let number = usize::from(number);
            (listed.get(number).and_then(Option::as_ref), found.get(number))
        };
        let bytes = |places: Vec<ValueSpan>| places.iter().map(|place| place.bytes).collect();
        versions(chunk).into_iter().map(bytes).collect()
    }

    #[test]
    fn every_way_is_tried_that_of_the_table_first() {
        assert_eq!(lengths(&[Some(1)], &[]), [[1]]);
        assert_eq!(lengths(&[None], &[vec![1, 2]]), [[1], [2]]);
        let both = lengths(&[Some(1352), Some(7)], &[vec![9, 1353], vec![8]]);
        assert_eq!(both, [vec![1352, 7], vec![1352, 8], vec![9], vec![1353, 7], vec![1353, 8]]);
        // Without any chunk there is one way, an empty frame, which no sum fits.
        assert_eq!(lengths(&[], &[]), [Vec::<usize>::new()]);
    }

    #[test]
    fn the_ways_that_are_tried_are_few() {
        let found = vec![(2000..2008).collect(); 100];
        let ways = lengths(&[], &found);
        assert_eq!((ways.len(), ways[0].len()), (VERSIONS_MAX, 100));
    }
}
