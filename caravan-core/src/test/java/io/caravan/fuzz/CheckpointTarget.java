package io.caravan.fuzz;

import io.caravan.CaravanException;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.CheckpointLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.index.ListIndex;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.MemoryStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Reads arbitrary bytes as a checkpoint file, both on its own and as the only checkpoint of an otherwise intact store.
 * The first byte of the input selects the fields that are corrected; the rest is the file.
 */
public final class CheckpointTarget implements FuzzTarget {
    static final int HOW_RAW = 1;
    static final int HOW_BAD_HEADER_CRC = 2;
    static final int HOW_NUMBERS_AS_THEY_ARE = 4;
    static final int HOW_SECTIONS_MISSING = 8;

    private static final long NUMBER = 2;
    /** The memory limit of a reader, apart from the file: the window for sections, and everything else. */
    private static final long READER_BYTES = (1 << 20) + (64 << 10);

    private final DirectoryImage sound;
    private final String name = FileNames.CHECKPOINT.of(NUMBER);

    public CheckpointTarget() throws IOException {
        DirectoryImage image = ForgedStore.image();
        sound = image.without(image.names("checkpoint-").get(0));
    }

    /** Returns an intact checkpoint file without the sections of empty partitions, which {@link #run} adds again. */
    @Override
    public List<byte[]> samples() {
        ByteBuffer file = sound.buffer(name);
        ByteBuffer sample = ByteBuffer.allocate(file.limit() + 1).order(ByteOrder.LITTLE_ENDIAN);
        sample.put((byte) 0).put(1, file, 0, CheckpointLayout.HEADER_BYTES);
        sample.position(1 + CheckpointLayout.HEADER_BYTES);
        Sections.forEach(file, at -> {
            int bytes = Sections.bytes(file, at);
            if (bytes > CheckpointLayout.SECTION_HEADER_BYTES) {
                sample.put(sample.position(), file, at, bytes).position(sample.position() + bytes);
            }
        });
        return List.of(Arrays.copyOf(sample.array(), sample.position()));
    }

    @Override
    public void run(byte[] input) throws Exception {
        DirectoryImage image = made(input);
        MemoryUse.within(READER_BYTES + image.length(name), () -> read(image));
        StoreProbe.read(image);
    }

    /** Returns the files of the store with the input as its checkpoint. */
    DirectoryImage made(byte[] input) {
        byte[] file = input.length == 0 ? input : Arrays.copyOfRange(input, 1, input.length);
        return sound.with(name, input.length == 0 ? file : completed(input[0], file));
    }

    private static void read(DirectoryImage image) throws IOException {
        try (CheckpointReader reader = new CheckpointReader(new MemoryStorage(image), NUMBER)) {
            reader.read(new Bounds());
        } catch (CaravanException rejection) {
            // As documented.
        }
    }

    /** Reads every region, so that the test fails if a piece is incomplete. */
    private static final class Bounds implements CheckpointReader.Visitor {
        private long sum;

        @Override
        public void partition(int partition, long captureLsn) {
            if (partition < 0) {
                throw new AssertionError("partition " + partition);
            }
        }

        @Override
        public void piece(long id, long creationLsn, long first, long next, ByteBuffer regions, int at, int count) {
            if (first < 0 || next < first || count < 0) {
                throw new AssertionError(count + " entries from " + first + " to " + next);
            }
            for (int i = 0; i < count; i++) {
                sum += regions.getLong(at + i * Long.BYTES);
            }
        }
    }

    private byte[] completed(int how, byte[] bytes) {
        if ((how & HOW_RAW) != 0 || bytes.length < CheckpointLayout.HEADER_BYTES) {
            return bytes;
        }
        byte[] file = (how & HOW_SECTIONS_MISSING) != 0 ? bytes : withEmptySections(bytes);
        ByteBuffer buffer = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        if ((how & HOW_NUMBERS_AS_THEY_ARE) == 0) {
            buffer.put(0, sound.buffer(name), 0, FileHeader.BYTES);
            buffer.putLong(CheckpointLayout.FILE_BYTES, file.length);
            countInto(buffer);
        }
        Reseal.checkpoint(buffer);
        if ((how & HOW_BAD_HEADER_CRC) != 0) {
            buffer.putInt(CheckpointLayout.HEADER_CRC, ~buffer.getInt(CheckpointLayout.HEADER_CRC));
        }
        return file;
    }

    /** Returns the checkpoint file with an empty section for every partition that has none. */
    private static byte[] withEmptySections(byte[] bytes) {
        BitSet there = new BitSet();
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        Sections.forEach(
                file,
                at -> there.set(
                        Math.floorMod(file.getInt(at + CheckpointLayout.SECTION_PARTITION), ListIndex.PARTITIONS)));
        int missing = ListIndex.PARTITIONS - there.cardinality();
        ByteBuffer whole = ByteBuffer.allocate(bytes.length + missing * CheckpointLayout.SECTION_HEADER_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(bytes);
        long capture = file.getLong(CheckpointLayout.END_LSN);
        for (int partition = there.nextClearBit(0);
                partition < ListIndex.PARTITIONS;
                partition = there.nextClearBit(partition + 1)) {
            whole.putInt(0).putInt(0).putInt(partition).putInt(0).putLong(capture);
        }
        return whole.array();
    }

    /** Sets the totals in the header to the sums over all sections. */
    private static void countInto(ByteBuffer file) {
        long[] totals = new long[2];
        Sections.forEach(file, at -> {
            int end = at + Sections.bytes(file, at);
            int piece = at + CheckpointLayout.SECTION_HEADER_BYTES;
            while (piece + CheckpointLayout.PIECE_HEADER_BYTES <= end) {
                long entries = file.getLong(piece + CheckpointLayout.PIECE_ENTRIES);
                if (entries < 0 || entries > end - piece) {
                    break;
                }
                totals[0]++;
                totals[1] += entries;
                piece += CheckpointLayout.PIECE_HEADER_BYTES + (int) entries * Long.BYTES;
            }
        });
        file.putLong(CheckpointLayout.LIST_COUNT, totals[0]);
        file.putLong(CheckpointLayout.ENTRY_COUNT, totals[1]);
    }
}
