package io.caravan.server.archive.object;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Objects by key, as in a bucket or a directory. Keys are relative to the archive's location and consist of the
 * characters {@code A-Z a-z 0-9 ! - _ . /}. They have no empty, {@code .} or {@code ..} parts, and no key is a
 * directory of another.
 *
 * <p><b>Durability.</b> An object is durable when its put has returned. A put that did not return (a crash, an error)
 * has left the complete new object, or the previous state, never a part. Reads and lists see every put that has
 * returned.
 *
 * <p><b>Threading.</b> Thread-safe. All methods block: never call them on an event loop or a store thread. Interrupting
 * a caller ends its call with an {@link ObjectStoreException}.
 *
 * <p><b>Errors.</b> Every method throws {@link ObjectStoreException}. Its kind determines what to do; its message names
 * the location and the key.
 */
public interface ObjectStore extends AutoCloseable {

    /** The bytes of an object, and the tag that its next put may depend on. */
    record Stored(byte[] content, String tag) {}

    /**
     * An object in a list.
     *
     * @param key its key, relative to the archive's location
     * @param bytes its size
     * @param modifiedMillis when it was put, by the store's own clock, in milliseconds since 1970
     */
    record Listed(String key, long bytes, long modifiedMillis) {}

    /** Writes an object's content, in order, once per call; a put that has to start over calls it again. */
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
     * @throws ObjectStoreException {@code NOT_FOUND} among others. The stream's reads throw it as well; where they
     *     throw an {@link IOException}, it is the cause
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
     * @throws ObjectStoreException {@code CONFLICT} when the object is another one (or there is one, or none). After an
     *     error that {@link ObjectStoreException#leavesOutcomeOpen leaves the outcome open}, {@code CONFLICT} included,
     *     the put may have taken place, as a client may have retried by itself: read the object to find out. It is
     *     durable only when it has been put once more without an error
     */
    String putIf(String key, byte[] content, @Nullable String tag);

    /**
     * Passes all objects whose key starts with the prefix to an action, in the order of their keys' bytes. It lists
     * page by page, so any number of objects fits in memory.
     *
     * @param prefix a directory, with its slash at the end, or empty
     * @param after only keys above this one, or empty
     * @param action returns false to end
     */
    void list(String prefix, String after, Predicate<Listed> action);

    /**
     * Deletes an object, if it exists. A power failure may undo a deletion. So delete only objects that are no longer
     * needed, and that would be found and deleted again.
     */
    void delete(String key);

    /**
     * Deletes an object if it has not changed since it was read; a power failure may undo it, as for {@link #delete}.
     *
     * @return false when the store cannot delete on a condition; the object is then unchanged
     * @throws ObjectStoreException {@code CONFLICT} when it has changed, and possibly when it has been deleted
     */
    boolean deleteIf(String key, String tag);

    /** Closes the store. Later puts fail; puts in progress may fail. */
    @Override
    void close();
}
