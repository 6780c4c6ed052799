package io.caravan.bench.archive;

import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import io.caravan.testing.ChildJvm;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Measures the time to restore an entire store from a directory. */
final class RestoreTimes implements Measure {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final Duration TIMEOUT = Duration.ofMinutes(10);
    private static final String NEVER = "1h";

    private final Results results = new Results();
    private final int count;

    RestoreTimes(boolean quick) {
        count = quick ? 300 : 100_000;
    }

    @Override
    public void run(Turn turn) throws IOException {
        Path archive = turn.work().resolve("restored-archive");
        if (!Files.exists(archive)) {
            prepare(turn, archive);
        }
        turn.say("restore of " + count + " documents");
        Path work = Files.createTempDirectory(turn.work(), "restore");
        try {
            double seconds = restore(work, archive) / NANOS_PER_SECOND;
            results.add(
                    count + " documents from a directory",
                    "Caravan",
                    "fsynced, checkpoint published",
                    new Measurement().with(Figure.SECONDS, seconds).with(Figure.DOCUMENTS_PER_SECOND, count / seconds));
        } finally {
            WorkDirectories.delete(work);
        }
    }

    /** Creates the archive that every run restores. */
    private void prepare(Turn turn, Path archive) throws IOException {
        turn.say("archiving " + count + " documents to restore");
        Path work = Files.createTempDirectory(turn.work(), "prepare");
        try (ArchivingServer idle = ArchivingServer.idle(work)) {
            new SmallDocuments(count).write(idle.address());
            idle.stop();
        }
        try (ArchivingServer server = ArchivingServer.toDirectory(work, archive, NEVER)) {
            server.awaitArchived(count);
            server.stop();
        }
        WorkDirectories.delete(work);
    }

    private long restore(Path work, Path archive) throws IOException {
        Path data = work.resolve("data");
        Path log = work.resolve("restore.log");
        List<String> words = List.of("restore", "--archive", "file:" + archive, "--data", data.toString());
        long start = System.nanoTime();
        try (ChildJvm restore = ChildJvm.start(List.of(), ServerProcess.MAIN, words, Map.of(), log)) {
            if (restore.awaitExit(TIMEOUT) != 0) {
                throw new IOException("the restore failed: " + restore.output());
            }
        }
        long nanos = System.nanoTime() - start;
        check(data);
        return nanos;
    }

    private void check(Path data) throws IOException {
        try (ListStore store = DurableListStore.open(data)) {
            long lists = store.stats().lists();
            if (lists < count) {
                throw new IOException("the restored store has only " + lists + " lists");
            }
        }
    }

    @Override
    public Table table() {
        return new Table(
                "A whole restore",
                "The whole process of `caravan restore`, for documents of " + SmallDocuments.VALUES
                        + " values of " + SmallDocuments.VALUE_BYTES + " bytes, with default settings. The archive"
                        + " has just been written, so it is in the page cache.",
                results);
    }
}
