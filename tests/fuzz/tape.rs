//! The bytes of a fuzzer as choices, and where its findings lie.
//!
//! Each target takes bytes and makes its input of them: a mutation of something valid, with its
//! sums made anew, or the bytes as they are. So the same target runs as a test on stable, with
//! its corpus and some thousand inputs that are the same in every run, and under a fuzzer that
//! follows coverage:
//!
//! ```text
//! cargo test fuzz                                   # as in every run of the tests
//! WAYPOST_TESTS=long cargo test fuzz                # ten times as many inputs
//! WAYPOST_FUZZ_INPUTS=1000000 cargo test --release fuzz -- --nocapture
//! WAYPOST_FUZZ_SEED=7 cargo test fuzz               # other inputs
//! cargo install cargo-bolero                        # once; libFuzzer needs a nightly toolchain
//! cargo +nightly bolero test codec::tests::fuzz::frame::any_frame_is_read_or_refused
//! ```
//!
//! A failure prints its input. What is worth keeping, and what a fuzzer finds, goes to
//! `tests/fuzz/TARGET/crashes` and `corpus`, which every run of the tests reads. Choices never
//! block: a tape that has ended says zero for ever, so every input is bounded by its length.

use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use crate::extent::{extent_of, number};

/// How many bytes an input has at most.
pub(crate) const INPUT_BYTES_MAX: usize = 512;

/// A target by its name, which is where its corpus lies, and the number of inputs in a default run.
macro_rules! target {
    ($name:literal, $inputs:literal, $run:expr) => {{
        use crate::tape::{INPUT_BYTES_MAX, for_each_input};
        let run = $run;
        for_each_input($name, $inputs, run);
        bolero::check!(name = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/", $name))
            .with_iterations(0)
            .with_max_len(INPUT_BYTES_MAX)
            .for_each(run);
    }};
}

/// Runs with inputs that follow from the seed and the name, so that no run fails by chance.
pub(crate) fn for_each_input(name: &str, inputs: u64, run: impl Fn(&[u8])) {
    let seed = number("WAYPOST_FUZZ_SEED").unwrap_or(1);
    let inputs = extent_of("WAYPOST_FUZZ_INPUTS", inputs, 10 * inputs);
    let mut input = [0; INPUT_BYTES_MAX];
    let mut slowest = Duration::ZERO;
    for count in 0..inputs {
        // Each stands for itself, so that a later one can be had without those before it.
        let mut state = name.bytes().fold(seed ^ (count << 20), |state, byte| {
            (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let length = usize::try_from(mix(&mut state)).expect("64 bits") % (INPUT_BYTES_MAX + 1);
        for part in input[..length].chunks_mut(8) {
            part.copy_from_slice(&mix(&mut state).to_le_bytes()[..part.len()]);
        }
        let _told = ToldIfItPanics { name, count, input: &input[..length] };
        let start = Instant::now();
        run(&input[..length]);
        slowest = slowest.max(start.elapsed());
    }
    println!("{name}: {inputs} inputs, the slowest took {slowest:.1?}");
}

/// The next of a row of numbers that look random (`SplitMix64`).
fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Says which input it was that a target failed with.
struct ToldIfItPanics<'a> {
    name: &'a str,
    count: u64,
    input: &'a [u8],
}

impl Drop for ToldIfItPanics<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut digits = String::new();
            for byte in self.input {
                let _ = write!(digits, "{byte:02x}");
            }
            eprintln!("input {} of `{}` failed: {digits}", self.count, self.name);
        }
    }
}

/// Numbers at which something begins or ends.
const EDGES: [u64; 24] = [
    0,
    1,
    2,
    7,
    63,
    64,
    127,
    128,
    250,
    251,
    255,
    256,
    1023,
    1024,
    65_535,
    65_536,
    1 << 31,
    u32::MAX as u64,
    1 << 32,
    (1 << 48) - 1,
    1 << 48,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

/// Texts that some reader takes for something.
const WORDS: [&str; 40] = [
    "",
    "a",
    "0",
    "-0",
    "1e400",
    "0.1",
    "18446744073709551616",
    "-9223372036854775809",
    "null",
    "true",
    "NaN",
    "-Infinity",
    "latest",
    "status",
    "created_at",
    "2026-01-25T15:00:00Z",
    "2026-01-25T15:00:00",
    "9999-12-31T23:59:59.999999Z",
    "1969-12-31T24:00:00+23:59",
    "2016-12-31T23:59:60Z",
    "20260125_150000",
    "1771079400123",
    "..",
    "a/b",
    "a~1b",
    "\u{feff}",
    "\u{0}",
    "\u{7f}",
    "\u{e9}",
    "\u{1f600}",
    "\u{2028}",
    "\\",
    "\"",
    "\r\n",
    " : ",
    "- ",
    "&a ",
    "*a",
    "!!int ",
    "|\n  ",
];

/// What is left of the choices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tape<'a> {
    rest: &'a [u8],
}

// Each of the three test binaries uses a part of it.
#[allow(dead_code)]
impl<'a> Tape<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What no choice has taken.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        *first
    }

    /// Yes once in so many times, and not if the tape has ended.
    pub(crate) fn once_in(&mut self, times: u8) -> bool {
        !self.has_ended() && self.byte().is_multiple_of(times)
    }

    /// A number below `end`, which is not zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let wide = if end > 256 { usize::from(self.byte()) << 8 } else { 0 };
        (wide | usize::from(self.byte())) % end
    }

    /// A number, often one at which something begins or ends.
    pub(crate) fn number(&mut self) -> u64 {
        match self.byte() {
            small @ ..96 => small.into(),
            edge @ 96..192 => EDGES[usize::from(edge) % EDGES.len()],
            edge @ 192..208 => EDGES[usize::from(edge) % EDGES.len()].wrapping_sub(1),
            _ => (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte())),
        }
    }

    pub(crate) fn signed(&mut self) -> i64 {
        let number = self.number().cast_signed();
        if self.byte().is_multiple_of(3) { number.wrapping_neg() } else { number }
    }

    pub(crate) fn pick<'b, T>(&mut self, from: &'b [T]) -> &'b T {
        &from[self.below(from.len())]
    }

    /// A short text: words that mean something, and any characters.
    pub(crate) fn text(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.below(4) {
            match self.byte() {
                0..160 => text.push_str(self.pick::<&str>(&WORDS)),
                160..240 => text.push(char::from(self.byte() & 0x7f)),
                _ => text.extend(char::from_u32(u32::try_from(self.number()).unwrap_or(0x10_ffff))),
            }
        }
        text
    }

    /// A text that a store takes for a name.
    pub(crate) fn name(&mut self) -> String {
        let text: String = self.text().chars().filter(|it| !it.is_control()).collect();
        format!("n{text}")
    }

    /// Something, or nothing.
    pub(crate) fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.once_in(2).then(|| make(self))
    }

    /// A JSON text of any shape, in one of many spellings.
    pub(crate) fn json(&mut self) -> String {
        let mut out = String::new();
        self.value(&mut out, 0);
        out
    }

    fn value(&mut self, out: &mut String, depth: usize) {
        let kind = self.byte() % 16;
        match kind {
            0 => out.push_str("null"),
            1 => out.push_str("true"),
            2 => out.push_str(&self.number().to_string()),
            3 => out.push_str(&self.signed().to_string()),
            4 => {
                let parts = [self.byte().to_string(), self.byte().to_string()].join(".");
                out.push_str(&[parts, self.signed().to_string()].join("e"));
            }
            5 => out.push_str(&f64::from_bits(self.number()).to_string()),
            6..10 => self.quoted(out),
            // Far deeper than anything may be, and not closed.
            10 if self.once_in(64) => out.push_str(&"[".repeat(self.below(2000))),
            10..13 if depth < 200 => self.container(out, depth, ['[', ']']),
            13..16 if depth < 200 => self.container(out, depth, ['{', '}']),
            _ => out.push('0'),
        }
    }

    fn container(&mut self, out: &mut String, depth: usize, brackets: [char; 2]) {
        out.push(brackets[0]);
        for at in 0..self.below(6) {
            out.push_str(if at > 0 { "," } else { "" });
            self.space(out);
            if brackets[0] == '{' {
                self.quoted(out);
                self.space(out);
                out.push(':');
                self.space(out);
            }
            self.value(out, depth + 1);
            self.space(out);
        }
        out.push(brackets[1]);
    }

    fn space(&mut self, out: &mut String) {
        out.push_str(match self.byte() {
            ..200 => "",
            200..220 => " ",
            220..240 => "\n",
            240..250 => "\r\n  ",
            _ => "\t",
        });
    }

    fn quoted(&mut self, out: &mut String) {
        out.push('"');
        for character in self.text().chars() {
            let is_escaped = self.once_in(4);
            match character {
                '"' | '\\' => out.extend(['\\', character]),
                '\n' => out.push_str("\\n"),
                other if other < ' ' || is_escaped => {
                    for unit in other.encode_utf16(&mut [0; 2]) {
                        out.push_str("\\u");
                        out.extend([12, 8, 4, 0].map(|shift| hex(*unit >> shift)));
                    }
                }
                other => out.push(other),
            }
        }
        out.push('"');
    }

    /// Changes bytes here and there, or not at all.
    pub(crate) fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..self.below(6) {
            let at = self.below(bytes.len() + 1);
            let end = (at + self.below(16)).min(bytes.len());
            match self.byte() % 8 {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..end)),
                2 => bytes.insert(at, self.byte()),
                3 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
                4 => drop(bytes.splice(at..end, self.number().to_le_bytes())),
                5 => drop(bytes.splice(at..end, self.pick(&WORDS).bytes().collect::<Vec<_>>())),
                6 if at < bytes.len() => bytes[at] = self.byte(),
                _ if at < bytes.len() => bytes[at] ^= 1 << (self.byte() % 8),
                _ => bytes.push(self.byte()),
            }
        }
    }

    /// The input as it is, if that is text; else one that is made of it by mutating an example.
    pub(crate) fn text_of(input: &'a [u8], examples: &[Vec<u8>]) -> Vec<u8> {
        if std::str::from_utf8(input).is_ok() {
            return input.to_owned();
        }
        let mut tape = Self::new(input);
        if tape.once_in(3) {
            return tape.json().into_bytes();
        }
        let mut text = tape.pick(examples).clone();
        tape.mutate(&mut text);
        text
    }
}

/// The last four bits as a digit.
fn hex(bits: u16) -> char {
    char::from_digit(u32::from(bits & 15), 16).expect("below sixteen")
}
