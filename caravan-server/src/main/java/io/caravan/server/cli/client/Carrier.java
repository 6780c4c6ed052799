package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.caravan.server.cli.client.Documents.Names;
import io.caravan.server.cli.client.Documents.Value;
import io.caravan.server.document.DocumentImport.Replaced;
import io.caravan.server.document.Origin;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Documents with their sequences and attributes, at one server. What begins with {@code ask} sends a request, and may be
 * called many times before the answers are received, in the same order; an answer that is an exception is that of its
 * request alone, and the next one can be received. For one thread.
 */
public interface Carrier extends MoveSteps, AutoCloseable {
    /**
     * What a document is beside its values.
     *
     * @param id unique within its server
     * @param first sequence of the first value
     * @param next sequence after that of the last one
     * @param bytes total length of the values; -1 when it is not known
     * @param attributes by name, each a {@link Long} or an array of bytes
     * @param moving whether it is fenced, because it is being moved to another server
     * @param identity what no other document of any server has; null when the server does not tell it
     * @param origin the document that it is a copy of, as far as that is known
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
        /** A document of which nobody says which one it is. */
        public Description(long id, long first, long next, long bytes, Map<String, Object> attributes) {
            this(id, first, next, bytes, attributes, false, null, null);
        }

        /** Whether it was brought from another document, with all of its values before this sequence. */
        public boolean hasBrought(Description from, long sequence) {
            return origin != null && origin.identity().equals(from.identity()) && origin.brought() >= sequence;
        }

        /** What a server is given with the document: its attributes, and which document it is a copy of. */
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

        /** The same without the values before a sequence. */
        public Description from(long sequence) {
            long there =
                    bytes <= 0 || sequence == first ? bytes : (long) ((double) bytes * (next - sequence) / count());
            return new Description(id, sequence, next, there, attributes, moving, identity, origin);
        }

        /** The same without the values from a sequence on. */
        public Description until(long sequence) {
            return new Description(id, first, sequence, bytes, attributes, moving, identity, origin);
        }

        /** An attribute as servers take it: a number in decimal digits, bytes as they are. */
        public static byte[] encoded(Object attribute) {
            return attribute instanceof byte[] bytes
                    ? bytes
                    : attribute.toString().getBytes(US_ASCII);
        }
    }

    /**
     * The server that answers.
     *
     * @param run distinguishes this run of it from others; empty when it does not tell
     * @param incomplete whether it lists only some of its documents, because others are still only in its archive
     */
    record About(String run, boolean incomplete) {}

    /** What the server is; nothing else must have been asked for. */
    About about();

    /**
     * The names that come after others, of those that begin so; nothing else must have been asked for. A document that is
     * there all the while is named once.
     */
    Names scan(Names before, byte[] prefix);

    /** Asks for {@link #description}. */
    void askDescription(byte[] name);

    /** What the document is; null when there is none. */
    @Nullable
    Description description();

    /** Asks for {@link #values}: all of a document, which must have some, in one answer. */
    void askValues(byte[] name, Description document);

    /**
     * All values of a document.
     *
     * @throws ClientException when it is not what was described any more
     */
    List<Value> values(Description document);

    /**
     * Asks for a document to be created, all of it in one change; {@link #taken} receives the answer.
     *
     * @param replaced of what it may take the place
     */
    void askToTake(byte[] name, Description document, List<byte[]> values, Replaced replaced);

    /**
     * Waits until a document that {@link #askToTake} has sent is durable.
     *
     * @throws ClientException when the server refuses it
     */
    void taken();

    /** Begins a document that is sent in parts; returns its id, which the parts name. */
    long begin(byte[] name, Description document, Replaced replaced);

    /** Sends a part of a document. */
    void add(byte[] name, long id, long sequence, List<byte[]> values);

    /** Makes a document visible that was sent in parts, and is whole. */
    void end(byte[] name, long id, long next);

    /**
     * Brings a document up to date that was brought before.
     *
     * @param document its id there; the sequence of its first value, and its attributes, as they are to be
     * @param sequence of the first of the values, which are the document's next ones
     */
    void goOn(byte[] name, Description document, long sequence, List<byte[]> values);

    /** Deletes a document that was brought, if it is still the one of this id. */
    void delete(byte[] name, long id);

    /** Takes back a document of which parts were sent. */
    void abort(byte[] name, long id);

    /**
     * Reads all values of a document, whatever its length, a few of them at a time.
     *
     * @throws ClientException when it is not what was described any more; the values before that were passed on
     */
    void read(byte[] name, Description document, Documents.Sink sink) throws IOException;

    /** Disconnects, from any thread; whoever waits for an answer gets an exception. */
    void cut();

    @Override
    void close();
}
