//! Properties of every format, on random bytes and on documents that were real before a mutation.

use super::{check_invariants, options};
use crate::reader::{Input, Sidecar, read};
use proptest::prelude::*;

const PATHS: [&str; 18] = [
    "a.md",
    "x/SKILL.md",
    "r.jsonl",
    "n.txt",
    "a.rs",
    "a.py",
    "a.ts",
    "a.cpp",
    "a.rb",
    "r.csv",
    "r.tsv",
    "r.json",
    "r.yaml",
    "n.ipynb",
    "a.rst",
    "a.adoc",
    "a.org",
    "a.html",
];

/// Makes a section too long to be left whole.
const LONG: &str = "\
    words of a paragraph words of a paragraph words of a paragraph words of a paragraph words of a paragraph\n";

/// Pieces that documents of all formats are made from.
const PIECES: [&str; 74] = [
    "---\n",
    "---",
    "name: x\n",
    "description: a: b\n",
    "triggers: [a, b]\n",
    "# T\n",
    "## A\n",
    "### A\n",
    "A\n===\n",
    "B\n---\n",
    "\n",
    "\r\n",
    "\u{feff}",
    "text. More text here.\n",
    "```\n",
    "~~~\n",
    "<!-- psos\n",
    "-->\n",
    "<!--",
    "> ## q\n",
    "- ## l\n",
    "    code\n",
    "`code span`",
    "**Bold**: ",
    "[l](x.md)",
    "{\"_id\": \"a\"}\n",
    "{\"id\": 1, \"text\": \"t\"}\n",
    "{\"\n",
    "[]\n",
    "\0",
    "\u{9ed1}\u{8c79}\u{3002}",
    "| a | b |\n|---|---|\n",
    "error: it failed again\n",
    "\t",
    "  ",
    "{#id}\n",
    "fn f() {}\n",
    "impl A {\n",
    "}\n",
    "/// doc\n",
    "def f(x):\n",
    "class A:\n",
    "    pass\n",
    "class B {\n",
    "int g(int a) { return 1; }\n",
    "// c\n",
    "end\n",
    "====\n",
    "= T\n",
    "== S\n",
    "----\n",
    "* H\n",
    ".. _x:\n",
    "[[x]]\n",
    "<h1>",
    "</h1>",
    "<pre>",
    "<a href=x>",
    "<p>y</p>",
    "a,b\n",
    "\"x\",",
    "[",
    "- id: a\n",
    "{\"cells\": [{\"source\": \"# A\\n## B\"}]}",
    "\"]}",
    "export const h = () => 1;\n",
    "- **R-10**: x\n- **R-11**: y\n- **R-12**: z\n",
    "| a | b |\n|---|---|\n| R-10 | x |\n| R-11 | y |\n| R-12 | z |\n",
    LONG,
    "`t <x.rst>`_ ",
    ".. _t: x.rst\n",
    "xref:x.adoc[t] ",
    "<<x,t>>",
    "[[file:x.org::*H][t]]",
];

fn document() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40)
            .prop_map(|pieces| pieces.concat().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..300),
        (
            prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40),
            prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)
        )
            .prop_map(|(pieces, changes)| {
                let mut bytes = pieces.concat().into_bytes();
                for (at, byte) in changes {
                    if !bytes.is_empty() {
                        let at = at.index(bytes.len());
                        bytes[at] = byte;
                    }
                }
                bytes
            }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        // A failure becomes a test with a name.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn details_and_gaps_are_the_file(
        bytes in document(),
        tiers in document(),
        path in prop::sample::select(&PATHS[..]),
    ) {
        let sidecar = Some(Sidecar { path: "s.psos.yaml", bytes: &tiers });
        let input = Input { path, bytes: &bytes, sidecar };
        let document = read(&input, &options());
        check_invariants(&bytes, &document);
        prop_assert_eq!(document, read(&input, &options()));
    }
}
