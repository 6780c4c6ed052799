package io.caravan.server.cli.client;

import io.caravan.io.FileStorage;
import io.caravan.server.cli.client.ServerConnection.LostException;
import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.IoSupplier;
import io.caravan.server.cli.common.Output;
import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Clients of a source and, if documents are transferred, of a target. If a connection is lost, all are reopened. Work
 * that needs them is then repeated, and must continue from the state that it finds. Not thread-safe, except {@link
 * #stop} and {@link #stopped}.
 */
public final class ReconnectingClients implements AutoCloseable {
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long MAX_PAUSE_MILLIS = 5_000;

    private final List<IoSupplier<DocumentClient>> servers;
    private final long maxLostNanos;
    private final Consumer<String> messages;
    private final CountDownLatch stop = new CountDownLatch(1);

    private final List<DocumentClient> open = new CopyOnWriteArrayList<>();
    private @Nullable HostPort leader;
    private boolean reached;
    private boolean lost;
    private boolean reported;
    private long lostNanos;
    private long pauseMillis = FIRST_PAUSE_MILLIS;

    /**
     * Creates an instance that reports lost and restored connections as messages; opens nothing yet.
     *
     * @param servers connect to the source and the target
     * @param maxLostNanos the time after which the work ends if a server remains unreachable
     */
    public ReconnectingClients(List<IoSupplier<DocumentClient>> servers, long maxLostNanos, Consumer<String> messages) {
        this.servers = servers;
        this.maxLostNanos = maxLostNanos;
        this.messages = messages;
    }

    /**
     * Runs the work, and repeats it until it completes or this instance is stopped.
     *
     * @throws LostException if a server cannot be reached at the start, or for the maximum time
     */
    public void run(Output.Writing work) throws IOException {
        boolean done = false;
        while (!done && !stopped()) {
            try {
                connect();
                work.write();
                done = true;
            } catch (RuntimeException problem) {
                if (!isLost(problem) || !waitToReconnect(problem)) {
                    throw problem;
                }
            }
        }
    }

    private static boolean isLost(RuntimeException problem) {
        return problem instanceof LostException
                || problem instanceof ClientException rejection
                        && (rejection.kind() == ClientException.Kind.NOT_LEADER
                                || rejection.getCause() instanceof IOException
                                || rejection.getCause() instanceof InterruptedException);
    }

    /**
     * Closes the connections, and pauses unless this instance is stopped; returns false if a server was unreachable for
     * too long.
     */
    private boolean waitToReconnect(RuntimeException problem) {
        close();
        if (Thread.currentThread().isInterrupted()) {
            stop.countDown();
        }
        if (stopped()) {
            return true;
        }
        leader = problem instanceof ClientException rejection ? rejection.leader() : null;
        // A node of a cluster that names the leader is not lost.
        boolean redirected = leader != null;
        if (!reached && !redirected || lost && System.nanoTime() - lostNanos > maxLostNanos) {
            return false;
        }
        if (!lost) {
            lost = true;
            lostNanos = System.nanoTime();
        }
        if (!redirected && !reported) {
            reported = true;
            messages.accept(problem.getMessage() + "; trying again");
        }
        sleep(pauseMillis);
        pauseMillis = Math.min(2 * pauseMillis, MAX_PAUSE_MILLIS);
        return true;
    }

    private void connect() throws IOException {
        if (open.isEmpty()) {
            try {
                for (IoSupplier<DocumentClient> server : servers) {
                    open.add(server.get());
                }
            } catch (IOException unreadable) {
                if (!reached) {
                    throw unreadable;
                }
                // A file with a password or with authorities may be missing while it is replaced.
                throw new LostException(FileStorage.problem(unreadable), unreadable);
            }
        }
        if (stopped()) {
            // The connections were opened after the stop, so the stop has not closed them.
            open.forEach(DocumentClient::cut);
        }
        reached = true;
    }

    /** Returns the node to which a node of a cluster has redirected the last request; null if there is none. */
    public @Nullable HostPort leader() {
        return leader;
    }

    public DocumentClient source() {
        return open.get(0);
    }

    public DocumentClient target() {
        return open.get(1);
    }

    /** Records that the connections work, which ends the wait for them; the details are part of the message. */
    public void connected(String details) {
        pauseMillis = FIRST_PAUSE_MILLIS;
        lost = false;
        if (reported) {
            reported = false;
            messages.accept("connected again" + details);
        }
    }

    /** Sleeps until the time has elapsed or this instance is stopped. */
    public void sleep(long millis) {
        CliCommand.stopped(stop, millis);
    }

    /** Ends the work soon; callable from any thread. */
    public void stop() {
        stop.countDown();
        open.forEach(DocumentClient::cut);
    }

    public boolean stopped() {
        return stop.getCount() == 0;
    }

    @Override
    public void close() {
        open.forEach(DocumentClient::close);
        open.clear();
    }
}
