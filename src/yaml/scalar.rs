//! Which scalar is a number, a boolean or null: as `PyYAML`'s safe loader decides.
//!
//! It follows YAML 1.1, so `on` is a boolean, `017` is fifteen, `1:30` is ninety, and `1e3` and
//! `0o17` are text. Times stay text. So does what that loader takes for a number and then fails to
//! read, such as `0x_`, and what is not decimal and does not fit into 128 bits.

use super::Value;

pub(super) const UNKNOWN_TAG: &str = "a tag that is not known";

/// The value of a scalar that is not quoted and has no tag.
pub(super) fn resolve(text: &str) -> Value {
    if is_null(text) {
        return Value::Null;
    }
    boolean(text)
        .map(Value::Bool)
        .or_else(|| integer(text))
        .or_else(|| float(text).map(|value| Value::Float { value, text: text.to_owned() }))
        .unwrap_or_else(|| Value::Text(text.to_owned()))
}

/// The value of a scalar with a tag of YAML's own, such as `int`.
pub(super) fn tagged(name: &str, text: &str) -> Result<Value, String> {
    let value = match name {
        "str" | "timestamp" => Some(Value::Text(text.to_owned())),
        "null" => Some(Value::Null),
        "bool" => boolean(&text.to_ascii_lowercase()).map(Value::Bool),
        "int" => integer(text),
        "float" => float(text)
            .or_else(|| parsed(text))
            .map(|value| Value::Float { value, text: text.to_owned() }),
        _ => return Err(UNKNOWN_TAG.to_owned()),
    };
    value.ok_or_else(|| format!("not what its tag says, !!{name}"))
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn integer(text: &str) -> Option<Value> {
    let (is_negative, digits) = signed(text);
    if digits == "0" {
        return Some(Value::Uint(0));
    }
    let magnitude = if let Some(digits) = digits.strip_prefix("0b") {
        radix(digits, 2)
    } else if let Some(digits) = digits.strip_prefix("0x") {
        radix(digits, 16)
    } else if digits.starts_with('0') {
        radix(digits, 8)
    } else if digits.contains(':') {
        sexagesimal(digits)
    } else {
        return decimal(is_negative, digits);
    };
    magnitude.map(|magnitude| number(is_negative, magnitude))
}

fn signed(text: &str) -> (bool, &str) {
    (text.starts_with('-'), text.strip_prefix(['-', '+']).unwrap_or(text))
}

/// Digits of a base that may have underscores between them; none that 128 bits do not hold.
fn radix(digits: &str, radix: u32) -> Option<u128> {
    let is_digit = |it: char| it == '_' || it.is_digit(radix);
    if !digits.chars().all(is_digit) {
        return None;
    }
    u128::from_str_radix(&plain(digits), radix).ok()
}

/// Of any length: nothing is computed where no machine number holds it.
fn decimal(is_negative: bool, digits: &str) -> Option<Value> {
    if !is_decimal(digits) {
        return None;
    }
    let digits = plain(digits);
    Some(match digits.parse() {
        Ok(magnitude) => number(is_negative, magnitude),
        Err(_) if is_negative => Value::BigInt(format!("-{digits}")),
        Err(_) => Value::BigInt(digits),
    })
}

/// Sixtieths: `1:30` is ninety.
fn sexagesimal(text: &str) -> Option<u128> {
    let mut parts = text.split(':');
    let first = parts.next().filter(|first| is_decimal(first))?;
    parts.try_fold(plain(first).parse().ok()?, |total: u128, part| {
        total.checked_mul(60)?.checked_add(u128::from(sixtieth(part)?))
    })
}

fn sixtieth(part: &str) -> Option<u8> {
    let is_short = part.len() <= 2 && part.bytes().all(|it| it.is_ascii_digit());
    part.parse().ok().filter(|value| is_short && *value < 60)
}

fn number(is_negative: bool, magnitude: u128) -> Value {
    match (is_negative, u64::try_from(magnitude)) {
        (false, Ok(value)) => Value::Uint(value),
        (false, Err(_)) => Value::BigInt(magnitude.to_string()),
        (true, Ok(0)) => Value::Uint(0),
        (true, value) => match value.ok().and_then(|value| 0_i64.checked_sub_unsigned(value)) {
            Some(value) => Value::Int(value),
            None => Value::BigInt(format!("-{magnitude}")),
        },
    }
}

fn float(text: &str) -> Option<f64> {
    let (is_negative, rest) = signed(text);
    let sign = if is_negative { -1.0 } else { 1.0 };
    match rest {
        ".inf" | ".Inf" | ".INF" => return Some(sign * f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" if rest == text => return Some(f64::NAN),
        _ => {}
    }
    let (whole, fraction) = rest.split_once('.')?;
    if whole.contains(':') {
        return Some(sign * sexagesimal_float(whole, fraction)?);
    }
    // Only a number without a sign may start with its point.
    let has_start = match whole {
        "" => rest == text && fraction.starts_with(|it: char| it.is_ascii_digit()),
        whole => is_digits(whole),
    };
    let (fraction, exponent) = match fraction.split_once(['e', 'E']) {
        Some((fraction, exponent)) => (fraction, Some(exponent)),
        None => (fraction, None),
    };
    let is_fraction = fraction.bytes().all(|it| it == b'_' || it.is_ascii_digit());
    (has_start && is_fraction && exponent.is_none_or(is_exponent))
        .then(|| parsed(&plain(text)))
        .flatten()
}

fn sexagesimal_float(whole: &str, fraction: &str) -> Option<f64> {
    let (minutes, seconds) = whole.rsplit_once(':')?;
    sixtieth(seconds)?;
    if !fraction.bytes().all(|it| it == b'_' || it.is_ascii_digit()) {
        return None;
    }
    let mut parts = minutes.split(':');
    let first = parts.next().filter(|first| is_digits(first))?;
    let minutes = parts.try_fold(parsed(&plain(first))?, |total, part| {
        Some(total * 60.0 + f64::from(sixtieth(part)?))
    })?;
    Some(minutes * 60.0 + parsed(&plain(&format!("{seconds}.{fraction}")))?)
}

/// Digits and underscores after a digit that is not zero.
fn is_decimal(text: &str) -> bool {
    !text.starts_with('0') && is_digits(text)
}

fn is_digits(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_digit())
        && text.bytes().all(|it| it == b'_' || it.is_ascii_digit())
}

/// Without a sign it is text: `1.5e3`.
fn is_exponent(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
}

fn parsed(text: &str) -> Option<f64> {
    text.parse().ok()
}

fn plain(text: &str) -> String {
    text.replace('_', "")
}
