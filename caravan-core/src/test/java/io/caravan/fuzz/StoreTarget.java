package io.caravan.fuzz;

import io.caravan.testing.DirectoryImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Opens an intact store whose files were changed arbitrarily and whose checksums were then corrected. The store is
 * verified, recovered, opened, written to, closed, and opened again.
 *
 * <pre>
 *   0         1                   changes, one after the other:
 *   +---------+    +---------+---------+-------------------+---------------------------------------+
 *   | how     |    | file    | size    | offset, 4 bytes   | value, 8 bytes                        |
 *   +---------+    +---------+---------+-------------------+---------------------------------------+
 * </pre>
 *
 * <p>{@code how}: bit 0 leaves the checksums unchanged. {@code file} is an index in the directory, {@code size} selects
 * the width of the value. Both, and the offset, are taken modulo their ranges.
 */
public final class StoreTarget implements FuzzTarget {
    static final int HOW_RAW = 1;

    private static final int CHANGE_BYTES = 14;
    private static final int MAX_CHANGES = 16;
    private static final int SAMPLES_OF_A_FILE = 4;
    private static final int[] SIZES = {Byte.BYTES, Short.BYTES, Integer.BYTES, Long.BYTES};

    private final DirectoryImage sound;
    private final List<String> names;

    public StoreTarget() throws IOException {
        sound = ForgedStore.image();
        names = List.copyOf(sound.files().keySet());
    }

    @Override
    public List<byte[]> samples() {
        List<byte[]> samples = new ArrayList<>();
        samples.add(new byte[] {0});
        // The seed is fixed, so that the mutation seed suffices to reproduce the mutations.
        Random random = new Random(1);
        for (int file = 0; file < names.size(); file++) {
            for (int i = 0; i < SAMPLES_OF_A_FILE; i++) {
                ByteBuffer sample = ByteBuffer.allocate(1 + CHANGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
                int offset = random.nextBoolean() ? random.nextInt(160) : 4096 + random.nextInt(300);
                sample.put((byte) 0)
                        .put((byte) file)
                        .put((byte) random.nextInt(4))
                        .putInt(offset);
                samples.add(sample.putLong(random.nextInt(3) - 1).array());
            }
        }
        return samples;
    }

    @Override
    public void run(byte[] input) throws Exception {
        DirectoryImage image = made(input);
        StoreProbe.read(image);
        StoreProbe.open(image);
    }

    /** Returns the files of the store with the changes that the input describes. */
    DirectoryImage made(byte[] bytes) {
        ByteBuffer input = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        boolean raw = !input.hasRemaining() || (input.get() & HOW_RAW) != 0;
        DirectoryImage image = sound;
        for (int i = 0; i < MAX_CHANGES && input.remaining() >= CHANGE_BYTES; i++) {
            String name = names.get(Math.floorMod(input.get(), names.size()));
            int size = SIZES[input.get() & 3];
            int offset = Math.floorMod(input.getInt(), sound.length(name) - Long.BYTES);
            long value = input.getLong();
            image = image.edited(name, file -> put(file, offset, size, value));
        }
        return raw ? image : resealed(image);
    }

    private static void put(ByteBuffer file, int offset, int size, long value) {
        for (int i = 0; i < size; i++) {
            file.put(offset + i, (byte) (value >>> Byte.SIZE * i));
        }
    }

    private static DirectoryImage resealed(DirectoryImage changed) {
        DirectoryImage image = changed;
        for (String name : changed.names("checkpoint-")) {
            image = image.edited(name, Reseal::checkpoint);
        }
        for (String name : changed.names("log-")) {
            image = image.edited(name, Reseal::logSegment);
        }
        for (String name : changed.names("heap-")) {
            image = image.edited(name, Reseal::fileHeader);
        }
        return image;
    }
}
