//! Writes the inputs that fuzzing starts from, into `corpus/TARGET/` below the folder it is run in.

use std::fs;
use std::io;
use std::path::Path;

/// Documents that use what each format has, small enough that a change of one byte matters.
const SEEDS: [(&str, &[&str]); 13] = [
    (
        "markdown",
        &[
            "---\ntitle: A\naliases: [b, c]\ntriggers:\n  - how do I a\n---\n# A\n\nText with `code`.\n\n## B\n\n<!-- psos\ntriggers: [x]\n-->\n\n- item\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
            "+++\ntitle = \"A\"\n+++\nSetext\n===\n\nMore\n---\n\n~~~\n# no heading\n~~~\n\n[link](b.md#c), [[Wiki|text]] and [^1].\n\n[^1]: note\n",
            "{\n\"title\": \"A\"\n}\n## A {#a-b}\n### A\n### A\n<!-- a\n## c\n-->\nimport X from 'y'\n\n<X a={1}>\n\n## D\n\n</X>\n",
            "## A\n\n- **REQ-12**: a [l](b.md)\n- [REQ-13] b\n- `REQ-14` c\n\n## B\n\n| Code | Meaning |\n|---|---|\n| E0382 | a\\|b |\n| E0499 | |\n| E0502 | c\n",
            "\u{feff}---\r\nname: a: b\r\n---\r\n---\r\ndescription: x\r\n---\r\n# T\r\n",
        ],
    ),
    (
        "skill",
        &[
            "---\nname: a-skill\ndescription: Does it: well.\nmetadata:\n  triggers: [do it]\n---\n# A\n\n## When\n\nNow.\n",
            "---\nname: a\ndescription: >\n  folded\n  text\n\n# A\n",
            "---\nname: [a, b]\ntype:\ndescription: |\n\ttab\nname: c\n<<: *x\n---\n",
        ],
    ),
    (
        "jsonl",
        &[
            "{\"_id\": \"a\", \"title\": \"T\", \"text\": \"one\"}\n\n{\"_id\": \"a\", \"text\": [\"x\", {\"y\": 1}]},\n{\"id\": 3, \"metadata\": {\"scope\": \"s\"}}\r\n{\"trunc",
            "[1]\nnull\n{\"text\": \"\\u0000\\ud800\"}\n",
        ],
    ),
    (
        "csv",
        &[
            "id,title,text\n1,\"a, b\",\"two\nlines\"\n2,x\n\n3,\"y\"\"z\",t,u\n",
            "a;b\r\n1;\"open\r\n2;x\r\n",
            "\u{feff}k\tv\n1\t2\n",
        ],
    ),
    (
        "json",
        &[
            "[{\"id\": \"a\", \"text\": \"x\"}, {\"id\": \"b\"}, 3]",
            "{\"a\": [1, 2, {\"b\": null}]}",
            "[{\"a\": \"\\\"]\"}, [[{\"x\"",
        ],
    ),
    (
        "yaml",
        &[
            "- id: a\n  title: T\n  text: |\n    x\n    y\n- id: b\n  tags: [x, 'y']\n",
            "a: 1\n---\nb: &x {c: 2}\n---\nd: *x\n...\n",
            "- &a [*a, !t x]\n- ? q\n  : r\n",
        ],
    ),
    (
        "notebook",
        &[
            "{\"cells\": [{\"cell_type\": \"markdown\", \"source\": [\"# A\\n\", \"text\"]}, {\"cell_type\": \"code\", \"source\": \"x = 1\", \"outputs\": []}], \"metadata\": {\"kernelspec\": {\"language\": \"python\"}}}",
            "{\"cells\": [{\"source\": \"## B\\n```\\n\"}, 1]}",
        ],
    ),
    (
        "rst",
        &[
            "=====\nTitle\n=====\n\nText with ``code``.\n\n.. _here:\n\nPart\n----\n\n.. code-block:: sh\n\n   ls\n\nMore\n~~~~\n\n* a\n* b\n\n.. note:: x\n",
            "A\n-\nB\n=\n.. |s| replace:: t\n",
            "See `a b <c.rst>`_, `d`_, e_ and :doc:`f <g>`, :ref:`h <i>`.\n\n.. _d: j.rst\n.. _e: k\n",
        ],
    ),
    (
        "asciidoc",
        &[
            "= Title\n:toc:\n\nLead *bold*.\n\n[[here]]\n== Part\n\n----\nls\n----\n\n=== Sub\n\n* a\n** b\n\n|===\n|a |b\n|===\n",
            "== A\n////\n== no\n////\n[#id]\n== A\n",
            "See xref:a.adoc#b[c d], link:e[f,role=g], <<h,i>> and https://x.y[z^].\n",
        ],
    ),
    (
        "org",
        &[
            "#+TITLE: T\nLead =code=.\n\n* TODO A :tag:\n:PROPERTIES:\n:CUSTOM_ID: x\n:END:\n#+begin_src sh\nls\n* no\n#+end_src\n** B\n- [[https://x.y][text]]\n",
            "* A\n* A\n*** deep\n#+begin_quote\n",
            "[[file:a.org::*B][c =d=]] [[*E][f]] [[g]]\n",
        ],
    ),
    (
        "html",
        &[
            "<!doctype html><title>T</title><nav>x</nav><h1 id=a>A</h1><p>Text <code>c</code> <a href=\"b.html#c\">b</a><h2>B</h2><pre>ls\n</pre><table><tr><td>1<td>2</table><script>if (a<b) {}</script>",
            "<h2><h3>x</h2>&amp;&#x0;<p><ul><li>a<li>b</ul><!-- c --",
        ],
    ),
    (
        "text",
        &[
            "Title\n=====\n\nA paragraph.\n\nerror: it broke\n",
            "gr\u{fc}\u{df}e \u{9ed1}\u{8c79}\n",
            "",
        ],
    ),
    (
        "sidecar",
        &[
            "# A\n\n## B\n\ntext\n\u{0}a:\n  triggers: [x, y]\n  description: d\n\"#b\":\n  summary: s\n.:\n  trigers: z\n",
        ],
    ),
];

/// One source for each language of the target `code`, in its order.
const SOURCES: [&str; 13] = [
    "#!/bin/bash\n# Does f.\nf() {\n  echo a\n}\n",
    "/** Adds. */\nint add(int a, int b) { return a + b; }\nstruct s { int x; };\n#define M(x) x\n",
    "namespace n {\n/// A.\ntemplate <class T> class A { public: void f() {} };\n}\n",
    "namespace N { /// <summary>A</summary>\npublic class A { public int F(int x) => x; } }\n",
    "package p\n\n// F does.\nfunc F(x int) error { return nil }\n\ntype T struct{ A int }\n",
    "package p;\n/** A. */\nclass A { /** f */ void f() {} interface I {} }\n",
    "/** f */\nexport function f(a) {}\nexport const g = () => 1;\nclass A { m() {} }\n",
    "<?php\n/** f */\nfunction f($a) {}\nclass A { function m() {} }\n",
    "\"\"\"Module.\"\"\"\n@d\ndef f(x):\n    \"\"\"Doc.\"\"\"\n\nclass A:\n    def m(self): pass\n",
    "# A.\nmodule M\n  class A < B\n    def m; end\n  end\nend\n",
    "//! Doc.\n/// F.\n#[inline]\npub fn f<T>(x: T) -> T { x }\nimpl A { fn m(&self) {} }\nmacro_rules! q { () => {} }\n",
    "/** C */\nexport const C = () => <div>{x}</div>;\n",
    "/** I */\nexport interface I { a: number }\nfunction f(a: I): void {}\nenum E { A }\n",
];

fn main() -> io::Result<()> {
    for (target, seeds) in SEEDS {
        for (n, seed) in seeds.iter().enumerate() {
            let mut bytes = seed.as_bytes().to_vec();
            if target == "sidecar" {
                // The byte between the two cannot stand in a text.
                bytes.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = 0xFF);
            }
            write(target, n, &bytes)?;
            if target == "text" {
                let wide: Vec<u8> =
                    seed.encode_utf16().flat_map(|unit| unit.to_le_bytes()).collect();
                write(target, n + 10, &wide)?;
            }
        }
    }
    for (n, source) in SOURCES.iter().enumerate() {
        let mut bytes = vec![u8::try_from(n).unwrap_or_default()];
        bytes.extend_from_slice(source.as_bytes());
        write("code", n, &bytes)?;
    }
    Ok(())
}

fn write(target: &str, n: usize, bytes: &[u8]) -> io::Result<()> {
    let folder = Path::new("corpus").join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("seed-{n}")), bytes)
}
