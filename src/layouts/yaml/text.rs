//! Which texts stand for themselves in YAML, which need quotes, and which are lines of a block.

/// Words that one version of YAML or another, or a reader that is kind to JSON, takes for
/// something else; in any case.
const WORDS: [&str; 14] = [
    "null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity", ".nan",
    ".inf",
];

/// A value of one line.
pub(super) fn value(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// A key. A colon in it is legal without quotes, but not kind to people.
pub(super) fn key(text: &str) -> String {
    if is_plain(text) && !text.contains(':') { text.to_owned() } else { quoted(text) }
}

/// Tells whether lines of a block say the same as the text, trailing line end and all.
pub(super) fn is_block(text: &str) -> bool {
    let mut lines = text.split('\n');
    // How deep a block is indented is seen from its first line.
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

/// None of those beyond 16 bits needs it.
fn escaped(it: char) -> String {
    match u32::from(it) {
        short @ ..0x100 => format!("\\x{short:02x}"),
        long => format!("\\u{long:04x}"),
    }
}

/// What may stand in a text as it is: no controls, no line ends but LF, no byte order mark, and
/// nothing that YAML does not call printable.
fn is_printable(it: char) -> bool {
    !matches!(
        it,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}'
            | '\u{fffe}' | '\u{ffff}'
    )
}
