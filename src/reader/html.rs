//! HTML: read as a browser would, shown as Markdown, without scripts, styles and navigation.

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};

use super::decode::Source;
use super::node::squeeze;
use super::rendering::Rendering;
use super::{Document, Sidecar, Tiers};

/// Elements whose content is no text of the page.
const SKIPPED: [&str; 11] = [
    "script", "style", "template", "svg", "nav", "footer", "noscript", "iframe", "button",
    "select", "canvas",
];
/// Elements that begin and end lines.
const BLOCKS: [&str; 33] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "form",
    "header",
    "hr",
    "html",
    "li",
    "main",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "tfoot",
    "thead",
    "tr",
    "ul",
    "br",
];

/// Reads an HTML file. Its sections are those of its headings; a heading's `id` is its anchor. The
/// page's `title` and `description` count as frontmatter.
pub(super) fn read(source: &Source<'_>, sidecar: Option<Sidecar<'_>>, tiers: Tiers) -> Document {
    render(source).read(source, sidecar, tiers)
}

/// The links of a page: targets and texts.
pub(super) fn links(source: &Source<'_>) -> Vec<(String, String)> {
    render(source).links(source)
}

fn render(source: &Source<'_>) -> Rendering {
    let mut page = Page::default();
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    for Ok(token) in Tokenizer::new_with_emitter(&*source.text, emitter) {
        match token {
            Token::StartTag(tag) => page.start(&tag),
            Token::EndTag(tag) => page.end(&lossy(&tag.name), tag.span.start),
            Token::String(text) => page.text(&lossy(&text.value), text.span.start),
            Token::Comment(comment) => page.comment(&lossy(&comment.value), comment.span.start),
            Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    page.finish(source.text.len())
}

/// A page on its way to Markdown.
#[derive(Default)]
struct Page {
    body: Vec<(String, usize)>,
    title: String,
    description: String,
    /// The text of the block that is being read, and where it began.
    block: String,
    place: usize,
    /// What stands before the block: signs of a heading, an item, a quote.
    prefix: String,
    /// The anchor of the heading that is being read.
    anchor: Option<String>,
    /// How many elements are open in which nothing is read, by the name of the outermost.
    skipped: Option<(String, usize)>,
    /// How many `pre` elements are open.
    n_pre: usize,
    is_title: bool,
    /// Targets of open links, and where their texts begin.
    links: Vec<(String, usize)>,
}

impl Page {
    fn start(&mut self, tag: &StartTag<usize>) {
        let name = lossy(&tag.name);
        let place = tag.span.start;
        if let Some((outermost, depth)) = &mut self.skipped {
            *depth += usize::from(*outermost == name && !tag.self_closing);
            return;
        }
        if SKIPPED.contains(&name.as_str()) && !tag.self_closing {
            self.skipped = Some((name, 1));
            return;
        }
        let attribute = |name: &[u8]| tag.attributes.get(name).map(|value| lossy(&value.value));
        match name.as_str() {
            "title" => self.is_title = true,
            "meta" => {
                let is_description =
                    attribute(b"name").is_some_and(|name| name.eq_ignore_ascii_case("description"));
                if is_description {
                    self.description = squeeze(&attribute(b"content").unwrap_or_default());
                }
            }
            "a" => self.links.push((attribute(b"href").unwrap_or_default(), self.block.len())),
            "code" | "kbd" | "samp" | "tt" if self.n_pre == 0 => self.block.push('`'),
            "strong" | "b" => self.block.push_str("**"),
            "td" | "th" if !self.block.trim().is_empty() => self.block.push_str(" | "),
            "pre" => {
                self.flush(place);
                self.n_pre += 1;
            }
            _ if level(&name).is_some() => {
                self.flush(place);
                self.place = place;
                self.prefix = format!("{} ", "#".repeat(level(&name).unwrap_or(1)));
                self.anchor = attribute(b"id").filter(|id| !id.is_empty());
            }
            _ if BLOCKS.contains(&name.as_str()) => {
                self.flush(place);
                match name.as_str() {
                    "li" | "dd" => "- ".clone_into(&mut self.prefix),
                    "blockquote" => "> ".clone_into(&mut self.prefix),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str, place: usize) {
        if let Some((outermost, depth)) = &mut self.skipped {
            if outermost == name {
                *depth -= 1;
                if *depth == 0 {
                    self.skipped = None;
                }
            }
            return;
        }
        match name {
            "title" => self.is_title = false,
            "a" => {
                if let Some((target, from)) = self.links.pop()
                    && from <= self.block.len()
                    && self.block.is_char_boundary(from)
                {
                    let text = squeeze(&self.block.split_off(from));
                    let is_link =
                        self.n_pre == 0 && !text.is_empty() && !target.contains([' ', ')', '(']);
                    let link = if is_link { format!("[{text}]({target})") } else { text };
                    self.block.push_str(&link);
                }
            }
            "code" | "kbd" | "samp" | "tt" if self.n_pre == 0 => self.block.push('`'),
            "strong" | "b" => self.block.push_str("**"),
            "pre" if self.n_pre > 0 => {
                self.flush(place);
                self.n_pre -= 1;
            }
            _ if level(name).is_some() || BLOCKS.contains(&name) => self.flush(place),
            _ => {}
        }
    }

    fn text(&mut self, text: &str, place: usize) {
        if self.skipped.is_some() {
            return;
        }
        if self.is_title {
            return self.title.push_str(text);
        }
        if self.block.trim().is_empty() && self.anchor.is_none() && self.prefix.is_empty() {
            self.place = place;
        }
        self.block.push_str(text);
    }

    fn comment(&mut self, comment: &str, place: usize) {
        if comment.trim_start().starts_with("psos") && !comment.contains("--") {
            self.flush(place);
            self.body.push((format!("<!--{comment}-->\n"), place));
        }
    }

    /// Ends a block.
    fn flush(&mut self, place: usize) {
        let block = std::mem::take(&mut self.block);
        let prefix = std::mem::take(&mut self.prefix);
        let anchor = self.anchor.take();
        self.links.clear();
        let start = self.place.min(place);
        if self.n_pre > 0 {
            let code = block.trim_matches('\n').trim_end();
            if !code.is_empty() {
                self.body.push((format!("~~~~\n{code}\n~~~~\n"), start));
            }
            return;
        }
        let line = squeeze(&block).replace("****", "").replace("``", "");
        if line.is_empty() {
            return;
        }
        let is_item = prefix == "- ";
        let line = match anchor {
            Some(anchor) => format!("{prefix}{line} {{#{anchor}}}"),
            // What would be a heading or a rule in Markdown was none in HTML.
            None if prefix.is_empty() && line.starts_with(['#', '>', '-', '=', '~', '<']) => {
                format!("\\{line}")
            }
            None => format!("{prefix}{line}"),
        };
        self.body.push((if is_item { line } else { format!("{line}\n") }, start));
    }

    fn finish(mut self, end: usize) -> Rendering {
        self.flush(end);
        let mut rendering = Rendering::default();
        let title = squeeze(&self.title);
        if !title.is_empty() || !self.description.is_empty() {
            rendering.push("---", 0);
            for (name, value) in [("title", &title), ("description", &self.description)] {
                if !value.is_empty() {
                    rendering
                        .push(&format!("{name}: {}", serde_json::Value::from(value.as_str())), 0);
                }
            }
            rendering.push("---", 0);
        }
        let mut after_item = false;
        for (lines, place) in self.body {
            let is_item = lines.starts_with("- ");
            if after_item && !is_item {
                rendering.push("", place);
            }
            after_item = is_item;
            rendering.push(&lines, place);
        }
        rendering
    }
}

fn level(name: &str) -> Option<usize> {
    let level = name.strip_prefix('h')?.parse().ok()?;
    (1..=6).contains(&level).then_some(level)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
