//! The languages, by the path of a file.

use std::path::Path;

/// A language that can be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Rust, whose types and borrows the syntax tree tells in part.
    Rust,
    /// Python 3, in which indentation ends a block.
    Python,
    /// JavaScript, also with JSX.
    JavaScript,
    /// TypeScript, without JSX.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// Go, which needs the types of parameters.
    Go,
    /// C, whose preprocessor is seen but not run.
    C,
    /// C++, also in headers that end in `.hpp` and the like.
    Cpp,
    /// Java, whose members stand in classes.
    Java,
    /// C#.
    CSharp,
    /// Markdown, whose headings are its symbols. It has no syntax tree.
    Markdown,
}

const EXTENSIONS: &[(Language, &[&str])] = &[
    (Language::Rust, &["rs"]),
    (Language::Python, &["py", "pyi", "pyw"]),
    (Language::JavaScript, &["js", "mjs", "cjs", "jsx"]),
    (Language::TypeScript, &["ts", "mts", "cts"]),
    (Language::Tsx, &["tsx"]),
    (Language::Go, &["go"]),
    (Language::C, &["c", "h"]),
    (Language::Cpp, &["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "tpp"]),
    (Language::Java, &["java"]),
    (Language::CSharp, &["cs", "csx"]),
    (Language::Markdown, &["md", "markdown", "mdown", "mkd"]),
];

const C_KEYWORDS: &str = "auto break case char const continue default do double else enum extern false float for \
     goto if inline int long nullptr register restrict return short signed sizeof static struct switch true \
     typedef typeof union unsigned void volatile while";

const CPP_KEYWORDS: &str = "alignas alignof and asm auto bool break case catch char class co_await co_return \
     co_yield compl concept const consteval constexpr constinit continue decltype default delete do double \
     dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable \
     namespace new noexcept not nullptr operator or private protected public register reinterpret_cast \
     requires return short signed sizeof static static_assert static_cast struct switch template this \
     thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t \
     while xor";

impl Language {
    /// Every language, in display order.
    pub const ALL: [Self; 11] = [
        Self::Rust,
        Self::Python,
        Self::JavaScript,
        Self::TypeScript,
        Self::Tsx,
        Self::Go,
        Self::C,
        Self::Cpp,
        Self::Java,
        Self::CSharp,
        Self::Markdown,
    ];

    /// Returns the language of a file by its extension; `None` if there is no parser for it.
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let known = EXTENSIONS.iter().find(|(_, known)| known.contains(&extension.as_str()));
        known.map(|(language, _)| *language)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::TypeScript => "TypeScript",
            Self::Tsx => "TSX",
            Self::Go => "Go",
            Self::C => "C",
            Self::Cpp => "C++",
            Self::Java => "Java",
            Self::CSharp => "C#",
            Self::Markdown => "Markdown",
        }
    }

    /// Returns the grammar. Its static tables cost nothing until they are used.
    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            // Of Markdown an empty text is parsed, for which any grammar will do.
            Self::C | Self::Markdown => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::CSharp => tree_sitter_c_sharp::LANGUAGE.into(),
        }
    }

    /// True for JavaScript and its supersets.
    pub(crate) fn is_ecmascript(self) -> bool {
        matches!(self, Self::JavaScript | Self::TypeScript | Self::Tsx)
    }

    /// True if files of both languages import each other by statements that are mended after a
    /// move.
    pub fn has_modules_like(self, other: Self) -> bool {
        (self.is_ecmascript() && other.is_ecmascript())
            || (self == Self::Python && other == Self::Python)
    }

    /// True if statements of the language can be extracted.
    pub fn has_extraction(self) -> bool {
        matches!(self, Self::Rust | Self::Python | Self::Go) || self.is_ecmascript()
    }

    /// True for nodes that are a function with statements or an expression of its own, whose
    /// `return` doesn't leave the function around it.
    pub(crate) fn is_function(self, kind: &str) -> bool {
        match self {
            Self::Rust => {
                matches!(kind, "function_item" | "closure_expression" | "async_block" | "gen_block")
            }
            Self::Python => matches!(kind, "function_definition" | "lambda"),
            Self::Go => {
                matches!(kind, "function_declaration" | "method_declaration" | "func_literal")
            }
            Self::JavaScript | Self::TypeScript | Self::Tsx => matches!(
                kind,
                "function_declaration"
                    | "function_expression"
                    | "generator_function"
                    | "generator_function_declaration"
                    | "arrow_function"
                    | "method_definition"
                    | "class_static_block"
                    | "field_definition"
                    | "public_field_definition"
            ),
            Self::C | Self::Cpp => matches!(kind, "function_definition" | "lambda_expression"),
            Self::Java => matches!(
                kind,
                "method_declaration"
                    | "constructor_declaration"
                    | "compact_constructor_declaration"
                    | "lambda_expression"
            ),
            Self::CSharp => matches!(
                kind,
                "method_declaration"
                    | "constructor_declaration"
                    | "destructor_declaration"
                    | "operator_declaration"
                    | "conversion_operator_declaration"
                    | "local_function_statement"
                    | "accessor_declaration"
                    | "lambda_expression"
                    | "anonymous_method_expression"
            ),
            Self::Markdown => false,
        }
    }

    /// True for nodes whose children are statements that run one after the other.
    pub(crate) fn is_statement_list(self, node: tree_sitter::Node<'_>) -> bool {
        let kind = node.kind();
        match self {
            Self::Rust => kind == "block",
            // The cases of a `match` are in a block, too.
            Self::Python => {
                kind == "block" && node.parent().is_none_or(|one| one.kind() != "match_statement")
            }
            Self::Go => kind == "statement_list",
            Self::JavaScript | Self::TypeScript | Self::Tsx => {
                matches!(kind, "statement_block" | "switch_case" | "switch_default")
            }
            Self::C | Self::Cpp | Self::Java | Self::CSharp | Self::Markdown => false,
        }
    }

    /// True for comments.
    pub(crate) fn is_comment(kind: &str) -> bool {
        matches!(kind, "comment" | "line_comment" | "block_comment" | "html_comment")
    }

    /// True for loops.
    pub(crate) fn is_loop(kind: &str) -> bool {
        matches!(
            kind,
            "for_statement"
                | "for_in_statement"
                | "while_statement"
                | "do_statement"
                | "for_expression"
                | "while_expression"
                | "loop_expression"
        )
    }

    /// True for literals whose lines are content, so that they can't be indented.
    pub(crate) fn is_string(kind: &str) -> bool {
        matches!(
            kind,
            "string"
                | "string_literal"
                | "raw_string_literal"
                | "template_string"
                | "concatenated_string"
                | "interpreted_string_literal"
                | "regex"
        )
    }

    /// True if a text can be the name of a function.
    pub fn is_name(self, name: &str) -> bool {
        if self == Self::Markdown {
            return !name.trim().is_empty() && !name.contains(['\n', '\r']);
        }
        let dollar = self.is_ecmascript() || self == Self::Java;
        let starts =
            |first: char| first.is_alphabetic() || first == '_' || (dollar && first == '$');
        let mut chars = name.chars();
        let formed = chars.next().is_some_and(starts)
            && chars.all(|next| next.is_alphanumeric() || next == '_' || (dollar && next == '$'));
        formed && name != "_" && !self.keywords().split_whitespace().any(|word| word == name)
    }

    fn keywords(self) -> &'static str {
        match self {
            Self::Rust => {
                "as async await break const continue crate dyn else enum extern false fn for gen if impl in \
                 let loop match mod move mut pub ref return self Self static struct super trait true try \
                 type unsafe use where while abstract become box do final macro override priv typeof \
                 unsized virtual yield"
            }
            Self::Python => {
                "False None True and as assert async await break class continue def del elif else except \
                 finally for from global if import in is lambda nonlocal not or pass raise return try while \
                 with yield"
            }
            Self::Go => {
                "break case chan const continue default defer else fallthrough for func go goto if import \
                 interface map package range return select struct switch type var nil true false iota init \
                 main append cap close complex copy delete imag len make new panic print println real \
                 recover min max clear any bool byte error int string"
            }
            Self::JavaScript | Self::TypeScript | Self::Tsx => {
                "arguments await break case catch class const continue debugger default delete do else enum \
                 eval export extends false finally for function if implements import in instanceof \
                 interface let new null package private protected public return static super switch this \
                 throw true try typeof undefined var void while with yield constructor"
            }
            Self::C => C_KEYWORDS,
            Self::Cpp => CPP_KEYWORDS,
            Self::Java => {
                "abstract assert boolean break byte case catch char class const continue default do double \
                 else enum extends false final finally float for goto if implements import instanceof int \
                 interface long native new null package private protected public return short static strictfp \
                 super switch synchronized this throw throws transient true try void volatile while"
            }
            Self::CSharp => {
                "abstract as base bool break byte case catch char checked class const continue decimal default \
                 delegate do double else enum event explicit extern false finally fixed float for foreach goto \
                 if implicit in int interface internal is lock long namespace new null object operator out \
                 override params private protected public readonly ref return sbyte sealed short sizeof \
                 stackalloc static string struct switch this throw true try typeof uint ulong unchecked unsafe \
                 ushort using virtual void volatile while"
            }
            Self::Markdown => "",
        }
    }
}
