package io.caravan.engine;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.EntryStream;
import io.caravan.StoreIoException;
import io.caravan.TrimmedException;
import io.caravan.VerifyReport;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.FileNames;
import io.caravan.io.FileStorage;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogScanner;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;

/**
 * Verifies an open store. Reads the files on the checkpointer's thread, so that no file is removed in the meantime.
 * Reads entries like any other reader.
 */
final class OpenVerification {
    private final Engine engine;
    private final VerifyReport.Progress progress;
    private final List<CaravanException> faults = new ArrayList<>();
    private int checkpoints;
    private long frames;
    private long lists;
    private long entries;
    private long bytes;

    OpenVerification(Engine engine, VerifyReport.Progress progress) {
        this.engine = engine;
        this.progress = new PacedProgress(progress);
    }

    VerifyReport run() {
        engine.flush();
        engine.state.checkWritable();
        engine.onCheckpointer(this::readFiles);
        engine.forEachList(this::readList);
        return new VerifyReport(checkpoints, frames, lists, entries, bytes, faults);
    }

    private void readFiles() throws IOException {
        List<CheckpointHeader> headers = new ArrayList<>();
        for (CheckpointHeader kept : engine.checkpointer.kept()) {
            attempt(() -> headers.add(readCheckpoint(kept.number())));
            progress.at("checkpoints", checkpoints, engine.checkpointer.kept().size());
        }
        if (!headers.isEmpty()) {
            attempt(() -> readLog(headers.get(0)));
            checkHeapSegments(headers.get(headers.size() - 1));
        }
    }

    /** Runs a task that reads files, and records any failure as a fault. */
    private void attempt(Engine.FileTask reading) {
        try {
            reading.run();
        } catch (CaravanException problem) {
            faults.add(problem);
        } catch (IOException unreadable) {
            faults.add(new StoreIoException("cannot be read: " + FileStorage.problem(unreadable), unreadable));
        }
    }

    private CheckpointHeader readCheckpoint(long number) throws IOException {
        try (CheckpointReader reader = new CheckpointReader(engine.state.storage, number)) {
            reader.read(CheckpointReader.Visitor.NONE);
            checkpoints++;
            return reader.header();
        }
    }

    /** Checks all heap segments that exist or that the newest checkpoint needs. */
    private void checkHeapSegments(CheckpointHeader newest) throws IOException {
        int made = FileNames.HEAP.numbers(engine.state.storage.list()).size();
        for (int segment = 0; segment < Math.max(made, newest.heapSegments()); segment++) {
            int number = segment;
            attempt(() -> engine.state.heapFile.check(number));
        }
    }

    private void readLog(CheckpointHeader from) throws IOException {
        long end = engine.state.forced.position();
        LogGeometry geometry = engine.state.geometry;
        try (LogSegments log = new LogSegments(engine.state.storage, geometry, from.storeId())) {
            // If the last segment is full, the end of the log lies in the next segment, which has no frames yet.
            long endSegment = geometry.segmentOf(end);
            long lastInUse = end == geometry.firstFrame(endSegment) ? endSegment - 1 : endSegment;
            long first = geometry.segmentOf(from.startLsn());
            for (long segment = first; segment <= lastInUse || isReady(segment); segment++) {
                try {
                    log.open(segment);
                    log.checkSize(segment);
                    log.checkHeader(segment);
                } catch (NoSuchFileException missing) {
                    // The provisioner deletes ready segments if the disk lacks space.
                    if (segment <= lastInUse || isReady(segment)) {
                        throw missing;
                    }
                }
            }
            frames = new LogScanner(log)
                    .scanUpTo(from.startLsn(), from.previous(), end, (segment, at, lsn) -> {})
                    .frames();
        }
    }

    private boolean isReady(long segment) {
        return segment <= engine.provisioner.lastReadySegment();
    }

    /** Reads a list. Resumes after a damaged entry, but not after damage that cannot be attributed to an entry. */
    private void readList(long id) {
        lists++;
        EntryStream counting = (sequence, value) -> {
            entries++;
            bytes += value.remaining();
            progress.at("entries", entries, entries);
            return true;
        };
        long from = 0;
        boolean done = false;
        while (!done) {
            try {
                engine.get(id, from, counting);
                done = true;
            } catch (CorruptStoreException problem) {
                faults.add(problem);
                done = problem.sequence() < from;
                from = problem.sequence() + 1;
            } catch (TrimmedException trimmed) {
                from = trimmed.firstSequence();
            }
        }
    }
}
