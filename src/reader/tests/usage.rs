//! Claims about names in source code: which of them are calls, in each language.

use crate::reader::{Usage, usages};

#[track_caller]
fn check(path: &str, text: &str, want: &str) {
    assert_eq!(usages_of(path, text), want, "{path}:\n{text}");
}

/// What each `fetch` of a text is, in order; `?` is unclear.
fn usages_of(path: &str, text: &str) -> String {
    let name = "fetch";
    let offsets: Vec<usize> = text.match_indices(name).map(|(at, _)| at).collect();
    let got: Vec<&str> = usages(path, text.as_bytes(), name, &offsets)
        .into_iter()
        .map(|usage| match usage {
            Usage::Call => "call",
            Usage::Definition => "def",
            Usage::Import => "import",
            Usage::Comment => "comment",
            Usage::Text => "text",
            Usage::Mention => "mention",
            Usage::Unclear => "?",
        })
        .collect();
    got.join(" ")
}

#[cfg(feature = "code")]
#[test]
fn calls_are_told_from_everything_else() {
    // All languages are looked at before the first difference ends the test.
    let mut wrong = Vec::new();
    let mut check = |path: &str, text: &str, want: &str| {
        let got = usages_of(path, text);
        if got != want {
            wrong.push(format!("{path}\n got  {got}\n want {want}"));
        }
    };
    check(
        "a.rs",
        "use a::fetch;\n/// Like [`fetch`].\nfn fetch<T>(x: T) -> u8 {\n    // fetch(1)\n    fetch(1);\n    self.fetch(2);\n    a::b::fetch::<u8>(3);\n    (fetch)(4);\n    let f = fetch;\n    let s = \"fetch(5)\";\n    list.map(fetch);\n    fetch!(6)\n}\n",
        "import comment def comment call call call call mention text mention mention",
    );
    check(
        "macro.rs",
        "macro_rules! m {\n    (fetch $x:expr) => { fetch($x) };\n}\nfn g() {\n    assert_eq!(fetch(1), \"fetch(2)\", \"{}\", x.fetch::<Vec<Vec<u8>>>(3));\n    m!(fn fetch() {});\n    m!(fetch);\n    m!(fetch::LIMIT);\n}\n#[case(fetch(1))]\nfn h() {}\n",
        "mention call call text call def mention mention mention",
    );
    check(
        "a.py",
        "from m import fetch\nimport fetch\n@fetch\ndef fetch(x):\n    \"\"\"fetch(1)\"\"\"\n    # fetch(2)\n    fetch(3)\n    m.fetch(4)\n    print(f\"{fetch(5)} fetch(6)\")\n    map(fetch, x)\n    fetch = 1\n",
        "import import mention def text comment call call call text mention mention",
    );
    check(
        "a.ts",
        "import { fetch } from 'fetch';\nexport { fetch };\nfunction fetch(x: number) {}\nfetch(1); a.fetch(2); a?.fetch(3); new fetch(4); fetch<number>(5);\nconst s = `fetch(6) ${fetch(7)}`;\na.then(fetch);\n// fetch(8)\n",
        "import import import def call call call call call text call mention comment",
    );
    check(
        "a.go",
        "package p\nimport \"x/fetch\"\nfunc fetch(x int) {}\nfunc (t T) fetch() {}\nfunc g() { fetch(1); t.fetch(); go fetch(2); f := fetch; _ = \"fetch(3)\"; _ = `fetch(4)` }\n",
        "import def def call call call mention text text",
    );
    check(
        "a.c",
        "#include \"fetch.h\"\n#define TWICE(x) fetch(x)\nint fetch(int x);\nint fetch(int x) { return fetch(x - 1) + s->fetch(2); }\nint (*p)(int) = fetch;\n",
        "import call def def call call mention",
    );
    check(
        "a.cpp",
        "int N::fetch(int x) { return N::fetch(1) + this->fetch(2) + fetch<int>(3); }\n",
        "def call call call",
    );
    check(
        "A.java",
        "import a.fetch;\nclass A { int fetch(int x) { return fetch(1) + this.fetch(2) + new fetch(3).get(); }\n Runnable r = this::fetch; }\n",
        "import def call call call mention",
    );
    check(
        "a.cs",
        "class A { int fetch(int x) { return fetch(1) + this.fetch(2) + a?.fetch(3) + fetch<int>(4) + $\"{fetch(5)} fetch\".Length; } }\n",
        "def call call call call call text",
    );
    check(
        "a.php",
        "fetch before <?php\nfunction fetch($x) { fetch(1); $this->fetch(2); A::fetch(3); $o?->fetch(4); new fetch(5); $fetch = 'fetch(6)'; }\n",
        "mention def call call call call call mention text",
    );
    check(
        "a.rb",
        "def fetch(x)\n  fetch(1)\n  o.fetch 2\n  fetch\n  o.fetch\n  send(:fetch)\n  \"fetch #{fetch(3)}\"\nend\n",
        "def call call ? call mention text call",
    );
    check(
        "a.sh",
        "fetch() { echo fetch; }\nfetch a\nx=$(fetch b)\n# fetch c\necho \"fetch $(fetch d)\"\n",
        "def mention call call comment text call",
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[cfg(feature = "code")]
#[test]
fn what_does_not_parse_is_unclear() {
    check("a.rs", "fn g() { let x = = fetch(1) @@ fetch( }}} // fetch\n", "? ? comment");
    check("a.rs", &format!("fn g() {{ fetch(1); }}\n// {}\n", "x".repeat(2 << 20)), "?");
    // Not UTF-8.
    let latin = b"// \xfc\nfn g() { fetch(1); }\n";
    assert_eq!(usages("a.rs", latin, "fetch", &[14]), [Usage::Unclear]);
}

#[test]
fn files_without_a_grammar_are_unclear_and_prose_calls_nothing() {
    check("a.lua", "fetch(1)\n", "?");
    check("a.unknown", "fetch(1)\n", "?");
    check("a.html", "<script>fetch(1)</script>\n", "?");
    check("a.md", "Call `fetch(1)`.\n", "text");
    check("a.csv", "fetch(1),2\n", "text");
    assert!(usages("a.rs", b"", "fetch", &[]).is_empty());
    // Places that are not in the file are nobody's: no panic.
    assert_eq!(usages("a.rs", b"fn", "fetch", &[100]).len(), 1);
}
