// Follows the hall by server-sent events, shows it, and says what the arbiter decides.
import { alertsView, boardView, el, faults, incidents, isOpen, tile, tileClock } from "./views.js";
import { both, english, language, san, setLanguage, t } from "./words.js";

const $ = (id) => document.getElementById(id);
/** Twice the server's beat, and a little. */
const STALE_MS = 10_000;

const hall = { alerts: new Map(), boards: new Map(), status: null, info: null, broker: "lost" };
let session = { user: null, role: null, csrf: null, locked: false };
let heard = 0;
let pgn = { board: 0, text: "" };
let dirty = false;
const tiles = new Map();
const drawn = new Map();

const option = (name, otherwise) => localStorage.getItem(name) ?? otherwise;
const may = () => !session.user || session.role === "arbiter";
const mayRepair = () => may() || session.role === "operator";

// ---- the hall ----

function take([topic, payload], fresh) {
  const [kind, id, what] = topic.split("/");
  if (topic === "$broker") {
    hall.broker = payload;
    if (payload === "fresh") {
      hall.alerts.clear();
      hall.boards.clear();
    }
  } else if (kind === "status") {
    hall.status = payload && payload.state;
  } else if (kind === "info") {
    hall.info = payload;
  } else if (kind === "alert") {
    const known = hall.alerts.get(id);
    if (fresh && known && payload && payload.escalated && !known.escalated) announce("escalated", payload);
    if (!payload) hall.alerts.delete(id);
    else if (!known || payload.rev >= known.rev || payload.boot !== known.boot) hall.alerts.set(id, payload);
  } else if (kind === "board") {
    const number = Number(id);
    if (!hall.boards.has(number)) hall.boards.set(number, {});
    const board = hall.boards.get(number);
    if (what === "state") board.clock = null;
    if (what !== "move") board[what] = payload;
    if (what === "move" && route().board === number) fetchPgn(number);
    if (what === "clock" && tiles.has(number)) tileClock(tiles.get(number), board);
    else if (what !== "move" && what !== "pgn") tiles.delete(number);
  } else if (kind === "alert-event" && fresh) {
    announce(payload.event, payload.alert);
  }
  redraw();
}

/** A new alert is said, sounded and felt; what others do about it is said when the reader is free. */
function announce(event, alert) {
  if (alert.level === "info") return;
  const words = t("newAlert", t("board"), alert.board, both(alert.title));
  if (event === "raised" || event === "escalated") {
    const urgent = alert.level === "urgent";
    $(urgent ? "say-now" : "say").textContent = `${t(alert.level)}: ${words}`;
    if (urgent) signal();
  } else if (event === "claimed") {
    $("say").textContent = `${words} ${t("claimed", alert.claimed_by)}`;
  }
}

let audio = null;

/** Browsers let a page sound only after somebody touched it. */
function readySound() {
  if (option("sound", "no") !== "yes") return;
  audio ??= new AudioContext();
  audio.resume();
}

function signal() {
  if (option("vibrate", "yes") === "yes" && navigator.vibrate) navigator.vibrate([400, 150, 400]);
  if (option("sound", "no") !== "yes") return;
  readySound();
  for (const [at, pitch] of [[0, 660], [0.25, 880]]) {
    const tone = audio.createOscillator();
    const loudness = audio.createGain();
    tone.frequency.value = pitch;
    loudness.gain.value = 0.15;
    tone.connect(loudness).connect(audio.destination);
    tone.start(audio.currentTime + at);
    tone.stop(audio.currentTime + at + 0.2);
  }
}

let source = null;

function follow() {
  source?.close();
  source = new EventSource("events");
  const news = (run) => (event) => {
    heard = performance.now();
    run(event);
    freshness();
  };
  source.addEventListener("all", news((event) => {
    hall.alerts.clear();
    hall.boards.clear();
    for (const one of JSON.parse(event.data)) take(one, false);
  }));
  source.addEventListener("news", news((event) => take(JSON.parse(event.data), true)));
  source.addEventListener("beat", news(() => {}));
  source.onerror = () => {
    // After a refusal the browser gives up by itself; ask for the name again, or try later.
    if (source.readyState === EventSource.CLOSED) setTimeout(start, 3_000);
  };
}

/** Says when what is shown may be old. */
function freshness() {
  const quiet = performance.now() - heard;
  let why = null;
  if (!heard) why = null;
  else if (quiet > STALE_MS) why = t("stale", Math.round(quiet / 1000));
  else if (hall.broker === "lost") why = t("noBroker");
  else if (hall.status && hall.status !== "online") why = t("noDaemon", t(hall.status));
  const box = $("stale");
  box.hidden = !why;
  if (box.textContent !== (why || "")) box.textContent = why || "";
  document.body.classList.toggle("old", Boolean(why));
  const live = $("live");
  const word = !heard ? `… ${t("waiting")}` : why ? `✕ ${t("offline")}` : `● ${t("live")}`;
  if (live.textContent !== word) live.textContent = word;
}

// ---- what the arbiter says ----

function newTransaction() {
  const bytes = crypto.getRandomValues(new Uint8Array(9));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function toast(words, bad = false) {
  const box = $("toast");
  box.textContent = words;
  box.className = bad ? "bad" : "";
  box.hidden = false;
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => { box.hidden = true; }, bad ? 6_000 : 2_500);
}

/** Says a verb; a broken line is tried again, and the transaction keeps it from counting twice. */
async function act(verb, payload) {
  if (!session.user && !(await askLogin())) return;
  const body = JSON.stringify({ ...payload, transaction: newTransaction() });
  let reply = { status: "error", code: "no-answer" };
  for (let tries = 0; tries < 3; tries += 1) {
    try {
      const answer = await fetch(`cmd/${verb}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-atalaya": session.csrf },
        body,
      });
      reply = await answer.json();
      if (answer.status === 401) {
        session.user = null;
        if (!(await askLogin())) return;
        continue;
      }
      if (reply.code !== "no-answer") break;
    } catch {
      await new Promise((wake) => { setTimeout(wake, 700); });
    }
  }
  const name = t({ "swap-clock": "swap" }[verb] || verb);
  if (reply.status === "ok") return toast(t("said", name));
  const code = { claimed: "e-claimed", decided: "e-decided" }[reply.code] || reply.code;
  if (reply.text) return toast(t("failed", both(reply.text)), true);
  // What the watch says of another value is for whoever wrote the client; it is in English.
  const why = reply.code === "bad-value" && reply.error ? ` (${reply.error})` : "";
  toast(t("failed", t(code) + why), true);
}

/** A dialog with a form; gives its values, or null. */
function form(title, ...fields) {
  const dialog = $("dialog");
  return new Promise((done) => {
    const made = el("form", { method: "dialog" },
      el("h2", {}, title), fields,
      el("div", { class: "buttons" },
        el("button", { value: "ok", class: "confirm" }, t("send")),
        el("button", { value: "cancel", formnovalidate: true }, t("cancel"))));
    dialog.replaceChildren(made);
    dialog.onclose = () => done(dialog.returnValue === "ok" ? Object.fromEntries(new FormData(made)) : null);
    dialog.returnValue = "";
    dialog.showModal();
  });
}

const choice = (name, values, chosen) => el("fieldset", {}, values.map(([value, words], i) =>
  el("label", {}, el("input", { type: "radio", name, value, required: true, checked: chosen === undefined ? i === 0 : value === chosen }), " ", words)));

const sides = () => [["white", t("white")], ["black", t("black")]];

const ask = {
  async dismiss(alert) {
    const reasons = ["sensors", "no-breach", "not-played", "other"].map((one) => [one, t(one)]);
    const said = await form(t("why"), choice("reason", reasons));
    if (said) act("dismiss", { alert: alert.id, reason: said.reason });
  },
  async note(alert) {
    const said = await form(t("note"), el("label", {}, t("words"),
      el("textarea", { name: "text", rows: 4, maxlength: 1000, required: true })));
    if (said) act("note", { alert: alert.id, text: said.text });
  },
  async mute(alert) {
    const reasons = ["sensors", "no-breach", "not-played", "other"].map((one) => [one, t(one)]);
    const said = await form(t("mute"), el("p", {}, t("muteSure")), choice("reason", reasons));
    if (said) act("mute", { alert: alert.id, reason: said.reason });
  },
  async reinstate(board, ply, after) {
    const said = await form(t("reinstate"), el("p", {}, t("reinstateSure")),
      el("label", {}, t("ply"), el("input", { name: "ply", type: "number", min: 0, max: 2000, value: ply, required: true })),
      el("label", {}, t("follow"), el("textarea", { name: "moves", rows: 3, placeholder: after.map((move) => san(move.san)).join(" ") })));
    if (!said) return;
    const moves = said.moves.replace(/\d+\.+/g, " ").split(/\s+/).filter(Boolean).map(english);
    act("reinstate", { board, ply: Number(said.ply), moves });
  },
  async adopt(board) {
    const said = await form(t("adopt"), el("p", {}, t("adoptSure")), choice("turn", sides()),
      el("label", {}, t("fen"), el("input", { name: "fen", autocomplete: "off", spellcheck: "false" })));
    if (!said) return;
    const fen = said.fen.trim();
    act("adopt", { board, turn: said.turn, ...(fen ? { fen } : {}) });
  },
  async result(board) {
    const results = [["1-0", "1-0"], ["1/2-1/2", "½-½"], ["0-1", "0-1"], ["0-0", t("bothLost")], ["*", t("noResult")]];
    const hows = ["normal", "flag", "illegal", "forfeit", "adjudication"].map((one) => [one, t(`by-${one}`)]);
    const game = hall.boards.get(board)?.state?.game || "";
    const said = await form(t("result"), choice("result", results), choice("how", hows),
      el("label", {}, t("whichGame"), el("input", { name: "game", value: game, pattern: "[^\\s]+\\.[0-9]+[a-z0-9\\-]*" })));
    if (said) act("result", { board, result: said.result, how: said.how, ...(said.game && said.game !== game ? { game: said.game } : {}) });
  },
  async offence(board) {
    const codes = ["two-hands", "clock-pressed-without-move"].map((one) => [one, t(one)]);
    const said = await form(t("offence"), choice("side", sides()), choice("code", codes));
    if (said) act("offence", { board, side: said.side, code: said.code });
  },
};

async function askLogin() {
  for (;;) {
    const said = await form(t("enter"),
      el("label", {}, t("name"), el("input", { name: "user", required: true, pattern: "[A-Za-z0-9._\\-]{1,32}", autocomplete: "username", value: option("name", "") })),
      session.locked ? el("label", {}, t("password"), el("input", { name: "password", type: "password", required: true, autocomplete: "current-password" })) : "");
    if (!said) return false;
    const answer = await fetch("login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ user: said.user, password: said.password || "" }),
    });
    if (answer.ok) {
      localStorage.setItem("name", said.user);
      await whoAmI();
      return true;
    }
    toast(t("failed", t((await answer.json()).code)), true);
  }
}

async function whoAmI() {
  session = await (await fetch("session")).json();
  if (!localStorage.getItem("language") && !navigator.language.startsWith("en")) setLanguage(navigator.language.startsWith("es") ? "es" : session.language);
  redraw();
}

async function fetchPgn(board) {
  try {
    const answer = await fetch(`board/${board}/pgn`);
    pgn = { board, text: answer.ok ? (await answer.json()).pgn : "" };
    redraw();
  } catch {
    // The stale line says it.
  }
}

// ---- options ----

let lock = null;

async function keepAwake() {
  const wanted = option("awake", "no") === "yes";
  if (!wanted || document.hidden) {
    await lock?.release();
    lock = null;
  } else if (navigator.wakeLock) {
    lock = await navigator.wakeLock.request("screen").catch(() => null);
  }
}

function theme() {
  const wanted = option("theme", "auto");
  document.documentElement.dataset.theme = wanted;
}

async function options() {
  const box = (name, otherwise) => el("label", {},
    el("input", { type: "checkbox", name, checked: option(name, otherwise) === "yes" }), " ", t(name));
  const said = await form(t("options"),
    el("p", {}, t("language")), choice("language", [["en", "English"], ["es", "Español"]], language()),
    el("p", {}, t("theme")), choice("theme", ["auto", "light", "dark"].map((one) => [one, t(one)]), option("theme", "auto")),
    box("vibrate", "yes"), box("sound", "no"), box("awake", "no"));
  if (!said) return;
  setLanguage(said.language);
  localStorage.setItem("theme", said.theme);
  for (const name of ["vibrate", "sound", "awake"]) localStorage.setItem(name, said[name] ? "yes" : "no");
  readySound();
  theme();
  keepAwake();
  drawn.clear();
  tiles.clear();
  redraw();
}

// ---- drawing ----

function route() {
  const [view, number] = location.hash.slice(1).split("/");
  return { view: view || "alerts", board: Number(number) || 0 };
}

function redraw() {
  if (dirty) return;
  dirty = true;
  // A hidden tab draws no frames, and has to be right when it is shown.
  const soon = document.hidden ? (run) => setTimeout(run, 50) : requestAnimationFrame;
  soon(() => {
    dirty = false;
    draw();
  });
}

/** Puts `fresh` in place of what `view` shows, keeping focus and what was unfolded. */
function show(view, fresh) {
  const focused = document.activeElement?.dataset?.do;
  const unfolded = [...view.querySelectorAll("details[open]")].map((one) => one.dataset.fold);
  const scrolled = view.querySelector(".scroll")?.scrollTop;
  view.replaceChildren(...fresh.filter(Boolean));
  for (const one of view.querySelectorAll("details")) one.open = unfolded.includes(one.dataset.fold);
  if (focused) view.querySelector(`[data-do="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  const scroll = view.querySelector(".scroll");
  if (scroll) scroll.scrollTop = scrolled ?? scroll.scrollHeight;
}

function draw() {
  const { view, board } = route();
  const alerts = [...hall.alerts.values()];
  const open = incidents(alerts).filter(({ main }) => isOpen(main) && main.level !== "info");
  const unclaimed = open.filter(({ main }) => main.status === "open").length;
  document.documentElement.lang = language();
  document.title = `${open.length ? `(${open.length}) ` : ""}Atalaya ${session.venue || ""}`;
  $("venue").textContent = `Atalaya · ${session.venue || ""}`;
  $("to-alerts").textContent = `${t("alerts")}${open.length ? ` (${open.length})` : ""}`;
  $("to-alerts").classList.toggle("calls", unclaimed > 0);
  $("to-boards").textContent = `${t("boards")} (${hall.boards.size})`;
  $("who").textContent = session.user || t("enter");
  $("options").setAttribute("aria-label", t("options"));
  $("to-alerts").toggleAttribute("aria-current", view === "alerts");
  $("to-boards").toggleAttribute("aria-current", view !== "alerts");
  const tools = { act, ask, me: session.user, may: may(), mayRepair: mayRepair() };
  const main = $("view");
  main.dataset.view = view;
  // Drawing again what is the same would take focus and selection away for nothing.
  const same = (key) => {
    const unchanged = drawn.get("key") === key;
    drawn.clear();
    drawn.set("key", key);
    return unchanged;
  };
  const mode = `${language()} ${session.user} ${session.role}`;
  if (view === "board") {
    const known = hall.boards.get(board) || {};
    const own = alerts.filter((alert) => alert.board === board);
    const text = pgn.board === board ? pgn.text : "";
    if (!same(JSON.stringify([mode, board, known, own, text]))) {
      show(main, boardView(board, known, own, text, tools));
    }
  } else if (view === "boards") {
    drawn.clear();
    const boards = [...hall.boards.entries()].sort(([a], [b]) => a - b);
    const fresh = boards.map(([number, known]) => {
      if (!tiles.has(number)) tiles.set(number, tile(number, known));
      return tiles.get(number);
    });
    const wall = main.querySelector(".wall");
    const inPlace = wall && wall.children.length === fresh.length;
    if (inPlace) {
      fresh.forEach((one, i) => {
        const old = wall.children[i];
        if (old === one) return;
        const had = document.activeElement === old;
        old.replaceWith(one);
        if (had) one.focus({ preventScroll: true });
      });
      const told = faults(boards, hall.info);
      main.querySelector(".faults")?.remove();
      if (told) main.append(told);
    } else {
      show(main, [el("div", { class: "wall" }, fresh), faults(boards, hall.info)]);
    }
  } else if (!same(JSON.stringify([mode, alerts]))) {
    show(main, alertsView(alerts, tools));
  }
  freshness();
  ages();
}

/** How long ago each alert was raised, ticking. */
function ages() {
  for (const one of document.querySelectorAll("[data-since]")) {
    const s = Math.max(0, Math.round((Date.now() - Date.parse(one.dataset.since)) / 1000));
    const words = s < 100 ? `${s} s` : s < 6000 ? `${Math.round(s / 60)} min` : `${Math.round(s / 3600)} h`;
    one.textContent = t("ago", words);
  }
}

async function start() {
  try {
    await whoAmI();
    if (session.locked && !session.user) await askLogin();
    follow();
  } catch {
    setTimeout(start, 3_000);
  }
}

$("options").addEventListener("click", options);
$("who").addEventListener("click", async () => {
  if (session.user) await fetch("logout", { method: "POST" });
  session.user = null;
  redraw();
  if (await askLogin()) follow();
});
addEventListener("hashchange", () => {
  const { board } = route();
  if (board) fetchPgn(board);
  redraw();
  $("view").focus({ preventScroll: true });
  scrollTo(0, 0);
});
addEventListener("visibilitychange", keepAwake);
addEventListener("pointerdown", readySound);
addEventListener("keydown", readySound);
setInterval(() => {
  freshness();
  ages();
}, 1_000);
theme();
keepAwake();
if (route().board) fetchPgn(route().board);
start();
