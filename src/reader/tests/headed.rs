//! Claims about markup other than Markdown.

use super::{long, outline, read_checked, triggers};
use expect_test::{Expect, expect};

fn check(path: &str, text: &str, want: Expect) {
    let text = long(text);
    let document = read_checked(path, &text);
    assert_eq!(document.diagnostics, []);
    let mut got = outline(&document);
    for record in &document.records {
        got.push_str(&format!("{}\n  {}\n", triggers(record), record.description.text));
    }
    want.assert_eq(&got);
}

#[test]
fn titles_of_restructured_text_are_underlined() {
    check(
        "a.rst",
        "=====\nGuide\n=====\n\nWhat it is about, in short.\n\n.. _install-it:\n\nInstall\n-------\n\nUse :func:`setup` and ``pip install x``::\n\n   pip install x\n\n.. note:: Careful.\n\nDeep\n~~~~\n\n* item one%%\n\nUse it\n------\n\n====  ====\na     b\n====  ====\n\n----\n",
        expect![[r#"
            file    # [Guide] () 1-6 children 2
            section #install-it [Install] (Guide) 7-17 children 1
            section #deep [Deep] (Guide > Install) 18-22 children 0
            section #use-it [Use it] (Guide) 23-30 children 0
            d:Guide
              What it is about, in short.
            d:Install | d:pip install x | d:setup
              Use `setup` and `pip install x`: pip install x
            d:Deep
              Deep: item one
            d:Use it
              Use it: a b
        "#]],
    );
}

#[test]
fn headings_of_asciidoc_have_equals_signs() {
    check(
        "a.adoc",
        "= Guide\n:toc:\n\nWhat it is about, in short.\n\n[[install]]\n== Install it\n\n[source,sh]\n----\n== no heading\n----\n\nRun `make` to build everything.\n\n=== Deep\n\n* item%%\n\n[#use.big]\n== Use\n\n////\n== no\n////\n",
        expect![[r#"
            file    # [Guide] () 1-5 children 2
            section #install [Install it] (Guide) 6-15 children 1
            section #deep [Deep] (Guide > Install it) 16-19 children 0
            section #use [Use] (Guide) 20-25 children 0
            d:Guide
              What it is about, in short.
            d:Install it | d:make
              Run `make` to build everything.
            d:Deep
              Deep: item
            d:Use
              Use
        "#]],
    );
}

#[test]
fn headings_of_org_have_stars() {
    check(
        "a.org",
        "#+TITLE: Guide\n\nWhat it is about, in short.\n\n* TODO [#A] Install it :tag:work:\n:PROPERTIES:\n:CUSTOM_ID: install\n:END:\nRun =make all= and ~cargo~, see [[https://x.org][the page]].\n#+BEGIN_SRC sh\n* no\n#+END_SRC\n** Deep\n- item%%\n* Use\n",
        expect![[r#"
            file    # [Guide] () 1-4 children 2
            section #install [Install it] (Guide) 5-12 children 1
            section #deep [Deep] (Guide > Install it) 13-14 children 0
            section #use [Use] (Guide) 15-15 children 0
            d:Guide
              What it is about, in short.
            d:Install it | d:make all | d:cargo
              Run `make all` and `cargo`, see the page.
            d:Deep
              Deep: item
            d:Use
              Use
        "#]],
    );
}

#[test]
fn a_page_of_html_is_shown_as_text() {
    let text = "<!DOCTYPE html>\n<html><head><title>Guide &amp; more</title>\n<meta name=description content=\"What it is for.\">\n<style>h1 {}</style></head>\n<body><nav><a href=x>Home</a></nav>\n<p>It is about <b>things</b> &lt;here&gt;.\n<h2 id=\"install\">Install <code>it</code></h2>\n<p>Run <code>make all</code>, see\n<a href=\"b.html#x\">the page</a>.</p>\n<pre>make all\n  x < y</pre>\n<ul><li>one<li>two</ul>\n<script>if (a<b) {}</script>\n<table><tr><th>A<th>B<tr><td>1<td>2</table>\n<h3>Deep</h3># no heading\n</body></html>\n";
    let document = read_checked("a.html", text);
    assert_eq!(document.diagnostics, []);
    let shown: Vec<String> = document
        .records
        .iter()
        .map(|it| format!("== {}: {}\n{}\n", triggers(it), it.description.text, it.shown()))
        .collect();
    expect![[r#"
        file    # [Guide & more] () 1-6 children 1
        section #install [Install it] (Guide & more) 7-16 children 0
        == d:Guide & more: What it is for.
        It is about **things** <here>.
        == d:Install it | d:Deep | d:make all: Run `make all`, see the page.
        ## Install `it`

        Run `make all`, see [the page](b.html#x).

        ~~~~
        make all
          x < y
        ~~~~

        - one
        - two

        A | B

        1 | 2

        ### Deep

        \# no heading
    "#]]
    .assert_eq(&(outline(&document) + &shown.concat()));
    let links: Vec<&str> = document.links.iter().map(|it| it.target.as_str()).collect();
    assert_eq!(links, ["b.html#x"]);
}
