//! Markdown: headings to sections, with what derivation and links need from the text between them.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::decode::Source;
use super::diagnostic::Diagnostic;
use super::format::file_name;
use super::frontmatter::{self, Header};
use super::keyed::{self, Run};
use super::node::{Node, squeeze};
use super::section::{self, Anchors, Body, Outline, Section};
use super::sidecar::Entries;
use super::sketch::Sketch;
use super::tiers::{Authored, Place, check_names};
use super::{Document, Sidecar, Tiers, lenient};
use crate::record::Kind;
use crate::text::{Language, head};

/// Bytes of prose that the language is guessed from.
const SAMPLE_BYTES: usize = 4_000;
/// The most bytes between the brackets of a wiki link.
const MAX_WIKI_BYTES: usize = 200;
/// Lines of the first block of code that a sketch keeps.
const COMMAND_LINES: usize = 8;

/// Reads a Markdown file.
///
/// Headings inside lists and quotes get their anchors, as on GitHub, but begin no section: the list
/// or quote they stand in would be torn.
pub(super) fn read(source: &Source<'_>, sidecar: Option<Sidecar<'_>>, tiers: Tiers) -> Document {
    let mut diagnostics = Vec::new();
    let is_skill = file_name(source.path).eq_ignore_ascii_case("SKILL.md");
    let header = if is_skill { Header::Skill } else { Header::Note };
    let front = frontmatter::read(source, header, &mut diagnostics);
    let mut walk = Walk::new(source, front.end, tiers);
    walk.parse();
    diagnostics.append(&mut walk.diagnostics);
    let (start, anchors) = (front.end, &mut walk.anchors);
    let sections = keyed::set_apart(source, start, &mut walk.lead, walk.sections, anchors);
    let outline =
        Outline { front, lead: walk.lead, sections, language: Language::detect(&walk.sample) };
    let entries = Entries::read(sidecar, tiers, &mut diagnostics);
    let kind = if is_skill { Kind::Skill } else { Kind::File };
    section::records(source, kind, outline, entries, diagnostics)
}

/// What derivation sees of a text that has no headings of its own.
pub(super) fn sketch(text: &str) -> Sketch {
    body(text).sketch
}

/// The same with the links of the text.
pub(super) fn body(text: &str) -> Body {
    let source = Source::of_text("", text);
    let mut walk = Walk::new(&source, 0, Tiers::Derived);
    walk.parse();
    let Body { mut sketch, mut links, .. } = walk.lead;
    for section in walk.sections {
        sketch.append(section.body.sketch);
        links.extend(section.body.links);
    }
    Body { sketch, links, ..Body::default() }
}

/// The links of a file: targets and texts.
pub(super) fn links(source: &Source<'_>) -> Vec<(String, String)> {
    let front = frontmatter::read(source, Header::Note, &mut Vec::new());
    let mut walk = Walk::new(source, front.end, Tiers::Derived);
    walk.parse();
    let sections = walk.sections.into_iter().flat_map(|section| section.body.links);
    walk.lead.links.into_iter().chain(sections).collect()
}

/// The state of a walk over the events of a file.
struct Walk<'a> {
    source: &'a Source<'a>,
    /// Where the text begins, behind the header.
    base: usize,
    tiers: Tiers,
    diagnostics: Vec<Diagnostic>,
    lead: Body,
    sections: Vec<Section>,
    anchors: Anchors,
    /// Imports and exports are code, and no prose.
    is_mdx: bool,
    /// Prose without code.
    sample: String,
    /// The text of the block that is being read.
    text: String,
    /// How many lists, quotes, tables and footnotes are open.
    n_containers: usize,
    /// How many images are open: their texts are no prose.
    n_images: usize,
    /// The heading that is being read.
    heading: Option<(u8, usize)>,
    /// Whether the block of code that is being read is the first of its section.
    code: Option<FirstCode>,
    /// Where the block of HTML ends that is being read.
    html_end: usize,
    /// Where the texts of open links and bold terms begin.
    links: Vec<(String, usize)>,
    term: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstCode {
    Yes,
    No,
}

impl<'a> Walk<'a> {
    fn new(source: &'a Source<'a>, base: usize, tiers: Tiers) -> Self {
        let mut walk = Self {
            source,
            base,
            tiers,
            diagnostics: Vec::new(),
            lead: Body::default(),
            sections: Vec::new(),
            anchors: Anchors::default(),
            is_mdx: super::format::file_name(source.path)
                .to_lowercase()
                .rsplit_once('.')
                .is_some_and(|(_, ending)| ending == "mdx"),
            sample: String::new(),
            text: String::new(),
            n_containers: 0,
            n_images: 0,
            heading: None,
            code: None,
            html_end: 0,
            links: Vec::new(),
            term: None,
        };
        walk.sample.reserve(SAMPLE_BYTES.min(source.text.len() - base));
        walk
    }

    fn parse(&mut self) {
        let text = self.source.slice(self.base..self.source.text.len());
        let extensions = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_GFM;
        for (event, range) in Parser::new_ext(text, extensions).into_offset_iter() {
            self.event(event, self.base + range.start..self.base + range.end);
        }
    }

    fn body(&mut self) -> &mut Body {
        match self.sections.last_mut() {
            Some(section) => &mut section.body,
            None => &mut self.lead,
        }
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.push_text(&text),
            Event::Code(code) => self.push_code(&code),
            Event::SoftBreak | Event::HardBreak => self.text.push(' '),
            Event::Html(_) => self.comment(range),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.flush();
                self.heading = Some((depth(level), self.source.line_start(range.start)));
            }
            Tag::Paragraph => self.flush(),
            Tag::Item => {
                self.flush();
                self.entry(range);
            }
            Tag::TableRow => self.entry(range),
            Tag::TableCell if self.n_containers == 1 => {
                if let Some(run) = &mut self.body().run {
                    run.push_cell(range);
                }
            }
            Tag::HtmlBlock => {
                self.flush();
                self.html_end = range.end;
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                let is_first = self.body().sketch.commands.is_empty();
                let is_diagram =
                    matches!(&kind, CodeBlockKind::Fenced(name) if &**name == "mermaid");
                self.code =
                    Some(if is_first && !is_diagram { FirstCode::Yes } else { FirstCode::No });
            }
            Tag::List(_) | Tag::BlockQuote(_) | Tag::Table(_) | Tag::FootnoteDefinition(_) => {
                self.flush();
                if self.n_containers == 0 {
                    let before = self.body().mark();
                    self.body().run = match tag {
                        Tag::List(_) => Some(Run::of_list(before, range.end)),
                        Tag::Table(_) => Some(Run::of_table(before, range.end)),
                        _ => None,
                    };
                }
                self.n_containers += 1;
            }
            Tag::Strong if self.text.trim().is_empty() => self.term = Some(self.text.len()),
            Tag::Link { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.text.len()));
            }
            Tag::Image { .. } => self.n_images += 1,
            _ => {}
        }
    }

    /// Takes note of an item or row of a list or table that stands in no other.
    fn entry(&mut self, range: Range<usize>) {
        let start = self.source.line_start(range.start);
        let is_alone = self.source.slice(start..range.start).trim().is_empty();
        if self.n_containers != 1 {
            return;
        }
        let body = self.body();
        match &mut body.run {
            Some(run) if is_alone => run.push(start..range.end, body.links.len()),
            run => *run = None,
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => self.end_heading(),
            TagEnd::Paragraph | TagEnd::Item | TagEnd::TableHead | TagEnd::TableRow => self.flush(),
            TagEnd::TableCell => self.text.push_str(" | "),
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_)
            | TagEnd::BlockQuote(_)
            | TagEnd::Table
            | TagEnd::FootnoteDefinition => {
                self.flush();
                self.n_containers = self.n_containers.saturating_sub(1);
            }
            TagEnd::Strong => {
                if let Some(term) = self.term.take().and_then(|from| self.text.get(from..)) {
                    let term = squeeze(term);
                    Sketch::push(&mut self.body().sketch.terms, &term);
                }
            }
            TagEnd::Link => {
                if let Some((target, from)) = self.links.pop() {
                    let text = squeeze(self.text.get(from..).unwrap_or_default());
                    self.body().links.push((target, text));
                }
            }
            TagEnd::Image => self.n_images = self.n_images.saturating_sub(1),
            _ => {}
        }
    }

    fn push_text(&mut self, text: &str) {
        if self.n_images > 0 {
            return;
        }
        self.text.push_str(text);
        if self.code.is_none() && self.sample.len() < SAMPLE_BYTES {
            self.sample.push_str(text);
            self.sample.push(' ');
        }
    }

    fn push_code(&mut self, code: &str) {
        if self.heading.is_some() {
            return self.text.push_str(code);
        }
        // Backticks stay, so that a summary reads like the text it is taken from.
        self.text.push('`');
        self.text.push_str(code);
        self.text.push('`');
        let code = squeeze(code);
        Sketch::push(&mut self.body().sketch.code, &code);
    }

    /// Ends a block of running text.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        let text = squeeze(text.trim_end_matches(" | "));
        let text = wiki_links(&text, &mut self.body().links);
        self.term = None;
        let is_aside = self.n_containers > 0;
        if !is_aside && self.is_mdx && is_module_code(&text) {
            return;
        }
        let sketch = &mut self.body().sketch;
        // A paragraph that is nothing but code is a command, not prose.
        let code = text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        if let Some(code) = code.filter(|code| !is_aside && !code.contains('`')) {
            return Sketch::push(&mut sketch.commands, code);
        }
        Sketch::push(if is_aside { &mut sketch.asides } else { &mut sketch.prose }, &text);
    }

    fn end_heading(&mut self) {
        let Some((level, start)) = self.heading.take() else { return };
        let text = squeeze(&std::mem::take(&mut self.text));
        let (title, chosen) = split_anchor(&text);
        let anchor = self.anchors.next(title, chosen);
        if self.n_containers > 0 {
            let title = title.to_owned();
            return Sketch::push(&mut self.body().sketch.asides, &title);
        }
        let title = if title.is_empty() { anchor.clone() } else { title.to_owned() };
        self.sections.push(Section {
            kind: Kind::Section,
            level,
            title,
            anchor,
            start,
            body: Body::default(),
            folded: Vec::new(),
            shown: None,
        });
    }

    fn end_code(&mut self) {
        let text = std::mem::take(&mut self.text);
        if self.code.take() != Some(FirstCode::Yes) {
            return;
        }
        let lines =
            text.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
        let commands = &mut self.body().sketch.commands;
        for line in lines.take(COMMAND_LINES) {
            Sketch::push(commands, line);
        }
    }

    /// Takes a comment block that begins on this line of HTML.
    fn comment(&mut self, range: Range<usize>) {
        let source = self.source;
        let line = source.slice(range.clone());
        let Some(at) = line.find("<!--") else { return };
        let start = range.start + at;
        // Each line of a block is an event of its own; a block may hold another opening.
        if self.body().hidden.last().is_some_and(|hidden| hidden.end > start) {
            return;
        }
        let inner = start + "<!--".len();
        // A blank line may end a block of HTML before its comment ends; what follows is text.
        let text = source.slice(inner..self.html_end);
        let lead = text.len() - text.trim_start().len();
        let Some(yaml) = text.trim_start().strip_prefix("psos") else { return };
        if !yaml.is_empty() && !yaml.starts_with(char::is_whitespace) {
            return;
        }
        let yaml_start = inner + lead + "psos".len();
        let place = Place { path: source.path, line: source.line_of(start) };
        let Some(n_bytes) = yaml.find("-->") else {
            let diagnostic =
                Diagnostic::warning(place.path, place.line, "comment block is not closed");
            self.diagnostics.push(diagnostic.help("add `-->` below it"));
            let end = self.html_end;
            self.body().hidden.push(start..end);
            return;
        };
        let end = yaml_start + n_bytes;
        let block = start..end + "-->".len();
        self.body().hidden.push(block);
        if self.tiers == Tiers::Derived {
            return;
        }
        let node = self.yaml(source.slice(yaml_start..end), yaml_start);
        let authored = Authored::of(&node);
        check_names(&node, place, &mut self.diagnostics);
        authored.check_length(place, &mut self.diagnostics);
        let body = self.body();
        body.authored = std::mem::take(&mut body.authored).over(authored);
    }

    fn yaml(&mut self, text: &str, start: usize) -> Node {
        match serde_yaml_ng::from_str::<serde_yaml_ng::Value>(text) {
            Ok(value) => value.into(),
            Err(error) => {
                let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
                let line = self.source.line_of(start) + u32::try_from(line).unwrap_or(1) - 1;
                let message =
                    format!("comment block is not valid YAML: {}", frontmatter::cause(&error));
                self.diagnostics.push(
                    Diagnostic::warning(self.source.path, line, message)
                        .at_column(u32::try_from(column).unwrap_or(1))
                        .help(lenient::HELP),
                );
                lenient::parse(text)
            }
        }
    }
}

/// Takes `[[page]]` and `[[page|text]]` out of a text and leaves the words that are linked. The
/// parser's own support would take the `[[ … ]]` of a shell for links.
fn wiki_links(text: &str, links: &mut Vec<(String, String)>) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[[") {
        plain.push_str(before);
        // No further than a link may reach: a text of nothing but brackets would be read over and over.
        match head(after, MAX_WIKI_BYTES + "]]".len()).split_once("]]") {
            Some((inner, _)) if is_wiki_link(inner) => {
                let last = inner.rsplit(['#', '/']).next().unwrap_or(inner);
                let (target, label) = inner.split_once('|').unwrap_or((inner, last));
                links.push((target.trim().to_owned(), label.trim().to_owned()));
                plain.push_str(label.trim());
                rest = after.get(inner.len() + "]]".len()..).unwrap_or_default();
            }
            _ => {
                plain.push_str("[[");
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// Whether a paragraph of MDX is lines of JavaScript.
fn is_module_code(text: &str) -> bool {
    let starts = ["import ", "import{", "export ", "export{"];
    starts.iter().any(|start| text.starts_with(start))
        && (text.contains(" from ") || text.contains('=') || text.ends_with(';'))
}

fn is_wiki_link(inner: &str) -> bool {
    inner.trim() == inner
        && !inner.is_empty()
        && inner.len() <= MAX_WIKI_BYTES
        && !inner.contains(['[', ']', '`'])
}

/// Splits `Title {#anchor}`, as static site generators write it.
fn split_anchor(heading: &str) -> (&str, Option<&str>) {
    let chosen = heading.strip_suffix('}').and_then(|rest| rest.rsplit_once("{#"));
    match chosen {
        Some((title, anchor)) if !anchor.is_empty() && !anchor.contains([' ', '{', '}']) => {
            (title.trim_end(), Some(anchor))
        }
        _ => (heading, None),
    }
}

fn depth(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
