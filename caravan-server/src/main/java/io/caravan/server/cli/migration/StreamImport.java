package io.caravan.server.cli.migration;

import com.fasterxml.jackson.core.JsonGenerator;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.HttpLink;
import io.caravan.server.cli.client.RespDocumentClient;
import io.caravan.server.cli.client.Retries;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.migration.Importer.Existing;
import io.caravan.server.cli.migration.StreamSource.Head;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.JsonMessages;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Imports streams of another server one after the other, with sequences from 0, and verifies them by reading them back.
 * If the document of a stream already exists, the two are compared instead. Memory holds a few MiB of values. Not
 * thread-safe, except {@link #progress}.
 */
final class StreamImport implements AutoCloseable {
    /** The maximum number of attempts to read a stream that is closed during the read. */
    private static final int TRIES = 3;

    private static final double MEBIBYTE = 1024 * 1024;

    private final StreamSource source;
    private final DocumentClient carrier;
    private final Existing existing;
    private final Consumer<String> tell;
    private final RateLimitRetries patience;
    private volatile long readBytes;
    private volatile long documents;
    private volatile long already;
    private long values;
    private long bytes;
    private long skipped;
    private long expired;
    private long refused;

    /** Thrown if the stream was closed while it was read, so that the attributes already sent are wrong. */
    private static final class ClosedMeanwhileException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /**
     * Creates an import into a server.
     *
     * @param existing the handling of a stream whose name belongs to another document
     * @param tell receives messages about streams that were not imported
     */
    StreamImport(
            HttpLink streams,
            ServerConnection.Connector server,
            Existing existing,
            Consumer<String> tell,
            Retries.Pause pause)
            throws IOException {
        this.source = new StreamSource(streams, RedisImport.maxValueBytes(server), pause);
        this.carrier = new RespDocumentClient(server);
        this.existing = existing;
        this.tell = tell;
        this.patience = new RateLimitRetries(pause, tell);
    }

    /** Imports one stream. Problems with it are reported, not thrown, so that other streams can still be imported. */
    void bring(byte[] name) throws IOException {
        if (name.length == 0 || name.length > DocumentName.MAX_BYTES) {
            refused++;
            tell.accept("a stream was not imported: a document's name has 1 to " + DocumentName.MAX_BYTES
                    + " bytes, and this one " + name.length);
            return;
        }
        try {
            for (int i = 0; i < TRIES; i++) {
                try {
                    bringOrCompare(name);
                    return;
                } catch (ClosedMeanwhileException again) {
                    // A stream can be closed only once, unless it is deleted and created again.
                }
            }
            throw ClientException.otherState("changes too fast to be read; run the command again");
        } catch (ClientException problem) {
            if (!problem.isOtherState()) {
                throw problem;
            }
            refused++;
            tell.accept("the stream '" + DocumentName.of(name) + "' " + problem.getMessage());
        }
    }

    private void bringOrCompare(byte[] name) throws IOException {
        Head head = source.describe(name);
        Map<String, Object> attributes = new HashMap<>(head.attributes());
        if (head.closed()) {
            attributes.put("closed", new byte[0]);
        }
        Description stream = new Description(-1, 0, 0, -1, attributes);
        Description there = description(name);
        if (PendingImport.expiresSoon(stream)) {
            expired++;
        } else if (there != null && isSame(name, head, stream, there)) {
            already++;
        } else if (there != null && existing == Existing.SKIP) {
            skipped++;
        } else if (there != null && existing == Existing.REJECT) {
            throw ClientException.otherState(
                    "was not imported: there is another document of this name, which" + " --existing replace replaces");
        } else {
            send(name, head, stream);
        }
    }

    /** Returns the server's document of this name; null if it does not exist, or is not visible yet. */
    private @Nullable Description description(byte[] name) {
        carrier.askDescription(name);
        try {
            return carrier.description();
        } catch (ClientException invisible) {
            if (!invisible.isOtherState()) {
                throw invisible;
            }
            return null;
        }
    }

    private boolean isSame(byte[] name, Head head, Description stream, Description there) throws IOException {
        if (!PendingImport.isAlike(stream, there) || there.first() != stream.first()) {
            return false;
        }
        StreamChecksum wanted = new StreamChecksum(head.isJson());
        read(name, head, wanted::add);
        return wanted.isSame(sum(name, head, there));
    }

    private StreamChecksum sum(byte[] name, Head head, Description there) throws IOException {
        StreamChecksum sum = new StreamChecksum(head.isJson());
        carrier.read(name, there, value -> sum.add(value.bytes()));
        return sum;
    }

    private void read(byte[] name, Head head, StreamSource.Sink sink) throws IOException {
        boolean closed = source.read(name, head, value -> {
            readBytes += value.length;
            sink.take(value);
        });
        if (closed != head.closed()) {
            throw new ClosedMeanwhileException();
        }
    }

    private void send(byte[] name, Head head, Description stream) throws IOException {
        Parts parts = new Parts(carrier, name, stream, existing.replaced(), patience);
        StreamChecksum sent = new StreamChecksum(head.isJson());
        try {
            read(name, head, value -> {
                if (head.isJson()) {
                    checkJson(name, value);
                }
                sent.add(value);
                parts.add(value);
            });
            parts.end();
        } catch (IOException | ClientException | ClosedMeanwhileException refused) {
            parts.abandon();
            throw refused;
        }
        compare(name, head, stream, sent);
    }

    private static void checkJson(byte[] name, byte[] message) {
        try {
            JsonMessages.validate(DocumentName.of(name), List.of(message));
        } catch (DocumentException notJson) {
            throw ClientException.otherState("has a message that is not JSON: " + notJson.getMessage());
        }
    }

    /** Compares the server's document with the values sent; other clients may have appended since. */
    private void compare(byte[] name, Head head, Description stream, StreamChecksum sent) throws IOException {
        Description there = description(name);
        if (PendingImport.expiresSoon(stream)) {
            expired++;
            return;
        }
        if (there == null
                || !PendingImport.isAlike(stream, there)
                || there.first() != stream.first()
                || there.next() < sent.values()
                || !sent.isSame(sum(name, head, there.until(sent.values())))) {
            throw ClientException.otherState("is not what was sent: it was changed since, or is damaged");
        }
        documents++;
        values += sent.values();
        bytes += sent.bytes();
    }

    /** Returns the number of streams that were not imported. */
    long refused() {
        return refused;
    }

    /** Formats the progress; callable from any thread. */
    String progress() {
        return String.format(
                Locale.ROOT,
                "%,d streams brought, %,d found to be the same, %,.1f MiB read",
                documents,
                already,
                readBytes / MEBIBYTE);
    }

    String line() {
        return "imported " + Figures.count(documents, "stream") + ", " + Figures.count(values, "value") + ", "
                + Figures.size(bytes) + Importer.some(already, "were there already")
                + Importer.some(skipped, "skipped") + Importer.some(expired, "had expired")
                + Importer.some(refused, "rejected");
    }

    void write(JsonGenerator json) throws IOException {
        json.writeNumberField("documents", documents);
        json.writeNumberField("values", values);
        json.writeNumberField("bytes", bytes);
        json.writeNumberField("already", already);
        json.writeNumberField("skipped", skipped);
        json.writeNumberField("expired", expired);
        json.writeNumberField("rejected", refused);
    }

    @Override
    public void close() {
        carrier.close();
    }
}
