package io.caravan.bench.engine;

import io.caravan.Durability;
import io.caravan.bench.Directories;
import io.caravan.bench.peers.Peer;
import io.caravan.bench.peers.PeerStore;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Reads complete lists that are in memory. The stores are filled in the first turn and reopened in every turn, because
 * filling them takes longer than everything else.
 */
final class ListReads implements Measure {
    private static final String NOTES =
            "Whole lists are read in a scattered order; the length and the last byte of every value are checked. All"
                    + " have been read once before the clock starts. With two threads, the time is divided by what"
                    + " both read. Every store was filled list by list, so that each list is contiguous; \"%s\" is"
                    + " Caravan filled with one entry to each list in turn, as documents grow. Caravan verifies each"
                    + " entry's checksum, the others do not. Chronicle Queue has no lists: each thread scans all of"
                    + " it in order. No list is started after %,.1f s.";
    private static final String GROWN_TOGETHER = "Caravan, lists grown together";
    private static final String NO_MATTER = "does not matter to reads";
    private static final int[] THREADS = {1, 2};
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MB_PER_GB = 1e3;

    private final Workload workload;
    private final int lists;
    private final int entries;
    private final long limitNanos;
    private final List<Subject> subjects = new ArrayList<>();
    private final Results results = new Results();

    /** Creates the part, with {@code lists} lists of {@code entries} entries each. */
    ListReads(Stores stores, Workload workload, int lists, int entries, long limitNanos) {
        this.workload = workload;
        this.lists = lists;
        this.entries = entries;
        this.limitNanos = limitNanos;
        Loader loader = new Loader(workload, lists, entries);
        Opener caravan = path -> new CaravanLists(stores.open(path, Durability.PROCESS));
        subjects.add(new Subject(Contestant.CARAVAN, true, caravan, loader::listByList));
        subjects.add(new Subject(GROWN_TOGETHER, true, caravan, loader::together));
        for (Peer peer : Peer.values()) {
            if (peer != Peer.ROCKSDB_PUTS) {
                subjects.add(new Subject(
                        peer.title(), peer.findsLists(), path -> peer.open(path, false), loader::listByList));
            }
        }
    }

    private record Subject(String system, boolean findsLists, Opener opener, Filler filler) {}

    private interface Opener {
        PeerStore open(Path directory) throws IOException;
    }

    private interface Filler {
        void fill(PeerStore store) throws IOException;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        for (Subject subject : turn.inTurn(subjects)) {
            Path directory = turn.work().resolve("lists-" + subjects.indexOf(subject));
            if (!Files.exists(directory)) {
                turn.say(name(1) + ": filling " + subject.system);
                fill(subject, directory);
            }
            turn.say(name(1) + ": " + subject.system);
            read(subject, directory);
        }
        copy();
    }

    private void fill(Subject subject, Path directory) throws IOException {
        try (PeerStore store = subject.opener.open(directory)) {
            subject.filler.fill(store);
        } catch (IOException | RuntimeException failed) {
            Directories.delete(directory);
            throw failed;
        }
    }

    private void read(Subject subject, Path directory) throws IOException, InterruptedException {
        try (PeerStore store = subject.opener.open(directory)) {
            ReadPass pass = new ReadPass(lists, entries, limitNanos);
            pass.run(store::reader, subject.findsLists, 1);
            for (int threads : THREADS) {
                results.add(
                        new Row(name(threads), subject.system, NO_MATTER),
                        pass.run(store::reader, subject.findsLists, threads));
            }
        }
    }

    private void copy() throws IOException {
        Measurement copied = new CopiedValues(workload, lists * entries, limitNanos).run();
        double each = NANOS_PER_SECOND / copied.get(Figure.APPENDS_PER_SECOND);
        results.add(
                new Row(name(1), CopiedValues.SYSTEM, CopiedValues.DURABILITY),
                new Measurement()
                        .with(AppendFigures.NANOS_PER_ENTRY, each)
                        .with(Figure.GB_PER_SECOND, copied.get(Figure.VALUE_MB_PER_SECOND) / MB_PER_GB));
    }

    private String name(int threads) {
        return String.format(
                Locale.ROOT,
                "%,d lists of %d entries, %s",
                lists,
                entries,
                threads == 1 ? "one thread" : "two threads");
    }

    @Override
    public Table table() {
        return new Table(
                "whole lists read",
                String.format(Locale.ROOT, NOTES, GROWN_TOGETHER, limitNanos / NANOS_PER_SECOND),
                results);
    }

    @Override
    public List<Picture> pictures() {
        String title = "Whole lists read from memory";
        Bars bars = new Bars(title, "nanoseconds an entry")
                .group("one thread", results, name(1), AppendFigures.NANOS_PER_ENTRY)
                .group("two threads", results, name(2), AppendFigures.NANOS_PER_ENTRY)
                .logarithmic();
        subjects.forEach(subject -> bars.system(subject.system, subject.system, NO_MATTER));
        return List.of(new Picture(
                "list-reads",
                title,
                "Lower is better; the scale is logarithmic. Caravan verifies every entry's checksum. Chronicle Queue"
                        + " has no lists"
                        + " and is scanned in order.",
                bars.chart()));
    }
}
