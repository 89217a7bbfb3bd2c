//! The items of a syntax tree. Everything that depends on `tree-sitter` is here and in `grammar`.

use std::ops::Range;

use tree_sitter::{Node, Parser};

use super::Syntax;
use super::comment;
use super::grammar::{Role, language, role};
use super::item::Item;
use crate::reader::decode::Source;
use crate::reader::node::squeeze;
use crate::reader::sketch::Sketch;

/// Lines from which a small item is an item of its own.
const SMALL_LINES: usize = 4;
/// How deep scopes are followed.
const MAX_DEPTH: usize = 40;

/// Finds the items of a file, in the order of their starts; `None` if it cannot be parsed at all.
pub(super) fn items(source: &Source<'_>, syntax: Syntax) -> Option<Vec<Item>> {
    let mut parser = Parser::new();
    parser.set_language(&language(syntax)).ok()?;
    let tree = parser.parse(source.text.as_bytes(), None)?;
    let mut walk = Walk { source, syntax, items: Vec::new(), pending: None };
    walk.children(tree.root_node(), &Scope::default(), 0);
    Some(walk.items)
}

struct Walk<'a> {
    source: &'a Source<'a>,
    syntax: Syntax,
    items: Vec<Item>,
    /// Where the header of a scope begins that waits for its first item.
    pending: Option<usize>,
}

/// What an item stands in.
#[derive(Clone, Default)]
struct Scope {
    names: Vec<String>,
    parent: Option<usize>,
}

impl Scope {
    fn with(&self, name: String) -> Self {
        let mut inner = self.clone();
        if !name.is_empty() {
            inner.names.push(name);
        }
        inner
    }
}

impl Walk<'_> {
    fn children(&mut self, node: Node<'_>, scope: &Scope, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let mut scope = scope.clone();
        // Comments and attributes that stand directly above the next node.
        let mut above: Vec<Node<'_>> = Vec::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            let role = role(self.syntax, child.kind());
            if role == Role::Above {
                if !self.is_adjacent(above.last().copied(), child) {
                    above.clear();
                }
                if begins_line(&self.source.text, child.start_byte()) && !self.is_of_file(child) {
                    above.push(child);
                }
                continue;
            }
            if !self.is_adjacent(above.last().copied(), child) {
                above.clear();
            }
            let start = above.first().map_or(child.start_byte(), Node::start_byte);
            self.node(child, role, start, &above, &mut scope, depth);
            above.clear();
        }
    }

    fn node(
        &mut self,
        node: Node<'_>,
        role: Role,
        start: usize,
        above: &[Node<'_>],
        scope: &mut Scope,
        depth: usize,
    ) {
        match role {
            Role::Leaf => {
                self.push(node, start, above, scope);
            }
            Role::Type => {
                if node.child_by_field_name("body").is_none() {
                    return;
                }
                let Some(idx) = self.push(node, start, above, scope) else { return };
                let mut inner = scope.with(self.name(node));
                inner.parent = Some(idx);
                self.children(self.inside(node), &inner, depth + 1);
            }
            Role::Scope => {
                let inner = scope.with(self.name(node));
                if node.child_by_field_name("body").is_some() {
                    self.pending.get_or_insert(start);
                    self.children(self.inside(node), &inner, depth + 1);
                    self.pending = None;
                } else if self.syntax != Syntax::Rust {
                    // `namespace X;` opens a scope for the rest of the file.
                    *scope = inner;
                }
            }
            Role::Around if self.is_for_one(node, above) => {
                // What is around an item belongs to it, with the comment above.
                let outer = self.pending.get_or_insert(start);
                *outer = (*outer).min(start);
                let n_before = self.items.len();
                self.children(node, scope, depth + 1);
                self.pending = None;
                let comment = self.comment(above);
                if let Some(item) = self.items.get_mut(n_before)
                    && item.comment.is_empty()
                    && !comment.is_empty()
                {
                    item.comment = kept(&comment);
                }
            }
            Role::Around => self.children(node, scope, depth + 1),
            Role::Small => self.small(node, start, above, scope, depth),
            Role::Above | Role::Other => {}
        }
    }

    /// An item if it is long, has a comment, or defines something that is one.
    fn small(
        &mut self,
        node: Node<'_>,
        start: usize,
        above: &[Node<'_>],
        scope: &mut Scope,
        depth: usize,
    ) {
        // `struct S { … } s;`: the type is the item.
        if let Some(inner) = node.child_by_field_name("type")
            && matches!(role(self.syntax, inner.kind()), Role::Type)
            && inner.child_by_field_name("body").is_some()
            && inner.child_by_field_name("name").is_some()
        {
            return self.node(inner, Role::Type, start, above, scope, depth);
        }
        let n_lines = node.end_position().row - node.start_position().row + 1;
        if n_lines >= SMALL_LINES || !above.is_empty() || defines_function(node) {
            self.push(node, start, above, scope);
        }
    }

    /// Adds an item, unless it has no name or begins where another one does.
    fn push(
        &mut self,
        node: Node<'_>,
        start: usize,
        above: &[Node<'_>],
        scope: &Scope,
    ) -> Option<usize> {
        let name = self.name(node);
        if name.is_empty() {
            return None;
        }
        let start = self.pending.map_or(start, |pending| pending.min(start));
        let text = &self.source.text;
        let start = if begins_line(text, start) { self.source.line_start(start) } else { start };
        if self.items.last().is_some_and(|last| last.start >= start) {
            return None;
        }
        self.pending = None;
        let mut comment = self.comment(above);
        if self.syntax == Syntax::Python {
            comment.push_str(&self.doc_string(node));
        }
        let mut scopes = scope.names.clone();
        scopes.extend(self.receiver(node));
        let item = Item {
            name,
            scopes,
            parent: scope.parent,
            start,
            comment: kept(&comment),
            signature: self.signature(node),
        };
        self.items.push(item);
        Some(self.items.len() - 1)
    }

    fn text(&self, node: Node<'_>) -> &str {
        self.source.slice(node.byte_range())
    }

    fn comment(&self, above: &[Node<'_>]) -> String {
        let comments = above.iter().filter(|node| node.kind().ends_with("comment"));
        comments.map(|&node| comment::text_of(self.text(node))).collect()
    }

    fn doc_string(&self, node: Node<'_>) -> String {
        let first = node.child_by_field_name("body").and_then(|body| body.named_child(0));
        let string = first.and_then(|it| it.named_child(0)).filter(|it| it.kind() == "string");
        string.map(|string| comment::text_of_string(self.text(string))).unwrap_or_default()
    }

    /// The node whose children are the members of a type or scope. Grammars that mark blocks by
    /// indentation or `end` put the first comment of a block before it.
    fn inside<'t>(&self, node: Node<'t>) -> Node<'t> {
        match self.syntax {
            Syntax::Python | Syntax::Ruby => node,
            _ => node.child_by_field_name("body").unwrap_or(node),
        }
    }

    /// Whether a node around items belongs to the first of them: an export, a decorator, or a block
    /// that begins with an item whose comment stands before the block.
    fn is_for_one(&self, node: Node<'_>, above: &[Node<'_>]) -> bool {
        match node.kind() {
            "export_statement"
            | "decorated_definition"
            | "template_declaration"
            | "ambient_declaration" => true,
            "block" | "body_statement" => {
                let first = node.named_child(0).map(|first| role(self.syntax, first.kind()));
                !above.is_empty() && matches!(first, Some(Role::Leaf | Role::Type | Role::Around))
            }
            _ => false,
        }
    }

    /// `//!` and `#!` belong to the file.
    fn is_of_file(&self, node: Node<'_>) -> bool {
        let text = self.text(node);
        text.starts_with("//!") || text.starts_with("#!")
    }

    /// Whether no blank line stands between two nodes.
    fn is_adjacent(&self, above: Option<Node<'_>>, node: Node<'_>) -> bool {
        let Some(above) = above else { return true };
        let end = above.start_byte() + self.text(above).trim_end().len();
        let between = self.source.slice(end..node.start_byte());
        between.bytes().filter(|&b| b == b'\n').count() <= 1
    }

    fn signature(&self, node: Node<'_>) -> Range<usize> {
        let range = node.byte_range();
        let end = match node.child_by_field_name("body") {
            Some(body) => body.start_byte(),
            None => {
                let text = self.text(node);
                range.start + text.find(['\n', '{']).unwrap_or(text.len())
            }
        };
        range.start..end
    }

    /// The type that a method of Go is defined on, or the class of a singleton method.
    fn receiver(&self, node: Node<'_>) -> Option<String> {
        let receiver = node.child_by_field_name("receiver")?;
        let text = self.text(receiver).trim_matches(['(', ')']);
        let name = text.split('[').next().unwrap_or_default().split_whitespace().last()?;
        Some(name.trim_start_matches('*').to_owned())
    }

    fn name(&self, node: Node<'_>) -> String {
        if node.kind() == "impl_item" {
            let field = |name: &str| node.child_by_field_name(name).map(|it| bare(self.text(it)));
            let of = field("type").unwrap_or_default();
            return match field("trait") {
                Some(name) => format!("<{of} as {name}>"),
                None => of,
            };
        }
        let named = node.child_by_field_name("name").or_else(|| {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).find_map(|child| {
                child.child_by_field_name("name").filter(|_| {
                    matches!(
                        child.kind(),
                        "variable_declarator"
                            | "type_spec"
                            | "const_spec"
                            | "var_spec"
                            | "const_element"
                    )
                })
            })
        });
        if let Some(name) = named {
            return bare(self.text(name));
        }
        if let Some(declarator) = node.child_by_field_name("declarator") {
            return self.declared(declarator);
        }
        // `NAME = …` of Python and Ruby.
        let assignment = if node.kind() == "assignment" { Some(node) } else { node.named_child(0) };
        let left = assignment
            .filter(|it| it.kind() == "assignment")
            .and_then(|it| it.child_by_field_name("left"));
        left.map(|left| bare(self.text(left))).unwrap_or_default()
    }

    /// The name inside the declarators of C.
    fn declared(&self, mut node: Node<'_>) -> String {
        for _ in 0..MAX_DEPTH {
            match node.child_by_field_name("declarator").or_else(|| {
                (node.kind() == "reference_declarator").then(|| node.named_child(0)).flatten()
            }) {
                Some(inner) => node = inner,
                None => break,
            }
        }
        if let Some(name) =
            node.child_by_field_name("name").filter(|_| node.kind().ends_with("_declarator"))
        {
            return bare(self.text(name));
        }
        bare(self.text(node))
    }
}

/// Whether a declaration binds a function to a name.
fn defines_function(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| {
        let value = child.child_by_field_name("value").map(|value| value.kind());
        value.is_some_and(|kind| {
            matches!(
                kind,
                "arrow_function" | "function_expression" | "generator_function" | "class"
            )
        }) || child.kind() == "type_spec"
            && child
                .child_by_field_name("type")
                .is_some_and(|it| matches!(it.kind(), "struct_type" | "interface_type"))
    })
}

/// A name without type parameters and on one line.
fn bare(name: &str) -> String {
    let name = squeeze(name);
    let name = if name.starts_with("operator") {
        &name
    } else {
        name.split(['<', '(']).next().unwrap_or_default()
    };
    name.trim().trim_matches(['"', '\'']).to_owned()
}

/// A comment without what a sketch would not use.
fn kept(comment: &str) -> String {
    let mut texts = Vec::new();
    Sketch::push(&mut texts, comment);
    texts.pop().unwrap_or_default()
}

/// Whether nothing but white space stands before a place on its line.
fn begins_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}
