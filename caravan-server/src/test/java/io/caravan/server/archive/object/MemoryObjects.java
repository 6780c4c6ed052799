package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStore.Listed;
import io.caravan.server.archive.object.ObjectStore.Stored;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * In-memory objects that outlive their clients ({@link MemoryObjectStore}). The tag of an object is a checksum of its
 * content, as in some buckets, so objects with equal contents have equal tags. All methods are atomic.
 */
public final class MemoryObjects {
    private final InstantSource clock;
    /** The objects by key. Keys are ASCII, so the order of strings is that of bytes. */
    private final NavigableMap<String, Kept> objects = new TreeMap<>();

    private record Kept(byte[] content, long modifiedMillis) {}

    /** Creates an empty set of objects whose modification times come from the clock. */
    public MemoryObjects(InstantSource clock) {
        this.clock = clock;
    }

    /** Returns a client without faults. */
    public MemoryObjectStore client() {
        return new MemoryObjectStore(this);
    }

    /** Returns a copy of the content of an object, or null if there is no such object. */
    public synchronized byte @Nullable [] content(String key) {
        Kept kept = objects.get(key);
        return kept == null ? null : kept.content.clone();
    }

    /** Puts an object directly, not through a client. */
    public synchronized void put(String key, byte[] content) {
        checkDirectories(key);
        objects.put(key, new Kept(content.clone(), clock.millis()));
    }

    /** Deletes an object directly, not through a client. */
    public synchronized void delete(String key) {
        objects.remove(key);
    }

    /** Returns all keys with this prefix. */
    public synchronized List<String> keys(String prefix) {
        return objects.tailMap(prefix, true).keySet().stream()
                .takeWhile(key -> key.startsWith(prefix))
                .toList();
    }

    private void checkDirectories(String key) {
        if (!keys(key + "/").isEmpty()) {
            throw new IllegalArgumentException("'" + key + "' is a directory of another key");
        }
        for (int at = key.indexOf('/'); at >= 0; at = key.indexOf('/', at + 1)) {
            if (objects.containsKey(key.substring(0, at))) {
                throw new IllegalArgumentException("'" + key + "' has a directory that is a key");
            }
        }
    }

    synchronized @Nullable Stored stored(String key) {
        Kept kept = objects.get(key);
        return kept == null ? null : new Stored(kept.content.clone(), tag(kept.content));
    }

    synchronized String putIf(String key, byte[] content, @Nullable String tag) {
        check(key, tag);
        put(key, content);
        return tag(content);
    }

    synchronized void deleteIf(String key, String tag) {
        check(key, tag);
        delete(key);
    }

    private void check(String key, @Nullable String tag) {
        Kept kept = objects.get(key);
        String now = kept == null ? null : tag(kept.content);
        if (tag == null ? now != null : !tag.equals(now)) {
            throw new ObjectStoreException(
                    Kind.CONFLICT, "memory:/" + key + " has changed: " + now + ", not " + tag, null);
        }
    }

    synchronized List<Listed> page(String prefix, String after, int most) {
        String above = after.compareTo(prefix) > 0 ? after : prefix;
        return objects.tailMap(above, false).entrySet().stream()
                .takeWhile(entry -> entry.getKey().startsWith(prefix))
                .limit(most)
                .map(entry ->
                        new Listed(entry.getKey(), entry.getValue().content.length, entry.getValue().modifiedMillis))
                .toList();
    }

    private static String tag(byte[] content) {
        CRC32C crc = new CRC32C();
        crc.update(content, 0, content.length);
        return HexFormat.of().toHexDigits(crc.getValue()) + HexFormat.of().toHexDigits(Arrays.hashCode(content));
    }
}
