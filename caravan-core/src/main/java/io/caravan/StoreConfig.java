package io.caravan;

import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.Region;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Every setting of a durable store; immutable, validated when built, without I/O.
 *
 * <p>The segment sizes shape the files, so they hold for a store's whole life: they are used when a store is created
 * and ignored when one is opened.
 */
public final class StoreConfig {
    /** The longest value that any store can take: a byte less than 32 MiB. */
    public static final int MAX_VALUE_BYTES = Region.MAX_LENGTH;

    /** Granularity of the log and of every segment: 4 KiB, the block that a disk is assumed to write apart from others. */
    public static final int BLOCK_BYTES = 4096;

    private static final long KIB = 1024;
    private static final long MIB = 1024 * KIB;
    private static final long GIB = 1024 * MIB;
    /** What a frame's and a record's own bytes take beside the value, rounded up generously. */
    private static final int FRAME_ROOM_BYTES = BLOCK_BYTES;

    /** The settings, which nobody changes any more. */
    private final Builder set;

    private StoreConfig(Builder builder) {
        set = builder;
        checkSizesFitTogether();
    }

    private void checkSizesFitTogether() {
        checkBlockMultiple(set.logBufferBytes, "logBufferBytes");
        checkBlockMultiple(set.logSegmentBytes, "logSegmentBytes");
        checkBlockMultiple(set.heapSegmentBytes, "heapSegmentBytes");
        long needed = set.maxValueBytes + (long) FRAME_ROOM_BYTES;
        checkAtLeast(set.logBufferBytes, needed, "logBufferBytes", "a value of maxValueBytes and its frame");
        checkAtLeast(
                set.logSegmentBytes,
                set.logBufferBytes + (long) BLOCK_BYTES,
                "logSegmentBytes",
                "a log buffer and a block");
        long entry = EntryLayout.entryBytes(set.maxValueBytes);
        checkAtLeast(
                set.heapSegmentBytes,
                entry + BLOCK_BYTES,
                "heapSegmentBytes",
                "a block and the entry of a value of maxValueBytes");
        checkAtLeast(set.maxHeapBytes, set.heapSegmentBytes, "maxHeapBytes", "one heap segment");
    }

    private static void checkBlockMultiple(long bytes, String name) {
        if (bytes % BLOCK_BYTES != 0) {
            throw new IllegalArgumentException(name + " must be a multiple of " + BLOCK_BYTES + " bytes, was " + bytes);
        }
    }

    private static void checkAtLeast(long bytes, long least, String name, String what) {
        if (bytes < least) {
            throw new IllegalArgumentException(
                    name + " must hold " + what + ", at least " + least + " bytes, was " + bytes);
        }
    }

    /** Starts a config for the store in this directory, which is created when it is missing. */
    public static Builder builder(Path directory) {
        return new Builder(directory);
    }

    /** The same settings for a store in another directory. */
    public StoreConfig withDirectory(Path other) {
        Builder copy = new Builder(set);
        copy.directory = Objects.requireNonNull(other, "directory");
        return new StoreConfig(copy);
    }

    /** Where the store's files are; nothing else may be in it. */
    public Path directory() {
        return set.directory;
    }

    public Durability durability() {
        return set.durability;
    }

    public FlushPolicy flushPolicy() {
        return set.flushPolicy;
    }

    /** Upper bound of the heap's files, in bytes. Values in the log that may have to move there count as well. */
    public long maxHeapBytes() {
        return set.maxHeapBytes;
    }

    /** Greatest length of one value, in bytes. */
    public int maxValueBytes() {
        return set.maxValueBytes;
    }

    /** Size of each of the two log buffers, in bytes: the bound on memory held by writes that are not durable yet. */
    public int logBufferBytes() {
        return set.logBufferBytes;
    }

    /** Size of one log segment file, in bytes. */
    public int logSegmentBytes() {
        return set.logSegmentBytes;
    }

    /** Size of one heap segment file, in bytes. */
    public int heapSegmentBytes() {
        return set.heapSegmentBytes;
    }

    /** A checkpoint starts no earlier than this many log bytes after the last. */
    public long checkpointFloorBytes() {
        return set.checkpointFloorBytes;
    }

    /**
     * A checkpoint starts when the log since the last is at least this fraction of the index and of the heap that is
     * used, of which 256 MiB count at most.
     */
    public double checkpointFraction() {
        return set.checkpointFraction;
    }

    public @Nullable HeapPressureListener heapPressureListener() {
        return set.heapPressureListener;
    }

    /** Used fraction of {@link #maxHeapBytes()} at which the listener is notified. */
    public double heapUsedMark() {
        return set.heapUsedMark;
    }

    /** Fragmentation at which the listener is notified. */
    public double heapFragmentationMark() {
        return set.heapFragmentationMark;
    }

    /** Where the store's futures complete; null for a thread of the store's own. */
    public @Nullable Executor futureExecutor() {
        return set.futureExecutor;
    }

    /** Collects settings; every one has a default. */
    public static final class Builder {
        private Path directory;
        private Durability durability = Durability.SYNC;
        private FlushPolicy flushPolicy = FlushPolicy.immediate();
        private long maxHeapBytes = 1024 * GIB;
        private int maxValueBytes = (int) MIB;
        private int logBufferBytes;
        private int logSegmentBytes;
        private int heapSegmentBytes;
        private long checkpointFloorBytes = 64 * MIB;
        private double checkpointFraction = 1.0;
        private @Nullable HeapPressureListener heapPressureListener;
        private double heapUsedMark = 0.8;
        private double heapFragmentationMark = 1.0;
        private @Nullable Executor futureExecutor;

        private Builder(Path directory) {
            this.directory = Objects.requireNonNull(directory, "directory");
        }

        /** A copy of another, whose sizes that were not set are what the others need. */
        private Builder(Builder of) {
            directory = of.directory;
            durability = of.durability;
            flushPolicy = of.flushPolicy;
            maxHeapBytes = of.maxHeapBytes;
            maxValueBytes = of.maxValueBytes;
            logBufferBytes = of.logBufferBytes != 0
                    ? of.logBufferBytes
                    : Math.max((int) (4 * MIB), Blocks.roundUp(maxValueBytes + FRAME_ROOM_BYTES));
            logSegmentBytes = of.logSegmentBytes != 0
                    ? of.logSegmentBytes
                    : (int) Math.max(32 * MIB, Math.min(GIB, 2L * logBufferBytes));
            heapSegmentBytes = of.heapSegmentBytes != 0 ? of.heapSegmentBytes : (int) (64 * MIB);
            checkpointFloorBytes = of.checkpointFloorBytes;
            checkpointFraction = of.checkpointFraction;
            heapPressureListener = of.heapPressureListener;
            heapUsedMark = of.heapUsedMark;
            heapFragmentationMark = of.heapFragmentationMark;
            futureExecutor = of.futureExecutor;
        }

        /** Default {@link Durability#SYNC}. */
        public Builder durability(Durability level) {
            durability = Objects.requireNonNull(level, "durability");
            return this;
        }

        /** Default {@link FlushPolicy#immediate()}. */
        public Builder flushPolicy(FlushPolicy policy) {
            flushPolicy = Objects.requireNonNull(policy, "flushPolicy");
            return this;
        }

        /** From one heap segment to 2 TiB; default 1 TiB. */
        public Builder maxHeapBytes(long bytes) {
            maxHeapBytes = Arguments.between(bytes, BLOCK_BYTES, 2048 * GIB, "maxHeapBytes");
            return this;
        }

        /** From 1 byte to 32 MiB - 1; default 1 MiB. Buffers and segments grow with it unless they are set. */
        public Builder maxValueBytes(int bytes) {
            maxValueBytes = (int) Arguments.between(bytes, 1, MAX_VALUE_BYTES, "maxValueBytes");
            return this;
        }

        /** From 8 KiB to 256 MiB, a multiple of 4 KiB; default 4 MiB or what {@code maxValueBytes} needs. */
        public Builder logBufferBytes(int bytes) {
            logBufferBytes = (int) Arguments.between(bytes, 8 * KIB, 256 * MIB, "logBufferBytes");
            return this;
        }

        /** From 16 KiB to 1 GiB, a multiple of 4 KiB; default 32 MiB or two log buffers. */
        public Builder logSegmentBytes(int bytes) {
            logSegmentBytes = (int) Arguments.between(bytes, 16 * KIB, GIB, "logSegmentBytes");
            return this;
        }

        /** From 8 KiB to 1 GiB, a multiple of 4 KiB; default 64 MiB. */
        public Builder heapSegmentBytes(int bytes) {
            heapSegmentBytes = (int) Arguments.between(bytes, 8 * KIB, GIB, "heapSegmentBytes");
            return this;
        }

        /** Zero or more; default 64 MiB. */
        public Builder checkpointFloorBytes(long bytes) {
            checkpointFloorBytes = Arguments.notNegative(bytes, "checkpointFloorBytes");
            return this;
        }

        /** Above 0 and at most 1; default 1. */
        public Builder checkpointFraction(double fraction) {
            checkpointFraction = Arguments.fraction(fraction, "checkpointFraction");
            return this;
        }

        /**
         * Has the listener notified of heap pressure.
         *
         * @param usedMark above 0 and at most 1; 1 leaves the used fraction out of account
         * @param fragmentationMark above 0 and at most 1; 1 leaves fragmentation out of account
         */
        public Builder heapPressure(double usedMark, double fragmentationMark, HeapPressureListener listener) {
            heapUsedMark = Arguments.fraction(usedMark, "usedMark");
            heapFragmentationMark = Arguments.fraction(fragmentationMark, "fragmentationMark");
            heapPressureListener = Objects.requireNonNull(listener, "listener");
            return this;
        }

        /**
         * Where the futures of {@link ListStore} complete; by default on one thread of the store's own, in the order in
         * which the store accepted the writes, and closing the store waits for it. An executor of several threads keeps
         * no order; closing waits for none of the caller's. A future that the executor rejects completes on a store
         * thread.
         */
        public Builder futureExecutor(Executor executor) {
            futureExecutor = Objects.requireNonNull(executor, "futureExecutor");
            return this;
        }

        /**
         * Checks the settings against each other.
         *
         * @throws IllegalArgumentException naming the settings that do not fit together
         */
        public StoreConfig build() {
            return new StoreConfig(new Builder(this));
        }
    }
}
