package io.caravan.server.cli.document;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.DocumentClient.Page;
import io.caravan.server.cli.client.DocumentClient.Value;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Output;
import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
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

    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long MAX_PAUSE_MILLIS = 5_000;

    private final CountDownLatch stop = new CountDownLatch(1);
    private volatile @Nullable DocumentClient current;

    /** The sequence of the next value to receive; empty while it is unknown. */
    private OptionalLong next = OptionalLong.empty();

    /** The document's id; empty while there is no document. */
    private OptionalLong id = OptionalLong.empty();

    private int pageValues = 1;
    private long left;
    private boolean everConnected;
    private boolean lost;
    private long pauseMillis = FIRST_PAUSE_MILLIS;

    @Override
    protected void run(Output output) throws IOException {
        next = first();
        left = maxValues();
        runUntilSignal(this::stop, () -> {
            follow(output);
            output.flush();
        });
    }

    private void stop() {
        stop.countDown();
        DocumentClient documents = current;
        if (documents != null) {
            documents.cut();
        }
    }

    private void follow(Output output) throws IOException {
        // The node to which the server has redirected the last request; null for the server that the user has named.
        HostPort leader = null;
        while (!stopped(stop, 0)) {
            HostPort node = leader;
            RuntimeException problem;
            try (DocumentClient documents = new DocumentClient(server().at(node))) {
                current = documents;
                follow(documents, output);
                return;
            } catch (ServerConnection.LostException unreachable) {
                problem = unreachable;
                leader = null;
            } catch (ClientException rejected) {
                if (rejected.kind() != ClientException.Kind.NOT_LEADER) {
                    throw rejected;
                }
                problem = rejected;
                leader = rejected.leader();
            }
            if (leader == null && !everConnected) {
                throw problem;
            }
            output.flush();
            if (leader == null && !lost && !stopped(stop, 0)) {
                lost = true;
                printMessage(problem.getMessage() + "; trying again");
            }
            stopped(stop, pauseMillis);
            pauseMillis = Math.min(2 * pauseMillis, MAX_PAUSE_MILLIS);
        }
    }

    /** Follows the document over one connection until all values have been received. */
    private void follow(DocumentClient documents, Output output) throws IOException {
        Description document = documents.find(bytes(name));
        if (lost) {
            lost = false;
            printMessage("connected again, continuing with sequence " + next.orElseThrow());
        }
        if (document == null && !everConnected) {
            printMessage("there is no document '" + name + "' yet; waiting until it is created");
        }
        next = OptionalLong.of(next.orElse(document == null ? 0 : document.next()));
        everConnected = true;
        pauseMillis = FIRST_PAUSE_MILLIS;
        catchUp(documents, document, output);
        while (left > 0 && !stopped(stop, 0)) {
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
