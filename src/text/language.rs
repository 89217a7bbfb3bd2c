//! Which language a text is written in, and how its words are stemmed.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rust_stemmers::{Algorithm, Stemmer};

/// Irregular English forms: a line has a base form and then its others.
const IRREGULAR: &str = include_str!("irregular.txt");

/// The languages whose words psos stems, by the Snowball algorithms, and one for all others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "a language says what it is")]
pub enum Language {
    /// Any other language, and text that is not prose: words stay as they are.
    #[default]
    Other,
    Arabic,
    Danish,
    Dutch,
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
}

/// Letters that a text must have before its own statistics outweigh the usual case, English.
const MIN_LETTERS: usize = 60;
/// Confidence from which a guess of a language other than English is believed.
const MIN_CONFIDENCE: f64 = 0.9;

impl Language {
    /// All languages, in the order of their numbers.
    pub const ALL: [Self; 19] = [
        Self::Other,
        Self::Arabic,
        Self::Danish,
        Self::Dutch,
        Self::English,
        Self::Finnish,
        Self::French,
        Self::German,
        Self::Greek,
        Self::Hungarian,
        Self::Italian,
        Self::Norwegian,
        Self::Portuguese,
        Self::Romanian,
        Self::Russian,
        Self::Spanish,
        Self::Swedish,
        Self::Tamil,
        Self::Turkish,
    ];

    /// Guesses the language of a text.
    ///
    /// The guess depends on the text alone. A short text in Latin script, and a text that no
    /// language fits clearly, is taken for English: most technical text is, and a wrong stemmer
    /// does more harm than a missed one.
    pub fn detect(text: &str) -> Self {
        let letters = text.chars().filter(|c| c.is_alphabetic()).take(MIN_LETTERS).count();
        let Some(guess) = whatlang::detect(text) else { return Self::English };
        let language = Self::of_whatlang(guess.lang());
        let latin = guess.script() == whatlang::Script::Latin;
        let sure = letters >= MIN_LETTERS && guess.confidence() >= MIN_CONFIDENCE;
        if latin && !sure { Self::English } else { language }
    }

    /// The English name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Arabic => "arabic",
            Self::Danish => "danish",
            Self::Dutch => "dutch",
            Self::English => "english",
            Self::Finnish => "finnish",
            Self::French => "french",
            Self::German => "german",
            Self::Greek => "greek",
            Self::Hungarian => "hungarian",
            Self::Italian => "italian",
            Self::Norwegian => "norwegian",
            Self::Portuguese => "portuguese",
            Self::Romanian => "romanian",
            Self::Russian => "russian",
            Self::Spanish => "spanish",
            Self::Swedish => "swedish",
            Self::Tamil => "tamil",
            Self::Turkish => "turkish",
        }
    }

    fn of_whatlang(lang: whatlang::Lang) -> Self {
        use whatlang::Lang;
        match lang {
            Lang::Ara => Self::Arabic,
            Lang::Dan => Self::Danish,
            Lang::Nld => Self::Dutch,
            Lang::Eng => Self::English,
            Lang::Fin => Self::Finnish,
            Lang::Fra => Self::French,
            Lang::Deu => Self::German,
            Lang::Ell => Self::Greek,
            Lang::Hun => Self::Hungarian,
            Lang::Ita => Self::Italian,
            Lang::Nob => Self::Norwegian,
            Lang::Por => Self::Portuguese,
            Lang::Ron => Self::Romanian,
            Lang::Rus => Self::Russian,
            Lang::Spa => Self::Spanish,
            Lang::Swe => Self::Swedish,
            Lang::Tam => Self::Tamil,
            Lang::Tur => Self::Turkish,
            _ => Self::Other,
        }
    }

    /// Returns the stem of a folded word, the word itself for [`Language::Other`].
    pub(crate) fn stem(self, word: &str) -> String {
        let algorithm = match self {
            Self::Other => return word.to_owned(),
            Self::Arabic => Algorithm::Arabic,
            Self::Danish => Algorithm::Danish,
            Self::Dutch => Algorithm::Dutch,
            Self::English => Algorithm::English,
            Self::Finnish => Algorithm::Finnish,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Greek => Algorithm::Greek,
            Self::Hungarian => Algorithm::Hungarian,
            Self::Italian => Algorithm::Italian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Romanian => Algorithm::Romanian,
            Self::Russian => Algorithm::Russian,
            Self::Spanish => Algorithm::Spanish,
            Self::Swedish => Algorithm::Swedish,
            Self::Tamil => Algorithm::Tamil,
            Self::Turkish => Algorithm::Turkish,
        };
        let word = if self == Self::English { regular(word) } else { word };
        Stemmer::create(algorithm).stem(word).into_owned()
    }
}

/// Returns the base form of an irregular English word, any other word as it is: `went` is a form of
/// `go`, which no rule of endings can tell.
fn regular(word: &str) -> &str {
    static BASES: OnceLock<BTreeMap<&str, &str>> = OnceLock::new();
    let bases = BASES.get_or_init(|| {
        IRREGULAR
            .lines()
            .filter_map(|line| {
                let mut forms = line.split_whitespace();
                let base = forms.next()?;
                Some(forms.map(move |form| (form, base)))
            })
            .flatten()
            .collect()
    });
    bases.get(word).copied().unwrap_or(word)
}
