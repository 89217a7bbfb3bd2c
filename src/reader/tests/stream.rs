//! Claims about files that are read piece by piece.

use super::{check_invariants, options, read_checked, read_text, remarks};
use crate::reader::stream::{self, Bounds, LONG_TEXT};
use crate::reader::{Document, Sidecar, Stream, Survey, is_streamed};
use expect_test::expect;

/// What is small enough for a test.
const SMALL: Bounds = Bounds { piece_bytes: 1_000, row_bytes: 20_000 };
/// As if there were no pieces.
const WHOLE: Bounds = Bounds { piece_bytes: usize::MAX, row_bytes: usize::MAX };

/// Reads a file that comes in pieces of some size.
fn read_in_pieces(path: &str, bytes: &[u8], n_bytes: usize, bounds: Bounds) -> Document {
    read_beside(path, bytes, None, n_bytes, bounds)
}

fn read_beside(
    path: &str,
    bytes: &[u8],
    sidecar: Option<Sidecar<'_>>,
    n_bytes: usize,
    bounds: Bounds,
) -> Document {
    let options = options();
    let mut survey = Survey::new();
    for piece in bytes.chunks(n_bytes) {
        survey.push(piece);
    }
    let mut stream = Stream::new(path, survey, sidecar, &options).bounded(bounds);
    let mut records = Vec::new();
    for piece in bytes.chunks(n_bytes) {
        records.append(&mut stream.push(piece));
    }
    let (mut rest, diagnostics) = stream.finish();
    records.append(&mut rest);
    Document { records, diagnostics, ..Document::default() }
}

/// Rows of CSV, some of them over several lines, with errors and blank lines among them.
fn table(n_rows: usize) -> String {
    let mut text = String::from("id,title,text\n");
    for n in 0..n_rows {
        match n % 7 {
            3 => text.push_str("\n\n"),
            5 => text.push_str(&format!("{n},short\n")),
            6 => text.push_str(&format!("{n},\"Head, {n}\",\"two \"\"lines\"\"\n\nof it\"\r\n")),
            _ => text.push_str(&format!("{n},Head {n},Text of the row that is number {n}\n")),
        }
    }
    text
}

fn lines(n_rows: usize) -> String {
    let mut text = String::new();
    for n in 0..n_rows {
        match n % 5 {
            2 => text.push_str("{\"bad\n"),
            3 => text.push_str(&format!("{{\"text\": \"Row without a key, number {n}.\"}},\r\n")),
            _ => text
                .push_str(&format!("{{\"id\": {}, \"text\": \"Gr\u{fc}\u{df}e {n}.\"}}\n", n / 2)),
        }
    }
    text
}

fn log(n_lines: usize) -> String {
    let mut text = String::new();
    for n in 0..n_lines {
        text.push_str(&format!(
            "2026-01-01 12:00:00 INFO request {n} \u{2713} took {} ms\n",
            n % 97
        ));
        if n % 50 == 49 {
            text.push('\n');
        }
    }
    text
}

#[test]
fn how_a_file_is_cut_into_pieces_makes_no_difference() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let marked = |text: &str| wide(&format!("\u{feff}{text}"));
    for (path, bytes) in [
        ("r.jsonl", lines(300).into_bytes()),
        ("r.csv", table(300).into_bytes()),
        ("r.log", log(500).into_bytes()),
        ("r.jsonl", marked(&lines(200))),
        ("r.log", marked(&log(300))),
        ("r.csv", wide(&table(200))),
        ("r.csv", table(3).into_bytes()),
        ("r.jsonl", Vec::new()),
    ] {
        let whole = read_in_pieces(path, &bytes, usize::MAX, WHOLE);
        check_invariants(&bytes, &whole);
        for (n_bytes, piece_bytes) in [(64, 1_000), (1_001, 1_000), (5_000, 1_000), (999, 4_096)] {
            let pieces = read_in_pieces(path, &bytes, n_bytes, Bounds { piece_bytes, ..WHOLE });
            assert!(pieces == whole, "{path} of {} bytes in pieces of {n_bytes}", bytes.len());
        }
    }
}

#[test]
fn text_is_streamed_when_it_is_long_and_rows_give_the_same_either_way() {
    for (path, n_bytes, want) in [
        ("a.jsonl", 100, false),
        ("a.jsonl", LONG_TEXT + 1, true),
        ("a.log", LONG_TEXT, false),
        ("a.md", LONG_TEXT + 1, false),
        ("a.md", stream::TOO_LONG + 1, true),
        ("a.json", stream::TOO_LONG + 1, true),
    ] {
        assert_eq!(is_streamed(path, n_bytes), want, "{path} {n_bytes}");
    }
    let text = table(50);
    let pieces = read_in_pieces("a.csv", text.as_bytes(), 64, SMALL);
    assert_eq!(pieces, read_text("a.csv", &text));
}

#[test]
fn a_long_log_is_parts_that_name_the_first() {
    let text = log(1_000);
    let document = read_in_pieces("a/server.log", text.as_bytes(), 700, SMALL);
    check_invariants(text.as_bytes(), &document);
    let [first, second, ..] = document.records.as_slice() else { panic!() };
    assert_eq!((first.id.as_str(), first.title.as_str()), ("a/server.log", "server"));
    assert_eq!(second.id.as_str(), "a/server.log#~2");
    assert_eq!(second.title, "server (2)");
    assert_eq!(second.breadcrumb, ["server"]);
    assert!(document.records.iter().all(|it| it.detail.len() <= 4_500));
    // Nothing is lost but blank parts.
    let n_bytes: usize = document.records.iter().map(|it| it.detail.len()).sum();
    assert_eq!(n_bytes, text.len());
    assert_eq!(remarks(&document), "");
}

#[test]
fn a_line_of_ten_megabytes_is_a_row() {
    let long = " ".repeat(10 << 20);
    let text =
        format!("{{\"id\": \"a\",{long}\"text\": \"x\"}}\n{{\"id\": \"b\", \"text\": \"x\"}}\n");
    let document = read_checked("r.jsonl", &text);
    let ids: Vec<&str> = document.records.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["r.jsonl#a", "r.jsonl#b"]);
    assert_eq!(remarks(&document), "");
    for path in ["a.log", "a.md", "a.rs", "a.html", "a.yaml", "a.rst", "a.csv", "a.json"] {
        // Parsers take their time without optimisation.
        let n_bytes = if path == "a.log" { long.len() } else { 200_000 };
        let text = format!("a{}b", &long[..n_bytes]);
        let document = read_checked(path, &text);
        assert!(!document.records.is_empty(), "{path}");
    }
}

#[test]
fn a_line_past_all_bounds_costs_that_line() {
    let long = "x".repeat(50_000);
    let text =
        format!("{{\"id\": \"a\", \"text\": \"y\"}}\n{{\"id\": \"{long}\"}}\n{{\"id\": \"b\"}}\n");
    let document = read_in_pieces("r.jsonl", text.as_bytes(), 512, SMALL);
    check_invariants(text.as_bytes(), &document);
    let ids: Vec<&str> = document.records.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["r.jsonl#a", "r.jsonl#b"]);
    assert_eq!(document.records[1].span.lines.first, 3);
    expect![[r#"
        r.jsonl:2:1 line is longer than 20000 bytes (a row this long is found by no question)
    "#]]
    .assert_eq(&remarks(&document));
    // Text has no rows; it is cut, and nothing of it is lost.
    let document = read_in_pieces("a.log", long.as_bytes(), 512, SMALL);
    check_invariants(long.as_bytes(), &document);
    assert_eq!(document.records.iter().map(|it| it.detail.len()).sum::<usize>(), long.len());
}

#[test]
fn a_quote_that_nothing_closes_costs_its_line() {
    let rows = "3,fine\n".repeat(4_000);
    let text = format!("id,text\n1,\"two\nlines\"\n2,\"open\n{rows}");
    for bounds in [SMALL, WHOLE] {
        let document = read_in_pieces("r.csv", text.as_bytes(), 1_024, bounds);
        assert_eq!(document.records.len(), 4_001);
        let first = &document.diagnostics[0];
        assert_eq!(first.message, "a quote opens on this line that nothing closes");
        assert_eq!(first.line, 4);
    }
    // A quote closes at the next one, whose row is the one that suffers.
    let short = "id,text\n1,\"open\n2,x\n3,\"y\"\n4,z\n";
    let document = read_text("r.csv", short);
    check_invariants(short.as_bytes(), &document);
    let ids: Vec<&str> = document.records.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["r.csv#1", "r.csv#4"]);
}

#[test]
fn entries_of_a_sidecar_reach_rows_of_every_piece() {
    let text = lines(300);
    let sidecar =
        "\"149\":\n  triggers: [the last]\n\"3\":\n  triggers: [the first]\nnone:\n  summary: s\n";
    let sidecar = Sidecar { path: "r.jsonl.psos.yaml", bytes: sidecar.as_bytes() };
    let document = read_beside("r.jsonl", text.as_bytes(), Some(sidecar), 300, SMALL);
    let of = |id: &str| document.records.iter().find(|it| it.id.as_str() == id).unwrap();
    assert_eq!(of("r.jsonl#149").triggers[0].phrase, "the last");
    assert_eq!(of("r.jsonl#3").triggers[0].phrase, "the first");
    assert!(document.diagnostics.iter().any(|it| it.message == "no record has the anchor `none`"));
}
