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
            description = "Least free part of the store's file system, or off.")
    Thresholds space;

    @Option(
            names = "--replay",
            paramLabel = LABEL,
            defaultValue = "1GiB,8GiB",
            converter = Thresholds.Sizes.class,
            description = "Most log since the last checkpoint, which a start after a crash would replay; checkpoints"
                    + " that fail let it grow. A checkpoint's age says nothing: a store that nobody writes to needs"
                    + " none. Or off.")
    Thresholds replay;

    @Option(
            names = "--overdue",
            paramLabel = LABEL,
            defaultValue = "2h,12h",
            converter = Thresholds.Times.class,
            description =
                    "How much longer a change may wait to be archived than archive-after allows, the server's or its"
                            + " space's. Or off.")
    Thresholds overdue;

    @Option(
            names = "--answer",
            paramLabel = LABEL,
            defaultValue = "500ms,5s",
            converter = Thresholds.Times.class,
            description = "Longest time to connect and to be answered, or off.")
    Thresholds answer;

    @Option(
            names = "--ack",
            paramLabel = LABEL,
            defaultValue = "500ms,5s",
            converter = Thresholds.Times.class,
            description = "Longest 99th percentile, since the server's start, of the time from a write to its"
                    + " acknowledgement, or off.")
    Thresholds ack;
}
