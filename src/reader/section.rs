//! Documents with headings: sections to records, whatever the markup was.

use std::ops::Range;

use super::decode::Source;
use super::diagnostic::Diagnostic;
use super::format::file_stem;
use super::frontmatter::Front;
use super::keyed::Run;
use super::nest::Nest;
use super::node::squeeze;
use super::sidecar::Entries;
use super::sketch::Sketch;
use super::tiers::{Authored, Material, settle};
use super::{Document, Link};
use crate::record::{Kind, Record, RecordId, Slugger};
use crate::text::Language;

/// The anchor of a heading without a letter or digit; GitHub's is empty, which would name no part.
const BARE_ANCHOR: &str = "section";

/// What stands between two headings.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// What derivation sees of it.
    pub sketch: Sketch,
    /// Ranges of the source that are not shown.
    pub hidden: Vec<Range<usize>>,
    /// Tiers of comment blocks.
    pub authored: Authored,
    /// Targets and texts of its links.
    pub links: Vec<(String, String)>,
    /// The last table or list in it.
    pub run: Option<Run>,
}

/// How much a body has at some moment of the reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    sketch: [usize; 5],
    n_hidden: usize,
    n_links: usize,
}

impl Body {
    /// How much it has now.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            sketch: self.sketch.lengths(),
            n_hidden: self.hidden.len(),
            n_links: self.links.len(),
        }
    }

    /// Whether all that came since is shown.
    pub(super) fn hides_nothing_since(&self, mark: &Mark) -> bool {
        self.hidden.len() == mark.n_hidden
    }

    /// Drops what came since, and returns the links among it.
    pub(super) fn rewind(&mut self, mark: &Mark) -> Vec<(String, String)> {
        self.sketch.truncate(mark.sketch);
        self.links.split_off(mark.n_links.min(self.links.len()))
    }
}

/// A heading with what stands below it, up to the next one; or an entry of a table or list.
#[derive(Debug)]
pub(super) struct Section {
    /// What its record is.
    pub kind: Kind,
    /// 1 for the outermost.
    pub level: u8,
    /// The text of the heading on one line.
    pub title: String,
    /// Its anchor.
    pub anchor: String,
    /// Where its line begins in the source.
    pub start: usize,
    /// What stands below it.
    pub body: Body,
    /// Headings and anchors of the short sections that were folded into it.
    pub folded: Vec<(String, String)>,
    /// What is shown, if that is not the text as it stands.
    pub shown: Option<String>,
}

/// A document in sections.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// The header.
    pub front: Front,
    /// What stands between the header and the first heading.
    pub lead: Body,
    /// The headings in their order.
    pub sections: Vec<Section>,
    /// The language of the prose.
    pub language: Language,
}

/// Gives headings their anchors: GitHub's, numbered when repeated.
#[derive(Debug, Default)]
pub(super) struct Anchors(Slugger);

impl Anchors {
    /// The anchor of the next heading. One that the author chose is taken as it is.
    pub(super) fn next(&mut self, title: &str, chosen: Option<&str>) -> String {
        let anchor = match chosen {
            Some(anchor) => squeeze(anchor),
            None => crate::record::slug(title),
        };
        let anchor = if anchor.is_empty() { BARE_ANCHOR.to_owned() } else { anchor };
        self.0.unique(&anchor)
    }
}

/// Turns a document in sections into records.
///
/// The part before the first section is the record of the file, under the path alone. When the
/// first heading is the only one of the first level, it is the title of the document and belongs
/// to that part with the text below it.
pub(super) fn records(
    source: &Source<'_>,
    kind: Kind,
    mut outline: Outline,
    mut entries: Entries,
    diagnostics: Vec<Diagnostic>,
) -> Document {
    let mut document = Document { diagnostics, ..Document::default() };
    let (heading, title_anchor) = take_title(&mut outline).unzip();
    fold_short(source, &mut outline.sections, &entries);
    let Outline { front, lead, sections, language } = outline;
    let end_of_lead = sections.first().map_or(source.text.len(), |section| section.start);
    let title = heading.or_else(|| front.title.clone()).or_else(|| front.name.clone());
    let parents = parents(&sections);
    let nest = Nest::of(parents.iter().copied());
    let titles: Vec<String> = sections.iter().map(|section| section.title.clone()).collect();
    let anchors: Vec<String> = sections.iter().map(|section| section.anchor.clone()).collect();
    let ends: Vec<usize> = sections
        .iter()
        .skip(1)
        .map(|section| section.start)
        .chain(std::iter::once(source.text.len()))
        .collect();

    let has_lead = !source.slice(front.end..end_of_lead).trim().is_empty();
    if has_lead || title.is_some() || !front.authored.is_empty() {
        let authored = entries.take_file(source.path).over(lead.authored).over(front.authored);
        let own = title.clone().unwrap_or_else(|| file_stem(source.path).to_owned());
        let names: Vec<String> = std::iter::once(own.clone())
            .chain(front.name)
            .chain(front.title)
            .chain(front.aliases)
            .collect();
        let mut hidden = lead.hidden;
        if front.end > 0 {
            hidden.insert(0, 0..front.end);
        }
        let place = Place {
            id: RecordId::of_file(source.path),
            kind,
            title: own,
            breadcrumb: Vec::new(),
            range: 0..end_of_lead,
            language,
            shown: None,
        };
        let nested = Nested { indices: nest.children(None), titles: &titles, anchors: &anchors };
        document.links.extend(links(&place.id, lead.links));
        document.folded.extend(title_anchor.map(|anchor| (anchor, place.id.clone())));
        document.records.push(record(
            source,
            place,
            &nested,
            &names,
            &lead.sketch,
            &authored,
            &hidden,
        ));
    }

    for (idx, (section, end)) in sections.into_iter().zip(ends).enumerate() {
        let authored = entries.take(&section.anchor).over(section.body.authored);
        let id = RecordId::of_part(source.path, &section.anchor);
        let (folded, anchors_folded): (Vec<String>, Vec<String>) =
            section.folded.into_iter().unzip();
        document.folded.extend(anchors_folded.into_iter().map(|anchor| (anchor, id.clone())));
        let names: Vec<String> = std::iter::once(section.title.clone()).chain(folded).collect();
        let place = Place {
            id,
            kind: section.kind,
            title: section.title,
            breadcrumb: breadcrumb(title.as_deref(), idx, &parents, &titles),
            range: section.start..end,
            language,
            shown: section.shown,
        };
        let nested =
            Nested { indices: nest.children(Some(idx)), titles: &titles, anchors: &anchors };
        document.links.extend(links(&place.id, section.body.links));
        document.records.push(record(
            source,
            place,
            &nested,
            &names,
            &section.body.sketch,
            &authored,
            &section.body.hidden,
        ));
    }
    entries.check_rest(&anchors.iter().map(String::as_str), &mut document.diagnostics);
    document
}

/// Takes the heading that is the document's title out of the sections, with the text below it; returns its text and
/// anchor.
fn take_title(outline: &mut Outline) -> Option<(String, String)> {
    let n_top = outline.sections.iter().filter(|section| section.level == 1).count();
    if n_top != 1 || outline.sections.first().is_none_or(|section| section.level != 1) {
        return None;
    }
    let section = outline.sections.remove(0);
    outline.lead.sketch.append(section.body.sketch);
    outline.lead.hidden.extend(section.body.hidden);
    let lead = std::mem::take(&mut outline.lead.authored);
    outline.lead.authored = lead.over(section.body.authored);
    outline.lead.links.extend(section.body.links);
    Some((section.title, section.anchor))
}

/// A nested section below this size, in bytes, says too little to be found by itself.
pub(super) const SHORT_BYTES: usize = 1_000;
/// A section takes in short ones up to this size, in bytes.
const FULL_BYTES: usize = 4_000;

/// Folds short sections into the section around them: their text stays in its place, and their headings select
/// the larger record.
///
/// A section is folded when it is nested in the section before it, has none nested in it, has fewer than
/// [`SHORT_BYTES`], nobody wrote tiers for it, and what it joins stays below [`FULL_BYTES`].
fn fold_short(source: &Source<'_>, sections: &mut Vec<Section>, entries: &Entries) {
    let end = source.text.len();
    let old = std::mem::take(sections);
    let starts: Vec<(usize, u8)> =
        old.iter().map(|section| (section.start, section.level)).collect();
    for (idx, section) in old.into_iter().enumerate() {
        let (next_start, next_level) = starts.get(idx + 1).copied().unwrap_or((end, 0));
        let is_leaf = next_level <= section.level;
        let written = !section.body.authored.is_empty() || entries.has(&section.anchor);
        let short = next_start - section.start < SHORT_BYTES;
        match sections.last_mut() {
            Some(around)
                if is_leaf
                    && section.kind == Kind::Section
                    && short
                    && !written
                    && around.level < section.level
                    && next_start - around.start <= FULL_BYTES =>
            {
                around.folded.push((section.title, section.anchor));
                around.body.sketch.fold(section.body.sketch);
                around.body.hidden.extend(section.body.hidden);
                around.body.links.extend(section.body.links);
            }
            _ => sections.push(section),
        }
    }
}

/// The index of the section that each section is nested in.
fn parents(sections: &[Section]) -> Vec<Option<usize>> {
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut parents = Vec::with_capacity(sections.len());
    for (idx, section) in sections.iter().enumerate() {
        while open.last().is_some_and(|&(level, _)| level >= section.level) {
            open.pop();
        }
        parents.push(open.last().map(|&(_, idx)| idx));
        open.push((section.level, idx));
    }
    parents
}

fn breadcrumb(
    title: Option<&str>,
    idx: usize,
    parents: &[Option<usize>],
    titles: &[String],
) -> Vec<String> {
    let mut crumbs = Vec::new();
    let mut at = parents.get(idx).copied().flatten();
    while let Some(parent) = at {
        crumbs.extend(titles.get(parent).cloned());
        at = parents.get(parent).copied().flatten();
    }
    crumbs.extend(title.map(str::to_owned));
    crumbs.reverse();
    crumbs
}

/// What a record is and where it stands.
struct Place {
    id: RecordId,
    kind: Kind,
    title: String,
    breadcrumb: Vec<String>,
    range: Range<usize>,
    language: Language,
    shown: Option<String>,
}

/// The sections directly below a record.
struct Nested<'a> {
    indices: &'a [usize],
    titles: &'a [String],
    anchors: &'a [String],
}

fn record(
    source: &Source<'_>,
    place: Place,
    nested: &Nested<'_>,
    names: &[String],
    sketch: &Sketch,
    authored: &Authored,
    hidden: &[Range<usize>],
) -> Record {
    let Place { id, kind, title, breadcrumb, range, language, shown } = place;
    let child_titles: Vec<&str> =
        nested.indices.iter().filter_map(|&i| nested.titles.get(i)).map(String::as_str).collect();
    let body =
        hidden.first().filter(|first| first.start == range.start).map_or(range.start, |it| it.end);
    let settled = settle(Material {
        title: &title,
        names,
        authored,
        sketch,
        text: source.slice(body..range.end),
        children: &child_titles,
    });
    Record {
        id,
        path: source.path.to_owned(),
        kind,
        breadcrumb,
        scope: String::new(),
        span: source.span(&range),
        language,
        triggers: settled.triggers,
        description: settled.description,
        summary: settled.summary,
        detail: source.slice(range.clone()).to_owned(),
        hidden: hidden.iter().map(|it| it.start - range.start..it.end - range.start).collect(),
        body: shown,
        children: nested
            .indices
            .iter()
            .filter_map(|&i| nested.anchors.get(i))
            .map(|anchor| RecordId::of_part(source.path, anchor))
            .collect(),
        title,
    }
}

fn links(from: &RecordId, links: Vec<(String, String)>) -> impl Iterator<Item = Link> {
    links.into_iter().map(|(target, text)| Link { from: from.clone(), target, text })
}
