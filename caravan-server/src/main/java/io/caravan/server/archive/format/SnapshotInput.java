package io.caravan.server.archive.format;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.object.Digests;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.security.MessageDigest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The input from which a snapshot is read. Counts and hashes the bytes, and reports errors with their place in the
 * object and the document. Not thread-safe.
 */
final class SnapshotInput implements AutoCloseable {
    private static final long NO_SEQUENCE = -1;

    private final InputStream in;
    private final String object;
    private final MessageDigest digest = Digests.sha256();
    private long bytes;
    private @Nullable DocumentName document;
    private long sequence = NO_SEQUENCE;

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
