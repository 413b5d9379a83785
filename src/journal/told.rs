//! What the record and the incidents said, as lines that a replay must say again.

use serde_json::json;

use crate::{monitor::Output, words::side_name};

/// The line of a final ply, a retraction or an alert; nothing else must come again exactly.
pub fn told(output: &Output) -> Option<String> {
    let line = match output {
        Output::Ply(ply) => json!({
            "kind": "ply", "game": ply.game, "ply": ply.ply, "side": side_name(ply.side),
            "san": ply.san, "uci": ply.uci, "fen": ply.fen, "clock": ply.clock_s,
            "irregular": ply.irregular,
        }),
        Output::Retract(retraction) => json!({
            "kind": "retract", "game": retraction.game, "back_to": retraction.back_to,
            "reason": retraction.reason,
        }),
        Output::Alert { change, alert } => json!({
            "kind": "alert", "change": change, "id": alert.id, "rev": alert.rev,
            "code": alert.finding.code.as_str(), "side": side_name(alert.finding.side),
            "certainty": alert.finding.certainty, "level": alert.level,
            "status": alert.status, "ply": alert.ply, "move": alert.move_text, "fen": alert.fen,
            "placement": alert.placement, "offences": alert.offences,
            "claimed_by": alert.care.claimed_by, "decided_by": alert.care.decided_by,
        }),
        Output::Write(_)
        | Output::AlertGone(_)
        | Output::Answer(_)
        | Output::Link(_)
        | Output::State(_)
        | Output::Clock(_)
        | Output::Pgn { .. }
        | Output::Result { .. } => return None,
    };
    Some(line.to_string())
}
