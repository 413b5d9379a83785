//! The catalogue in words: for `atalaya explain`, and for the text of an alert.

use std::{fmt::Write as _, str::FromStr};

use thiserror::Error;

use super::{
    Certainty, Code, Counts, Edition, Finding,
    rows::{Witness, Words},
};
use crate::words::Side;

/// A language of the arbiters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lang {
    /// English.
    En,
    /// Spanish.
    Es,
}

impl FromStr for Lang {
    type Err = UnknownLang;

    fn from_str(name: &str) -> Result<Lang, UnknownLang> {
        match name {
            "en" => Ok(Lang::En),
            "es" => Ok(Lang::Es),
            _ => Err(UnknownLang(name.to_owned())),
        }
    }
}

/// A language the catalogue is not written in.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{0}' is no language of the catalogue: en or es")]
pub struct UnknownLang(pub String);

impl Lang {
    /// `en` or `es`.
    pub const fn code(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::Es => "es",
        }
    }

    /// The words in this language.
    pub const fn of(self, words: Words) -> &'static str {
        match self {
            Lang::En => words.en,
            Lang::Es => words.es,
        }
    }
}

/// All that the catalogue says of one code.
pub fn explain(code: Code, lang: Lang, edition: Edition) -> String {
    let row = code.row();
    let say = |en, es| lang.of(Words { en, es });
    let certainty = match row.certainty {
        Certainty::Certain => say("certain", "cierta"),
        Certainty::Probable => say("probable", "probable"),
        Certainty::Hint => say("hint", "indicio"),
    };
    let counts = match row.counts {
        Counts::Yes => say("yes", "sí"),
        Counts::IfSeen => say("only on the arbiter's word", "solo si lo decide el árbitro"),
        Counts::IfRuled => say(
            "only where the event calls it an illegal move, on the arbiter's word",
            "solo si el torneo lo considera jugada ilegal y lo decide el árbitro",
        ),
        Counts::No => say("no", "no"),
    };
    let witness = match code.witness() {
        Witness::Board => say("the board or its clock", "el tablero o su reloj"),
        Witness::State => say(
            "the board or its clock; no alert is raised",
            "el tablero o su reloj; no se emite aviso",
        ),
        Witness::People => say(
            "people only; an arbiter may enter it",
            "solo las personas; un árbitro puede anotarlo",
        ),
    };
    let mut text = format!(
        "{code}: {}\n\n{}\n\n",
        lang.of(row.title),
        lang.of(row.text)
    );
    for each in Edition::ALL {
        let articles = row.articles(each).join(", ");
        if !articles.is_empty() {
            let mark = if each == edition { " *" } else { "" };
            let label = say("Articles", "Artículos");
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{label} {each}{mark}: {articles}");
        }
    }
    let _ = writeln!(text, "{}: {certainty}", say("Certainty", "Certeza"));
    let _ = writeln!(
        text,
        "{}: {counts}",
        say("Counts (7.5.5)", "Cuenta (7.5.5)")
    );
    let _ = writeln!(text, "{}: {witness}", say("Noticed by", "Lo advierte"));
    let _ = writeln!(
        text,
        "{}: {}",
        say("The arbiter", "El árbitro"),
        lang.of(row.action)
    );
    text
}

/// Title and text of an alert: the catalogue's words with side, move and squares filled in.
pub fn describe(finding: &Finding, lang: Lang, edition: Edition) -> (String, String) {
    let row = finding.code.row();
    let side = match (lang, finding.side) {
        (Lang::En, Side::White) => "White",
        (Lang::En, Side::Black) => "Black",
        (Lang::Es, Side::White) => "Blancas",
        (Lang::Es, Side::Black) => "Negras",
    };
    let title = format!("{side}: {}", lang.of(row.title));
    let mut text = side.to_owned();
    if finding.played.is_empty() {
        text.push_str(": ");
    } else {
        let played = notation(&finding.played, lang);
        let _ = write!(text, " {played}: ");
    }
    text.push_str(lang.of(row.text));
    let articles = row.articles(edition).join(", ");
    if !articles.is_empty() {
        let _ = write!(text, " ({articles})");
    }
    if finding.squares.len() > 2 {
        let squares: Vec<String> = finding.squares[2..]
            .iter()
            .map(ToString::to_string)
            .collect();
        let also = lang.of(Words {
            en: "See",
            es: "Véase",
        });
        let _ = write!(text, " {also} {}.", squares.join(", "));
    }
    (title, text)
}

/// How sure a finding is, and why.
pub const fn surety(finding: &Finding) -> Words {
    match (finding.certainty, finding.instead.is_some()) {
        (Certainty::Certain, false) => Words {
            en: "Certain: only a fault of the sensors could explain these men otherwise.",
            es: "Cierta: solo un fallo de los sensores explicaría de otro modo estas piezas.",
        },
        (Certainty::Certain, true) => Words {
            en: "Certain that a rule was broken; which one, look at the board: two fit the same men.",
            es: "Es cierto que se infringió una regla; cuál, véalo en el tablero: dos encajan con las mismas piezas.",
        },
        (Certainty::Probable, _) => Words {
            en: "Probable: the best explanation, but an innocent one exists. Look at the board first.",
            es: "Probable: es la mejor explicación, pero hay una inocente. Mire antes el tablero.",
        },
        (Certainty::Hint, _) => Words {
            en: "A hint: it fits a breach and ordinary play alike.",
            es: "Un indicio: encaja con una infracción y también con el juego normal.",
        },
    }
}

/// A move in the letters of the language.
pub fn notation(played: &str, lang: Lang) -> String {
    match lang {
        Lang::En => played.to_owned(),
        Lang::Es => played.chars().map(spanish).collect(),
    }
}

/// The letter of a man in Spanish notation.
const fn spanish(letter: char) -> char {
    match letter {
        'K' => 'R',
        'Q' => 'D',
        'R' => 'T',
        'B' => 'A',
        'N' => 'C',
        other => other,
    }
}
