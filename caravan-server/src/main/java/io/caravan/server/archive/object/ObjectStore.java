package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A store of objects with keys, such as a bucket or a directory. Keys are relative to the archive's location and
 * consist of the characters {@code A-Z a-z 0-9 ! - _ . /}. They have no empty, {@code .} or {@code ..} parts, and no
 * key is a directory of another.
 *
 * <p><b>Durability.</b> An object is durable when its put has returned. A put that fails or is cut short by a crash
 * leaves either the complete new object or the previous state. Reads and lists see every put that has returned.
 *
 * <p><b>Threading.</b> Thread-safe. All methods block: never call them on an event loop or a store thread. Interrupting
 * a caller ends its call with an {@link ObjectStoreException}.
 *
 * <p><b>Errors.</b> Every method throws {@link ObjectStoreException}. Its kind determines what to do; its message names
 * the location and the key.
 */
public interface ObjectStore extends AutoCloseable {

    /** The content of an object, and its tag for a conditional put or deletion. */
    record Stored(byte[] content, String tag) {}

    /**
     * An object that {@link #list} has found.
     *
     * @param key its key, relative to the archive's location
     * @param bytes its size
     * @param modifiedMillis when it was put, by the store's own clock, in milliseconds since 1970
     */
    record Listed(String key, long bytes, long modifiedMillis) {}

    /** Writes an object's entire content on each call; a put that restarts calls it again. */
    interface Content {
        void writeTo(OutputStream out) throws IOException;
    }

    /** Returns the location of the objects, for messages: {@code s3://bucket/prefix} or {@code file:/directory}. */
    String location();

    /**
     * Returns an entire object, or null when there is none.
     *
     * @param maxBytes limit on the size in memory; a larger object is rejected as {@code CORRUPT} before it is read
     */
    @Nullable
    Stored get(String key, int maxBytes);

    /**
     * Reads an object of any size as a stream. Close the stream, early or at its end.
     *
     * @throws ObjectStoreException {@code NOT_FOUND} among others. The stream's reads throw it, or an {@link IOException}
     */
    InputStream open(String key);

    /**
     * Puts an object of any size, replacing any existing one. An exception from {@code content} ends the put, and
     * leaves the previous state; a runtime exception reaches the caller unchanged.
     */
    void put(String key, Content content);

    /**
     * Puts a small object if it has not changed since it was read.
     *
     * @param tag the tag of the object to replace, or null when there must be none
     * @return the new object's tag
     * @throws ObjectStoreException {@code CONFLICT} when the object has another tag, does not exist, or exists although
     *     there must be none. {@code CONFLICT} and {@code UNAVAILABLE} leave the outcome open, because the response may
     *     have been lost, or the client may have retried the put. After such an error, read the object to find out
     *     whether the put took place. The object is durable only when it has been put once more without an error
     */
    String putIf(String key, byte[] content, @Nullable String tag);

    /**
     * Puts a small object like {@link #putIf}. If the outcome is open, and the object includes the change, puts it once
     * more, because a readable object is not necessarily durable, for example when the fsync of a directory failed.
     *
     * @param includes whether the content of the object includes the change; other processes may have changed it further
     * @return the object as it is now
     * @throws ObjectStoreException as {@link #putIf}; the error of the second put if it fails too
     */
    default Stored putSurely(
            String key, byte[] content, @Nullable String tag, int maxBytes, Predicate<Stored> includes) {
        try {
            return new Stored(content, putIf(key, content, tag));
        } catch (ObjectStoreException problem) {
            if (problem.kind() != Kind.CONFLICT && problem.kind() != Kind.UNAVAILABLE) {
                throw problem;
            }
            Stored now;
            try {
                now = get(key, maxBytes);
            } catch (ObjectStoreException unreadable) {
                problem.addSuppressed(unreadable);
                throw problem;
            }
            if (now == null || !includes.test(now)) {
                throw problem;
            }
            try {
                return new Stored(now.content(), putIf(key, now.content(), now.tag()));
            } catch (ObjectStoreException notDurable) {
                notDurable.addSuppressed(problem);
                throw notDurable;
            }
        }
    }

    /**
     * Returns the objects whose keys start with the prefix, in the byte order of the keys. The stream lists page by
     * page, so memory does not limit the number of objects. It need not be closed. This method and the stream throw the
     * errors.
     *
     * @param prefix a directory with a slash at its end, or empty
     */
    Stream<Listed> list(String prefix);

    /**
     * Deletes an object, if it exists. A power failure may undo a deletion. Therefore, delete only objects that are no
     * longer needed and that a later run would find and delete again.
     */
    void delete(String key);

    /**
     * Deletes an object if it has not changed since it was read. As with {@link #delete}, a power failure may undo it.
     *
     * @return false when the store does not support conditional deletions; the object is then unchanged
     * @throws ObjectStoreException {@code CONFLICT} when it has changed, and possibly when it has been deleted
     */
    boolean deleteIf(String key, String tag);

    /** Closes the store. Later puts fail; puts in progress may fail. */
    @Override
    void close();
}
