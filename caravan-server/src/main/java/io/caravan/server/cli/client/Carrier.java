package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.client.Documents.Page;
import io.caravan.server.cli.client.Documents.Value;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.util.KeyValue;

/**
 * Documents with their sequences and attributes, over one connection. What begins with {@code ask} sends a request, and
 * may be called many times before the answers are received, in the same order; an answer that is an exception is that of
 * its request alone, and the next one can be received. For one thread.
 */
public final class Carrier implements AutoCloseable {
    private final ServerConnection connection;

    public Carrier(ServerConnection connection) {
        this.connection = connection;
    }

    /**
     * What a document is beside its values.
     *
     * @param id unique within its server
     * @param first sequence of the first value
     * @param next sequence after that of the last one
     * @param bytes total length of the values; -1 when it is not known
     * @param attributes by name, each a {@link Long} or an array of bytes
     */
    public record Description(long id, long first, long next, long bytes, Map<String, Object> attributes) {
        public long count() {
            return next - first;
        }

        /** An attribute as servers take it: a number in decimal digits, bytes as they are. */
        public static byte[] encoded(Object attribute) {
            return attribute instanceof byte[] bytes
                    ? bytes
                    : attribute.toString().getBytes(US_ASCII);
        }
    }

    /** Asks for {@link #description}. */
    public void askDescription(byte[] name) {
        connection.send(Documents.caravan("EXPORT", name));
    }

    /** What the document is; null when there is none. */
    public @Nullable Description description() {
        Object answer = connection.receive();
        if (answer == null) {
            return null;
        }
        Map<String, @Nullable Object> fields = fields(answer);
        Object bytes = fields.get("bytes");
        Map<String, Object> attributes = new LinkedHashMap<>();
        fields(Objects.requireNonNull(fields.get("attributes")))
                .forEach((name, value) -> attributes.put(name, Objects.requireNonNull(value)));
        return new Description(
                Documents.number(fields.get("id")),
                Documents.number(fields.get("first")),
                Documents.number(fields.get("next")),
                bytes == null ? -1 : Documents.number(bytes),
                attributes);
    }

    private static Map<String, @Nullable Object> fields(Object answer) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        for (Object field : (List<?>) answer) {
            KeyValue<?, ?> pair = (KeyValue<?, ?>) field;
            fields.put(new String((byte[]) pair.getKey(), UTF_8), pair.getValue());
        }
        return fields;
    }

    /** Asks for {@link #values}: all of a document, which must have some, in one answer. */
    public void askValues(byte[] name, Description document) {
        connection.send(Documents.read(name, document.first(), document.count()));
    }

    /**
     * All values of a document.
     *
     * @throws ClientException when it is not what was described any more
     */
    public List<Value> values(Description document) {
        Page page = Documents.page(connection.receive());
        if (page.next() != document.next() || page.id().orElse(-1) != document.id()) {
            throw ClientException.otherState("the document was trimmed or deleted while it was being read");
        }
        return page.values();
    }

    /** Asks for a document to be created, all of it in one change; {@link #taken} receives the answer. */
    public void askToTake(byte[] name, Description document, List<byte[]> values, boolean replace) {
        CommandArguments whole = creation(name, "WHOLE", document, replace).add("VALUES");
        values.forEach(whole::add);
        connection.send(whole);
    }

    /**
     * Waits until a document that {@link #askToTake} has sent is durable.
     *
     * @throws ClientException when the server refuses it
     */
    public void taken() {
        connection.receive();
    }

    /** Begins a document that is sent in parts; returns its id, which the parts name. */
    public long begin(byte[] name, Description document, boolean replace) {
        return Documents.number(connection.call(creation(name, "BEGIN", document, replace)));
    }

    private static CommandArguments creation(byte[] name, String verb, Description document, boolean replace) {
        CommandArguments creation = part(name, verb, document.first());
        if (replace) {
            creation.add("REPLACE");
        }
        document.attributes()
                .forEach((key, value) -> creation.add("ATTRIBUTE").add(key).add(Description.encoded(value)));
        return creation;
    }

    /** Sends a part of a document. */
    public void add(byte[] name, long id, long sequence, List<byte[]> values) {
        CommandArguments add = part(name, "ADD", id).add(sequence);
        values.forEach(add::add);
        connection.call(add);
    }

    /** Makes a document visible that was sent in parts, and is whole. */
    public void end(byte[] name, long id, long next) {
        connection.call(part(name, "END", id).add(next));
    }

    /** Takes back a document of which parts were sent. */
    public void abort(byte[] name, long id) {
        connection.call(part(name, "ABORT", id));
    }

    private static CommandArguments part(byte[] name, String verb, long subject) {
        return Documents.caravan("IMPORT", name).add(verb).add(subject);
    }

    @Override
    public void close() {
        connection.close();
    }
}
