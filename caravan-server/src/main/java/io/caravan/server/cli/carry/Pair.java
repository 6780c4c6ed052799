package io.caravan.server.cli.carry;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Names;
import io.caravan.server.cli.client.ServerConnection.LostException;
import java.io.IOException;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The connections to two servers. If one is lost, both are reopened. Work that needs them is then repeated, and must
 * continue from the state that it finds. Not thread-safe, except {@link #stop} and {@link #stopped}.
 */
final class Pair implements AutoCloseable {
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long MAX_PAUSE_MILLIS = 5_000;
    /** The time after which an unreachable server is not expected to return soon. */
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final Opening toSource;
    private final Opening toTarget;
    private final Consumer<String> tell;
    private final CountDownLatch stop = new CountDownLatch(1);
    /** All connections that were opened since the last close. */
    private final Queue<DocumentClient> opened = new ConcurrentLinkedQueue<>();

    private @Nullable DocumentClient source;
    private @Nullable DocumentClient target;
    private int openings;
    private boolean everConnected;
    private boolean lost;
    private long lostNanos;
    private long pauseMillis = FIRST_PAUSE_MILLIS;

    interface Opening {
        DocumentClient open() throws IOException;
    }

    interface Work {
        void run() throws IOException;
    }

    /**
     * Creates a pair; opens nothing yet.
     *
     * @param tell receives messages about lost and restored connections
     */
    Pair(Opening toSource, Opening toTarget, Consumer<String> tell) {
        this.toSource = toSource;
        this.toTarget = toTarget;
        this.tell = tell;
    }

    /**
     * Runs the work, and repeats it until it completes or this pair is stopped.
     *
     * @throws LostException if a server could not be reached at the start, or for ten minutes
     */
    void run(Work work) throws IOException {
        boolean done = false;
        while (!done && !stopped()) {
            try {
                open();
                work.run();
                done = true;
            } catch (LostException problem) {
                again(problem);
            } catch (IOException problem) {
                again(problem);
            } catch (ClientException problem) {
                boolean interrupted = problem.getCause() instanceof InterruptedException;
                if (!interrupted && !(problem.getCause() instanceof IOException)) {
                    throw problem;
                }
                again(problem);
            }
        }
    }

    private <E extends Exception> void again(E problem) throws E {
        closeConnections();
        if (Thread.currentThread().isInterrupted()) {
            stop.countDown();
        }
        if (stopped()) {
            return;
        }
        if (!everConnected || lost && System.nanoTime() - lostNanos > PATIENCE_NANOS) {
            throw problem;
        }
        if (!lost) {
            lost = true;
            lostNanos = System.nanoTime();
            tell.accept(problem.getMessage() + "; trying again");
        }
        sleep(pauseMillis);
        pauseMillis = Math.min(2 * pauseMillis, MAX_PAUSE_MILLIS);
    }

    private void open() throws IOException {
        if (target == null) {
            source = openSource();
            target = openTarget();
            openings++;
        }
        if (!everConnected) {
            // Over HTTP, nothing has been sent yet.
            source().scan(Names.before(), new byte[0]);
            target().scan(Names.before(), new byte[0]);
            well();
        }
    }

    private DocumentClient open(Opening opening) throws IOException {
        DocumentClient carrier = opening.open();
        opened.add(carrier);
        if (stopped()) {
            carrier.cut();
        }
        return carrier;
    }

    /** Opens another connection to the source. */
    DocumentClient openSource() throws IOException {
        return open(toSource);
    }

    /** Opens another connection to the target. */
    DocumentClient openTarget() throws IOException {
        return open(toTarget);
    }

    /** Records that both servers have replied. */
    void well() {
        everConnected = true;
        pauseMillis = FIRST_PAUSE_MILLIS;
        if (lost) {
            lost = false;
            tell.accept("connected again, and going on");
        }
    }

    /** Returns the number of times that both connections were opened. */
    int openings() {
        return openings;
    }

    DocumentClient source() {
        return Objects.requireNonNull(source);
    }

    DocumentClient target() {
        return Objects.requireNonNull(target);
    }

    /** Sleeps until the time is over or this pair is stopped. */
    void sleep(long millis) {
        try {
            stop.await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            stop.countDown();
        }
    }

    /** Makes the work end soon; callable from any thread. */
    void stop() {
        stop.countDown();
        opened.forEach(DocumentClient::cut);
    }

    boolean stopped() {
        return stop.getCount() == 0;
    }

    private void closeConnections() {
        opened.forEach(DocumentClient::close);
        opened.clear();
        source = null;
        target = null;
    }

    @Override
    public void close() {
        closeConnections();
    }
}
