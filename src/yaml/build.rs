//! From the events of the parser to a tree, within bounds and without recursion.

use std::collections::HashMap;

use granit_parser::{Event, ScalarStyle, Tag};

use super::{Bounds, Fault, LineColumn, Node, Value, scalar};

/// The namespace of `!!int` and its like.
const NAMESPACE: &str = "tag:yaml.org,2002:";

/// The tree so far.
pub(super) struct Builder {
    bounds: Bounds,
    /// The sequences and mappings that are not yet closed, the outermost first.
    open: Vec<Open>,
    anchors: HashMap<usize, Anchor>,
    /// The size of the tree so far.
    size: Size,
    /// The size of the copies of anchored nodes.
    anchored: Size,
    has_document: bool,
    root: Option<Node>,
}

struct Open {
    place: LineColumn,
    /// Zero if it has none.
    anchor: usize,
    /// The size of the tree before it.
    before: Size,
    /// How many sequences and mappings are within each other below it.
    height: usize,
    content: Content,
}

enum Content {
    Sequence(Vec<Node>),
    Mapping {
        fields: Vec<(Node, Node)>,
        /// The key whose value comes next.
        key: Option<Node>,
    },
}

/// A node that aliases may name.
struct Anchor {
    node: Node,
    size: Size,
    height: usize,
}

#[derive(Clone, Copy, Default)]
struct Size {
    nodes: usize,
    bytes: usize,
}

impl Builder {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            open: Vec::new(),
            anchors: HashMap::new(),
            size: Size::default(),
            anchored: Size::default(),
            has_document: false,
            root: None,
        }
    }

    pub(super) fn take(&mut self, event: Event<'_>, place: LineColumn) -> Result<(), Fault> {
        match event {
            Event::DocumentStart(..) if self.has_document => {
                Err(Fault::new(place, "a second document starts here, where one is read"))
            }
            Event::DocumentStart(..) => {
                self.has_document = true;
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let bytes = text.len();
                let value = scalar_value(&text, style, tag.as_deref())
                    .map_err(|reason| Fault::new(place, reason))?;
                let before = self.size;
                self.grow(Size { nodes: 1, bytes }, place)?;
                self.put(Node { place, value }, Finished { anchor, before, height: 0 })
            }
            Event::SequenceStart(_, anchor, tag) => {
                is_collection(tag.as_deref(), "seq", place)?;
                self.start(Content::Sequence(Vec::new()), anchor, place)
            }
            Event::MappingStart(_, anchor, tag) => {
                is_collection(tag.as_deref(), "map", place)?;
                self.start(Content::Mapping { fields: Vec::new(), key: None }, anchor, place)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.copy(anchor, place),
            // Events without meaning, and events that the options suppress. Another crate may
            // enable a feature that adds one more of these.
            _ => Ok(()),
        }
    }

    pub(super) fn finish(self) -> Node {
        self.root.unwrap_or(Node { place: LineColumn::START, value: Value::Null })
    }

    fn start(&mut self, content: Content, anchor: usize, place: LineColumn) -> Result<(), Fault> {
        self.check_depth(1, place)?;
        let before = self.size;
        self.grow(Size { nodes: 1, bytes: 0 }, place)?;
        self.open.push(Open { place, anchor, before, height: 0, content });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        let Some(Open { place, anchor, before, height, content }) = self.open.pop() else {
            return Ok(());
        };
        let value = match content {
            Content::Sequence(items) => Value::Sequence(items),
            Content::Mapping { fields, .. } => Value::Mapping(fields),
        };
        self.put(Node { place, value }, Finished { anchor, before, height: height + 1 })
    }

    /// Puts a copy of what an alias names where the alias stands.
    fn copy(&mut self, anchor: usize, place: LineColumn) -> Result<(), Fault> {
        let Some(Anchor { node, size, height }) = self.anchors.get(&anchor) else {
            return Err(Fault::new(place, "an alias within what it names"));
        };
        let (size, height) = (*size, *height);
        let within = self.size.plus(size).check(self.bounds, place);
        within.and(self.check_depth(height, place))?;
        let node = Node { place, value: node.value.clone() };
        let before = self.size;
        self.grow(size, place)?;
        self.put(node, Finished { anchor: 0, before, height })
    }

    /// Puts a node that is complete where it belongs.
    fn put(&mut self, node: Node, finished: Finished) -> Result<(), Fault> {
        if finished.anchor != 0 {
            self.keep(&node, finished)?;
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        open.height = open.height.max(finished.height);
        match &mut open.content {
            Content::Sequence(items) => items.push(node),
            Content::Mapping { fields, key } => match key.take() {
                None => *key = Some(node),
                Some(key) => fields.push((key, node)),
            },
        }
        Ok(())
    }

    /// Keeps a copy of an anchored node for its aliases.
    ///
    /// Copies count on their own: anchors within anchors would make a few nodes many.
    fn keep(&mut self, node: &Node, finished: Finished) -> Result<(), Fault> {
        let size = self.size.minus(finished.before);
        self.anchored = self.anchored.plus(size);
        self.anchored.check(self.bounds, node.place)?;
        let anchor = Anchor { node: node.clone(), size, height: finished.height };
        self.anchors.insert(finished.anchor, anchor);
        Ok(())
    }

    fn grow(&mut self, size: Size, place: LineColumn) -> Result<(), Fault> {
        self.size = self.size.plus(size);
        self.size.check(self.bounds, place)
    }

    fn check_depth(&self, more: usize, place: LineColumn) -> Result<(), Fault> {
        let max = self.bounds.depth;
        if self.open.len() + more <= max {
            return Ok(());
        }
        Err(Fault::new(place, format_args!("nested deeper than {max}")))
    }
}

/// The facts about a complete node.
#[derive(Clone, Copy)]
struct Finished {
    anchor: usize,
    before: Size,
    height: usize,
}

impl Size {
    fn plus(self, other: Self) -> Self {
        Self {
            nodes: self.nodes.saturating_add(other.nodes),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self { nodes: self.nodes - other.nodes, bytes: self.bytes - other.bytes }
    }

    fn check(self, bounds: Bounds, place: LineColumn) -> Result<(), Fault> {
        if self.nodes > bounds.nodes {
            return Err(Fault::new(place, format_args!("more than {} nodes", bounds.nodes)));
        }
        if self.bytes > bounds.bytes {
            let reason = format_args!("more than {} bytes of scalars", bounds.bytes);
            return Err(Fault::new(place, reason));
        }
        Ok(())
    }
}

fn scalar_value(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    match (tag, style) {
        (Some(tag), _) if tag.original() == "!" => Ok(Value::Text(text.to_owned())),
        (Some(tag), _) => match tag.suffix_in_namespace(NAMESPACE) {
            Some(name) => scalar::tagged(&name, text),
            None => Err(scalar::UNKNOWN_TAG.to_owned()),
        },
        (None, ScalarStyle::Plain) => Ok(scalar::resolve(text)),
        (None, _) => Ok(Value::Text(text.to_owned())),
    }
}

fn is_collection(tag: Option<&Tag>, own: &str, place: LineColumn) -> Result<(), Fault> {
    match tag {
        None => Ok(()),
        Some(tag) if tag.original() == "!" || tag.is_yaml_core_schema_tag(own) => Ok(()),
        Some(_) => Err(Fault::new(place, scalar::UNKNOWN_TAG)),
    }
}
