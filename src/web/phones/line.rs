//! An alert in one line of text.

use serde_json::Value;

use super::News;
use crate::laws::{self, Lang};

/// A word in English and Spanish.
pub(super) const fn pick(lang: Lang, en: &'static str, es: &'static str) -> &'static str {
    match lang {
        Lang::En => en,
        Lang::Es => es,
    }
}

/// How loud it is.
pub(super) fn loudness(alert: &Value, lang: Lang) -> &'static str {
    match alert["level"].as_str() {
        Some("urgent") => pick(lang, "Go now", "Vaya ya"),
        Some("check") => pick(lang, "Look when you pass", "Mírelo al pasar"),
        _ => pick(lang, "For the file", "Para el acta"),
    }
}

/// `Board 3`.
pub(super) fn board(alert: &Value, lang: Lang) -> String {
    format!("{} {}", pick(lang, "Board", "Tablero"), alert["board"])
}

/// What happened, with the move as the language writes it.
pub(super) fn what(alert: &Value, lang: Lang) -> String {
    let title = alert["title"][lang.code()].as_str().unwrap_or_default();
    let played = alert["move"].as_str().unwrap_or_default();
    format!("{title}. {}", laws::notation(played, lang))
}

/// Who has it, or that nobody has.
pub(super) fn who(alert: &Value, news: News, lang: Lang) -> String {
    match news {
        News::Raised => String::new(),
        News::Escalated => pick(
            lang,
            "Nobody came: it is everybody's.",
            "No ha ido nadie: es de todos.",
        )
        .to_owned(),
        News::Claimed => {
            let by = alert["claimed_by"].as_str().unwrap_or("?");
            match lang {
                Lang::En => format!("{by} has it."),
                Lang::Es => format!("La tiene {by}."),
            }
        }
    }
}

/// All of it, for an app that shows text alone.
pub(super) fn line(alert: &Value, news: News, lang: Lang) -> String {
    let [loud, board] = [loudness(alert, lang).to_owned(), board(alert, lang)];
    let text = format!(
        "{loud}: {board}. {}. {}",
        what(alert, lang),
        who(alert, news, lang)
    );
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_alert_is_one_line_in_either_language() {
        let alert = json!({
            "board": 3, "level": "urgent", "move": "17... Ng6", "claimed_by": "ana",
            "title": {"en": "Black: bad knight jump", "es": "Negras: salto de caballo"},
        });
        assert_eq!(
            line(&alert, News::Raised, Lang::En),
            "Go now: Board 3. Black: bad knight jump. 17... Ng6."
        );
        assert_eq!(
            line(&alert, News::Claimed, Lang::Es),
            "Vaya ya: Tablero 3. Negras: salto de caballo. 17... Cg6. La tiene ana."
        );
    }
}
