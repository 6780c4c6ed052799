package io.caravan.testing;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;

import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.WriteBatch;
import java.nio.file.Path;

/**
 * A store that uses every feature in a few small files. Its lists are live, trimmed, emptied, deleted, or recreated,
 * with values of all sizes in two heap segments. It has two checkpoints, rotated and recycled log segments, and frames
 * after the newest checkpoint.
 *
 * @param open the files while the store was open and everything was acknowledged, as a kill leaves them
 * @param closed the files after the store was closed
 * @param contents the contents of the store
 * @param beforeLastFrame the contents before the last frame of the log
 */
public record SmallStore(
        DirectoryImage open, DirectoryImage closed, StoreContents contents, StoreContents beforeLastFrame) {
    public static final int MAX_VALUE_BYTES = 4096;
    private static final int KIB = 1024;
    private static final int LISTS = 7;

    /** Returns the config of a small store that makes a checkpoint only on request. */
    public static StoreConfig.Builder config(Path directory) {
        return StoreConfig.builder(directory)
                .maxValueBytes(MAX_VALUE_BYTES)
                .logBufferBytes(16 * KIB)
                .logSegmentBytes(32 * KIB)
                .heapSegmentBytes(32 * KIB)
                .checkpointFloorBytes(1L << 30);
    }

    /** Builds the store in an empty directory. Every write has its own frame. */
    public static SmallStore build(Path directory) {
        DirectoryImage open;
        StoreContents contents;
        StoreContents beforeLastFrame;
        WatchedScheduler threads = new WatchedScheduler();
        try (ListStore store = threads.open(config(directory).build())) {
            fillTwoHeapSegments(store, threads);
            appendRound(store, 0);
            checkpoint(store, threads);
            appendRound(store, 1);
            trimAndDelete(store);
            checkpoint(store, threads);
            appendTail(store);
            beforeLastFrame = StoreContents.of(store);
            append(store, 3, 33);
            contents = StoreContents.of(store);
            open = DirectoryImage.ofSettled(directory, threads);
        }
        return new SmallStore(open, DirectoryImage.of(directory), contents, beforeLastFrame);
    }

    /**
     * Makes a checkpoint once the next log segment exists, so that this segment is not a recycled one. Returns when the
     * files that the checkpoint has released are in place. Otherwise, a busy machine would produce other files.
     */
    private static void checkpoint(ListStore store, WatchedScheduler threads) {
        threads.awaitRest();
        store.checkpoint();
        threads.awaitRest();
    }

    private static void fillTwoHeapSegments(ListStore store, WatchedScheduler threads) {
        append(store, 101, 500);
        checkpoint(store, threads);
        for (int i = 0; i < 9; i++) {
            append(store, 100, MAX_VALUE_BYTES - i);
        }
        append(store, 4, 700);
        checkpoint(store, threads);
        append(store, 102, 3_600);
        checkpoint(store, threads);
        awaitWrite(callback -> store.trim(100, 8, callback));
    }

    private static void appendRound(ListStore store, int round) {
        for (int i = 0; i < 3 * LISTS; i++) {
            append(store, i % LISTS, (13 * i + 5 * round) % 40);
        }
    }

    private static void trimAndDelete(ListStore store) {
        awaitWrite(callback -> store.trim(1, 2, callback));
        awaitWrite(callback -> store.trimTo(2, 100, callback));
        awaitWrite(callback -> store.delete(5, callback));
        append(store, 5, 21);
    }

    private static void appendTail(ListStore store) {
        append(store, 0, 0);
        append(store, -8, 1500);
        awaitWrite(callback -> store.write(
                WriteBatch.create()
                        .append(1, bytes(12, 1))
                        .append(9, bytes(7, 2))
                        .trimTo(0, 1)
                        .delete(4)
                        .append(4, bytes(9, 3)),
                callback));
        append(store, 6, MAX_VALUE_BYTES);
        awaitWrite(callback -> store.trim(6, 1, callback));
        awaitWrite(callback -> store.delete(100, callback));
        append(store, 2, 17);
        append(store, 2, 18);
    }

    private static void append(ListStore store, long id, int length) {
        await(store.append(id, bytes(length, (int) id)));
    }
}
