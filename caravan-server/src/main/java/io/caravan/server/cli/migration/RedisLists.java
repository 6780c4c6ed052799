package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerConnection.Bulk;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads Redis lists, and passes them to a receiver as documents whose sequences start at 0. Short lists are requested
 * many at a time, each in a consistent state. Long lists are read in slices, which are valid if no client has changed
 * the list between them, except at its end. Redis has no empty lists. Not thread-safe.
 */
final class RedisLists implements AutoCloseable {
    private static final byte[] START = {'0'};
    private static final int NAMES_PER_SCAN = 500;
    private static final int MAX_NAMES = 100_000;
    /** The minimum number of values in a list that is read in slices. */
    private static final int LONG_VALUES = 256;

    private static final int MAX_SLICE_VALUES = 1_000;
    /** The approximate number of value bytes in a slice, estimated from the previous slices. */
    private static final long SLICE_BYTES = 512 * 1024;

    private static final int SLICES_AHEAD = 4;
    private static final int LISTS_AHEAD = 64;
    /** The approximate number of value bytes that may be pending in Redis. */
    private static final long AHEAD_BYTES = 4 * 1024 * 1024;

    private static final int TRIES = 5;

    private static final int MAX_INFO_BYTES = 64 * 1024;
    private static final String CHANGES = "rdb_changes_since_last_save:";
    /** The {@code INFO} fields that change with writes. One is not enough: a save resets the number of changes. */
    private static final List<String> WRITE_COUNTS = List.of(CHANGES, "rdb_last_save_time:", "rdb_saves:");

    /** The factor by which an estimate shrinks while smaller lists follow. */
    private static final double DECAY = 7.0 / 8;

    private final ServerConnection redis;
    private final int maxValueBytes;
    /** Receives the keys that cannot be imported, and the lists that have changed since they were read. */
    private final RedisImport result;

    private byte[] cursor = START;
    /** The estimated size of the largest of the recent short lists. */
    private long listBytes = AHEAD_BYTES / SLICES_AHEAD;

    private final List<byte[]> longLists = new ArrayList<>();
    private final List<byte[]> others = new ArrayList<>();

    /** Creates a reader; a list with a value that exceeds the maximum length cannot be imported. */
    RedisLists(ServerConnection redis, int maxValueBytes, RedisImport result) {
        this.redis = redis;
        this.maxValueBytes = maxValueBytes;
        this.result = result;
    }

    /**
     * Returns the next key names that are valid document names, for keys of any type. A full scan returns every list
     * that exists during the entire scan, some possibly twice.
     *
     * @return null after the last names; the next call then starts another scan
     */
    @Nullable
    Set<DocumentName> scan() {
        if (cursor.length == 0) {
            cursor = START;
            return null;
        }
        redis.send("SCAN", cursor, "COUNT", NAMES_PER_SCAN);
        if (redis.array(2) != 2) {
            throw ClientException.failed("the reply to SCAN is not that of a Redis server");
        }
        Bulk next = redis.bulk(DocumentName.MAX_BYTES);
        cursor = Arrays.equals(next.bytes(), START) ? new byte[0] : next.bytes();
        long count = redis.array(MAX_NAMES);
        Set<DocumentName> names = new LinkedHashSet<>();
        for (long i = 0; i < count; i++) {
            Bulk name = redis.bulk(DocumentName.MAX_BYTES);
            if (name.isWhole() && name.length() > 0) {
                names.add(DocumentName.of(name.bytes()));
            } else {
                result.invalid(
                        name.bytes(),
                        "has a name of " + name.length() + " bytes; a document's has 1 to " + DocumentName.MAX_BYTES);
            }
        }
        return names;
    }

    /** Reads the lists among these names, passes them to a receiver, and reports the other keys. */
    void read(List<byte[]> names, DocumentReceiver to) throws IOException {
        int requested = 0;
        for (int i = 0; i < names.size(); i++) {
            long ahead = Math.max(1, Math.min(LISTS_AHEAD, AHEAD_BYTES / Math.max(1, listBytes)));
            for (; requested < names.size() && requested - i < ahead; requested++) {
                redis.send("PTTL", names.get(requested));
                requestSlice(names.get(requested), 0, LONG_VALUES);
            }
            readShort(names.get(i), to);
        }
        for (byte[] name : longLists) {
            readLong(name, to);
        }
        longLists.clear();
        reportOthers();
    }

    private void requestSlice(byte[] name, long from, long count) {
        redis.send("LRANGE", name, from, from + count - 1);
    }

    private void readShort(byte[] name, DocumentReceiver to) throws IOException {
        Map<String, Object> attributes = attributes(redis.integer());
        long count = redis.array(LONG_VALUES);
        if (count == ServerConnection.NO_LIST) {
            others.add(name);
        } else if (count == LONG_VALUES) {
            for (long i = 0; i < count; i++) {
                redis.bulk(0);
            }
            longLists.add(name);
        } else if (count > 0) {
            ListReading reading = new ListReading(name, new Description(0, 0, count, -1, attributes), to);
            reading.take(count);
            reading.end();
            listBytes = Math.max(reading.bytes, (long) (listBytes * DECAY));
        }
    }

    private static Map<String, Object> attributes(long leftMillis) {
        return leftMillis < 0 ? Map.of() : Map.of("expires", System.currentTimeMillis() + leftMillis);
    }

    private final class ListReading {
        final byte[] name;
        final DocumentReceiver to;
        long next;
        /** The total length of the values, including those that are too long. */
        long bytes;

        byte[] first = {};
        byte[] last = {};

        @Nullable
        String invalid;

        ListReading(byte[] name, Description document, DocumentReceiver to) throws IOException {
            this.name = name;
            this.to = to;
            to.begin(name, document);
        }

        void take(long count) throws IOException {
            for (long i = 0; i < count; i++) {
                Bulk value = redis.bulk(maxValueBytes);
                bytes += value.length();
                if (!value.isWhole() && invalid == null) {
                    invalid = "has a value of " + value.length() + " bytes, at index " + next
                            + "; the server accepts values of at most " + maxValueBytes + " bytes (--max-value)";
                }
                if (invalid == null) {
                    to.value(value.bytes());
                }
                first = next == 0 ? value.bytes() : first;
                last = value.bytes();
                next++;
            }
        }

        void end() throws IOException {
            if (invalid == null) {
                to.end();
            } else {
                to.abandon();
                result.invalid(name, invalid);
            }
        }
    }

    private void readLong(byte[] name, DocumentReceiver to) throws IOException {
        for (int i = 0; i < TRIES; i++) {
            redis.send("WATCH", name);
            redis.send("PTTL", name);
            redis.send("LLEN", name);
            redis.status();
            Map<String, Object> attributes = attributes(redis.integer());
            long length = redis.integer();
            if (length <= 0) {
                redis.send("UNWATCH");
                redis.status();
                if (length == ServerConnection.NO_LIST) {
                    others.add(name);
                }
                return;
            }
            ListReading reading = new ListReading(name, new Description(0, 0, length, -1, attributes), to);
            boolean whole = readSlices(reading, length);
            boolean unchanged = unchangedSinceWatch();
            if (whole && (unchanged || sameEnds(reading))) {
                reading.end();
                if (!unchanged) {
                    result.changed();
                }
                return;
            }
            to.abandon();
        }
        result.invalid(name, "changes too fast to be read");
    }

    /** Reads a list in slices; returns whether all values were present. */
    private boolean readSlices(ListReading reading, long length) throws IOException {
        Queue<Long> slices = new ArrayDeque<>();
        long requested = 0;
        boolean whole = true;
        while (requested < length || !slices.isEmpty()) {
            while (requested < length && slices.size() < SLICES_AHEAD) {
                long count = Math.min(length - requested, sliceValues(reading));
                requestSlice(reading.name, requested, count);
                slices.add(count);
                requested += count;
            }
            long wanted = slices.remove();
            long count = redis.array(wanted);
            if (count > 0) {
                reading.take(count);
            }
            whole = whole && count == wanted;
            if (!whole) {
                requested = length;
            }
        }
        return whole;
    }

    private static long sliceValues(ListReading reading) {
        // The sizes of the values are unknown before the first slice.
        long mean = reading.next == 0 ? SLICE_BYTES / 16 : Math.max(1, reading.bytes / reading.next);
        return Math.max(1, Math.min(MAX_SLICE_VALUES, SLICE_BYTES / mean));
    }

    /** Whether the watched list is unchanged. Redis executes the empty transaction only in this case. */
    private boolean unchangedSinceWatch() {
        redis.send("MULTI");
        redis.send("EXEC");
        redis.status();
        return redis.array(0) == 0;
    }

    /**
     * Whether the first and last values that were read are unchanged, for example because values were only appended.
     */
    private boolean sameEnds(ListReading reading) {
        requestSlice(reading.name, 0, 1);
        requestSlice(reading.name, reading.next - 1, 1);
        byte[] first = end();
        byte[] last = end();
        return Arrays.equals(first, reading.first) && Arrays.equals(last, reading.last);
    }

    private byte @Nullable [] end() {
        return redis.array(1) == 1 ? redis.bulk(maxValueBytes).bytes() : null;
    }

    private void reportOthers() {
        others.forEach(name -> redis.send("TYPE", name));
        for (byte[] name : others) {
            String type = redis.status();
            if (type.equals("list")) {
                result.changed();
            } else if (!type.equals("none")) {
                result.other(name, type);
            }
        }
        others.clear();
    }

    /**
     * Returns the write counters of Redis. If they are unchanged, nothing was written to any database.
     *
     * @throws ClientException if Redis does not report its writes to this user
     */
    String writes() {
        redis.send("INFO", "persistence");
        Bulk reply = redis.bulk(MAX_INFO_BYTES);
        String counts = new String(reply.bytes(), US_ASCII)
                .lines()
                .filter(line -> WRITE_COUNTS.stream().anyMatch(line::startsWith))
                .collect(Collectors.joining(" "));
        if (!counts.contains(CHANGES)) {
            throw ClientException.failed("Redis does not report its number of changes in INFO (" + CHANGES
                    + "), so the command cannot detect that a list changes after it was compared");
        }
        return counts;
    }

    boolean has(byte[] name) {
        redis.send("TYPE", name);
        return redis.status().equals("list");
    }

    @Override
    public void close() {
        redis.close();
    }
}
