//! The table: articles, certainty, weight and words of every code.

use std::{fmt, str::FromStr};

use thiserror::Error;

use super::{Certainty, Code};
use crate::incident::Level;

/// An edition of the FIDE Laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Edition {
    /// Applied from 1 July 2014.
    E2014,
    /// Applied from 1 January 2018.
    E2018,
    /// Applied from 1 January 2023.
    E2023,
}

impl Edition {
    /// Newest first.
    pub const ALL: [Edition; 3] = [Edition::E2023, Edition::E2018, Edition::E2014];

    /// The edition of a year, as the configuration names it.
    pub const fn of_year(year: u16) -> Option<Edition> {
        match year {
            2014 => Some(Edition::E2014),
            2018 => Some(Edition::E2018),
            2023 => Some(Edition::E2023),
            _ => None,
        }
    }
}

/// A year in which no edition began.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{0}' is no edition of the Laws: 2023, 2018 or 2014")]
pub struct UnknownEdition(pub String);

impl FromStr for Edition {
    type Err = UnknownEdition;

    fn from_str(year: &str) -> Result<Edition, UnknownEdition> {
        let known = year.parse().ok().and_then(Edition::of_year);
        known.ok_or_else(|| UnknownEdition(year.to_owned()))
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Edition::E2014 => "2014",
            Edition::E2018 => "2018",
            Edition::E2023 => "2023",
        })
    }
}

/// Whether it goes to 7.5.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counts {
    /// Proposed as a count.
    Yes,
    /// Only when the arbiter saw it, or decides so.
    IfSeen,
    /// Only where the event calls it an illegal move (laws.md 10), and the arbiter saw it.
    IfRuled,
    /// Never.
    No,
}

/// Who can notice it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Witness {
    /// Board or clock: an alert.
    Board,
    /// Board or clock, too; but it is ordinary play or stands in the board's state (result, phase,
    /// clock, turned), and raises no alert.
    State,
    /// Only people: an arbiter may enter it.
    People,
}

/// The same words in both languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    /// English.
    pub en: &'static str,
    /// Spanish.
    pub es: &'static str,
}

/// One row of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Which.
    pub code: Code,
    articles: &'static [&'static str],
    /// How sure it is as a rule.
    pub certainty: Certainty,
    /// How loud.
    pub level: Level,
    /// Whether it counts towards 7.5.5.
    pub counts: Counts,
    /// A few words.
    pub title: Words,
    /// What broke.
    pub text: Words,
    /// What the arbiter does.
    pub action: Words,
}

/// Numbers that changed: 2023, 2018, 2014 (empty where the rule was not there). The others differ
/// only in that 2014 has letters for the last figure of three or more.
const RENUMBERED: &[[&str; 3]] = &[
    ["3.1.1", "3.1.1", "3.1"],
    ["3.7.3.1", "3.7.4.1", "3.7.d"],
    ["3.7.3.2", "3.7.4.2", "3.7.d"],
    ["3.7.3.3", "3.7.5.1", "3.7.e"],
    ["3.7.3.4", "3.7.5.2", "3.7.e"],
    ["3.8.2", "3.8.2", "3.8.b"],
    ["3.8.2.1", "3.8.2.1", "3.8.b"],
    ["3.8.2.2", "3.8.2.2", "3.8.b"],
    ["3.9.2", "3.9.2", "3.9"],
    ["4.2.1", "4.2.1", "4.2"],
    ["5.2.1", "5.2.1", "5.2.a"],
    ["7.5.2", "7.5.2", "7.5.a"],
    ["7.5.3", "7.5.3", ""],
    ["7.5.4", "7.5.4", "4.1"],
    ["9.2.1", "9.2.1", "9.2"],
    ["9.3.1", "9.3", "9.3"],
    ["9.5.3", "9.5.3", "9.5.b"],
    ["III.3.1", "III.3.1", ""],
    ["1.2", "1.2", "1.1"],
    ["1.3", "1.3", "1.1"],
    ["1.4.1", "1.4.1", "1.2"],
    ["6.3.1", "6.3.1", "6.3.a"],
    ["A.5.4", "A.4.4", "A.4"],
];

fn numbered(article: &'static str, edition: Edition) -> &'static str {
    let column = match edition {
        Edition::E2023 => return article,
        Edition::E2018 => 1,
        Edition::E2014 => 2,
    };
    if let Some(row) = RENUMBERED.iter().find(|row| row[0] == article) {
        return row[column];
    }
    match (edition, article) {
        (Edition::E2014, "3.7.1") => "3.7.a",
        (Edition::E2014, "3.7.2") => "3.7.b",
        (Edition::E2014, "3.7.3") => "3.7.c",
        (Edition::E2014, "3.8.1") => "3.8.a",
        (Edition::E2014, "3.10.3") => "3.10.c",
        (Edition::E2014, "4.3.1") => "4.3.a",
        (Edition::E2014, "4.3.2") => "4.3.b",
        (Edition::E2014, "4.3.3") => "4.3.c",
        (Edition::E2014, "4.4.1") => "4.4.a",
        (Edition::E2014, "4.4.2") => "4.4.b",
        (Edition::E2014, "4.4.3") => "4.4.c",
        (Edition::E2014, "4.4.4") => "4.4.d",
        (Edition::E2014, "4.7.2") => "4.7.b",
        (Edition::E2014, "5.1.1") => "5.1.a",
        (Edition::E2014, "5.1.2") => "5.1.b",
        (Edition::E2014, "5.2.2") => "5.2.b",
        (Edition::E2014, "5.2.3") => "5.2.c",
        (Edition::E2014, "6.2.1") => "6.2.a",
        (Edition::E2014, "6.2.3") => "6.2.b",
        (Edition::E2014, "6.2.4") => "6.2.c",
        (Edition::E2014, "6.10.2") => "6.10.b",
        (Edition::E2014, "6.11.2") => "6.11.b",
        (Edition::E2014, "7.2.1") => "7.2.a",
        (Edition::E2014, "7.2.2") => "7.2.b",
        (Edition::E2014, "7.4.1") => "7.4.a",
        (Edition::E2014, "7.5.1") => "7.5.a",
        (Edition::E2014, "9.6.1") => "9.6.a",
        (Edition::E2014, "9.6.2") => "9.6.b",
        _ => article,
    }
}

impl Row {
    /// The articles by their number in an edition. Empty when the Laws name none.
    pub fn articles(&self, edition: Edition) -> Vec<&'static str> {
        let mut list: Vec<&'static str> = Vec::new();
        let moved = self.counts == Counts::Yes
            && !self
                .articles
                .iter()
                .any(|article| article.starts_with("7.5"));
        let restored = moved.then_some("7.5.1");
        for article in self.articles.iter().copied().chain(restored) {
            let number = numbered(article, edition);
            if !number.is_empty() && !list.contains(&number) {
                list.push(number);
            }
        }
        list
    }
}

impl Code {
    /// Who can notice it.
    pub const fn witness(self) -> Witness {
        match self {
            Code::TwoHands
            | Code::WrongHandPressed
            | Code::ClockHovered
            | Code::ClockHitHard
            | Code::ClockKnocked
            | Code::ColoursReversed
            | Code::Resignation
            | Code::AgreedDraw
            | Code::ClaimRightLost
            | Code::WrongClaim
            | Code::LateArrival => Witness::People,
            Code::RepliedBeforePress
            | Code::ClockNotPressed
            | Code::ClockPaused
            | Code::RookThenKing
            | Code::Adjusted
            | Code::AdjustedOutOfTurn
            | Code::Checkmate
            | Code::Stalemate => Witness::State,
            _ => Witness::Board,
        }
    }

    /// Its row of the catalogue.
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

macro_rules! rows {
    ($($code:ident [$($article:literal),*] $certainty:ident $level:ident $counts:ident $action:ident
        $en:literal $en_text:literal $es:literal $es_text:literal;)*) => {
        /// In the order of [`Code::ALL`].
        static ROWS: [Row; Code::ALL.len()] = [$(Row {
            code: Code::$code,
            articles: &[$($article),*],
            certainty: Certainty::$certainty,
            level: Level::$level,
            counts: Counts::$counts,
            title: Words { en: $en, es: $es },
            text: Words { en: $en_text, es: $es_text },
            action: $action,
        },)*];
    };
}

const RESTORE: Words = Words {
    en: "Restore the position before the move; the man first moved, or the man taken, must be moved or taken if it legally can be. First offence: extra time to the opponent; second: the game is lost, or drawn if the opponent cannot mate.",
    es: "Restablecer la posición anterior a la jugada; debe moverse la pieza tocada, o capturarse la pieza capturada, si es legal. Primera infracción: tiempo adicional al rival; segunda: partida perdida, o tablas si el rival no puede dar mate.",
};
const QUEEN: Words = Words {
    en: "The pawn becomes a queen of its colour and the opponent moves. It counts as an illegal move.",
    es: "El peón se convierte en dama de su color y juega el rival. Cuenta como jugada ilegal.",
};
const LOOK: Words = Words {
    en: "Look at the board and decide; it may be a sensor fault.",
    es: "Mirar el tablero y decidir; puede ser un fallo de los sensores.",
};
const DISPLACED: Words = Words {
    en: "Have the men put back in the offender's time; decide whether it was an illegal move.",
    es: "Hacer recolocar las piezas en el tiempo del infractor; decidir si hubo jugada ilegal.",
};
const TOUCH: Words = Words {
    en: "If you saw the touch, enforce it at once. The board alone proves nothing.",
    es: "Si vio que se tocó la pieza, aplicar la regla de inmediato. El tablero solo no prueba nada.",
};
const ROOK_FIRST: Words = Words {
    en: "If you saw the rook touched first: castling on this side is off and the rook must move. It is an illegal move only where the event says so.",
    es: "Si vio que se tocó primero la torre: no se permite este enroque y debe moverse la torre. Es jugada ilegal solo si el torneo lo dispone.",
};
const WATCH: Words = Words {
    en: "Observe; a breach falls under Article 12.9.",
    es: "Observar; una infracción se trata según el artículo 12.9.",
};
const CLOCK: Words = Words {
    en: "Check the clock; correct it only where the Laws allow.",
    es: "Comprobar el reloj; corregirlo solo cuando las Leyes lo permitan.",
};
const RESET: Words = Words {
    en: "Pause the clock and set the last good times and the move counter.",
    es: "Detener el reloj y poner los últimos tiempos buenos y el contador de jugadas.",
};
const TURN: Words = Words {
    en: "Before the game: turn the board. In the game: it goes on with the position transferred to a board placed rightly.",
    es: "Antes de la partida: girar el tablero. Durante ella: continúa con la posición trasladada a un tablero bien colocado.",
};
const NOTHING: Words = Words {
    en: "Nothing; do not tell the players.",
    es: "Nada; no advertir a los jugadores.",
};
const ONE_MOVE: Words = Words {
    en: "Wait for the next completed move. If an illegal position still stands then, declare the game drawn; if you saw the illegal move itself, act on that.",
    es: "Esperar a la siguiente jugada completada. Si la posición sigue siendo ilegal, declarar tablas; si vio la propia jugada ilegal, actuar por ella.",
};
const STEP_IN: Words = Words {
    en: "Step in and declare the result.",
    es: "Intervenir y declarar el resultado.",
};
const CLAIM: Words = Words {
    en: "Wait for a claim by the player to move.",
    es: "Esperar la reclamación del jugador que está en juego.",
};

rows! {
    OwnPieceCaptured ["3.1"] Certain Urgent Yes RESTORE "Own man captured" "A man was moved to a square held by a man of its own side." "Captura de una pieza propia" "Se movió una pieza a una casilla ocupada por otra de su propio color.";
    CapturedPieceNotRemoved ["3.1.1"] Certain Urgent Yes RESTORE "Captured man not removed" "The captured man still stands on another square of the board." "Pieza capturada sin retirar" "La pieza capturada sigue en otra casilla del tablero.";
    BishopOffDiagonal ["3.2"] Certain Urgent Yes RESTORE "Bishop off its diagonal" "A bishop was moved otherwise than along a diagonal." "Alfil fuera de la diagonal" "El alfil no se movió en diagonal.";
    BishopChangedColour ["3.2"] Certain Urgent Yes RESTORE "Bishop changed the colour of its squares" "A bishop was moved to a square of the other colour." "Alfil que cambia de color de casilla" "El alfil pasó a una casilla del otro color.";
    RookOffLine ["3.3"] Certain Urgent Yes RESTORE "Rook off file and rank" "A rook was moved along neither a file nor a rank." "Torre fuera de columna y fila" "La torre no se movió por columna ni por fila.";
    QueenOffLine ["3.4"] Certain Urgent Yes RESTORE "Queen off her lines" "A queen was moved along no file, rank or diagonal." "Dama fuera de sus líneas" "La dama no se movió por columna, fila ni diagonal.";
    SliderJumpedPiece ["3.5"] Certain Urgent Yes RESTORE "Jumped over a man" "A queen, rook or bishop passed over a man in its way." "Salto sobre otra pieza" "Una dama, torre o alfil pasó por encima de otra pieza.";
    KnightBadJump ["3.6"] Certain Urgent Yes RESTORE "Bad knight jump" "A knight was moved to a square it does not reach." "Salto de caballo incorrecto" "El caballo fue a una casilla que no alcanza.";
    PawnAdvanceTooFar ["3.7.1", "3.7.2"] Certain Urgent Yes RESTORE "Pawn advanced too far" "A pawn went further than it may." "Peón que avanza demasiado" "El peón avanzó más de lo permitido.";
    PawnDoubleStepNotHome ["3.7.2"] Certain Urgent Yes RESTORE "Double step not from home" "A pawn that had left its home square advanced two squares." "Avance doble fuera de la casilla inicial" "Un peón que ya no estaba en su casilla inicial avanzó dos casillas.";
    PawnAdvanceBlocked ["3.7.2"] Certain Urgent Yes RESTORE "Double step over a man" "A pawn advanced two squares over an occupied one." "Avance doble sobre una pieza" "El peón avanzó dos casillas pasando sobre una ocupada.";
    PawnCapturedForward ["3.7.1"] Certain Urgent Yes RESTORE "Pawn captured straight ahead" "A pawn captured the man in front of it." "Peón que captura de frente" "El peón capturó la pieza que tenía delante.";
    PawnDiagonalNoCapture ["3.7.3"] Certain Urgent Yes RESTORE "Pawn moved diagonally without a capture" "A pawn went diagonally to an empty square." "Peón en diagonal sin capturar" "El peón fue en diagonal a una casilla vacía.";
    PawnBackwardOrSideways ["3.7.1"] Certain Urgent Yes RESTORE "Pawn moved backward or sideways" "A pawn did not advance." "Peón hacia atrás o de lado" "El peón no avanzó.";
    KingBadStep ["3.8.1"] Certain Urgent Yes RESTORE "King moved too far" "The king went more than one square and it is no castling." "Rey que se mueve demasiado" "El rey se desplazó más de una casilla sin enrocar.";
    KingCaptured ["1.4.1"] Certain Urgent Yes RESTORE "King captured" "The opponent's king was taken, which is not allowed." "Captura del rey" "Se capturó el rey rival, lo que no está permitido.";
    TwoPiecesMoved ["3.1"] Certain Urgent Yes RESTORE "Two men moved" "Two men of one side changed squares in one turn." "Dos piezas movidas" "Dos piezas del mismo color cambiaron de casilla en un solo turno.";
    MoveOutOfTurn ["1.2", "1.3"] Certain Check No LOOK "Move out of turn" "The side that was not to move has moved." "Jugada fuera de turno" "Movió el bando al que no le tocaba jugar.";
    MovedOpponentPiece ["1.2", "3.1"] Certain Urgent Yes RESTORE "Moved a man of the opponent" "The only man that changed squares belongs to the opponent." "Movió una pieza del rival" "La única pieza que cambió de casilla es del rival.";
    KingLeftInCheck ["3.9.2"] Certain Urgent Yes RESTORE "King left in check" "The move leaves its own king in check." "Rey dejado en jaque" "La jugada deja al propio rey en jaque.";
    OwnKingExposed ["3.9.2"] Certain Urgent Yes RESTORE "Own king exposed to check" "The move opens an attack on its own king." "Rey propio expuesto al jaque" "La jugada abre un ataque contra el propio rey.";
    KingMovedIntoCheck ["3.9.2"] Certain Urgent Yes RESTORE "King moved into check" "The king went to an attacked square." "Rey que se pone en jaque" "El rey fue a una casilla atacada.";
    KingsAdjacent ["3.9.2"] Certain Urgent Yes RESTORE "Kings side by side" "The king went next to the other king." "Reyes contiguos" "El rey se colocó junto al rey rival.";
    BothKingsInCheck ["A.5.4", "3.10.3"] Certain Urgent No ONE_MOVE "Both kings in check" "Both kings stand in check: the position is illegal." "Ambos reyes en jaque" "Los dos reyes están en jaque: la posición es ilegal.";
    CastlingKingMoved ["3.8.2.1"] Certain Urgent Yes RESTORE "Castled after the king had moved" "The right to castle was lost: the king had moved." "Enroque con el rey ya movido" "El derecho al enroque estaba perdido: el rey ya se había movido.";
    CastlingRookMoved ["3.8.2.1"] Certain Urgent Yes RESTORE "Castled after the rook had moved" "The right to castle with this rook was lost." "Enroque con la torre ya movida" "El derecho al enroque con esa torre estaba perdido.";
    CastlingOutOfCheck ["3.8.2.2"] Certain Urgent Yes RESTORE "Castled out of check" "The king was in check before castling." "Enroque estando en jaque" "El rey estaba en jaque antes del enroque.";
    CastlingThroughCheck ["3.8.2.2"] Certain Urgent Yes RESTORE "Castled through check" "The king crossed an attacked square." "Enroque a través de jaque" "El rey cruzó una casilla atacada.";
    CastlingIntoCheck ["3.8.2.2", "3.9.2"] Certain Urgent Yes RESTORE "Castled into check" "The king stands in check after castling." "Enroque que deja al rey en jaque" "El rey queda en jaque tras el enroque.";
    CastlingPathBlocked ["3.8.2.2"] Certain Urgent Yes RESTORE "Castled over a man" "A man stood between king and rook." "Enroque con piezas de por medio" "Había una pieza entre el rey y la torre.";
    CastlingBadSquares ["3.8.2"] Certain Urgent Yes RESTORE "Castled to wrong squares" "King and rook do not stand on the squares of castling." "Enroque en casillas incorrectas" "El rey y la torre no están en las casillas del enroque.";
    CastlingIncomplete ["3.8.2", "4.7.2"] Certain Urgent Yes RESTORE "Castling not finished" "The king went two squares and the rook stayed at home." "Enroque incompleto" "El rey avanzó dos casillas y la torre quedó en su sitio.";
    CastlingRookFirst ["4.4.2"] Probable Info IfRuled ROOK_FIRST "Castled rook first" "The rook was moved before the king." "Enroque con la torre primero" "Se movió la torre antes que el rey.";
    CastlingInterrupted ["4.4.1", "4.4.2"] Hint Info No TOUCH "Castling broken off" "The rook went next to the king and the king did not castle." "Enroque interrumpido" "La torre se colocó junto al rey y no se completó el enroque.";
    PromotionPawnNotReplaced ["7.5.2"] Certain Urgent Yes QUEEN "Pawn left on the last rank" "The pawn was not replaced before the clock was pressed." "Peón sin coronar" "No se sustituyó el peón antes de pulsar el reloj.";
    PromotionBadPiece ["3.7.3.3"] Certain Urgent Yes RESTORE "Promoted to a man that is not allowed" "The man on the promotion square is a king or of the wrong colour." "Coronación con una pieza no permitida" "La pieza en la casilla de coronación es un rey o del otro color.";
    PromotionSquareMismatch ["3.7.3.3"] Certain Urgent Yes RESTORE "Promoted on another square" "The new man does not stand where the pawn could arrive." "Coronación en otra casilla" "La nueva pieza no está en una casilla a la que pudiera llegar el peón.";
    PromotionEarly ["3.7.3.3"] Certain Urgent Yes RESTORE "Promoted too early" "A pawn was exchanged before the last rank." "Coronación prematura" "Se cambió el peón antes de la última fila.";
    PromotionChoiceChanged ["4.4.4"] Hint Info No TOUCH "Choice of promotion changed" "Another man stood on the promotion square first." "Cambio de pieza al coronar" "Antes hubo otra pieza en la casilla de coronación.";
    InvertedRookPromotion ["6.11.2"] Hint Info IfRuled LOOK "Promotion to a rook" "Perhaps an upside-down rook meant as a queen: by the manual it is a rook, at some events an illegal move." "Coronación en torre" "Quizá una torre invertida que pretendía ser dama: según el manual es una torre; en algunos torneos, jugada ilegal.";
    PromotionPieceMissing ["3.7.3.3"] Probable Check Yes LOOK "No promoted man" "The pawn is gone and no new man is read; it may be upside down." "Falta la pieza coronada" "El peón no está y no se lee pieza nueva; puede estar invertida.";
    PromotionVictimNotRemoved ["4.6", "3.1.1"] Certain Urgent Yes RESTORE "Man captured in promoting not removed" "The captured man still stands on the board." "Pieza capturada al coronar sin retirar" "La pieza capturada sigue en el tablero.";
    EnPassantLate ["3.7.3.1", "3.7.3.2"] Certain Urgent Yes RESTORE "En passant too late" "The double step was not the move just before." "Captura al paso tardía" "El avance doble no fue la jugada inmediatamente anterior.";
    EnPassantNoDoubleStep ["3.7.3.1"] Certain Urgent Yes RESTORE "En passant without a double step" "The captured pawn had not made a double step." "Captura al paso sin avance doble" "El peón capturado no había hecho un avance doble.";
    EnPassantWrongVictim ["3.7.3.1"] Certain Urgent Yes RESTORE "Wrong pawn taken en passant" "Another pawn than the one that made the double step was removed." "Peón equivocado capturado al paso" "Se retiró un peón distinto del que hizo el avance doble.";
    EnPassantByPiece ["3.7.3.1"] Certain Urgent Yes RESTORE "En passant by a piece" "Only a pawn may capture en passant." "Captura al paso con una pieza" "Solo un peón puede capturar al paso.";
    EnPassantVictimLeft ["3.7.3.1"] Certain Urgent Yes RESTORE "Pawn taken en passant not removed" "The captured pawn is still on its square." "Peón capturado al paso sin retirar" "El peón capturado sigue en su casilla.";
    ClockPressedWithoutMove ["7.5.3"] Certain Urgent IfSeen LOOK "Clock pressed without a move" "The clock was pressed and no man had moved." "Reloj pulsado sin jugar" "Se pulsó el reloj sin haber hecho una jugada.";
    ClockPressedBeforeMove ["6.2.4"] Probable Info No WATCH "Clock pressed before the move" "The man was put down after the press." "Reloj pulsado antes de jugar" "La pieza se colocó después de pulsar el reloj.";
    TwoHands ["4.1", "7.5.4"] Hint Info IfSeen WATCH "Two hands" "The move was made with both hands." "Jugada con las dos manos" "La jugada se hizo con ambas manos.";
    WrongHandPressed ["6.2.3"] Hint Info No WATCH "Clock pressed with the other hand" "The press came sooner than one hand can do." "Reloj pulsado con la otra mano" "El reloj se pulsó antes de lo que permite una sola mano.";
    ClockHovered ["6.2.3"] Hint Info No WATCH "Hand kept over the clock" "A hand may not hover over the clock." "Mano sobre el reloj" "No se puede mantener la mano sobre el reloj.";
    ClockHitHard ["6.2.4"] Hint Info No WATCH "Clock hit hard" "The lever bounced." "Reloj golpeado con fuerza" "La palanca del reloj rebotó.";
    ClockKnocked ["6.2.4"] Hint Check No CLOCK "Clock knocked over" "The clock lost its connection or its times." "Reloj tirado" "El reloj perdió la conexión o los tiempos.";
    RepliedBeforePress ["6.2.1"] Certain Info No NOTHING "Replied before the press" "The opponent moved before the clock was pressed. This is legal." "Respuesta antes de pulsar" "El rival jugó antes de que se pulsara el reloj. Es legal.";
    ClockNotPressed ["12.6"] Certain Info No NOTHING "Clock not pressed" "A move was made and the player's own clock still runs." "Reloj sin pulsar" "La jugada está hecha y sigue corriendo el reloj propio.";
    ClockPaused ["6.11.2"] Certain Info No LOOK "Clock paused" "Both clocks stand still." "Reloj detenido" "Ambos relojes están parados.";
    ClockRunsForWrongSide ["6.10.2"] Certain Check No CLOCK "Clock runs for the wrong side" "The clock of the side not to move is running." "Corre el reloj equivocado" "Corre el reloj del bando al que no le toca jugar.";
    TouchedOtherPiece ["4.3.1"] Hint Info No TOUCH "Another man was lifted" "A man that could move was lifted and put back, and another was played." "Se levantó otra pieza" "Se levantó y devolvió una pieza que podía jugar, y se movió otra.";
    TouchedEnemyNotCaptured ["4.3.2"] Hint Info No TOUCH "Enemy man lifted, not captured" "An enemy man that could be taken was lifted and put back." "Pieza rival levantada y no capturada" "Se levantó y devolvió una pieza rival capturable.";
    TouchedBothOrder ["4.3.3"] Hint Info No TOUCH "One man of each colour lifted" "The capture between them was legal and was not played." "Una pieza de cada color levantada" "La captura entre ambas era legal y no se jugó.";
    KingRookTouchedNoCastle ["4.4.1"] Hint Info No TOUCH "King and rook lifted, not castled" "King and rook were lifted and castling was legal." "Rey y torre levantados sin enrocar" "Se levantaron rey y torre y el enroque era legal.";
    RookThenKing ["4.4.2"] Hint Info No TOUCH "Rook lifted, then the king" "Castling on this side is not allowed on this move." "Torre levantada y luego el rey" "No se permite enrocar por ese lado en esta jugada.";
    IllegalCastleNoKingMove ["4.4.3", "4.7.2"] Probable Check No TOUCH "No king move after an illegal castling" "A legal king move was possible and another man was played." "Sin jugada de rey tras un enroque ilegal" "Había una jugada legal de rey y se movió otra pieza.";
    ReleasedPieceMovedAgain ["4.7"] Hint Info No TOUCH "Moved again after release" "The man stood on a legal square and then went to another." "Pieza soltada y movida de nuevo" "La pieza estuvo en una casilla legal y luego pasó a otra.";
    AdjustedOutOfTurn ["4.2.1"] Probable Info No WATCH "Men adjusted in the opponent's time" "Men were lifted and put back while the opponent's clock ran." "Piezas compuestas en el tiempo del rival" "Se levantaron y devolvieron piezas con el reloj del rival en marcha.";
    Adjusted ["4.2.1"] Certain Info No NOTHING "Men adjusted" "Men were lifted and put back." "Piezas compuestas" "Se levantaron y devolvieron piezas.";
    ReplacementNotTouchedPiece ["7.5.1", "4.3"] Certain Check No LOOK "Replacement by another man" "After the restored illegal move neither man touched was used." "Jugada sustituta con otra pieza" "Tras restablecer la jugada ilegal no se usó la pieza tocada.";
    LegalMoveRetracted ["4.7"] Hint Info No TOUCH "Legal move taken back" "A complete legal move was undone before the press." "Jugada legal retirada" "Se deshizo una jugada legal completa antes de pulsar el reloj.";
    DisplacedPieceLeft ["7.4.1", "7.6"] Certain Urgent No DISPLACED "Displaced man" "Beside a legal move another man stands on a wrong square." "Pieza desplazada" "Además de una jugada legal, otra pieza está en una casilla incorrecta.";
    PieceMissingAtPress ["7.4.1"] Probable Check No LOOK "Man missing at the press" "A man is not read on its square; most often a sensor doubt." "Falta una pieza al pulsar" "No se lee una pieza en su casilla; casi siempre es duda del sensor.";
    PieceIdentityChanged [] Certain Check No LOOK "Man reads as another" "A man changed its type without a promotion; most often a chip." "Pieza que se lee como otra" "Una pieza cambió de tipo sin coronación; casi siempre es el chip.";
    PieceReappeared ["3.10.3"] Certain Check No LOOK "Man reappeared" "A side gained a man without a promotion." "Pieza reaparecida" "Un bando ganó una pieza sin coronación.";
    ImpossiblePosition ["3.10.3"] Certain Check No LOOK "Impossible position" "No series of legal moves leads to this position." "Posición imposible" "Ninguna serie de jugadas legales lleva a esta posición.";
    UnexplainedGap ["7.6"] Certain Check No LOOK "Unexplained change" "The men cannot be reached from the last known position." "Cambio sin explicación" "No se puede llegar a estas piezas desde la última posición conocida.";
    InitialPositionWrong ["7.2.1"] Certain Check No LOOK "Wrong initial position" "The game started from a wrong position." "Posición inicial incorrecta" "La partida empezó desde una posición incorrecta.";
    BoardTurned ["7.2.2"] Certain Check No TURN "Board a quarter turned" "The men are set up along the files: the dark corner is not at White's left." "Tablero girado un cuarto" "Las piezas están colocadas a lo largo de las columnas: la esquina oscura no está a la izquierda de las blancas.";
    ClockTurned ["6.5"] Certain Check No CLOCK "Clock turned" "The times run opposite to the moves: the clock's sides are the wrong way round, here or in the settings." "Reloj girado" "Los tiempos corren al revés que las jugadas: los lados del reloj están cambiados, aquí o en la configuración.";
    ColoursReversed ["7.3"] Hint Info No LOOK "Colours reversed" "The players have the wrong colours." "Colores cambiados" "Los jugadores tienen los colores cambiados.";
    ClockSettingWrong ["6.10.2"] Certain Check No CLOCK "Wrong clock setting" "The times differ from the time control of the event." "Reloj mal ajustado" "Los tiempos no son los del ritmo de juego del torneo.";
    ClockReset ["6.10.2", "7.1"] Certain Check No RESET "Clock reset in mid-game" "The times went back to those of the start; the times at the press are the last good ones." "Reloj reiniciado en plena partida" "Los tiempos volvieron a los del comienzo; los tiempos de la pulsación son los últimos buenos.";
    MoveCounterOff ["7.1", "6.10.2"] Certain Check No CLOCK "Move counter off" "The clock counts other moves than were made: its time comes at the wrong move." "Contador de jugadas incorrecto" "El reloj cuenta otras jugadas que las realizadas: su tiempo llega en la jugada equivocada.";
    IllegalMoveNotCompleted ["7.5.1", "6.2.1"] Certain Check No LOOK "Illegal move not completed" "The opponent replied to an illegal move before the clock was pressed." "Jugada ilegal no completada" "El rival respondió a una jugada ilegal antes de que se pulsara el reloj.";
    Checkmate ["5.1.1"] Certain Info No LOOK "Checkmate" "The king is mated; the game is over." "Jaque mate" "El rey ha recibido mate; la partida ha terminado.";
    Stalemate ["5.2.1"] Certain Info No LOOK "Stalemate" "The side to move has no legal move: a draw." "Rey ahogado" "El bando en juego no tiene jugada legal: tablas.";
    DeadPosition ["5.2.2"] Certain Check No STEP_IN "Dead position" "Neither side can mate: a draw." "Posición muerta" "Ningún bando puede dar mate: tablas.";
    Resignation ["5.1.2"] Hint Info No LOOK "Resignation" "A player seems to have resigned." "Abandono" "Parece que un jugador ha abandonado.";
    AgreedDraw ["5.2.3"] Hint Info No LOOK "Draw agreed" "The players seem to have agreed a draw." "Tablas de mutuo acuerdo" "Parece que los jugadores acordaron tablas.";
    ThreefoldAvailable ["9.2.1"] Certain Info No CLAIM "Threefold repetition" "The position has appeared three times; a draw may be claimed." "Triple repetición" "La posición ha aparecido tres veces; se pueden reclamar tablas.";
    FiftyMovesAvailable ["9.3.1"] Certain Info No CLAIM "Fifty moves" "Fifty moves by each without pawn move or capture; a draw may be claimed." "Cincuenta jugadas" "Cincuenta jugadas por bando sin mover peón ni capturar; se pueden reclamar tablas.";
    Fivefold ["9.6.1"] Certain Check No STEP_IN "Fivefold repetition" "The position has appeared five times: a draw." "Quíntuple repetición" "La posición ha aparecido cinco veces: tablas.";
    SeventyFiveMoves ["9.6.2"] Certain Check No STEP_IN "Seventy-five moves" "75 moves by each without pawn move or capture: a draw." "Setenta y cinco jugadas" "75 jugadas por bando sin mover peón ni capturar: tablas.";
    ClaimRightLost ["9.4"] Hint Info No NOTHING "Right to claim lost" "The player touched a man and may not claim on this move." "Derecho a reclamar perdido" "El jugador tocó una pieza y no puede reclamar en esta jugada.";
    WrongClaim ["9.5.3"] Hint Info No LOOK "Wrong claim" "The draw claim was incorrect: extra time to the opponent." "Reclamación incorrecta" "La reclamación de tablas era incorrecta: tiempo adicional al rival.";
    Flag ["6.8", "6.9"] Certain Check No STEP_IN "Flag fallen" "The time has run out: lost, or drawn if the opponent cannot mate." "Bandera caída" "Se agotó el tiempo: partida perdida, o tablas si el rival no puede dar mate.";
    BothClocksAtZero ["III.3.1", "6.8"] Certain Check No LOOK "Both clocks at zero" "Both times have run out; the mark shows which was first." "Ambos relojes a cero" "Se agotaron ambos tiempos; la marca indica cuál fue el primero.";
    TimeControlNotMet ["6.3.1", "6.9"] Certain Check No STEP_IN "Time control not met" "The required moves were not completed in time." "Control de tiempo no cumplido" "No se completaron a tiempo las jugadas exigidas.";
    ClockRunsWithIllegalPosition ["A.5.4", "3.10.3"] Certain Urgent No STEP_IN "Position still illegal" "Both kings are still in check, or a pawn still stands on its last rank, after one more completed move: a draw." "Posición aún ilegal" "Ambos reyes siguen en jaque, o un peón sigue en la última fila, tras otra jugada completada: tablas.";
    LateArrival ["6.7"] Certain Info No LOOK "Late arrival" "A player came to the board after the start of the round." "Llegada tardía" "Un jugador llegó al tablero después del comienzo de la ronda.";
    MovedAfterEnd ["5.1.1", "5.2.1"] Certain Check No LOOK "Moved after the end" "Men moved although the game was over." "Jugada después del final" "Se movieron piezas con la partida terminada.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_row_and_words() {
        for (row, &code) in ROWS.iter().zip(Code::ALL) {
            assert_eq!(row.code, code, "the order of the table");
            for words in [row.title, row.text, row.action] {
                assert!(!words.en.is_empty() && !words.es.is_empty());
                assert_ne!(words.en, words.es, "{code}");
            }
            assert_eq!(code.as_str().parse(), Ok(code));
            let unnamed = code == Code::PieceIdentityChanged;
            assert_eq!(row.articles(Edition::E2023).is_empty(), unnamed, "{code}");
        }
    }

    #[test]
    fn articles_follow_the_edition() {
        let row = Code::EnPassantLate.row();
        assert_eq!(
            row.articles(Edition::E2018),
            ["3.7.4.1", "3.7.4.2", "7.5.1"]
        );
        assert_eq!(row.articles(Edition::E2014), ["3.7.d", "7.5.a"]);
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest() {
        let error = "king-left-in-chek".parse::<Code>();
        assert_eq!(error.map_err(|e| e.nearest), Err(Code::KingLeftInCheck));
    }
}
