//! The bytes of a forward row: terms by the numbers of their words, and what repeats itself once.
//!
//! Words get their numbers in the order in which the store meets them, so the ones that stand everywhere have
//! one byte, and most others two. The derived tiers of a record are copies of its text, so the terms of all
//! fields are one sequence, in which a step is a word or the beginning of a run that was there.

use std::collections::BTreeMap;

use crate::store::codec::{Decoded, nothing_left, put_varint, take, take_varint, take_version};
use crate::store::{Forward, StoreError};

/// The version of the row.
const VERSION: u8 = 3;
/// A run of fewer terms is cheaper term by term.
const SHORTEST_RUN: usize = 2;
/// A row that claims more terms than this is corrupt: decoding must not allocate whatever a broken length
/// says.
const MAX_TERMS: u64 = 1 << 24;

/// Version, number of trigger lists and the length of each, the lengths of the five other fields, the number
/// of rare forms; the steps of the sequence; a bit for each step that is a word; the rare forms as
/// distances, each from the one before.
pub(super) fn encode(
    forward: &Forward,
    number_of: &mut dyn FnMut(u32) -> Result<u32, StoreError>,
) -> Result<Vec<u8>, StoreError> {
    let sequence: Vec<u32> = fields(forward).into_iter().flatten().copied().collect();
    let steps = steps(&sequence);
    let mut usual = Vec::new();
    let mut is_usual = Vec::new();
    for step in &steps {
        let Step::Word(print) = *step else { continue };
        let form = folded(print);
        let known = forward.forms.binary_search(&form).is_ok();
        is_usual.push(known);
        if known {
            usual.push(form);
        }
    }
    usual.sort_unstable();
    let rare: Vec<u16> =
        forward.forms.iter().filter(|form| usual.binary_search(form).is_err()).copied().collect();

    let mut bytes = Vec::with_capacity(32 + 2 * steps.len() + 2 * rare.len());
    bytes.push(VERSION);
    put_varint(&mut bytes, forward.triggers.len() as u64);
    for terms in forward.triggers.iter().chain(others(forward)) {
        put_varint(&mut bytes, terms.len() as u64);
    }
    put_varint(&mut bytes, rare.len() as u64);
    for step in steps {
        match step {
            Step::Word(print) => put_varint(&mut bytes, u64::from(number_of(print)?) << 1),
            Step::Run { from, n } => {
                put_varint(&mut bytes, ((n - SHORTEST_RUN) as u64) << 1 | 1);
                put_varint(&mut bytes, from as u64);
            }
        }
    }
    for bits in is_usual.chunks(8) {
        bytes.push((0..).zip(bits).fold(0, |byte, (at, &bit)| byte | u8::from(bit) << at));
    }
    let mut before = 0;
    for form in rare {
        put_varint(&mut bytes, u64::from(form - before));
        before = form;
    }
    Ok(bytes)
}

/// `prints` has the fingerprint of each word at the place of its number.
pub(super) fn decode(bytes: &[u8], prints: &[u32]) -> Decoded<Forward> {
    let mut input = bytes;
    let Lengths { triggers, others: [title, breadcrumb, description, summary, detail], n_terms } =
        take_lengths(&mut input)?;
    let n_rare = take_varint(&mut input)?;
    let Sequence { terms, words } = take_sequence(&mut input, n_terms, prints)?;
    let forms = take_forms(&mut input, &words, n_rare)?;
    nothing_left(input)?;

    let mut rest = terms.as_slice();
    let mut next = |length: usize| -> Vec<u32> {
        let (field, after) = rest.split_at_checked(length).unwrap_or_default();
        rest = after;
        field.to_vec()
    };
    // In the order in which `fields` has them.
    let detail = next(detail);
    let title = next(title);
    let breadcrumb = next(breadcrumb);
    let description = next(description);
    let summary = next(summary);
    let triggers = triggers.into_iter().map(next).collect();
    Ok(Forward { triggers, title, breadcrumb, description, summary, detail, forms })
}

/// How many terms the fields have, see [`Forward::lengths`].
pub(super) fn decode_lengths(bytes: &[u8]) -> Decoded<[u64; 6]> {
    let Lengths { triggers, others: [title, breadcrumb, description, summary, detail], .. } =
        take_lengths(&mut &*bytes)?;
    let triggers = triggers.into_iter().sum();
    Ok([triggers, title, breadcrumb, description, summary, detail].map(|n: usize| n as u64))
}

struct Lengths {
    triggers: Vec<usize>,
    others: [usize; 5],
    /// Their sum.
    n_terms: usize,
}

fn take_lengths(input: &mut &[u8]) -> Decoded<Lengths> {
    take_version(input, VERSION)?;
    let n_triggers = take_varint(input)?;
    if n_triggers > input.len() as u64 {
        return Err("more trigger lists than bytes".to_owned());
    }
    let mut n_terms = 0;
    let mut length = || {
        let length = take_varint(input)?;
        n_terms = length.saturating_add(n_terms);
        if n_terms > MAX_TERMS {
            return Err(format!("{n_terms} terms are too many"));
        }
        usize::try_from(length).map_err(|error| error.to_string())
    };
    let triggers = (0..n_triggers).map(|_| length()).collect::<Decoded<_>>()?;
    let mut others = [0; 5];
    for other in &mut others {
        *other = length()?;
    }
    let n_terms = usize::try_from(n_terms).map_err(|error| error.to_string())?;
    Ok(Lengths { triggers, others, n_terms })
}

/// The fields in the order of the sequence: first the one that the others are taken from.
fn fields(forward: &Forward) -> Vec<&Vec<u32>> {
    let [title, breadcrumb, description, summary, detail] = others(forward);
    let mut fields = vec![detail, title, breadcrumb, description, summary];
    fields.extend(&forward.triggers);
    fields
}

fn others(forward: &Forward) -> [&Vec<u32>; 5] {
    let Forward { triggers: _, title, breadcrumb, description, summary, detail, forms: _ } =
        forward;
    [title, breadcrumb, description, summary, detail]
}

/// The form that a word has when it is its own stem: what `text::form_print` makes of the same hash.
fn folded(print: u32) -> u16 {
    let [a, b, c, d] = print.to_le_bytes();
    u16::from_le_bytes([a ^ c, b ^ d])
}

/// A step of a sequence of terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A word, by its fingerprint.
    Word(u32),
    /// `n` terms that stand in the sequence from the place `from` on, before this one.
    Run { from: usize, n: usize },
}

fn steps(terms: &[u32]) -> Vec<Step> {
    let mut steps = Vec::new();
    // Where two terms stood together first.
    let mut pairs: BTreeMap<[u32; SHORTEST_RUN], usize> = BTreeMap::new();
    let mut at = 0;
    while let Some(rest @ &[term, ..]) = terms.get(at..) {
        let known = rest.first_chunk().and_then(|pair| pairs.get(pair));
        let run = known.and_then(|&from| {
            let before = terms.get(from..at)?;
            let n = before.iter().zip(rest).take_while(|(a, b)| a == b).count();
            (n >= SHORTEST_RUN).then_some(Step::Run { from, n })
        });
        let step = run.unwrap_or(Step::Word(term));
        let n = match step {
            Step::Word(_) => 1,
            Step::Run { n, .. } => n,
        };
        steps.push(step);
        for end in at..at + n {
            // A pair is known once all of it was written.
            let Some(begin) = (end + 1).checked_sub(SHORTEST_RUN) else { continue };
            if let Some(&pair) = terms.get(begin..).and_then(<[u32]>::first_chunk) {
                pairs.entry(pair).or_insert(begin);
            }
        }
        at += n;
    }
    steps
}

struct Sequence {
    terms: Vec<u32>,
    /// Those of them that are steps of their own.
    words: Vec<u32>,
}

fn take_sequence(input: &mut &[u8], n: usize, prints: &[u32]) -> Decoded<Sequence> {
    // Each byte is at most one word, so a broken length claims no more room than the row has bytes.
    let mut terms: Vec<u32> = Vec::with_capacity(n.min(4 * input.len()));
    let mut words = Vec::with_capacity(n.min(input.len()));
    while terms.len() < n {
        let step = take_varint(input)?;
        let argument = usize::try_from(step >> 1).unwrap_or(usize::MAX);
        if step & 1 == 0 {
            let &print = prints.get(argument).ok_or_else(|| format!("no word {argument}"))?;
            terms.push(print);
            words.push(print);
            continue;
        }
        let from = usize::try_from(take_varint(input)?).unwrap_or(usize::MAX);
        let end = argument.saturating_add(SHORTEST_RUN).saturating_add(from);
        if end > terms.len() {
            return Err("a run begins or ends where nothing is yet".to_owned());
        }
        terms.extend_from_within(from..end);
    }
    if terms.len() > n {
        return Err("a run is longer than the rest of the row".to_owned());
    }
    Ok(Sequence { terms, words })
}

fn take_forms(input: &mut &[u8], words: &[u32], n_rare: u64) -> Decoded<Vec<u16>> {
    let bits = take(input, words.len().div_ceil(8) as u64)?;
    let mut forms = Vec::with_capacity(words.len());
    for (words, bits) in words.chunks(8).zip(bits) {
        if bits.checked_shr(words.len().try_into().unwrap_or(0)).is_some_and(|left| left != 0) {
            return Err("bits are left over".to_owned());
        }
        let usual = (0..).zip(words).filter(|(at, _)| bits >> at & 1 == 1);
        forms.extend(usual.map(|(_, &print)| folded(print)));
    }
    let mut form = 0_u64;
    for _ in 0..n_rare {
        form = form.saturating_add(take_varint(input)?);
        forms.push(u16::try_from(form).map_err(|_| "a form is too large".to_owned())?);
    }
    forms.sort_unstable();
    forms.dedup();
    Ok(forms)
}
