package io.caravan.torture.disk;

import io.caravan.DurableListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreConfig;
import io.caravan.StoreIoException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * Fills file systems of many sizes with stores, and then deletes all documents or all but one. The store must then
 * accept appends again without a restart, and continue to accept them.
 */
public final class FilledVolumes {
    private static final int LEAST_MEGABYTES = 272;
    private static final int MOST_MEGABYTES = 3072;
    /** The minimum size of an XFS file system. */
    private static final int LEAST_XFS_MEGABYTES = 304;

    private static final int DOCUMENTS = 10;
    private static final int IN_FLIGHT = 64;
    private static final long TIMEOUT_SECONDS = 30;
    /** The time after which a waiting append counts as rejected. */
    private static final long APPEND_SECONDS = 10;

    private final Path work;
    private final PrintStream out;

    public FilledVolumes(Path work, PrintStream out) {
        this.work = work;
        this.out = out;
    }

    /** A file system, the values to fill it with, and whether one document is kept. */
    public record Case(String type, int megabytes, int valueBytes, boolean keepsOne) {
        public static Case random(SplittableRandom random) {
            String type = random.nextBoolean() ? "ext4" : "xfs";
            int least = type.equals("xfs") ? LEAST_XFS_MEGABYTES : LEAST_MEGABYTES;
            // Small file systems are more difficult for a store, so they are chosen more often.
            double exponent = random.nextDouble() * Math.log((double) MOST_MEGABYTES / least);
            return new Case(
                    type,
                    (int) (least * Math.exp(exponent)),
                    random.nextBoolean() ? 5_000 : 50_000,
                    random.nextInt(4) != 0);
        }

        @Override
        public String toString() {
            return type + ":" + megabytes + ":" + valueBytes + ":" + (keepsOne ? "one" : "none");
        }
    }

    /** Fills and empties the file system of each case; returns whether every store recovered. */
    public boolean run(List<Case> cases) throws IOException {
        int recovered = 0;
        for (Case next : cases) {
            recovered += run(next) ? 1 : 0;
        }
        out.println(recovered + " of " + cases.size() + " stores that had filled their disk took appends again");
        return recovered == cases.size();
    }

    private boolean run(Case tried) throws IOException {
        Path volumeDirectory =
                Files.createDirectories(work.resolve(tried.toString().replace(':', '-')));
        try (SmallVolume volume = SmallVolume.mount(volumeDirectory, tried.type(), tried.megabytes())) {
            StoreConfig config =
                    StoreConfig.builder(volume.directory().resolve("store")).build();
            Map<Long, Map<Long, Long>> acknowledged = new HashMap<>();
            boolean recovered;
            try (DurableListStore store = DurableListStore.open(config)) {
                recovered = run(tried, store, acknowledged) && holds(store, acknowledged);
            }
            try (DurableListStore store = DurableListStore.open(config)) {
                return holds(store, acknowledged) && recovered;
            }
        } finally {
            Files.deleteIfExists(volumeDirectory.resolve("volume.image"));
        }
    }

    /**
     * Fills the store, deletes documents, and fills it again.
     *
     * @param acknowledged receives the number in each value that the store must still have, by document and sequence
     */
    private boolean run(Case tried, DurableListStore store, Map<Long, Map<Long, Long>> acknowledged) {
        long filled = fill(store, tried.valueBytes(), acknowledged);
        for (long id = tried.keepsOne() ? 1 : 0; id < DOCUMENTS; id++) {
            store.delete(id).join();
            acknowledged.remove(id);
        }
        long start = System.nanoTime();
        String problem = "";
        do {
            problem = tryAppend(store);
        } while (!problem.isEmpty() && pause(start));
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        long again = problem.isEmpty() ? fill(store, tried.valueBytes(), acknowledged) : 0;
        boolean good = problem.isEmpty() && again > 0;
        out.println(tried + ": " + filled + " values filled it; "
                + (good
                        ? "an append was accepted after " + millis + " ms, and " + again + " values more"
                        : problem.isEmpty()
                                ? "FAILED, only a small append was accepted"
                                : "FAILED, no append in " + millis + " ms: " + problem));
        return good;
    }

    /** Whether the store has exactly the acknowledged values of the documents that were filled. */
    private boolean holds(DurableListStore store, Map<Long, Map<Long, Long>> acknowledged) {
        boolean same = true;
        for (long id = 0; id < DOCUMENTS; id++) {
            Map<Long, Long> found = new HashMap<>();
            store.get(id, (sequence, value) -> {
                found.put(sequence, value.getLong());
                return true;
            });
            Map<Long, Long> expected = acknowledged.getOrDefault(id, Map.of());
            if (!found.equals(expected)) {
                out.println("FAILED, document " + id + " has " + found.size() + " values, should have "
                        + expected.size() + " others");
                same = false;
            }
        }
        return same;
    }

    private static boolean pause(long startNanos) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        return System.nanoTime() - startNanos < TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    }

    /**
     * Appends to all documents in turn, and requests a checkpoint when an append is rejected, until an append is
     * rejected even after a checkpoint. Returns the number of accepted appends.
     */
    private static long fill(DurableListStore store, int valueBytes, Map<Long, Map<Long, Long>> acknowledged) {
        long accepted = 0;
        boolean rejectedBefore = false;
        while (true) {
            List<CompletableFuture<Long>> group = new ArrayList<>();
            for (long number = accepted; number < accepted + IN_FLIGHT; number++) {
                group.add(store.append(number % DOCUMENTS, value(number, valueBytes)));
            }
            long before = accepted;
            for (int i = 0; i < IN_FLIGHT; i++) {
                if (isAccepted(group.get(i))) {
                    long number = before + i;
                    acknowledged
                            .computeIfAbsent(number % DOCUMENTS, id -> new HashMap<>())
                            .put(group.get(i).join(), number);
                    accepted++;
                }
            }
            if (accepted - before == IN_FLIGHT) {
                rejectedBefore = false;
            } else if (rejectedBefore) {
                return accepted;
            } else {
                rejectedBefore = true;
                checkpoint(store);
            }
        }
    }

    private static void checkpoint(DurableListStore store) {
        try {
            store.checkpoint();
        } catch (StoreIoException noSpace) {
            // The store retries the checkpoint by itself.
        }
    }

    private static boolean isAccepted(CompletableFuture<?> append) {
        try {
            append.join();
            return true;
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof OutOfSpaceException) {
                return false;
            }
            throw failed;
        }
    }

    private static byte[] value(long number, int bytes) {
        return ByteBuffer.allocate(bytes).putLong(number).array();
    }

    /** Tries to append a byte. Returns why the append was rejected, or an empty string if it was accepted. */
    private static String tryAppend(DurableListStore store) {
        try {
            store.append(DOCUMENTS, new byte[1]).get(APPEND_SECONDS, TimeUnit.SECONDS);
            return "";
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return "interrupted";
        } catch (ExecutionException | TimeoutException failed) {
            return String.valueOf(failed.getMessage());
        }
    }
}
