//! Claims about formats, counted with the real tokenizer:
//! 1. no answer costs more than its parts were priced at, whatever stands in it;
//! 2. the widest skeletons cost what the constants say, and not much less;
//! 3. a run has six columns and strictly decreasing scores;
//! 4. JSON is JSON, with its keys in the order of the schema.

use proptest::prelude::*;

use crate::recall::{
    Answer, Budget, Depth, Explanation, Format, Hit, Omitted, Price, SourceState, Why,
};
use crate::record::{Kind, Lines, Record, RecordId, Span, Tier, TierText};
use crate::store::Head;
use crate::text::{Language, count};

const FORMATS: [Format; 5] =
    [Format::Text, Format::Markdown, Format::Json, Format::Paths, Format::Trec];

/// A record of which everything that is shown is given.
fn head(id: &str, path: &str, lines: Lines, tiers: [&str; 3]) -> Head {
    let [description, summary, detail] = tiers;
    Head::of(&Record {
        id: RecordId::from_text(id),
        path: path.to_owned(),
        kind: Kind::Section,
        title: "T".to_owned(),
        breadcrumb: Vec::new(),
        scope: String::new(),
        span: Span { bytes: 0..1, lines },
        language: Language::English,
        triggers: Vec::new(),
        description: TierText::derived(description),
        summary: TierText::derived(summary),
        detail: detail.to_owned(),
        hidden: Vec::new(),
        body: Some(detail.to_owned()),
        children: Vec::new(),
    })
}

/// How many copies of a record are listed with it: none or a few, whichever its id says.
fn n_copies(head: &Head) -> usize {
    head.id.as_str().len() % 4
}

fn price_of(format: Format, head: &Head, tag: &str) -> Price {
    format.price(head, &vec![head.label; n_copies(head)], tag)
}

/// A hit whose numbers are at their widest.
fn hit(head: &Head, tier: Tier, text: &str) -> Hit {
    Hit {
        rank: 10_000,
        id: head.id.clone(),
        path: head.path.clone(),
        lines: head.span.lines,
        kind: head.kind,
        title: head.title.clone(),
        tier,
        complete: tier == Tier::Detail,
        score: -123_456.789_012,
        why: Why::Trigger,
        text: text.to_owned(),
        detail_tokens: head.cost(Tier::Detail).text,
        source: SourceState::Missing,
        copies: vec![head.id.clone(); n_copies(head)],
        n_more_copies: if n_copies(head) > 0 { 9_999 } else { 0 },
        explanation: Explanation::default(),
    }
}

fn answer(query: &str, results: Vec<Hit>, ids: Vec<RecordId>) -> Answer {
    Answer {
        query: query.to_owned(),
        budget: Budget::UNLIMITED,
        tokens_used: u32::MAX,
        total: 999_999_999_999,
        results,
        omitted: Omitted { ids, n_unlisted: u32::MAX, n_past_limit: 999_999_999_999 },
    }
}

/// What an answer with these parts was priced at.
fn priced(
    format: Format,
    answer: &Answer,
    tag: &str,
    shown: &[(Head, Tier)],
    named: &[Head],
) -> u32 {
    let of = |head: &Head| price_of(format, head, tag);
    let tier_cost = |Price { tiers: [description, summary, detail], .. }: Price, tier| match tier {
        Tier::Detail => detail,
        Tier::Summary => summary,
        _ => description,
    };
    format.base_cost(&answer.query, tag)
        + shown.iter().map(|(head, tier)| of(head).frame + tier_cost(of(head), *tier)).sum::<u32>()
        + named.iter().map(|head| of(head).name).sum::<u32>()
}

fn shown_of(parts: &[(Head, Tier, String)]) -> Vec<Hit> {
    parts.iter().map(|(head, tier, text)| hit(head, *tier, text)).collect()
}

/// Text as it comes from files: without white space at its end, and not empty.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9 .,:/#`'\"\\\\(){}\\n-]{1,80}",
        "\\PC{1,40}",
        "[ \\t\\n/\\[]{0,4}[0-9]{1,9}[\\n]{0,3}//[a-z]{0,5}",
        "[\u{4e00}-\u{4e40}\u{3041}-\u{3060}]{1,30}",
    ]
    .prop_map(|text| text.trim_end().to_owned())
    .prop_filter("not empty", |text| !text.is_empty())
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,12}(/[a-zA-Z0-9_. -]{1,12}){0,3}\\.md#[a-z0-9-]{1,30}",
        "\\.?[A-Z]{0,3}[a-z0-9]{1,20}\\.(rs|jsonl)(#[0-9]{1,12})?",
        "[^\\s\\p{C}]{1,20}",
    ]
}

prop_compose! {
    fn record()(
        id in id(), description in text(), summary in text(), detail in text(),
        first in 1_u32.., n in 0_u32..90, tier in 1_usize..4,
    ) -> (Head, Tier, String) {
        let lines = Lines { first, last: first.saturating_add(n) };
        let path = id.split('#').next().unwrap_or_default().to_owned();
        let head = head(&id, &path, lines, [&description, &summary, &detail]);
        let text = [description, summary, detail].into_iter().nth(tier - 1).unwrap_or_default();
        (head, Tier::ALL[tier], text)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_answer_costs_at_most_the_prices_of_its_parts(
        shown in proptest::collection::vec(record(), 0..4), named in proptest::collection::vec(record(), 0..3),
        query in text(), tag in "[a-zA-Z0-9 \"_-]{0,24}",
    ) {
        let prices: Vec<(Head, Tier)> = shown.iter().map(|(head, tier, _)| (head.clone(), *tier)).collect();
        let heads: Vec<Head> = named.iter().map(|(head, ..)| head.clone()).collect();
        let ids = heads.iter().map(|head| head.id.clone()).collect();
        let answer = answer(&query, shown_of(&shown), ids);
        for format in FORMATS {
            let rendered = format.render(&answer, &tag, false);
            let (cost, price) = (count(&rendered), priced(format, &answer, &tag, &prices, &heads));
            prop_assert!(cost <= price, "{:?}: {} > {}\n{}", format, cost, price, rendered);
        }
    }

    #[test]
    fn a_cut_description_costs_no_more_than_its_bytes(description in text(), bytes in 1_u32..60) {
        let cut = crate::recall::cut(&description, bytes as usize);
        for counted in [crate::text::count_block(&cut), crate::text::count_json(&cut)] {
            prop_assert!(counted <= bytes + 8, "{} > {} + 8: {:?}", counted, bytes, cut);
        }
    }
}

/// The skeletons with nothing in them that was counted by itself, and how much the widest may be below
/// its price.
#[test]
fn the_widest_skeletons_cost_what_the_constants_say() {
    let lines = Lines { first: 1_000_000_000, last: u32::MAX };
    let text = "word";
    let head = head("a/b.md#c", "a/b.md", lines, [text, text, text]);
    let tiers = [Tier::Description, Tier::Summary, Tier::Detail];
    for (format, tag, slack) in [
        (Format::Text, "", 6),
        (Format::Markdown, "", 4),
        (Format::Json, "", 6),
        (Format::Json, "q1", 10),
    ] {
        let empty = answer("q", Vec::new(), Vec::new());
        let base = count(&format.render(&empty, tag, false));
        let price = format.base_cost("q", tag);
        assert!(base <= price && price <= base + slack, "{format:?} base: {base} of {price}");
        for tier in tiers {
            // The second of two results, so that what stands between them counts.
            let one = answer("q", vec![hit(&head, tier, text)], Vec::new());
            let two = answer("q", vec![hit(&head, tier, text), hit(&head, tier, text)], Vec::new());
            let cost =
                count(&format.render(&two, tag, false)) - count(&format.render(&one, tag, false));
            let price = priced(format, &one, tag, &[(head.clone(), tier)], &[]) - price;
            assert!(
                cost <= price && price <= cost + slack,
                "{format:?} {tier:?}: {cost} of {price}"
            );
        }
        let ids = |n| answer("q", Vec::new(), vec![head.id.clone(); n]);
        let cost =
            count(&format.render(&ids(2), tag, false)) - count(&format.render(&ids(1), tag, false));
        let price = price_of(format, &head, tag).name;
        // In JSON the cost of a label has the path, too, which a list of ids has not.
        let path = if format == Format::Json { crate::text::count_json(&head.path) } else { 0 };
        assert!(
            cost <= price && price <= cost + path + slack,
            "{format:?} name: {cost} of {price}"
        );
    }
}

#[test]
fn no_name_of_a_kind_a_state_or_a_reason_is_wider_than_the_widest_skeleton() {
    let lines = Lines { first: 1, last: 2 };
    let head = head("a.md", "a.md", lines, ["word"; 3]);
    for format in [Format::Text, Format::Markdown, Format::Json] {
        for kind in Kind::ALL {
            for source in [SourceState::Unchanged, SourceState::Changed, SourceState::Missing] {
                for (why, tier) in [(Why::Trigger, Tier::Summary), (Why::Words, Tier::Description)]
                {
                    let hit = Hit { kind, why, source, ..hit(&head, tier, "word") };
                    let answer = answer("q", vec![hit], Vec::new());
                    let cost = count(&format.render(&answer, "", false));
                    let price = priced(format, &answer, "", &[(head.clone(), tier)], &[]);
                    assert!(cost <= price, "{format:?} {kind:?} {source:?}: {cost} of {price}");
                }
            }
        }
    }
}

#[test]
fn three_digits_are_one_token() {
    for n in 0..1_000_u32 {
        assert_eq!(count(&format!("-{n}")), 2, "{n}");
        assert_eq!(count(&format!("-{n:03}")), 2, "{n:03}");
    }
}

#[test]
fn scores_of_a_run_strictly_decrease_and_it_has_six_columns() {
    let lines = Lines { first: 1, last: 2 };
    let heads = ["b c.md", "a%.md", "d.md"].map(|id| head(id, id, lines, ["x", "x", "x"]));
    let mut hits: Vec<Hit> = heads.iter().map(|head| hit(head, Tier::Detail, "x")).collect();
    for (hit, score) in hits.iter_mut().zip([2.0, 2.0, 1.999_999_999_5]) {
        hit.score = score;
    }
    let run = Format::Trec.render(&answer("q", hits, Vec::new()), "q 1", false);
    let rows: Vec<Vec<&str>> = run.lines().map(|line| line.split(' ').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 6 && row[0] == "q%201" && row[1] == "Q0"), "{run}");
    assert_eq!(rows.iter().map(|row| row[2]).collect::<Vec<_>>(), ["b%20c.md", "a%25.md", "d.md"]);
    let scores: Vec<f64> = rows.iter().map(|row| row[4].parse().unwrap()).collect();
    assert!(scores.windows(2).all(|pair| pair[0] > pair[1]), "{scores:?}");
}

#[test]
fn an_answer_that_could_not_even_name_its_records_is_truncated() {
    let lines = Lines { first: 1, last: 2 };
    let head = head("a.md", "a.md", lines, ["x", "x", "x"]);
    let mut answer = answer("q", vec![hit(&head, Tier::Detail, "x")], Vec::new());
    answer.omitted = Omitted { ids: Vec::new(), n_unlisted: 0, n_past_limit: 9 };
    assert!(!answer.truncated(), "past the number asked for");
    // Postmortem: with no room for a name, `truncated` said that nothing was missing.
    answer.omitted.n_unlisted = 1;
    assert!(answer.truncated());
}

#[test]
fn a_depth_is_deeper_the_more_it_shows() {
    let depths = [
        Depth::Nothing,
        Depth::Name,
        Depth::Cut { bytes: 3 },
        Depth::Cut { bytes: 9 },
        Depth::Whole(Tier::Description),
        Depth::Whole(Tier::Summary),
        Depth::Whole(Tier::Detail),
    ];
    assert!(depths.is_sorted());
}
