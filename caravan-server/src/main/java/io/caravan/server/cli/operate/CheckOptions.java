package io.caravan.server.cli.operate;

import picocli.CommandLine.Option;

/** The thresholds for a server's metrics. */
final class CheckOptions {
    private static final String LABEL = "WARNING,CRITICAL";

    @Option(
            names = "--space",
            paramLabel = LABEL,
            defaultValue = "15%,5%",
            converter = Thresholds.Percents.class,
            description = "Minimum free space of the store's file system.")
    Thresholds space;

    @Option(
            names = "--replay",
            paramLabel = LABEL,
            defaultValue = "1GiB,8GiB",
            converter = Thresholds.Sizes.class,
            description = "Maximum length of the log that recovery after a crash would replay. It grows if"
                    + " checkpoints fail. The age of the last checkpoint is not checked, because a store without"
                    + " writes needs no checkpoint.")
    Thresholds replay;

    @Option(
            names = "--overdue",
            paramLabel = LABEL,
            defaultValue = "2h,12h",
            converter = Thresholds.Times.class,
            description = "Maximum time by which the archive exceeds the delay that archive-after allows. off also"
                    + " disables the check of the owner.")
    Thresholds overdue;

    @Option(
            names = "--answer",
            paramLabel = LABEL,
            defaultValue = "500ms,5s",
            converter = Thresholds.Times.class,
            description = "Maximum time to connect and to receive a reply.")
    Thresholds answer;

    @Option(
            names = "--ack",
            paramLabel = LABEL,
            defaultValue = "500ms,5s",
            converter = Thresholds.Times.class,
            description = "Maximum 99th percentile of the time from a write to its acknowledgement, since the server"
                    + " started.")
    Thresholds ack;
}
