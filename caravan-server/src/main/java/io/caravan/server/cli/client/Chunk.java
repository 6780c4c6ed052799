package io.caravan.server.cli.client;

import java.util.ArrayList;
import java.util.List;

/** Values that are sent in one request, small enough for every server to accept. Not thread-safe. */
public final class Chunk {
    /** The approximate maximum number of value bytes. */
    public static final long MAX_BYTES = 1024 * 1024;

    private static final int MAX_VALUES = 4096;
    /** The assumed overhead of a value, in bytes. */
    private static final int OVERHEAD_BYTES = 64;

    private List<byte[]> values = new ArrayList<>();
    private long bytes;

    public boolean hasRoomFor(byte[] value) {
        return values.isEmpty() || bytes + value.length + OVERHEAD_BYTES <= MAX_BYTES && values.size() < MAX_VALUES;
    }

    public void add(byte[] value) {
        values.add(value);
        bytes += value.length + OVERHEAD_BYTES;
    }

    public List<byte[]> values() {
        return values;
    }

    /** Returns the size of the values, including the overhead. */
    public long bytes() {
        return bytes;
    }

    public List<byte[]> take() {
        List<byte[]> taken = values;
        values = new ArrayList<>();
        bytes = 0;
        return taken;
    }
}
