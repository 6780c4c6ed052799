package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.caravan.server.document.ImportStep.Kind;
import io.caravan.server.document.ImportStep.Replaced;
import io.caravan.server.document.MoveStep;
import io.caravan.server.document.Origin;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes documents on one server, with their sequences and attributes. Methods whose names start with {@code
 * request} send a request without waiting for its {@link Reply}. These methods may be called many times before the
 * replies are received. Not thread-safe.
 */
public interface DocumentClient extends AutoCloseable {
    int BATCH_NAMES = 250;

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
    record Description(
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

        /** Returns the attributes for a copy of this document, including this document's identity as the origin. */
        Map<String, Object> given() {
            Map<String, Object> given = new LinkedHashMap<>(attributes);
            if (identity != null) {
                given.put("origin", identity.getBytes(US_ASCII));
            }
            return given;
        }

        public long count() {
            return next - first;
        }

        /** Returns a description that excludes the values before a sequence. The remaining length is estimated. */
        public Description from(long sequence) {
            long there =
                    bytes <= 0 || sequence == first ? bytes : (long) ((double) bytes * (next - sequence) / count());
            return new Description(id, sequence, next, there, attributes, moving, identity, origin);
        }

        /** Returns a description that excludes the value at this sequence and those after it. */
        public Description until(long sequence) {
            return new Description(id, first, sequence, bytes, attributes, moving, identity, origin);
        }

        /** Encodes an attribute for servers: numbers as decimal digits, and bytes unchanged. */
        public static byte[] encoded(Object attribute) {
            return attribute instanceof byte[] bytes
                    ? bytes
                    : attribute.toString().getBytes(US_ASCII);
        }
    }

    /**
     * A page of document names.
     *
     * @param cursor the position to continue from; 0 if these are the last names
     */
    record Names(byte[] cursor, List<byte[]> names) {
        private static final byte[] START = {'0'};

        public static Names before() {
            return new Names(START, List.of());
        }

        public boolean last() {
            return cursor.length == 1 && cursor[0] == START[0];
        }
    }

    record Value(long sequence, byte[] bytes) {}

    /**
     * A step of an import.
     *
     * @param numbers the arguments of the step, in the order of {@link Kind#numbers}
     * @param replaced the kind of existing document that the new one may replace
     */
    record Step(Kind kind, List<Long> numbers, Replaced replaced, Map<String, Object> attributes, List<byte[]> values) {
        /** Creates the step with which a document begins; it is complete if these are all of its values. */
        static Step creation(Kind kind, Description document, List<byte[]> values, Replaced replaced) {
            return new Step(kind, List.of(document.first()), replaced, document.given(), values);
        }
    }

    /** The reply to a request. The replies must be received once each, in the order of the requests. */
    interface Reply<T> {
        /**
         * Waits for the reply.
         *
         * @throws ClientException if the server rejects the request; the next reply can still be received
         */
        @Nullable
        T receive();
    }

    /** Receives the values that a client reads from a document. */
    interface Sink {
        void take(Value value) throws IOException;
    }

    /**
     * The state of a server.
     *
     * @param run identifies this run of the server; empty if it is unknown
     * @param incomplete whether the server lists only some of its documents, because others are still only in its
     *     archive
     */
    record About(String run, boolean incomplete) {}

    /** Returns the server's state. Must not be called while a reply is pending. */
    About about();

    /**
     * Returns the next names with this prefix. Must not be called while a reply is pending. A document that exists
     * during the entire scan is returned exactly once.
     */
    Names scan(Names before, byte[] prefix);

    /** Receives names of documents, few enough that a request for each of them may be pending. */
    interface NameSink {
        void take(List<byte[]> names) throws IOException;
    }

    /** Passes on all names with this prefix, see {@link #scan}. */
    default void scanAll(byte[] prefix, NameSink sink) throws IOException {
        Names names = Names.before();
        do {
            names = scan(names, prefix);
            inBatches(names.names(), sink);
        } while (!names.last());
    }

    static void inBatches(List<byte[]> names, NameSink sink) throws IOException {
        for (int at = 0; at < names.size(); at += BATCH_NAMES) {
            sink.take(names.subList(at, Math.min(names.size(), at + BATCH_NAMES)));
        }
    }

    /** Requests the description of a document; the reply is null if it does not exist. */
    Reply<Description> requestDescription(byte[] name);

    /** Receives the description of a document; returns null if it does not exist, or is not visible. */
    static @Nullable Description visible(Reply<Description> reply) {
        try {
            return reply.receive();
        } catch (ClientException invisible) {
            invisible.ofDocument();
            return null;
        }
    }

    /** Requests and returns the description of a document, or null if it does not exist. */
    default @Nullable Description descriptionOf(byte[] name) {
        return requestDescription(name).receive();
    }

    /**
     * Requests all values of a document, which must have values, in one reply. Receiving it throws {@link
     * ClientException} if the document no longer matches its description.
     */
    Reply<List<Value>> requestValues(byte[] name, Description document);

    /**
     * Requests a step of an import. Its reply arrives when the step is durable; for {@link Kind#BEGIN}, it is the id of
     * the document.
     */
    Reply<Long> requestStep(byte[] name, Step step);

    /** Requests the creation of a complete document in one write. */
    default Reply<Long> requestImport(byte[] name, Description document, List<byte[]> values, Replaced replaced) {
        return requestStep(name, Step.creation(Kind.WHOLE, document, values, replaced));
    }

    /** Starts sending a document in chunks. Returns the document's id, which every chunk contains. */
    default long begin(byte[] name, Description document, Replaced replaced) {
        Step step = Step.creation(Kind.BEGIN, document, List.of(), replaced);
        return Objects.requireNonNull(requestStep(name, step).receive());
    }

    /**
     * Appends values to a copy that was made earlier, and updates its first sequence and attributes.
     *
     * @param document the copy's id at this server, and its new first sequence and attributes
     * @param sequence the sequence of the first value to append
     */
    default void continueImport(byte[] name, Description document, long sequence, List<byte[]> values) {
        List<Long> numbers = List.of(document.id(), sequence, document.first());
        step(name, Kind.CONTINUE, numbers, document.given(), values);
    }

    /** Performs a step without attributes, and returns once it is durable. */
    default void step(byte[] name, Kind kind, List<Long> numbers, List<byte[]> values) {
        step(name, kind, numbers, Map.of(), values);
    }

    private void step(byte[] name, Kind kind, List<Long> numbers, Map<String, Object> attributes, List<byte[]> values) {
        requestStep(name, new Step(kind, numbers, Replaced.NOTHING, attributes, values))
                .receive();
    }

    /**
     * Reads all values of a document of any length, one page at a time.
     *
     * @throws ClientException if the document no longer matches its description; earlier values have already been
     *     passed on
     */
    void read(byte[] name, Description document, Sink sink) throws IOException;

    /**
     * Performs a step of a move. It is durable on return. Returns whether a fence or a redirect was removed.
     *
     * @throws ClientException if the document does not exist or cannot be moved, another run of the move command has
     *     fenced it since, or the move was abandoned
     */
    boolean move(byte[] name, MoveStep step);

    /** Disconnects; callable from any thread. A thread that is waiting for a reply gets an exception. */
    void cut();

    @Override
    void close();
}
