package io.caravan.inspect;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.StoreIoException;
import io.caravan.VerifyReport;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.engine.PacedProgress;
import io.caravan.engine.Recovered;
import io.caravan.engine.Recovery;
import io.caravan.format.FileNames;
import io.caravan.format.Region;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.io.FileStorage;
import io.caravan.io.FileStorage.Access;
import io.caravan.io.Storage;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Checks that each checkpoint, together with the log after it, yields the complete state. It recovers from every
 * checkpoint in turn, compares the results, and reads every entry. It changes nothing on disk. {@code OpenVerification}
 * verifies a store that is open in this process.
 */
public final class Verifier {
    /**
     * The pause before the second pass. The pause doubles before each later pass, so that the store can finish moving
     * data.
     */
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final Storage storage;
    private final VerifyReport.Progress progress;
    private final Recovery recovery;
    private final List<CaravanException> faults = new ArrayList<>();
    private int checkpoints;
    private long frames;
    private long lists;
    private long entries;
    private long bytes;

    private Verifier(Storage storage, VerifyReport.Progress progress, OptionalLong forcedLsn, boolean beingWritten)
            throws IOException {
        Recovery.requireStore(storage);
        this.storage = storage;
        this.progress = new PacedProgress(progress);
        this.recovery = new Recovery(storage, this.progress, forcedLsn, beingWritten);
    }

    /**
     * Verifies the closed store in a directory.
     *
     * @param fsyncedLsn the position up to which the log was fsynced, if the store is a replica
     */
    public static VerifyReport verifyClosed(Path directory, OptionalLong fsyncedLsn, VerifyReport.Progress progress)
            throws IOException {
        try (Storage storage = FileStorage.open(directory, Access.READ, Recovery::requireStore)) {
            return new Verifier(storage, progress, fsyncedLsn, false).verify();
        }
    }

    /**
     * Verifies a store that another process has open, without writing. During the verification, the log grows, and data
     * that is trimmed, moved, or recycled looks damaged. The store is therefore verified several times, each time from
     * the newest checkpoint at that time. Only findings that every pass repeats are faults. A pass that cannot recover
     * from any checkpoint reads no entries, and therefore counts only if no pass can recover.
     *
     * @throws StoreIoException if the store changed so fast that no pass was complete
     */
    public static VerifyReport verifyWhileOpen(Storage storage, VerifyReport.Progress progress) throws IOException {
        VerifyReport lasting = null;
        int passes = 0;
        for (int attempt = 0; attempt < ContentsReader.ATTEMPTS; attempt++) {
            if (attempt > 0) {
                LockSupport.parkNanos(FIRST_PAUSE_NANOS << attempt - 1);
            }
            try {
                VerifyReport found = new Verifier(storage, progress, OptionalLong.empty(), true).verify();
                boolean recovered = found.checkpoints() > 0;
                if (lasting == null || recovered && lasting.checkpoints() == 0) {
                    lasting = found;
                    passes = 1;
                } else if (recovered || lasting.checkpoints() == 0) {
                    lasting = withRepeatedFaults(found, lasting);
                    passes++;
                }
                if (lasting.checkpoints() > 0 && lasting.clean()) {
                    return lasting;
                }
            } catch (NoSuchFileException recycled) {
                // The next pass begins with a newer checkpoint.
            }
        }
        if (lasting == null || passes < 2 || lasting.clean()) {
            throw ContentsReader.tooFast(storage);
        }
        return lasting;
    }

    /** Returns the report of a pass, with only the faults that the report of the earlier passes also contains. */
    private static VerifyReport withRepeatedFaults(VerifyReport found, VerifyReport earlier) {
        Set<String> messages = earlier.faults().stream()
                .map(fault -> String.valueOf(fault.getMessage()))
                .collect(Collectors.toSet());
        return found.withFaults(found.faults().stream()
                .filter(fault -> messages.contains(String.valueOf(fault.getMessage())))
                .toList());
    }

    /** Verifies the closed store in a {@link Storage}. */
    public static VerifyReport verify(Storage storage, VerifyReport.Progress progress) throws IOException {
        return new Verifier(storage, progress, OptionalLong.empty(), false).verify();
    }

    private VerifyReport verify() throws IOException {
        Recovered newest = null;
        try {
            for (long number : recovery.checkpointNumbers()) {
                Recovered found = recoverFrom(number);
                if (newest == null) {
                    newest = found;
                } else if (found != null) {
                    try (found) {
                        compare(newest, found);
                    }
                }
            }
            if (newest != null) {
                readEntries(newest);
            }
        } finally {
            if (newest != null) {
                newest.close();
            }
        }
        return new VerifyReport(checkpoints, frames, lists, entries, bytes, faults);
    }

    /** Recovers the store from one checkpoint. Reports a problem that affects several checkpoints once. */
    private @Nullable Recovered recoverFrom(long number) throws IOException {
        progress.at("checkpoints", checkpoints, recovery.checkpointNumbers().size());
        try (CheckpointReader reader = new CheckpointReader(storage, number)) {
            Recovered found = recovery.recoverFrom(reader);
            checkpoints++;
            frames = Math.max(frames, found.end().frames());
            return found;
        } catch (CaravanException problem) {
            String message = String.valueOf(problem.getMessage());
            if (faults.stream().noneMatch(fault -> message.equals(fault.getMessage()))) {
                faults.add(problem);
            }
            return null;
        }
    }

    private void compare(Recovered newest, Recovered older) {
        Long difference = firstDifference(newest.index(), older.index());
        if (difference != null) {
            faults.add(new CorruptStoreException(
                    storage.describe(FileNames.CHECKPOINT.of(older.newest().number())),
                    0,
                    "leads to a different state of document " + difference + " than checkpoint "
                            + newest.newest().number()));
        }
    }

    private void readEntries(Recovered state) {
        ListIndex index = state.index();
        lists = index.listCount();
        for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
            index.forEachList(partition, list -> readEntries(state, list));
        }
    }

    private void readEntries(Recovered state, int list) {
        ListIndex index = state.index();
        ListCursor cursor = new ListCursor();
        long[] region = new long[1];
        index.seek(list, index.first(list), cursor);
        for (long sequence = index.first(list); sequence < index.next(list); sequence++) {
            index.copyRegions(cursor, region, 0, 1);
            try {
                bytes += state.read(region[0], index.id(list), index.creationLsn(list), sequence)
                        .remaining();
                entries++;
            } catch (CorruptStoreException problem) {
                faults.add(problem);
            }
            progress.at("entries", entries, index.entryCount());
        }
    }

    /** Returns the id of a list that differs between the indexes, or null. */
    static @Nullable Long firstDifference(ListIndex one, ListIndex other) {
        Long difference = firstDifferent(one, other);
        // A comparison in reverse finds the lists that only the other index has.
        return difference == null && one.listCount() != other.listCount() ? firstDifferent(other, one) : difference;
    }

    private static @Nullable Long firstDifferent(ListIndex one, ListIndex other) {
        List<Long> different = new ArrayList<>();
        for (int partition = 0; partition < ListIndex.PARTITIONS && different.isEmpty(); partition++) {
            one.forEachList(partition, list -> {
                int otherList = other.find(one.id(list));
                if (otherList == ListIndex.NONE || !same(one, list, other, otherList)) {
                    different.add(one.id(list));
                }
            });
        }
        return different.isEmpty() ? null : different.get(0);
    }

    private static boolean same(ListIndex one, int list, ListIndex other, int otherList) {
        if (one.creationLsn(list) != other.creationLsn(otherList)
                || one.first(list) != other.first(otherList)
                || one.next(list) != other.next(otherList)) {
            return false;
        }
        ListCursor cursor = new ListCursor();
        ListCursor otherCursor = new ListCursor();
        one.seek(list, one.first(list), cursor);
        other.seek(otherList, other.first(otherList), otherCursor);
        long[] regions = new long[2];
        for (long sequence = one.first(list); sequence < one.next(list); sequence++) {
            one.copyRegions(cursor, regions, 0, 1);
            other.copyRegions(otherCursor, regions, 1, 1);
            if (!same(regions[0], regions[1])) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether two regions agree. An entry that is in the heap in the newer checkpoint may be in the log in the older
     * one.
     */
    private static boolean same(long region, long other) {
        return region == other
                || Region.isInLog(region) != Region.isInLog(other) && Region.length(region) == Region.length(other);
    }
}
