package io.caravan.fuzz;

import io.caravan.CaravanException;
import io.caravan.format.Blocks;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Reads arbitrary bytes as a file header of each kind. Bit 0 of the first byte leaves the checksum unchanged. */
public final class FileHeaderTarget implements FuzzTarget {
    static final int HOW_RAW = 1;

    private static final FileHeader.Fields EXPECTED = new FileHeader.Fields(ForgedStore.STORE_ID, 3, 16_384);
    private static final long LIMIT_BYTES = 64 << 10;

    @Override
    public List<byte[]> samples() {
        List<byte[]> samples = new ArrayList<>();
        for (FileNames kind : FileNames.values()) {
            ByteBuffer file = ByteBuffer.allocate(FileHeader.BYTES + 1).order(ByteOrder.LITTLE_ENDIAN);
            FileHeader.put(file.slice(1, FileHeader.BYTES).order(ByteOrder.LITTLE_ENDIAN), kind.letters(), EXPECTED);
            samples.add(file.array());
        }
        return samples;
    }

    @Override
    public void run(byte[] input) throws Exception {
        byte[] bytes =
                input.length == 0 ? input : Arrays.copyOfRange(input, 1, Math.min(input.length, Blocks.BLOCK_BYTES));
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (input.length > 0 && (input[0] & HOW_RAW) == 0) {
            Reseal.fileHeader(file);
        }
        for (FileNames kind : FileNames.values()) {
            MemoryUse.within(LIMIT_BYTES, () -> check(file, kind.letters()));
        }
    }

    private static void check(ByteBuffer file, String letters) {
        try {
            FileHeader.check(file, letters, EXPECTED, "a file");
        } catch (CaravanException rejection) {
            return;
        }
        if (!FileHeader.get(file, letters, "a file").equals(EXPECTED)) {
            throw new AssertionError("a header that is not the one expected was let through");
        }
    }
}
