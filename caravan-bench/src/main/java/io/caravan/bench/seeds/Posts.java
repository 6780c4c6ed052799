package io.caravan.bench.seeds;

import io.caravan.Durability;
import io.caravan.bench.load.OpenLoop;
import io.caravan.bench.report.Figure;
import io.caravan.bench.seeds.Headline.Better;
import io.caravan.bench.seeds.Work.Compared;
import java.util.List;

/** The figures of the posts, and the work on Caravan that each is compared with. */
final class Posts {
    /** The longest time that work of one kind writes. */
    static final int MAX_SECONDS = 4;

    private static final List<Durability> UNSYNCED = List.of(Durability.PROCESS, Durability.SYNC);
    private static final List<Durability> SYNCED = List.of(Durability.SYNC);

    private static final String OMGDB_DIFFERS =
            "OMGDB parses and validates JSON, and stores it as text with derived caches; here a document is 200"
                    + " bytes of JSON, the only value of a list with a numeric id. ";
    private static final String LOREM_DIFFERS =
            "Go on an Apple M4; its log is written by small calls on the caller's thread, and never synced. Here a"
                    + " key is a number and a document a list. ";

    private final boolean quick;
    private final int millis;

    Posts(boolean quick) {
        this.quick = quick;
        millis = quick ? 50 : 1_000;
    }

    List<Compared> all() {
        return List.of(
                caravan2022(),
                liveService(),
                singleInserts(),
                batches(),
                imported(),
                opened(),
                lookups(),
                verified(),
                sochDb(),
                loremWrites(),
                loremHits(),
                loremMisses(),
                loremThreads());
    }

    private static Headline more(
            String workload, String label, String system, String durability, Figure figure, double value) {
        return new Headline(workload, label, system, durability, figure, value, Better.MORE);
    }

    private static Headline less(
            String workload, String label, String system, String durability, Figure figure, double value) {
        return new Headline(workload, label, system, durability, figure, value, Better.LESS);
    }

    private Compared caravan2022() {
        String workload = "Caravan 2022: 100,000 writes of 191 bytes";
        return new Compared(
                new StreamedWrites(workload, quick ? 1_000 : 100_000, 10_000, 191, true),
                UNSYNCED,
                List.of(
                        more(
                                workload,
                                "2022: writes/s",
                                "post: Caravan 2022",
                                "not synced",
                                Figure.APPENDS_PER_SECOND,
                                2_100_000),
                        more(
                                workload + ", in MB",
                                "2022: MB/s",
                                "post: Caravan 2022",
                                "not synced",
                                Figure.VALUE_MB_PER_SECOND,
                                409),
                        more(
                                workload + ", beside RocksDB",
                                "2022: RocksDB MB/s",
                                "post: RocksDB",
                                "not stated",
                                Figure.VALUE_MB_PER_SECOND,
                                27)),
                "A machine with an NVMe disk; the post does not say what survives a crash. Here each write is"
                        + " checksummed, logged by another thread, and survives a crash. An equal number of writes"
                        + " precedes the measurement; lists take turns, and all values are the same bytes.");
    }

    private Compared liveService() {
        String workload = "Caravan 2022: live service, 16,000 deltas a second";
        OpenLoop.Plan plan =
                quick ? new OpenLoop.Plan(500, 5, 1, 1_000, 191, 1) : new OpenLoop.Plan(16_000, 50, 6, 10_000, 191, 1);
        return new Compared(
                new LiveDeltas(workload, plan, quick ? 0 : 3),
                SYNCED,
                List.of(
                        less(
                                workload + ", p50",
                                "2022: live p50",
                                "post: Caravan 2022",
                                "not stated",
                                Figure.P50_MILLIS,
                                2),
                        less(
                                workload + ", p98",
                                "2022: live p98",
                                "post: Caravan 2022",
                                "not stated",
                                Figure.P98_MILLIS,
                                14)),
                "Here client and server share this machine's cores, over RESP and the loopback, and the first 3 s of"
                        + " a fresh server do not count; there, a different protocol and program were between client"
                        + " and store.");
    }

    private Compared singleInserts() {
        String workload = "OMGDB: durable inserts, one at a time";
        return new Compared(
                new WaitingWrites(workload, 1, 0, millis),
                SYNCED,
                List.of(more(
                        workload,
                        "OMGDB: one at a time",
                        "post: OMGDB",
                        "synced each",
                        Figure.APPENDS_PER_SECOND,
                        2_500)),
                OMGDB_DIFFERS + "Both wait for one force each, so this mostly compares the disks.");
    }

    private Compared batches() {
        String workload = "OMGDB: inserts in batches";
        return new Compared(
                new BatchedWrites(workload, quick ? 2_000 : 200_000),
                SYNCED,
                List.of(more(
                        workload,
                        "OMGDB: in batches",
                        "post: OMGDB",
                        "synced a batch",
                        Figure.APPENDS_PER_SECOND,
                        100_000)),
                OMGDB_DIFFERS + "Batches of 1,000, each waited for; here they are read from a file.");
    }

    private Compared imported() {
        String workload = "OMGDB: 50,000 documents imported";
        return new Compared(
                new BatchedWrites(workload, quick ? 1_000 : 50_000),
                SYNCED,
                List.of(less(workload, "OMGDB: import", "post: OMGDB", "synced every 1,000", Figure.SECONDS, 2)),
                OMGDB_DIFFERS + "There a separate command, including its start; here inside a running program.");
    }

    private Compared opened() {
        String workload = "OMGDB: the same 50,000 documents, opened instead";
        return new Compared(
                new OpenedDocuments(workload, quick ? 1_000 : 50_000),
                SYNCED,
                List.of(less(
                        workload, "OMGDB: import, opened", "post: OMGDB", "synced every 1,000", Figure.SECONDS, 2)),
                "The post gives no time to open a store: this is its import again, beside opening a store with the"
                        + " same documents.");
    }

    private Compared lookups() {
        String workload = "OMGDB: lookup of one of 50,000 documents";
        return new Compared(
                new Lookups(workload, quick ? 1_000 : 50_000, true, millis),
                SYNCED,
                List.of(less(workload, "OMGDB: lookup", "post: OMGDB", "a read", Work.MICROS_EACH, 220)),
                "There a query through a secondary index; here a list by its id, its value verified and copied."
                        + " Caravan has no other index.");
    }

    private Compared verified() {
        String workload = "OMGDB: 50,000 documents verified";
        return new Compared(
                new VerifiedDocuments(workload, quick ? 1_000 : 50_000),
                SYNCED,
                List.of(less(workload, "OMGDB: verify", "post: OMGDB", "a read", Figure.SECONDS, 1)),
                OMGDB_DIFFERS + "Both check derived data against the log, and read every document.");
    }

    private Compared sochDb() {
        String workload = "SochDB: sequential inserts";
        return new Compared(
                new StreamedWrites(workload, quick ? 2_000 : 500_000, Integer.MAX_VALUE, 100, false),
                UNSYNCED,
                List.of(
                        more(
                                workload,
                                "SochDB: inserts/s",
                                "post: SochDB, put_raw",
                                "synced every 100 commits",
                                Figure.APPENDS_PER_SECOND,
                                1_300_000),
                        more(
                                workload + ", beside SQLite",
                                "SochDB: SQLite",
                                "post: SQLite",
                                "WAL, synchronous NORMAL: synced at checkpoints",
                                Figure.APPENDS_PER_SECOND,
                                1_160_000)),
                "Rust and C on an Apple with 10 cores, into one table, bypassing SochDB's own table layer. Here each"
                        + " row is 100 bytes in its own list, and a separate write.");
    }

    private Compared loremWrites() {
        String workload = "LoremDB: a write";
        return new Compared(
                new WaitingWrites(workload, 1, 10, millis),
                UNSYNCED,
                List.of(less(workload, "LoremDB: write", "post: LoremDB", "not synced", Work.MICROS_EACH, 58)),
                LOREM_DIFFERS + "Here another thread writes, and the caller waits until it is notified.");
    }

    private Compared loremHits() {
        String workload = "LoremDB: a hit among 10,000";
        return new Compared(
                new Lookups(workload, quick ? 1_000 : 10_000, true, millis),
                SYNCED,
                List.of(less(workload, "LoremDB: hit", "post: LoremDB", "a read", Work.MICROS_EACH, 5.4)),
                LOREM_DIFFERS + "There mostly a line read from a file; here 200 bytes from a mapped file, verified.");
    }

    private Compared loremMisses() {
        String workload = "LoremDB: a miss among 10,000";
        return new Compared(
                new Lookups(workload, quick ? 1_000 : 10_000, false, millis),
                SYNCED,
                List.of(less(workload, "LoremDB: miss", "post: LoremDB", "a read", Work.MICROS_EACH, 0.065)),
                LOREM_DIFFERS
                        + "There a Bloom filter; here the index, under the store's lock, and a check for a pending"
                        + " deletion.");
    }

    private Compared loremThreads() {
        String workload = "LoremDB: a write, over 10 threads";
        return new Compared(
                new WaitingWrites(workload, 10, 10, millis),
                UNSYNCED,
                List.of(less(workload, "LoremDB: 10 threads", "post: LoremDB", "not synced", Work.MICROS_EACH, 18.6)),
                LOREM_DIFFERS + "Ten cores there; here ten waiting threads on this machine's cores.");
    }
}
