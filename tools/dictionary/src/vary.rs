//! Variants of a sample: the same structure and keys, other values of the same look.
//!
//! The same seed gives the same variant, since a dictionary must come out the same every time.

use std::collections::{BTreeMap, HashMap};

use waypost::Document;

use crate::look::{alike, is_word};
use crate::random::Random;
use crate::sample::Sample;

// Enough that a dictionary of 32 KB has about a hundred times its length to be trained on.
const VARIANTS_PER_LAYOUT: usize = 600;
const ELEMENTS_MORE_MAX: u32 = 3;

/// The words that were seen at each key.
type Words<'a> = BTreeMap<&'a str, Vec<&'a str>>;

/// As many variants of each layout, whatever number of samples it has.
pub(crate) fn variants(samples: &[Sample]) -> Vec<Document> {
    let mut variants = Vec::new();
    let mut words = Words::new();
    for sample in samples {
        note_words("", &sample.document, &mut words);
    }
    for sample in samples {
        let alike = samples.iter().filter(|other| other.layout == sample.layout).count();
        for _ in 0..VARIANTS_PER_LAYOUT / alike {
            let random = Random::new(variants.len() as u64);
            let mut variant = Variant { words: &words, random, texts: HashMap::new(), copy: 0 };
            variants.push(variant.of("", &sample.document));
        }
    }
    shuffle(&mut variants);
    variants
}

/// The trainer takes words from the first three quarters and tries them on the last.
fn shuffle(variants: &mut [Document]) {
    let mut random = Random::new(0);
    for at in (1..variants.len()).rev() {
        let bound = u32::try_from(at + 1).expect("variants are few");
        variants.swap(at, random.below(bound) as usize);
    }
}

fn note_words<'a>(key: &'a str, document: &'a Document, words: &mut Words<'a>) {
    match document {
        Document::Text(text) if is_word(text) => words.entry(key).or_default().push(text),
        Document::Array(elements) => {
            for element in elements {
                note_words(key, element, words);
            }
        }
        Document::Object(fields) => {
            for (key, value) in fields {
                note_words(key, value, words);
            }
        }
        _ => {}
    }
}

struct Variant<'a> {
    words: &'a Words<'a>,
    random: Random,
    /// What stands for a text, so that what came twice in a sample does so in its variant.
    texts: HashMap<(String, u32), String>,
    /// Which copy of an element this is; its texts are its own.
    copy: u32,
}

impl Variant<'_> {
    fn of(&mut self, key: &str, document: &Document) -> Document {
        match document {
            Document::Bool(value) => Document::Bool(*value ^ (self.random.below(4) == 0)),
            Document::Uint(number) => Document::Uint(self.number(key, *number)),
            Document::Float(number) => {
                Document::Float((number * f64::from(1 + self.random.below(90))).round() / 10.0)
            }
            Document::Text(text) => Document::Text(self.text(key, text)),
            Document::Array(elements) => Document::Array(self.array(key, elements)),
            Document::Object(fields) => Document::Object(self.object(fields)),
            Document::Null | Document::Int(_) | Document::Number(_) | Document::Bytes(_) => {
                document.clone()
            }
        }
    }

    /// As many digits; versions stay.
    fn number(&mut self, key: &str, number: u64) -> u64 {
        if key.contains("version") {
            return number;
        }
        let bound = 10_u64.saturating_pow(number.max(1).ilog10() + 1);
        self.random.number() % bound
    }

    fn text(&mut self, key: &str, text: &str) -> String {
        if is_word(text) {
            let seen = self.words.get(key).map_or(&[][..], Vec::as_slice);
            return if seen.is_empty() || self.random.below(2) == 0 {
                text.to_owned()
            } else {
                (*self.random.choose(seen)).to_owned()
            };
        }
        self.alike(text)
    }

    fn alike(&mut self, text: &str) -> String {
        let place = (text.to_owned(), self.copy);
        if let Some(known) = self.texts.get(&place) {
            return known.clone();
        }
        let other = alike(text, &mut self.random);
        self.texts.insert(place, other.clone());
        other
    }

    /// Some elements more or less.
    fn array(&mut self, key: &str, elements: &[Document]) -> Vec<Document> {
        let mut out = Vec::new();
        for element in elements {
            if self.random.below(8) > 0 {
                out.push(self.of(key, element));
            }
        }
        let more = if elements.is_empty() { 0 } else { self.random.below(ELEMENTS_MORE_MAX + 1) };
        let outer = self.copy;
        for copy in 1..=more {
            self.copy = outer * (ELEMENTS_MORE_MAX + 1) + copy;
            let element = self.random.choose(elements).clone();
            out.push(self.of(key, &element));
        }
        self.copy = outer;
        out
    }

    fn object(&mut self, fields: &[(String, Document)]) -> Vec<(String, Document)> {
        let vary = |(key, value): &(String, Document)| {
            let name = if is_name(key) { self.alike(key) } else { key.clone() };
            (name, self.of(key, value))
        };
        fields.iter().map(vary).collect()
    }
}

/// Whether a key is the name of something rather than of a field: a story, an issue, a file.
fn is_name(key: &str) -> bool {
    let has_digit = key.bytes().any(|it| it.is_ascii_digit());
    let is_field = key.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        && key.starts_with(|it: char| it.is_ascii_alphabetic());
    (has_digit || key.contains(['/', '.'])) && !is_field
}
