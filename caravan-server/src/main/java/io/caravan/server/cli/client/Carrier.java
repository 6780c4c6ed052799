package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.caravan.server.cli.client.Documents.Names;
import io.caravan.server.cli.client.Documents.Value;
import io.caravan.server.document.DocumentImport.Replaced;
import io.caravan.server.document.Origin;
import io.caravan.server.document.Whereabouts;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes documents with their sequences and attributes at one server. Methods that start with {@code ask}
 * send a request. They may be called many times before the replies are received, in the same order. An exception in
 * place of a reply concerns only its request; the next reply can be received. For one thread.
 */
public interface Carrier extends AutoCloseable {
    /**
     * A document without its values.
     *
     * @param id unique within its server
     * @param first sequence of the first value
     * @param next sequence after that of the last one
     * @param bytes total length of the values; -1 if unknown
     * @param attributes by name, each a {@link Long} or a byte array
     * @param moving whether it is fenced, because it is being moved to another server
     * @param identity unique among the documents of all servers; null if the server does not report it
     * @param origin the document of which it is a copy, if known
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
        /** Describes a document whose identity is unknown. */
        public Description(long id, long first, long next, long bytes, Map<String, Object> attributes) {
            this(id, first, next, bytes, attributes, false, null, null);
        }

        /** Whether this document is a copy of another one with all of the other's values before this sequence. */
        public boolean hasBrought(Description from, long sequence) {
            return origin != null && origin.identity().equals(from.identity()) && origin.brought() >= sequence;
        }

        /**
         * Returns the attributes to send with the document, including the identity of the document of which it is a
         * copy.
         */
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

        /** Returns the same document without the values before a sequence; estimates its bytes. */
        public Description from(long sequence) {
            long there =
                    bytes <= 0 || sequence == first ? bytes : (long) ((double) bytes * (next - sequence) / count());
            return new Description(id, sequence, next, there, attributes, moving, identity, origin);
        }

        /** Returns the same document without the values starting at a sequence. */
        public Description until(long sequence) {
            return new Description(id, first, sequence, bytes, attributes, moving, identity, origin);
        }

        /** Encodes an attribute for servers: a number in decimal digits, bytes unchanged. */
        public static byte[] encoded(Object attribute) {
            return attribute instanceof byte[] bytes
                    ? bytes
                    : attribute.toString().getBytes(US_ASCII);
        }
    }

    /**
     * The state of the server at the other end.
     *
     * @param run identifies this run of the server; empty if it is unknown
     * @param incomplete whether it lists only some of its documents, because others are still only in its archive
     */
    record About(String run, boolean incomplete) {}

    /** Returns the server's state; no reply may be pending. */
    About about();

    /**
     * Returns the next names with this prefix; no reply may be pending. A document that exists during the entire scan
     * is returned once.
     */
    Names scan(Names before, byte[] prefix);

    /** Requests the {@link #description}. */
    void askDescription(byte[] name);

    /** Returns the document's description, or null if it does not exist. */
    @Nullable
    Description description();

    /** Requests all {@link #values} of a document, which must have some, in one reply. */
    void askValues(byte[] name, Description document);

    /**
     * Returns all values of a document.
     *
     * @throws ClientException if the document no longer matches its description
     */
    List<Value> values(Description document);

    /**
     * Requests the creation of a complete document in one write; {@link #taken} receives the reply.
     *
     * @param replaced the existing document that it may replace
     */
    void askToTake(byte[] name, Description document, List<byte[]> values, Replaced replaced);

    /**
     * Waits until a document that {@link #askToTake} has sent is durable.
     *
     * @throws ClientException if the server rejects it
     */
    void taken();

    /** Begins a document that is sent in chunks, and returns its id, which every chunk contains. */
    long begin(byte[] name, Description document, Replaced replaced);

    /** Sends a chunk of a document. */
    void add(byte[] name, long id, long sequence, List<byte[]> values);

    /** Makes a document visible after all of its chunks have been sent. */
    void end(byte[] name, long id, long next);

    /**
     * Updates a previously copied document.
     *
     * @param document its id at this server, and its new first sequence and attributes
     * @param sequence of the first of the values, which are appended to the document
     */
    void goOn(byte[] name, Description document, long sequence, List<byte[]> values);

    /** Deletes a copied document, if it still has this id. */
    void delete(byte[] name, long id);

    /** Discards a document of which only some chunks were sent. */
    void abort(byte[] name, long id);

    /**
     * Reads all values of a document of any length, one page at a time.
     *
     * @throws ClientException if the document no longer matches its description; the values before that were passed on
     */
    void read(byte[] name, Description document, Documents.Sink sink) throws IOException;

    /**
     * Fences a document, so that the server rejects all other writes to it. Like the other steps of a move, this is
     * durable on return.
     *
     * @param holder identifies this run of the move
     * @throws ClientException if the document does not exist or cannot be moved
     */
    void fence(byte[] name, long holder, Whereabouts to);

    /**
     * Deletes a document that this run has fenced, and leaves a redirect.
     *
     * @throws ClientException if another run has fenced it since, or its move was abandoned
     */
    void redirect(byte[] name, long holder);

    /** Removes the fence of one run, or of any run; returns whether such a fence existed. */
    boolean abandon(byte[] name, OptionalLong holder);

    /** Removes a redirect; returns whether it existed. */
    boolean forget(byte[] name);

    /** Disconnects; callable from any thread. A thread that waits for a reply gets an exception. */
    void cut();

    @Override
    void close();
}
