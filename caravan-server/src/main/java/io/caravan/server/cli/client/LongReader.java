package io.caravan.server.cli.client;

import io.caravan.server.cli.client.Carrier.Description;
import io.caravan.server.cli.client.Documents.Document;
import io.caravan.server.cli.client.Documents.Sink;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Reads documents of any length over a separate connection. Closes it after a failure, and opens another for the next
 * read.
 */
final class LongReader implements AutoCloseable {
    private final ServerConnection.Connector connector;
    private volatile @Nullable ServerConnection connection;
    private @Nullable Documents documents;
    private volatile boolean cut;

    LongReader(ServerConnection.Connector connector) {
        this.connector = connector;
    }

    /**
     * Reads all values of a document.
     *
     * @throws ClientException if the document no longer matches its description; the values before that were passed on
     */
    void read(byte[] name, Description document, Sink sink) throws IOException {
        if (documents == null) {
            ServerConnection opened = connector.connect();
            connection = opened;
            documents = new Documents(opened);
            if (cut) {
                opened.cut();
            }
        }
        Document whole = new Document(document.id(), document.first(), document.next(), Math.max(0, document.bytes()));
        boolean done = false;
        try {
            documents.read(name, whole, document.first(), document.next(), sink);
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    /** Disconnects for good; callable from any thread. */
    void cut() {
        cut = true;
        ServerConnection current = connection;
        if (current != null) {
            current.cut();
        }
    }

    @Override
    public void close() {
        if (documents != null) {
            documents.close();
            documents = null;
        }
    }
}
