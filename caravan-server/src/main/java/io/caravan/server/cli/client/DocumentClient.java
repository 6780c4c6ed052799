package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.StoreConfig;
import io.caravan.server.cli.client.ServerConnection.LostException;
import io.caravan.server.cluster.SlotRange;
import io.caravan.server.cluster.Slots;
import io.caravan.server.document.ImportStep.Kind;
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
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes documents, with their sequences and attributes, on one server or on all Raft groups of a cluster.
 * Methods whose names start with {@code request} send a request without waiting for its {@link Reply}. These methods
 * may be called many times before the replies are received; other methods must not be called in between. Not
 * thread-safe, except {@link #cut}.
 */
public final class DocumentClient implements AutoCloseable {
    /** The maximum number of names for each of which a request may be pending. */
    private static final int BATCH_NAMES = 250;

    private static final int NAMES_PER_SCAN = 1_000;
    /** The approximate number of value bytes in one reply, and therefore in memory. */
    private static final int PAGE_BYTES = 1024 * 1024;

    /** The maximum number of values in a reply, even if their mean length is small, because some values may be long. */
    private static final int MAX_PAGE_VALUES = 16;

    private static final int PAGES_AHEAD = 16;

    /** The connections by the slots of their documents; a single one has all slots. */
    private final Map<SlotRange, ServerConnection> connections = new TreeMap<>();

    /**
     * A description of a document, without its values.
     *
     * @param id an id that is unique within the server
     * @param first the sequence of the first value
     * @param next the sequence after the last value
     * @param bytes the total length of the values; -1 if unknown
     * @param attributes the attributes by name; each is a {@link Long} or a byte array
     * @param moving whether the document is fenced, because it is being moved to another server
     * @param identity an id that is unique among the documents of all servers; null if the server does not report it
     * @param origin the document of which this one is a copy, if known
     */
    public record Description(
            long id,
            long first,
            long next,
            long bytes,
            Map<String, Object> attributes,
            boolean moving,
            @Nullable String identity,
            @Nullable Origin origin) {
        /** Creates a description of a document whose identity is unknown. */
        public Description(long id, long first, long next, long bytes, Map<String, Object> attributes) {
            this(id, first, next, bytes, attributes, false, null, null);
        }

        /** Whether this document is a copy of another one, and has received all values before this sequence. */
        public boolean hasCopied(Description from, long sequence) {
            return origin != null && origin.identity().equals(from.identity()) && origin.copiedTo() >= sequence;
        }

        public long count() {
            return next - first;
        }

        /** Returns a description that excludes the values before a sequence. The remaining length is estimated. */
        public Description from(long sequence) {
            return range(sequence, next);
        }

        /** Returns a description that excludes the value at this sequence and those after it. */
        public Description until(long sequence) {
            return range(first, sequence);
        }

        private Description range(long from, long to) {
            long there = bytes <= 0 || count() == 0 ? bytes : (long) ((double) bytes * (to - from) / count());
            return new Description(id, from, to, there, attributes, moving, identity, origin);
        }

        /** Returns the number of values to request in one reply, based on their mean length; 1 if it is unknown. */
        public int pageValues() {
            if (bytes <= 0) {
                return 1;
            }
            long meanBytes = Math.max(1, bytes / Math.max(1, count()));
            return (int) Math.max(1, Math.min(MAX_PAGE_VALUES, PAGE_BYTES / meanBytes));
        }

        /** Encodes an attribute for servers: numbers as decimal digits, and bytes unchanged. */
        public static byte[] encoded(Object attribute) {
            return attribute instanceof byte[] bytes
                    ? bytes
                    : attribute.toString().getBytes(US_ASCII);
        }
    }

    public record Value(long sequence, byte[] bytes) {}

    /** Receives the values that a client reads from a document. */
    public interface Sink {
        void take(Value value) throws IOException;
    }

    /** Receives names of documents, few enough that a request for each of them may be pending. */
    public interface NameSink {
        void take(List<byte[]> names) throws IOException;
    }

    /** The reply to a request. The replies must be received once each, in the order of the requests. */
    public interface Reply<T> {
        /**
         * Waits for the reply.
         *
         * @throws ClientException if the server rejects the request; the next reply can still be received
         */
        @Nullable
        T receive();
    }

    /** The sequences of the first value of a range, and after its last value. */
    public record Sequences(long first, long next) {}

    /**
     * A page of consecutive values.
     *
     * @param next the sequence to continue from
     * @param end whether the document is closed, so that no values will follow
     * @param id the document's id; empty if the document does not exist
     */
    public record Page(long next, List<Value> values, boolean end, OptionalLong id) {
        private void requireComplete(long end, Description document) {
            if (next != end || id.orElse(-1) != document.id()) {
                throw ClientException.otherState("the document was trimmed or deleted while it was being read");
            }
        }
    }

    /** Connects to one server. */
    public DocumentClient(Endpoint server) {
        connections.put(SlotRange.ALL, server.connect());
    }

    private DocumentClient() {}

    /**
     * Connects to the leaders of all Raft groups of a server's cluster or, if it is not in a cluster, to the server.
     *
     * @throws ClientException if a group has no leader
     */
    public static DocumentClient ofAllGroups(Endpoint server) {
        DocumentClient client = new DocumentClient();
        try {
            server.leaders().forEach((slots, leader) -> client.connections.put(slots, leader.connect()));
            return client;
        } catch (RuntimeException unreachable) {
            client.close();
            throw unreachable;
        }
    }

    /** Returns the connection to the server or, in a cluster, to a leader. */
    public ServerConnection connection() {
        return connections.values().iterator().next();
    }

    /** Returns the maximum length of a value that the server accepts. */
    public int maxValueBytes() {
        return (int) connection().info().number("max_value_bytes").orElse(StoreConfig.MAX_VALUE_BYTES);
    }

    private ServerConnection connection(byte[] name) {
        if (connections.size() == 1) {
            return connection();
        }
        int slot = Slots.of(name);
        return connections.entrySet().stream()
                .filter(each -> each.getKey().contains(slot))
                .findFirst()
                .orElseThrow()
                .getValue();
    }

    /** Identifies the run of the server, or those of the leaders of a cluster; changes when one is replaced. */
    public String run() {
        return connections.values().stream()
                .map(each -> each.info().text("run_id"))
                .collect(Collectors.joining(" "));
    }

    /**
     * Checks that the server lists all of its documents.
     *
     * @throws ClientException if a document may exist only in the archive
     */
    public void requireComplete() {
        for (ServerConnection each : connections.values()) {
            // The server reports the state as of its last scan.
            each.call("SCAN", 0);
            if (each.info().numberOrZero("store_incomplete") != 0) {
                throw ClientException.otherState("the server lists only those of its documents that it has fetched from"
                        + " its archive so far (--archive-hydrate): stop it and fetch the rest, with 'caravan restore"
                        + " --archive URL --data DIR', or name the document");
            }
        }
    }

    /**
     * Passes on all names with this prefix. A document that exists during the entire scan is passed on exactly once.
     */
    public void scanPrefix(byte[] prefix, NameSink sink) throws IOException {
        String quoted = new String(prefix, ISO_8859_1).replaceAll("[\\\\*?\\[\\]]", "\\\\$0");
        scan((quoted + "*").getBytes(ISO_8859_1), sink);
    }

    /** Passes on all names that match a glob pattern; see {@link #scanPrefix}. */
    public void scan(byte[] pattern, NameSink sink) throws IOException {
        for (ServerConnection each : connections.values()) {
            byte[] cursor = {'0'};
            do {
                List<?> reply = list(each.call("SCAN", cursor, "COUNT", NAMES_PER_SCAN, "MATCH", pattern));
                cursor = (byte[]) Objects.requireNonNull(reply.get(0));
                inBatches(list(reply.get(1)).stream().map(byte[].class::cast).toList(), sink);
            } while (cursor.length != 1 || cursor[0] != '0');
        }
    }

    public static void inBatches(List<byte[]> names, NameSink sink) throws IOException {
        for (int at = 0; at < names.size(); at += BATCH_NAMES) {
            sink.take(names.subList(at, Math.min(names.size(), at + BATCH_NAMES)));
        }
    }

    /** Requests the description of a document; the reply is null if it does not exist. */
    public Reply<Description> requestDescription(byte[] name) {
        ServerConnection connection = connection(name);
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

    /** Receives the description of a document; returns null if it does not exist, or is not visible. */
    public static @Nullable Description visible(Reply<Description> reply) {
        try {
            return reply.receive();
        } catch (ClientException invisible) {
            invisible.ofDocument();
            return null;
        }
    }

    /** Requests and returns the description of a document, or null if it does not exist. */
    public @Nullable Description descriptionOf(byte[] name) {
        return requestDescription(name).receive();
    }

    /**
     * Returns a document's fields (text, numbers, booleans, or null) under the names that the server uses. Returns null
     * if the document does not exist.
     */
    @Nullable
    public Map<String, @Nullable Object> info(byte[] name) {
        return ServerConnection.fields(connection(name).call("CARAVAN.INFO", name));
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
        long first = number(connection(name).call("CARAVAN.APPEND", name, "IFSEQ", sequence.getAsLong(), values));
        return new Sequences(first, first + values.size());
    }

    /**
     * Appends values and returns their sequences. The reply to an append contains only the list's length. The method
     * therefore also sends a trim that removes nothing, because the reply to a trim contains the first sequence. The
     * transaction prevents other writes between the two commands.
     */
    private Sequences append(byte[] name, List<byte[]> values) {
        ServerConnection connection = connection(name);
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

    /** Trims the values before a sequence, and returns the first retained one; empty if there is no document. */
    public OptionalLong trim(byte[] name, long to) {
        Object first = connection(name).call("CARAVAN.TRIM", name, "TO", to);
        return first == null ? OptionalLong.empty() : OptionalLong.of(number(first));
    }

    /** Deletes all of these documents or none; in a cluster, all must be in one Raft group. */
    public void delete(List<byte[]> names) {
        connection(names.get(0)).call("DEL", names);
    }

    /** Returns the next values, and waits for them if there are none yet; the page is empty after a timeout. */
    public Page await(byte[] name, long from, long count, int blockMillis) {
        return page(connection(name)
                .callBlocking(blockMillis, "CARAVAN.READ", name, "FROM", from, "COUNT", count, "BLOCK", blockMillis));
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

    private Reply<Page> requestPage(byte[] name, long first, long count) {
        ServerConnection connection = connection(name);
        connection.send("CARAVAN.READ", name, "FROM", first, "COUNT", count);
        return () -> page(connection.receive());
    }

    /**
     * Requests all values of a document, which must have values, in one reply. Receiving it throws {@link
     * ClientException} if the document no longer matches its description.
     */
    public Reply<List<Value>> requestValues(byte[] name, Description document) {
        Reply<Page> reply = requestPage(name, document.first(), document.count());
        return () -> {
            Page page = Objects.requireNonNull(reply.receive());
            page.requireComplete(document.next(), document);
            return page.values();
        };
    }

    /**
     * Reads all values of a document of any length, in pages. Requests several pages ahead, so that the reader waits
     * for one round trip in total instead of one for each page. The requested pages wait in the server and in the
     * sockets; only one page is in memory.
     *
     * @throws ClientException if the document no longer matches its description; earlier values have already been
     *     passed on
     */
    public void read(byte[] name, Description document, Sink sink) throws IOException {
        int pageValues = document.pageValues();
        long requested = document.first();
        long next = document.first();
        List<Reply<Page>> pending = new ArrayList<>();
        try {
            while (next < document.next()) {
                while (requested < document.next() && pending.size() < PAGES_AHEAD) {
                    long count = Math.min(pageValues, document.next() - requested);
                    pending.add(requestPage(name, requested, count));
                    requested += count;
                }
                Page page = Objects.requireNonNull(pending.remove(0).receive());
                next = Math.min(next + pageValues, document.next());
                page.requireComplete(next, document);
                for (Value value : page.values()) {
                    sink.take(value);
                }
            }
        } catch (LostException lost) {
            pending.clear();
            throw lost;
        } finally {
            // After a failure, the other replies are received, so that the connection can still be used.
            pending.forEach(DocumentClient::discard);
        }
    }

    private static void discard(Reply<Page> reply) {
        try {
            reply.receive();
        } catch (ClientException alsoRejected) {
            // The reader reports the first failure.
        }
    }

    /** Requests the creation of a complete document in one write. Its reply arrives when the write is durable. */
    public Reply<Long> requestImport(byte[] name, Description document, List<byte[]> values, Replaced replaced) {
        return requestCreation(name, Kind.WHOLE, document, values, replaced);
    }

    /** Starts sending a document in chunks. Returns the document's id, which every chunk contains. */
    public long begin(byte[] name, Description document, Replaced replaced) {
        return Objects.requireNonNull(
                requestCreation(name, Kind.BEGIN, document, List.of(), replaced).receive());
    }

    private Reply<Long> requestCreation(
            byte[] name, Kind kind, Description document, List<byte[]> values, Replaced replaced) {
        List<Object> words = new ArrayList<>();
        words.add(document.first());
        if (replaced != Replaced.NOTHING) {
            words.add(replaced == Replaced.ANYTHING ? "REPLACE" : "REDIRECT");
        }
        words.add(attributes(document));
        if (kind.takesValues()) {
            words.add("VALUES");
        }
        return requestStep(name, kind, words, values);
    }

    /** Returns the words with the attributes of a copy of a document, whose origin is this document. */
    private static List<Object> attributes(Description document) {
        List<Object> words = new ArrayList<>();
        document.attributes().forEach((key, value) -> words.addAll(List.of("ATTRIBUTE", key, value)));
        if (document.identity() != null) {
            words.addAll(List.of("ATTRIBUTE", "origin", document.identity()));
        }
        return words;
    }

    private Reply<Long> requestStep(byte[] name, Kind kind, List<?> words, List<byte[]> values) {
        ServerConnection connection = connection(name);
        connection.send("CARAVAN.IMPORT", name, kind, words, values);
        return () -> connection.receive() instanceof Long id ? id : null;
    }

    /**
     * Appends values to a copy that was made earlier, and updates its first sequence and attributes.
     *
     * @param document the copy's id at this server, and its new first sequence and attributes
     * @param sequence the sequence of the first value to append
     */
    public void continueImport(byte[] name, Description document, long sequence, List<byte[]> values) {
        List<Object> words = List.of(document.id(), sequence, document.first(), attributes(document), "VALUES");
        requestStep(name, Kind.CONTINUE, words, values).receive();
    }

    /** Performs a step without attributes, and returns once it is durable. */
    public void step(byte[] name, Kind kind, List<Long> numbers, List<byte[]> values) {
        requestStep(name, kind, numbers, values).receive();
    }

    /**
     * Performs a step of a move. It is durable on return. Returns whether a fence or a redirect was removed.
     *
     * @throws ClientException if the document does not exist or cannot be moved, another run of the move command has
     *     fenced it since, or the move was abandoned
     */
    public boolean move(byte[] name, MoveStep step) {
        List<Object> words = new ArrayList<>();
        step.holder().ifPresent(words::add);
        RedirectTarget to = step.to();
        if (to != null) {
            words.add(to.text());
        }
        return Long.valueOf(1).equals(connection(name).call("CARAVAN.MOVE", name, step.kind(), words));
    }

    private static List<?> list(@Nullable Object reply) {
        return (List<?>) Objects.requireNonNull(reply);
    }

    private static long number(@Nullable Object reply) {
        return (Long) Objects.requireNonNull(reply);
    }

    /** Disconnects; callable from any thread. A thread that is waiting for a reply gets an exception. */
    public void cut() {
        connections.values().forEach(ServerConnection::cut);
    }

    @Override
    public void close() {
        connections.values().forEach(ServerConnection::close);
    }
}
