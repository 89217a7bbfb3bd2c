//! Real output against the schemas in `schema/`: every key, in the order in which it is documented.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::harness::Env;
use crate::tidy::{assert_none, root};

/// A JSON value that knows the order of its keys.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    #[track_caller]
    pub(crate) fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The keys of an object, in their order; none of anything else.
    pub(crate) fn keys(&self) -> Vec<&str> {
        self.entries().iter().map(|(key, _)| key.as_str()).collect()
    }

    /// What an object has under a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    pub(crate) fn number(&self) -> f64 {
        match self {
            Self::Number(number) => *number,
            _ => f64::NAN,
        }
    }

    pub(crate) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Object(entries) => entries,
            _ => &[],
        }
    }

    fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(n) if n.fract().abs() < f64::EPSILON => "integer",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::List(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Json;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
                Ok(Json::Bool(value))
            }
            #[expect(clippy::cast_precision_loss, reason = "compared with small numbers only")]
            fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
                Ok(Json::Number(value as f64))
            }
            #[expect(clippy::cast_precision_loss, reason = "compared with small numbers only")]
            fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
                Ok(Json::Number(value as f64))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
                Ok(Json::Number(value))
            }
            fn visit_str<E>(self, value: &str) -> Result<Json, E> {
                Ok(Json::Text(value.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(Json::List(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Json::Object(entries))
            }
        }
        deserializer.deserialize_any(InOrder)
    }
}

/// A schema file: the part of JSON Schema that our schemas use.
pub(crate) struct Schema(Json);

impl Schema {
    pub(crate) fn read(name: &str) -> Self {
        let path = root().join("schema").join(name);
        Self(Json::parse(&std::fs::read_to_string(path).unwrap()))
    }

    /// Returns where a value is not as the schema says, with the order of its keys.
    pub(crate) fn faults(&self, value: &Json) -> Vec<String> {
        let mut faults = Vec::new();
        self.check(&self.0, value, "$", &mut faults);
        faults
    }

    fn check(&self, schema: &Json, value: &Json, at: &str, faults: &mut Vec<String>) {
        if let Some(name) = schema.get("$ref") {
            let name = name.text().trim_start_matches("#/$defs/");
            let part = self.0.get("$defs").and_then(|defs| defs.get(name));
            return self.check(part.unwrap_or_else(|| panic!("no {name}")), value, at, faults);
        }
        let is_a = |name: &Json| {
            name.text() == value.type_name()
                || (name.text() == "number" && value.type_name() == "integer")
        };
        match schema.get("type") {
            Some(Json::List(names)) if !names.iter().any(is_a) => {
                faults.push(format!("{at}: {value:?} is none of {names:?}"));
            }
            Some(name @ Json::Text(_)) if !is_a(name) => {
                faults.push(format!("{at}: {value:?} is no {}", name.text()));
            }
            _ => {}
        }
        if schema.get("const").is_some_and(|only| only != value) {
            faults.push(format!("{at}: {value:?} is not the constant"));
        }
        if schema.get("enum").is_some_and(|all| !all.items().contains(value)) {
            faults.push(format!("{at}: {value:?} is not among the values"));
        }
        if let (Some(Json::Number(least)), Json::Number(n)) = (schema.get("minimum"), value)
            && n < least
        {
            faults.push(format!("{at}: {n} is less than {least}"));
        }
        // As in JSON Schema, what is said of keys is said of objects alone.
        if let (Some(properties), Json::Object(_)) = (schema.get("properties"), value) {
            let known = properties.keys();
            let required = schema.get("required").map(Json::items).unwrap_or_default();
            for name in required.iter().filter(|name| value.get(name.text()).is_none()) {
                faults.push(format!("{at}: no {}", name.text()));
            }
            // The keys of the value are those of the schema, in their order, without the missing ones.
            let wanted: Vec<&str> =
                known.iter().copied().filter(|key| value.get(key).is_some()).collect();
            if value.keys() != wanted {
                faults.push(format!("{at}: the keys are {:?}, not {wanted:?}", value.keys()));
            }
            for (key, part) in properties.entries() {
                if let Some(inner) = value.get(key) {
                    self.check(part, inner, &format!("{at}.{key}"), faults);
                }
            }
        }
        if let Some(part) = schema.get("items") {
            for (i, item) in value.items().iter().enumerate() {
                self.check(part, item, &format!("{at}[{i}]"), faults);
            }
        }
    }
}

#[test]
fn a_recall_is_as_its_schema_says() {
    let schema = Schema::read("recall.schema.json");
    let env = Env::new();
    env.write("q.jsonl", "{\"_id\": \"q1\", \"text\": \"take back a commit\"}\n");
    let index = env.run(&["index", "tree"]);
    assert_eq!(index.code, Some(0), "{index:?}");
    let runs: [&[&str]; 6] = [
        &["--json", "take back a commit"],
        &["--json", "--explain", "take back a commit"],
        &["--json", "-n", "1", "the commit"],
        &["--json", "-b", "300", "the commit"],
        &["--json", "xylophone"],
        &["--format", "jsonl", "--queries", "q.jsonl"],
    ];
    for run in runs {
        let outcome = env.run(&[&["recall", "--store", "tree/.psos"], run].concat());
        assert!(matches!(outcome.code, Some(0 | 1)), "{run:?}: {outcome:?}");
        assert_none(schema.faults(&Json::parse(&outcome.stdout)));
    }
}

#[test]
fn the_reports_are_as_their_schemas_say() {
    let env = Env::new();
    env.write("tree/bad.jsonl", "{\"_id\": \"x\", \"text\": \"fine\"}\nnot json\n");
    env.write("tree/picture.png", "no reader");
    env.write("tree/.hidden.md", "# Hidden\n");
    let store = ["--store", "tree/.psos"];
    for (schema, args) in [
        ("index-report.schema.json", &["index", "tree", "--json"][..]),
        ("index-report.schema.json", &["index", "tree", "--json", "--full"]),
        ("index-preview.schema.json", &["index", "tree", "--json", "--dry-run"]),
        ("status.schema.json", &[&["status", "--json"], &store[..]].concat()),
        ("remarks.schema.json", &[&["status", "--remarks", "--json"], &store[..]].concat()),
        ("tables.schema.json", &[&["status", "--tables", "--json"], &store[..]].concat()),
        ("show-records.schema.json", &["show-records", "tree/git/undo.md", "--json"]),
        ("show-records.schema.json", &["show-records", "tree/bad.jsonl", "--json"]),
        ("doctor.schema.json", &[&["doctor", "--json"], &store[..]].concat()),
        ("get.schema.json", &[&["get", "rows.jsonl#d1", "--json"], &store[..]].concat()),
        ("get.schema.json", &[&["get", "rows.jsonl#d1:trigger", "--json"], &store[..]].concat()),
    ] {
        let outcome = env.run(args);
        assert_eq!(outcome.code, Some(0), "{args:?}: {outcome:?}");
        assert_none(Schema::read(schema).faults(&Json::parse(&outcome.stdout)));
    }
    std::fs::remove_file(env.path("tree/.psos/.gitignore")).unwrap();
    let ill = env.run(&[&["doctor", "--json"], &store[..]].concat());
    assert_eq!(ill.code, Some(3), "{ill:?}");
    assert_none(Schema::read("doctor.schema.json").faults(&Json::parse(&ill.stdout)));
    let list = env.run(&[&["ls", "--json"], &store[..]].concat());
    assert_eq!(list.stdout.lines().count(), 7, "{list:?}");
    for line in list.stdout.lines() {
        assert_none(Schema::read("ls.schema.json").faults(&Json::parse(line)));
    }
}

#[test]
fn a_planted_fault_in_an_answer_is_caught() {
    let schema = Schema(Json::parse(
        r##"{"type": "object", "required": ["a", "b"], "properties": {
            "a": {"type": "integer", "minimum": 1},
            "b": {"$ref": "#/$defs/list"}}, "$defs": {"list": {"type": "array", "items": {"enum": ["x"]}}}}"##,
    ));
    for (value, n_faults) in [
        (r#"{"a": 1, "b": ["x"]}"#, 0),
        (r#"{"b": ["x"], "a": 1}"#, 1),
        (r#"{"a": 1, "b": ["x"], "c": 1}"#, 1),
        (r#"{"a": 0, "b": ["y"]}"#, 2),
        (r#"{"a": "1", "b": []}"#, 1),
        (r#"{"a": 1}"#, 1),
    ] {
        let faults = schema.faults(&Json::parse(value));
        assert_eq!(faults.len(), n_faults, "{value}: {faults:?}");
    }
}
