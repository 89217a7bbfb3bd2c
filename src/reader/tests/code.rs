//! Claims about source code: which items each language has, and what they are called.

use super::{check_invariants, outline, read_checked, read_text, triggers};
use expect_test::{Expect, expect};

fn check(path: &str, text: &str, want: Expect) {
    let document = read_checked(path, text);
    assert_eq!(document.diagnostics, []);
    let texts: Vec<String> =
        document.records.iter().map(|record| format!("{}\n", record.description.text)).collect();
    want.assert_eq(&(outline(&document) + &texts.concat()));
}

#[test]
fn rust() {
    check(
        "a.rs",
        "//! Things.\n\nuse std::fmt;\n\nconst N: u8 = 1;\n\n/// A point.\n#[derive(Debug)]\npub struct Point {\n    x: u8,\n}\n\nimpl Point {\n    /// Makes one. Fast.\n    pub fn new(x: u8) -> Self {\n        Self { x }\n    }\n    fn get_x(&self) -> u8 { self.x }\n}\n\nimpl fmt::Display for Point {\n    fn fmt(&self) {}\n}\n\nmod inner {\n    pub(crate) async fn run<T>(t: T)\n    where\n        T: Send,\n    {\n    }\n}\n\ntrait T {\n    fn f(&self);\n}\n",
        expect![[r#"
            file    # [a.rs] () 1-6 children 6
            item    #Point [Point] () 7-12 children 0
            item    #Point::new [new] (Point) 13-17 children 0
            item    #Point::get_x [get_x] (Point) 18-20 children 0
            item    #<Point as fmt::Display>::fmt [fmt] (<Point as fmt::Display>) 21-24 children 0
            item    #inner::run [run] (inner) 25-32 children 0
            item    #T [T] () 33-33 children 1
            item    #T::f [f] (T) 34-35 children 0
            a.rs: Things.
            A point.
            Makes one.
            Point::get_x: fn get_x(&self) -> u8
            <Point as fmt::Display>::fmt: fn fmt(&self)
            inner::run: pub(crate) async fn run<T>(t: T) where T: Send,
            T: trait T
            T::f: fn f(&self);
        "#]],
    );
}

#[test]
fn python() {
    check(
        "a.py",
        "\"\"\"Things to do.\"\"\"\nimport os\n\nX = 1\n\n@cache\ndef load(path):\n    \"\"\"Loads a file. Slowly.\"\"\"\n    return 1\n\nclass Store(Base):\n    \"\"\"Keeps things.\"\"\"\n\n    size = 1\n\n    def __init__(self):\n        pass\n\n    @property\n    async def get_all(self) -> list:\n        def inner():\n            pass\n\n# Runs it.\ndef main(): pass\n",
        expect![[r#"
            file    # [a.py] () 1-5 children 3
            item    #load [load] () 6-10 children 0
            item    #Store [Store] () 11-15 children 2
            item    #Store.__init__ [__init__] (Store) 16-18 children 0
            item    #Store.get_all [get_all] (Store) 19-23 children 0
            item    #main [main] () 24-25 children 0
            Things to do.
            Loads a file.
            Keeps things.
            Store.__init__: def __init__(self)
            Store.get_all: async def get_all(self) -> list
            Runs it.
        "#]],
    );
}

#[test]
fn javascript() {
    check(
        "a.js",
        "import x from 'y';\n\n/**\n * Loads it.\n * @param a x\n */\nexport async function load(a) {\n  return a;\n}\n\nexport default class Store extends Base {\n  constructor() {}\n  get size() { return 1; }\n}\n\nconst handler = async (req) => {\n  run();\n};\n\nmodule.exports = { load };\n",
        expect![[r#"
            file    # [a.js] () 1-2 children 3
            item    #load [load] () 3-10 children 0
            item    #Store [Store] () 11-11 children 2
            item    #Store.constructor [constructor] (Store) 12-12 children 0
            item    #Store.size [size] (Store) 13-15 children 0
            item    #handler [handler] () 16-20 children 0
            a.js: load; Store; handler
            Loads it.
            Store: class Store extends Base
            Store.constructor: constructor()
            Store.size: get size()
            handler: const handler = async (req) =>
        "#]],
    );
}

#[test]
fn typescript() {
    check(
        "a.ts",
        "// What a user is.\nexport interface User {\n  id: string;\n}\n\nexport type Id = string;\n\nenum Color {\n  Red,\n  Green,\n}\n\nnamespace N {\n  export function f(x: number): void {}\n}\n\nexport abstract class A<T> {\n  private x = 1;\n  run<T>(t: T): void {}\n}\n",
        expect![[r#"
            file    # [a.ts] () 1-7 children 3
            item    #Color [Color] () 8-12 children 0
            item    #N.f [f] (N) 13-16 children 0
            item    #A [A] () 17-18 children 1
            item    #A.run [run] (A) 19-20 children 0
            What a user is.
            Color: enum Color
            N.f: function f(x: number): void
            A: abstract class A<T>
            A.run: run<T>(t: T): void
        "#]],
    );
    check(
        "a.tsx",
        "export const App = () => <div>x</div>;\n",
        expect![[r#"
        item    #App [App] () 1-1 children 0
        App: const App = () => <div>x</div>;
    "#]],
    );
}

#[test]
fn go() {
    check(
        "a.go",
        "// Package a does it.\npackage a\n\nimport \"fmt\"\n\n// Store keeps things.\ntype Store struct {\n\tn int\n}\n\ntype ID string\n\n// Get gets.\nfunc (s *Store) Get(k string) error {\n\treturn nil\n}\n\nfunc main() {}\n",
        expect![[r#"
            file    # [a.go] () 1-5 children 3
            item    #Store [Store] () 6-12 children 0
            item    #Store.Get [Get] (Store) 13-17 children 0
            item    #main [main] () 18-18 children 0
            Package a does it.
            Store keeps things.
            Get gets.
            main: func main()
        "#]],
    );
}

#[test]
fn java() {
    check(
        "A.java",
        "package a;\n\n/** A store. */\npublic class Store<T> {\n    private int n;\n\n    /** Makes one. */\n    public Store() {}\n\n    @Override\n    public T get(String k) throws E {\n        return null;\n    }\n\n    enum Kind { A, B; int f() { return 1; } }\n}\n",
        expect![[r#"
            file    # [A.java] () 1-2 children 1
            item    #Store [Store] () 3-6 children 3
            item    #Store.Store [Store] (Store) 7-9 children 0
            item    #Store.get [get] (Store) 10-14 children 0
            item    #Store.Kind [Kind] (Store) 15-15 children 1
            item    #Store.Kind.f [f] (Store > Kind) 15-16 children 0
            A.java: Store
            A store.
            Makes one.
            Store.get: @Override public T get(String k) throws E
            Store.Kind: enum Kind
            Store.Kind.f: int f()
        "#]],
    );
}

#[test]
fn c() {
    check(
        "a.c",
        "#include <stdio.h>\n\n/* A point. */\nstruct point {\n  int x;\n};\n\ntypedef struct {\n  int y;\n  int z;\n} pair_t;\n\nstatic int n = 1;\n\n// Adds.\nint *add(int a, int b)\n{\n  return 0;\n}\n\n#ifdef X\nvoid f(void) {}\n#endif\n",
        expect![[r#"
            file    # [a.c] () 1-2 children 4
            item    #point [point] () 3-7 children 0
            item    #pair_t [pair_t] () 8-14 children 0
            item    #add [add] () 15-21 children 0
            item    #f [f] () 22-23 children 0
            a.c: point; pair_t; add; f
            A point.
            pair_t: typedef struct
            add: Adds.
            f: void f(void)
        "#]],
    );
}

#[test]
fn cpp() {
    check(
        "a.cpp",
        "namespace a::b {\n\n/// A store.\ntemplate <typename T>\nclass Store : public Base {\n public:\n  Store();\n  /// Gets.\n  T get(int k) const;\n  int size() { return 1; }\n};\n\nint Store::run() { return 1; }\n\nbool operator==(const A& a, const A& b) { return true; }\n\n}  // namespace\n",
        expect![[r#"
            item    #a::b::Store [Store] (a::b) 1-7 children 2
            item    #a::b::Store::get [get] (a::b > Store) 8-9 children 0
            item    #a::b::Store::size [size] (a::b > Store) 10-12 children 0
            item    #a::b::Store::run [Store::run] (a::b) 13-14 children 0
            item    #a::b::operator== [operator==] (a::b) 15-17 children 0
            A store.
            a::b::Store::get: Gets.
            a::b::Store::size: int size()
            a::b::Store::run: int Store::run()
            a::b::operator==: bool operator==(const A& a, const A& b)
        "#]],
    );
}

#[test]
fn c_sharp() {
    check(
        "A.cs",
        "using System;\n\nnamespace A.B;\n\n/// <summary>Keeps things.</summary>\npublic class Store\n{\n    public int N { get; set; }\n\n    /// <summary>\n    /// Gets one.\n    /// </summary>\n    [Obsolete]\n    public async Task<T> Get(string k) => null;\n}\n",
        expect![[r#"
            file    # [A.cs] () 1-4 children 1
            item    #A.B.Store [Store] (A.B) 5-9 children 1
            item    #A.B.Store.Get [Get] (A.B > Store) 10-15 children 0
            A.cs: Store
            Keeps things.
            Gets one.
        "#]],
    );
}

#[test]
fn ruby() {
    check(
        "a.rb",
        "require 'x'\n\nmodule A\n  # Keeps things.\n  class Store < Base\n    def initialize(n)\n      @n = n\n    end\n\n    def self.load(path)\n    end\n  end\nend\n",
        expect![[r#"
            file    # [a.rb] () 1-2 children 1
            item    #A::Store [Store] (A) 3-5 children 2
            item    #A::Store::initialize [initialize] (A > Store) 6-9 children 0
            item    #A::Store::load [load] (A > Store) 10-13 children 0
            a.rb: Store
            Keeps things.
            A::Store::initialize: def initialize(n)
            A::Store::load: def self.load(path)
        "#]],
    );
}

#[test]
fn php() {
    check(
        "a.php",
        "<?php\nnamespace A\\B;\n\n/** Keeps things. */\nclass Store extends Base\n{\n    public function get(string $k): ?T\n    {\n    }\n}\n\nfunction run() {}\n",
        expect![[r#"
            file    # [a.php] () 1-3 children 2
            item    #A\B::Store [Store] (A\B) 4-6 children 1
            item    #A\B::Store::get [get] (A\B > Store) 7-11 children 0
            item    #A\B::run [run] (A\B) 12-12 children 0
            a.php: Store; run
            Keeps things.
            A\B::Store::get: public function get(string $k): ?T
            A\B::run: function run()
        "#]],
    );
}

#[test]
fn bash() {
    check(
        "a.sh",
        "#!/bin/bash\n# Deploys it.\nset -e\n\n# Logs a line.\nlog() {\n  echo \"$1\"\n}\n\nfunction main {\n  log x\n}\n\nmain \"$@\"\n",
        expect![[r#"
            file    # [a.sh] () 1-4 children 2
            item    #log [log] () 5-9 children 0
            item    #main [main] () 10-14 children 0
            Deploys it.
            Logs a line.
            main: function main
        "#]],
    );
}

#[test]
fn an_item_is_selected_by_its_full_name() {
    let text = "impl Store {\n    fn get(&self) {}\n    fn load_all(&self) {}\n}\nfn parse() {}\n";
    let document = read_text("a.rs", text);
    let phrases: Vec<String> = document.records.iter().map(triggers).collect();
    assert_eq!(phrases, ["d:Store::get", "d:Store::load_all | d:load_all", "d:parse"]);
}

#[test]
fn code_that_does_not_parse_is_still_whole() {
    for text in
        ["fn a( {{{\n\nfn b() {}\n", "}}}}\n", "class {\n", "\u{feff}fn x() {}\r\nfn y() {}\r\n"]
    {
        for path in ["a.rs", "a.py", "a.js", "a.c", "a.java"] {
            check_invariants(text.as_bytes(), &read_text(path, text));
        }
    }
}
