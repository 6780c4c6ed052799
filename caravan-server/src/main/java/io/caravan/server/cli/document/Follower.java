package io.caravan.server.cli.document;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.DocumentClient.Page;
import io.caravan.server.cli.client.DocumentClient.Sink;
import io.caravan.server.cli.client.DocumentClient.Value;
import io.caravan.server.cli.client.Endpoint;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.config.HostPort;
import java.io.Flushable;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Receives a document's values as they are appended, and reconnects if necessary. It always requests the next sequence,
 * so no value is lost or repeated. It checks the document's id, so it does not continue with another document of the
 * same name.
 *
 * <p>One thread calls {@link #follow}; any thread may call {@link #stop}.
 */
final class Follower {
    /** The maximum time for which a request waits for a value. The next request detects a dead connection. */
    private static final int BLOCK_MILLIS = 20_000;

    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long MAX_PAUSE_MILLIS = 5_000;

    private final Endpoint server;
    private final byte[] name;
    private final Consumer<String> messages;
    private final CountDownLatch stop = new CountDownLatch(1);
    private volatile @Nullable DocumentClient current;

    /** The node to which the server has redirected the last request; null for the server that the user has named. */
    private @Nullable HostPort leader;

    /** The sequence of the next value to receive; empty while it is unknown. */
    private OptionalLong next;

    /** The document's id; empty while there is no document. */
    private OptionalLong id = OptionalLong.empty();

    private int pageValues = 1;
    private long left;
    private boolean everConnected;
    private boolean lost;
    private long pauseMillis = FIRST_PAUSE_MILLIS;

    /**
     * Creates a follower.
     *
     * @param next the first sequence to receive; empty to start after the last value
     * @param count the number of values to receive
     * @param messages receives messages for the user
     */
    Follower(Endpoint server, byte[] name, OptionalLong next, long count, Consumer<String> messages) {
        this.server = server;
        this.name = name;
        this.next = next;
        this.left = count;
        this.messages = messages;
    }

    /**
     * Follows the document until it is closed, {@code count} values have been received, or {@link #stop} is called.
     *
     * @param output the output, which is flushed before each wait
     * @throws ServerConnection.LostException if the first connection attempt fails
     * @throws ClientException if the document was trimmed or deleted before its values were received, or if the cluster
     *     has no leader at first
     */
    void follow(Sink sink, Flushable output) throws IOException {
        boolean done = false;
        while (!done && !stopped()) {
            try (DocumentClient documents = new DocumentClient(server.at(leader))) {
                current = documents;
                done = follow(documents, sink, output);
            } catch (ServerConnection.LostException problem) {
                retry(problem, null, output);
            } catch (ClientException rejected) {
                if (rejected.kind() != ClientException.Kind.NOT_LEADER) {
                    throw rejected;
                }
                retry(rejected, rejected.leader(), output);
            }
        }
    }

    /** Pauses before a connection to this leader or, if it is null, to the server that the user has named. */
    private void retry(RuntimeException problem, @Nullable HostPort next, Flushable output) throws IOException {
        leader = next;
        if (!everConnected && next == null) {
            throw problem;
        }
        output.flush();
        if (stopped()) {
            return;
        }
        if (!lost && next == null) {
            lost = true;
            messages.accept(problem.getMessage() + "; trying again");
        }
        CliCommand.stopped(stop, pauseMillis);
        pauseMillis = Math.min(2 * pauseMillis, MAX_PAUSE_MILLIS);
    }

    /** Follows the document over one connection; returns true when all values have been received. */
    private boolean follow(DocumentClient documents, Sink sink, Flushable output) throws IOException {
        Description document = documents.find(name);
        begin(document);
        catchUp(documents, document, sink);
        while (left > 0 && !stopped()) {
            output.flush();
            Page page = documents.await(name, next.orElseThrow(), Math.min(left, pageValues), BLOCK_MILLIS);
            recognize(page.id());
            for (Value value : page.values()) {
                take(value, sink);
            }
            if (page.end()) {
                messages.accept("the document is closed, so no more values will follow");
                return true;
            }
            if (page.values().size() == pageValues) {
                // More values may have arrived. Catching up with several outstanding requests is faster than with one
                // page at a time.
                catchUp(documents, documents.find(name), sink);
            }
        }
        return true;
    }

    private void begin(@Nullable Description document) {
        if (lost) {
            lost = false;
            messages.accept("connected again, continuing with sequence " + next.orElseThrow());
        }
        if (document == null && !everConnected) {
            messages.accept("there is no document '" + new String(name, UTF_8) + "' yet; waiting until it is created");
        }
        next = OptionalLong.of(next.orElse(document == null ? 0 : document.next()));
        everConnected = true;
        pauseMillis = FIRST_PAUSE_MILLIS;
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
    private void catchUp(DocumentClient documents, @Nullable Description document, Sink sink) throws IOException {
        recognize(document == null ? OptionalLong.empty() : OptionalLong.of(document.id()));
        long from = next.orElseThrow();
        if (document == null || from < document.first()) {
            return;
        }
        pageValues = document.pageValues();
        long to = Math.min(document.next(), from + Math.min(left, Long.MAX_VALUE - from));
        documents.read(name, document.from(from).until(to), value -> take(value, sink));
    }

    private void take(Value value, Sink sink) throws IOException {
        sink.take(value);
        next = OptionalLong.of(value.sequence() + 1);
        left--;
    }

    /** Stops following; callable from any thread. */
    void stop() {
        stop.countDown();
        DocumentClient documents = current;
        if (documents != null) {
            documents.cut();
        }
    }

    boolean stopped() {
        return stop.getCount() == 0;
    }
}
