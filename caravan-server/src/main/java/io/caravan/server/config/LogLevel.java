package io.caravan.server.config;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.LoggerFactory;

/** The verbosity of the server's log. */
public enum LogLevel {
    ERROR,
    WARN,
    INFO,
    DEBUG,
    TRACE;

    private static final String OWN = "io.caravan";

    /** Returns the level with this name, ignoring case; also accepts the names that Redis uses. */
    public static Optional<LogLevel> named(String name) {
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "error" -> Optional.of(ERROR);
            case "warn", "warning" -> Optional.of(WARN);
            case "info", "notice" -> Optional.of(INFO);
            case "debug", "verbose" -> Optional.of(DEBUG);
            case "trace" -> Optional.of(TRACE);
            default -> Optional.empty();
        };
    }

    /** Returns the effective log level of the process, regardless of how it was set. */
    public static LogLevel current() {
        return named(logger(OWN).getEffectiveLevel().toString()).orElse(INFO);
    }

    /** Sets the log level of the process; debug messages of libraries stay disabled. */
    public void apply() {
        Level level = Level.toLevel(name());
        logger(OWN).setLevel(level);
        logger(org.slf4j.Logger.ROOT_LOGGER_NAME).setLevel(level.isGreaterOrEqual(Level.INFO) ? level : Level.INFO);
    }

    private static Logger logger(String name) {
        return (Logger) LoggerFactory.getLogger(name);
    }
}
