package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.document.ImportStep.Replaced;
import io.caravan.server.document.MoveStep;
import io.caravan.server.document.Origin;
import io.caravan.server.document.RedirectTarget;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Accesses documents on a server over RESP. Uses a second connection for {@link #read}. */
public final class RespDocumentClient implements DocumentClient {
    /** The approximate number of value bytes in one reply, and therefore in memory. */
    private static final int PAGE_BYTES = 1024 * 1024;

    /** The maximum number of values in a reply, even if their mean length is small, because some values may be long. */
    private static final int MAX_PAGE_VALUES = 16;

    private static final int PAGES_AHEAD = 16;
    private static final int NAMES_PER_SCAN = 1_000;

    private final ServerConnection.Connector server;
    private final ServerConnection connection;
    /** The connection for reads; null before the first read, and after a read that failed. */
    private volatile @Nullable ServerConnection reading;

    private volatile boolean cut;

    public RespDocumentClient(ServerConnection.Connector server) throws IOException {
        this.server = server;
        this.connection = server.connect();
    }

    /** The sequences of the first value of a range, and after its last value. */
    public record Sequences(long first, long next) {}

    /**
     * A page of consecutive values.
     *
     * @param next the sequence to continue from
     * @param end whether the document is closed, so that no values will follow
     * @param id the document's id, see {@link DocumentClient.Description}; empty if the document does not exist
     */
    public record Page(long next, List<Value> values, boolean end, OptionalLong id) {}

    /**
     * Returns the number of values to request in one reply, based on their mean length; 1 if this length is unknown.
     */
    public static int pageValues(Description document) {
        if (document.bytes() <= 0) {
            return 1;
        }
        long meanBytes = Math.max(1, document.bytes() / Math.max(1, document.count()));
        return (int) Math.max(1, Math.min(MAX_PAGE_VALUES, PAGE_BYTES / meanBytes));
    }

    @Override
    public About about() {
        ServerInfo info = connection.info();
        return new About(info.text("run_id"), info.numberOrZero("store_incomplete") != 0);
    }

    /** Returns the connection for all requests except {@link #read}. Must not be called while a reply is pending. */
    public ServerConnection connection() {
        return connection;
    }

    /**
     * Returns a document's fields (text, numbers, booleans, or null) under the names that the server uses. Returns null
     * if the document does not exist.
     */
    @Nullable
    public Map<String, @Nullable Object> info(byte[] name) {
        return ServerConnection.fields(connection.call("CARAVAN.INFO", name));
    }

    /**
     * Returns the sequences and the length of a document without its attributes, or null if it does not exist. The
     * length excludes values that a fork shares with its source.
     */
    @Nullable
    public Description find(byte[] name) {
        Map<String, @Nullable Object> info = info(name);
        return info == null
                ? null
                : new Description(
                        number(info.get("id")),
                        number(info.get("first")),
                        number(info.get("next")),
                        number(info.get("bytes")),
                        Map.of());
    }

    /** Appends all values or none. If a sequence is given, the first value must get this sequence. */
    public Sequences append(byte[] name, List<byte[]> values, OptionalLong sequence) {
        if (sequence.isEmpty()) {
            return append(name, values);
        }
        long first = number(connection.call("CARAVAN.APPEND", name, "IFSEQ", sequence.getAsLong(), values));
        return new Sequences(first, first + values.size());
    }

    /**
     * Appends values and returns their sequences. The reply to an append contains only the list's length. The method
     * therefore also sends a trim that removes nothing, because the reply to a trim contains the first sequence. The
     * transaction prevents other writes between the two commands.
     */
    private Sequences append(byte[] name, List<byte[]> values) {
        connection.send("MULTI");
        connection.send("CARAVAN.TRIM", name, "TO", 0);
        connection.send("RPUSH", name, values);
        connection.send("EXEC");
        connection.receive();
        connection.receive();
        connection.receive();
        List<?> replies = list(connection.receive());
        Object retained = replies.get(0);
        long next = (retained == null ? 0 : number(retained)) + number(replies.get(1));
        return new Sequences(next - values.size(), next);
    }

    /** Returns the next values, and waits for them if there are none yet; the page is empty after a timeout. */
    public Page await(byte[] name, long from, long count, int blockMillis) {
        return page(connection.callBlocking(
                blockMillis, "CARAVAN.READ", name, "FROM", from, "COUNT", count, "BLOCK", blockMillis));
    }

    private static void requestPage(ServerConnection from, byte[] name, long first, long count) {
        from.send("CARAVAN.READ", name, "FROM", first, "COUNT", count);
    }

    private static Page page(@Nullable Object reply) {
        List<?> parts = list(reply);
        List<Value> values = new ArrayList<>();
        for (Object value : list(parts.get(1))) {
            List<?> pair = list(value);
            values.add(new Value(number(pair.get(0)), (byte[]) Objects.requireNonNull(pair.get(1))));
        }
        Object id = parts.get(3);
        return new Page(
                number(parts.get(0)),
                values,
                Boolean.TRUE.equals(parts.get(2)),
                id == null ? OptionalLong.empty() : OptionalLong.of(number(id)));
    }

    /** Trims the values before a sequence, and returns the first retained one; empty if there is no document. */
    public OptionalLong trim(byte[] name, long to) {
        Object first = connection.call("CARAVAN.TRIM", name, "TO", to);
        return first == null ? OptionalLong.empty() : OptionalLong.of(number(first));
    }

    /** Deletes all of these documents or none. */
    public void delete(List<byte[]> names) {
        connection.call("DEL", names);
    }

    @Override
    public Names scan(Names before, byte[] prefix) {
        String quoted = new String(prefix, ISO_8859_1).replaceAll("[\\\\*?\\[\\]]", "\\\\$0");
        return scan(connection, before, (quoted + "*").getBytes(ISO_8859_1));
    }

    /** Returns the next document names that match a glob pattern, or the next of all names if the pattern is null. */
    public static Names scan(ServerConnection connection, Names before, byte @Nullable [] pattern) {
        List<?> reply = list(connection.call(
                "SCAN",
                before.cursor(),
                "COUNT",
                NAMES_PER_SCAN,
                pattern == null ? List.of() : List.of("MATCH", pattern)));
        List<byte[]> names = list(reply.get(1)).stream().map(byte[].class::cast).toList();
        return new Names((byte[]) Objects.requireNonNull(reply.get(0)), names);
    }

    @Override
    public Reply<Description> requestDescription(byte[] name) {
        connection.send("CARAVAN.EXPORT", name);
        return () -> description(connection.receive());
    }

    private static @Nullable Description description(@Nullable Object reply) {
        if (reply == null) {
            return null;
        }
        Map<?, ?> fields = (Map<?, ?>) reply;
        Object bytes = fields.get("bytes");
        String origin = text(fields.get("origin"));
        Map<String, Object> attributes = new LinkedHashMap<>();
        ((Map<?, ?>) Objects.requireNonNull(fields.get("attributes")))
                .forEach((name, value) -> attributes.put(String.valueOf(name), Objects.requireNonNull(value)));
        return new Description(
                number(fields.get("id")),
                number(fields.get("first")),
                number(fields.get("next")),
                bytes == null ? -1 : number(bytes),
                attributes,
                Boolean.TRUE.equals(fields.get("moving")),
                text(fields.get("identity")),
                origin == null ? null : new Origin(origin, number(fields.get("copied-to"))));
    }

    private static @Nullable String text(@Nullable Object reply) {
        return reply == null ? null : new String((byte[]) reply, UTF_8);
    }

    @Override
    public Reply<List<Value>> requestValues(byte[] name, Description document) {
        requestPage(connection, name, document.first(), document.count());
        return () -> {
            Page page = page(connection.receive());
            if (page.next() != document.next() || page.id().orElse(-1) != document.id()) {
                throw ClientException.otherState("the document was trimmed or deleted while it was being read");
            }
            return page.values();
        };
    }

    @Override
    public Reply<Long> requestStep(byte[] name, Step step) {
        List<Object> options = new ArrayList<>();
        if (step.replaced() != Replaced.NOTHING) {
            options.add(step.replaced() == Replaced.ANYTHING ? "REPLACE" : "REDIRECT");
        }
        step.attributes()
                .forEach((key, value) -> options.addAll(List.of("ATTRIBUTE", key, Description.encoded(value))));
        if (step.kind().takesAttributes() && step.kind().takesValues()) {
            options.add("VALUES");
        }
        connection.send("CARAVAN.IMPORT", name, step.kind(), step.numbers(), options, step.values());
        return () -> connection.receive() instanceof Long id ? id : null;
    }

    @Override
    public boolean move(byte[] name, MoveStep step) {
        List<Object> arguments = new ArrayList<>();
        step.holder().ifPresent(arguments::add);
        RedirectTarget to = step.to();
        if (to != null) {
            arguments.add(to.text());
        }
        return Long.valueOf(1).equals(connection.call("CARAVAN.MOVE", name, step.kind(), arguments));
    }

    @Override
    public void read(byte[] name, Description document, Sink sink) throws IOException {
        ServerConnection from = reading;
        if (from == null) {
            from = server.connect();
            reading = from;
            if (cut) {
                from.cut();
            }
        }
        boolean done = false;
        try {
            read(from, name, document, document.first(), document.next(), sink);
            done = true;
        } finally {
            if (!done) {
                closeReading();
            }
        }
    }

    /**
     * Reads a range of values as {@link #read} does, but over the connection that the other requests use. Must not be
     * called while a reply is pending.
     */
    public void read(byte[] name, Description document, long first, long next, Sink sink) throws IOException {
        read(connection, name, document, first, next, sink);
    }

    /**
     * Reads a range of any length in pages. Requests several pages ahead, so that the reader waits for one round trip
     * in total instead of one for each page. The requested pages wait in the server and in the sockets; only one page
     * is in memory.
     */
    private static void read(ServerConnection from, byte[] name, Description document, long first, long to, Sink sink)
            throws IOException {
        int pageValues = pageValues(document);
        long requested = first;
        long next = first;
        while (next < to) {
            while (requested < to && requested - next < (long) PAGES_AHEAD * pageValues) {
                long count = Math.min(pageValues, to - requested);
                requestPage(from, name, requested, count);
                requested += count;
            }
            Page page = page(from.receive());
            long end = Math.min(next + pageValues, to);
            if (page.next() != end || !page.id().equals(OptionalLong.of(document.id()))) {
                throw ClientException.otherState(
                        "the document was trimmed or deleted while it was being read, at sequence " + next);
            }
            for (Value value : page.values()) {
                sink.take(value);
            }
            next = end;
        }
    }

    private void closeReading() {
        ServerConnection current = reading;
        if (current != null) {
            current.close();
            reading = null;
        }
    }

    private static List<?> list(@Nullable Object reply) {
        return (List<?>) Objects.requireNonNull(reply);
    }

    private static long number(@Nullable Object reply) {
        return (Long) Objects.requireNonNull(reply);
    }

    @Override
    public void cut() {
        cut = true;
        connection.cut();
        ServerConnection current = reading;
        if (current != null) {
            current.cut();
        }
    }

    @Override
    public void close() {
        connection.close();
        closeReading();
    }
}
