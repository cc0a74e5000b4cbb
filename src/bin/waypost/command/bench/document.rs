//! Documents like those an agent loop saves: the same for the same seed and size.
//!
//! Each is a little different from the one before, as in a loop that saves every iteration.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use waypost::{Issue, LoopId, NewEntry, Timestamp, Trigger};

use super::random::Random;

const STAGES: [&str; 6] = ["plan", "search", "implement", "test", "review", "summarize"];
const RESULTS: [&str; 4] = ["passed", "failed", "skipped", "retry"];
const SYLLABLES: [&str; 24] = [
    "ba", "con", "de", "er", "fi", "gra", "he", "in", "ko", "la", "men", "no", "or", "pre", "re",
    "sta", "ti", "tion", "u", "ver", "wa", "xi", "yo", "ze",
];
// Few enough that words repeat: 16 KB compress to 6 KB.
const VOCABULARY: u32 = 400;

/// The state of an agent loop, as a program would declare it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoopState {
    task: String,
    stage: String,
    iteration: u32,
    timestamp: String,
    history: VecDeque<Step>,
    artifacts: Vec<Artifact>,
    notes: Vec<String>,
    variables: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Step {
    stage: String,
    iteration: u32,
    timestamp: String,
    result: String,
    summary: String,
    score: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Artifact {
    path: String,
    sha256: String,
    bytes: u32,
}

/// Size and growth of the documents of a loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Approximate length of the first document as JSON.
    pub(crate) json_bytes: usize,
    /// Approximate bytes that differ from the document before; at least one step.
    pub(crate) new_bytes: usize,
    /// True if old content stays, so that every document is longer than the one before.
    pub(crate) grows: bool,
}

impl Shape {
    /// Documents that keep their size and change a little.
    pub(crate) fn of(json_bytes: usize) -> Self {
        Self { json_bytes, new_bytes: 0, grows: false }
    }
}

/// A loop that saves its state in every iteration.
#[derive(Debug, Clone)]
pub(crate) struct AgentLoop {
    pub(crate) state: LoopState,
    loop_id: LoopId,
    shape: Shape,
    random: Random,
}

impl AgentLoop {
    pub(crate) fn new(seed: u32, shape: Shape) -> Self {
        let mut random = Random::new(seed.into());
        let loop_id = LoopId::new(format!("ralph-bench-{seed:08x}")).expect("it is not empty");
        let mut state = LoopState::new(&mut random);
        let mut length = state.to_json().len();
        while length < shape.json_bytes {
            length += state.grow(&mut random) + ",".len();
        }
        Self { state, loop_id, shape, random }
    }

    /// Advances one iteration: adds a step, drops the oldest and changes a few scores.
    pub(crate) fn advance(&mut self) {
        let (state, random) = (&mut self.state, &mut self.random);
        state.iteration += 1;
        state.timestamp = time(state.iteration);
        let mut new_bytes = state.step(self.shape.grows, random);
        while new_bytes < self.shape.new_bytes {
            new_bytes += match random.below(2) {
                0 => state.step(self.shape.grows, random),
                _ => state.note(self.shape.grows, random),
            };
        }
        let count = u32::try_from(state.history.len()).expect("a history is short");
        for _ in 0..3 {
            state.history[random.below(count) as usize].score = score(random);
        }
    }

    /// The entry of the next checkpoint.
    pub(crate) fn about(&self) -> NewEntry {
        NewEntry {
            loop_id: Some(self.loop_id.clone()),
            issue: Some(Issue::new("42").expect("it is not empty")),
            trigger: Trigger::Iteration,
            phase: Some(self.state.stage.clone()),
            iteration: Some(self.state.iteration.into()),
            ..NewEntry::default()
        }
    }
}

impl LoopState {
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a state has only text keys")
    }

    fn new(random: &mut Random) -> Self {
        let names = ["branch", "model", "workspace", "last_error"];
        let variables = names.map(|name| (name.to_owned(), sentence(random, 4)));
        Self {
            task: sentence(random, 20),
            stage: STAGES[2].to_owned(),
            iteration: 1000,
            timestamp: time(1000),
            history: VecDeque::from([Step::new(1000, random)]),
            artifacts: vec![Artifact::new(random)],
            notes: Vec::new(),
            variables: BTreeMap::from(variables),
        }
    }

    /// Adds a step and returns its length as JSON; drops the oldest step unless old content
    /// `stays`.
    fn step(&mut self, stays: bool, random: &mut Random) -> usize {
        if !stays {
            self.history.pop_front();
        }
        self.history.push_back(Step::new(self.iteration, random));
        json_bytes(&self.history.back())
    }

    /// Adds a note and returns its length as JSON; drops another unless old content `stays`.
    fn note(&mut self, stays: bool, random: &mut Random) -> usize {
        let note = sentence(random, 16);
        let length = json_bytes(&note);
        let count = u32::try_from(self.notes.len()).expect("notes are few");
        if stays || count == 0 {
            self.notes.push(note);
        } else {
            self.notes[random.below(count) as usize] = note;
        }
        length
    }

    /// Adds a step or a note and returns its length as JSON.
    fn grow(&mut self, random: &mut Random) -> usize {
        match random.below(8) {
            0..4 => self.step(true, random),
            4 => {
                self.artifacts.push(Artifact::new(random));
                json_bytes(&self.artifacts.last())
            }
            _ => self.note(true, random),
        }
    }
}

impl Step {
    fn new(iteration: u32, random: &mut Random) -> Self {
        Self {
            stage: (*random.choose(&STAGES)).to_owned(),
            iteration,
            timestamp: time(iteration),
            result: (*random.choose(&RESULTS)).to_owned(),
            summary: sentence(random, 8),
            score: score(random),
        }
    }
}

impl Artifact {
    fn new(random: &mut Random) -> Self {
        Self {
            path: format!("src/{}/{}.rs", word(random), word(random)),
            sha256: [(); 4].map(|()| format!("{:016x}", random.number())).concat(),
            bytes: random.below(100_000),
        }
    }
}

fn json_bytes(part: &impl Serialize) -> usize {
    serde_json::to_string(part).expect("a part of a state has only text keys").len()
}

fn time(iteration: u32) -> String {
    // One minute per iteration, with microseconds that are not round.
    Timestamp::from_micros(1_769_353_200_000_000 + i64::from(iteration) * 60_123_457).to_string()
}

fn score(random: &mut Random) -> f64 {
    f64::from(random.below(10_000)) / 10_000.0
}

/// Words of no language; some are frequent and some rare, so that they compress like a language.
pub(crate) fn sentence(random: &mut Random, words: u32) -> String {
    (0..words).map(|_| word(random)).collect::<Vec<_>>().join(" ")
}

fn word(random: &mut Random) -> String {
    let frequent = random.below(VOCABULARY) + 1;
    let mut spelling = Random::new(random.below(frequent).into());
    (0..=spelling.below(3)).map(|_| *spelling.choose(&SYLLABLES)).collect()
}
