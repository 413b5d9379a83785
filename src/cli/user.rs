//! `atalaya user`: a line of the file of users.

use std::io::{BufRead, IsTerminal, stdin};

use super::{Failure, print};
use crate::web::{Role, User, hash_password, is_user_name};

/// Shorter ones are guessed.
const SHORTEST: usize = 8;

/// Writes one user for the file named by web.users; reads the password from the standard input
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya user ana --role arbiter >> /etc/atalaya/users.toml")]
pub struct Args {
    /// At most 32 letters, digits, '.', '_' and '-'
    pub name: String,
    /// What the user may do
    #[arg(long, value_enum, default_value_t = Role::Arbiter)]
    pub role: Role,
}

/// Reads the password and prints the table.
///
/// # Errors
/// When the name or the password cannot be used.
pub fn run(args: Args) -> Result<(), Failure> {
    if !is_user_name(&args.name) {
        let why = "use at most 32 letters, digits, '.', '_' and '-'";
        return Err(Failure::Usage(format!("{}: {why}", args.name)));
    }
    if stdin().is_terminal() {
        eprintln!(
            "Password of {}, then Enter (it is shown as you type):",
            args.name
        );
    }
    let mut password = String::new();
    let read = stdin().lock().read_line(&mut password);
    read.map_err(|why| Failure::Usage(format!("the password does not read: {why}")))?;
    let password = password.trim_end_matches(['\r', '\n']);
    if password.chars().count() < SHORTEST {
        let why = format!("a password has at least {SHORTEST} characters");
        return Err(Failure::Usage(why));
    }
    let hash = hash_password(password).map_err(|why| Failure::Usage(why.to_string()))?;
    let user = User {
        name: args.name,
        role: args.role,
        password: hash,
    };
    let table = toml::to_string(&user).map_err(|why| Failure::Usage(why.to_string()))?;
    print(format!("[[user]]\n{table}\n"));
    Ok(())
}
