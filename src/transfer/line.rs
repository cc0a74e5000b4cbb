//! Lines of an input, each up to a limit.

use std::io::{self, BufRead, Read as _};

/// Stands for a line that is longer than the limit. The rest of the line was skipped.
///
/// ```
/// use waypost::transfer::line::{TooLong, read_line};
///
/// # fn main() -> std::io::Result<()> {
/// let mut input = "22\n333\n1".as_bytes();
/// assert_eq!(read_line(&mut input, 2)?, Some(Ok(b"22".to_vec())));
/// assert_eq!(read_line(&mut input, 2)?, Some(Err(TooLong)));
/// assert_eq!(read_line(&mut input, 2)?, Some(Ok(b"1".to_vec())));
/// assert_eq!(read_line(&mut input, 2)?, None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

/// Reads a line without its end. `None` at the end of the input.
///
/// # Errors
/// Those of the input.
pub fn read_line(
    input: &mut impl BufRead,
    bytes_max: usize,
) -> io::Result<Option<Result<Vec<u8>, TooLong>>> {
    let mut text = Vec::new();
    // One more for the line end, which does not count.
    let limit = bytes_max as u64 + 1;
    if input.by_ref().take(limit).read_until(b'\n', &mut text)? == 0 {
        return Ok(None);
    }
    if text.last() == Some(&b'\n') {
        text.pop();
    } else if text.len() > bytes_max {
        input.skip_until(b'\n')?;
        return Ok(Some(Err(TooLong)));
    }
    Ok(Some(Ok(text)))
}
