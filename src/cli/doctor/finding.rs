//! What the doctor may find, each with its weight and its words in both languages.

use serde::Serialize;

use crate::laws::Lang;

/// How bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    /// As it should be.
    Ok,
    /// The round can be played, but somebody should know.
    Warning,
    /// This has to be put right.
    Fault,
}

impl Verdict {
    pub(super) const fn word(self, lang: Lang) -> &'static str {
        match (self, lang) {
            (Verdict::Ok, Lang::En) => "ok",
            (Verdict::Ok, Lang::Es) => "bien",
            (Verdict::Warning, Lang::En) => "warning",
            (Verdict::Warning, Lang::Es) => "aviso",
            (Verdict::Fault, Lang::En) => "FAULT",
            (Verdict::Fault, Lang::Es) => "FALLO",
        }
    }
}

/// What a fault concerns: the exit code says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// The configuration or a file it names.
    Configuration,
    /// A device or the network.
    Device,
    /// The machine.
    Machine,
}

/// One thing found.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub(super) enum Finding {
    ConfigurationGood { venue: String, boards: usize },
    ConfigurationFault { why: String },
    StrayVariable { name: String },
    PairingsGood { file: String, boards: usize },
    PairingsFault { why: String },
    PairingsNote { note: String },
    FileUnreadable { key: String, why: String },
    SecretOpen { key: String, file: String },
    NoPorts,
    BoardGood { port: String, serial: String },
    PortWatched { port: String },
    PortHeld { port: String, by: String },
    PortAbsent { port: String },
    PortDenied { port: String },
    PortSilent { port: String },
    PortFault { why: String },
    PortTwice { port: String, other: u16 },
    PortUnstable { port: String, better: String },
    SerialNowhere { serial: String },
    Latency { port: String, ms: u32 },
    PortThief { name: String },
    BrokerGood { address: String },
    BrokerAway { address: String, why: String },
    BrokerRefuses { address: String, why: String },
    ListenGood { address: String },
    ListenOurs { address: String },
    ListenTaken { address: String, by: String },
    ListenFault { address: String, why: String },
    CertificateGood { file: String, days: i64 },
    CertificateEnds { file: String, days: i64 },
    CertificateOver { file: String },
    CertificateFault { why: String },
    TokenGood { url: String, user: String },
    TokenUnknown { url: String },
    TokenScope { url: String },
    RelayAway { url: String, why: String },
    FarGood { url: String },
    FarFault { url: String, why: String },
    FolderGood { dir: String },
    FolderFault { dir: String, why: String },
    DiskGood { dir: String, free_mib: u64 },
    DiskFault { dir: String, why: String },
    DiskLow { dir: String, free_mib: u64 },
    DiskFull { dir: String, free_mib: u64 },
    DiskSlow { dir: String, ms: u64 },
    ClockGood,
    ClockFree,
    ClockUnknown,
    ClockPast { now: String },
    FewFiles { limit: u64, wanted: u64 },
}

use Finding as F;

impl Finding {
    pub(super) const fn verdict(&self) -> Verdict {
        match self {
            F::ConfigurationGood { .. }
            | F::PairingsGood { .. }
            | F::BoardGood { .. }
            | F::PortWatched { .. }
            | F::BrokerGood { .. }
            | F::ListenGood { .. }
            | F::ListenOurs { .. }
            | F::CertificateGood { .. }
            | F::TokenGood { .. }
            | F::FarGood { .. }
            | F::FolderGood { .. }
            | F::DiskGood { .. }
            | F::ClockGood => Verdict::Ok,
            F::StrayVariable { .. }
            | F::PairingsNote { .. }
            | F::SecretOpen { .. }
            | F::PortUnstable { .. }
            | F::Latency { .. }
            | F::PortThief { .. }
            | F::CertificateEnds { .. }
            | F::DiskLow { .. }
            | F::DiskSlow { .. }
            | F::ClockFree
            | F::ClockUnknown => Verdict::Warning,
            _ => Verdict::Fault,
        }
    }

    pub(super) const fn sort(&self) -> Sort {
        match self {
            F::ConfigurationFault { .. }
            | F::PairingsFault { .. }
            | F::FileUnreadable { .. }
            | F::PortTwice { .. }
            | F::CertificateFault { .. } => Sort::Configuration,
            F::CertificateOver { .. }
            | F::FolderFault { .. }
            | F::DiskFault { .. }
            | F::DiskFull { .. }
            | F::ClockPast { .. }
            | F::FewFiles { .. } => Sort::Machine,
            _ => Sort::Device,
        }
    }

    /// What it is, and what to do about it (nothing when all is well).
    pub(super) fn words(&self, lang: Lang) -> (String, String) {
        match lang {
            Lang::En => self.english(),
            Lang::Es => self.spanish(),
        }
    }

    fn english(&self) -> (String, String) {
        let (what, cure) = match self {
            F::ConfigurationGood { venue, boards: 0 } => (
                format!("venue {venue}; every board found on the serial ports"),
                "",
            ),
            F::ConfigurationGood { venue, boards } => {
                (format!("venue {venue}, boards named: {boards}"), "")
            }
            F::ConfigurationFault { why } => (
                why.clone(),
                "put that line right; config/atalaya.toml explains every key",
            ),
            F::StrayVariable { name } => (
                format!("the environment variable {name} is read by nobody"),
                "write it as ATALAYA__SECTION__KEY",
            ),
            F::PairingsGood { file, boards } => (format!("{file}: boards paired: {boards}"), ""),
            F::PairingsFault { why } => (
                why.clone(),
                "put the file of pairings right, or name another",
            ),
            F::PairingsNote { note } => (note.clone(), "look whether it is meant so"),
            F::FileUnreadable { key, why } => (
                format!("{key}: {why}"),
                "name a file that is there and that the daemon may read",
            ),
            F::SecretOpen { key, file } => (
                format!("{key}: everybody on this machine may read {file}"),
                "chmod o-rwx it, or give it as a systemd credential",
            ),
            F::NoPorts => (
                "this machine has no serial port".to_owned(),
                "plug the boards' adapter in; if it is, look what `dmesg | tail` says of it",
            ),
            F::BoardGood { port, serial } => (format!("{port}: board {serial} answers"), ""),
            F::PortWatched { port } => (format!("{port}: the running daemon watches it"), ""),
            F::PortHeld { port, by } => (
                format!("{port} is held by {by}"),
                "close that program, or give it another port",
            ),
            F::PortAbsent { port } => (
                format!("{port} is not there"),
                "plug the adapter in where it was, or take the name that `atalaya boards` shows",
            ),
            F::PortDenied { port } => (
                format!("{port} may not be opened by this user"),
                "usermod -aG dialout USER and log in again; the packaged service has the group",
            ),
            F::PortSilent { port } => (
                format!("{port} opens, but no board answers"),
                "switch the board on and push its plugs home; a board on a bus needs its box",
            ),
            F::PortFault { why } => (
                why.clone(),
                "check the cable, the address and the serial server",
            ),
            F::PortTwice { port, other } => (
                format!("{port} is the port of board {other} too"),
                "give each board a port of its own",
            ),
            F::PortUnstable { port, better } => (
                format!("{port} may be another board's once cables are pulled; {better} stays"),
                "write that name into the configuration",
            ),
            F::SerialNowhere { serial } => (
                format!("no free port answers with the serial number {serial}"),
                "switch the board on, or put the number right (`atalaya boards` shows them)",
            ),
            F::Latency { port, ms } => (
                format!("{port}: its adapter holds bytes back for {ms} ms"),
                "install the udev rule 60-atalaya.rules, which sets 1 ms",
            ),
            F::PortThief { name } => (
                format!(
                    "{name} runs: it sends bytes of its own to serial ports, or takes them away"
                ),
                "install the udev rule 60-atalaya.rules, or stop and mask it",
            ),
            F::BrokerGood { address } => (format!("{address} lets us in"), ""),
            F::BrokerAway { address, why } => (
                format!("{address} cannot be reached: {why}"),
                "check mqtt.broker, the broker itself, the cable and the firewall",
            ),
            F::BrokerRefuses { address, why } => (
                format!("{address} is there but does not let us in: {why}"),
                "check mqtt.username, mqtt.password_file, mqtt.ca_file and the broker's log",
            ),
            F::ListenGood { address } => (format!("{address} is free"), ""),
            F::ListenOurs { address } => (format!("{address} is served by the running daemon"), ""),
            F::ListenTaken { address, by } => (
                format!("{address} is taken by {by}"),
                "stop that program, or set another port",
            ),
            F::ListenFault { address, why } => (
                format!("{address} cannot be listened on: {why}"),
                "set an address of this machine, and a port above 1023",
            ),
            F::CertificateGood { file, days } => (format!("{file} is good for {days} days"), ""),
            F::CertificateEnds { file, days } => (
                format!("{file} ends in {days} days"),
                "renew it before the event",
            ),
            F::CertificateOver { file } => (
                format!("{file} is not valid now"),
                "renew it; if it should be valid, set the clock of this machine",
            ),
            F::CertificateFault { why } => (why.clone(), "name PEM files that belong together"),
            F::TokenGood { url, user } => (format!("{url}: the token is {user}'s"), ""),
            F::TokenUnknown { url } => (
                format!("{url} does not know the token"),
                "make a new one with the scope study:write and put it into relay.token_file",
            ),
            F::TokenScope { url } => (
                format!("{url}: the token may not write studies"),
                "make one with the scope study:write",
            ),
            F::RelayAway { url, why } => (
                format!("{url} cannot be reached: {why}"),
                "check the way to the internet: name server, firewall, the venue's login page",
            ),
            F::FarGood { url } => (format!("{url} lets us in"), ""),
            F::FarFault { url, why } => (
                format!("{url} does not let us in: {why}"),
                "check the network, the address, user, password or key, and relay.host_key",
            ),
            F::FolderGood { dir } => (format!("{dir} can be written"), ""),
            F::FolderFault { dir, why } => (
                format!("{dir} cannot be written: {why}"),
                "name a folder that the daemon may write (under systemd, in its StateDirectory)",
            ),
            F::DiskGood { dir, free_mib } => (format!("{dir}: {free_mib} MiB free"), ""),
            F::DiskFault { dir, why } => (
                format!("{dir} cannot be written: {why}"),
                "set journal.dir to a folder that the daemon may write",
            ),
            F::DiskLow { dir, free_mib } => (
                format!("{dir}: only {free_mib} MiB free"),
                "move old journals (*.atj) away; a round of 100 boards takes about 20 MiB an hour",
            ),
            F::DiskFull { dir, free_mib } => (
                format!("{dir}: only {free_mib} MiB free"),
                "move old journals (*.atj) away now: games would be kept in memory only",
            ),
            F::DiskSlow { dir, ms } => (
                format!("{dir}: a write is safe after {ms} ms only"),
                "alerts wait up to 200 ms for it: take a better card or a disk",
            ),
            F::ClockGood => ("set by the network".to_owned(), ""),
            F::ClockFree => (
                "not set by the network: times in PGN and alerts may be wrong".to_owned(),
                "timedatectl set-ntp true, and look at `timedatectl timesync-status`",
            ),
            F::ClockUnknown => (
                "nobody here says whether it is set by the network".to_owned(),
                "compare it with a telephone; install systemd-timesyncd or chrony",
            ),
            F::ClockPast { now } => (
                format!("it says {now}, which is over"),
                "set it: TLS fails and files get wrong names before",
            ),
            F::FewFiles { limit, wanted } => (
                format!("this user may open {limit} files, the boards need {wanted}"),
                "ulimit -n 4096; the packaged service has enough",
            ),
        };
        (what, cure.to_owned())
    }

    fn spanish(&self) -> (String, String) {
        let (what, cure) = match self {
            F::ConfigurationGood { venue, boards: 0 } => (
                format!("sala {venue}; todo tablero que haya en los puertos serie"),
                "",
            ),
            F::ConfigurationGood { venue, boards } => {
                (format!("sala {venue}, tableros nombrados: {boards}"), "")
            }
            F::ConfigurationFault { why } => (
                why.clone(),
                "corrija esa línea; config/atalaya.toml explica cada clave",
            ),
            F::StrayVariable { name } => (
                format!("nadie lee la variable de entorno {name}"),
                "escríbala como ATALAYA__SECCIÓN__CLAVE",
            ),
            F::PairingsGood { file, boards } => {
                (format!("{file}: tableros emparejados: {boards}"), "")
            }
            F::PairingsFault { why } => (
                why.clone(),
                "corrija el fichero de emparejamientos, o nombre otro",
            ),
            F::PairingsNote { note } => (note.clone(), "mire si es lo que se quiere"),
            F::FileUnreadable { key, why } => (
                format!("{key}: {why}"),
                "nombre un fichero que exista y que el servicio pueda leer",
            ),
            F::SecretOpen { key, file } => (
                format!("{key}: cualquiera en esta máquina puede leer {file}"),
                "haga chmod o-rwx, o delo como credencial de systemd",
            ),
            F::NoPorts => (
                "esta máquina no tiene ningún puerto serie".to_owned(),
                "conecte el adaptador de los tableros; si lo está, mire qué dice `dmesg | tail`",
            ),
            F::BoardGood { port, serial } => (format!("{port}: responde el tablero {serial}"), ""),
            F::PortWatched { port } => (format!("{port}: lo vigila el servicio en marcha"), ""),
            F::PortHeld { port, by } => (
                format!("{port} lo tiene {by}"),
                "cierre ese programa, o dele otro puerto",
            ),
            F::PortAbsent { port } => (
                format!("{port} no existe"),
                "conecte el adaptador donde estaba, o tome el nombre que da `atalaya boards`",
            ),
            F::PortDenied { port } => (
                format!("este usuario no puede abrir {port}"),
                "usermod -aG dialout USUARIO y entre de nuevo; el servicio instalado tiene el grupo",
            ),
            F::PortSilent { port } => (
                format!("{port} se abre, pero no responde ningún tablero"),
                "encienda el tablero y apriete los conectores; en bus hace falta su caja",
            ),
            F::PortFault { why } => (
                why.clone(),
                "revise el cable, la dirección y el servidor de puertos serie",
            ),
            F::PortTwice { port, other } => (
                format!("{port} es también el puerto del tablero {other}"),
                "dé a cada tablero su propio puerto",
            ),
            F::PortUnstable { port, better } => (
                format!("{port} puede ser de otro tablero al mover cables; {better} se mantiene"),
                "escriba ese nombre en la configuración",
            ),
            F::SerialNowhere { serial } => (
                format!("ningún puerto libre responde con el número de serie {serial}"),
                "encienda el tablero, o corrija el número (`atalaya boards` los muestra)",
            ),
            F::Latency { port, ms } => (
                format!("{port}: su adaptador retiene los bytes {ms} ms"),
                "instale la regla de udev 60-atalaya.rules, que pone 1 ms",
            ),
            F::PortThief { name } => (
                format!(
                    "{name} está en marcha: manda bytes propios a los puertos serie, o los quita"
                ),
                "instale la regla de udev 60-atalaya.rules, o párelo y enmascárelo",
            ),
            F::BrokerGood { address } => (format!("{address} nos deja entrar"), ""),
            F::BrokerAway { address, why } => (
                format!("no se llega a {address}: {why}"),
                "revise mqtt.broker, el propio bróker, el cable y el cortafuegos",
            ),
            F::BrokerRefuses { address, why } => (
                format!("{address} está, pero no nos deja entrar: {why}"),
                "revise mqtt.username, mqtt.password_file, mqtt.ca_file y el registro del bróker",
            ),
            F::ListenGood { address } => (format!("{address} está libre"), ""),
            F::ListenOurs { address } => {
                (format!("{address} lo atiende el servicio en marcha"), "")
            }
            F::ListenTaken { address, by } => (
                format!("{address} lo tiene {by}"),
                "pare ese programa, o ponga otro puerto",
            ),
            F::ListenFault { address, why } => (
                format!("no se puede escuchar en {address}: {why}"),
                "ponga una dirección de esta máquina y un puerto por encima de 1023",
            ),
            F::CertificateGood { file, days } => (format!("{file} vale aún {days} días"), ""),
            F::CertificateEnds { file, days } => (
                format!("{file} caduca en {days} días"),
                "renuévelo antes del torneo",
            ),
            F::CertificateOver { file } => (
                format!("{file} no vale ahora"),
                "renuévelo; si debería valer, ponga en hora esta máquina",
            ),
            F::CertificateFault { why } => (why.clone(), "nombre ficheros PEM que se correspondan"),
            F::TokenGood { url, user } => (format!("{url}: la clave es de {user}"), ""),
            F::TokenUnknown { url } => (
                format!("{url} no conoce la clave"),
                "haga otra con el permiso study:write y póngala en relay.token_file",
            ),
            F::TokenScope { url } => (
                format!("{url}: la clave no puede escribir estudios"),
                "haga una con el permiso study:write",
            ),
            F::RelayAway { url, why } => (
                format!("no se llega a {url}: {why}"),
                "revise la salida a internet: servidor de nombres, cortafuegos, portal de la sala",
            ),
            F::FarGood { url } => (format!("{url} nos deja entrar"), ""),
            F::FarFault { url, why } => (
                format!("{url} no nos deja entrar: {why}"),
                "revise la red, la dirección, usuario, contraseña o llave, y relay.host_key",
            ),
            F::FolderGood { dir } => (format!("en {dir} se puede escribir"), ""),
            F::FolderFault { dir, why } => (
                format!("en {dir} no se puede escribir: {why}"),
                "nombre una carpeta en que pueda escribir el servicio (con systemd, en su StateDirectory)",
            ),
            F::DiskGood { dir, free_mib } => (format!("{dir}: {free_mib} MiB libres"), ""),
            F::DiskFault { dir, why } => (
                format!("en {dir} no se puede escribir: {why}"),
                "ponga en journal.dir una carpeta en que pueda escribir el servicio",
            ),
            F::DiskLow { dir, free_mib } => (
                format!("{dir}: solo {free_mib} MiB libres"),
                "llévese diarios viejos (*.atj); una ronda de 100 tableros ocupa unos 20 MiB por hora",
            ),
            F::DiskFull { dir, free_mib } => (
                format!("{dir}: solo {free_mib} MiB libres"),
                "llévese ya diarios viejos (*.atj): las partidas quedarían solo en memoria",
            ),
            F::DiskSlow { dir, ms } => (
                format!("{dir}: lo escrito está a salvo solo a los {ms} ms"),
                "las alertas lo esperan hasta 200 ms: ponga una tarjeta mejor o un disco",
            ),
            F::ClockGood => ("lo pone la red".to_owned(), ""),
            F::ClockFree => (
                "no lo pone la red: las horas de PGN y alertas pueden ser falsas".to_owned(),
                "timedatectl set-ntp true, y mire `timedatectl timesync-status`",
            ),
            F::ClockUnknown => (
                "nadie dice aquí si lo pone la red".to_owned(),
                "compárelo con un teléfono; instale systemd-timesyncd o chrony",
            ),
            F::ClockPast { now } => (
                format!("dice {now}, que ya pasó"),
                "póngalo en hora: antes falla TLS y los ficheros llevan nombres falsos",
            ),
            F::FewFiles { limit, wanted } => (
                format!("este usuario puede abrir {limit} ficheros y los tableros piden {wanted}"),
                "ulimit -n 4096; el servicio instalado tiene bastantes",
            ),
        };
        (what, cure.to_owned())
    }
}
