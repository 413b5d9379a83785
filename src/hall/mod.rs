mod now;

pub mod settings;

pub use now::Clock;
pub use settings::{Settings, SettingsError, Sources};
