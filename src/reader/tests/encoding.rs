//! Claims about files that are not UTF-8.

use super::{check_invariants, options, outline, remarks};
use crate::reader::{Document, Input, read};
use expect_test::expect;

fn read_bytes(bytes: &[u8]) -> Document {
    let document = read(&Input { path: "a.md", bytes, sidecar: None }, &options());
    check_invariants(bytes, &document);
    document
}

fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

const TEXT: &str = "# \u{dc}ber\n\nGr\u{fc}\u{df}e an alle, sch\u{f6}n.\n\n## Zwei\n\nMehr Text.\n";

#[test]
fn utf_16_is_read_with_and_without_a_mark() {
    let marked = format!("\u{feff}{TEXT}");
    for bytes in [
        utf_16(&marked, u16::to_le_bytes),
        utf_16(&marked, u16::to_be_bytes),
        utf_16(TEXT, u16::to_le_bytes),
        utf_16(TEXT, u16::to_be_bytes),
    ] {
        let document = read_bytes(&bytes);
        assert!(document.records[0].shown().starts_with("# \u{dc}ber"));
        assert_eq!(document.records[1].id.as_str(), "a.md#zwei");
        let at = &document.records[1].span.bytes;
        assert_eq!((at.end - at.start, at.end), (40, bytes.len() as u64));
    }
}

#[test]
fn latin_1_is_guessed_and_said_so() {
    let bytes: Vec<u8> = TEXT.chars().map(|c| c as u8).collect();
    let document = read_bytes(&bytes);
    expect![[r#"
        file    # [Über] () 1-4 children 1
        section #zwei [Zwei] (Über) 5-7 children 0
    "#]]
    .assert_eq(&outline(&document));
    expect![[r#"
        a.md:1:1 not UTF-8: read as windows-1252, a guess (save the file as UTF-8)
    "#]]
    .assert_eq(&remarks(&document));
    assert!(document.records[0].detail.contains("Gr\u{fc}\u{df}e"));
    assert_eq!(document.records[1].span.bytes.end, bytes.len() as u64);
}

#[test]
fn a_broken_byte_in_utf_8_costs_that_byte() {
    let mut bytes = TEXT.as_bytes().to_vec();
    bytes.splice(20..20, [0xff]);
    let document = read_bytes(&bytes);
    expect![[r#"
        a.md:3:1 not UTF-8: 1 byte sequences are shown as U+FFFD (save the file as UTF-8)
    "#]]
    .assert_eq(&remarks(&document));
    assert!(document.records[0].detail.contains('\u{fffd}'));
}

#[test]
fn a_binary_file_has_no_records() {
    let document = read_bytes(b"\x7fELF\x02\x01\x01\0\0\0\xff\xfe\0");
    assert_eq!(document.records, []);
    expect![[r#"
        a.md:1:1 not text: it holds NUL bytes (leave it out with .psosignore)
    "#]]
    .assert_eq(&remarks(&document));
}

#[test]
fn places_are_found_behind_bytes_that_no_encoding_has() {
    // Found by fuzzing: the place of the last row was counted in the bytes that the replaced characters would be
    // encoded to, and so lay behind the end of its line.
    let bytes = b"\xbf\xcea;\"\r\n1\x03\xe8\xba.\x8b\xa2\xe8\xba;fatal error:\"ope\r@\n";
    let document = read(&Input { path: "a.csv", bytes, sidecar: None }, &options());
    check_invariants(bytes, &document);
    assert!(!document.records.is_empty());
}
