//! What the nodes of each grammar are to us.

use tree_sitter::Language;

use super::Syntax;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// An item, whatever stands in it.
    Leaf,
    /// An item that others stand in.
    Type,
    /// A scope that is no item itself.
    Scope,
    /// Something around items that changes nothing about them: an export, a block.
    Around,
    /// An item if it is long or has a comment.
    Small,
    /// A comment or attribute, which belongs to the item below it.
    Above,
    /// Anything else.
    Other,
}

/// The grammar of a language.
pub(super) fn language(syntax: Syntax) -> Language {
    match syntax {
        Syntax::Bash => tree_sitter_bash::LANGUAGE.into(),
        Syntax::C => tree_sitter_c::LANGUAGE.into(),
        Syntax::Cpp => tree_sitter_cpp::LANGUAGE.into(),
        Syntax::CSharp => tree_sitter_c_sharp::LANGUAGE.into(),
        Syntax::Go => tree_sitter_go::LANGUAGE.into(),
        Syntax::Java => tree_sitter_java::LANGUAGE.into(),
        Syntax::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
        Syntax::Php => tree_sitter_php::LANGUAGE_PHP.into(),
        Syntax::Python => tree_sitter_python::LANGUAGE.into(),
        Syntax::Ruby => tree_sitter_ruby::LANGUAGE.into(),
        Syntax::Rust => tree_sitter_rust::LANGUAGE.into(),
        Syntax::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        Syntax::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    }
}

/// What a node of this kind is in a language.
pub(super) fn role(syntax: Syntax, kind: &str) -> Role {
    if kind.ends_with("comment")
        || matches!(kind, "attribute_item" | "attribute_list" | "decorator")
    {
        return Role::Above;
    }
    match syntax {
        Syntax::Bash => match kind {
            "function_definition" => Role::Leaf,
            _ => Role::Other,
        },
        Syntax::C | Syntax::Cpp => match kind {
            "function_definition" | "preproc_function_def" | "concept_definition" => Role::Leaf,
            "class_specifier" | "struct_specifier" | "union_specifier" => Role::Type,
            "namespace_definition" => Role::Scope,
            "template_declaration"
            | "linkage_specification"
            | "declaration_list"
            | "field_declaration_list"
            | "preproc_if"
            | "preproc_ifdef"
            | "preproc_else"
            | "preproc_elif" => Role::Around,
            "declaration" | "field_declaration" | "type_definition" | "enum_specifier"
            | "preproc_def" | "alias_declaration" => Role::Small,
            _ => Role::Other,
        },
        Syntax::CSharp => match kind {
            "method_declaration"
            | "constructor_declaration"
            | "destructor_declaration"
            | "operator_declaration"
            | "indexer_declaration" => Role::Leaf,
            "class_declaration"
            | "struct_declaration"
            | "interface_declaration"
            | "record_declaration" => Role::Type,
            "namespace_declaration" | "file_scoped_namespace_declaration" => Role::Scope,
            "declaration_list" => Role::Around,
            "property_declaration"
            | "enum_declaration"
            | "delegate_declaration"
            | "field_declaration"
            | "event_declaration" => Role::Small,
            _ => Role::Other,
        },
        Syntax::Go => match kind {
            "function_declaration" | "method_declaration" => Role::Leaf,
            "type_declaration" | "const_declaration" | "var_declaration" => Role::Small,
            _ => Role::Other,
        },
        Syntax::Java => match kind {
            "method_declaration"
            | "constructor_declaration"
            | "compact_constructor_declaration"
            | "annotation_type_declaration" => Role::Leaf,
            "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration" => Role::Type,
            "class_body" | "interface_body" | "enum_body" | "enum_body_declarations" => {
                Role::Around
            }
            "field_declaration" | "constant_declaration" => Role::Small,
            _ => Role::Other,
        },
        Syntax::JavaScript | Syntax::Tsx | Syntax::TypeScript => match kind {
            "function_declaration" | "generator_function_declaration" | "method_definition" => {
                Role::Leaf
            }
            "class_declaration" | "abstract_class_declaration" => Role::Type,
            "internal_module" | "module" => Role::Scope,
            "export_statement"
            | "class_body"
            | "statement_block"
            | "ambient_declaration"
            | "expression_statement" => Role::Around,
            "lexical_declaration"
            | "variable_declaration"
            | "interface_declaration"
            | "type_alias_declaration"
            | "enum_declaration"
            | "function_signature"
            | "abstract_method_signature"
            | "public_field_definition"
            | "field_definition" => Role::Small,
            _ => Role::Other,
        },
        Syntax::Php => match kind {
            "function_definition" | "method_declaration" => Role::Leaf,
            "class_declaration"
            | "interface_declaration"
            | "trait_declaration"
            | "enum_declaration" => Role::Type,
            "namespace_definition" => Role::Scope,
            "declaration_list" | "enum_declaration_list" | "compound_statement" => Role::Around,
            "const_declaration" | "property_declaration" => Role::Small,
            _ => Role::Other,
        },
        Syntax::Python => match kind {
            "function_definition" => Role::Leaf,
            "class_definition" => Role::Type,
            "decorated_definition" | "block" => Role::Around,
            "expression_statement" => Role::Small,
            _ => Role::Other,
        },
        Syntax::Ruby => match kind {
            "method" | "singleton_method" => Role::Leaf,
            "class" => Role::Type,
            "module" => Role::Scope,
            "body_statement" | "singleton_class" => Role::Around,
            "assignment" => Role::Small,
            _ => Role::Other,
        },
        Syntax::Rust => match kind {
            "function_item"
            | "macro_definition"
            | "struct_item"
            | "enum_item"
            | "union_item"
            | "function_signature_item" => Role::Leaf,
            "trait_item" => Role::Type,
            "impl_item" | "mod_item" => Role::Scope,
            "declaration_list" | "foreign_mod_item" => Role::Around,
            "const_item" | "static_item" | "type_item" | "macro_invocation" => Role::Small,
            _ => Role::Other,
        },
    }
}
