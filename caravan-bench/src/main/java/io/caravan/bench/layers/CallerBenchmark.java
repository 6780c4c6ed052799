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

/** Steps of an append on its caller's thread that keep nothing but the log's buffer. */
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

    /** Gives the frame its place. */
    @Setup(Level.Trial)
    public void place() {
        frame.place(geometry.firstFrame(0), geometry);
    }

    /** The store's lock, taken and released, with nobody else there. */
    @Benchmark
    public ReentrantLock lock() {
        lock.lock();
        lock.unlock();
        return lock;
    }

    /** The value's checksum, before the lock. */
    @Benchmark
    public int checksum() {
        return Checksums.crc32c(value);
    }

    /** The record without its value, in a frame that is emptied when it is full. */
    @Benchmark
    public int encode() {
        if (!frame.fits(RECORD_BYTES)) {
            frame.clear();
            place();
        }
        int index = frame.add(RECORD_BYTES);
        long id = ids[Shape.at(draw++)];
        int sum = EntryLayout.checksum(draw, Shape.VALUE_BYTES, id, 0, draw);
        RecordLayout.putAppend(frame.memory(), index, id, draw, index, sum, Shape.VALUE_BYTES);
        return index;
    }

    /** The value into the frame. */
    @Benchmark
    public ByteBuffer copy() {
        at = at + RECORD_BYTES < BUFFER_BYTES - RECORD_BYTES ? at + RECORD_BYTES : FrameLayout.HEADER_BYTES;
        ByteBuffer source = ByteBuffer.wrap(value);
        return frame.memory()
                .put(at + RecordLayout.ENTRY + EntryLayout.VALUE, source, source.position(), source.remaining());
    }
}
