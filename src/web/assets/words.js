// Every word of the page, in the arbiters' languages. The Laws' words come with the alerts.
const WORDS = {
  alerts: ["Alerts", "Alertas"],
  boards: ["Boards", "Tableros"],
  board: ["Board", "Tablero"],
  white: ["White", "Blancas"],
  black: ["Black", "Negras"],
  unnamed: ["no name", "sin nombre"],
  against: ["against", "contra"],
  live: ["live", "en vivo"],
  waiting: ["connecting", "conectando"],
  stale: ["Stale: no news for {0} s. What you see may be old.", "Atrasado: sin noticias desde hace {0} s. Lo que ve puede ser viejo."],
  noBroker: ["The page has lost the broker. What you see may be old.", "La página ha perdido el broker. Lo que ve puede ser viejo."],
  noDaemon: ["The watch is {0}. No alert will come.", "La vigilancia está {0}. No llegará ninguna alerta."],
  offline: ["lost", "perdida"],
  stopped: ["stopped", "detenida"],
  none: ["Nothing to look at.", "Nada que atender."],
  noneMore: ["All boards are watched. An alert will come up here by itself.", "Todos los tableros están vigilados. Una alerta aparecerá aquí por sí sola."],
  decided: ["Decided or closed", "Decididas o cerradas"],
  hints: ["Quiet hints", "Indicios sin ruido"],
  urgent: ["Go now", "Vaya ya"],
  check: ["Look when you pass", "Mírelo al pasar"],
  info: ["For the file", "Para el acta"],
  open: ["Nobody has it yet", "Nadie la tiene aún"],
  escalated: ["Nobody came: it is everybody's", "No ha ido nadie: es de todos"],
  claimed: ["{0} has it", "La tiene {0}"],
  confirmed: ["Confirmed by {0}", "Confirmada por {0}"],
  dismissed: ["Dismissed by {0}", "Descartada por {0}"],
  corrected: ["Put right on the board", "Corregida en el tablero"],
  resolved: ["Put right: {0}", "Corregida: {0}"],
  stands: ["It stands: the game went on", "Queda así: la partida siguió"],
  restored: ["the board shows it put right", "el tablero la muestra corregida"],
  closed: ["the time to correct it is over", "el plazo para corregirla ha pasado"],
  ago: ["{0} ago", "hace {0}"],
  legal: ["Before: last legal position", "Antes: última posición legal"],
  seen: ["Seen at the press", "Visto al pulsar"],
  clocks: ["Clocks", "Relojes"],
  atPress: ["at the press", "al pulsar"],
  runs: ["runs", "en marcha"],
  noClock: ["no clock", "sin reloj"],
  offences: ["Confirmed offences", "Infracciones confirmadas"],
  todo: ["What the Laws say", "Lo que dicen las Leyes"],
  restore: ["Restore the position before (left diagram).", "Restablezca la posición anterior (diagrama de la izquierda)."],
  add: ["If it counts, add {0} to {1}.", "Si cuenta, añada {0} a las {1}."],
  less: ["Take the increment of {0} off again.", "Quite el incremento de {0}."],
  touch: ["Touch-move binds: {0}.", "Pieza tocada: {0}."],
  lost: ["A second offence: the game is lost.", "Segunda infracción: partida perdida."],
  mateLine: ["The opponent can mate, for example: {0}.", "El rival puede dar mate, por ejemplo: {0}."],
  drawn: ["A second offence, but the opponent cannot mate: the game is drawn.", "Segunda infracción, pero el rival no puede dar mate: tablas."],
  unknown: ["A second offence loses, unless the opponent cannot mate by any series of legal moves: judge that yourself.", "La segunda infracción pierde, salvo que el rival no pueda dar mate con ninguna serie de jugadas legales: júzguelo usted."],
  or: ["It may also be", "También puede ser"],
  also: ["Also in this move", "También en esta jugada"],
  claim: ["I am on my way", "Voy yo"],
  confirm: ["Confirm", "Confirmar"],
  dismiss: ["Dismiss", "Descartar"],
  resolve: ["Put right", "Corregida"],
  note: ["Note", "Nota"],
  mute: ["Keep quiet", "Silenciar"],
  muteSure: ["This alert, and later ones of its kind on this board unless they are certain, stay without noise under Quiet hints until the game is over. Why?", "Esta alerta, y las siguientes de su clase en este tablero salvo que sean seguras, quedan sin ruido en Indicios hasta el final de la partida. ¿Por qué?"],
  muted: ["Kept quiet by {0}", "Silenciada por {0}"],
  undo: ["Undo", "Deshacer"],
  toBoard: ["Board page", "Ver tablero"],
  why: ["Why was it nothing?", "¿Por qué no era nada?"],
  sensors: ["The board misread its men", "El tablero leyó mal las piezas"],
  "no-breach": ["The men stood so, but no rule was broken", "Las piezas estaban así, pero no se infringió ninguna regla"],
  "not-played": ["Adjusted, knocked over or analysed", "Se compuso, se tiró o se analizó"],
  "same-move": ["Settled with another alert of the move", "Resuelta con otra alerta de la jugada"],
  other: ["Something else", "Otra cosa"],
  cancel: ["Cancel", "Cancelar"],
  send: ["Send", "Enviar"],
  words: ["Words for the file", "Texto para el acta"],
  enter: ["Who are you?", "¿Quién es usted?"],
  name: ["Name (letters and digits)", "Nombre (letras y cifras)"],
  password: ["Password", "Contraseña"],
  login: ["Come in", "Entrar"],
  logout: ["Leave", "Salir"],
  options: ["Options", "Opciones"],
  language: ["Language", "Idioma"],
  theme: ["Colours", "Colores"],
  auto: ["as the device", "como el dispositivo"],
  light: ["light", "claros"],
  dark: ["dark", "oscuros"],
  sound: ["Sound on an urgent alert", "Sonido en alerta urgente"],
  vibrate: ["Vibrate on an urgent alert", "Vibrar en alerta urgente"],
  awake: ["Keep the screen on", "Mantener la pantalla encendida"],
  done: ["Done", "Listo"],
  up: ["connected", "conectado"],
  silent: ["silent", "mudo"],
  noise: ["no board, only noise: is it the right device and cable?", "no hay tablero, solo ruido: ¿es el aparato y el cable correcto?"],
  absent: ["not there", "no está"],
  lostLink: ["cable lost", "cable perdido"],
  faults: ["For the operator", "Para el operador"],
  battery: ["battery", "batería"],
  "no-board": ["not read yet", "sin leer"],
  setup: ["setting up", "colocando"],
  ready: ["ready", "listo"],
  playing: ["playing", "en juego"],
  suspended: ["suspended", "suspendida"],
  disturbed: ["disturbed", "alterado"],
  ended: ["ended", "terminada"],
  "post-game": ["after the game", "tras la partida"],
  "fault-pairings": ["Pairings: {0} remarks; `atalaya check` names them", "Emparejamientos: {0} observaciones; `atalaya check` las dice"],
  "fault-other-board": ["this is the board with serial number {0}; the pairings put {1} here", "este es el tablero con número de serie {0}; los emparejamientos ponen aquí el {1}"],
  "fault-no-board": ["paired, and no board is connected", "emparejado, y no hay tablero conectado"],
  "fault-no-moves": ["paired, and no move yet while the others play", "emparejado, y sin jugadas mientras los demás juegan"],
  "fault-forfeit-played": ["the pairings say {0} without play, and a game is played", "los emparejamientos dicen {0} sin jugar, y se juega una partida"],
  "fault-nobody-paired": ["a game is played, and nobody is paired here", "se juega una partida, y aquí no hay nadie emparejado"],
  "fault-kings-differ": ["the result given is {0}; the kings on the board say {1}", "el resultado dado es {0}; los reyes en el tablero dicen {1}"],
  "fault-lichess-silent": ["Moves come in, and Lichess takes no push: {0}", "Llegan jugadas y Lichess no acepta ningún envío: {0}"],
  "fault-lichess-refuses": ["Lichess does not take this game: {0}", "Lichess no acepta esta partida: {0}"],
  "fault-relay-silent": ["Nothing goes out to {0}: {1}", "No sale nada hacia {0}: {1}"],
  doubt: ["Sensors in doubt on {0}", "Sensores en duda en {0}"],
  moves: ["Moves", "Jugadas"],
  noMoves: ["No move yet.", "Aún sin jugadas."],
  provisional: ["seen, not final", "vista, no definitiva"],
  events: ["Events", "Sucesos"],
  noEvents: ["Nothing happened on this board.", "No ha pasado nada en este tablero."],
  repair: ["Repair by hand", "Reparar a mano"],
  resync: ["Read the board again", "Leer el tablero de nuevo"],
  flip: ["Turn the board round", "Girar el tablero"],
  swap: ["Swap the clock's sides", "Cambiar los lados del reloj"],
  adopt: ["The board is right: go on from it", "El tablero está bien: seguir desde él"],
  adoptSure: ["The game goes on from the men as they stand; its moves so far stay. To move:", "La partida sigue desde las piezas como están; las jugadas anteriores quedan. Juegan:"],
  fen: ["Another position than on the board (FEN; may stay empty)", "Otra posición que la del tablero (FEN; puede quedar vacío)"],
  reinstate: ["Put the game back to a move", "Volver a una jugada"],
  reinstateSure: ["The record ends after this half-move, and goes on with the moves you enter. Until the men stand so, no move is read.", "La planilla acaba tras esta media jugada y sigue con las jugadas que escriba. Hasta que las piezas estén así no se lee ninguna."],
  ply: ["Last half-move that stands (0: none)", "Última media jugada válida (0: ninguna)"],
  follow: ["Moves that really followed (may stay empty)", "Jugadas que siguieron de verdad (puede quedar vacío)"],
  backTo: ["Put the game back to here", "Volver la partida hasta aquí"],
  result: ["Result", "Resultado"],
  bothLost: ["0-0 (both have lost)", "0-0 (pierden los dos)"],
  "by-normal": ["by the players", "por los jugadores"],
  "by-flag": ["on time", "por tiempo"],
  "by-illegal": ["by illegal moves", "por jugadas ilegales"],
  "by-forfeit": ["not played", "sin jugar"],
  "by-adjudication": ["the arbiter's decision", "decisión del árbitro"],
  whichGame: ["Game", "Partida"],
  noResult: ["none (goes on)", "ninguno (sigue)"],
  offence: ["Offence seen by the arbiter", "Infracción vista por el árbitro"],
  "two-hands": ["two hands for one move (7.5.4)", "dos manos en una jugada (7.5.4)"],
  "clock-pressed-without-move": ["clock pressed without a move (7.5.3)", "reloj pulsado sin jugar (7.5.3)"],
  choose: ["Which way did it go?", "¿Qué se jugó?"],
  back: ["All boards", "Todos los tableros"],
  said: ["{0}: done", "{0}: hecho"],
  failed: ["Not done: {0}", "No hecho: {0}"],
  newAlert: ["{0} {1}. {2}.", "{0} {1}. {2}."],
  "unknown-alert": ["the alert is gone", "la alerta ya no está"],
  "e-claimed": ["somebody else has it", "ya la tiene otra persona"],
  "e-decided": ["it is decided already", "ya está decidida"],
  "nothing-to-undo": ["nothing to undo", "nada que deshacer"],
  "wrong-password": ["wrong name or password", "nombre o contraseña incorrectos"],
  wait: ["too many tries; wait a minute", "demasiados intentos; espere un minuto"],
  role: ["your role may not do this", "su papel no permite esto"],
  "no-broker": ["the broker is away; try again", "el broker no está; pruebe de nuevo"],
  "no-answer": ["the watch does not answer; try again", "la vigilancia no responde; pruebe de nuevo"],
  "bad-value": ["that makes no sense there", "eso no tiene sentido ahí"],
  "unknown-board": ["no such board", "no existe ese tablero"],
};

const kept = localStorage.getItem("language");
let index = (kept || navigator.language || "en").startsWith("es") ? 1 : 0;

export const language = () => (index ? "es" : "en");

export function setLanguage(to) {
  index = to === "es" ? 1 : 0;
  localStorage.setItem("language", to);
}

/** A phrase, with {0}, {1} ... filled in. A word nobody knows stands as it is. */
export function t(key, ...args) {
  const words = WORDS[key];
  return (words ? words[index] : key).replace(/\{(\d)\}/g, (_, n) => args[n]);
}

/** The words of a payload in the arbiter's language. */
export const both = (words) => (words ? words[language()] : "");

const LETTERS = { K: "R", Q: "D", R: "T", B: "A", N: "C" };

/** A move as it is written in the arbiter's language. */
export const san = (move) =>
  index ? move.replace(/[KQRBN]/g, (letter) => LETTERS[letter]) : move;

const ENGLISH = Object.fromEntries(Object.entries(LETTERS).map(([english, spanish]) => [spanish, english]));

/** A move written in the arbiter's language, as the contract writes it. */
export const english = (move) =>
  index ? move.replace(/[RDTAC]/g, (letter) => ENGLISH[letter]) : move;

export function time(seconds) {
  if (seconds === null || seconds === undefined) return "–:––";
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (n) => String(n).padStart(2, "0");
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}
