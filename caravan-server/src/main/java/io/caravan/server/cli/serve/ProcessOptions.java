package io.caravan.server.cli.serve;

import static io.caravan.server.config.Quantities.check;

import io.caravan.server.config.LogLevel;
import io.caravan.server.config.Quantities;
import io.caravan.server.config.Settings;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for the process: its settings, its log, and its shutdown. */
final class ProcessOptions {
    /** The system property that sets the format of log messages; must be set before the first log message. */
    private static final String LOG_FORMAT_PROPERTY = "caravan.log.format";

    enum LogFormat {
        TEXT,
        JSON
    }

    @Option(
            names = Settings.CONFIG_OPTION,
            paramLabel = "FILE",
            description = "File of settings, one on each line, named as these options: max-value = 2MiB.")
    private @Nullable Path config;

    @Option(
            names = "--print-config",
            description = "Print every setting with its value and source, without secrets, and" + " exit.")
    private boolean printConfig;

    @Option(
            names = "--log-format",
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "Format of the log, which is written to standard error: text, or json, which is one object"
                    + " on each line.")
    private LogFormat logFormat;

    @Option(
            names = "--log-level",
            paramLabel = "LEVEL",
            defaultValue = "info",
            description = "Level of the log: error, warn, info, debug, or trace. CONFIG SET loglevel changes it"
                    + " while the server runs.")
    private LogLevel logLevel;

    @Option(
            names = "--stop-timeout",
            paramLabel = "TIME",
            defaultValue = "10s",
            converter = Quantities.Time.class,
            description = "Maximum duration of a stop, after which the process is killed.")
    private Duration stopTimeout;

    boolean printConfig() {
        return printConfig;
    }

    /** Configures the log; must be called before the first log message. */
    void setUpLog() {
        System.setProperty(LOG_FORMAT_PROPERTY, logFormat.name());
        logLevel.apply();
    }

    Duration stopTimeout() {
        check(!stopTimeout.isZero(), "--stop-timeout must be above 0");
        return stopTimeout;
    }
}
