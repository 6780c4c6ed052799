package io.caravan;

import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.Region;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a durable store. Immutable; validated by {@code build} without I/O.
 *
 * <p>The segment sizes determine the file layout. They take effect when a store is created, and are ignored when it is
 * opened again.
 */
public final class StoreConfig {
    /** The maximum length of a value in any store: 32 MiB minus one byte. */
    public static final int MAX_VALUE_BYTES = Region.MAX_LENGTH;

    /**
     * The block size: 4 KiB. Segments consist of blocks. A disk is assumed to write one block without affecting the
     * others.
     */
    public static final int BLOCK_BYTES = 4096;

    private static final long KIB = 1024;
    private static final long MIB = 1024 * KIB;
    private static final long GIB = 1024 * MIB;
    /** An upper bound on the total size of a frame header and a record header, in bytes. */
    private static final int FRAME_ROOM_BYTES = BLOCK_BYTES;

    /** The settings, which never change after the config is built. */
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
        long segment = set.logBufferBytes + (long) BLOCK_BYTES;
        checkAtLeast(set.logSegmentBytes, segment, "logSegmentBytes", "a log buffer and a block");
        String content = "a block and the entry of a value of maxValueBytes";
        long heapSegment = EntryLayout.entryBytes(set.maxValueBytes) + BLOCK_BYTES;
        checkAtLeast(set.heapSegmentBytes, heapSegment, "heapSegmentBytes", content);
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

    /** Returns a builder for the store in this directory, which is created if it is missing. */
    public static Builder builder(Path directory) {
        return new Builder(directory);
    }

    /** Returns a copy of these settings for a store in another directory. */
    public StoreConfig withDirectory(Path other) {
        Builder copy = new Builder(set);
        copy.directory = Objects.requireNonNull(other, "directory");
        return new StoreConfig(copy);
    }

    /** Returns the directory of the store's files, which may contain nothing else. */
    public Path directory() {
        return set.directory;
    }

    public Durability durability() {
        return set.durability;
    }

    public FlushPolicy flushPolicy() {
        return set.flushPolicy;
    }

    /**
     * Returns the maximum total size of the heap files, in bytes. Values in the log that may have to move to the heap
     * count toward this maximum.
     */
    public long maxHeapBytes() {
        return set.maxHeapBytes;
    }

    /** Returns the maximum length of a value, in bytes. */
    public int maxValueBytes() {
        return set.maxValueBytes;
    }

    /**
     * Returns the size of each of the two log buffers, in bytes. The buffers bound the memory for writes that are not
     * durable yet.
     */
    public int logBufferBytes() {
        return set.logBufferBytes;
    }

    /** Returns the size of a log segment file, in bytes. */
    public int logSegmentBytes() {
        return set.logSegmentBytes;
    }

    /** Returns the size of a heap segment file, in bytes. */
    public int heapSegmentBytes() {
        return set.heapSegmentBytes;
    }

    /**
     * Returns the minimum number of log bytes between two checkpoints. A checkpoint starts earlier if a write needs the
     * space that it frees.
     */
    public long checkpointFloorBytes() {
        return set.checkpointFloorBytes;
    }

    /**
     * Returns the fraction that determines when a checkpoint starts. The log since the last checkpoint may grow to this
     * fraction of a sum: the size of the last checkpoint plus the used bytes of the heap, of which at most 256 MiB
     * count.
     */
    public double checkpointFraction() {
        return set.checkpointFraction;
    }

    public @Nullable HeapPressureListener heapPressureListener() {
        return set.heapPressureListener;
    }

    /** Returns the used fraction of {@link #maxHeapBytes()} at which the heap pressure listener is notified. */
    public double heapUsedThreshold() {
        return set.heapUsedThreshold;
    }

    /** Returns the fragmentation of the heap at which the heap pressure listener is notified. */
    public double heapFragmentationThreshold() {
        return set.heapFragmentationThreshold;
    }

    /** Returns the executor on which the store's futures complete; null for a thread of the store. */
    public @Nullable Executor futureExecutor() {
        return set.futureExecutor;
    }

    /** Collects the settings of a store. Every setting has a default. */
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
        private double heapUsedThreshold = 0.8;
        private double heapFragmentationThreshold = 1.0;
        private @Nullable Executor futureExecutor;

        private Builder(Path directory) {
            this.directory = Objects.requireNonNull(directory, "directory");
        }

        /** Copies a builder, and uses the other settings to derive the sizes that were not set. */
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
            heapUsedThreshold = of.heapUsedThreshold;
            heapFragmentationThreshold = of.heapFragmentationThreshold;
            futureExecutor = of.futureExecutor;
        }

        /** Sets the durability of writes. Default {@link Durability#SYNC}. */
        public Builder durability(Durability level) {
            durability = Objects.requireNonNull(level, "durability");
            return this;
        }

        /** Sets the flush policy. Default {@link FlushPolicy#immediate()}. */
        public Builder flushPolicy(FlushPolicy policy) {
            flushPolicy = Objects.requireNonNull(policy, "flushPolicy");
            return this;
        }

        /** Sets the maximum heap size: from one heap segment to 2 TiB; default 1 TiB. */
        public Builder maxHeapBytes(long bytes) {
            maxHeapBytes = Arguments.between(bytes, BLOCK_BYTES, 2048 * GIB, "maxHeapBytes");
            return this;
        }

        /**
         * Sets the maximum length of a value: from 1 byte to 32 MiB - 1; default 1 MiB. The log buffer and log segment
         * sizes grow with this maximum, unless they are set.
         */
        public Builder maxValueBytes(int bytes) {
            maxValueBytes = (int) Arguments.between(bytes, 1, MAX_VALUE_BYTES, "maxValueBytes");
            return this;
        }

        /**
         * Sets the log buffer size: from 8 KiB to 256 MiB, a multiple of 4 KiB. Default 4 MiB, or more if {@code
         * maxValueBytes} requires it.
         */
        public Builder logBufferBytes(int bytes) {
            logBufferBytes = (int) Arguments.between(bytes, 8 * KIB, 256 * MIB, "logBufferBytes");
            return this;
        }

        /**
         * Sets the log segment size: from 16 KiB to 1 GiB, a multiple of 4 KiB. Default 32 MiB, or the size of two log
         * buffers if that is larger.
         */
        public Builder logSegmentBytes(int bytes) {
            logSegmentBytes = (int) Arguments.between(bytes, 16 * KIB, GIB, "logSegmentBytes");
            return this;
        }

        /** Sets the heap segment size: from 8 KiB to 1 GiB, a multiple of 4 KiB; default 64 MiB. */
        public Builder heapSegmentBytes(int bytes) {
            heapSegmentBytes = (int) Arguments.between(bytes, 8 * KIB, GIB, "heapSegmentBytes");
            return this;
        }

        /** Sets the minimum number of log bytes between two checkpoints: zero or more; default 64 MiB. */
        public Builder checkpointFloorBytes(long bytes) {
            checkpointFloorBytes = Arguments.notNegative(bytes, "checkpointFloorBytes");
            return this;
        }

        /** Sets {@link StoreConfig#checkpointFraction()}: above 0 and at most 1; default 1. */
        public Builder checkpointFraction(double fraction) {
            checkpointFraction = Arguments.fraction(fraction, "checkpointFraction");
            return this;
        }

        /**
         * Sets a listener for heap pressure, and its thresholds.
         *
         * @param usedThreshold above 0 and at most 1; 1 disables the check of the used fraction
         * @param fragmentationThreshold above 0 and at most 1; 1 disables the check of the fragmentation
         */
        public Builder heapPressure(
                double usedThreshold, double fragmentationThreshold, HeapPressureListener listener) {
            heapUsedThreshold = Arguments.fraction(usedThreshold, "usedThreshold");
            heapFragmentationThreshold = Arguments.fraction(fragmentationThreshold, "fragmentationThreshold");
            heapPressureListener = Objects.requireNonNull(listener, "listener");
            return this;
        }

        /**
         * Sets the executor on which the futures of {@link ListStore} complete. The default is one thread of the store,
         * for which {@code close} waits; it does not wait for a caller's executor. An executor with several threads
         * preserves no order. If the executor rejects a completion, the future completes on a store thread.
         */
        public Builder futureExecutor(Executor executor) {
            futureExecutor = Objects.requireNonNull(executor, "futureExecutor");
            return this;
        }

        /**
         * Checks that the settings are consistent, and returns the config.
         *
         * @throws IllegalArgumentException if settings are inconsistent; the message names them
         */
        public StoreConfig build() {
            return new StoreConfig(new Builder(this));
        }
    }
}
