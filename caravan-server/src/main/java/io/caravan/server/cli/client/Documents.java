package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/** Accesses the server's documents over one connection; every method waits for the reply. */
public final class Documents implements AutoCloseable {
    /** The approximate number of value bytes in one reply, and therefore in memory. */
    private static final int PAGE_BYTES = 1024 * 1024;

    /** The maximum number of values in a reply, even if they are short, because longer values may follow. */
    private static final int MAX_PAGE_VALUES = 16;

    private static final int PAGES_AHEAD = 16;
    private static final int NAMES_PER_SCAN = 1_000;

    private final ServerConnection connection;

    public Documents(ServerConnection connection) {
        this.connection = connection;
    }

    /** Creates a Caravan command for a document; the client library does not support these commands. */
    static CommandArguments caravan(String verb, byte[] name) {
        byte[] raw = ("CARAVAN." + verb).getBytes(US_ASCII);
        return new CommandArguments(() -> raw).add(name);
    }

    /**
     * A range of values.
     *
     * @param first the sequence of the first value
     * @param next the sequence after the last value
     */
    record Sequences(long first, long next) {}

    /**
     * A document at one moment.
     *
     * @param id a unique id; a later document of the same name has another id
     * @param first the sequence of the first value
     * @param next the sequence after the last value
     * @param bytes the total length of the values, excluding those that a fork shares with its source
     */
    public record Document(long id, long first, long next, long bytes) {
        /**
         * Returns the number of values to request in one reply, based on their mean length; 1 if this length is
         * unknown.
         */
        int pageValues() {
            if (bytes == 0) {
                return 1;
            }
            long meanBytes = Math.max(1, bytes / Math.max(1, next - first));
            return (int) Math.max(1, Math.min(MAX_PAGE_VALUES, PAGE_BYTES / meanBytes));
        }
    }

    /**
     * A page of document names.
     *
     * @param cursor the position to continue from; 0 if these are the last names
     */
    public record Names(byte[] cursor, List<byte[]> names) {
        private static final byte[] START = {'0'};

        public static Names before() {
            return new Names(START, List.of());
        }

        public boolean last() {
            return cursor.length == 1 && cursor[0] == START[0];
        }
    }

    /**
     * Consecutive values.
     *
     * @param next the sequence to continue from
     * @param end whether the document is closed, so that no values will follow
     * @param id the document's id, see {@link Document}; empty if the document does not exist
     */
    record Page(long next, List<Value> values, boolean end, OptionalLong id) {}

    public record Value(long sequence, byte[] bytes) {}

    /**
     * Returns a document's fields (text, numbers, booleans, or null) under the names that the server uses. Returns null
     * if the document does not exist.
     */
    @Nullable
    Map<String, @Nullable Object> info(byte[] name) {
        return ServerConnection.fields(connection.call(caravan("INFO", name)));
    }

    /** Returns the document with this name, or null if it does not exist. */
    @Nullable
    Document find(byte[] name) {
        Map<String, @Nullable Object> info = info(name);
        return info == null
                ? null
                : new Document(
                        number(info.get("id")),
                        number(info.get("first")),
                        number(info.get("next")),
                        number(info.get("bytes")));
    }

    /** Appends all values or none. If a sequence is given, the first value must get this sequence. */
    Sequences append(byte[] name, List<byte[]> values, OptionalLong sequence) {
        if (sequence.isEmpty()) {
            return append(name, values);
        }
        CommandArguments append = caravan("APPEND", name).add("IFSEQ").add(sequence.getAsLong());
        values.forEach(append::add);
        long first = number(connection.call(append));
        return new Sequences(first, first + values.size());
    }

    /**
     * Appends values and returns their sequences. The server's reply to an append contains only the list's length, and
     * the reply to a trim that removes nothing contains the first sequence. The transaction prevents other writes
     * between the two.
     */
    private Sequences append(byte[] name, List<byte[]> values) {
        connection.send(new CommandArguments(Command.MULTI));
        connection.send(caravan("TRIM", name).add("TO").add(0));
        CommandArguments push = new CommandArguments(Command.RPUSH).add(name);
        values.forEach(push::add);
        connection.send(push);
        connection.send(new CommandArguments(Command.EXEC));
        connection.receive();
        connection.receive();
        connection.receive();
        List<?> answers = list(connection.receive());
        Object retained = answers.get(0);
        long next = (retained == null ? 0 : number(retained)) + number(answers.get(1));
        return new Sequences(next - values.size(), next);
    }

    public interface Sink {
        void take(Value value) throws IOException;
    }

    /**
     * Reads a range of any length in pages. Requests several pages ahead, so that it waits for one round trip in total
     * instead of one for each page. The requested pages wait in the server and in the sockets; only one page is in
     * memory.
     *
     * @param document the document that must contain the values
     * @throws ClientException if the document is trimmed or deleted in the meantime; earlier values were passed on
     */
    public void read(byte[] name, Document document, long from, long to, Sink sink) throws IOException {
        int pageValues = document.pageValues();
        OptionalLong id = OptionalLong.of(document.id());
        long requested = from;
        long next = from;
        while (next < to) {
            while (requested < to && requested - next < (long) PAGES_AHEAD * pageValues) {
                long count = Math.min(pageValues, to - requested);
                connection.send(read(name, requested, count));
                requested += count;
            }
            Page page = page(connection.receive());
            long end = Math.min(next + pageValues, to);
            if (page.next() != end || !page.id().equals(id)) {
                throw ClientException.otherState(
                        "the document was trimmed or deleted while it was being read, at sequence " + next);
            }
            for (Value value : page.values()) {
                sink.take(value);
            }
            next = end;
        }
    }

    /** Waits for values; returns an empty page after a timeout. */
    Page await(byte[] name, long from, long count, int blockMillis) {
        return page(connection.callBlocking(read(name, from, count).add("BLOCK").add(blockMillis), blockMillis));
    }

    static CommandArguments read(byte[] name, long from, long count) {
        return caravan("READ", name).add("FROM").add(from).add("COUNT").add(count);
    }

    static Page page(@Nullable Object answer) {
        List<?> parts = list(answer);
        List<Value> values = list(parts.get(1)).stream().map(Documents::value).toList();
        Object id = parts.get(3);
        return new Page(
                number(parts.get(0)),
                values,
                Boolean.TRUE.equals(parts.get(2)),
                id == null ? OptionalLong.empty() : OptionalLong.of(number(id)));
    }

    private static Value value(@Nullable Object answer) {
        List<?> pair = list(answer);
        return new Value(number(pair.get(0)), (byte[]) Objects.requireNonNull(pair.get(1)));
    }

    /**
     * Trims the values before a sequence, and returns the first retained sequence; empty if the document does not
     * exist.
     */
    OptionalLong trim(byte[] name, long to) {
        Object first = connection.call(caravan("TRIM", name).add("TO").add(to));
        return first == null ? OptionalLong.empty() : OptionalLong.of(number(first));
    }

    /** Deletes all of these documents or none. */
    void delete(List<byte[]> names) {
        CommandArguments delete = new CommandArguments(Command.DEL);
        names.forEach(delete::add);
        connection.call(delete);
    }

    public Names scan(Names before, byte @Nullable [] pattern) {
        CommandArguments scan = new CommandArguments(Command.SCAN)
                .add(before.cursor())
                .add("COUNT")
                .add(NAMES_PER_SCAN);
        if (pattern != null) {
            scan.add("MATCH").add(pattern);
        }
        List<?> answer = list(connection.call(scan));
        List<byte[]> names =
                list(answer.get(1)).stream().map(byte[].class::cast).toList();
        return new Names((byte[]) Objects.requireNonNull(answer.get(0)), names);
    }

    /** Returns the reply to {@code INFO}: sections whose lines have the form {@code name:value}. */
    String status() {
        return text(connection.call(new CommandArguments(Command.INFO)));
    }

    private static List<?> list(@Nullable Object answer) {
        return (List<?>) Objects.requireNonNull(answer);
    }

    static long number(@Nullable Object answer) {
        return (Long) Objects.requireNonNull(answer);
    }

    private static String text(@Nullable Object answer) {
        return new String((byte[]) Objects.requireNonNull(answer), UTF_8);
    }

    @Override
    public void close() {
        connection.close();
    }
}
