package io.caravan.bench.cluster;

import io.caravan.bench.ProgressLine;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.load.ClosedLoop;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures the time that a node takes to rejoin after it was down during many writes. For comparison, copies the same
 * number of bytes twice, because the node writes the bytes to its Raft log and to its store.
 */
final class Rejoins implements Measure {
    private static final Figure REPLIES_AFTER = new Figure("replies after, seconds", "%,.1f");
    private static final Figure OF_COPIES = new Figure("this / copied twice", "%,.2f");
    private static final long MB = 1_000_000;
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final int CONNECTIONS = 16;
    private static final int TOGETHER = 16;
    private static final int VALUE_BYTES = 4096;
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    /**
     * The divisor for the size of the retained Raft log: the other nodes retain only a fraction of the missing bytes,
     * so the node must receive a snapshot.
     */
    private static final int PARTS_KEPT = 16;

    private static final long LEAST_KEPT = 1 << 20;

    private final long bytes;
    private final String workload;
    /**
     * The options of two runs. In the first run, the nodes retain all entries that the rejoining node lacks, as by
     * default. In the second run, they retain too few.
     */
    private final List<List<String>> settings;

    private final Results results = new Results();

    Rejoins(int mb) {
        this.bytes = mb * MB;
        this.workload = String.format(Locale.ROOT, "behind by %,d MB", mb);
        this.settings = List.of(
                List.of(), List.of("--cluster-log-retention", Long.toString(Math.max(LEAST_KEPT, bytes / PARTS_KEPT))));
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        turn.say(workload + ", copied twice by hand");
        double copied = Copies.nanos(turn.work(), bytes, 2) / NANOS_PER_SECOND;
        results.add(
                workload, "copied twice by hand", "each copy fsynced", new Measurement().with(Figure.SECONDS, copied));
        for (List<String> some : turn.inTurn(settings)) {
            turn.say(workload + ", " + ThreeNodes.NAME + " " + String.join(" ", some));
            ThreeNodes.Return back = rejoin(turn.work(), some);
            double seconds = back.nanos() / NANOS_PER_SECOND;
            results.add(
                    workload + (back.gotFiles() ? ", receives a snapshot" : ", replays the Raft log"),
                    ThreeNodes.NAME,
                    "fsynced by the restarted node",
                    new Measurement()
                            .with(Figure.SECONDS, seconds)
                            .with(OF_COPIES, seconds / copied)
                            .with(REPLIES_AFTER, back.repliedNanos() / NANOS_PER_SECOND));
        }
    }

    private ThreeNodes.Return rejoin(Path work, List<String> some) throws IOException, InterruptedException {
        Duration timeout = TIMEOUT.plusSeconds(bytes / MB);
        try (ThreeNodes nodes = ThreeNodes.start(work, some.toArray(String[]::new))) {
            String killed = nodes.killFollower();
            append(nodes, timeout);
            return nodes.startAgain(killed, timeout);
        }
    }

    /**
     * Appends all bytes. On a busy machine, the leader may change before the end, and appends in flight may then be
     * missing.
     */
    private void append(ThreeNodes nodes, Duration timeout) throws IOException, InterruptedException {
        ProgressLine progress = new ProgressLine(System.err);
        AtomicLong left = new AtomicLong(bytes);
        byte[] value = new byte[VALUE_BYTES];
        new SplittableRandom(1).nextBytes(value);
        ClosedLoop appends = new ClosedLoop(
                ClusterContestant.threeNodes().appends(value, TOGETHER), CONNECTIONS, 1, ClusterContestant.LISTS);
        long start = System.nanoTime();
        while (left.get() > 0) {
            try {
                appends.run(nodes.address(), () -> continues(left, progress)).withoutErrors();
            } catch (IOException rejected) {
                if (System.nanoTime() - start > timeout.toNanos()) {
                    throw rejected;
                }
            }
        }
        progress.clear();
    }

    private static boolean continues(AtomicLong left, ProgressLine progress) {
        long now = left.getAndAdd(-(long) TOGETHER * VALUE_BYTES);
        progress.show(() -> "appends: " + Math.max(0, now) / MB + " MB left");
        return now > 0;
    }

    @Override
    public Table table() {
        return new Table(
                "A node that rejoins",
                "A follower is killed with `kill -9`. Then the given number of bytes is appended, in values of "
                        + VALUE_BYTES
                        + " random bytes, and the node is restarted. The table shows the seconds from the restart"
                        + " until the node replies, and until it has fsynced and applied everything. The node replays"
                        + " the Raft log, of which 4 GiB are kept by default. If `--cluster-log-retention` is a"
                        + " sixteenth of the missing bytes, it receives and verifies a snapshot. By hand: a file of as"
                        + " many bytes in the page cache is copied to a new file, which is fsynced, twice.",
                results);
    }

    /** Measures the time that plain I/O takes to copy a file. */
    private static final class Copies {
        private static final int BLOCK_BYTES = 1 << 20;

        private Copies() {}

        /**
         * Writes a file of random bytes, and then makes several copies of it, one after another.
         *
         * @param bytes minimum size, which is rounded up to mebibytes
         * @return time in nanoseconds from the first copy until the last copy is fsynced
         */
        static long nanos(Path work, long bytes, int copies) throws IOException {
            Path directory = Files.createTempDirectory(work, "copies");
            try {
                Path original = directory.resolve("original");
                write(original, bytes);
                long start = System.nanoTime();
                for (int i = 1; i <= copies; i++) {
                    copy(original, directory.resolve("copy" + i));
                }
                return System.nanoTime() - start;
            } finally {
                WorkDirectories.delete(directory);
            }
        }

        private static void write(Path file, long bytes) throws IOException {
            SplittableRandom random = new SplittableRandom(bytes);
            byte[] block = new byte[BLOCK_BYTES];
            try (Writer writer = new Writer(file)) {
                for (long written = 0; written < bytes; written += BLOCK_BYTES) {
                    random.nextBytes(block);
                    writer.write(ByteBuffer.wrap(block));
                }
            }
        }

        private static void copy(Path original, Path copy) throws IOException {
            ByteBuffer block = ByteBuffer.allocateDirect(BLOCK_BYTES);
            try (FileChannel in = FileChannel.open(original, StandardOpenOption.READ);
                    Writer writer = new Writer(copy)) {
                while (in.read(block.clear()) >= 0) {
                    writer.write(block.flip());
                }
            }
        }

        /** A new file, which is fsynced when it is closed. */
        private static final class Writer implements AutoCloseable {
            private final FileChannel channel;
            private final ProgressLine progress = new ProgressLine(System.err);
            private long written;

            Writer(Path file) throws IOException {
                channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            }

            void write(ByteBuffer block) throws IOException {
                while (block.hasRemaining()) {
                    written += channel.write(block);
                }
                progress.show(() -> "copying by hand: " + (written >> 20) + " MiB");
            }

            @Override
            public void close() throws IOException {
                try (channel) {
                    channel.force(true);
                }
                progress.clear();
            }
        }
    }
}
