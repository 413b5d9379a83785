// What stands on the page: alerts, the wall of boards, one board.
import { diagram, differing } from "./diagram.js";
import { both, san, t, time } from "./words.js";

/** An element; attributes that are functions are listeners, false and null are left out. */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const LEVELS = { urgent: 2, check: 1, info: 0 };
const SURE = { certain: 2, probable: 1, hint: 0 };
export const isOpen = (alert) => alert.status === "open" || alert.status === "claimed";

/** Findings of one move are one incident: the loudest and surest first. */
export function incidents(alerts) {
  const groups = new Map();
  for (const alert of alerts) {
    const quiet = alert.level === "info";
    const key = quiet ? alert.id : `${alert.board} ${alert.game} ${alert.ply}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(alert);
  }
  const weight = (alert) =>
    100 * isOpen(alert) + 50 * (alert.reason !== "same-move") + 10 * LEVELS[alert.level] + SURE[alert.certainty];
  const list = [...groups.entries()].map(([key, group]) => {
    group.sort((a, b) => weight(b) - weight(a));
    return { key, main: group[0], others: group.slice(1) };
  });
  const rank = ({ main }) => (main.status === "open") * 4 + LEVELS[main.level];
  return list.sort((a, b) => rank(b) - rank(a) || b.main.raised.localeCompare(a.main.raised));
}

const sideMark = (side) => el("span", { class: `side ${side}`, "aria-hidden": "true" });
const sideName = (side) => t(side);

function player(alert, side) {
  return alert[side] || t("unnamed");
}

/** Who has it, in words. */
export function standing(alert) {
  const who = alert.decided_by || alert.claimed_by || "";
  switch (alert.status) {
    case "open": return alert.muted_by ? t("muted", alert.muted_by) : t(alert.escalated ? "escalated" : "open");
    case "claimed": return t("claimed", who);
    case "confirmed": return t("confirmed", who);
    case "dismissed": return `${t("dismissed", who)}${alert.reason ? `: ${t(alert.reason)}` : ""}`;
    case "corrected": return who ? t("resolved", who) : t("corrected");
    default: return t("stands");
  }
}

function clockLine(label, clock) {
  const part = (side) => [
    sideMark(side), ` ${sideName(side)} `, el("b", {}, time(clock[`${side}_s`])),
    clock.running === side ? ` (${t("runs")})` : "",
  ];
  return el("p", { class: "clocks" }, label, ": ", part("white"), " · ", part("black"));
}

function advice(alert) {
  const { remedy } = alert;
  const lines = [];
  if (remedy.restore) lines.push(t("restore"));
  for (const side of ["white", "black"]) {
    if (remedy.add_s[side]) lines.push(t("add", time(remedy.add_s[side]), sideName(side)));
  }
  if (remedy.remove_increment_s) lines.push(t("less", time(remedy.remove_increment_s)));
  if (remedy.touch_move.length) lines.push(t("touch", remedy.touch_move.join(", ")));
  if (remedy.outcome) lines.push(t(remedy.outcome));
  if (remedy.mate_line?.length) lines.push(t("mateLine", remedy.mate_line.join(" ")));
  return lines;
}

const since = (alert) => el("time", { datetime: alert.raised, "data-since": alert.raised });

/** One incident as a card. `act` says a verb of the contract; `ask` opens a dialog first. */
export function card({ main: alert, others }, { act, ask, me, may }) {
  const other = alert.side === "white" ? "black" : "white";
  const seenLabel = `${t("seen")}: ${alert.placement}`;
  const moved = differing(alert.fen, alert.placement);
  const marks = moved.length && moved.length < 9 ? moved : alert.squares;
  const button = (verb, run, extra = {}) =>
    el("button", { type: "button", "data-do": `${alert.id} ${verb}`, class: verb, click: run, ...extra }, t(verb));
  const open = isOpen(alert);
  const decided = alert.status === "confirmed" || alert.status === "dismissed";
  const buttons = [];
  if (may && alert.status === "open") buttons.push(button("claim", () => act("claim", { alert: alert.id })));
  if (may && !decided) {
    if (alert.counts) buttons.push(button("confirm", () => act("confirm", { alert: alert.id })));
    buttons.push(button("dismiss", () => ask.dismiss(alert)));
    if (open) buttons.push(button("resolve", () => act("resolve", { alert: alert.id })));
  }
  if (may) {
    buttons.push(button("note", () => ask.note(alert)));
    if (open && alert.certainty !== "certain" && !alert.muted_by) buttons.push(button("mute", () => ask.mute(alert)));
    if (alert.muted_by || decided || alert.status === "claimed" || alert.decided_by) {
      buttons.push(button("undo", () => act("undo", { alert: alert.id })));
    }
  }
  return el("article", { class: `card ${alert.level} ${alert.status}`, id: alert.id, "aria-label": `${t("board")} ${alert.board}: ${both(alert.title)}` },
    el("header", {},
      el("a", { class: "number", href: `#board/${alert.board}` }, el("small", {}, t("board")), String(alert.board)),
      el("div", { class: "blame" },
        el("p", { class: "who" }, sideMark(alert.side), " ", el("b", {}, sideName(alert.side)), " ", player(alert, alert.side)),
        el("p", { class: "against" }, `${t("against")} ${player(alert, other)}`)),
      el("p", { class: "level" }, el("span", { "aria-hidden": "true" }, { urgent: "▲▲", check: "▲", info: "•" }[alert.level]), " ", t(alert.level))),
    el("h2", {}, both(alert.title).replace(/^[^:]*: /, "")),
    el("p", { class: "move" }, el("b", {}, san(alert.move)), " ", el("span", { class: "articles" }, alert.articles.join(", "))),
    el("p", { class: `standing ${alert.status}${alert.escalated && alert.status === "open" ? " late" : ""}` },
      standing(alert), alert.claimed_by === me && alert.status === "claimed" ? " ✓" : "",
      alert.restored && alert.status === "claimed" ? ` · ${t("restored")}` : "",
      " · ", since(alert)),
    buttons.length ? el("div", { class: "buttons" }, buttons) : null,
    el("p", {}, both(alert.text)),
    el("div", { class: "pair" },
      el("figure", {}, diagram(alert.fen, { marks, label: `${t("legal")}: ${alert.fen}` }), el("figcaption", {}, t("legal"))),
      el("figure", {}, diagram(alert.placement, { marks, label: seenLabel }), el("figcaption", {}, t("seen")))),
    clockLine(`${t("clocks")} ${t("atPress")}`, alert.clock.at_press),
    el("p", {}, t("offences"), ": ", sideMark("white"), ` ${sideName("white")} `, el("b", {}, alert.offences.white),
      " · ", sideMark("black"), ` ${sideName("black")} `, el("b", {}, alert.offences.black)),
    el("section", { class: "laws" },
      el("h3", {}, t("todo")),
      el("ul", {}, advice(alert).map((line) => el("li", {}, line))),
      el("p", {}, both(alert.action))),
    el("p", { class: "sure" }, both(alert.surety)),
    alert.instead ? el("p", {}, `${t("or")}: ${both(alert.instead.title)} (${alert.instead.squares.join(", ")})`) : null,
    others.length ? el("div", {}, el("h3", {}, t("also")), el("ul", {}, others.map((one) =>
      el("li", {}, `${both(one.title)} · ${standing(one)} `,
        may && isOpen(one) && one.counts
          ? el("button", { type: "button", class: "confirm small", "data-do": `${one.id} confirm`, click: () => act("confirm", { alert: one.id }) }, t("confirm"))
          : null)))) : null,
    alert.notes.length ? el("ul", { class: "notes" }, alert.notes.map((note) =>
      el("li", {}, el("b", {}, note.by), `: ${note.text} `, el("time", { datetime: note.ts }, note.ts.slice(11, 16))))) : null);
}

/** The first view: what needs an arbiter, then the rest folded away. */
export function alertsView(alerts, tools) {
  const all = incidents(alerts);
  const loud = all.filter(({ main }) => isOpen(main) && main.level !== "info");
  const closed = all.filter(({ main }) => !isOpen(main) && main.level !== "info");
  const quiet = all.filter(({ main }) => main.level === "info");
  const fold = (key, list) => list.length
    ? el("details", { "data-fold": key }, el("summary", {}, `${t(key)} (${list.length})`),
      el("div", { class: "cards" }, list.map((one) => el("div", { "data-key": one.key }, card(one, tools)))))
    : null;
  return [
    loud.length ? null : el("div", { class: "calm" }, el("p", {}, t("none")), el("p", {}, t("noneMore"))),
    el("div", { class: "cards" }, loud.map((one) => el("div", { "data-key": one.key }, card(one, tools)))),
    fold("decided", closed), fold("hints", quiet),
  ].filter(Boolean);
}

const linkWord = (link) => {
  if (!link || link.state === "up") return null;
  if (link.state === "silent" && link.noise) return t("noise");
  return t(link.state === "lost" ? "lostLink" : link.state);
};

/** Both times, and whose time runs, also without colour. */
function clocks(clock) {
  if (!clock || !clock.connected) return el("p", { class: "clocks" }, t("noClock"));
  const part = (side) => el("span", { class: clock.running === side ? "runs" : "" },
    clock.running === side ? "▸ " : "", time(clock[`${side}_s`]));
  return el("p", { class: "clocks" }, part("white"), " – ", part("black"));
}

/** The clocks of a tile, told each second: all else of it stays. */
export function tileClock(one, { state, clock }) {
  one.querySelector(".clocks").replaceWith(clocks(clock || (state && state.clock)));
}

/** One board on the wall. */
export function tile(number, { state, link, clock }) {
  const open = state ? state.alerts.length : 0;
  const fault = linkWord(link);
  const last = state && state.last
    ? `${Math.ceil(state.last.ply / 2)}${state.last.ply % 2 ? "." : "..."} ${san(state.last.san)}` : "";
  return el("a", { class: `tile${open ? " has-alert" : ""}${fault ? " fault" : ""}`, href: `#board/${number}` },
    el("p", { class: "head" }, el("b", {}, String(number)),
      open ? el("span", { class: "flag" }, `▲ ${open}`) : null,
      fault ? el("span", { class: "flag" }, `✕ ${fault}`) : null,
      state && state.doubt.length ? el("span", { class: "flag" }, `? ${state.doubt.length}`) : null,
      el("span", { class: "phase" }, state ? (state.result || t(state.phase)) : "")),
    el("p", { class: "name" }, sideMark("black"), " ", (state && state.black) || t("black")),
    state ? diagram(state.placement, { small: true, doubt: state.doubt, label: `${t("board")} ${number}: ${state.placement}` }) : null,
    el("p", { class: "name" }, sideMark("white"), " ", (state && state.white) || t("white")),
    clocks(clock || (state && state.clock)),
    el("p", { class: "last" }, last));
}

/** What the cables and sensors need: for the operator, not for the arbiter's siren. */
export function faults(boards, info) {
  const told = (info && info.faults) || [];
  const list = told.map(({ board, code, about }) => [board, t(`fault-${code}`, ...about)]);
  for (const [number, { link, state }] of boards) {
    if (linkWord(link)) list.push([number, linkWord(link)]);
    if (state && state.doubt.length) list.push([number, t("doubt", state.doubt.join(", "))]);
    if (link && link.battery !== null && link.battery < 20) list.push([number, `${t("battery")} ${link.battery} %`]);
  }
  return list.length
    ? el("section", { class: "faults" }, el("h2", {}, t("faults")), el("ul", {}, list.map(([number, what]) =>
      el("li", {}, number ? [el("a", { href: `#board/${number}` }, `${t("board")} ${number}`), ": "] : "", what))))
    : null;
}

/** The moves of a PGN with the mover's clock behind each. */
function moveList(pgn) {
  const text = pgn.replace(/^\[.*$/gm, "");
  const moves = [];
  for (const [, comment, word] of text.matchAll(/\{([^}]*)\}|([^\s{}]+)/g)) {
    if (comment !== undefined) {
      const clock = comment.match(/%clk (\S+?)\]/);
      if (clock && moves.length) moves[moves.length - 1].clock = clock[1];
    } else if (!/^(\d+\.+|\$\d+|\*|1-0|0-1|1\/2-1\/2)$/.test(word)) {
      moves.push({ san: word.replace(/^\d+\.+/, "") });
    }
  }
  return moves;
}

/** One board: diagram, moves, events, repair. */
export function boardView(number, { state, link, clock }, alerts, pgn, tools) {
  const { act, ask, may, mayRepair } = tools;
  const events = alerts.filter((alert) => alert.board === number)
    .sort((a, b) => b.raised.localeCompare(a.raised));
  const open = incidents(events).filter(({ main }) => isOpen(main) && main.level !== "info");
  const moves = pgn ? moveList(pgn) : [];
  const black = state && state.fen.split(" ")[1] === "b" && !moves.length ? 1 : 0;
  const rows = [];
  moves.forEach((move, i) => {
    const at = i + black;
    if (at % 2 === 0 || i === 0) rows.push(el("tr", {}, el("th", { scope: "row" }, `${Math.floor(at / 2) + 1}`)));
    const back = () => ask.reinstate(number, i + 1, moves.slice(i + 1));
    rows[rows.length - 1].append(el("td", {},
      may ? el("button", { type: "button", class: "ply", "data-do": `ply ${i}`, title: t("backTo"), click: back }, san(move.san)) : san(move.san),
      move.clock ? el("small", {}, ` ${move.clock}`) : ""));
  });
  const repair = (verb, key, run) => el("button", { type: "button", "data-do": `repair ${verb}`, click: run }, t(key));
  const last = state && state.last && state.last.uci.length > 3 ? [state.last.uci.slice(0, 2), state.last.uci.slice(2, 4)] : [];
  const facts = [
    state ? t(state.phase) : "", linkWord(link) || t("up"),
    link && link.serial ? `${link.serial} ${link.firmware || ""}` : "",
    link && link.battery !== null ? `${t("battery")} ${link.battery} %` : "",
  ].filter(Boolean).join(" · ");
  const ways = state && may ? state.candidates : [];
  return [
    el("p", {}, el("a", { href: "#boards" }, `← ${t("back")}`)),
    el("div", { class: "cards" }, open.map((one) => el("div", { "data-key": one.key }, card(one, tools)))),
    ways.length ? el("section", { class: "ways" }, el("h2", {}, t("choose")), el("div", { class: "buttons" },
      ways.map((way, i) => el("button", { type: "button", "data-do": `way ${i}`, click: () => act("choose", { board: number, candidate: i }) },
        way.map(san).join(" "))))) : null,
    el("div", { class: "one" },
      el("section", {},
        el("h1", {}, `${t("board")} ${number}`, state && state.result ? ` · ${state.result}` : ""),
        el("p", { class: "facts" }, facts),
        el("p", { class: "name" }, sideMark("black"), " ", el("b", {}, (state && state.black) || t("black"))),
        state ? diagram(state.placement, { marks: last, doubt: state.doubt, label: state.placement }) : null,
        el("p", { class: "name" }, sideMark("white"), " ", el("b", {}, (state && state.white) || t("white"))),
        clocks(clock || (state && state.clock)),
        state && state.doubt.length ? el("p", {}, `? ${t("doubt", state.doubt.join(", "))}`) : null,
        state ? el("p", {}, `${t("offences")}: ${t("white")} ${state.offences.white}, ${t("black")} ${state.offences.black}`) : null),
      el("section", {},
        el("h2", {}, t("moves")),
        rows.length ? el("div", { class: "scroll", tabindex: "0" }, el("table", {}, rows)) : el("p", {}, t("noMoves")),
        state && state.provisional.length ? el("p", {}, `${state.provisional.map(san).join(" ")} (${t("provisional")})`) : null),
      el("section", {},
        el("h2", {}, t("events")),
        events.length ? el("ol", { class: "events" }, events.map((alert) => el("li", {},
          el("time", { datetime: alert.raised }, alert.raised.slice(11, 19)), ` ${san(alert.move)} `,
          el("b", {}, both(alert.title)), ` · ${standing(alert)}`,
          may && alert.decided_by ? el("button", { type: "button", class: "small", "data-do": `${alert.id} undo`, click: () => act("undo", { alert: alert.id }) }, t("undo")) : "",
        ))) : el("p", {}, t("noEvents"))),
      mayRepair ? el("section", {},
        el("h2", {}, t("repair")),
        el("div", { class: "repair" },
          repair("resync", "resync", () => act("resync", { board: number })),
          repair("flip", "flip", () => act("flip", { board: number })),
          repair("swap", "swap", () => act("swap-clock", { board: number })),
          may && moves.length ? repair("reinstate", "reinstate", () => ask.reinstate(number, moves.length, [])) : null,
          may ? repair("adopt", "adopt", () => ask.adopt(number)) : null,
          may ? repair("result", "result", () => ask.result(number)) : null,
          may ? repair("offence", "offence", () => ask.offence(number)) : null)) : null),
  ];
}
