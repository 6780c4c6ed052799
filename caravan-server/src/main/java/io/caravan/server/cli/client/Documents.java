package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.util.KeyValue;

/** What the server's documents can do, over one connection; every method waits for the answer. */
public final class Documents {
    /** Of values in one answer, about: they, and no more, are held in memory. */
    private static final int PAGE_BYTES = 1024 * 1024;

    /** Values may be longer than those before them were, so even of short ones there are no more in an answer. */
    private static final int MAX_PAGE_VALUES = 16;

    private static final int MAX_ARCHIVE_MILLIS = 24 * 3600 * 1000;
    private static final int NAMES_PER_SCAN = 1_000;

    private final ServerConnection connection;

    public Documents(ServerConnection connection) {
        this.connection = connection;
    }

    /**
     * Where values are.
     *
     * @param first sequence of the first one
     * @param next sequence after that of the last one
     */
    record Sequences(long first, long next) {}

    /**
     * A document at one moment.
     *
     * @param id no other document has it, not even one of the same name after this one is deleted
     * @param first sequence of the first value
     * @param next sequence after that of the last one
     * @param bytes length of the values together, without those that a fork has of its source
     */
    record Document(long id, long first, long next, long bytes) {
        /** How many values one answer should have, by what is known of their lengths: 1 when nothing is. */
        int pageValues() {
            if (bytes == 0) {
                return 1;
            }
            long meanBytes = Math.max(1, bytes / Math.max(1, next - first));
            return (int) Math.max(1, Math.min(MAX_PAGE_VALUES, PAGE_BYTES / meanBytes));
        }
    }

    /**
     * Names of documents.
     *
     * @param cursor where to go on, 0 when these were the last ones
     */
    record Names(byte[] cursor, List<byte[]> names) {
        private static final byte[] START = {'0'};

        static Names before() {
            return new Names(START, List.of());
        }

        boolean last() {
            return cursor.length == 1 && cursor[0] == START[0];
        }
    }

    /**
     * Values that follow each other.
     *
     * @param next sequence to go on from
     * @param end whether nothing will ever follow
     * @param id of the document that they are of, see {@link Document}; empty when there is none
     */
    record Page(long next, List<Value> values, boolean end, OptionalLong id) {}

    /** A value and its sequence. */
    record Value(long sequence, byte[] bytes) {}

    /** What is known of a document, by the server's names: text, numbers, truth values, null; or null without one. */
    @Nullable
    Map<String, @Nullable Object> info(byte[] name) {
        return fields(connection.call(Verb.INFO.of(name)));
    }

    /** The document of a name; null when there is none. */
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

    /** Appends values, all or none, at the end or, if given, at a sequence that must be the end. */
    Sequences append(byte[] name, List<byte[]> values, OptionalLong sequence) {
        if (sequence.isEmpty()) {
            return append(name, values);
        }
        CommandArguments append = Verb.APPEND.of(name).add("IFSEQ").add(sequence.getAsLong());
        values.forEach(append::add);
        long first = number(connection.call(append));
        return new Sequences(first, first + values.size());
    }

    /**
     * Answers to appends tell a list's length and not its sequences. A trim that drops nothing tells the first one, and a
     * transaction sees to it that nobody comes between the two.
     */
    private Sequences append(byte[] name, List<byte[]> values) {
        connection.send(new CommandArguments(Command.MULTI));
        connection.send(Verb.TRIM.of(name).add("TO").add(0));
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

    /** Asks for values; {@link #page} waits for them. */
    void ask(byte[] name, long from, long count) {
        connection.send(read(name, from, count));
    }

    /** The values that were asked for first, of those that have not come. */
    Page page() {
        return page(connection.receive());
    }

    /** Waits for values, which may be none when the time is over. */
    Page await(byte[] name, long from, long count, int blockMillis) {
        return page(connection.callBlocking(read(name, from, count).add("BLOCK").add(blockMillis), blockMillis));
    }

    private static CommandArguments read(byte[] name, long from, long count) {
        return Verb.READ.of(name).add("FROM").add(from).add("COUNT").add(count);
    }

    private static Page page(@Nullable Object answer) {
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

    /** Drops the values before a sequence, and tells the first one that is left; empty when there is no document. */
    OptionalLong trim(byte[] name, long to) {
        Object first = connection.call(Verb.TRIM.of(name).add("TO").add(to));
        return first == null ? OptionalLong.empty() : OptionalLong.of(number(first));
    }

    /**
     * What an archive has of a document.
     *
     * @param uploaded false when nothing had changed since it was archived
     */
    public record ArchivedDocument(long generation, long first, long next, boolean uploaded) {}

    /** Has the server archive a document, which takes as long as the archive does. */
    public ArchivedDocument archive(byte[] name) {
        Map<String, @Nullable Object> answer =
                Objects.requireNonNull(fields(connection.callBlocking(Verb.ARCHIVE.of(name), MAX_ARCHIVE_MILLIS)));
        return new ArchivedDocument(
                number(answer.get("generation")),
                number(answer.get("first")),
                number(answer.get("next")),
                Boolean.TRUE.equals(answer.get("uploaded")));
    }

    /**
     * What a restore came to.
     *
     * @param added number of values that were added
     * @param generation the one that they were restored from
     */
    public record RestoredDocument(long first, long next, long added, long generation) {}

    /** Has the server restore a document from its archive, which takes as long as the archive does. */
    public RestoredDocument restore(byte[] name, OptionalLong generation, byte @Nullable [] as) {
        CommandArguments restore = Verb.RESTORE.of(name);
        if (generation.isPresent()) {
            restore.add("AT").add(generation.getAsLong());
        }
        if (as != null) {
            restore.add("AS").add(as);
        }
        Map<String, @Nullable Object> answer =
                Objects.requireNonNull(fields(connection.callBlocking(restore, MAX_ARCHIVE_MILLIS)));
        return new RestoredDocument(
                number(answer.get("first")),
                number(answer.get("next")),
                number(answer.get("added")),
                number(answer.get("generation")));
    }

    /** Deletes documents, all or none. */
    void delete(List<byte[]> names) {
        CommandArguments delete = new CommandArguments(Command.DEL);
        names.forEach(delete::add);
        connection.call(delete);
    }

    /** The names that come after others. */
    Names scan(Names before, byte @Nullable [] pattern) {
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

    /** What the server tells of itself: sections of lines {@code name:value}. */
    String status() {
        return text(connection.call(new CommandArguments(Command.INFO)));
    }

    private static @Nullable Map<String, @Nullable Object> fields(@Nullable Object answer) {
        if (answer == null) {
            return null;
        }
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        for (Object field : list(answer)) {
            KeyValue<?, ?> pair = (KeyValue<?, ?>) field;
            Object value = pair.getValue();
            fields.put(text(pair.getKey()), value instanceof byte[] ? text(value) : value);
        }
        return fields;
    }

    private static List<?> list(@Nullable Object answer) {
        return (List<?>) Objects.requireNonNull(answer);
    }

    private static long number(@Nullable Object answer) {
        return (Long) Objects.requireNonNull(answer);
    }

    private static String text(@Nullable Object answer) {
        return new String((byte[]) Objects.requireNonNull(answer), UTF_8);
    }
}
