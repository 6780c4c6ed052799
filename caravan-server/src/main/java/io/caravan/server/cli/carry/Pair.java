package io.caravan.server.cli.carry;

import io.caravan.server.cli.client.Carrier;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.Documents.Names;
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
 * The connections to two servers, which are opened anew when either was lost. Work that needs them is done again then, and
 * must go on with what it finds. For one thread, except {@link #stop} and {@link #stopped}.
 */
final class Pair implements AutoCloseable {
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long MAX_PAUSE_MILLIS = 5_000;
    /** A server that was away for so long does not come back soon. */
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final Opening toSource;
    private final Opening toTarget;
    private final Consumer<String> tell;
    private final CountDownLatch stop = new CountDownLatch(1);
    /** All that were opened since the last were closed. */
    private final Queue<Carrier> opened = new ConcurrentLinkedQueue<>();

    private @Nullable Carrier source;
    private @Nullable Carrier target;
    private int openings;
    private boolean everConnected;
    private boolean lost;
    private long lostNanos;
    private long pauseMillis = FIRST_PAUSE_MILLIS;

    /** Connects to a server. */
    interface Opening {
        Carrier open() throws IOException;
    }

    /** What needs the connections. */
    interface Work {
        void run() throws IOException;
    }

    /**
     * Nothing is opened yet.
     *
     * @param tell is told that a connection was lost, and that there is one again
     */
    Pair(Opening toSource, Opening toTarget, Consumer<String> tell) {
        this.toSource = toSource;
        this.toTarget = toTarget;
        this.tell = tell;
    }

    /**
     * Does the work, again and again until it has come to its end, or this is stopped.
     *
     * @throws LostException when a server could not be reached at first, or not for some minutes
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

    private Carrier open(Opening opening) throws IOException {
        Carrier carrier = opening.open();
        opened.add(carrier);
        if (stopped()) {
            carrier.cut();
        }
        return carrier;
    }

    /** Connects to the first server once more. */
    Carrier openSource() throws IOException {
        return open(toSource);
    }

    /** Connects to the other server once more. */
    Carrier openTarget() throws IOException {
        return open(toTarget);
    }

    /** Both servers have answered. */
    void well() {
        everConnected = true;
        pauseMillis = FIRST_PAUSE_MILLIS;
        if (lost) {
            lost = false;
            tell.accept("connected again, and going on");
        }
    }

    /** How often they were opened. */
    int openings() {
        return openings;
    }

    Carrier source() {
        return Objects.requireNonNull(source);
    }

    Carrier target() {
        return Objects.requireNonNull(target);
    }

    /** Waits, unless this is stopped. */
    void sleep(long millis) {
        try {
            stop.await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            stop.countDown();
        }
    }

    /** Has the work end soon, from any thread. */
    void stop() {
        stop.countDown();
        opened.forEach(Carrier::cut);
    }

    boolean stopped() {
        return stop.getCount() == 0;
    }

    private void closeConnections() {
        opened.forEach(Carrier::close);
        opened.clear();
        source = null;
        target = null;
    }

    @Override
    public void close() {
        closeConnections();
    }
}
