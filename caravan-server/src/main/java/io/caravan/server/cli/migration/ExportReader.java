package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.Resp;
import io.caravan.server.cli.common.IoSupplier;
import io.caravan.server.cli.common.Progress;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Reads the documents of an export, and checks its integrity: the order of the records, the number of values, and the
 * checksums. Not thread-safe.
 */
final class ExportReader {
    /** The number of words of a document before its attributes. */
    private static final int DOCUMENT_WORDS = 4;
    /** The maximum number of words in a record, more than those of a document with all attributes. */
    private static final int MAX_WORDS = 64;

    private static final long MAX_RECORD_BYTES = Resp.MAX_BULK_BYTES + (1 << 20);

    /** The beginning of the first record, up to the version. */
    private static final byte[] HEADER = ("*2\r\n$14\r\n" + ExportWriter.FORMAT + "\r\n").getBytes(US_ASCII);

    private final CheckedInput in;
    private final Resp records;
    private final Progress progress;
    /** The checksum of everything before the record that was read last. */
    private long crcBefore;

    /** Counts the bytes that were read, and computes their checksum. */
    private static final class CheckedInput extends FilterInputStream {
        private final CRC32C crc = new CRC32C();
        private long position;

        CheckedInput(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            int next = in.read();
            if (next >= 0) {
                crc.update(next);
                position++;
            }
            return next;
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            int count = in.read(to, offset, length);
            if (count > 0) {
                crc.update(to, offset, count);
                position += count;
            }
            return count;
        }
    }

    /** Creates a reader of an export, which may be compressed. */
    ExportReader(InputStream in, Progress progress) throws IOException {
        this.progress = progress;
        try {
            this.in = new CheckedInput(ExportFile.decompressed(in));
        } catch (IOException cut) {
            throw new IOException("the export is damaged or cut off at its beginning", cut);
        }
        this.records = new Resp(this.in, IllegalStateException::new, MAX_WORDS, MAX_RECORD_BYTES);
    }

    /**
     * Passes all documents of the export to a receiver.
     *
     * @throws IOException if the input is not an export, is damaged, or is truncated. A document whose end was not
     *     verified is abandoned; the documents before it were passed on
     */
    void readAll(DocumentReceiver to) throws IOException {
        requireExport();
        List<?> record = next();
        while (isType(record, ExportWriter.DOCUMENT)) {
            document(record, to);
            record = next();
        }
        require(isType(record, ExportWriter.END), "has a record that is out of place");
        requireIntact(record);
        require(read(in::read) < 0, "does not end after its last record");
    }

    private void requireExport() throws IOException {
        byte[] found = read(() -> in.readNBytes(HEADER.length));
        if (!Arrays.equals(found, 0, found.length, HEADER, 0, found.length)) {
            throw new IOException("this is not an export of caravan: expected a file that 'caravan export' has made,"
                    + " uncompressed or compressed with gzip or zstd");
        }
        String version = text(Collections.singletonList(read(this::value)), 0);
        if (!version.equals(ExportWriter.VERSION)) {
            throw new IOException("the export has version " + version + " of the format; this release reads version "
                    + ExportWriter.VERSION);
        }
    }

    private void document(List<?> record, DocumentReceiver to) throws IOException {
        long first = number(record, 2);
        long next = number(record, 3);
        require(first <= next, "has impossible sequences");
        Map<String, Object> attributes = new LinkedHashMap<>();
        for (int i = DOCUMENT_WORDS; i < record.size(); i += 2) {
            attributes.put(text(record, i), attribute(text(record, i), bytes(record, i + 1)));
        }
        to.begin(bytes(record, 1), new Description(0, first, next, -1, attributes));
        try {
            List<?> part = next();
            for (; isType(part, ExportWriter.VALUE); part = next()) {
                byte[] value = bytes(part, 1);
                to.value(value);
                progress.add(0, value.length);
                first++;
            }
            if (isType(part, ExportWriter.VOID)) {
                to.abandon();
                return;
            }
            require(
                    isType(part, ExportWriter.DOCUMENT_END) && first == next,
                    "does not have the values of the document that were exported");
            requireIntact(part);
        } catch (IOException damaged) {
            to.abandon();
            throw damaged;
        }
        to.end();
        progress.add(1, 0);
    }

    private Object attribute(String name, byte[] value) throws IOException {
        boolean number = name.equals("ttl") || name.equals("expires");
        return number ? (Object) number(List.of(value), 0) : value;
    }

    private List<?> next() throws IOException {
        crcBefore = in.crc.getValue();
        if (read(this::value) instanceof List<?> record) {
            return record;
        }
        throw damaged("is not a record");
    }

    private Object value() throws IOException {
        return Objects.requireNonNullElse(records.value(), "");
    }

    private <T> T read(IoSupplier<T> input) throws IOException {
        try {
            return input.get();
        } catch (EOFException cut) {
            throw new IOException("the export is cut off at byte " + in.position, cut);
        } catch (IOException unreadable) {
            throw new IOException(
                    "the export is damaged or cut off at byte " + in.position + ": " + unreadable.getMessage(),
                    unreadable);
        }
    }

    private void requireIntact(List<?> end) throws IOException {
        require(text(end, 1).equals(ExportWriter.hex(crcBefore)), "has another checksum: the export was altered");
    }

    private void require(boolean holds, String otherwise) throws IOException {
        if (!holds) {
            throw damaged(otherwise);
        }
    }

    private IOException damaged(String what) {
        return new IOException("the export is damaged: the part that ends at byte " + in.position + " " + what);
    }

    private boolean isType(List<?> record, String type) throws IOException {
        return text(record, 0).equals(type);
    }

    private String text(List<?> record, int index) throws IOException {
        return new String(bytes(record, index), UTF_8);
    }

    private long number(List<?> record, int index) throws IOException {
        long number = Resp.parse(new String(bytes(record, index), US_ASCII)).orElse(-1);
        require(number >= 0, "has a number that is none");
        return number;
    }

    private byte[] bytes(List<?> record, int index) throws IOException {
        @Nullable Object word = index < record.size() ? record.get(index) : null;
        if (word instanceof byte[] bytes) {
            return bytes;
        }
        throw damaged("lacks a word");
    }
}
