package io.caravan.server.cli.document;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.DocumentClient.Page;
import io.caravan.server.cli.client.DocumentClient.Value;
import io.caravan.server.cli.client.ReconnectingClients;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/**
 * Receives a document's values as they are appended, and reconnects if necessary. It always requests the next sequence,
 * so no value is lost or repeated. It checks the document's id, so it does not continue with another document of the
 * same name.
 */
@Command(
        name = "tail",
        description = {
            "Prints the values of a document as they are appended, until the document is closed or deleted, or until"
                    + " Ctrl-C. Waits for a document that does not exist yet. Prints values in the same form as"
                    + " 'caravan get'.",
            "If the connection is lost, the command reconnects and continues with the next sequence, so that it"
                    + " neither skips nor repeats a value. In a cluster, it asks the node of --server for the"
                    + " document's leader."
        },
        footer = {
            "  caravan tail logs/today",
            "  caravan tail letters/1 --from 0 --json",
            "  caravan tail logs/today --count 1"
        })
public final class TailCommand extends ValueCommand {
    /** The maximum time for which a request waits for a value. The next request detects a dead connection. */
    private static final int BLOCK_MILLIS = 20_000;

    private final ReconnectingClients servers =
            new ReconnectingClients(List.of(this::open), Long.MAX_VALUE, this::printMessage);
    /** The document when the connection was opened; null if there was none. */
    private @Nullable Description found;

    /** The sequence of the next value to receive; empty while it is unknown. */
    private OptionalLong next = OptionalLong.empty();

    /** The document's id; empty while there is no document. */
    private OptionalLong id = OptionalLong.empty();

    private int pageValues = 1;
    private long left;
    private boolean everFollowed;

    @Override
    protected void run(Output output) throws IOException {
        next = first();
        left = maxValues();
        runUntilSignal(servers::stop, () -> {
            try (servers) {
                servers.run(() -> {
                    try {
                        follow(servers.source(), output);
                    } finally {
                        output.flush();
                    }
                });
            }
        });
    }

    /** Connects to the server or, in a cluster, to the node that leads the document's Raft group. */
    private DocumentClient open() throws IOException {
        DocumentClient documents = new DocumentClient(server().at(servers.leader()));
        try {
            found = documents.find(bytes(name));
            return documents;
        } catch (RuntimeException rejected) {
            documents.close();
            throw rejected;
        }
    }

    /** Follows the document over one connection until all values have been received. */
    private void follow(DocumentClient documents, Output output) throws IOException {
        Description document = found;
        servers.connected(next.isPresent() ? ", continuing with sequence " + next.getAsLong() : "");
        if (document == null && !everFollowed) {
            printMessage("there is no document '" + name + "' yet; waiting until it is created");
        }
        next = OptionalLong.of(next.orElse(document == null ? 0 : document.next()));
        everFollowed = true;
        catchUp(documents, document, output);
        while (left > 0 && !servers.stopped()) {
            output.flush();
            Page page = documents.await(bytes(name), next.orElseThrow(), Math.min(left, pageValues), BLOCK_MILLIS);
            recognize(page.id());
            for (Value value : page.values()) {
                take(value, output);
            }
            if (page.end()) {
                printMessage("the document is closed, so no more values will follow");
                return;
            }
            if (page.values().size() == pageValues) {
                // More values may have arrived. Catching up with several outstanding requests is faster than with one
                // page at a time.
                catchUp(documents, documents.find(bytes(name)), output);
            }
        }
    }

    private void recognize(OptionalLong found) {
        if (id.isPresent() && !id.equals(found)) {
            throw ClientException.otherState(
                    "the document was deleted" + (found.isPresent() ? ", and another one has its name" : ""));
        }
        id = found;
    }

    /**
     * Reads the values that are already present. If the next value has been trimmed, does nothing, so that the next
     * request fails.
     */
    private void catchUp(DocumentClient documents, @Nullable Description document, Output output) throws IOException {
        recognize(document == null ? OptionalLong.empty() : OptionalLong.of(document.id()));
        long from = next.orElseThrow();
        if (document == null || from < document.first()) {
            return;
        }
        pageValues = document.pageValues();
        long to = Math.min(document.next(), from + Math.min(left, Long.MAX_VALUE - from));
        documents.read(bytes(name), document.from(from).until(to), value -> take(value, output));
    }

    private void take(Value value, Output output) throws IOException {
        print(value, output);
        next = OptionalLong.of(value.sequence() + 1);
        left--;
    }
}
