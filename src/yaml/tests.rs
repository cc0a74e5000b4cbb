//! YAML as people and models write it, and as nobody should.

use proptest::prelude::*;

use super::*;

/// Scalars and what `PyYAML` 6.0.3 makes of them with `safe_load`; its times count as text.
const SCALARS: &str = include_str!("tests/scalars.tsv");

const BOUNDS: Bounds = Bounds { bytes: 1 << 20, depth: 128, nodes: 10_000 };

fn parse(text: &str) -> Result<Node, Fault> {
    read(text.as_bytes(), BOUNDS)
}

/// A tree as text, without places: `{a: [Uint(1), "x"]}`.
fn shown(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => format!("{text:?}"),
        Value::Float { value, text } => format!("Float {value:?} {text}"),
        Value::Sequence(items) => {
            format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        Value::Mapping(fields) => {
            let field = |(key, value): &(Node, Node)| format!("{}: {}", shown(key), shown(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        other => format!("{other:?}"),
    }
}

fn read_as(text: &str) -> String {
    parse(text).map_or_else(|fault| fault.to_string(), |node| shown(&node))
}

#[test]
fn a_scalar_is_what_pyyaml_makes_of_it() {
    for row in SCALARS.lines() {
        let (text, expected) = row.split_once('\t').unwrap();
        let expected = match expected {
            "Text" => format!("{{\"k\": {text:?}}}"),
            float if float.starts_with("Float") => format!("{{\"k\": {float} {text}}}"),
            other => format!("{{\"k\": {other}}}"),
        };
        assert_eq!(read_as(&format!("k: {text}")), expected, "{text}");
    }
}

#[test]
fn what_is_quoted_or_a_block_is_text() {
    for text in ["'1'", "\"1\"", "|-\n 1", ">-\n 1"] {
        assert_eq!(read_as(text), "\"1\"", "{text}");
    }
    assert_eq!(read_as("''"), "\"\"");
    assert_eq!(read_as("\"a\\nb\\u00e9\""), "\"a\\nb\u{e9}\"");
}

#[test]
fn a_tag_decides_before_the_spelling() {
    for (text, expected) in [
        ("!!str 1", "\"1\""),
        ("! 1", "\"1\""),
        ("!!int '0x10'", "Uint(16)"),
        ("!!float 1", "Float 1.0 1"),
        ("!!bool 'yEs'", "Bool(true)"),
        ("!!null x", "Null"),
        ("!!timestamp 2025-01-14", "\"2025-01-14\""),
        ("!!seq [1]", "[Uint(1)]"),
        ("!!map {a: 1}", "{\"a\": Uint(1)}"),
        ("!!int x", "line 1 column 7: not what its tag says, !!int"),
        ("!!binary aGk=", "line 1 column 10: a tag that is not known"),
        ("!own x", "line 1 column 6: a tag that is not known"),
        ("!!set {a}", "line 1 column 7: a tag that is not known"),
    ] {
        assert_eq!(read_as(text), expected, "{text}");
    }
}

#[test]
fn what_holds_nothing_is_null() {
    for text in ["", "  \n", "# only a comment\n", "---\n", "--- ~\n...\n", "\u{feff}"] {
        assert_eq!(read_as(text), "Null", "{text:?}");
    }
}

#[test]
fn keys_stay_in_order_and_stand_twice_if_they_do() {
    assert_eq!(
        read_as("b: 1\na: 2\nb: 3\n1: x\n? [c]\n: y\n<<: z\n"),
        "{\"b\": Uint(1), \"a\": Uint(2), \"b\": Uint(3), Uint(1): \"x\", [\"c\"]: \"y\", \
         \"<<\": \"z\"}"
    );
}

#[test]
fn json_is_read_with_tabs_and_without_spaces() {
    let text = "{\n\t\"a\":[1,-2,1.5,true,null,\"x\\/y\"],\n\t\"b\": {}\n}\n";
    let expected =
        "{\"a\": [Uint(1), Int(-2), Float 1.5 1.5, Bool(true), Null, \"x/y\"], \"b\": {}}";
    assert_eq!(read_as(text), expected);
}

#[test]
fn every_node_and_key_has_its_place() {
    let tree = parse("\u{feff}# first\r\na: \u{e9}\r\nb:\r\n  - {c: 1,\r\n     d: 2}\r\n").unwrap();
    let mut places = Vec::new();
    let mut left = vec![&tree];
    while let Some(node) = left.pop() {
        places.push((node.place.line, node.place.column));
        match &node.value {
            Value::Sequence(items) => left.extend(items.iter().rev()),
            Value::Mapping(fields) => {
                left.extend(fields.iter().rev().flat_map(|(key, value)| [value, key]));
            }
            _ => {}
        }
    }
    let expected = [(2, 1), (2, 1), (2, 4), (3, 1), (4, 3), (4, 5), (4, 6), (4, 9), (5, 6), (5, 9)];
    assert_eq!(places, expected);
}

#[test]
fn a_fault_names_its_place_and_reason() {
    for (text, start) in [
        ("a: 1\nb: [1, 2\n", "line 2 column 4: "),
        ("a: 1\n b: 2\n", "line 2 column 3: "),
        ("a: b: c\n", "line 1 column 5: "),
        ("a: 'x\n", "line 2 column 1: "),
        ("a:\n\tb: 1\n", "line 2 column 2: "),
        ("a: *nothing\n", "line 1 column 4: "),
        ("a: 1\n---\nb: 2\n", "line 2 column 1: a second document starts here"),
        ("a: &x [1, *x]\n", "line 1 column 11: an alias within what it names"),
    ] {
        let found = read_as(text);
        assert!(found.starts_with(start), "{text:?}: {found}");
    }
    let fault = read(b"a: 1\n\xc3\xa9b\xff", BOUNDS).unwrap_err();
    assert_eq!(fault.to_string(), "line 2 column 3: not UTF-8");
}

#[test]
fn an_alias_stands_for_what_it_names() {
    assert_eq!(read_as("a: &x [1, &y 2]\nb: *x\nc: *y\n"), {
        "{\"a\": [Uint(1), Uint(2)], \"b\": [Uint(1), Uint(2)], \"c\": Uint(2)}"
    });
    assert_eq!(read_as("[&x 1, *x, &x 2, *x]"), "[Uint(1), Uint(1), Uint(2), Uint(2)]");
    let tree = parse("[&x 1,\n *x]").unwrap();
    let Value::Sequence(items) = tree.value else { panic!() };
    assert_eq!(items[1].place, LineColumn { line: 2, column: 2 }, "that of the alias");
}

/// Ten lines that stand for ten thousand million words.
#[test]
fn aliases_of_aliases_end_at_the_bound_on_nodes() {
    let level = |level: usize| {
        let names = vec![format!("*l{}", level - 1); 10].join(", ");
        format!("l{level}: &l{level} [{names}]")
    };
    let lines: Vec<String> = (1..=10).map(level).collect();
    let text = format!("l0: &l0 [lol]\n{}", lines.join("\n"));
    assert!(read_as(&text).ends_with("more than 10000 nodes"));
}

#[test]
fn a_long_text_with_many_aliases_ends_at_the_bound_on_bytes() {
    let text = format!("- &x {}\n{}", "y".repeat(100_000), "- *x\n".repeat(100));
    assert!(read_as(&text).ends_with("more than 1048576 bytes of scalars"));
}

#[test]
fn anchors_within_anchors_are_not_counted_twice_in_the_tree() {
    let open = (0..100).map(|level| format!("&a{level} [")).collect::<Vec<_>>().concat();
    let text = format!("[{open}x{}, *a0]", "]".repeat(100));
    assert!(parse(&text).is_ok());
}

#[test]
fn nesting_ends_at_the_bound_on_depth() {
    let flow = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let compact = |depth: usize| format!("{}x", "- ".repeat(depth));
    let block =
        |depth: usize| (0..depth).map(|level| " ".repeat(level) + "a:\n").collect::<String>();
    // A mapping within a sequence at every step, in either style.
    let mixed = |depth: usize| format!("{}x", "- a: [".repeat(depth));
    for text in [flow(128), compact(128), block(128)] {
        assert!(parse(&text).is_ok(), "{text}");
    }
    for text in [flow(129), compact(129), block(129), flow(100_000), mixed(100_000)] {
        assert!(parse(&text).is_err(), "{}", text.len());
    }
    // An alias brings its own depth along.
    let text = format!("a: &a {}\nb: {}*a{}", flow(100), "[".repeat(30), "]".repeat(30));
    assert!(read_as(&text).ends_with("nested deeper than 128"));
}

#[test]
fn a_long_text_is_refused_before_it_is_read() {
    let fault = read(&[b' '; 11], Bounds { bytes: 10, ..BOUNDS }).unwrap_err();
    assert_eq!(fault.to_string(), "line 1 column 1: longer than 10 bytes");
}

/// Text of the signs that mean something, which arbitrary text seldom has.
fn signs() -> impl Strategy<Value = String> {
    let sign = prop::sample::select(vec![
        "a", "1", "- ", ": ", "? ", "\n", "  ", "\t", "[", "]", "{", "}", ", ", "&a ", "*a",
        "!!int ", "!", "'", "\"", "|", ">", "#", "%", "---\n", "...\n", "\\", "<<", "~", "\r",
        "\u{feff}", "\0", "\u{85}", "0x", "_", ".", "@",
    ]);
    prop::collection::vec(sign, 0..60).prop_map(|signs| signs.concat())
}

proptest! {
    #[test]
    fn whatever_the_bytes_are_they_give_a_tree_or_a_fault(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = read(&bytes, BOUNDS);
    }

    #[test]
    fn whatever_the_text_is_it_gives_a_tree_or_a_fault(text in signs()) {
        if let Err(fault) = parse(&text) {
            prop_assert!(fault.place.line >= 1 && fault.place.column >= 1);
            prop_assert!(!fault.reason.is_empty());
        }
    }

    #[test]
    fn a_scalar_that_is_no_number_is_itself(text in "[0-9a-fx_:.+-]{1,12}") {
        if let Value::Text(kept) = scalar::resolve(&text) {
            prop_assert_eq!(kept, text);
        }
    }
}
