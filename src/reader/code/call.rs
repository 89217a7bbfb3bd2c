//! Calls in a syntax tree, and what else a name can be in one.

use tree_sitter::{Node, Parser};

use super::Syntax;
use super::grammar::language;
use super::usage::Usage;

/// Nodes that call something, and the field that says what. Names of nodes and fields mean the same in
/// all grammars that have them.
const CALLS: [(&str, &str); 12] = [
    ("call", "function"),
    ("call", "method"),
    ("call_expression", "function"),
    ("command", "name"),
    ("function_call_expression", "function"),
    ("invocation_expression", "function"),
    ("member_call_expression", "name"),
    ("method_invocation", "name"),
    ("new_expression", "constructor"),
    ("nullsafe_member_call_expression", "name"),
    ("object_creation_expression", "type"),
    ("scoped_call_expression", "name"),
];

/// Nodes that are a longer form of a name, and the field in which the name itself stands.
const LONGER: [(&str, &str); 13] = [
    ("attribute", "attribute"),
    ("dependent_name", "name"),
    ("field_expression", "field"),
    ("generic_function", "function"),
    ("member_access_expression", "name"),
    ("member_binding_expression", "name"),
    ("member_expression", "property"),
    ("qualified_identifier", "name"),
    ("qualified_name", "name"),
    ("scoped_identifier", "name"),
    ("selector_expression", "field"),
    ("template_function", "name"),
    ("template_method", "name"),
];

/// Nodes around a name, whose first named child it is.
const AROUND: [&str; 4] =
    ["command_name", "generic_name", "non_null_expression", "parenthesized_expression"];

/// Nodes that hold code within a string.
const INTERPOLATIONS: [&str; 6] = [
    "command_substitution",
    "expansion",
    "interpolation",
    "process_substitution",
    "string_interpolation",
    "template_substitution",
];

/// Ends of the names of nodes that define the name in their field `name`.
const DEFINING: [&str; 12] = [
    "_declaration",
    "_declarator",
    "_definition",
    "_item",
    "_signature",
    "_spec",
    "_specifier",
    "class",
    "enum_variant",
    "function",
    "method",
    "module",
];

/// Tells what a name is at each of these places; `None` if the text cannot be parsed at all.
pub(super) fn usages(
    syntax: Syntax,
    text: &str,
    name: &str,
    offsets: &[usize],
) -> Option<Vec<Usage>> {
    let mut parser = Parser::new();
    parser.set_language(&language(syntax)).ok()?;
    let tree = parser.parse(text.as_bytes(), None)?;
    let root = tree.root_node();
    let usage = |&start: &usize| {
        let end = start + name.len();
        let leaf = root.descendant_for_byte_range(start, end);
        leaf.map_or(Usage::Unclear, |leaf| usage(syntax, text, leaf, start..end))
    };
    Some(offsets.iter().map(usage).collect())
}

fn usage(syntax: Syntax, text: &str, leaf: Node<'_>, place: std::ops::Range<usize>) -> Usage {
    let around: Vec<Node<'_>> = ancestors(leaf).collect();
    let any = |test: &dyn Fn(&str) -> bool| around.iter().any(|node| test(node.kind()));
    if any(&|kind| kind.ends_with("comment")) {
        return Usage::Comment;
    }
    if any(&|kind| matches!(kind, "attribute_item" | "inner_attribute_item")) {
        return Usage::Mention;
    }
    let is_whole = leaf.byte_range() == place;
    // Recovery after a syntax error guesses, and we do not pass a guess on.
    let is_broken = around.iter().any(Node::is_error);
    if is_whole && is_called(leaf) {
        return if is_broken { Usage::Unclear } else { Usage::Call };
    }
    if any(&is_import) {
        return Usage::Import;
    }
    if is_in_string(&around) {
        return Usage::Text;
    }
    if is_broken {
        return Usage::Unclear;
    }
    match leaf.parent().map(|parent| parent.kind()) {
        Some("token_tree") if is_whole => return in_macro(text, leaf),
        Some("token_tree_pattern") => return Usage::Mention,
        _ => {}
    }
    // The body of a macro of C is one text to its grammar.
    if leaf.kind() == "preproc_arg" {
        let after = text.get(place.end..).unwrap_or_default().trim_start_matches([' ', '\t']);
        return if after.starts_with('(') { Usage::Call } else { Usage::Mention };
    }
    if is_whole && is_defined(leaf) {
        return Usage::Definition;
    }
    if syntax == Syntax::Ruby && leaf.kind() == "identifier" && is_value(leaf) {
        // `f` alone calls a method, unless a variable has that name.
        return Usage::Unclear;
    }
    Usage::Mention
}

/// A node, and those that it stands in.
fn ancestors(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(Some(node), Node::parent)
}

/// Whether a name is what a call calls.
fn is_called(leaf: Node<'_>) -> bool {
    let mut node = leaf;
    while let Some(parent) = node.parent() {
        if is_field(parent, node, &CALLS) {
            return true;
        }
        let is_first = parent.named_child(0) == Some(node);
        // `new` of PHP has no field for what it makes.
        if is_first && parent.kind() == "object_creation_expression" {
            return true;
        }
        // `a?.f` of C#, of which a call is made as a whole.
        let is_conditional = parent.kind() == "conditional_access_expression"
            && parent.child_by_field_name("condition") != Some(node);
        let is_around = is_conditional || is_first && AROUND.contains(&parent.kind());
        if !is_around && !is_field(parent, node, &LONGER) {
            return false;
        }
        node = parent;
    }
    false
}

fn is_field(parent: Node<'_>, child: Node<'_>, fields: &[(&str, &str)]) -> bool {
    fields
        .iter()
        .filter(|(kind, _)| *kind == parent.kind())
        .any(|(_, field)| parent.child_by_field_name(field) == Some(child))
}

/// Whether a string is around a place, without code within the string around it.
fn is_in_string(around: &[Node<'_>]) -> bool {
    let is_string = |kind: &str| {
        kind.contains("string") || kind.contains("heredoc") || kind.ends_with("char_literal")
    };
    around.iter().map(Node::kind).take_while(|kind| !INTERPOLATIONS.contains(kind)).any(is_string)
}

fn is_import(kind: &str) -> bool {
    matches!(
        kind,
        "use_declaration"
            | "extern_crate_declaration"
            | "import_statement"
            | "import_from_statement"
            | "import_declaration"
            | "future_import_statement"
            | "export_clause"
            | "preproc_include"
            | "using_directive"
            | "using_declaration"
            | "namespace_use_declaration"
    )
}

/// A name among the arguments of a macro, which have no syntax but brackets.
fn in_macro(text: &str, leaf: Node<'_>) -> Usage {
    let text_of = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    let before = leaf.prev_sibling().map(text_of).unwrap_or_default();
    if ["fn", "struct", "enum", "union", "trait", "type", "mod", "const", "static", "let"]
        .contains(&before)
    {
        return Usage::Definition;
    }
    let mut next = leaf.next_sibling();
    // Type arguments: `f::<T>(…)`.
    if next.map(text_of) == Some("::") {
        let mut depth = 0_i32;
        next = next.and_then(|node| node.next_sibling());
        if next.map(text_of) != Some("<") {
            return Usage::Mention;
        }
        while let Some(node) = next {
            next = node.next_sibling();
            match text_of(node) {
                "<" => depth += 1,
                ">" => depth -= 1,
                ">>" => depth -= 2,
                _ => {}
            }
            if depth <= 0 {
                break;
            }
        }
    }
    match next.map(text_of) {
        Some(arguments) if arguments.starts_with('(') => Usage::Call,
        _ => Usage::Mention,
    }
}

/// Whether a name is the one that a definition or declaration gives.
fn is_defined(leaf: Node<'_>) -> bool {
    let mut node = leaf;
    while let Some(parent) = node.parent() {
        let is_name = parent.child_by_field_name("name") == Some(node);
        let is_declared = parent.child_by_field_name("declarator") == Some(node);
        if is_name && DEFINING.iter().any(|end| parent.kind().ends_with(end)) || is_declared {
            return true;
        }
        if !is_field(parent, node, &LONGER) {
            return false;
        }
        node = parent;
    }
    false
}

/// Whether a name of Ruby is an expression, and not a parameter or what is assigned to.
fn is_value(leaf: Node<'_>) -> bool {
    let Some(parent) = leaf.parent() else { return true };
    let is_target = parent.child_by_field_name("left") == Some(leaf);
    let is_name = parent.child_by_field_name("name") == Some(leaf);
    !is_target && !is_name && !parent.kind().ends_with("parameters")
}
