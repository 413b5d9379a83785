//! Puts the layers together: defaults, the system's file, the named file, the environment.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
};

use config::{Config, ConfigBuilder, Environment, File, FileFormat, builder::DefaultState};

use super::{
    Settings,
    fault::{Fault, Place, SettingsError},
    keys::TABLES,
    survey::{key_named, survey, table_named},
    words::WebTls,
};

/// The file that is read when it is there.
const SYSTEM_FILE: &str = "/etc/atalaya/atalaya.toml";
/// `ATALAYA__SECTION__KEY`.
const PREFIX: &str = "ATALAYA";
const SEPARATOR: &str = "__";

/// Where the configuration comes from, weakest first.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Read when it is there.
    pub system: Option<PathBuf>,
    /// Must be there.
    pub file: Option<PathBuf>,
    /// Names and values; those that are not ours are passed over.
    pub environment: Vec<(String, String)>,
}

impl Sources {
    /// Those of this process, with the file of `--config`.
    pub fn of_process(file: Option<PathBuf>) -> Sources {
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Sources {
            system: Some(PathBuf::from(SYSTEM_FILE)),
            file,
            environment,
        }
    }

    /// Variables that look like ours and are read by nobody, such as `ATALAYA_WEB__LISTEN`: most
    /// likely a slip.
    pub fn stray_variables(&self) -> Vec<&str> {
        let names = self.environment.iter().map(|(name, _)| name.as_str());
        let stray = |name: &&str| {
            let upper = name.to_ascii_uppercase();
            let rest = upper.strip_prefix(PREFIX);
            rest.is_some_and(|rest| rest.starts_with('_')) && own(name).is_none()
        };
        names.filter(stray).collect()
    }

    /// The value of a variable; empty counts as unset.
    fn variable(&self, name: &str) -> Option<&str> {
        let found = self.environment.iter().find(|(one, _)| one == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|v| !v.is_empty())
    }
}

/// `SECTION__KEY` of one of our variables.
fn own(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX)?.strip_prefix(SEPARATOR)
}

impl Settings {
    /// Reads and checks all layers.
    ///
    /// # Errors
    /// With every fault that was found, not only the first.
    pub fn load(sources: &Sources) -> Result<Settings, SettingsError> {
        let mut layers = Layers {
            builder: Config::builder(),
            faults: Vec::new(),
        };
        // Where systemd lets the service write.
        if let Some(dir) = sources.variable("STATE_DIRECTORY") {
            layers.default("journal.dir", dir);
        }
        if let Some(path) = &sources.system {
            layers.file(path, true);
        }
        if let Some(path) = &sources.file {
            layers.file(path, false);
        }
        layers.environment(sources);
        layers.finish()
    }
}

struct Layers {
    builder: ConfigBuilder<DefaultState>,
    faults: Vec<Fault>,
}

impl Layers {
    fn fault(&mut self, place: Place, key: &str, what: impl ToString) {
        self.faults.push(Fault {
            place,
            key: key.to_owned(),
            what: what.to_string(),
        });
    }

    fn default(&mut self, key: &str, value: &str) {
        match self.builder.clone().set_default(key, value) {
            Ok(builder) => self.builder = builder,
            Err(why) => self.fault(Place::Together, key, why),
        }
    }

    fn file(&mut self, path: &Path, may_be_absent: bool) {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(why) if may_be_absent && why.kind() == io::ErrorKind::NotFound => return,
            Err(why) => {
                let what = format!("cannot be read: {why}");
                return self.fault(Place::File(path.to_owned()), "", what);
            }
        };
        let faults = survey(path, &text);
        if !faults.is_empty() {
            return self.faults.extend(faults);
        }
        match beside(path, &text) {
            Ok(text) => {
                let layer = File::from_str(&text, FileFormat::Toml);
                self.builder = self.builder.clone().add_source(layer);
            }
            Err(why) => self.fault(Place::File(path.to_owned()), "", why),
        }
    }

    fn environment(&mut self, sources: &Sources) {
        let mut ours = HashMap::new();
        for (name, value) in &sources.environment {
            let Some(rest) = own(name) else { continue };
            if value.is_empty() {
                continue;
            }
            let rest = rest.to_ascii_lowercase();
            let (section, key) = rest.split_once(SEPARATOR).unwrap_or((&rest, ""));
            let checked = table_named(section).and_then(|table| {
                if table.many {
                    return Err(format!("[[{section}]] can only be set in a file"));
                }
                (key_named(table, key)?.check)(value)
            });
            match checked {
                Ok(()) => drop(ours.insert(name.clone(), value.clone())),
                Err(what) => {
                    let place = Place::Variable(name.clone());
                    self.fault(place, &format!("{section}.{key}"), what);
                }
            }
        }
        // No `try_parsing`: it would make a number of the user name `0123`.
        let layer = Environment::with_prefix(PREFIX)
            .prefix_separator(SEPARATOR)
            .separator(SEPARATOR)
            .source(Some(ours));
        self.builder = self.builder.clone().add_source(layer);
    }

    fn finish(mut self) -> Result<Settings, SettingsError> {
        let whole = self.builder.clone().build();
        // A layer with faults was left out; the others are still checked together.
        let settings = match whole.and_then(Config::try_deserialize::<Settings>) {
            Ok(settings) => Some(settings),
            Err(why) => {
                self.fault(Place::Together, "", why);
                None
            }
        };
        if let Some(settings) = &settings {
            self.together(settings);
        }
        match settings {
            Some(settings) if self.faults.is_empty() => Ok(settings),
            _ => Err(SettingsError {
                faults: self.faults,
            }),
        }
    }

    /// What one key alone cannot show.
    fn together(&mut self, settings: &Settings) {
        let mqtt = &settings.mqtt;
        let pairs = [
            (
                "username",
                mqtt.username.is_some(),
                "password_file",
                mqtt.password_file.is_some(),
            ),
            (
                "client_cert",
                mqtt.client_cert.is_some(),
                "client_key",
                mqtt.client_key.is_some(),
            ),
        ];
        for (one, has_one, other, has_other) in pairs {
            if has_one != has_other {
                let (there, lacking) = if has_one { (one, other) } else { (other, one) };
                let what = format!("is missing: mqtt.{there} needs it");
                self.fault(Place::Together, &format!("mqtt.{lacking}"), what);
            }
        }
        let web = &settings.web;
        for (key, there) in [
            ("web.certificate", web.certificate.is_some()),
            ("web.key", web.key.is_some()),
        ] {
            if !there && web.tls == WebTls::Files {
                let what = "is missing: web.tls = \"files\" needs it".to_owned();
                self.fault(Place::Together, key, what);
            }
        }
        if let Some((key, what)) = settings.exposed() {
            self.fault(Place::Together, key, what);
        }
        let listens = [
            ("broker.listen", Some(settings.broker.listen)),
            ("broker.websocket", settings.broker.websocket),
            ("web.listen", settings.web.listen),
            ("metrics.listen", settings.metrics.listen),
        ];
        for (i, (key, address)) in listens.iter().enumerate() {
            let Some(address) = address.filter(|address| address.port() != 0) else {
                continue;
            };
            let earlier = listens[..i].iter().find(|(_, one)| *one == Some(address));
            if let Some((first, _)) = earlier {
                let what = format!("{address} is taken by {first}: give it another port");
                self.fault(Place::Together, key, what);
            }
        }
    }
}

/// The same configuration with its relative file names meant beside the file, not beside whoever
/// starts the daemon.
fn beside(file: &Path, text: &str) -> Result<String, String> {
    let mut whole: toml::Table = toml::from_str(text).map_err(|why| why.to_string())?;
    let dir = file.parent().unwrap_or(Path::new(""));
    let join = |values: &mut toml::Table, name: &str| {
        if let Some(toml::Value::String(path)) = values.get_mut(name) {
            let joined = dir.join(&*path);
            if let Some(joined) = joined.to_str() {
                joined.clone_into(path);
            }
        }
    };
    for table in TABLES {
        for key in table.keys.iter().filter(|key| key.path) {
            match whole.get_mut(table.name) {
                Some(toml::Value::Table(values)) => join(values, key.name),
                Some(toml::Value::Array(entries)) => {
                    let entries = entries.iter_mut().filter_map(toml::Value::as_table_mut);
                    entries.for_each(|values| join(values, key.name));
                }
                _ => {}
            }
        }
    }
    toml::to_string(&whole).map_err(|why| why.to_string())
}
