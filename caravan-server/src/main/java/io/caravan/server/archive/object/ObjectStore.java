package io.caravan.server.archive.object;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Objects by key, as a bucket or a folder keeps them. Keys are relative to the archive's place, of the characters
 * {@code A-Z a-z 0-9 ! - _ . /}, without empty, {@code .} or {@code ..} parts, and no key is a folder of another.
 *
 * <p><b>Durable</b> when a put has returned; a put that did not return (a crash, an error) has left the whole new
 * object, or what was there before, never a part. Reads and lists see every put that has returned.
 *
 * <p><b>Threading.</b> All methods may be called by any number of threads, and wait: never call them on an event loop
 * or a store thread. Interrupting a caller ends its call with an {@link ObjectStoreException}.
 *
 * <p><b>Errors.</b> Every method throws {@link ObjectStoreException}, whose kind says what to do, and whose message
 * names the place and the key.
 */
public interface ObjectStore extends AutoCloseable {

    /** An object's bytes and the tag that its next put may depend on. */
    record Stored(byte[] content, String tag) {}

    /**
     * An object in a list.
     *
     * @param key its key, relative to the archive's place
     * @param bytes its size
     * @param modifiedMillis when it was put, by the store's own clock, in milliseconds since 1970
     */
    record Listed(String key, long bytes, long modifiedMillis) {}

    /** Writes an object's content, in order, once per call; a put may call it again when it has to start over. */
    interface Content {
        void writeTo(OutputStream out) throws IOException;
    }

    /** Where the objects lie, for messages: {@code s3://bucket/prefix} or {@code file:/directory}. */
    String location();

    /**
     * A whole object, or null when there is none.
     *
     * @param maxBytes what may be in memory; a larger object is refused as {@code CORRUPT} before it is read
     */
    @Nullable
    Stored get(String key, int maxBytes);

    /**
     * Reads an object as a stream, whatever its size. Close the stream, early or at its end.
     *
     * @throws ObjectStoreException {@code NOT_FOUND} among others; so do the stream's reads, for which its {@link
     *     IOException}s have it as their cause
     */
    InputStream open(String key);

    /**
     * Puts an object of any size, whether there was one or not. What {@code content} throws ends the put, and leaves
     * what was there before; a runtime exception reaches the caller as it is.
     */
    void put(String key, Content content);

    /**
     * Puts a small object if nothing has changed since it was looked at.
     *
     * @param tag the tag of the object to replace, or null when there must be none
     * @return the new object's tag
     * @throws ObjectStoreException {@code CONFLICT} when the object is another one (or there is one, or none). After an
     *     error that {@link ObjectStoreException#leavesOutcomeOpen leaves the outcome open}, {@code CONFLICT} included,
     *     the put may have taken place, as a client may have tried again by itself: read the object to know. It is
     *     durable only when it has been put once more without an error
     */
    String putIf(String key, byte[] content, @Nullable String tag);

    /**
     * Passes on all objects whose key begins with the prefix, in the order of their keys' bytes. It lists page by page,
     * so any number of objects fits in memory.
     *
     * @param prefix a folder, with its slash at the end, or empty
     * @param after only keys above this one, or empty
     * @param action returns false to end
     */
    void list(String prefix, String after, Predicate<Listed> action);

    /**
     * Deletes an object, if it is there. A loss of power may undo a deletion, so delete only what nobody needs any
     * more, and what would be found and deleted again after that.
     */
    void delete(String key);

    /**
     * Deletes an object if nothing has changed since it was looked at; a loss of power may undo it, as {@link #delete}.
     *
     * @return false when the place cannot delete on a condition; the object is then as it was
     * @throws ObjectStoreException {@code CONFLICT} when it has; that it has been deleted may be one, too
     */
    boolean deleteIf(String key, String tag);

    /** Closes it. Puts fail from now on; those under way may fail. */
    @Override
    void close();
}
