//! What a dictionary is worth, on documents that it was not trained on; as Markdown tables.

use std::io::Write;

use anyhow::Result;
use waypost::Document;

use crate::document::{AgentLoop, Shape};
use crate::pack::Packer;
use crate::sample::{LAYOUTS, Sample};
use crate::stored::stored_forms;
use crate::train::{material, train};

/// Lengths of dictionaries that are compared.
const SIZES: [usize; 6] = [2 << 10, 4 << 10, 8 << 10, 12 << 10, 16 << 10, 32 << 10];
/// About how long documents of the bench suite are as JSON.
const JSON_BYTES: [usize; 8] =
    [512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];
const LOOPS: u32 = 16;
const NUMBER: u8 = 1;

/// Compares dictionaries of several lengths.
pub(crate) fn compare(samples: &[Sample], out: &mut dyn Write) -> Result<()> {
    let everything = material(samples)?;
    let mut dictionaries = Vec::new();
    for size in SIZES {
        dictionaries.push(train(&everything, size, NUMBER)?);
    }
    let by_layout = with_sizes(&["layout", "samples", "raw", "without"]);
    heading("Stored bytes of a sample, its shape not trained on", &by_layout, out)?;
    layouts(samples, &unseen(samples)?, out)?;
    heading("Stored bytes of a sample, its shape trained on", &by_layout, out)?;
    layouts(samples, &vec![dictionaries.clone(); samples.len()], out)?;
    heading(
        "Stored bytes of other documents (worst loss)",
        &with_sizes(&["JSON", "raw", "without"]),
        out,
    )?;
    others(&dictionaries, out)
}

/// Measures one dictionary.
pub(crate) fn one(samples: &[Sample], dictionary: &[u8], out: &mut dyn Write) -> Result<()> {
    let header = ["layout", "samples", "raw", "without", "with"].map(str::to_owned);
    heading("Stored bytes of a sample, its shape trained on", &header, out)?;
    layouts(samples, &vec![vec![dictionary.to_owned()]; samples.len()], out)?;
    let header = ["JSON", "raw", "without", "with (worst loss)"].map(str::to_owned);
    heading("Stored bytes of other documents", &header, out)?;
    others(&[dictionary.to_owned()], out)?;
    let header = ["JSON", "compress", "with dictionary", "decompress", "with dictionary"];
    heading("Time of one such document, in microseconds", &header.map(str::to_owned), out)?;
    times(dictionary, out)
}

/// For each sample, dictionaries of all lengths that were trained on all other samples.
fn unseen(samples: &[Sample]) -> Result<Vec<Vec<Vec<u8>>>> {
    let mut of_samples = Vec::new();
    for held_out in 0..samples.len() {
        let mut others = samples.to_vec();
        others.remove(held_out);
        let material = material(&others)?;
        let dictionaries = SIZES.map(|size| train(&material, size, NUMBER));
        of_samples.push(dictionaries.into_iter().collect::<Result<Vec<_>>>()?);
    }
    Ok(of_samples)
}

/// A row for each layout: the mean length of its samples with each of their dictionaries.
fn layouts(samples: &[Sample], of_samples: &[Vec<Vec<u8>>], out: &mut dyn Write) -> Result<()> {
    let documents: Vec<Document> = samples.iter().map(|it| it.document.clone()).collect();
    let forms = stored_forms(&documents)?;
    for layout in LAYOUTS {
        let of_layout: Vec<usize> =
            (0..samples.len()).filter(|at| samples[*at].layout == layout).collect();
        let count = of_layout.len();
        let mut sums = vec![0; 2 + of_samples[0].len()];
        for at in of_layout {
            let raw = &forms[at];
            sums[0] += raw.len();
            sums[1] += Packer::plain().stored_bytes(raw)?;
            for (sum, dictionary) in sums[2..].iter_mut().zip(&of_samples[at]) {
                *sum += Packer::primed(dictionary).stored_bytes(raw)?;
            }
        }
        let means = sums.iter().map(|sum| (sum / count).to_string());
        row([layout.to_owned(), count.to_string()].into_iter().chain(means), out)?;
    }
    Ok(())
}

/// A row for each length of document: the mean with each dictionary, and the worst loss by it.
fn others(dictionaries: &[Vec<u8>], out: &mut dyn Write) -> Result<()> {
    for json_bytes in JSON_BYTES {
        let forms = loop_forms(json_bytes)?;
        let mean = |sum: usize| (sum / forms.len()).to_string();
        let raw_bytes = forms.iter().map(Vec::len).sum::<usize>();
        let mut plain = Vec::new();
        for raw in &forms {
            plain.push(Packer::plain().stored_bytes(raw)?);
        }
        let mut cells = vec![json_bytes.to_string(), mean(raw_bytes), mean(plain.iter().sum())];
        for dictionary in dictionaries {
            let mut packer = Packer::primed(dictionary);
            let (mut sum, mut worst) = (0, 0);
            for (raw, plain) in forms.iter().zip(&plain) {
                let primed = packer.stored_bytes(raw)?;
                sum += primed;
                worst = worst.max(primed.saturating_sub(*plain));
            }
            cells.push(format!("{} ({worst})", mean(sum)));
        }
        row(cells, out)?;
    }
    Ok(())
}

fn times(dictionary: &[u8], out: &mut dyn Write) -> Result<()> {
    let (mut plain, mut primed) = (Packer::plain(), Packer::primed(dictionary));
    for json_bytes in JSON_BYTES {
        let raw = &loop_forms(json_bytes)?[0];
        let (without, with) = (plain.times(raw)?, primed.times(raw)?);
        let both = [without.compress, with.compress, without.decompress, with.decompress];
        let cells = both.map(|time| format!("{:.1}", time.as_secs_f64() * 1e6));
        row([json_bytes.to_string()].into_iter().chain(cells), out)?;
    }
    Ok(())
}

/// Documents of the bench suite, of different loops, in stored form.
fn loop_forms(json_bytes: usize) -> Result<Vec<Vec<u8>>> {
    let mut documents = Vec::new();
    for seed in 0..LOOPS {
        let state = AgentLoop::new(seed, Shape::of(json_bytes)).state;
        documents.push(Document::from_json(state.to_json().as_bytes())?);
    }
    stored_forms(&documents)
}

fn with_sizes(columns: &[&str]) -> Vec<String> {
    let sizes = SIZES.map(|size| format!("{} KB", size >> 10));
    columns.iter().map(|it| (*it).to_owned()).chain(sizes).collect()
}

fn heading(title: &str, columns: &[String], out: &mut dyn Write) -> Result<()> {
    writeln!(out, "\n{title}:\n")?;
    row(columns.iter().cloned(), out)?;
    writeln!(out, "|{}", "---|".repeat(columns.len()))?;
    Ok(())
}

fn row(cells: impl IntoIterator<Item = String>, out: &mut dyn Write) -> Result<()> {
    let cells: Vec<String> = cells.into_iter().collect();
    writeln!(out, "| {} |", cells.join(" | "))?;
    Ok(())
}
