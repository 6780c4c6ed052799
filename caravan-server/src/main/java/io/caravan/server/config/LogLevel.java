package io.caravan.server.config;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.LoggerFactory;

/** How much the server logs. */
public enum LogLevel {
    ERROR(Level.ERROR),
    WARN(Level.WARN),
    INFO(Level.INFO),
    DEBUG(Level.DEBUG),
    TRACE(Level.TRACE);

    private static final String OWN = "io.caravan";

    private final Level level;

    LogLevel(Level level) {
        this.level = level;
    }

    /** The level of this name, in any case; Redis's names are known too. */
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

    /** The level in force for the process, whatever set it. */
    public static LogLevel current() {
        Level current = logger(OWN).getEffectiveLevel();
        for (LogLevel each : values()) {
            if (each.level.equals(current)) {
                return each;
            }
        }
        return INFO;
    }

    /** Puts the level in force, for the process. The libraries' own debugging is left out, which would drown the server's. */
    public void apply() {
        logger(OWN).setLevel(level);
        logger(org.slf4j.Logger.ROOT_LOGGER_NAME).setLevel(level.isGreaterOrEqual(Level.INFO) ? level : Level.INFO);
    }

    private static Logger logger(String name) {
        return (Logger) LoggerFactory.getLogger(name);
    }
}
