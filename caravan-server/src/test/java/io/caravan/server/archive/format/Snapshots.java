package io.caravan.server.archive.format;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/** Writes and reads snapshots for tests, and creates values for them. */
final class Snapshots {
    static final String OBJECT = "snapshots/doc/object";
    static final UUID STORE = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");

    private Snapshots() {}

    /** The content of a snapshot that was read to its end. */
    record Content(SnapshotHeader header, List<byte[]> values) {}

    static SnapshotHeader header(long first, long next) {
        Attributes attributes = Attributes.EMPTY.with("content-type", "text/plain".getBytes(UTF_8));
        return new SnapshotHeader(STORE, DocumentName.of("doc"), -5, 7, 3, first, next, 1_795_000_000_000L, attributes);
    }

    static byte[] of(long first, List<byte[]> values) {
        return of(header(first, first + values.size()), values);
    }

    static byte[] of(SnapshotHeader header, List<byte[]> values) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            write(out, header, values);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return out.toByteArray();
    }

    static Generation write(ByteArrayOutputStream out, SnapshotHeader header, List<byte[]> values) throws IOException {
        SnapshotWriter writer = new SnapshotWriter(out, header);
        long sequence = header.firstSequence();
        for (byte[] value : values) {
            writer.add(sequence++, ByteBuffer.wrap(value));
        }
        return writer.finish(OBJECT);
    }

    static Content read(byte[] object) {
        try (SnapshotReader reader = SnapshotReader.open(new ByteArrayInputStream(object), OBJECT)) {
            List<byte[]> values = new ArrayList<>();
            while (reader.next()) {
                byte[] value = new byte[reader.value().remaining()];
                reader.value().get(value);
                values.add(value);
            }
            return new Content(reader.header(), values);
        }
    }

    /** Returns bytes that do not compress. */
    static byte[] noise(Random random, int bytes) {
        byte[] noise = new byte[bytes];
        random.nextBytes(noise);
        return noise;
    }

    /** Returns edits to a text document as JSON, truncated to this length. Such edits compress well. */
    static byte[] edit(Random random, int bytes) {
        StringBuilder text = new StringBuilder(bytes + 80);
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
        return text.toString().getBytes(UTF_8);
    }
}
