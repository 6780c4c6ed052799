package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.ServerConnection.LostException;
import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.IoSupplier;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The connections to two servers. If one is lost, both are reopened. Work that needs them is then repeated, and must
 * continue from the state that it finds. Not thread-safe, except {@link #stop} and {@link #stopped}.
 */
final class ServerPair implements AutoCloseable {
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long MAX_PAUSE_MILLIS = 5_000;
    /** The time after which the work ends if a server remains unreachable. */
    private static final long MAX_LOST_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final IoSupplier<DocumentClient> toSource;
    private final IoSupplier<DocumentClient> toTarget;
    private final Consumer<String> messages;
    private final CountDownLatch stop = new CountDownLatch(1);

    private volatile @Nullable DocumentClient source;
    private volatile @Nullable DocumentClient target;
    private boolean everConnected;
    private boolean lost;
    private long lostNanos;
    private long pauseMillis = FIRST_PAUSE_MILLIS;

    /** Creates a pair that reports lost and restored connections as messages; opens nothing yet. */
    ServerPair(IoSupplier<DocumentClient> toSource, IoSupplier<DocumentClient> toTarget, Consumer<String> messages) {
        this.toSource = toSource;
        this.toTarget = toTarget;
        this.messages = messages;
    }

    /**
     * Runs the work, and repeats it until it completes or this pair is stopped.
     *
     * @throws LostException if a server could not be reached at the start, or for ten minutes
     */
    void run(Output.Writing work) throws IOException {
        boolean done = false;
        while (!done && !stopped()) {
            try {
                open();
                work.write();
                done = true;
            } catch (IOException | RuntimeException problem) {
                if (!isLost(problem) || !waitToReconnect(problem)) {
                    throw problem;
                }
            }
        }
    }

    private static boolean isLost(Exception problem) {
        return problem instanceof IOException
                || problem instanceof LostException
                || problem instanceof ClientException rejection
                        && (rejection.kind() == ClientException.Kind.NOT_LEADER
                                || rejection.getCause() instanceof IOException
                                || rejection.getCause() instanceof InterruptedException);
    }

    /**
     * Closes the connections, and pauses unless this pair is stopped; returns false if a server was unreachable for too
     * long.
     */
    private boolean waitToReconnect(Exception problem) {
        close();
        if (Thread.currentThread().isInterrupted()) {
            stop.countDown();
        }
        if (stopped()) {
            return true;
        }
        if (!everConnected || lost && System.nanoTime() - lostNanos > MAX_LOST_NANOS) {
            return false;
        }
        if (!lost) {
            lost = true;
            lostNanos = System.nanoTime();
            messages.accept(problem.getMessage() + "; trying again");
        }
        sleep(pauseMillis);
        pauseMillis = Math.min(2 * pauseMillis, MAX_PAUSE_MILLIS);
        return true;
    }

    private void open() throws IOException {
        if (target == null) {
            source = toSource.get();
            target = toTarget.get();
        }
        if (stopped()) {
            // The connections were opened after the stop, so the stop has not closed them.
            source().cut();
            target().cut();
        }
        if (!everConnected) {
            connected();
        }
    }

    void connected() {
        everConnected = true;
        pauseMillis = FIRST_PAUSE_MILLIS;
        if (lost) {
            lost = false;
            messages.accept("connected again");
        }
    }

    DocumentClient source() {
        return Objects.requireNonNull(source);
    }

    DocumentClient target() {
        return Objects.requireNonNull(target);
    }

    /** Sleeps until the time has elapsed or this pair is stopped. */
    void sleep(long millis) {
        CliCommand.stopped(stop, millis);
    }

    /** Ends the work soon; callable from any thread. */
    void stop() {
        stop.countDown();
        ifOpen(source, DocumentClient::cut);
        ifOpen(target, DocumentClient::cut);
    }

    private static void ifOpen(@Nullable DocumentClient server, Consumer<DocumentClient> action) {
        if (server != null) {
            action.accept(server);
        }
    }

    boolean stopped() {
        return stop.getCount() == 0;
    }

    @Override
    public void close() {
        ifOpen(source, DocumentClient::close);
        ifOpen(target, DocumentClient::close);
        source = null;
        target = null;
    }
}
