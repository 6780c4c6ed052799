package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.client.Documents.Document;
import io.caravan.server.cli.client.Documents.Names;
import io.caravan.server.cli.client.Documents.Page;
import io.caravan.server.cli.client.Documents.Value;
import io.caravan.server.document.DocumentImport.Replaced;
import io.caravan.server.document.Origin;
import io.caravan.server.document.RedirectTarget;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.util.KeyValue;

/** Accesses documents of a server over RESP. Uses a second connection for {@link #read}. */
public final class RespDocumentClient implements DocumentClient {
    private final ServerConnection.Connector server;
    private final ServerConnection connection;
    /** The connection for reads; null before the first read, and after a read that failed. */
    private volatile @Nullable ServerConnection reading;

    private volatile boolean cut;

    public RespDocumentClient(ServerConnection.Connector server) throws IOException {
        this.server = server;
        this.connection = server.connect();
    }

    @Override
    public About about() {
        ServerInfo info = connection.info();
        return new About(info.text("run_id"), info.numberOrZero("store_incomplete") != 0);
    }

    @Override
    public Names scan(Names before, byte[] prefix) {
        return new Documents(connection).scan(before, pattern(prefix));
    }

    /** Returns a glob pattern that matches all names with this prefix. */
    private static byte[] pattern(byte[] prefix) {
        String quoted = new String(prefix, ISO_8859_1).replaceAll("[\\\\*?\\[\\]]", "\\\\$0");
        return (quoted + "*").getBytes(ISO_8859_1);
    }

    @Override
    public void askDescription(byte[] name) {
        connection.send(Documents.caravan("EXPORT", name));
    }

    @Override
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
                attributes,
                Boolean.TRUE.equals(fields.get("moving")),
                text(fields.get("identity")),
                origin(fields));
    }

    private static @Nullable String text(@Nullable Object answer) {
        return answer == null ? null : new String((byte[]) answer, UTF_8);
    }

    private static @Nullable Origin origin(Map<String, @Nullable Object> fields) {
        String identity = text(fields.get("origin"));
        return identity == null ? null : new Origin(identity, Documents.number(fields.get("copied-to")));
    }

    private static Map<String, @Nullable Object> fields(Object answer) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        for (Object field : (List<?>) answer) {
            KeyValue<?, ?> pair = (KeyValue<?, ?>) field;
            fields.put(new String((byte[]) pair.getKey(), UTF_8), pair.getValue());
        }
        return fields;
    }

    @Override
    public void askValues(byte[] name, Description document) {
        connection.send(Documents.read(name, document.first(), document.count()));
    }

    @Override
    public List<Value> values(Description document) {
        Page page = Documents.page(connection.receive());
        if (page.next() != document.next() || page.id().orElse(-1) != document.id()) {
            throw ClientException.otherState("the document was trimmed or deleted while it was being read");
        }
        return page.values();
    }

    @Override
    public void askToTake(byte[] name, Description document, List<byte[]> values, Replaced replaced) {
        CommandArguments whole = creation(name, "WHOLE", document, replaced).add("VALUES");
        values.forEach(whole::add);
        connection.send(whole);
    }

    @Override
    public void taken() {
        connection.receive();
    }

    @Override
    public long begin(byte[] name, Description document, Replaced replaced) {
        return Documents.number(connection.call(creation(name, "BEGIN", document, replaced)));
    }

    private static CommandArguments creation(byte[] name, String verb, Description document, Replaced replaced) {
        CommandArguments creation = part(name, verb, document.first());
        if (replaced != Replaced.NOTHING) {
            creation.add(replaced == Replaced.ANYTHING ? "REPLACE" : "REDIRECT");
        }
        return withAttributes(creation, document);
    }

    private static CommandArguments withAttributes(CommandArguments request, Description document) {
        document.given()
                .forEach((key, value) -> request.add("ATTRIBUTE").add(key).add(Description.encoded(value)));
        return request;
    }

    @Override
    public void goOn(byte[] name, Description document, long sequence, List<byte[]> values) {
        CommandArguments more = withAttributes(
                        part(name, "CONTINUE", document.id()).add(sequence).add(document.first()), document)
                .add("VALUES");
        values.forEach(more::add);
        connection.call(more);
    }

    @Override
    public void add(byte[] name, long id, long sequence, List<byte[]> values) {
        CommandArguments add = part(name, "ADD", id).add(sequence);
        values.forEach(add::add);
        connection.call(add);
    }

    @Override
    public void end(byte[] name, long id, long next) {
        connection.call(part(name, "END", id).add(next));
    }

    @Override
    public void delete(byte[] name, long id) {
        connection.call(part(name, "DELETE", id));
    }

    @Override
    public void abort(byte[] name, long id) {
        connection.call(part(name, "ABORT", id));
    }

    @Override
    public void fence(byte[] name, long holder, RedirectTarget to) {
        connection.call(move(name, "FENCE").add(holder).add(to.text()));
    }

    @Override
    public void redirect(byte[] name, long holder) {
        connection.call(move(name, "REDIRECT").add(holder));
    }

    @Override
    public boolean abandon(byte[] name, OptionalLong holder) {
        CommandArguments abandon = move(name, "ABANDON");
        holder.ifPresent(abandon::add);
        return Documents.number(connection.call(abandon)) == 1;
    }

    @Override
    public boolean forget(byte[] name) {
        return Documents.number(connection.call(move(name, "FORGET"))) == 1;
    }

    private static CommandArguments move(byte[] name, String step) {
        return Documents.caravan("MOVE", name).add(step);
    }

    private static CommandArguments part(byte[] name, String verb, long subject) {
        return Documents.caravan("IMPORT", name).add(verb).add(subject);
    }

    @Override
    public void read(byte[] name, Description document, Documents.Sink sink) throws IOException {
        ServerConnection from = reading;
        if (from == null) {
            from = server.connect();
            reading = from;
            if (cut) {
                from.cut();
            }
        }
        Document whole = new Document(document.id(), document.first(), document.next(), Math.max(0, document.bytes()));
        boolean done = false;
        try {
            new Documents(from).read(name, whole, document.first(), document.next(), sink);
            done = true;
        } finally {
            if (!done) {
                closeReading();
            }
        }
    }

    private void closeReading() {
        ServerConnection current = reading;
        if (current != null) {
            current.close();
            reading = null;
        }
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
