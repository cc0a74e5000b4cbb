//! Hostile files of gzip: bombs, damage, and members one after the other.

use super::{compress, decompress, is_gzip};
use crate::tape::Tape;

const LIMIT: u64 = 5000;

#[test]
fn any_file_is_decompressed_within_the_limit_or_refused() {
    let bomb = compress(&vec![b'0'; 1 << 20]);
    let small = compress(b"{\"a\": [1, 2, 3], \"b\": \"text text text text\"}");
    let examples = [bomb, small.clone(), compress(b""), [small.clone(), small].concat()];
    target!("gzip", 1500, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let mut file = tape.pick(&examples).clone();
        if tape.once_in(4) {
            file = tape.rest().to_owned();
        } else {
            tape.mutate(&mut file);
        }
        let _ = is_gzip(&file);
        let Ok(text) = decompress(&file, LIMIT) else { return };
        assert!(text.len() as u64 <= LIMIT);
        // What grows grows by doubling.
        assert!(text.capacity() as u64 <= 4 * LIMIT);
        assert_eq!(decompress(&compress(&text), LIMIT).unwrap(), text);
    });
}
