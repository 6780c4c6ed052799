package io.caravan.server.archive.format;

import static io.caravan.server.archive.format.SnapshotLayout.*;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.object.Digests;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedByInterruptException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The input from which a snapshot is read: its bytes, and the raw bytes of its blocks, concatenated. Counts and hashes the
 * bytes, and reports errors with their place in the object and the document. Not thread-safe.
 *
 * <p>A block is valid when, in this order:
 *
 * <ol>
 *   <li>Its raw length is from 1 to the maximum.
 *   <li>Its stored length is from 1 to its raw length.
 *   <li>Its codec is known, and the stored length of an uncompressed block is its raw length.
 *   <li>Its CRC is correct.
 *   <li>It decompresses to its raw length.
 * </ol>
 */
final class SnapshotInput implements AutoCloseable {
    private static final long NO_SEQUENCE = -1;
    /** The size of the initial buffer for a value that spans blocks; it grows as the value is read. */
    private static final int FIRST_VALUE_BYTES = 1 << 20;

    private final InputStream in;
    private final String object;
    private final MessageDigest digest = Digests.sha256();
    private long bytes;
    private @Nullable DocumentName document;
    private long sequence = NO_SEQUENCE;

    private final CRC32C crc = new CRC32C();
    private final ByteBuffer blockHeader =
            ByteBuffer.allocate(BLOCK_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private byte[] stored = new byte[0];
    private byte[] raw = new byte[0];
    private int rawAt;
    private int rawEnd;
    private boolean ended;
    private byte[] room = new byte[0];

    /** @param object the object's key or address, for messages */
    SnapshotInput(InputStream in, String object) {
        this.in = new BufferedInputStream(in);
        this.object = object;
    }

    String object() {
        return object;
    }

    /** Sets the document to which the following bytes belong, for error messages. */
    void document(DocumentName name) {
        document = name;
    }

    void sequence(long current) {
        sequence = current;
    }

    /** Reads this number of bytes; throws an {@link ArchiveException}, {@code CORRUPT}, when there are fewer. */
    void read(byte[] target, int from, int length) {
        int count;
        try {
            count = in.readNBytes(target, from, length);
        } catch (IOException problem) {
            throw failed(problem);
        }
        digest.update(target, from, count);
        bytes += count;
        if (count < length) {
            throw corrupt("it is cut off here");
        }
    }

    /** Checks that the input has no more bytes. */
    void end() {
        try {
            if (in.read() >= 0) {
                throw corrupt("it has bytes after its footer");
            }
        } catch (IOException problem) {
            throw failed(problem);
        }
    }

    long bytes() {
        return bytes;
    }

    byte[] sha256() {
        return Digests.soFar(digest);
    }

    /** Whether more raw bytes follow; if not, the footer's mark has been read. */
    boolean hasMore() {
        if (rawAt == rawEnd && !ended) {
            readBlock();
        }
        return rawAt < rawEnd;
    }

    /** Returns the next raw bytes, which may span blocks. The buffer is valid until the next call. */
    ByteBuffer raw(int length) {
        if (length <= rawEnd - rawAt) {
            rawAt += length;
            return ByteBuffer.wrap(raw, rawAt - length, length).slice();
        }
        for (int filled = 0; filled < length; ) {
            if (!hasMore()) {
                throw corrupt("its blocks end within a value");
            }
            if (filled == room.length) {
                room = Arrays.copyOf(room, Math.min(length, Math.max(FIRST_VALUE_BYTES, 2 * filled)));
            }
            int count = Math.min(Math.min(length, room.length) - filled, rawEnd - rawAt);
            System.arraycopy(raw, rawAt, room, filled, count);
            rawAt += count;
            filled += count;
        }
        return ByteBuffer.wrap(room, 0, length).slice();
    }

    private void readBlock() {
        read(blockHeader.array(), 0, Integer.BYTES);
        int rawBytes = blockHeader.getInt(BLOCK_RAW_BYTES);
        if (rawBytes == MARK_VALUE) {
            ended = true;
            return;
        }
        read(blockHeader.array(), Integer.BYTES, BLOCK_HEADER_BYTES - Integer.BYTES);
        int storedBytes = blockHeader.getInt(BLOCK_STORED_BYTES);
        check(rawBytes >= 1 && rawBytes <= MAX_BLOCK_BYTES, "its length is " + rawBytes);
        check(storedBytes >= 1 && storedBytes <= rawBytes, storedBytes + " bytes are stored of " + rawBytes);
        raw = withRoom(raw, rawBytes);
        int codec = blockHeader.getInt(BLOCK_CODEC);
        switch (codec) {
            case STORED -> {
                check(storedBytes == rawBytes, storedBytes + " bytes are stored of " + rawBytes);
                readStored(raw, storedBytes);
            }
            case ZSTD -> {
                stored = withRoom(stored, storedBytes);
                readStored(stored, storedBytes);
                decompress(storedBytes, rawBytes);
            }
            default -> throw wrong("its codec is " + codec);
        }
        rawAt = 0;
        rawEnd = rawBytes;
    }

    /** Returns the array or, if it is too short, a new one of up to twice its length, so that few are needed. */
    private static byte[] withRoom(byte[] bytes, int length) {
        return bytes.length < length ? new byte[Math.max(length, Math.min(2 * bytes.length, MAX_BLOCK_BYTES))] : bytes;
    }

    private void readStored(byte[] target, int length) {
        read(target, 0, length);
        crc.reset();
        crc.update(blockHeader.array(), 0, BLOCK_CRC);
        crc.update(target, 0, length);
        check((int) crc.getValue() == blockHeader.getInt(BLOCK_CRC), "its checksum is wrong");
    }

    private void decompress(int storedBytes, int rawBytes) {
        try {
            long length = Zstd.decompressByteArray(raw, 0, rawBytes, stored, 0, storedBytes);
            check(length == rawBytes, "it decompresses to " + length + " bytes instead of " + rawBytes);
        } catch (ZstdException invalid) {
            throw wrong("it does not decompress: " + invalid.getMessage());
        }
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            throw wrong(otherwise);
        }
    }

    private ArchiveException wrong(String problem) {
        return corrupt("a block is wrong: " + problem);
    }

    /** Returns the exception for a fault in the bytes just read. */
    ArchiveException corrupt(String problem) {
        String where = object + " at byte " + bytes + (document == null ? "" : ", document '" + document + "'")
                + (sequence == NO_SEQUENCE ? "" : ", sequence " + sequence);
        return new ArchiveException(
                Reason.CORRUPT, where + ": " + problem + "; restore another generation of the document");
    }

    private ObjectStoreException failed(IOException problem) {
        boolean interrupted =
                problem instanceof ClosedByInterruptException || problem instanceof InterruptedIOException;
        String why = interrupted ? "interrupted" : Objects.requireNonNullElse(problem.getMessage(), problem.toString());
        return new ObjectStoreException(
                Kind.UNAVAILABLE, object + " cannot be read after byte " + bytes + ": " + why, problem);
    }

    @Override
    public void close() {
        try {
            in.close();
        } catch (IOException problem) {
            throw failed(problem);
        }
    }
}
