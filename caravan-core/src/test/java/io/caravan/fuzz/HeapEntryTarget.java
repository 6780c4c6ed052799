package io.caravan.fuzz;

import io.caravan.CaravanException;
import io.caravan.format.Blocks;
import io.caravan.format.Checksums;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileNames;
import io.caravan.format.Region;
import io.caravan.heap.HeapFile;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.MemoryStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Reads an arbitrary region from a heap that contains arbitrary bytes.
 *
 * <pre>
 *   0         1                   9            17             25            33
 *   +---------+-------------------+------------+--------------+-------------+-------------------+
 *   | how     | region            | id         | creation LSN | sequence    | bytes of the heap |
 *   +---------+-------------------+------------+--------------+-------------+-------------------+
 * </pre>
 *
 * <p>{@code how}: bit 0 leaves the checksum of the entry unchanged. Otherwise, the checksum is corrected where the
 * entry fits.
 */
public final class HeapEntryTarget implements FuzzTarget {
    static final int HOW_RAW = 1;

    private static final int HEAD_BYTES = 1 + 4 * Long.BYTES;
    /** The memory limit of a read: a slice of the heap, an exception, and its message. The value is not copied. */
    private static final long LIMIT_BYTES = 64 << 10;

    private final DirectoryImage heaps;

    public HeapEntryTarget() throws IOException {
        heaps = new ForgedStore().build();
    }

    @Override
    public List<byte[]> samples() {
        return List.of(
                sample(Blocks.BLOCK_BYTES, 0),
                sample(Blocks.BLOCK_BYTES, 20),
                sample(Blocks.BLOCK_BYTES + 16, 4072),
                sample(ForgedStore.HEAP.firstAddress(1) + 4088, 0),
                sample(ForgedStore.HEAP.firstAddress(2), 8));
    }

    private static byte[] sample(long address, int length) {
        ByteBuffer sample = ByteBuffer.allocate(HEAD_BYTES + 100).order(ByteOrder.LITTLE_ENDIAN);
        sample.put((byte) 0)
                .putLong(Region.pack(address, length))
                .putLong(7)
                .putLong(4144)
                .putLong(3);
        return sample.array();
    }

    @Override
    public void run(byte[] input) throws Exception {
        ByteBuffer in = ByteBuffer.wrap(Arrays.copyOf(input, Math.max(HEAD_BYTES, input.length)))
                .order(ByteOrder.LITTLE_ENDIAN);
        int how = in.get();
        long region = in.getLong();
        long id = in.getLong();
        long creationLsn = in.getLong();
        long sequence = in.getLong();
        HeapFile heap = heapOf(in.slice().order(ByteOrder.LITTLE_ENDIAN), entry -> {
            if ((how & HOW_RAW) == 0) {
                seal(entry, region, id, creationLsn, sequence);
            }
        });
        MemoryUse.within(LIMIT_BYTES, () -> {
            try {
                ByteBuffer value = heap.read(region, id, creationLsn, sequence);
                if (value.remaining() != Region.length(region) || !value.isReadOnly()) {
                    throw new AssertionError("a value of " + value + " for a region of " + Region.length(region));
                }
            } catch (CaravanException rejection) {
                // As documented.
            }
        });
    }

    /** Returns a heap of two segments that contain repetitions of the bytes. */
    private HeapFile heapOf(ByteBuffer bytes, Consumer<ByteBuffer> seal) throws IOException {
        DirectoryImage image = heaps;
        for (int segment = 0; segment < 2; segment++) {
            String name = FileNames.HEAP.of(segment);
            image = image.edited(name, file -> {
                for (int at = Blocks.BLOCK_BYTES; at < file.limit() && bytes.hasRemaining(); at += bytes.limit()) {
                    file.put(at, bytes, 0, Math.min(bytes.limit(), file.limit() - at));
                }
            });
            image = image.edited(name, seal);
        }
        HeapFile heap = new HeapFile(new MemoryStorage(image), ForgedStore.HEAP, ForgedStore.STORE_ID);
        heap.openNext();
        heap.openNext();
        return heap;
    }

    private static void seal(ByteBuffer segment, long region, long id, long creationLsn, long sequence) {
        int at = ForgedStore.HEAP.offsetOf(Region.address(region));
        int length = Region.length(region);
        if (at + EntryLayout.VALUE + length <= segment.limit() && at >= Blocks.BLOCK_BYTES) {
            int crc = Checksums.crc32c(segment, at + EntryLayout.VALUE, length);
            segment.putInt(at + EntryLayout.CHECKSUM, EntryLayout.checksum(crc, length, id, creationLsn, sequence));
            segment.putInt(at + EntryLayout.LENGTH, length);
        }
    }
}
