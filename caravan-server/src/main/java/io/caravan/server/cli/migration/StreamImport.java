package io.caravan.server.cli.migration;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.Endpoint;
import io.caravan.server.cli.client.HttpLink;
import io.caravan.server.cli.client.Retries;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.migration.Importer.Existing;
import io.caravan.server.cli.migration.Importer.Outcome;
import io.caravan.server.cli.migration.Importer.Upload;
import io.caravan.server.document.ContentTypes;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.ImportStep.Replaced;
import io.caravan.server.document.JsonMessages;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * Imports streams from another server one after another; the sequences of each stream start at 0. A stream whose
 * document already exists is only compared with that document, unless the two differ and the document is to be
 * replaced. Holds a few MiB of values in memory. Not thread-safe, except {@link #progress}.
 */
final class StreamImport implements AutoCloseable {
    /** The maximum number of attempts to read a stream that is closed during the read. */
    private static final int TRIES = 3;

    private static final double MEBIBYTE = 1024 * 1024;

    private final StreamSource source;
    private final DocumentClient target;
    private final Existing existing;
    private final TransferTotals totals;
    private final Importer importer;
    private boolean different;
    private volatile long readBytes;
    private volatile long documents;
    private volatile long already;

    StreamImport(HttpLink streams, Endpoint server, Existing existing, Consumer<String> messages) {
        this.target = DocumentClient.ofAllGroups(server);
        this.source = new StreamSource(streams, target.maxValueBytes(), new Retries(Retries::sleep));
        this.existing = existing;
        this.totals = new TransferTotals(messages);
        this.importer = new Importer(target, Existing.SKIP, new RateLimitRetries(messages), this::settled).ofStreams();
    }

    private void settled(Upload document, Outcome outcome, String why) {
        different = outcome == Outcome.DIFFERENT;
        if (!different) {
            totals.settled(document, outcome, why);
        }
    }

    /** Imports one stream. Problems with it are reported, not thrown, so that other streams can still be imported. */
    void add(byte[] name) throws IOException {
        if (name.length == 0 || name.length > DocumentName.MAX_BYTES) {
            totals.reject("a stream was not imported: a document's name has 1 to " + DocumentName.MAX_BYTES
                    + " bytes, and this one " + name.length);
            return;
        }
        try {
            send(name, Replaced.NOTHING);
            if (different) {
                handleExisting(name);
            }
        } catch (ClientException problem) {
            totals.reject("the stream '" + DocumentName.of(name) + "' "
                    + problem.ofDocument().getMessage());
        }
        documents = totals.documents();
        already = totals.number(Outcome.ALREADY);
    }

    private void handleExisting(byte[] name) throws IOException {
        switch (existing) {
            case REPLACE -> send(name, Replaced.ANYTHING);
            case SKIP -> totals.count(Outcome.DIFFERENT);
            case REJECT -> throw ClientException.otherState(Importer.NAME_TAKEN);
        }
    }

    private void send(byte[] name, Replaced replaced) throws IOException {
        importer.replacing(replaced);
        for (int i = 0; i < TRIES; i++) {
            // A stream can be closed only once, unless it is deleted and created again.
            if (sendAsOf(source.describe(name), name)) {
                return;
            }
        }
        throw ClientException.otherState("changes too fast to be read; run the command again");
    }

    /** Sends a stream; returns false if it was closed in the meantime, because the attributes sent are then wrong. */
    private boolean sendAsOf(Description stream, byte[] name) throws IOException {
        boolean json = ContentTypes.isJson(Importer.contentType(stream));
        importer.begin(name, stream);
        boolean whole = false;
        try {
            boolean closed = source.read(name, stream, value -> {
                readBytes += value.length;
                if (json) {
                    checkJson(name, value);
                }
                Output.unchecked(() -> importer.value(value));
            });
            whole = closed == StreamSource.isClosed(stream);
        } finally {
            if (!whole) {
                importer.abandon();
            }
        }
        if (whole) {
            importer.end();
            importer.finish();
        }
        return whole;
    }

    private static void checkJson(byte[] name, byte[] message) {
        try {
            JsonMessages.validate(DocumentName.of(name), List.of(message));
        } catch (DocumentException notJson) {
            throw ClientException.otherState("has a message that is not JSON: " + notJson.getMessage());
        }
    }

    String progress() {
        return String.format(
                Locale.ROOT,
                "%,d streams imported, %,d found to be the same, %,.1f MiB read",
                documents,
                already,
                readBytes / MEBIBYTE);
    }

    TransferTotals totals() {
        return totals;
    }

    @Override
    public void close() {
        target.close();
    }
}
