package io.caravan.bench.fragmentation;

import java.util.SplittableRandom;

/**
 * Simulates the edits of documents, a few of which are edited far more often than the rest. Each edit appends 16 to 400
 * bytes; after some dozens of edits the document is snapshotted and everything before is trimmed. Snapshots grow. When
 * more is live than at the start, one snapshot in five is replaced by deleting the document and starting a new, small
 * one. So the live bytes stay the same to within a few percent.
 *
 * <p>The seed alone decides what happens, not the heap's placement: two heaps go through the same life.
 */
final class ServerLife {
    private static final int MIN_VALUE_BYTES = 16;
    private static final int MAX_VALUE_BYTES = 400;
    private static final int MIN_EDITS = 20;
    private static final int MAX_EDITS = 120;
    private static final double MIN_SNAPSHOT_BYTES = 512;
    /** The largest first snapshot has 2 to this power times the minimum size. */
    private static final double SNAPSHOT_DOUBLINGS = 4;

    private static final double SNAPSHOT_GROWTH = 1.02;
    private static final double MAX_SNAPSHOT_BYTES = 64 * 1024;
    private static final double DELETED = 1.0 / 5;
    /** Mean number of snapshots before a document is replaced; half of the time none is deleted. */
    private static final double MEAN_SNAPSHOTS = 2 / DELETED;

    private final SplittableRandom random;
    private final MeasuredHeap heap;
    private final long bornBytes;
    private final LiveDocument[] documents;
    private final double[] snapshotBytes;
    private final int[] editsLeft;
    private long writtenBytes;

    /** Starts in the steady state: every document has had some snapshots, and is somewhere before the next. */
    ServerLife(long seed, int documentCount, MeasuredHeap heap) {
        random = new SplittableRandom(seed);
        this.heap = heap;
        documents = new LiveDocument[documentCount];
        snapshotBytes = new double[documentCount];
        editsLeft = new int[documentCount];
        for (int i = 0; i < documentCount; i++) {
            documents[i] = new LiveDocument(heap);
            begin(i);
            snapshotBytes[i] *= Math.pow(SNAPSHOT_GROWTH, snapshotsBehind());
            snapshot(i);
            for (int edits = random.nextInt(editsLeft[i]); edits > 0; edits--) {
                edit(i);
            }
        }
        bornBytes = heap.usedBytes();
    }

    /** Live bytes at the start. */
    long bornBytes() {
        return bornBytes;
    }

    /** Draws how many snapshots a random document has had. */
    private double snapshotsBehind() {
        return Math.floor(-MEAN_SNAPSHOTS * Math.log(1 - random.nextDouble()));
    }

    /** Bytes written since the beginning, including heads and padding. */
    long writtenBytes() {
        return writtenBytes;
    }

    /** Makes one edit to one document. */
    void step() {
        double chance = random.nextDouble();
        edit((int) (chance * chance * documents.length));
    }

    private void edit(int document) {
        writtenBytes += documents[document].append(random.nextInt(MIN_VALUE_BYTES, MAX_VALUE_BYTES + 1));
        if (--editsLeft[document] == 0) {
            snapshotOrDelete(document);
        }
    }

    private void snapshotOrDelete(int document) {
        if (heap.usedBytes() > bornBytes && random.nextDouble() < DELETED) {
            documents[document].trimTo(0);
            begin(document);
        } else {
            snapshot(document);
        }
    }

    private void begin(int document) {
        snapshotBytes[document] = MIN_SNAPSHOT_BYTES * Math.pow(2, SNAPSHOT_DOUBLINGS * random.nextDouble());
        editsLeft[document] = random.nextInt(MIN_EDITS, MAX_EDITS + 1);
    }

    private void snapshot(int document) {
        writtenBytes += documents[document].append((int) snapshotBytes[document]);
        documents[document].trimTo(1);
        snapshotBytes[document] = Math.min(MAX_SNAPSHOT_BYTES, snapshotBytes[document] * SNAPSHOT_GROWTH);
        editsLeft[document] = random.nextInt(MIN_EDITS, MAX_EDITS + 1);
    }
}
