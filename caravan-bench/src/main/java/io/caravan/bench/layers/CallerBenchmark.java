package io.caravan.bench.layers;

import io.caravan.format.Checksums;
import io.caravan.format.EntryLayout;
import io.caravan.format.FrameLayout;
import io.caravan.format.RecordLayout;
import io.caravan.wal.LogBuffer;
import io.caravan.wal.LogGeometry;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Steps of an append on the caller's thread whose only state is the log's buffer. */
@State(Scope.Thread)
public class CallerBenchmark {
    private static final int BUFFER_BYTES = 4 << 20;
    private static final int SEGMENT_BYTES = 32 << 20;
    private static final int RECORD_BYTES = RecordLayout.appendBytes(Shape.VALUE_BYTES);

    private final byte[] value = Shape.value();
    private final int[] ids = Shape.ids();
    private final ReentrantLock lock = new ReentrantLock();
    private final LogGeometry geometry = new LogGeometry(SEGMENT_BYTES);
    private final LogBuffer frame = new LogBuffer(BUFFER_BYTES);
    private int draw;
    private int at;

    /** Allocates the frame. */
    @Setup(Level.Trial)
    public void place() {
        frame.place(geometry.firstFrame(0), geometry);
    }

    /** Acquires and releases the store's lock without contention. */
    @Benchmark
    public ReentrantLock lock() {
        lock.lock();
        lock.unlock();
        return lock;
    }

    /** Computes the value's checksum, outside the lock. */
    @Benchmark
    public int checksum() {
        return Checksums.crc32c(value);
    }

    /** Encodes the record without its value, in a frame that is cleared when full. */
    @Benchmark
    public int encode() {
        if (!frame.fits(RECORD_BYTES)) {
            frame.clear();
            place();
        }
        int index = frame.add(RECORD_BYTES);
        long id = ids[Shape.at(draw++)];
        int sum = EntryLayout.checksum(draw, Shape.VALUE_BYTES, id, 0, draw);
        RecordLayout.putAppend(frame.memory(), index, id, draw, sum, Shape.VALUE_BYTES);
        return index;
    }

    /** Copies the value into the frame. */
    @Benchmark
    public ByteBuffer copy() {
        at = at + RECORD_BYTES < BUFFER_BYTES - RECORD_BYTES ? at + RECORD_BYTES : FrameLayout.HEADER_BYTES;
        ByteBuffer source = ByteBuffer.wrap(value);
        return frame.memory()
                .put(at + RecordLayout.ENTRY + EntryLayout.VALUE, source, source.position(), source.remaining());
    }
}
