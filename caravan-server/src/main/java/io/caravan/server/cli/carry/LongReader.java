package io.caravan.server.cli.carry;

import io.caravan.server.cli.client.Carrier.Description;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.Documents;
import io.caravan.server.cli.client.Documents.Document;
import io.caravan.server.cli.client.Documents.Sink;
import io.caravan.server.cli.client.ServerConnection;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Reads documents of any length, over a connection of its own: after a failure it is useless, and another is opened. */
final class LongReader implements AutoCloseable {
    private final Connector connector;
    private @Nullable Documents documents;

    /** Connects to the server. */
    interface Connector {
        ServerConnection connect() throws IOException;
    }

    LongReader(Connector connector) {
        this.connector = connector;
    }

    /**
     * Reads all values of a document.
     *
     * @throws ClientException when it is not what was described any more; the values before that were passed on
     */
    void read(byte[] name, Description document, Sink sink) throws IOException {
        if (documents == null) {
            documents = new Documents(connector.connect());
        }
        Document whole = new Document(document.id(), document.first(), document.next(), Math.max(0, document.bytes()));
        try {
            documents.read(name, whole, document.first(), document.next(), sink);
        } catch (ClientException changed) {
            close();
            throw changed;
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
