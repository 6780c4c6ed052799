package io.caravan.bench.published;

import io.caravan.Durability;
import io.caravan.bench.load.OpenLoop;
import io.caravan.bench.report.Figure;
import java.util.List;

/** The numbers published in posts about stores, and the Caravan workloads with which they are compared. */
final class PublishedNumbers {
    private static final List<Durability> UNSYNCED = List.of(Durability.PROCESS, Durability.SYNC);
    private static final List<Durability> SYNCED = List.of(Durability.SYNC);

    private static final String OMGDB_DIFFERS =
            "OMGDB parses and validates JSON, and stores it as text with derived caches; here a document is 200"
                    + " bytes of JSON, the only value of a list with a numeric id. ";
    private static final String LOREM_DIFFERS =
            "Go on an Apple M4; its log is written by small calls on the caller's thread, and never synced. Here a"
                    + " key is a number and a document a list. ";

    private PublishedNumbers() {}

    /**
     * A headline number from a post.
     *
     * @param suffix text after the workload's name in the headline's row
     * @param durability the guarantee that a write had when it was counted
     */
    record Headline(String suffix, String system, String durability, Figure figure, double value) {
        /** Returns how many times better a measured number is than the headline; below 1 if it is worse. */
        double ratio(double measured) {
            boolean rate = figure.title().endsWith("/s");
            return rate ? measured / value : value / measured;
        }
    }

    /**
     * A workload, and the headlines with which it is compared.
     *
     * @param levels durability levels to run at: first the level nearest to that of the headlines, then {@code SYNC} if
     *     it is stronger
     * @param differs how the workload differs from the post, in one sentence
     */
    record Compared(
            String name, PublishedWorkload work, List<Durability> levels, List<Headline> headlines, String differs) {}

    /** Returns all comparisons. Quick comparisons show only that the workloads succeed. */
    static List<Compared> all(boolean quick) {
        int millis = quick ? 50 : 1_000;
        OpenLoop.Plan plan =
                quick ? new OpenLoop.Plan(500, 5, 1, 1_000, 191, 1) : new OpenLoop.Plan(16_000, 50, 6, 10_000, 191, 1);
        return List.of(
                new Compared(
                        "Caravan 2022: 100,000 writes of 191 bytes",
                        PublishedWorkload.streamed(quick ? 1_000 : 100_000, 10_000, 191, true),
                        UNSYNCED,
                        List.of(
                                new Headline(
                                        "", "post: Caravan 2022", "not synced", Figure.APPENDS_PER_SECOND, 2_100_000),
                                new Headline(
                                        ", in MB", "post: Caravan 2022", "not synced", Figure.VALUE_MB_PER_SECOND, 409),
                                new Headline(
                                        ", compared with RocksDB",
                                        "post: RocksDB",
                                        "not stated",
                                        Figure.VALUE_MB_PER_SECOND,
                                        27)),
                        "A machine with an NVMe disk; the post does not state what survives a crash. Here each write"
                                + " is checksummed, logged by another thread, and survives a crash. An equal number of"
                                + " writes precedes the measurement; lists take turns, and all values are the same"
                                + " bytes."),
                new Compared(
                        "Caravan 2022: live service, 16,000 deltas per second",
                        PublishedWorkload.live(plan, quick ? 0 : 3),
                        SYNCED,
                        List.of(
                                new Headline(", p50", "post: Caravan 2022", "not stated", Figure.P50_MILLIS, 2),
                                new Headline(", p98", "post: Caravan 2022", "not stated", Figure.P98_MILLIS, 14)),
                        "Here client and server share this machine's cores, over RESP and the loopback, and the first"
                                + " 3 s of a fresh server do not count; there, a different protocol and program were"
                                + " between client and store."),
                new Compared(
                        "OMGDB: durable inserts, one at a time",
                        PublishedWorkload.waiting(1, 0, millis),
                        SYNCED,
                        List.of(new Headline("", "post: OMGDB", "synced each", Figure.APPENDS_PER_SECOND, 2_500)),
                        OMGDB_DIFFERS + "Both wait for one fsync each, so this mostly compares the disks."),
                new Compared(
                        "OMGDB: inserts in batches",
                        PublishedWorkload.batched(quick ? 2_000 : 200_000),
                        SYNCED,
                        List.of(new Headline("", "post: OMGDB", "synced a batch", Figure.APPENDS_PER_SECOND, 100_000)),
                        OMGDB_DIFFERS + "Batches of 1,000, each waited for; here they are read from a file."),
                new Compared(
                        "OMGDB: 50,000 documents imported",
                        PublishedWorkload.batched(quick ? 1_000 : 50_000),
                        SYNCED,
                        List.of(new Headline("", "post: OMGDB", "synced every 1,000", Figure.SECONDS, 2)),
                        OMGDB_DIFFERS
                                + "There a separate command, including its start; here inside a running program."),
                new Compared(
                        "OMGDB: the same 50,000 documents, opened instead",
                        PublishedWorkload.opened(quick ? 1_000 : 50_000),
                        SYNCED,
                        List.of(new Headline("", "post: OMGDB", "synced every 1,000", Figure.SECONDS, 2)),
                        "The post gives no time to open a store: this is its import again, compared with opening a"
                                + " store with the same documents."),
                new Compared(
                        "OMGDB: lookup of one of 50,000 documents",
                        PublishedWorkload.lookups(quick ? 1_000 : 50_000, true, millis),
                        SYNCED,
                        List.of(new Headline("", "post: OMGDB", "a read", PublishedWorkload.MICROS_EACH, 220)),
                        "There a query through a secondary index; here a list by its id, its value verified and copied."
                                + " Caravan has no other index."),
                new Compared(
                        "OMGDB: 50,000 documents verified",
                        PublishedWorkload.verified(quick ? 1_000 : 50_000),
                        SYNCED,
                        List.of(new Headline("", "post: OMGDB", "a read", Figure.SECONDS, 1)),
                        OMGDB_DIFFERS + "Both check derived data against the log, and read every document."),
                new Compared(
                        "SochDB: sequential inserts",
                        PublishedWorkload.streamed(quick ? 2_000 : 500_000, Integer.MAX_VALUE, 100, false),
                        UNSYNCED,
                        List.of(
                                new Headline(
                                        "",
                                        "post: SochDB, put_raw",
                                        "synced every 100 commits",
                                        Figure.APPENDS_PER_SECOND,
                                        1_300_000),
                                new Headline(
                                        ", compared with SQLite",
                                        "post: SQLite",
                                        "WAL, synchronous NORMAL: synced at checkpoints",
                                        Figure.APPENDS_PER_SECOND,
                                        1_160_000)),
                        "Rust and C on an Apple with 10 cores, into one table, bypassing SochDB's own table layer."
                                + " Here each row is 100 bytes in its own list, and a separate write."),
                new Compared(
                        "LoremDB: a write",
                        PublishedWorkload.waiting(1, 10, millis),
                        UNSYNCED,
                        List.of(new Headline("", "post: LoremDB", "not synced", PublishedWorkload.MICROS_EACH, 58)),
                        LOREM_DIFFERS + "Here another thread writes, and the caller waits until it is notified."),
                new Compared(
                        "LoremDB: a hit among 10,000",
                        PublishedWorkload.lookups(quick ? 1_000 : 10_000, true, millis),
                        SYNCED,
                        List.of(new Headline("", "post: LoremDB", "a read", PublishedWorkload.MICROS_EACH, 5.4)),
                        LOREM_DIFFERS
                                + "There mostly a line read from a file; here 200 bytes from a mapped file, verified."),
                new Compared(
                        "LoremDB: a miss among 10,000",
                        PublishedWorkload.lookups(quick ? 1_000 : 10_000, false, millis),
                        SYNCED,
                        List.of(new Headline("", "post: LoremDB", "a read", PublishedWorkload.MICROS_EACH, 0.065)),
                        LOREM_DIFFERS
                                + "There a Bloom filter; here the index, under the store's lock, and a check for a"
                                + " pending deletion."),
                new Compared(
                        "LoremDB: a write, over 10 threads",
                        PublishedWorkload.waiting(10, 10, millis),
                        UNSYNCED,
                        List.of(new Headline("", "post: LoremDB", "not synced", PublishedWorkload.MICROS_EACH, 18.6)),
                        LOREM_DIFFERS + "Ten cores there; here ten waiting threads on this machine's cores."));
    }
}
