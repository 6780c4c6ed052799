package io.caravan.server.archive.format;

import io.caravan.fuzz.FuzzTarget;
import io.caravan.fuzz.MemoryUse;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A fuzz target that reads arbitrary bytes as a snapshot, both unchanged and with corrected checksums. An accepted
 * snapshot must survive writing and reading.
 */
public final class SnapshotTarget implements FuzzTarget {
    /** The size of the buffers, including the initial buffer for a value that spans several blocks. */
    private static final long FIXED_BYTES = 4 << 20;
    /**
     * The maximum memory per input byte. A block of about 26 bytes can decompress to the maximum length. A value of
     * such blocks is copied while it grows.
     */
    private static final long TIMES_THE_INPUT = 4L * SnapshotLayout.MAX_BLOCK_BYTES / 26;

    @Override
    public List<byte[]> samples() {
        Random random = new Random(1);
        return List.of(
                Snapshots.of(0, List.of()),
                Snapshots.of(5, List.of(new byte[0])),
                Snapshots.of(0, List.of(new byte[] {1, 2, 3}, new byte[0], Snapshots.noise(random, 40))),
                Snapshots.of(9, List.of(new byte[500], Snapshots.edit(random, 300))));
    }

    @Override
    public void run(byte[] input) throws Exception {
        long limit = FIXED_BYTES + TIMES_THE_INPUT * input.length;
        MemoryUse.within(limit, () -> read(input));
        byte[] sealed = Forgery.sealed(input);
        MemoryUse.within(limit, () -> read(sealed));
    }

    private static void read(byte[] object) {
        Snapshots.Content content;
        try {
            content = Snapshots.read(object);
        } catch (ArchiveException rejection) {
            requireResponse(rejection);
            return;
        }
        Snapshots.Content again = Snapshots.read(Snapshots.of(content.header(), content.values()));
        boolean same = again.header().equals(content.header())
                && again.values().size() == content.values().size();
        for (int i = 0; same && i < content.values().size(); i++) {
            same = Arrays.equals(content.values().get(i), again.values().get(i));
        }
        if (!same) {
            throw new AssertionError("reads " + content + ", which is written otherwise");
        }
    }

    private static void requireResponse(ArchiveException rejection) {
        boolean documented = rejection.reason() == ArchiveException.Reason.CORRUPT
                || rejection.reason() == ArchiveException.Reason.VERSION;
        if (!documented || !String.valueOf(rejection.getMessage()).startsWith(Snapshots.OBJECT)) {
            throw new AssertionError("an error without a reason", rejection);
        }
    }
}
