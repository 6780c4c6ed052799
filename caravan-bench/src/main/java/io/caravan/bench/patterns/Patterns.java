package io.caravan.bench.patterns;

import io.caravan.bench.report.Charts;
import java.io.IOException;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** The compared ways to write, by kind of forcing. The last of each is the machine's own limit. */
final class Patterns {
    private static final String REOPENED = "open, append, close";
    private static final String GROWING = "held open, growing";
    private static final String SIZED = "sized, no blocks yet";
    private static final String RECYCLED = "written before";
    private static final String MAPPED = "mapped, written before";

    private static final String DIRECT = "direct, written before";

    private Patterns() {}

    static List<Pattern> of(Forcing forcing) {
        return switch (forcing) {
            case NEVER -> unforced();
            case EACH -> forced();
            case BATCH -> batched();
        };
    }

    private static List<Pattern> unforced() {
        return List.of(
                new Pattern(REOPENED, (files, bytes) -> new ReopeningWriter(files.missing(), bytes, false)),
                new Pattern("buffered, flushed each", (files, bytes) -> new StreamWriter(files.missing(), bytes, true)),
                new Pattern(
                        "buffered, flushed at the end",
                        (files, bytes) -> new StreamWriter(files.missing(), bytes, false)),
                growing(),
                sized(),
                recycled(),
                mapped(),
                new Pattern(
                        DIRECT,
                        SomeBytes.BLOCK_BYTES,
                        (files, bytes) ->
                                ChannelWriter.with(files.recycled(), bytes, StandardOpenOption.WRITE, DirectIo.OPTION)),
                new Pattern(
                        Charts.MACHINE + ": a copy in memory",
                        (files, bytes) -> new MemoryWriter((int) files.bytes(), bytes)));
    }

    private static List<Pattern> forced() {
        return List.of(
                new Pattern(REOPENED, (files, bytes) -> new ReopeningWriter(files.missing(), bytes, true)),
                growing(),
                sized(),
                recycled(),
                mapped(),
                new Pattern(
                        "DSYNC, written before",
                        (files, bytes) -> ChannelWriter.with(
                                files.recycled(), bytes, StandardOpenOption.WRITE, StandardOpenOption.DSYNC)),
                new Pattern(DIRECT, SomeBytes.BLOCK_BYTES, Patterns::direct),
                new Pattern(
                        Charts.MACHINE + ": a force of its blocks",
                        (files, bytes) -> ChannelWriter.inBlocks(files.recycled(), bytes)));
    }

    private static List<Pattern> batched() {
        return List.of(
                growing(),
                sized(),
                recycled(),
                mapped(),
                new Pattern(
                        "gathered, growing",
                        (files, bytes) -> gathered(ChannelWriter.forcing(files.missing(), Forcing.BATCH_BYTES), bytes)),
                new Pattern(
                        "gathered, written before",
                        (files, bytes) ->
                                gathered(ChannelWriter.forcing(files.recycled(), Forcing.BATCH_BYTES), bytes)),
                new Pattern(
                        "gathered, direct, written before",
                        (files, bytes) -> gathered(direct(files, Forcing.BATCH_BYTES), bytes)),
                new Pattern(
                        Charts.MACHINE + ": a force of 64 KiB",
                        Forcing.BATCH_BYTES,
                        (files, bytes) -> ChannelWriter.forcing(files.recycled(), bytes)));
    }

    private static Pattern growing() {
        return new Pattern(GROWING, (files, bytes) -> ChannelWriter.forcing(files.missing(), bytes));
    }

    private static Pattern sized() {
        return new Pattern(SIZED, (files, bytes) -> ChannelWriter.forcing(files.sized(), bytes));
    }

    private static Pattern recycled() {
        return new Pattern(RECYCLED, (files, bytes) -> ChannelWriter.forcing(files.recycled(), bytes));
    }

    private static Pattern mapped() {
        return new Pattern(MAPPED, (files, bytes) -> new MappedWriter(files.recycled(), bytes));
    }

    private static ChannelWriter direct(PatternFiles files, int bytes) throws IOException {
        return ChannelWriter.with(
                files.recycled(), bytes, StandardOpenOption.WRITE, StandardOpenOption.DSYNC, DirectIo.OPTION);
    }

    private static Writer gathered(ChannelWriter batches, int bytes) {
        return new GatheringWriter(batches, bytes);
    }
}
