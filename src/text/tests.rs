//! Claims about words, phrases, languages and token counts.

use super::{
    Language, count, count_block, count_json, count_word, cut_to_tokens, fold, phrase, terms,
};

fn english(text: &str) -> String {
    terms(text, Language::English).join(" ")
}

#[test]
fn names_are_indexed_whole_and_in_parts() {
    for (text, want) in [
        ("HTTPServer2", "httpserver2 http server 2"),
        ("snake_case", "snake_case snake case"),
        ("gpt-4", "gpt-4 gpt 4"),
        ("2026.4.10", "2026.4.10 2026 4 10"),
        ("k8s", "k8s 8"),
        ("C# and C++", "c# c and c++ c"),
        ("utf8.", "utf8 utf 8"),
        ("user@example.org", "user@example.org user exampl org"),
        ("end. Start", "end start"),
        ("don't Anna's", "dont anna"),
        ("running runs", "run run"),
        ("--soft HEAD~1", "soft head 1"),
    ] {
        assert_eq!(english(text), want, "{text}");
    }
}

#[test]
fn composed_and_decomposed_letters_are_the_same_word() {
    assert_eq!(english("caf\u{e9}"), english("cafe\u{301}"));
    assert_eq!(fold("\u{130}stanbul"), "istanbul");
    assert_eq!(fold("STRASSE"), fold("stra\u{df}e"));
    assert_eq!(fold("\u{39f}\u{394}\u{39f}\u{3a3}"), fold("\u{3bf}\u{3b4}\u{3bf}\u{3c2}"));
    assert_eq!(english("\u{ff12}\u{ff10}"), "20");
}

#[test]
fn scripts_without_spaces_become_characters_and_pairs() {
    assert_eq!(
        english("\u{9ed1}\u{8c79}\u{961f}"),
        "\u{9ed1} \u{9ed1}\u{8c79} \u{8c79} \u{8c79}\u{961f} \u{961f}"
    );
    assert!(terms("\u{e01}\u{e32}\u{e23}", Language::Other).len() >= 3);
}

#[test]
fn phrases_keep_names_whole() {
    assert_eq!(phrase("  Undo `git reset --soft HEAD~1`! "), "undo git reset soft head 1");
    assert_eq!(phrase("GPT-4 on K8s"), "gpt-4 on k8s");
    assert_eq!(phrase("can\u{2019}t push"), phrase("can't push"));
    assert_eq!(phrase("?!"), "");
}

#[test]
fn a_language_is_guessed_from_enough_text_only() {
    let german = "Die Verteidigung gab nur wenige Punkte ab und belegte den sechsten Platz in der \
                  Liga, während sie mit vielen abgefangenen Pässen die meisten anderen übertraf.";
    assert_eq!(Language::detect(german), Language::German);
    assert_eq!(Language::detect("git reset"), Language::English);
    assert_eq!(Language::detect(""), Language::English);
    assert_eq!(
        Language::detect("\u{9ed1}\u{8c79}\u{961f}\u{7684}\u{9632}\u{5b88}"),
        Language::Other
    );
}

#[test]
fn words_of_a_language_match_in_its_forms() {
    // A word as it stands in a text, and as a question may have it.
    for (language, pairs) in [
        (
            Language::German,
            &[
                ("Verbindungen", "verbindung"),
                ("STRASSE", "Stra\u{df}e"),
                ("H\u{e4}user", "ha\u{308}user"),
                ("gel\u{f6}schten", "gel\u{f6}schte"),
            ][..],
        ),
        (
            Language::Turkish,
            &[
                ("\u{130}STANBUL", "istanbul"),
                ("dosyalar\u{131}", "dosyalar"),
                ("ba\u{11f}lant\u{131}", "bag\u{306}lant\u{131}"),
                ("kitaplar", "kitap"),
            ],
        ),
        (
            Language::Greek,
            &[
                ("\u{39f}\u{394}\u{39f}\u{3a3}", "\u{3bf}\u{3b4}\u{3bf}\u{3c2}"),
                (
                    "\u{3b1}\u{3c1}\u{3c7}\u{3b5}\u{3af}\u{3b1}",
                    "\u{3b1}\u{3c1}\u{3c7}\u{3b5}\u{3af}\u{3bf}",
                ),
                ("\u{3ad}\u{3bd}\u{3b1}", "\u{3b5}\u{301}\u{3bd}\u{3b1}"),
            ],
        ),
        (Language::French, &[("\u{c9}coles", "e\u{301}cole"), ("serveurs", "serveur")]),
    ] {
        for (text, question) in pairs {
            assert_eq!(terms(text, language), terms(question, language), "{language:?} {text}");
        }
    }
    // Thai has no spaces; a word inside a sentence shares its pairs of characters.
    let sentence = terms(
        "\u{e25}\u{e1a}\u{e44}\u{e1f}\u{e25}\u{e4c}\u{e17}\u{e35}\u{e48}\u{e0b}\u{e49}\u{e33}",
        Language::Other,
    );
    let word = terms("\u{e44}\u{e1f}\u{e25}\u{e4c}", Language::Other);
    assert!(word.len() >= 4 && word.iter().all(|term| sentence.contains(term)), "{word:?}");
    // Names are no words of any language.
    for language in Language::ALL {
        assert!(terms("getUsers_v2", language).contains(&"getusers_v2".to_owned()));
    }
}

#[test]
fn costs_add_up() {
    let texts = [
        "## Head line",
        "text, with a stop.",
        "- a\n- b",
        "fn main() {}",
        "/x/y",
        "  indented\n\n  more",
        "\n\nblank lines first",
        "===",
        "\"quoted\"",
        "1234567",
        "\u{9ed1}\u{8c79}",
        "a\tb",
        "//",
        "\u{1f600}!",
    ];
    for a in texts {
        for b in texts {
            let one = count(&format!("head\n{a}\n\n[2] next 7\n{b}\n\n"));
            let sum = count("head") + count_block(a) + count("[2] next 7") + count_block(b);
            assert_eq!(one, sum, "{a:?} {b:?}");
            let quote = |text: &str| serde_json::Value::from(text).to_string();
            let json = count(&format!("{{\"a\": {}, \"b\": {}, \"c\": 1", quote(a), quote(b)));
            let glue = count("{\"a\":") + count(" \"b\":") + count(" \"c\": 1");
            assert_eq!(json, glue + count_json(a) + count_json(b), "{a:?} {b:?}");
        }
        if !a.contains(char::is_whitespace) {
            assert_eq!(
                count(&format!("[1] {a} lines 3")),
                count("[1]") + count_word(a) + count(" lines 3")
            );
        }
    }
}

#[test]
fn a_cut_text_fits() {
    let text = "one two three four five six seven";
    assert_eq!(cut_to_tokens(text, 100), text);
    assert_eq!(cut_to_tokens(text, 3), "one two three");
    assert!(count(cut_to_tokens(&"x".repeat(500), 7)) <= 7);
    assert_eq!(cut_to_tokens("", 5), "");
}
