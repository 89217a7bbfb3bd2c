//! What is sent and what is declared is what was meant, whatever does not fit.

use proptest::prelude::*;

use super::*;

fn span(n: usize, text: &str, rule: Rule) -> Span {
    Span {
        label: format!("f{n}.md:5-9"),
        text: text.to_owned(),
        first_line: 5,
        rule,
        kind: SpanKind::Source,
        get: format!("psos get f{n}.md"),
    }
}

fn intended<'a>(
    spans: &'a [Span],
    carried: &'a BTreeMap<SpanKey, Carried>,
    max_tokens: u32,
) -> Intended<'a> {
    Intended {
        prefix: "rules",
        digest: "known",
        spans,
        carried,
        ask: "do it",
        max_tokens,
        mode: Mode::Reduce,
    }
}

/// The bytes that an input accounts for of one span: the naive way.
fn accounted(input: &Input, span: &Span) -> Vec<u64> {
    let label = &span.label;
    let sent = input.sent.iter().filter(|sent| sent.label == *label).map(|sent| &sent.bytes);
    let gone = input.omitted.iter().filter(|gone| gone.label == *label).map(|gone| &gone.bytes);
    let mut bytes: Vec<u64> = sent.chain(gone).flat_map(Clone::clone).collect();
    bytes.sort_unstable();
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn sent_and_omitted_are_together_exactly_what_was_meant(
        texts in prop::collection::vec(("([a-z \u{e4}]{0,12}\n?){0,12}", any::<bool>(), 0_usize..60), 0..5),
        max_tokens in 20_u32..200,
    ) {
        let spans: Vec<Span> = texts.iter().enumerate()
            .map(|(n, (text, lines, _))| span(n, text, if *lines { Rule::Lines } else { Rule::Whole }))
            .collect();
        let carried: BTreeMap<SpanKey, Carried> = texts.iter()
            .filter(|(text, _, bytes)| *bytes <= text.len() && text.is_char_boundary(*bytes))
            .map(|(text, _, bytes)| (SpanKey::of(text), Carried { bytes: *bytes as u64, by: "step s1".into() }))
            .collect();
        let intended = intended(&spans, &carried, max_tokens);
        match assemble(&intended) {
            Err(InputError::Fixed { counted, .. }) => prop_assert!(counted > max_tokens),
            Err(error) => prop_assert!(false, "{error}"),
            Ok(input) => {
                prop_assert_eq!(input.counted, count(&input.messages));
                prop_assert!(input.counted <= max_tokens);
                let delta = &input.messages.last().unwrap().content;
                for span in &spans {
                    let all: Vec<u64> = (0..span.text.len() as u64).collect();
                    prop_assert_eq!(accounted(&input, span), all);
                }
                for sent in &input.sent {
                    let span = spans.iter().find(|span| span.label == sent.label).unwrap();
                    let range = usize::try_from(sent.bytes.start).unwrap()..usize::try_from(sent.bytes.end).unwrap();
                    prop_assert!(delta.contains(&span.text[range]));
                }
                for gone in &input.omitted {
                    let how = format!("[left out: lines {}-{}, {} tokens; ", gone.lines.0, gone.lines.1, gone.tokens);
                    prop_assert!(delta.contains(&how), "{delta} has not {how}");
                }
                let strict = assemble(&Intended { mode: Mode::Strict, ..intended });
                let cut = input.omitted.iter().any(|gone| gone.why == Why::TooLong);
                prop_assert_eq!(strict.is_err(), cut);
                let ends_with_tail = delta.ends_with(&format!("\ntail: {}", input.tail));
                prop_assert!(ends_with_tail);
            }
        }
    }
}

#[test]
fn a_long_span_is_read_piece_by_piece_and_no_line_twice() {
    let lines: Vec<String> = (0..200).map(|n| format!("line number {n}\n")).collect();
    let text = lines.concat();
    let spans = [span(0, &text, Rule::Lines)];
    let mut carried = BTreeMap::new();
    let mut read = String::new();
    for call in 0..20 {
        let input = assemble(&intended(&spans, &carried, 300)).unwrap();
        let sent = &input.sent[0];
        let at = |bytes| usize::try_from(bytes).unwrap();
        let (from, to) = (at(sent.bytes.start), at(sent.bytes.end));
        assert_eq!(from, read.len());
        read.push_str(&text[from..to]);
        carried.insert(
            sent.key.clone(),
            Carried { bytes: sent.bytes.end, by: format!("step {call}") },
        );
        if sent.complete {
            break;
        }
    }
    assert_eq!(read, text);
}

#[test]
fn the_prefix_the_digest_and_the_request_are_never_cut() {
    let words = "some words that do not fit ".repeat(20);
    let spans = [span(0, &words, Rule::Lines)];
    let none = BTreeMap::new();
    let input = assemble(&intended(&spans, &none, 80)).unwrap();
    assert_eq!(input.messages[0].content, "rules");
    assert_eq!(input.messages[1].content, "known");
    assert!(input.sent.is_empty());
    let refused = assemble(&intended(&spans, &none, 10));
    assert!(matches!(refused, Err(InputError::Fixed { .. })), "{refused:?}");
}

#[test]
fn the_tail_depends_on_all_of_the_input() {
    let none = BTreeMap::new();
    let one = assemble(&intended(&[span(0, "a", Rule::Lines)], &none, 500)).unwrap();
    let other = assemble(&intended(&[span(0, "b", Rule::Lines)], &none, 500)).unwrap();
    assert_ne!(one.tail, other.tail);
    assert_eq!(one.prefix_hash, other.prefix_hash);
    assert_ne!(one.hash, other.hash);
}
