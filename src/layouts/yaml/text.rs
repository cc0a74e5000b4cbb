//! Decides whether a text is written plain, quoted or as a block.

/// Words that some version of YAML, or a reader that accepts JSON, takes for another type, in upper
/// or lower case.
const WORDS: [&str; 14] = [
    "null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity", ".nan",
    ".inf",
];

/// A value of one line.
pub(super) fn value(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// A key. A colon in it would be legal without quotes, but hard to read.
pub(super) fn key(text: &str) -> String {
    if is_plain(text) && !text.contains(':') { text.to_owned() } else { quoted(text) }
}

/// True if a block represents the text exactly, trailing line end included.
pub(super) fn is_block(text: &str) -> bool {
    let mut lines = text.split('\n');
    // Readers take the indent of a block from its first line.
    let starts_plainly = lines.next().is_some_and(|line| !line.is_empty() && !is_padded(line));
    starts_plainly
        && text.contains('\n')
        && !text.ends_with("\n\n")
        && text.split('\n').all(|line| !line.ends_with([' ', '\t']))
        && text.chars().all(|it| it == '\n' || it == '\t' || is_printable(it))
}

fn is_padded(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

fn is_plain(text: &str) -> bool {
    let mut rest = text.chars();
    // No digit, sign or indicator: numbers and times are text only in quotes.
    let starts_plainly = rest.next().is_some_and(|first| {
        first.is_alphabetic()
            || matches!(first, '_' | '/')
            || first == '.' && text[1..].starts_with(|it: char| it.is_ascii_alphabetic())
    });
    starts_plainly
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
        && rest.all(|it| it.is_alphanumeric() || " _-./:,()'+=@!?;&%$".contains(it))
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
}

/// In double quotes, on one line.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for it in text.chars() {
        match it {
            '"' | '\\' => out.extend(['\\', it]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            it if is_printable(it) => out.push(it),
            it => out.push_str(&escaped(it)),
        }
    }
    out.push('"');
    out
}

/// Escapes a character; none beyond 16 bits needs it.
fn escaped(it: char) -> String {
    match u32::from(it) {
        short @ ..0x100 => format!("\\x{short:02x}"),
        long => format!("\\u{long:04x}"),
    }
}

/// True if a character may be written unescaped: printable by YAML, no control, no line end but LF,
/// no byte order mark.
fn is_printable(it: char) -> bool {
    !matches!(
        it,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}'
            | '\u{fffe}' | '\u{ffff}'
    )
}
