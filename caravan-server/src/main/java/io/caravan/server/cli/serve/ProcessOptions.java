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
    /** The property that the logging configuration reads; must be set before the first log message. */
    private static final String LOG_FORMAT_PROPERTY = "caravan.log.format";

    enum LogFormat {
        TEXT,
        JSON
    }

    @Option(
            names = Settings.CONFIG_OPTION,
            paramLabel = "FILE",
            description = "A file of settings, named as these options are, one a line: max-value = 2MiB.")
    private @Nullable Path config;

    @Option(names = "--print-config", description = "Print every setting, its value and its source, and exit.")
    private boolean printConfig;

    @Option(
            names = "--log-format",
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "How the log is written, to standard error: text, or json, one object a line.")
    private LogFormat logFormat;

    @Option(
            names = "--log-level",
            paramLabel = "LEVEL",
            defaultValue = "info",
            description =
                    "How much is logged: error, warn, info, debug or trace. CONFIG SET loglevel changes it later.")
    private LogLevel logLevel;

    @Option(
            names = "--stop-timeout",
            paramLabel = "TIME",
            defaultValue = "10s",
            converter = Quantities.Time.class,
            description = "How long a stop may take before the process is killed.")
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
