//! Claims about links: where they lead, and which of their words name what they lead to.

use super::{read_checked, read_text, triggers};
use crate::reader::{Around, Call, Calls, Input, Places, links};

fn links_of(path: &str, text: &str) -> Vec<(String, String)> {
    links(&Input { path, bytes: text.as_bytes(), sidecar: None })
}

#[test]
fn a_link_leads_to_a_file_of_the_tree() {
    let places = Places::new([
        "README.md",
        "a/guide.md",
        "a/deep/index.md",
        "a/api.rst",
        "b/guide.md",
        "b/My Note.md",
        "src/main.rs",
    ]);
    for (from, target, want) in [
        ("README.md", "a/guide.md", Some(("a/guide.md", ""))),
        ("README.md", "./a/guide.md#Part%201", Some(("a/guide.md", "Part 1"))),
        ("a/guide.md", "../b/guide.md?x=1#y", Some(("b/guide.md", "y"))),
        ("a/guide.md", "/b/guide", Some(("b/guide.md", ""))),
        ("a/guide.md", "deep/", Some(("a/deep/index.md", ""))),
        ("a/guide.md", "api.html#f", Some(("a/api.rst", "f"))),
        ("a/guide.md", "#here", Some(("a/guide.md", "here"))),
        ("a/deep/index.md", "..", None),
        ("a/deep/index.md", "../..", Some(("README.md", ""))),
        ("a/guide.md", "../../x.md", None),
        // By name: the one in the same folder, then the one nearest to the root.
        ("b/guide.md", "Guide", Some(("b/guide.md", ""))),
        ("README.md", "guide", Some(("a/guide.md", ""))),
        ("README.md", "my note#Top", Some(("b/My Note.md", "Top"))),
        ("README.md", "b/My%20Note.md", Some(("b/My Note.md", ""))),
        ("README.md", "src/main.rs", Some(("src/main.rs", ""))),
        ("README.md", "nowhere", None),
    ] {
        let found = places.resolve(from, target);
        let found = found.as_ref().map(|(path, anchor)| (*path, anchor.as_str()));
        assert_eq!(found, want, "{from} -> {target}");
    }
}

#[test]
fn only_words_that_may_name_something_are_kept() {
    let text = "[Guide to `it`](a.md), [the pattern](v.md), [here](b.md), [read more](c.md), [site](https://x.org), \
                [mail](mailto:a@b.c), [42](d.md), [workloads](w.md), [Probes](p.md), [HttpClient](h.md), ![picture](e.png), [[Note|My note]], [[dir/Other#Part]].\n\n\
                [a sentence that goes on and on and names nothing at all](f.md)\n";
    let links = links_of("x.md", text);
    let links: Vec<(&str, &str)> = links.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(links, [("Note", "My note"), ("a.md", "Guide to it"), ("h.md", "HttpClient")]);
    assert_eq!(links_of("x.html", "<a href='a.html'>User handbook</a>")[0].0, "a.html");
    assert_eq!(links_of("x.rs", "// [User handbook](a.md)"), []);
}

#[test]
fn links_are_found_in_every_markup() {
    for (path, text, want) in [
        // Inline, over two lines, by a name with a target, by a role.
        ("a.rst", "See `User handbook <b.html#x>`_ now.\n", &[("b.html#x", "User handbook")][..]),
        ("a.rst", "See `User\nhandbook <b.rst>`__.\n", &[("b.rst", "User handbook")]),
        (
            "a.rst",
            "See `User handbook`_.\n\nT\n=\n\n.. _User handbook: b.rst\n",
            &[("b.rst", "User handbook")],
        ),
        (
            "a.rst",
            "See `the book <manual_>`_, HttpClient_.\n\n.. _manual: m.rst\n.. _httpclient: h.rst\n",
            &[("h.rst", "HttpClient")],
        ),
        ("a.rst", "See `big book <manual_>`_.\n\n.. _manual: m.rst\n", &[("m.rst", "big book")]),
        ("a.rst", "See :doc:`User handbook </guide/b>`.\n", &[("/guide/b", "User handbook")]),
        ("a.rst", "See :ref:`User handbook <label>`.\n", &[("#label", "User handbook")]),
        // Code, text in backticks, a name without a target, a target of its own, a name of code, another site.
        (
            "a.rst",
            "Use ``a <b>`_``, `c d <e f>`, `Old way`_, snake_case and :func:`x y`.\n\n.. _snake:\n",
            &[],
        ),
        ("a.rst", "`User handbook <https://x.org>`_\n", &[]),
        ("a.adoc", "See xref:b.adoc#x[User handbook].\n", &[("b.adoc#x", "User handbook")]),
        (
            "a.adoc",
            "(link:b.html[User handbook,role=x]) <<c.adoc#,Style rules>>\n",
            &[("b.html", "User handbook"), ("c.adoc#", "Style rules")],
        ),
        (
            "a.adoc",
            "See <<install,Set it up>> and xref:run[Run it now].\n",
            &[("#install", "Set it up"), ("#run", "Run it now")],
        ),
        (
            "a.adoc",
            "----\nxref:b.adoc[User handbook]\n----\n\nhttps://x.org[User handbook], a[User handbook]\n",
            &[],
        ),
        (
            "a.org",
            "See [[file:b.org::*Set up][User handbook]].\n",
            &[("b.org#Set up", "User handbook")],
        ),
        (
            "a.org",
            "[[./b.org::#x][User handbook]] [[b.org::some words][Style rules]]\n",
            &[("./b.org#x", "User handbook"), ("b.org", "Style rules")],
        ),
        (
            "a.org",
            "[[*Set up][First steps]] [[#run][Run it now]]\n",
            &[("#Set up", "First steps"), ("#run", "Run it now")],
        ),
        (
            "a.org",
            "#+begin_src sh\n[[b.org][User handbook]]\n#+end_src\n[[https://x.org][User handbook]] [[b.org]]\n",
            &[],
        ),
    ] {
        let links = links_of(path, text);
        let links: Vec<(&str, &str)> =
            links.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(links, want, "{text}");
    }
}

#[test]
fn a_link_in_any_markup_names_the_record_that_it_leads_to() {
    let texts = [
        ("a.md", "[One way to say it](z.rst#install-it)"),
        ("b.rst", "`Two ways to say it <z.html#install-it>`_"),
        ("c.adoc", "xref:z.rst#install-it[Three ways to say it]"),
        ("d.org", "[[file:z.rst::*Install it][Four ways to say it]]"),
        ("e.html", "<a href='z.html#install-it'>Five ways to say it</a>"),
    ];
    let places = Places::new(texts.iter().map(|(path, _)| *path).chain(["z.rst"]));
    let mut calls = Calls::default();
    for (path, text) in texts {
        calls.add(&places, path, &links_of(path, text));
    }
    let mut document = read_text("z.rst", "Guide\n=====\n\nText.\n\nInstall it\n----------\n\nx\n");
    document.place_in(&calls.finish(&places)["z.rst"]);
    assert_eq!(triggers(&document.records[0]), "d:Guide");
    let triggers = triggers(&document.records[1]);
    for word in ["One way", "Two ways", "Three ways", "Four ways", "Five ways"] {
        assert!(triggers.contains(&format!("d:{word} to say it")), "{triggers}");
    }
}

#[test]
fn the_words_that_most_files_use_come_first_and_are_few() {
    let paths: Vec<String> = (0..30).map(|n| format!("{n:02}.md")).collect();
    let places = Places::new(paths.iter().map(String::as_str));
    let mut calls = Calls::default();
    for (n, path) in paths.iter().enumerate() {
        let mut links = vec![("00.md#x".to_owned(), format!("Name {n}"))];
        if n % 2 == 0 {
            links.push(("00.md#x".to_owned(), "Many times".to_owned()));
        }
        if n % 5 == 0 && n > 0 {
            links.push(("00.md#x".to_owned(), "many times!".to_owned()));
        }
        calls.add(&places, path, &links);
    }
    let around = calls.finish(&places);
    let texts: Vec<&str> = around["00.md"].calls.iter().map(|call| call.text.as_str()).collect();
    assert_eq!(texts.len(), 8);
    assert_eq!(texts[..3], ["Many times", "Name 1", "Name 10"]);
}

#[test]
fn a_record_is_selected_by_what_links_call_it() {
    let text = "# Guide\n\nText.\n\n## Undo it\n\n### Short\n\nx\n\n## Written\n\n<!-- psos\ntriggers: [take back]\n-->\n";
    let mut document = read_text("a.md", text);
    let call = |anchor: &str, text: &str| Call { anchor: anchor.into(), text: text.into() };
    let calls = vec![
        call("", "the handbook"),
        call("", "Guide"),
        call("guide", "start of it"),
        call("undo-it", "going back"),
        call("Undo it", "revert"),
        call("short", "the short way"),
        call("written", "given back"),
        call("gone", "nothing"),
    ];
    document.place_in(&Around { calls, skill: None });
    assert_eq!(triggers(&document.records[0]), "d:Guide | d:the handbook | d:start of it");
    assert_eq!(
        triggers(&document.records[1]),
        "d:Undo it | d:Short | d:going back | d:revert | d:the short way"
    );
    // Whoever wrote triggers has said what it is called.
    assert_eq!(triggers(&document.records[2]), "a:take back | d:Written");
}

#[test]
fn aliases_and_redirects_are_names() {
    let text = "---\ntitle: Guide\naliases: [handbook, /docs/old-guide/]\nredirect_from:\n  - /manual.html\n  - /docs/index.html\n---\nText.\n";
    assert_eq!(
        triggers(&read_text("a.md", text).records[0]),
        "d:Guide | d:handbook | d:old guide | d:manual"
    );
    let text = "---\nredirect_from: /a/the_old_page\n---\n# Guide\n";
    assert_eq!(triggers(&read_text("a.md", text).records[0]), "d:Guide | d:the old page");
}

#[test]
fn a_file_belongs_to_the_nearest_skill_above_it() {
    let places = Places::new([
        "SKILL.md",
        "README.md",
        "skills/pdf/SKILL.md",
        "skills/pdf/references/forms.md",
        "skills/pdf/inner/SKILL.md",
        "skills/pdf/inner/scripts/fill.py",
        "skills/other.md",
    ]);
    let around = Calls::default().finish(&places);
    let skills: Vec<(&str, Option<&str>)> =
        around.iter().map(|(path, it)| (path.as_str(), it.skill.as_deref())).collect();
    assert_eq!(
        skills,
        [
            ("skills/pdf/inner/scripts/fill.py", Some("inner")),
            ("skills/pdf/references/forms.md", Some("pdf")),
        ]
    );
    let mut document =
        read_text("skills/pdf/references/forms.md", "# Forms\n\nx\n\n## Fill\n\ny\n");
    document.place_in(&around["skills/pdf/references/forms.md"]);
    assert_eq!(document.records[0].breadcrumb, ["pdf"]);
    assert_eq!(document.records[1].breadcrumb, ["pdf", "Forms"]);
}

#[test]
fn a_text_of_nothing_but_brackets_is_read_once() {
    // Postmortem: the end of a link was looked for up to the end of the text, from each bracket anew. This took minutes.
    for sign in ["[", "[[", "[[a ", "<<", "link:a[", "xref:a[b", "`a <", "a_", "]"] {
        for path in ["a.md", "a.rst", "a.adoc", "a.org", "a.html"] {
            let text = sign.repeat(100_000 / sign.len());
            assert_eq!(read_checked(path, &text).links, [], "{path}: {sign}");
        }
    }
}
