//! Claims about data inside text: it is kept, and no word of it is looked for.

use super::read_checked;
use crate::record::{Kind, Record};

#[test]
fn encoded_bytes_are_kept_in_the_detail_and_left_out_of_the_index() {
    let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAUA".repeat(40);
    let minified = "function(a){return a.b.c(d,e)};".repeat(200);
    for (path, text) in [
        ("a.md", format!("# Logo\n\nThe picture:\n\n![logo](data:image/png;base64,{base64})\n")),
        ("a.jsonl", format!("{{\"id\": \"a\", \"text\": \"The picture: {base64}\"}}\n")),
        ("a.csv", format!("id,text\na,The picture: {base64}\n")),
        ("a.txt", format!("The picture:\n{base64}\n")),
        ("a.yaml", format!("- id: a\n  text: The picture\n  data: {base64}\n")),
    ] {
        let document = read_checked(path, &text);
        let record = &document.records[0];
        assert!(record.detail.contains(&base64), "{path}");
        assert!(record.indexed().contains("picture"), "{path}");
        assert!(!record.indexed().contains("iVBORw0KGgo"), "{path}");
    }
    for (path, text) in [
        ("a.js", format!("// The picture.\n{minified}\nfunction g() {{}}\n")),
        ("a.md", format!("# The picture\n\n```js\n{minified}\n```\n")),
    ] {
        let document = read_checked(path, &text);
        let shown: String = document.records.iter().map(Record::shown).collect();
        let indexed: String = document.records.iter().map(Record::indexed).collect();
        assert!(shown.contains("function(a){return a.b.c(d,e)};"), "{path}");
        assert!(indexed.contains("picture") && !indexed.contains("a.b.c"), "{path}: {indexed}");
    }
}

// Postmortem: a bundle without `.min.` in its name had a record for each of its three thousand functions.
#[test]
fn minified_source_has_no_items() {
    let class = |n| format!("class f{n}{{g(b,c){{return b.x(c)+this.h({n})}}}}");
    let bundle = (0..3000).map(class).collect::<Vec<String>>().concat();
    let document = read_checked("bundle.js", &bundle);
    assert!(document.records.iter().all(|record| record.kind != Kind::Item));
    assert!(!document.records.iter().any(|record| record.indexed().contains("f1234")));
    let written = "function f(b, c) {\n  return b + c;\n}\n".repeat(3);
    assert!(read_checked("a.js", &written).records.iter().any(|record| record.kind == Kind::Item));
}
