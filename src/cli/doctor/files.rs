//! The configuration and the files it names.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use jiff::Timestamp;
use x509_parser::parse_x509_certificate;

use super::{Finding, Report};
use crate::{
    hall::{
        Clock, Pairings, Settings,
        settings::{BrokerAddress, WebTls},
        token_file,
    },
    publish::tls::certificates,
    web::Users,
};

/// A certificate that ends earlier is named: an event may last two weeks.
const SOON_DAYS: i64 = 21;

pub(super) fn examine(settings: &Settings, clock: Clock, report: &mut Report) {
    report.add(
        "configuration",
        Finding::ConfigurationGood {
            venue: settings.venue.id.clone(),
            boards: settings.boards.len(),
        },
    );
    pairings(settings, report);
    if let Some(path) = &settings.web.users {
        match Users::read(path) {
            Ok(_) => secret("web.users", path, report),
            Err(why) => unreadable("web.users", why.to_string(), report),
        }
    }
    let mqtt = &settings.mqtt;
    for (key, path) in [
        ("mqtt.password_file", &mqtt.password_file),
        ("mqtt.client_key", &mqtt.client_key),
        ("web.key", &settings.web.key),
    ] {
        if let Some(path) = path {
            read_secret(key, path, report);
        }
    }
    for relay in &settings.relays {
        for (key, path) in relay.secrets() {
            read_secret(key, &token_file(path), report);
        }
    }
    for one in &settings.ntfy {
        if let Some(path) = &one.token_file {
            read_secret("ntfy.token_file", path, report);
        }
    }
    let by_tls = matches!(mqtt.broker, BrokerAddress::Remote { tls: true, .. });
    let own = settings.web.tls == WebTls::Files;
    let named = [
        mqtt.ca_file.as_ref().filter(|_| by_tls),
        mqtt.client_cert.as_ref().filter(|_| by_tls),
        settings.web.certificate.as_ref().filter(|_| own),
    ];
    for path in named.into_iter().flatten() {
        match certificates(path) {
            Ok(all) => {
                if let Some(own) = all.first() {
                    let shown = path.display().to_string();
                    certificate(shown, own, clock.wall(), report);
                }
            }
            Err(why) => {
                let why = why.to_string();
                report.add("certificate", Finding::CertificateFault { why });
            }
        }
    }
}

/// How long a certificate lasts still. `der` is its bytes.
pub(super) fn certificate(file: String, der: &[u8], now: Timestamp, report: &mut Report) {
    let finding = match parse_x509_certificate(der) {
        Err(why) => Finding::CertificateFault {
            why: format!("{file}: {why}"),
        },
        Ok((_, found)) => {
            let validity = found.validity();
            let (from, to) = (
                validity.not_before.timestamp(),
                validity.not_after.timestamp(),
            );
            let days = (to - now.as_second()) / (24 * 60 * 60);
            if !(from..=to).contains(&now.as_second()) {
                Finding::CertificateOver { file }
            } else if days < SOON_DAYS {
                Finding::CertificateEnds { file, days }
            } else {
                Finding::CertificateGood { file, days }
            }
        }
    };
    report.add("certificate", finding);
}

fn pairings(settings: &Settings, report: &mut Report) {
    let Some(file) = &settings.event.pairings else {
        return;
    };
    match Pairings::read(file, &settings.event.round) {
        Ok(pairings) => {
            report.add(
                "pairings",
                Finding::PairingsGood {
                    file: file.display().to_string(),
                    boards: pairings.iter().count(),
                },
            );
            for note in pairings.notes() {
                let note = note.at(file);
                report.add("pairings", Finding::PairingsNote { note });
            }
        }
        Err(why) => {
            let why = why.to_string();
            report.add("pairings", Finding::PairingsFault { why });
        }
    }
}

fn read_secret(key: &str, path: &Path, report: &mut Report) {
    match fs::File::open(path) {
        Ok(_) => secret(key, path, report),
        Err(why) => unreadable(key, format!("{}: {why}", path.display()), report),
    }
}

fn unreadable(key: &str, why: String, report: &mut Report) {
    let key = key.to_owned();
    report.add("file", Finding::FileUnreadable { key, why });
}

/// Only a file that everybody may read is worth a word.
fn secret(key: &str, path: &Path, report: &mut Report) {
    let open = fs::metadata(path).is_ok_and(|about| about.permissions().mode() & 0o007 != 0);
    if open {
        let (key, file) = (key.to_owned(), path.display().to_string());
        report.add("file", Finding::SecretOpen { key, file });
    }
}
