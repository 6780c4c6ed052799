package io.caravan.bench.layers;

import io.caravan.bench.report.HandFile;
import io.caravan.format.Blocks;
import io.caravan.format.EntryLayout;
import io.caravan.format.FrameLayout;
import io.caravan.format.RecordLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Steps of an append on the flusher's thread, for frames of 256 records. */
@State(Scope.Thread)
public class FlusherBenchmark {
    static final int RECORDS = 256;

    private static final int RECORD_BYTES = RecordLayout.appendBytes(Shape.VALUE_BYTES);
    private static final int ENTRY_BYTES = EntryLayout.entryBytes(Shape.VALUE_BYTES);
    private static final int PAYLOAD_BYTES = RECORDS * RECORD_BYTES;
    private static final int FRAME_BYTES = Blocks.roundUp(FrameLayout.HEADER_BYTES + PAYLOAD_BYTES);
    private static final int FRAMES = 256;
    private static final int FILE_BYTES = FRAMES * FRAME_BYTES;
    private static final FrameLayout.Identity IDENTITY = new FrameLayout.Identity(0, 0, 0);

    /** Directory on the disk to measure. */
    @Param(".")
    public String directory = ".";

    private final ByteBuffer frame = ByteBuffer.allocateDirect(FRAME_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer entries = ByteBuffer.allocateDirect(RECORDS * ENTRY_BYTES);
    private @Nullable FilePair files;
    private int number;

    /** Files whose blocks are really allocated, like the store's. */
    private record FilePair(Path logPath, Path heapPath, HandFile log, HandFile heap, MappedByteBuffer mappedLog) {
        static FilePair make(Path directory) throws IOException {
            Path logPath = directory.resolve("flusher.log");
            Path heapPath = directory.resolve("flusher.heap");
            HandFile log = new HandFile(logPath);
            HandFile heap = new HandFile(heapPath);
            log.prepare(FILE_BYTES);
            heap.prepare(FILE_BYTES);
            return new FilePair(
                    logPath, heapPath, log, heap, log.map(FILE_BYTES).load());
        }

        void delete() throws IOException {
            log.close();
            heap.close();
            Files.delete(logPath);
            Files.delete(heapPath);
        }
    }

    /** Creates the files, and a frame as appends leave it. */
    @Setup(Level.Trial)
    public void prepare() throws IOException {
        files = FilePair.make(Path.of(directory));
        byte[] value = Shape.value();
        for (int i = 0; i < RECORDS; i++) {
            int at = FrameLayout.HEADER_BYTES + i * RECORD_BYTES;
            RecordLayout.putAppend(frame, at, i, 0, 0, value.length);
            frame.put(at + RecordLayout.ENTRY + EntryLayout.VALUE, value);
        }
        FrameLayout.seal(frame, FrameLayout.MAGIC_VALUE, IDENTITY, FrameLayout.NO_FRAME, PAYLOAD_BYTES, RECORDS);
    }

    /** Deletes the files. */
    @TearDown(Level.Trial)
    public void delete() throws IOException {
        files().delete();
    }

    /** Computes the frame's checksum. */
    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public ByteBuffer seal() {
        FrameLayout.seal(frame, FrameLayout.MAGIC_VALUE, IDENTITY, FrameLayout.NO_FRAME, PAYLOAD_BYTES, RECORDS);
        return frame;
    }

    /** Writes the frame to the operating system, at the next position of a file that is used as a ring. */
    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public int write() throws IOException {
        number = number + 1 & FRAMES - 1;
        files().log().write(frame.duplicate().clear(), (long) number * FRAME_BYTES);
        return number;
    }

    /** Gathers the frame's entries from the mapped log, and writes them to the heap side by side, as a checkpoint does. */
    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public int tenure() throws IOException {
        number = number + 1 & FRAMES - 1;
        entries.clear();
        int at = number * FRAME_BYTES + FrameLayout.HEADER_BYTES + RecordLayout.ENTRY;
        for (int i = 0; i < RECORDS; i++) {
            entries.put(entries.position(), files().mappedLog(), at + i * RECORD_BYTES, ENTRY_BYTES);
            entries.position(entries.position() + ENTRY_BYTES);
        }
        files().heap().write(entries.flip(), (long) number * RECORDS * ENTRY_BYTES);
        return number;
    }

    private FilePair files() {
        return Objects.requireNonNull(files, "the files of this trial");
    }
}
