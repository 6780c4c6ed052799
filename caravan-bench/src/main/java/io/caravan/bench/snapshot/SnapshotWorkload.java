package io.caravan.bench.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The values of a document.
 *
 * @param name for the report
 * @param values all of them, in order
 * @param valueBytes length of each
 */
record SnapshotWorkload(String name, List<ByteBuffer> values, int valueBytes) {

    /** JSON edits as sent by an editor, combined into values of equal length; they compress well. */
    static SnapshotWorkload edits(long seed, int count, int valueBytes) {
        SplittableRandom random = new SplittableRandom(seed);
        List<ByteBuffer> values = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            values.add(ByteBuffer.wrap(edits(random, valueBytes).getBytes(UTF_8)));
        }
        return new SnapshotWorkload("JSON edits", values, valueBytes);
    }

    private static String edits(SplittableRandom random, int bytes) {
        StringBuilder text = new StringBuilder();
        while (text.length() < bytes) {
            text.append("{\"op\":\"insert\",\"at\":")
                    .append(random.nextInt(10_000))
                    .append(",\"by\":\"user-")
                    .append(random.nextInt(8))
                    .append("\",\"text\":\"")
                    .append(Integer.toHexString(random.nextInt()))
                    .append("\"}");
        }
        text.setLength(bytes);
        return text.toString();
    }

    /** Incompressible values. */
    static SnapshotWorkload noise(long seed, int count, int valueBytes) {
        SplittableRandom random = new SplittableRandom(seed);
        List<ByteBuffer> values = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            byte[] value = new byte[valueBytes];
            random.nextBytes(value);
            values.add(ByteBuffer.wrap(value));
        }
        return new SnapshotWorkload("noise", values, valueBytes);
    }

    long bytes() {
        return (long) values.size() * valueBytes;
    }
}
